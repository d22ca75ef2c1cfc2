// Writes a stream of frames to a caller: one event per write, no faster than the caller reads, a comment line after long
// silence, and after a failure an error event instead of a clean end.

import { heartbeatFrame } from "../lib/event-stream.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";

export const eventStreamType = "text/event-stream; charset=utf-8";

export interface FrameSource {
  /** The frames to write next, null at the end, undefined when they have to be waited for. */
  take(): readonly Uint8Array[] | null | undefined;
  wait(): Promise<void>;
  /** The caller left. */
  abandon(): void;
}

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

/** Bun's direct streams: what is written and flushed goes out at once; `flush(true)` waits while the caller does not read. */
interface DirectController {
  write(bytes: Uint8Array): unknown;
  flush(wait: true): number | Promise<number>;
  close(): void;
}

export function streamResponse(source: FrameSource, options: StreamOptions): Response {
  const { ticker } = options;
  let left = false;
  async function pull(controller: DirectController): Promise<void> {
    const write = (frame: Uint8Array) => {
      controller.write(frame);
      return controller.flush(true);
    };
    let lastWrite = ticker.now;
    let sinceTurn = 0;
    const heartbeat: Watched = {
      place: -1,
      check(now) {
        if (left || now - lastWrite < options.heartbeatMs) return;
        write(heartbeatFrame);
        lastWrite = now;
      },
    };
    ticker.watch(heartbeat);
    try {
      for (;;) {
        const frames = source.take();
        if (frames === null || left) break;
        if (frames === undefined) {
          await source.wait();
          continue;
        }
        for (const frame of frames) {
          const flushed = write(frame);
          if (flushed instanceof Promise) await flushed;
        }
        lastWrite = ticker.now;
        sinceTurn += frames.length;
        if (sinceTurn >= framesPerTurn) {
          sinceTurn = 0;
          await nextTurn();
        }
      }
    } catch (error) {
      const failure = left ? null : options.describeFailure(error);
      if (failure !== null) await write(failure);
    } finally {
      ticker.forget(heartbeat);
      if (!left) controller.close();
    }
  }
  const stream = new ReadableStream<Uint8Array>({
    type: "direct",
    pull,
    cancel() {
      left = true;
      source.abandon();
    },
  });
  return new Response(stream, { headers: { ...options.headers, "content-type": eventStreamType } });
}
