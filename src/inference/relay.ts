// A stream on its way from a provider to a caller: the call is read, a relay makes frames of its bytes, and the end is
// told once, whatever it was.

import { GatewayError } from "../errors.ts";
import type { ProviderCall } from "../providers/call.ts";
import type { Charge } from "./pricing.ts";
import type { AttemptReport } from "./report.ts";

/** What becomes of a provider's bytes. Failures are thrown as our errors. */
export interface Relay {
  /** Adds the frames that come of these bytes. True when the stream is complete. */
  push(bytes: Uint8Array, frames: Uint8Array[]): boolean;
  /** The provider has closed: adds the last frames, or throws when that was a cut. */
  close(frames: Uint8Array[]): void;
  /** In the provider's words or in those of the chat format; null while nothing is known. */
  readonly usage: unknown;
  /** What that costs; null while it has not been worked out. */
  readonly charge: Charge | null;
  /** False while nothing of the answer itself has come, only its frame: a role, an opening. Absent: the first event counts. */
  readonly hasContent?: boolean;
  /** Whether it can make something of a list of JSON objects where a stream was asked for. */
  readonly readsLists?: boolean;
}

/** How a stream ended, told once. */
export interface StreamEnd {
  readonly outcome: AttemptReport["outcome"];
  readonly usage: unknown;
  readonly charge: Charge | null;
  readonly error: GatewayError | null;
}

type OnEnd = (end: StreamEnd) => void;

const longestHoldMs = 1_000;

export class RelayStream {
  readonly #call: ProviderCall;
  readonly #relay: Relay;
  readonly #onEnd: OnEnd;
  #opening: readonly Uint8Array[] | null = null;
  #hasBegun = false;
  #isComplete = false;
  #hasEnded = false;
  /** Came in the same bytes as frames, which are handed out first. */
  #failure: { readonly error: unknown } | null = null;

  constructor(call: ProviderCall, relay: Relay, onEnd: OnEnd) {
    this.#call = call;
    this.#relay = relay;
    this.#onEnd = onEnd;
  }

  /**
   * Waits for the first content: until then the call can still fail with a status of its own, or fall back. A provider that
   * opens its answer and then thinks for long is not waited for: its opening is passed on after a moment.
   */
  async open(): Promise<void> {
    const type = this.#call.contentType;
    const isJson = /^application\/json/i.test(type);
    if (/^text\/html/i.test(type) || (isJson && this.#relay.readsLists !== true))
      throw new GatewayError(
        "provider_bad_response",
        `The provider '${this.#call.provider.name}' answered with '${type.slice(0, 80)}' instead of a stream.`,
      );
    this.#opening = await this.#readOpening();
    this.#hasBegun = true;
    this.#call.beginIdleClock();
  }

  async #readOpening(): Promise<readonly Uint8Array[]> {
    const held: Uint8Array[] = [];
    let heldUntil = 0;
    for (;;) {
      const frames = this.#readFrames();
      if (frames === undefined) {
        if (held.length === 0) await this.#call.wait();
        else if (performance.now() >= heldUntil) return held;
        else await Promise.race([this.#call.wait(), Bun.sleep(heldUntil - performance.now())]);
      } else if (this.#isComplete || (frames.length > 0 && this.#relay.hasContent !== false))
        return [...held, ...frames];
      else {
        heldUntil ||= performance.now() + longestHoldMs;
        // Frames are good only until the next bytes are read.
        for (const frame of frames) held.push(frame.slice());
      }
    }
  }

  /** The frames to write next, null when the stream is complete, undefined when they have to be waited for. */
  take(): readonly Uint8Array[] | null | undefined {
    const opening = this.#opening;
    if (opening !== null) {
      this.#opening = null;
      return opening;
    }
    if (this.#isComplete) return null;
    try {
      if (this.#failure !== null) throw this.#failure.error;
      return this.#readFrames();
    } catch (error) {
      throw this.#breakOff(error);
    }
  }

  /** Until `take` has something. A provider's failure is thrown. */
  async wait(): Promise<void> {
    try {
      await this.#call.wait();
    } catch (error) {
      throw this.#breakOff(error);
    }
  }

  /** The caller left, or the stream is given up. */
  abandon(): void {
    this.#end("caller_left", null);
    this.#call.abandon();
  }

  #readFrames(): Uint8Array[] | undefined {
    const piece = this.#call.take();
    if (piece === undefined) return undefined;
    const frames: Uint8Array[] = [];
    try {
      if (piece === null) this.#relay.close(frames);
      else if (!this.#relay.push(piece, frames)) return frames;
    } catch (error) {
      // While nothing has been sent, another offer can still answer instead.
      if (!this.#hasBegun || frames.length === 0) throw error;
      this.#failure = { error };
      return frames;
    }
    this.#isComplete = true;
    this.#end("completed", null);
    this.#call.finish();
    return frames;
  }

  #breakOff(error: unknown): unknown {
    const known = error instanceof GatewayError ? error : null;
    this.#end(known?.code ?? "caller_left", known);
    this.#call.abandon();
    return error;
  }

  #end(outcome: AttemptReport["outcome"], error: GatewayError | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd({ outcome, usage: this.#relay.usage, charge: this.#relay.charge, error });
  }
}
