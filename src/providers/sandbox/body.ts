// A response body that is produced in pieces as it is read, and that can be slow, stall or break like a real connection.

import { pause } from "../../lib/deadline.ts";

export interface BodyOptions {
  readonly signal: AbortSignal;
  /** The delay before every piece except the first. */
  readonly delayMs?: number;
  /** After the last piece: a clean end, a stall, or a broken connection. */
  readonly ending?: "clean" | "stall" | "cut";
}

export function streamPieces(pieces: Iterable<string>, options: BodyOptions): ReadableStream<Uint8Array> {
  const { signal, delayMs = 0, ending = "clean" } = options;
  const iterator = pieces[Symbol.iterator]();
  const encoder = new TextEncoder();
  let isFirst = true;
  let stopWatching = () => {};
  const waiting = new AbortController();

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = () => {
          waiting.abort();
          controller.error(signal.reason);
        };
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
        stopWatching = () => signal.removeEventListener("abort", abort);
      },
      async pull(controller) {
        if (delayMs > 0 && !isFirst && !(await pause(delayMs, waiting.signal))) return;
        isFirst = false;
        const next = iterator.next();
        if (!next.done) return controller.enqueue(encoder.encode(next.value));
        // A stalled body ends only with an abort.
        if (ending === "stall") return void (await pause(null, waiting.signal));
        stopWatching();
        if (ending === "cut") return controller.error(connectionReset());
        controller.close();
      },
      cancel() {
        stopWatching();
        waiting.abort();
      },
    },
    // Produce nothing before it is read.
    { highWaterMark: 0 },
  );
}

/** The same error as that of the runtime's fetch for a broken connection. */
function connectionReset(): TypeError {
  return Object.assign(new TypeError("The connection was closed before the end of the body."), { code: "ECONNRESET" });
}
