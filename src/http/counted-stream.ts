// Streamed answers whose end is noticed: by the limits and the load of their key, and by the log.

import type { RunningRequest } from "../access/limits.ts";
import { once } from "../lib/once.ts";
import type { Admission, KeyLoad, StreamLoad } from "./admission.ts";
import type { BodyStream, BodyWriter } from "./reply.ts";

interface StreamOwner {
  readonly running: RunningRequest;
  /** Null for management routes, whose load is not counted. */
  readonly load: KeyLoad | null;
  readonly admission: Admission;
  /** Of the request. */
  readonly signal: AbortSignal;
}

/** The request is running until its stream has ended. Throws when the key has too many open streams. */
export function countStream(body: BodyStream, { running, load, admission, signal }: StreamOwner): BodyStream {
  try {
    running.beginStream();
  } catch (error) {
    body.abandon();
    throw error;
  }
  const streamLoad = load === null ? null : admission.beginStream(load);
  const end = () => {
    running.end();
    streamLoad?.end();
  };
  // Bun neither reads nor cancels a stream that it has not begun to send when the client leaves.
  signal.addEventListener("abort", end, { once: true });
  return {
    writeTo: (writer) =>
      body.writeTo(streamLoad === null ? writer : new CountingWriter(writer, streamLoad)).finally(end),
    abandon() {
      end();
      body.abandon();
    },
  };
}

/** `onEnd` is called once, when the stream was written or the client has left. */
export function afterEnd(body: BodyStream, onEnd: () => void): BodyStream {
  const end = once(onEnd);
  return {
    writeTo: (writer) => body.writeTo(writer).finally(end),
    abandon() {
      try {
        body.abandon();
      } finally {
        end();
      }
    },
  };
}

class CountingWriter implements BodyWriter {
  readonly #writer: BodyWriter;
  readonly #load: StreamLoad;

  constructor(writer: BodyWriter, load: StreamLoad) {
    this.#writer = writer;
    this.#load = load;
  }

  get isStalled(): boolean {
    return this.#writer.isStalled;
  }

  write(pieces: readonly Uint8Array[]): Promise<void> | undefined {
    this.#load.count(pieces.length);
    return this.#writer.write(pieces);
  }
}
