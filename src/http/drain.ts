// The drain of a listener before its process shuts down: answers close their connections, and the streams that began earlier are waited for.

import { once } from "../lib/once.ts";

const lingerStepMs = 20;

export class Drain {
  isDraining = false;
  /** Streams whose headers did not announce the end of their connection. */
  #unannounced = 0;
  #lastEndedAt = Number.NEGATIVE_INFINITY;

  begin(): void {
    this.isDraining = true;
  }

  /** Counts a stream. Call the result when the stream has ended. */
  noteStream(signal: AbortSignal): () => void {
    // An aborted signal calls no listener: the stream would be waited for until the drain times out.
    if (this.isDraining || signal.aborted) return ignore;
    this.#unannounced += 1;
    const onEnd = once(() => {
      this.#unannounced -= 1;
      this.#lastEndedAt = performance.now();
    });
    // Bun neither reads nor cancels a stream that it has not begun to send when the client leaves.
    signal.addEventListener("abort", onEnd, { once: true });
    return onEnd;
  }

  /** Resolves when no counted stream is open and none has ended for `lingerMs`. */
  async untilAnnounced(lingerMs: number): Promise<void> {
    while (this.#unannounced > 0 || performance.now() - this.#lastEndedAt < lingerMs) await Bun.sleep(lingerStepMs);
  }
}

function ignore(): void {}
