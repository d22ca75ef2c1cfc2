// Shares the event loop between keys. A long body occupies it for tens of milliseconds, in which every other caller waits. While other
// keys are active, the long bodies of one key are therefore read one after the other, with pauses. A key that is alone does not wait.

import { GatewayError } from "../errors.ts";

export const longBodyBytes = 1_048_576;
/** Reading, checking and sending one megabyte takes about 7 ms of the event loop. */
const millisecondsPerByte = 7e-6;
/** Of each 16 ms, the long bodies of one key take one. */
const pauseFactor = 15;
const activeWithinMs = 1_000;
/** A request that would wait for longer is refused, so that waiting requests do not accumulate. */
const maxWaitMs = 30_000;

export class LongBodies {
  #latestKey = "";
  #latestAt = Number.NEGATIVE_INFINITY;
  /** The last request of any key but `#latestKey`. */
  #otherAt = Number.NEGATIVE_INFINITY;
  readonly #freeAt = new Map<string, number>();

  /** Notes a request of the key. `now` is in milliseconds, as everywhere here. */
  note(keyId: string, now: number): void {
    if (keyId !== this.#latestKey) {
      this.#otherAt = this.#latestAt;
      this.#latestKey = keyId;
    }
    this.#latestAt = now;
  }

  /** How long a body of this length has to wait until it is read. Throws 429 when that is too long. */
  reserve(keyId: string, bytes: number, now: number): number {
    if (bytes < longBodyBytes || !this.#othersAreActive(keyId, now)) return 0;
    const start = Math.max(now, this.#freeAt.get(keyId) ?? now);
    if (start - now > maxWaitMs)
      throw new GatewayError(
        "rate_limit_exceeded",
        "Too many long requests of this key are waiting. Send fewer at once.",
        {
          retryAfter: Math.ceil(maxWaitMs / 1_000),
        },
      );
    this.#freeAt.set(keyId, start);
    this.charge(keyId, bytes, start);
    return start - now;
  }

  /** Makes the next long body of the key wait: also for a body whose length was not known before it was read. */
  charge(keyId: string, bytes: number, now: number): void {
    const from = Math.max(now, this.#freeAt.get(keyId) ?? now);
    this.#freeAt.set(keyId, from + bytes * millisecondsPerByte * (pauseFactor + 1));
  }

  #othersAreActive(keyId: string, now: number): boolean {
    return now - (keyId === this.#latestKey ? this.#otherAt : this.#latestAt) < activeWithinMs;
  }
}
