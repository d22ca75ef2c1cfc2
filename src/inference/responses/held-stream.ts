// A stream whose frames wait for something of ours: an id is told only when it is kept. What the provider sends meanwhile
// waits too.

import type { FrameStream } from "../chat-completions.ts";

export class HeldStream implements FrameStream {
  readonly #stream: FrameStream;
  /** What the frames that were read last have to wait for; null: nothing. */
  readonly #pending: () => Promise<unknown> | null;
  #held: readonly Uint8Array[] | null = null;
  #waiting: Promise<unknown> | null = null;

  /** `pending` is asked after every read, and gives each promise once. */
  constructor(stream: FrameStream, pending: () => Promise<unknown> | null) {
    this.#stream = stream;
    this.#pending = pending;
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
    this.#waiting = this.#pending();
    if (this.#waiting === null) return frames;
    this.#held = frames;
    return undefined;
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
      // What could not be kept is not told: neither the frames, nor a clean end.
      this.#stream.abandon();
      throw error;
    } finally {
      this.#waiting = null;
    }
  }

  abandon(): void {
    this.#stream.abandon();
  }
}
