// Several choices from a provider that gives one at a time: as many calls at once, joined into one answer. All of them
// answer, or the request has failed.

import type { ChatUsage } from "../contract/chat-format.ts";
import { GatewayError } from "../errors.ts";
import type { ProviderCall } from "../providers/call.ts";
import { type ChatAdapter, type GatewayMembers, toAdded, type WholeAnswer } from "./chat-adapter.ts";
import { ChatRelay, type ChatRelayOptions } from "./chat-relay.ts";
import type { ChunkSink, ChunkSource, LooseChunk } from "./chunk-source.ts";
import { addCharges, type Charge, type Quote } from "./pricing.ts";
import type { StreamEnd } from "./relay.ts";
import type { AttemptReport } from "./report.ts";

type Members = Readonly<Record<string, unknown>>;

export async function callInParallel(
  adapter: ChatAdapter,
  send: () => ProviderCall,
  ours: () => GatewayMembers,
): Promise<WholeAnswer & { readonly connectMs: number }> {
  const calls = Array.from({ length: adapter.calls }, send);
  try {
    const texts = await Promise.all(
      calls.map(async (call) => {
        await call.open();
        const text = await call.readWhole();
        call.finish();
        return text;
      }),
    );
    return { ...join(adapter, texts, ours()), connectMs: longestConnectMs(calls) };
  } catch (error) {
    for (const call of calls) call.abandon();
    throw error;
  }
}

/** The answer waits for the slowest of them. */
function longestConnectMs(calls: readonly ProviderCall[]): number {
  return Math.max(...calls.map((call) => call.connectMs));
}

function join(adapter: ChatAdapter, texts: readonly string[], ours: GatewayMembers): WholeAnswer {
  const wholes = texts.map((text) => adapter.readWhole(text, ours));
  const answers = wholes.map(({ value }) => value);
  const choices = answers.flatMap((answer, index) =>
    (answer["choices"] as Members[]).map((choice) => ({ ...choice, index })),
  );
  const usage = answers.map((answer) => answer["usage"]).reduce(addUsage, null);
  const { cost: _, cost_reason: __, ...first } = answers[0] ?? {};
  const charge = addCharges(wholes.map((whole) => whole.charge));
  const added = toAdded(ours, charge);
  const value = { ...first, choices, ...(usage === null ? {} : { usage }), ...added };
  return { value, text: JSON.stringify(value), charge, added };
}

/** Adds numbers member by member, also inside the details. */
function addUsage(sum: unknown, usage: unknown): ChatUsage | null {
  if (typeof usage !== "object" || usage === null) return sum as ChatUsage | null;
  if (typeof sum !== "object" || sum === null) return usage as ChatUsage;
  const added = new Map<string, unknown>(Object.entries(sum));
  for (const [name, value] of Object.entries(usage)) {
    const before = added.get(name);
    if (typeof value === "number") added.set(name, (typeof before === "number" ? before : 0) + value);
    else if (Array.isArray(value)) added.set(name, [...(Array.isArray(before) ? before : []), ...value]);
    else if (typeof value === "object" && value !== null) added.set(name, addUsage(before ?? null, value));
  }
  return Object.fromEntries(added) as unknown as ChatUsage;
}

interface Part {
  readonly call: ProviderCall;
  readonly index: number;
  source: ChunkSource | null;
  isDone: boolean;
}

type OnEnd = (end: StreamEnd) => void;

/** The streams of several calls as one, chunk by chunk as they come. */
export class ParallelStream {
  readonly #parts: readonly Part[];
  readonly #adapter: ChatAdapter;
  readonly #relay: ChatRelay;
  readonly #onEnd: OnEnd;
  #firstChunk: LooseChunk | null = null;
  #usage: unknown = null;
  readonly #quote: Quote;
  readonly #charges: Charge[] = [];
  #opening: readonly Uint8Array[] | null = null;
  #isComplete = false;
  #hasBegun = false;
  #hasEnded = false;
  #failure: { readonly error: unknown } | null = null;
  #turn = 0;
  #frames: Uint8Array[] = [];

  constructor(adapter: ChatAdapter, send: () => ProviderCall, options: Omit<ChatRelayOptions, "source">, onEnd: OnEnd) {
    this.#adapter = adapter;
    this.#parts = Array.from({ length: adapter.calls }, (_, index) => ({
      call: send(),
      index,
      source: null,
      isDone: false,
    }));
    this.#quote = options.quote;
    // The relay is fed with chunks, not with bytes, and with the sum of what the calls cost: it has no source of its own.
    this.#relay = new ChatRelay({
      ...options,
      source: { push: () => {}, close: () => {} },
      quote: { chargeFor: () => this.#chargeForAll() },
    });
    this.#onEnd = onEnd;
  }

  /** Waits until every call has been accepted and one has begun to answer. */
  async open(): Promise<void> {
    try {
      await Promise.all(
        this.#parts.map(async (part) => {
          await part.call.open();
          part.source = this.#adapter.createSource(part.call.contentType);
        }),
      );
      for (;;) {
        const frames = this.#readFrames();
        if (frames === undefined) await this.#waitForAny();
        else if (frames.length > 0) {
          this.#opening = frames;
          break;
        }
      }
      this.#hasBegun = true;
      for (const { call } of this.#parts) call.beginIdleClock();
    } catch (error) {
      for (const { call } of this.#parts) call.abandon();
      throw error;
    }
  }

  get connectMs(): number {
    return longestConnectMs(this.#parts.map(({ call }) => call));
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

  async wait(): Promise<void> {
    try {
      await this.#waitForAny();
    } catch (error) {
      throw this.#breakOff(error);
    }
  }

  abandon(): void {
    this.#end("caller_left", null);
    for (const { call } of this.#parts) call.abandon();
  }

  #waitForAny(): Promise<void> {
    return Promise.race(this.#parts.filter(({ isDone }) => !isDone).map(({ call }) => call.wait()));
  }

  /** One piece of one call, each having its turn. */
  #readFrames(): Uint8Array[] | undefined {
    for (let step = 0; step < this.#parts.length; step++) {
      const part = this.#parts[(this.#turn + step) % this.#parts.length];
      if (part === undefined || part.isDone || part.source === null) continue;
      const piece = part.call.take();
      if (piece === undefined) continue;
      this.#turn = (this.#turn + step + 1) % this.#parts.length;
      const frames: Uint8Array[] = [];
      this.#frames = frames;
      const sink = this.#sinkOf(part);
      try {
        if (piece === null) part.source.close(sink);
        else part.source.push(piece, sink);
      } catch (error) {
        // What came before the failure is handed out first; while nothing has been sent, another offer can answer instead.
        if (!this.#hasBegun || frames.length === 0) throw error;
        this.#failure = { error };
        return frames;
      }
      if (this.#parts.every(({ isDone }) => isDone)) this.#complete(frames);
      return frames;
    }
    return undefined;
  }

  #sinkOf(part: Part): ChunkSink {
    return {
      chunk: (chunk) => this.#takeChunk(chunk, part.index),
      done: () => {
        if (part.isDone) return;
        part.isDone = true;
        part.call.finish();
      },
    };
  }

  #takeChunk(chunk: LooseChunk, index: number): void {
    this.#firstChunk ??= chunk;
    const { id, created } = this.#firstChunk;
    const { usage, ...rest } = chunk;
    if (usage !== null && usage !== undefined) {
      this.#usage = addUsage(this.#usage, usage);
      this.#charges.push(this.#quote.chargeFor(usage, { model: chunk["model"], service_tier: chunk["service_tier"] }));
    }
    const choices = ((chunk["choices"] ?? []) as Members[]).map((choice) => ({ ...choice, index }));
    if (choices.length > 0) this.#emit({ ...rest, id, created, choices });
  }

  /** A call that told no usage leaves the whole unknown. */
  #chargeForAll(): Charge {
    if (this.#charges.length < this.#parts.length) return this.#quote.chargeFor(null);
    return addCharges(this.#charges);
  }

  #emit(chunk: LooseChunk): void {
    this.#relay.take(chunk, this.#frames);
  }

  #complete(frames: Uint8Array[]): void {
    this.#isComplete = true;
    const { id, object, created, model } = this.#firstChunk ?? {};
    if (this.#usage !== null) this.#relay.take({ id, object, created, model, choices: [], usage: this.#usage }, frames);
    this.#relay.finish(frames);
    this.#end("completed", null);
  }

  #breakOff(error: unknown): unknown {
    const known = error instanceof GatewayError ? error : null;
    this.#end(known?.code ?? "caller_left", known);
    for (const { call } of this.#parts) call.abandon();
    return error;
  }

  #end(outcome: AttemptReport["outcome"], error: GatewayError | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const received = this.#charges.length === 0 ? null : addCharges(this.#charges);
    this.#onEnd({ outcome, usage: this.#usage, charge: this.#relay.charge ?? received, error });
  }
}
