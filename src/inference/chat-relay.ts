// Relays a streamed chat completion from any provider format to any caller format. The chat format is the intermediate format; where
// both sides use it, the provider's frames are forwarded unchanged.

import type { ChatChunk } from "../contract/chat-format.ts";
import { doneFrame, toFrame } from "../lib/event-stream.ts";
import { toSummedUsage } from "../usage/tokens.ts";
import type { ChunkSink, ChunkSource, LooseChunk } from "./chunk-source.ts";
import { DeltaLists } from "./delta-lists.ts";
import { type Charge, type Quote, toCostMembers, unknownUsage } from "./pricing.ts";
import type { Relay } from "./relay-stream.ts";

/** Writes chunks in the caller's format. */
export interface ChunkWriter {
  /** `frame` is the chunk as it was received, when the provider uses the chat format; `text` is its JSON. */
  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null, frames: Uint8Array[]): void;
  /** A chunk with usage and empty choices. */
  usage(chunk: LooseChunk, charge: Charge, frames: Uint8Array[]): void;
  end(frames: Uint8Array[], metadata: Record<string, unknown> | null): void;
}

export interface ChatRelayOptions {
  readonly source: ChunkSource;
  readonly writer: ChunkWriter;
  readonly quote: Quote;
  /** The `switchyard` member, for a caller that requested it. */
  readonly metadata: (() => Record<string, unknown>) | null;
}

export class ChatRelay implements Relay, ChunkSink {
  readonly #options: ChatRelayOptions;
  #usage: unknown = null;
  #charge: Charge | null = null;
  hasContent = false;
  observe: Relay["observe"] = null;
  /** The last one with choices. */
  #lastChunk: LooseChunk | null = null;
  /** The last one with usage and without choices. */
  #usageChunk: LooseChunk | null = null;
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

  get charge(): Charge | null {
    if (this.#charge !== null) return this.#charge;
    return this.#usage === null ? (this.#options.source.chargeSoFar ?? null) : this.#chargeFor(this.#usage);
  }

  push(bytes: Uint8Array, frames: Uint8Array[], callIndex: number): boolean {
    this.#frames = frames;
    this.#options.source.push(bytes, this, callIndex);
    return this.#isDone;
  }

  close(frames: Uint8Array[], callIndex: number): boolean {
    this.#frames = frames;
    this.#options.source.close(this, callIndex);
    return this.#isDone;
  }

  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null): void {
    if (this.#isDone) return;
    if (this.observe !== null) this.observe(chunk);
    const choices = chunk["choices"];
    const isEmpty = !Array.isArray(choices) || choices.length === 0;
    if (!isEmpty) {
      this.#lastChunk = chunk;
      this.hasContent ||= choices.some(carriesContent);
    }
    const received = chunk["usage"];
    if (received === null || received === undefined) {
      this.#options.writer.chunk(chunk, frame, text, this.#frames);
      return;
    }
    const usage = toSummedUsage(received);
    this.#usage = usage;
    // A later chunk may have other counts, so usage is sent at the end.
    if (isEmpty) {
      this.#usageChunk = chunk;
      return;
    }
    const isSame = usage === received;
    const counted = isSame ? chunk : { ...chunk, usage };
    this.#options.writer.chunk(counted, isSame ? frame : null, isSame ? text : null, this.#frames);
  }

  done(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    // Some providers put usage into the last content chunk; a caller that requested usage receives it in a chunk of its own.
    const { usage } = this;
    const holder = this.#usageChunk ?? withoutChoices(this.#lastChunk);
    if (usage !== null && holder !== null) {
      this.#charge = this.#chargeFor(usage);
      this.#options.writer.usage({ ...holder, usage }, this.#charge, this.#frames);
    }
    this.#options.writer.end(this.#frames, this.#options.metadata?.() ?? null);
  }

  #chargeFor(usage: unknown): Charge {
    const { model } = this.#usageChunk ?? this.#lastChunk ?? {};
    const service_tier = this.#usageChunk?.["service_tier"] ?? this.#lastChunk?.["service_tier"];
    return this.#options.quote.chargeFor(usage, { model, service_tier });
  }
}

function withoutChoices(chunk: LooseChunk | null): LooseChunk | null {
  if (chunk === null) return null;
  const { id, object, created, model } = chunk;
  return { id, object, created, model };
}

/** Anything but a role: text, a tool call, reasoning, or a finish reason. */
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

/** For callers that use the chat format. */
export class ChatChunkWriter implements ChunkWriter {
  readonly #includeUsage: boolean;
  /** For translated streams. */
  #lists: DeltaLists | null = null;
  #lastChunk: LooseChunk | null = null;

  constructor(includeUsage: boolean) {
    this.#includeUsage = includeUsage;
  }

  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null, frames: Uint8Array[]): void {
    this.#lastChunk = chunk;
    const received = frame ?? (text === null ? null : toFrame(text));
    // A caller that requested usage receives it once, in a chunk of its own.
    const hasUsage = this.#includeUsage && Boolean(chunk["usage"]);
    if (received !== null && !hasUsage) {
      frames.push(received);
      return;
    }
    const written = hasUsage ? { ...chunk, usage: null } : chunk;
    if (received === null) this.#lists ??= new DeltaLists();
    this.#push(this.#lists?.split(written) ?? [written], frames);
  }

  usage(chunk: LooseChunk, charge: Charge, frames: Uint8Array[]): void {
    // The gateway always requests usage from the provider; the caller receives it only on request.
    if (this.#includeUsage) this.#push([{ ...chunk, choices: [], ...toCostMembers(charge) }], frames);
  }

  end(frames: Uint8Array[], metadata: Record<string, unknown> | null): void {
    const { id, object, created, model } = this.#lastChunk ?? {};
    this.#push(this.#lists?.end({ id, object, created, model }) ?? [], frames);
    if (metadata !== null) this.#push([{ id, object, created, model, choices: [], switchyard: metadata }], frames);
    frames.push(doneFrame);
  }

  #push(chunks: readonly LooseChunk[], frames: Uint8Array[]): void {
    for (const chunk of chunks) frames.push(toFrame(JSON.stringify(chunk)));
  }
}

/** Writes chunks as the events of another format. */
export interface EventWriter {
  write(chunk: ChatChunk): readonly string[];
  end(charge: Charge, metadata: Record<string, unknown> | null): readonly string[];
}

const encoder = new TextEncoder();

/** For callers that use another format. */
export function encodeEvents(writer: EventWriter): ChunkWriter {
  let charge = unknownUsage;
  const add = (events: readonly string[], frames: Uint8Array[]) => {
    for (const event of events) frames.push(encoder.encode(event));
  };
  return {
    chunk: (chunk, _frame, _text, frames) => add(writer.write(chunk as unknown as ChatChunk), frames),
    usage(chunk, known, frames) {
      charge = known;
      add(writer.write({ ...chunk, choices: [] } as unknown as ChatChunk), frames);
    },
    end: (frames, metadata) => add(writer.end(charge, metadata), frames),
  };
}
