// Bounds the memory that files from addresses of callers occupy in this process, from their first byte until the request that named them ends.

import { GatewayError } from "../errors.ts";
import { EgressError } from "./egress-error.ts";

interface KeyDownloads {
  bytes: number;
  /** Requests that have downloads. */
  requests: number;
}

/**
 * A key may hold as many bytes as are free after that: alone it gets half of the budget, and what remains is free for the next key. A fixed
 * limit per key would let a few keys together use up the budget.
 */
export class DownloadBudget {
  readonly maxBytes: number;
  #bytes = 0;
  readonly #keys = new Map<string, KeyDownloads>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** The downloads of one request. */
  open(keyId: string): Downloads {
    const ofKey = this.#keys.get(keyId) ?? { bytes: 0, requests: 0 };
    this.#keys.set(keyId, ofKey);
    ofKey.requests += 1;
    return new Downloads(this, keyId, ofKey);
  }

  mayAdd(ofKey: KeyDownloads, bytes: number): boolean {
    return ofKey.bytes + bytes <= this.maxBytes - this.#bytes - bytes;
  }

  /** `bytes` is negative for memory that is free again. */
  add(ofKey: KeyDownloads, bytes: number): void {
    ofKey.bytes += bytes;
    this.#bytes += bytes;
  }

  close(keyId: string, ofKey: KeyDownloads): void {
    ofKey.requests -= 1;
    if (ofKey.requests === 0) this.#keys.delete(keyId);
  }
}

export class Downloads implements Disposable {
  readonly #budget: DownloadBudget;
  readonly #keyId: string;
  readonly #ofKey: KeyDownloads;
  #bytes = 0;
  #hasEnded = false;

  constructor(budget: DownloadBudget, keyId: string, ofKey: KeyDownloads) {
    this.#budget = budget;
    this.#keyId = keyId;
    this.#ofKey = ofKey;
  }

  /** Counts bytes that have arrived, or throws: 429 for a key that holds others, 503 while other keys hold too many. */
  add(bytes: number): void {
    // What a download receives between the end of its request and its cancellation.
    if (this.#hasEnded) return;
    if (!this.#budget.mayAdd(this.#ofKey, bytes)) throw this.#refuse(bytes);
    this.#bytes += bytes;
    this.#budget.add(this.#ofKey, bytes);
  }

  /** For bytes that the request does not need any longer. */
  remove(bytes: number): void {
    if (this.#hasEnded) return;
    this.#bytes -= bytes;
    this.#budget.add(this.#ofKey, -bytes);
  }

  /** Call it when the request ends. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#hasEnded) return;
    this.remove(this.#bytes);
    this.#hasEnded = true;
    this.#budget.close(this.#keyId, this.#ofKey);
  }

  #refuse(bytes: number): Error {
    const maxBytes = Math.floor(this.#budget.maxBytes / 2);
    if (this.#bytes + bytes > maxBytes)
      return new EgressError("too_large", `The files of a request may need at most ${maxBytes} bytes of memory`);
    if (this.#ofKey.bytes > this.#bytes)
      return new GatewayError(
        "rate_limit_exceeded",
        "Other requests of this key hold too many bytes of files from addresses. Wait until some of them have ended.",
        { retryAfter: 1 },
      );
    const message = "Requests of other keys hold too many bytes of files from addresses. Try again later.";
    return new GatewayError("overloaded", message, { retryAfter: 1 });
  }
}
