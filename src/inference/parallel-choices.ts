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
  readonly #charges: Charge[] = [];
  #usage: unknown = null;
  #firstChunk: LooseChunk | null = null;

  constructor(sources: readonly ChunkSource[], quote: Quote) {
    this.#sources = sources;
    this.#quote = quote;
    this.readsLists = sources.every(({ readsLists }) => readsLists === true);
  }

  get usageSoFar(): unknown {
    return this.#usage;
  }

  get chargeSoFar(): Charge | null {
    return this.#charges.length === 0 ? null : addCharges(this.#charges);
  }

  /** The sum over all calls. A call without usage leaves it unknown. */
  chargeFor(): Charge {
    if (this.#charges.length < this.#sources.length) return this.#quote.chargeFor(null);
    return addCharges(this.#charges);
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
      this.#usage = addUsage(this.#usage, usage);
      this.#charges.push(this.#quote.chargeFor(usage, { model: chunk["model"], service_tier: chunk["service_tier"] }));
    }
    const choices = ((chunk["choices"] ?? []) as JsonObject[]).map((choice) => ({ ...choice, index }));
    if (choices.length > 0) sink.chunk({ ...rest, id, created, choices }, null, null);
  }

  #end(sink: ChunkSink): void {
    const { id, object, created, model } = this.#firstChunk ?? {};
    if (this.#usage !== null) sink.chunk({ id, object, created, model, choices: [], usage: this.#usage }, null, null);
    sink.done();
  }
}
