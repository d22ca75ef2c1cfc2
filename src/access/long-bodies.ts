// Shares the event loop between keys. A long body, or a short one that names long uploads, occupies it for tens of milliseconds, during which
// every other caller waits. While other keys are active, the long bodies of one key are therefore read one after the other, with pauses. A key
// that is alone does not wait.

import { GatewayError } from "../errors.ts";

export const longBodyBytes = 1_048_576;
/** Reading, checking and sending one megabyte takes about 7 ms of the event loop. */
const millisecondsPerByte = 7e-6;
/** The long bodies of one key take one of every 16 ms. */
const pauseFactor = 15;
const activeWithinMs = 1_000;
/** A request that would wait for longer is refused, so that waiting requests do not accumulate. */
const maxWaitMs = 30_000;

/** Times are milliseconds of `performance.now()`. */
export class LongBodies {
  #latestKey = "";
  #latestAt = Number.NEGATIVE_INFINITY;
  /** The last request of any key but `#latestKey`. */
  #otherAt = Number.NEGATIVE_INFINITY;
  /** When the next long body of a key may be read. An entry is small, and each key has at most one, so none is deleted. */
  readonly #freeAt = new Map<string, number>();

  noteRequest(keyId: string, now: number): void {
    if (keyId !== this.#latestKey) {
      this.#otherAt = this.#latestAt;
      this.#latestKey = keyId;
    }
    this.#latestAt = now;
  }

  /**
   * Returns how long a body has to wait until it is read. Throws 429 when that is too long. A body of unknown length (null) counts as
   * `longBodyBytes`; `settle` corrects that once the body has been read.
   */
  reserve(keyId: string, declaredBytes: number | null, now: number): number {
    const bytes = declaredBytes ?? longBodyBytes;
    if (bytes < longBodyBytes || !this.#othersAreActive(keyId, now)) return 0;
    const waitMs = Math.max(0, (this.#freeAt.get(keyId) ?? now) - now);
    if (waitMs > maxWaitMs) {
      const retryAfter = Math.ceil(waitMs / 1_000);
      const message = `This request would wait ${retryAfter} s for earlier long requests of this key, and may wait ${maxWaitMs / 1_000} s. Send fewer or shorter ones at once.`;
      throw new GatewayError("rate_limit_exceeded", message, { retryAfter });
    }
    this.#addPause(keyId, bytes, now);
    return waitMs;
  }

  /**
   * Called with the length of a body that was reserved as unknown. If no other key was active at that time, nothing had been reserved, so
   * the next long body of the key waits as if this one were shorter by `longBodyBytes`.
   */
  settle(keyId: string, bytes: number, now: number): void {
    this.#addPause(keyId, bytes - longBodyBytes, now);
  }

  /** Waits for as long as `reserve` says, from now. Undefined when there is no wait, because an await would cost an event-loop turn. */
  waitForTurn(keyId: string, declaredBytes: number | null): Promise<void> | undefined {
    const waitMs = this.reserve(keyId, declaredBytes, performance.now());
    return waitMs === 0 ? undefined : Bun.sleep(waitMs);
  }

  #othersAreActive(keyId: string, now: number): boolean {
    return now - (keyId === this.#latestKey ? this.#otherAt : this.#latestAt) < activeWithinMs;
  }

  /** Makes the next long body of the key wait in proportion to this one; for less than before if `bytes` is negative. */
  #addPause(keyId: string, bytes: number, now: number): void {
    const from = Math.max(now, this.#freeAt.get(keyId) ?? now);
    this.#freeAt.set(keyId, from + bytes * millisecondsPerByte * (pauseFactor + 1));
  }
}
