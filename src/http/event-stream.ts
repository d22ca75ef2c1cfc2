// Writes a stream of frames to a caller: one event per write, no faster than the caller reads, a heartbeat during long silence, and after a
// failure an error event instead of a clean end.

import type { FrameStream } from "../inference/relay-stream.ts";
import { heartbeatFrame } from "../lib/event-stream.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import { CallerLeft } from "../providers/call.ts";
import { type BodyWriter, type Reply, reply } from "./reply.ts";

// A provider that sends without pause would occupy the event loop: after this many frames, other requests are served.
const framesPerTurn = 16;
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export interface Heartbeat {
  readonly heartbeatMs: number;
  readonly ticker: Ticker;
}

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  // Keeps nginx from buffering the stream.
  "x-accel-buffering": "no",
};

/** `toLastFrame`: the error event of a stream that failed. */
export function streamReply(
  source: FrameStream,
  { ticker, heartbeatMs }: Heartbeat,
  toLastFrame: (error: unknown) => Uint8Array,
): Reply {
  let hasLeft = false;

  async function writeTo(writer: BodyWriter): Promise<void> {
    let lastWrite = ticker.now;
    const heartbeat: Watched = {
      index: -1,
      check(now) {
        if (writer.isStalled || now - lastWrite < heartbeatMs) return;
        void writer.write([heartbeatFrame]);
        lastWrite = now;
      },
    };
    ticker.watch(heartbeat);
    let sinceTurn = 0;
    try {
      for (;;) {
        const frames = source.take();
        if (frames === null || hasLeft) return;
        if (frames === undefined) {
          await source.wait();
          continue;
        }
        const stalled = writer.write(frames);
        if (stalled !== undefined) await stalled;
        lastWrite = ticker.now;
        sinceTurn += frames.length;
        if (sinceTurn >= framesPerTurn) {
          sinceTurn = 0;
          await nextTurn();
        }
      }
    } catch (error) {
      if (!hasLeft && !(error instanceof CallerLeft)) void writer.write([toLastFrame(error)]);
    } finally {
      ticker.forget(heartbeat);
    }
  }

  function abandon(): void {
    hasLeft = true;
    source.abandon();
  }

  return reply({ writeTo, abandon }, { headers });
}
