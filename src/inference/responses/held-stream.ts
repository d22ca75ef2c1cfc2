// A stream whose last word waits for something of ours: that a response is complete is told when it is kept so. And it says
// when it was given up.

import type { FrameStream } from "../chat-completions.ts";

export interface HeldStreamOptions {
  /** What the end, if it was read, has to wait for; null: nothing. Asked after every read, gives each promise once. */
  readonly takePending: () => Promise<unknown> | null;
  /** The caller left before the end. */
  readonly onAbandoned: () => void;
}

// The event that ends the response, and the mark behind it.
const endFrames = 2;

export class HeldStream implements FrameStream {
  readonly #stream: FrameStream;
  readonly #options: HeldStreamOptions;
  #held: readonly Uint8Array[] | null = null;
  #waiting: Promise<unknown> | null = null;

  constructor(stream: FrameStream, options: HeldStreamOptions) {
    this.#stream = stream;
    this.#options = options;
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
    this.#waiting = this.#options.takePending();
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
      // What could not be kept is not told: neither the frames, nor a clean end.
      this.#stream.abandon();
      throw error;
    } finally {
      this.#waiting = null;
    }
  }

  abandon(): void {
    this.#stream.abandon();
    this.#options.onAbandoned();
  }
}
