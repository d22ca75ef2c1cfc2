// A stream whose frames are there already.

import type { FrameStream } from "../chat-completions.ts";

export class PreparedStream implements FrameStream {
  #frames: readonly Uint8Array[] | null;

  constructor(frames: readonly Uint8Array[]) {
    this.#frames = frames;
  }

  take(): readonly Uint8Array[] | null {
    const frames = this.#frames;
    this.#frames = null;
    return frames;
  }

  async wait(): Promise<void> {}

  abandon(): void {
    this.#frames = null;
  }
}
