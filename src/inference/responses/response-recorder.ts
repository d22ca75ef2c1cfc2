// Stores a response while it is streamed. The caller learns its id only once the response is stored, and its end only once the end is
// stored.

import type { JsonObject } from "../../providers/dialect.ts";
import type { FrameStream } from "../relay-stream.ts";
import type { PendingResponse } from "./conversation-store.ts";

// The event that ends the response, and the end marker after it.
const endFrames = 2;

export class ResponseRecorder implements FrameStream {
  #record: PendingResponse | null = null;
  /** The write that has to succeed before the next frames are sent. */
  #pending: Promise<unknown> | null = null;
  #stream: FrameStream | null = null;
  #onAbandoned: () => void = () => {};
  /** The last frames, which wait until the end of the response is stored. */
  #held: readonly Uint8Array[] | null = null;

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
    this.#record?.noteEnd(response);
  }

  /** Resolves when the response is stored: until then the request can still fail with a status of its own. */
  async open(stream: FrameStream, onAbandoned: () => void): Promise<FrameStream> {
    this.#stream = stream;
    this.#onAbandoned = onAbandoned;
    await this.#store();
    return this;
  }

  take(): readonly Uint8Array[] | null | undefined {
    if (this.#pending !== null) return undefined;
    const held = this.#held;
    this.#held = null;
    if (held !== null) return held;
    const frames = this.#stream?.take();
    if (!frames || this.#pending === null) return frames;
    this.#held = frames.slice(-endFrames);
    const before = frames.slice(0, -endFrames);
    return before.length > 0 ? before : undefined;
  }

  async wait(): Promise<void> {
    if (this.#pending !== null) await this.#store();
    else if (this.#held === null) await this.#stream?.wait();
  }

  abandon(): void {
    this.#stream?.abandon();
    this.#onAbandoned();
  }

  async #store(): Promise<void> {
    try {
      await this.#pending;
    } catch (error) {
      // An end that could not be stored is not sent: the stream fails instead.
      this.#stream?.abandon();
      throw error;
    } finally {
      this.#pending = null;
    }
  }

  #hold(promise: Promise<unknown> | undefined): void {
    this.#pending = promise ?? null;
    // The stream awaits it; when the caller leaves first, a rejection must not stay unhandled.
    promise?.catch(() => {});
  }
}
