// Stores a response while it is streamed. The caller learns its id only once the response is stored, and its end only once the end is
// stored.

import type { JsonObject } from "../../providers/dialect.ts";
import type { FrameStream } from "../frame-stream.ts";
import type { PendingResponse } from "./conversation-store.ts";

export class ResponseRecorder {
  #record: PendingResponse | null = null;
  #pending: Promise<unknown> | null = null;

  /** Null: the response is not stored. */
  begin(record: PendingResponse | null): void {
    this.#record = record;
    this.#hold(record?.stored);
  }

  complete(response: JsonObject): void {
    this.#hold(this.#record?.complete(response));
  }

  /** The stream ended early; nothing waits for the outcome. */
  giveUp(response: JsonObject): void {
    this.#record?.giveUp(response);
  }

  /** Resolves when the response is stored: until then the request can still fail with a status of its own. */
  async open(stream: FrameStream, onAbandoned: () => void): Promise<FrameStream> {
    const takePending = () => {
      const taken = this.#pending;
      this.#pending = null;
      return taken;
    };
    try {
      await takePending();
    } catch (error) {
      stream.abandon();
      throw error;
    }
    return new RecordedStream(stream, takePending, onAbandoned);
  }

  #hold(promise: Promise<unknown> | undefined): void {
    this.#pending = promise ?? null;
    // The stream awaits it; when the caller leaves first, a rejection must not stay unhandled.
    promise?.catch(() => {});
  }
}

// The event that ends the response, and the end marker after it.
const endFrames = 2;

/** Holds back the last frames until the end of the response is stored. */
class RecordedStream implements FrameStream {
  readonly #stream: FrameStream;
  readonly #takePending: () => Promise<unknown> | null;
  readonly #onAbandoned: () => void;
  #held: readonly Uint8Array[] | null = null;
  #waiting: Promise<unknown> | null = null;

  constructor(stream: FrameStream, takePending: () => Promise<unknown> | null, onAbandoned: () => void) {
    this.#stream = stream;
    this.#takePending = takePending;
    this.#onAbandoned = onAbandoned;
  }

  take(): readonly Uint8Array[] | null | undefined {
    if (this.#waiting !== null) return undefined;
    const held = this.#held;
    if (held !== null) {
      this.#held = null;
      return held;
    }
    const frames = this.#stream.take();
    if (frames === undefined || frames === null) return frames;
    this.#waiting = this.#takePending();
    if (this.#waiting === null) return frames;
    this.#held = frames.slice(-endFrames);
    const before = frames.slice(0, -endFrames);
    return before.length > 0 ? before : undefined;
  }

  async wait(): Promise<void> {
    const waiting = this.#waiting;
    if (waiting === null) {
      if (this.#held === null) await this.#stream.wait();
      return;
    }
    try {
      await waiting;
    } catch (error) {
      // An end that could not be stored is not sent: the stream fails instead.
      this.#stream.abandon();
      throw error;
    } finally {
      this.#waiting = null;
    }
  }

  abandon(): void {
    this.#stream.abandon();
    this.#onAbandoned();
  }
}
