// Turns a provider's bytes into chunks of the chat format: a provider of that format, whose frames are kept as received, or a provider
// of another dialect.

import { isDoneMark } from "../lib/event-stream.ts";
import type { Provider } from "../providers/configure.ts";
import { type ChatStreamReader, ErrorInAnswer, type ProviderEvent } from "../providers/dialect.ts";
import { type Framing, FramingError } from "../providers/framing/framing.ts";
import { toErrorInAnswer, toFailureInAnswer } from "../providers/refusal.ts";
import { JsonEvents } from "./json-events.ts";
import type { Charge } from "./pricing.ts";
import { badAnswer, incompleteStream } from "./provider-answer.ts";

export type LooseChunk = Readonly<Record<string, unknown>>;

export interface ChunkSink {
  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null): void;
  /** The provider marked the end of its answer. */
  done(): void;
}

export interface ChunkSource {
  push(bytes: Uint8Array, sink: ChunkSink, callIndex: number): void;
  /** The provider closed the call. Throws when the answer was incomplete. */
  close(sink: ChunkSink, callIndex: number): void;
  /** It also reads a JSON list of events where a stream was requested. */
  readonly readsLists?: boolean;
  /** The counts that the provider sent before its usage, and their cost. */
  readonly usageSoFar?: unknown;
  readonly chargeSoFar?: Charge | null;
}

/** A provider of the chat format. */
export class PlainSource implements ChunkSource {
  readonly #provider: Provider;
  readonly #events: JsonEvents;
  #hasFinished = false;

  constructor(provider: Provider) {
    this.#provider = provider;
    this.#events = new JsonEvents(provider);
  }

  push(bytes: Uint8Array, sink: ChunkSink): void {
    for (const { data, frame } of this.#events.split(bytes)) {
      if (isDoneMark(data)) {
        sink.done();
        return;
      }
      const { text, event } = this.#events.parse(data);
      if (event["error"]) throw toErrorInAnswer(this.#provider, event);
      this.#hasFinished ||= hasFinishReason(event);
      sink.chunk(event, frame, text);
    }
  }

  close(sink: ChunkSink): void {
    const isComplete = this.#hasFinished && this.#provider.row.chat?.streamEnd === "finish" && !this.#events.isMidEvent;
    if (!isComplete && !this.#events.endsWithDone) throw incompleteStream(this.#provider);
    sink.done();
  }
}

/** A provider of another dialect, translated event by event. */
export class TranslatedSource implements ChunkSource {
  readonly readsLists = true;
  readonly #provider: Provider;
  readonly #framing: Framing;
  readonly #reader: ChatStreamReader;
  readonly #readsChatFormat: boolean;
  #hasUsage = false;
  /** The provider answers in the chat format all the same, as some do at the address of another dialect. */
  #isPlain = false;
  #hasFinished = false;

  constructor(provider: Provider, framing: Framing, reader: ChatStreamReader) {
    this.#provider = provider;
    this.#framing = framing;
    this.#reader = reader;
    this.#readsChatFormat = provider.dialect?.chat?.readsChatFormat === true;
  }

  get usageSoFar(): unknown {
    return this.#reader.usageSoFar ?? null;
  }

  push(bytes: Uint8Array, sink: ChunkSink): void {
    for (const event of this.#split(bytes)) {
      if (event.isDone) {
        if (this.#isPlain || this.#reader.isComplete) sink.done();
        continue;
      }
      this.#take(event, sink);
    }
    // Some dialects send usage after the end marker.
    if (this.#reader.isComplete && this.#hasUsage) sink.done();
  }

  close(sink: ChunkSink): void {
    let isDone = false;
    for (const event of this.#split(null)) {
      if (event.isDone) isDone = true;
      else this.#take(event, sink);
    }
    const isComplete = this.#reader.isComplete || (this.#isPlain && (isDone || this.#hasFinished));
    if (!isComplete || this.#framing.isMidEvent) throw incompleteStream(this.#provider);
    sink.done();
  }

  #take(event: ProviderEvent, sink: ChunkSink): void {
    if (!this.#readsChatFormat && event.value["object"] === "chat.completion.chunk") {
      this.#isPlain = true;
      this.#hasFinished ||= hasFinishReason(event.value);
      sink.chunk(event.value, null, null);
      return;
    }
    for (const chunk of this.#read(event)) {
      if (chunk.usage !== undefined && chunk.usage !== null) this.#hasUsage = true;
      sink.chunk(chunk, null, null);
    }
  }

  /** Null: the provider closed the stream. */
  #split(bytes: Uint8Array | null) {
    try {
      return bytes === null ? this.#framing.end() : this.#framing.push(bytes);
    } catch (error) {
      if (error instanceof FramingError) throw badAnswer(this.#provider, `sent a broken stream: ${error.message}`);
      throw error;
    }
  }

  #read(event: ProviderEvent) {
    try {
      return this.#reader.read(event);
    } catch (error) {
      if (error instanceof ErrorInAnswer) throw toFailureInAnswer(this.#provider, error);
      throw badAnswer(this.#provider, "sent an event that cannot be read", error);
    }
  }
}

function hasFinishReason(chunk: LooseChunk): boolean {
  const choices = chunk["choices"];
  return Array.isArray(choices) && choices.some((choice) => Boolean(choice?.finish_reason));
}
