// Writes a stream of frames to a caller: one event per write, no faster than the caller reads, a comment line after long
// silence, and after a failure an error event instead of a clean end.

import type { FrameStream } from "../inference/frame-stream.ts";
import { heartbeatFrame } from "../lib/event-stream.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import { type BodyStream, type BodyWriter, type Reply, reply } from "./reply.ts";

const eventStreamType = "text/event-stream; charset=utf-8";

// A provider that sends without pause would keep the event loop to itself: after so many frames others have their turn.
const framesPerTurn = 16;
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface StreamOptions {
  readonly heartbeatMs: number;
  readonly ticker: Ticker;
  readonly headers: Readonly<Record<string, string>>;
  /** The last event, or null when nobody is there to read it. */
  readonly describeFailure: (error: unknown) => Uint8Array | null;
}

export function streamReply(source: FrameStream, options: StreamOptions): Reply {
  return reply(new EventStream(source, options), { headers: { ...options.headers, "content-type": eventStreamType } });
}

class EventStream implements BodyStream {
  readonly #source: FrameStream;
  readonly #options: StreamOptions;
  #hasLeft = false;

  constructor(source: FrameStream, options: StreamOptions) {
    this.#source = source;
    this.#options = options;
  }

  abandon(): void {
    this.#hasLeft = true;
    this.#source.abandon();
  }

  async writeTo(writer: BodyWriter): Promise<void> {
    const { ticker, heartbeatMs, describeFailure } = this.#options;
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
      const failure = this.#hasLeft ? null : describeFailure(error);
      if (failure !== null) void writer.write([failure]);
    } finally {
      ticker.forget(heartbeat);
    }
  }
}
