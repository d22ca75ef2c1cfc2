// Writes a stream of frames to a caller: one event per write, no faster than the caller reads, a heartbeat during long silence, and after a
// failure an error event instead of a clean end.

import type { FrameStream } from "../inference/relay-stream.ts";
import { heartbeatFrame } from "../lib/event-stream.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import { CallerLeft } from "../providers/call.ts";
import { type BodyStream, type BodyWriter, type Reply, reply } from "./reply.ts";

const eventStreamType = "text/event-stream; charset=utf-8";

// A provider that sends without pause would occupy the event loop: after this many frames, other requests are served.
const framesPerTurn = 16;
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export interface Heartbeat {
  readonly heartbeatMs: number;
  readonly ticker: Ticker;
}

const headers = {
  "content-type": eventStreamType,
  // Keeps nginx from buffering the stream.
  "x-accel-buffering": "no",
};

/** `toLastFrame`: the error event of a stream that failed. */
export function streamReply(
  source: FrameStream,
  heartbeat: Heartbeat,
  toLastFrame: (error: unknown) => Uint8Array,
): Reply {
  return reply(new EventStream(source, heartbeat, toLastFrame), { headers });
}

class EventStream implements BodyStream {
  readonly #source: FrameStream;
  readonly #heartbeat: Heartbeat;
  readonly #toLastFrame: (error: unknown) => Uint8Array;
  #hasLeft = false;

  constructor(source: FrameStream, heartbeat: Heartbeat, toLastFrame: (error: unknown) => Uint8Array) {
    this.#source = source;
    this.#heartbeat = heartbeat;
    this.#toLastFrame = toLastFrame;
  }

  abandon(): void {
    this.#hasLeft = true;
    this.#source.abandon();
  }

  async writeTo(writer: BodyWriter): Promise<void> {
    const { ticker, heartbeatMs } = this.#heartbeat;
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
        const frames = this.#source.take();
        if (frames === null || this.#hasLeft) return;
        if (frames === undefined) {
          await this.#source.wait();
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
      if (!this.#hasLeft && !(error instanceof CallerLeft)) void writer.write([this.#toLastFrame(error)]);
    } finally {
      ticker.forget(heartbeat);
    }
  }
}
