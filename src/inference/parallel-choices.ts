// Several choices from a provider that returns one per call: parallel calls, joined into one answer. When one call fails, the request
// fails.

import type { JsonObject } from "../lib/lenient-json.ts";
import { addUsage } from "./add-usage.ts";
import type { Accounting } from "./attempt.ts";
import type { WholeAnswer } from "./chat-adapter.ts";
import type { ChunkSink, ChunkSource, LooseChunk } from "./chunk-source.ts";
import { addCharges, type Charge, type Quote } from "./pricing.ts";

export function joinAnswers(answers: readonly WholeAnswer[], accounting: Accounting): WholeAnswer {
  const choices = answers.flatMap(({ value }, index) =>
    (value["choices"] as JsonObject[]).map((choice) => ({ ...choice, index })),
  );
  const usage = answers.map(({ value }) => value["usage"]).reduce(addUsage, null);
  const { cost: _, cost_reason: __, ...first } = answers[0]?.value ?? {};
  const charge = addCharges(answers.map((answer) => answer.charge));
  const added = accounting.toMembers(charge);
  const value = { ...first, choices, ...(usage === null ? {} : { usage }), ...added };
  return { value, text: JSON.stringify(value), charge, added };
}

/** The streams of several calls as one: the chunks of each call become those of one choice, in the order of their arrival. */
export class ParallelSource implements ChunkSource, Quote {
  readonly readsLists: boolean;
  readonly #sources: readonly ChunkSource[];
  readonly #quote: Quote;
  readonly #complete = new Set<number>();
  /** Of the calls that have reported theirs, by index. */
  readonly #counted = new Map<number, { readonly usage: unknown; readonly charge: Charge }>();
  #firstChunk: LooseChunk | null = null;

  constructor(sources: readonly ChunkSource[], quote: Quote) {
    this.#sources = sources;
    this.#quote = quote;
    this.readsLists = sources.every(({ readsLists }) => readsLists === true);
  }

  /** Every call was sent, so those that are not complete count with what they have reported until now. */
  get usageSoFar(): unknown {
    return this.#sources.map((source, index) => this.#usageOf(source, index)).reduce(addUsage, null);
  }

  /** Null while no call has reported anything. */
  get chargeSoFar(): Charge | null {
    if (this.usageSoFar === null) return null;
    return addCharges(
      this.#sources.map(
        (source, index) => this.#counted.get(index)?.charge ?? this.#quote.chargeFor(source.usageSoFar ?? null),
      ),
    );
  }

  #usageOf({ usageSoFar }: ChunkSource, index: number): unknown {
    return this.#counted.get(index)?.usage ?? usageSoFar ?? null;
  }

  /** The sum over all calls. A call without usage leaves it unknown. */
  chargeFor(): Charge {
    if (this.#counted.size < this.#sources.length) return this.#quote.chargeFor(null);
    return addCharges([...this.#counted.values()].map(({ charge }) => charge));
  }

  push(bytes: Uint8Array, sink: ChunkSink, callIndex: number): void {
    if (!this.#complete.has(callIndex)) this.#sources[callIndex]?.push(bytes, this.#choiceSink(callIndex, sink), 0);
  }

  close(sink: ChunkSink, callIndex: number): void {
    if (!this.#complete.has(callIndex)) this.#sources[callIndex]?.close(this.#choiceSink(callIndex, sink), 0);
  }

  #choiceSink(index: number, sink: ChunkSink): ChunkSink {
    return {
      chunk: (chunk) => this.#takeChunk(chunk, index, sink),
      done: () => {
        if (this.#complete.has(index)) return;
        this.#complete.add(index);
        if (this.#complete.size === this.#sources.length) this.#end(sink);
      },
    };
  }

  #takeChunk(chunk: LooseChunk, index: number, sink: ChunkSink): void {
    this.#firstChunk ??= chunk;
    const { id, created } = this.#firstChunk;
    const { usage, ...rest } = chunk;
    if (usage !== null && usage !== undefined) {
      const answered = { model: chunk["model"], service_tier: chunk["service_tier"] };
      this.#counted.set(index, { usage, charge: this.#quote.chargeFor(usage, answered) });
    }
    const choices = ((chunk["choices"] ?? []) as JsonObject[]).map((choice) => ({ ...choice, index }));
    if (choices.length > 0) sink.chunk({ ...rest, id, created, choices }, null, null);
  }

  #end(sink: ChunkSink): void {
    const { id, object, created, model } = this.#firstChunk ?? {};
    const usage = [...this.#counted.values()].map((counted) => counted.usage).reduce(addUsage, null);
    if (usage !== null) sink.chunk({ id, object, created, model, choices: [], usage }, null, null);
    sink.done();
  }
}
