// A stream on its way from a provider to a caller: reads the provider's calls, lets a relay turn their bytes into frames, and
// reports the end of the stream exactly once.

import { GatewayError } from "../errors.ts";
import type { ProviderCall } from "../providers/call.ts";
import type { Charge } from "./pricing.ts";
import { toReadFailure } from "./provider-answer.ts";
import { type AttemptReport, toOutcome } from "./report.ts";

/** Frames of an event stream, pulled no faster than the caller reads. */
export interface FrameStream {
  /** The frames to write next; null at the end; undefined while there are none. */
  take(): readonly Uint8Array[] | null | undefined;
  /** Resolves when `take` has something to return, or an error to throw. */
  wait(): Promise<void>;
  /** The caller disconnected, or the rest of the stream is not wanted. */
  abandon(): void;
}

/** Turns a provider's bytes into frames for the caller. Failures are thrown as errors of the gateway. */
export interface Relay {
  /** Adds the frames of these bytes, which the call of this index returned. True when the stream is complete. */
  push(bytes: Uint8Array, frames: Uint8Array[], callIndex: number): boolean;
  /** The provider closed this call: adds the last frames, or throws when the answer was incomplete. True when the stream is complete. */
  close(frames: Uint8Array[], callIndex: number): boolean;
  /** As the provider or the chat format writes it; null while it is unknown. */
  readonly usage: unknown;
  /** The cost of this usage; null while it is unknown. */
  readonly charge: Charge | null;
  /** False until a frame carries content, not just a role or an opening event. Absent: the first event counts as content. */
  readonly hasContent?: boolean;
  /** A failure that the provider reported in an event that was forwarded; the end of its stream follows. */
  readonly failure?: GatewayError | null;
  /** It also reads a JSON list of events where a stream was requested. */
  readonly readsLists?: boolean;
  /** Receives each event or chunk as it was read; null when none is needed. */
  observe: ((event: Readonly<Record<string, unknown>>) => void) | null;
}

export interface StreamEnd {
  readonly outcome: AttemptReport["outcome"];
  readonly usage: unknown;
  readonly charge: Charge | null;
  readonly error: GatewayError | null;
}

const longestHoldMs = 1_000;

export class RelayStream implements FrameStream {
  readonly #calls: readonly ProviderCall[];
  readonly #closedCalls = new Set<ProviderCall>();
  readonly #relay: Relay;
  readonly #onEnd: (end: StreamEnd) => void;
  /** The index of the call that is read next: calls take turns. */
  #turn = 0;
  #opening: readonly Uint8Array[] | null = null;
  #hasBegun = false;
  #isComplete = false;
  #hasEnded = false;
  /** The failure arrived together with frames, which are returned first. */
  #failure: { readonly error: unknown } | null = null;

  constructor(calls: readonly ProviderCall[], relay: Relay, onEnd: (end: StreamEnd) => void) {
    this.#calls = calls;
    this.#relay = relay;
    this.#onEnd = onEnd;
  }

  /**
   * Waits for the first content: until then the request can still fail with a status of its own, or fall back. When a
   * provider opens its answer and then pauses, the opening frames are forwarded after a short while.
   */
  async open(): Promise<void> {
    for (const call of this.#calls) this.#refuseOtherTypes(call);
    this.#opening = await this.#readOpening();
    this.#hasBegun = true;
    for (const call of this.#calls) call.beginIdleClock();
  }

  #refuseOtherTypes({ contentType, provider }: ProviderCall): void {
    const isJson = /^application\/json/i.test(contentType);
    if (!/^text\/html/i.test(contentType) && !(isJson && this.#relay.readsLists !== true)) return;
    throw new GatewayError(
      "provider_bad_response",
      `The provider '${provider.name}' answered with '${contentType.slice(0, 80)}' instead of a stream.`,
    );
  }

  async #readOpening(): Promise<readonly Uint8Array[]> {
    const held: Uint8Array[] = [];
    let heldUntil = 0;
    for (;;) {
      const frames = this.#readFrames();
      if (frames === undefined) {
        if (held.length === 0) await this.wait();
        else if (performance.now() >= heldUntil) return held;
        else await Promise.race([this.wait(), Bun.sleep(heldUntil - performance.now())]);
      } else if (this.#isComplete || (frames.length > 0 && this.#relay.hasContent !== false))
        return [...held, ...frames];
      else {
        heldUntil ||= performance.now() + longestHoldMs;
        // A frame is valid only until the next bytes are read.
        for (const frame of frames) held.push(frame.slice());
      }
    }
  }

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

  abandon(): void {
    this.#end("caller_left", null);
    for (const call of this.#calls) call.abandon();
  }

  wait(): Promise<void> {
    const [only] = this.#calls;
    if (only !== undefined && this.#calls.length === 1) return only.wait();
    return Promise.race(this.#calls.filter((call) => !this.#closedCalls.has(call)).map((call) => call.wait()));
  }

  #readFrames(): Uint8Array[] | undefined {
    const { length } = this.#calls;
    for (let step = 0; step < length; step++) {
      const index = this.#turn;
      this.#turn = (index + 1) % length;
      const call = this.#calls[index];
      if (call === undefined || this.#closedCalls.has(call)) continue;
      const piece = call.take();
      if (piece === null) this.#closedCalls.add(call);
      if (piece === undefined) continue;
      // `wait` started the timeouts of all calls, and the caller may now read for longer than they last.
      if (length > 1) for (const other of this.#calls) other.pauseTimeout();
      return this.#relayPiece(piece, call, index);
    }
    return undefined;
  }

  #relayPiece(piece: Uint8Array | null, { provider }: ProviderCall, index: number): Uint8Array[] {
    const frames: Uint8Array[] = [];
    try {
      const isComplete = piece === null ? this.#relay.close(frames, index) : this.#relay.push(piece, frames, index);
      if (!this.#hasBegun && this.#relay.failure) throw this.#relay.failure;
      if (!isComplete) return frames;
    } catch (thrown) {
      const error = toReadFailure(thrown, provider);
      // While nothing has been sent, another candidate can still answer.
      if (!this.#hasBegun || frames.length === 0) throw error;
      this.#failure = { error };
      return frames;
    }
    this.#isComplete = true;
    const failure = this.#relay.failure ?? null;
    this.#end(failure?.code ?? "completed", failure);
    for (const call of this.#calls) call.finish();
    return frames;
  }

  #breakOff(error: unknown): unknown {
    this.#end(toOutcome(error), error instanceof GatewayError ? error : null);
    for (const call of this.#calls) call.abandon();
    return error;
  }

  #end(outcome: AttemptReport["outcome"], error: GatewayError | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd({ outcome, usage: this.#relay.usage, charge: this.#relay.charge, error });
  }
}
