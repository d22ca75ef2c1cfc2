// The drain of a listener: which streams it waits for.

import { expect, test } from "bun:test";
import { Drain } from "../../src/http/drain.ts";

/** Whether the drain has ended once all promises that could settle have done so. */
async function hasEnded(ended: Promise<void>): Promise<boolean> {
  let isSettled = false;
  void ended.then(() => {
    isSettled = true;
  });
  await Bun.sleep(60);
  return isSettled;
}

test("a listener without streams has nothing to wait for", async () => {
  await new Drain().untilAnnounced(0);
});

test("a stream that began before the drain is waited for, until it has ended or its client has left", async () => {
  const drain = new Drain();
  const leaving = new AbortController();
  const onEnd = drain.noteStream(new AbortController().signal);
  drain.noteStream(leaving.signal);
  drain.begin();
  const ended = drain.untilAnnounced(0);
  expect(await hasEnded(ended)).toBe(false);
  onEnd();
  // A stream that is ended twice counts once.
  onEnd();
  expect(await hasEnded(ended)).toBe(false);
  leaving.abort();
  await ended;
});

test("a stream that begins during the drain is not waited for: its answer has announced the end of the connection", async () => {
  const drain = new Drain();
  drain.begin();
  expect(drain.isDraining).toBe(true);
  drain.noteStream(new AbortController().signal);
  await drain.untilAnnounced(0);
});

test("a stream whose client has already left is not waited for", async () => {
  const drain = new Drain();
  const onEnd = drain.noteStream(AbortSignal.abort());
  drain.begin();
  await drain.untilAnnounced(0);
  onEnd();
  // Ending it does not hide a stream that is still open.
  const other = new Drain();
  other.noteStream(new AbortController().signal);
  other.noteStream(AbortSignal.abort())();
  other.begin();
  expect(await hasEnded(other.untilAnnounced(0))).toBe(false);
});

test("after the last stream the listener lingers, for requests that are on their way on the same connection", async () => {
  const drain = new Drain();
  const onEnd = drain.noteStream(new AbortController().signal);
  drain.begin();
  onEnd();
  expect(await hasEnded(drain.untilAnnounced(3_600_000))).toBe(false);
});
