import { describe, expect, test } from "bun:test";
import { Admission, type KeyLoad, type StreamLoad } from "../../src/http/admission.ts";
import { createLog } from "../../src/log.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: () => {} });
const workMs = 0.4;
const refusalMs = 0.014;

/**
 * A process whose requests take 0.4 ms of its event loop each, and 0.014 ms when they are refused: it can serve 2,500 per second. Like Bun, it
 * sees at most 1,024 requests in one turn.
 */
function openProcess(maxRunning = 1_000_000) {
  const admission = new Admission({ maxRunning, log });
  let now = 0;
  let workedMs = 0;
  let dueAt = 10;
  /** Requests that wait for a provider, whose answers cause no work here. */
  const running: KeyLoad[] = [];

  /** Requests per second of each key, evenly spaced. What is returned is about the time after the first second. */
  function run(rates: Readonly<Record<string, number>>, seconds: number) {
    const startedAt = now;
    const served: Record<string, number> = {};
    const refused: Record<string, number> = {};
    const refusedAfterMs: number[] = [];
    const arrivals = Object.entries(rates)
      .flatMap(([key, rate]) =>
        Array.from({ length: rate * seconds }, (_, index) => ({ key, at: startedAt + (index * 1_000) / rate })),
      )
      .sort((one, other) => one.at - other.at);
    let next = 0;
    while (next < arrivals.length) {
      const turnStartedAt = now;
      for (let seen = 0; seen < 1_024; seen++, next++) {
        const arrival = arrivals[next];
        if (arrival === undefined || arrival.at > turnStartedAt) break;
        const load = admission.begin(arrival.key, now);
        const tookMs = load === null ? refusalMs : workMs;
        now += tookMs;
        workedMs += tookMs;
        if (load !== null) running.push(load);
        if (now - startedAt < 1_000) continue;
        const outcome = load === null ? refused : served;
        outcome[arrival.key] = (outcome[arrival.key] ?? 0) + 1;
        if (load === null) refusedAfterMs.push(now - arrival.at);
      }
      for (const load of running.splice(0, Math.max(0, running.length - 200))) admission.answered(load, 0, false);
      if (now === turnStartedAt) now += 0.5;
      if (now >= dueAt) dueAt = now + admission.tick(now, workedMs);
    }
    refusedAfterMs.sort((one, other) => one - other);
    return { served, refused, refusedWithinMs: refusedAfterMs[Math.floor(refusedAfterMs.length * 0.99)] ?? 0 };
  }

  return { admission, run };
}

describe("while the event loop is overloaded", () => {
  test("as much is served as before, and refusals are fast", () => {
    const { run } = openProcess();
    const calm = run({ one: 2_300 }, 3);
    expect(calm.refused).toEqual({});
    const { served, refusedWithinMs } = run({ one: 12_500 }, 5);
    // Refusing 10,400 requests per second takes 15 % of the time.
    expect(served["one"]).toBeGreaterThan(4 * 2_000);
    expect(refusedWithinMs).toBeLessThan(50);
  });

  test("a key that asks for less than its share is not refused", () => {
    const { run } = openProcess();
    const { served, refused } = run({ heavy: 12_000, light: 50, other: 300 }, 5);
    expect(refused["heavy"]).toBeGreaterThan(30_000);
    expect([refused["light"] ?? 0, refused["other"] ?? 0]).toEqual([0, 0]);
    expect(served["light"]).toBeGreaterThan(190);
    expect(served["other"]).toBeGreaterThan(1_100);
  });

  test("keys that ask for more than their share get about equal shares", () => {
    const { run } = openProcess();
    const { served } = run({ one: 8_000, two: 2_000, three: 4_000 }, 8);
    const counts = ["one", "two", "three"].map((key) => served[key] ?? 0);
    expect(Math.max(...counts) / Math.min(...counts)).toBeLessThan(2);
  });

  test("nothing is refused any more as soon as the load has ended", () => {
    const { run } = openProcess();
    run({ heavy: 12_500 }, 3);
    const { refused } = run({ heavy: 2_000, light: 30 }, 3);
    expect(refused).toEqual({});
  });

  test("a key whose streams take most of the work is refused, and another key is served", () => {
    const admission = new Admission({ maxRunning: 1_000, log });
    const streams: StreamLoad[] = [];
    for (let count = 0; count < 200; count++) {
      const load = admission.begin("streams", 0);
      if (load === null) throw new Error("a stream was refused");
      admission.answered(load, 0, true);
      streams.push(admission.beginStream(load));
    }
    const refused: string[] = [];
    for (let turn = 0; turn <= 50; turn++) {
      const now = turn * 60;
      for (const stream of streams) stream.count(5);
      admission.tick(now, now);
      if (admission.begin("streams", now) === null) refused.push("streams");
      for (let count = 0; count < 20; count++) {
        const load = admission.begin("plain", now);
        if (load === null) refused.push("plain");
        else admission.answered(load, 0, false);
      }
    }
    expect(refused.length).toBeGreaterThan(40);
    expect(refused).not.toContain("plain");
  });
});

describe("running requests", () => {
  test("a single key may use the whole limit, but not exceed it", () => {
    const { admission } = openProcess(100);
    const loads = Array.from({ length: 101 }, () => admission.begin("one", 0));
    expect(loads.filter((load) => load === null)).toHaveLength(1);
    const [first] = loads;
    if (first) admission.answered(first, 0, false);
    expect(admission.begin("one", 0)).not.toBeNull();
  });

  test("another key gets its share although the first one has them all", () => {
    const { admission } = openProcess(100);
    for (let count = 0; count < 100; count++) admission.begin("one", 0);
    const others = Array.from({ length: 60 }, () => admission.begin("two", 0));
    expect(others.filter((load) => load !== null)).toHaveLength(50);
    expect(admission.begin("one", 0)).toBeNull();
  });

  test("many keys together never have more than twice as many", () => {
    const { admission } = openProcess(100);
    const loads = Array.from({ length: 1_000 }, (_, index) => admission.begin(`key ${index}`, 0));
    expect(loads.filter((load) => load !== null)).toHaveLength(200);
  });

  test("streams that have begun do not count", () => {
    const { admission } = openProcess(100);
    for (let count = 0; count < 10_000; count++) {
      const load = admission.begin("one", 0);
      if (load === null) throw new Error(`stream ${count} was refused`);
      admission.answered(load, 0, true);
      admission.beginStream(load);
    }
  });
});

test("few requests at once are never refused, however long the turns take", () => {
  const admission = new Admission({ maxRunning: 100, log });
  for (let turn = 0; turn <= 20; turn++) {
    const load = admission.begin("one", turn * 130 + 120);
    if (load === null) throw new Error("a request was refused");
    admission.tick(turn * 130, turn * 130);
  }
});

test("the time to wait differs, so that the load does not come back at once", () => {
  const { admission } = openProcess();
  expect(new Set(Array.from({ length: 200 }, () => admission.chooseRetryAfter()))).toEqual(new Set([1, 2, 3]));
});
