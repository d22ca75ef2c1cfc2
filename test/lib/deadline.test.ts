// Every wait ends at its deadline or signal, and leaves no listener behind.

import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { endsWithin, pause, startDeadline, untilAborted, withDeadline } from "../../src/lib/deadline.ts";
import { hourMs } from "../../src/lib/time-units.ts";

const never = new Promise<never>(() => {});

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}

test("a deadline fires with a TimeoutError when its time is over", async () => {
  using deadline = startDeadline({ timeoutMs: 1 });
  await expect(untilAborted(never, deadline.signal)).rejects.toMatchObject({ name: "TimeoutError" });
});

test("a deadline fires with the reason of the first outer signal that fires", () => {
  const [first, second] = [new AbortController(), new AbortController()];
  using deadline = startDeadline({ timeoutMs: hourMs, signals: [first.signal, undefined, second.signal] });
  const reason = new Error("the caller left");
  second.abort(reason);
  first.abort(new Error("too late"));
  expect(deadline.signal.reason).toBe(reason);
});

test("the reason of a deadline can depend on what ended the work", async () => {
  const [caller, shutdown] = [new AbortController(), new AbortController()];
  const reason = (fired: AbortSignal | null) =>
    fired === null ? "timeout" : fired === caller.signal ? "caller" : "end";
  const signals = [caller.signal, shutdown.signal];
  using timed = startDeadline({ timeoutMs: 1, signals, reason });
  await expect(untilAborted(never, timed.signal)).rejects.toBe("timeout");
  using stopped = startDeadline({ signals, reason });
  shutdown.abort();
  expect(stopped.signal.reason).toBe("end");
});

test("a deadline on a signal that has fired already has passed", () => {
  const reason = new Error("gone");
  using deadline = startDeadline({ timeoutMs: hourMs, signals: [AbortSignal.abort(reason)] });
  expect(deadline.signal.reason).toBe(reason);
});

test("a deadline that is disposed of does not fire and listens to nothing", async () => {
  const outer = new AbortController();
  const deadline = startDeadline({ timeoutMs: 1, signals: [outer.signal] });
  expect(listenersOf(outer.signal)).toBe(1);
  deadline[Symbol.dispose]();
  expect(listenersOf(outer.signal)).toBe(0);
  outer.abort();
  await Bun.sleep(5);
  expect(deadline.signal.aborted).toBe(false);
});

test("a deadline beyond what a timer can count does not fire at once", async () => {
  using deadline = startDeadline({ timeoutMs: Number.POSITIVE_INFINITY });
  await Bun.sleep(5);
  expect(deadline.signal.aborted).toBe(false);
});

test("work that succeeds although its deadline has passed keeps its result", async () => {
  const work = async (signal: AbortSignal) => {
    await pause(null, signal);
    return "a connection";
  };
  expect(await withDeadline({ timeoutMs: 1 }, work)).toBe("a connection");
});

test("waiting for a promise ends with the signal, and a later rejection of the promise is handled", async () => {
  const work = Promise.withResolvers<void>();
  const caller = new AbortController();
  const waiting = untilAborted(work.promise, caller.signal);
  caller.abort(new Error("the caller left"));
  await expect(waiting).rejects.toThrow("the caller left");
  work.reject(new Error("rejected too late"));
  await Bun.sleep(1);
  expect(listenersOf(caller.signal)).toBe(0);
});

test("a promise that settles within the grace period after the signal is not lost", async () => {
  const work = Promise.withResolvers<string>();
  const waiting = untilAborted(work.promise, AbortSignal.abort(), hourMs);
  await Bun.sleep(1);
  work.resolve("stopped cleanly");
  expect(await waiting).toBe("stopped cleanly");
});

test("a promise that is pending after the grace period is given up", async () => {
  await expect(untilAborted(never, AbortSignal.abort("stop"), 1)).rejects.toBe("stop");
});

test("whether a promise ends in time is a boolean, and its rejection an error", async () => {
  expect(await endsWithin(Promise.resolve(), hourMs)).toBe(true);
  expect(await endsWithin(never, 1)).toBe(false);
  await expect(endsWithin(Promise.reject(new Error("broken")), hourMs)).rejects.toThrow("broken");
});

test("a pause ends at its time or with its signal, and leaves no listener behind", async () => {
  const caller = new AbortController();
  expect(await pause(1, caller.signal)).toBe(true);
  const long = pause(hourMs, caller.signal);
  const endless = pause(null, caller.signal);
  caller.abort();
  expect(await long).toBe(false);
  expect(await endless).toBe(false);
  expect(await pause(hourMs, caller.signal)).toBe(false);
  expect(listenersOf(caller.signal)).toBe(0);
});
