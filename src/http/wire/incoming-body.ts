// The body of a request: it is taken when it is wanted, and who sends faster than that is held back.

import { BodyReader, type Framing, HttpSyntaxError } from "../../lib/http-body.ts";
import { malformed } from "./request-head.ts";

/** The connection that a body comes over. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Tells a client that asked first that it may send. */
  sendContinue(): void;
}

const nothing = Buffer.alloc(0);
const pauseAtBytes = 65_536;
// So much of a body that nobody wants is let come, to keep its connection.
const mostSkippedBytes = 65_536;

export class IncomingBody {
  readonly #source: BodySource;
  readonly #framing: Framing;
  #reader: BodyReader | null = null;
  /** Received and not looked at. When the body is complete: what came behind it. */
  #unread: Buffer;
  #receivedBytes: number;
  #mustInvite: boolean;
  #isSkipping = false;
  #isCancelled = false;
  #failure: unknown = null;
  #waiter: PromiseWithResolvers<void> | null = null;
  isComplete: boolean;

  constructor(source: BodySource, framing: Framing, received: Buffer, mustInvite: boolean) {
    this.#source = source;
    this.#framing = framing;
    this.#unread = received;
    this.#receivedBytes = received.length;
    this.isComplete = framing.kind === "length" && framing.length === 0;
    this.#mustInvite = mustInvite && received.length === 0 && !this.isComplete;
  }

  /** The whole body, if it has come together with its head. */
  takeWhole(): Uint8Array | null {
    const length = this.#declaredLength;
    if (length === null || this.#reader !== null || this.#unread.length < length) return null;
    const whole = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(length);
    this.isComplete = true;
    return whole;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** The next piece, good until the one after it is asked for; null at the end. */
  async read(): Promise<Uint8Array | null> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure;
      if (this.isComplete || this.#isCancelled) return null;
      const piece = this.#next();
      if (piece !== undefined) return piece;
      if (!this.isComplete) await this.#waitForMore();
    }
  }

  /** The rest is not wanted. Ends a wait for it. */
  cancel(): void {
    this.#isCancelled = true;
    this.#wake();
  }

  /**
   * Lets the rest come and go unread. False when it is too much for that, or nobody knows how much: then the connection cannot be used
   * for another request.
   */
  skip(): boolean {
    this.#isSkipping = true;
    if (this.isComplete) return true;
    if (this.#mustInvite) return false;
    this.#passOver();
    const length = this.#declaredLength;
    if (!this.isComplete && (length === null || length - this.#receivedBytes > mostSkippedBytes)) return false;
    if (this.hasFailed) return false;
    this.#source.resume();
    return true;
  }

  receive(bytes: Buffer): void {
    this.#receivedBytes += bytes.length;
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    if (this.#isSkipping) this.#passOver();
    else if (this.#waiter !== null) this.#wake();
    else if (this.#unread.length > pauseAtBytes) this.#source.pause();
  }

  /** What came behind the body, once that is complete. */
  takeSurplus(): Buffer {
    const surplus = this.#unread;
    this.#unread = nothing;
    return surplus;
  }

  /** The connection was lost. */
  fail(error: unknown): void {
    if (this.isComplete) return;
    this.#failure = error;
    this.#wake();
  }

  /** Null when it comes in chunks. */
  get #declaredLength(): number | null {
    return this.#framing.kind === "length" ? this.#framing.length : null;
  }

  #passOver(): void {
    try {
      while (!this.hasFailed && !this.isComplete && this.#next() !== undefined);
    } catch {
      // It is noted, and nobody waits for it.
    }
  }

  #next(): Uint8Array | undefined {
    this.#reader ??= new BodyReader(this.#framing);
    const reader = this.#reader;
    try {
      for (;;) {
        const piece = reader.next();
        if (reader.isComplete) this.#complete(reader);
        if (piece !== undefined || this.isComplete || this.#unread.length === 0) return piece;
        // What was given out before is used up.
        reader.free();
        reader.feed(this.#unread);
        this.#unread = nothing;
      }
    } catch (error) {
      this.#failure =
        error instanceof HttpSyntaxError ? malformed(`The body cannot be read: ${error.message}.`) : error;
      throw this.#failure;
    }
  }

  #complete(reader: BodyReader): void {
    this.isComplete = true;
    if (reader.hasSurplus) this.#unread = Buffer.concat([reader.surplus, this.#unread]);
  }

  #waitForMore(): Promise<void> {
    if (this.#mustInvite) {
      this.#mustInvite = false;
      this.#source.sendContinue();
    }
    this.#waiter = Promise.withResolvers<void>();
    this.#source.resume();
    return this.#waiter.promise;
  }

  #wake(): void {
    const waiter = this.#waiter;
    this.#waiter = null;
    waiter?.resolve();
  }
}
