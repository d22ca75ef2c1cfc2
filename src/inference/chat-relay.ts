// The chunks of a streamed chat completion, from whatever the provider speaks to whatever the caller speaks. Between the two
// stands the chat format; where both speak it, the provider's frames pass as they came.

import { doneFrame, toFrame } from "../lib/event-stream.ts";
import type { ChunkSink, ChunkSource, LooseChunk } from "./chunk-source.ts";
import { type Charge, type Quote, toCostMembers } from "./pricing.ts";
import type { Relay } from "./relay.ts";

/** Writes chunks in the caller's format. */
export interface ChunkWriter {
  /** `frame` is the chunk as it arrived, when that is in the chat format; `text` its JSON. */
  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null, frames: Uint8Array[]): void;
  /** A chunk with usage and empty choices. */
  usage(chunk: LooseChunk, charge: Charge, frames: Uint8Array[]): void;
  end(frames: Uint8Array[], metadata: Record<string, unknown> | null): void;
}

export interface ChatRelayOptions {
  readonly source: ChunkSource;
  readonly writer: ChunkWriter;
  readonly quote: Quote;
  /** The `switchyard` member, for a caller who asked for it. */
  readonly metadata: (() => Record<string, unknown>) | null;
}

export class ChatRelay implements Relay, ChunkSink {
  readonly #options: ChatRelayOptions;
  #usage: unknown = null;
  charge: Charge | null = null;
  hasContent = false;
  #lastChunk: LooseChunk | null = null;
  #usageSent = false;
  #isDone = false;
  #frames: Uint8Array[] = [];

  constructor(options: ChatRelayOptions) {
    this.#options = options;
  }

  get readsLists(): boolean {
    return this.#options.source.readsLists === true;
  }

  get usage(): unknown {
    return this.#usage ?? this.#options.source.usageSoFar ?? null;
  }

  push(bytes: Uint8Array, frames: Uint8Array[]): boolean {
    this.#frames = frames;
    this.#options.source.push(bytes, this);
    return this.#isDone;
  }

  close(frames: Uint8Array[]): void {
    this.#frames = frames;
    this.#options.source.close(this);
  }

  /** A chunk that is there already. */
  take(chunk: LooseChunk, frames: Uint8Array[]): void {
    this.#frames = frames;
    this.chunk(chunk, null, null);
  }

  finish(frames: Uint8Array[]): void {
    this.#frames = frames;
    this.done();
  }

  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null): void {
    if (this.#isDone) return;
    const choices = chunk["choices"];
    const isEmpty = !Array.isArray(choices) || choices.length === 0;
    if (!isEmpty) {
      this.#lastChunk = chunk;
      this.hasContent ||= choices.some(carriesContent);
    }
    const usage = chunk["usage"];
    if (usage !== null && usage !== undefined) {
      this.#usage = usage;
      if (isEmpty) {
        this.#sendUsage(chunk);
        return;
      }
    }
    this.#options.writer.chunk(chunk, frame, text, this.#frames);
  }

  done(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    // Some providers put usage into the last content chunk: who asked for a chunk of its own gets one.
    const { usage } = this;
    if (!this.#usageSent && usage !== null && this.#lastChunk !== null) {
      const { id, object, created, model } = this.#lastChunk;
      this.#sendUsage({ id, object, created, model, usage });
    }
    this.#options.writer.end(this.#frames, this.#options.metadata?.() ?? null);
  }

  #sendUsage(chunk: LooseChunk): void {
    this.#usageSent = true;
    const tier = chunk["service_tier"] ?? this.#lastChunk?.["service_tier"];
    this.charge = this.#options.quote.chargeFor(chunk["usage"], { model: chunk["model"], service_tier: tier });
    this.#options.writer.usage(chunk, this.charge, this.#frames);
  }
}

/** Anything but a role: text, a call, a thought, or the end. */
function carriesContent(choice: unknown): boolean {
  if (typeof choice !== "object" || choice === null) return false;
  const { delta, finish_reason } = choice as { delta?: unknown; finish_reason?: unknown };
  if (finish_reason) return true;
  if (typeof delta !== "object" || delta === null) return false;
  return Object.entries(delta).some(
    ([name, value]) =>
      name !== "role" && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0),
  );
}

/** For callers who speak the chat format. */
export class ChatChunkWriter implements ChunkWriter {
  readonly #includeUsage: boolean;
  #lastChunk: LooseChunk | null = null;

  constructor(includeUsage: boolean) {
    this.#includeUsage = includeUsage;
  }

  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null, frames: Uint8Array[]): void {
    this.#lastChunk = chunk;
    frames.push(frame ?? toFrame(text ?? JSON.stringify(chunk)));
  }

  usage(chunk: LooseChunk, charge: Charge, frames: Uint8Array[]): void {
    // Ours was the wish for it: a caller who did not ask does not get it.
    if (this.#includeUsage) frames.push(toFrame(JSON.stringify({ ...chunk, choices: [], ...toCostMembers(charge) })));
  }

  end(frames: Uint8Array[], metadata: Record<string, unknown> | null): void {
    if (metadata !== null) {
      const { id, object, created, model } = this.#lastChunk ?? {};
      frames.push(toFrame(JSON.stringify({ id, object, created, model, choices: [], switchyard: metadata })));
    }
    frames.push(doneFrame);
  }
}
