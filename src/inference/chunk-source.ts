// Where the chunks of a stream come from: a provider that speaks the chat format, whose frames are kept as they came, or one
// that speaks another dialect. Each event is parsed once, because only then can nothing broken be passed on as if all
// were well (docs/decisions/0004-streams.md has the price).

import { GatewayError } from "../errors.ts";
import { EventSplitter, EventStreamError, isDoneMark } from "../lib/event-stream.ts";
import { toErrorInAnswer, toFailureInAnswer } from "../providers/call.ts";
import type { Provider } from "../providers/configure.ts";
import { type ChatStreamReader, ErrorInAnswer, type ProviderEvent } from "../providers/dialect.ts";
import { type Framing, FramingError } from "../providers/framing/framing.ts";

export type LooseChunk = Readonly<Record<string, unknown>>;

export interface ChunkSink {
  chunk(chunk: LooseChunk, frame: Uint8Array | null, text: string | null): void;
  /** The provider's own mark of the end. */
  done(): void;
}

export interface ChunkSource {
  push(bytes: Uint8Array, sink: ChunkSink): void;
  /** The provider has closed. Throws when that was no proper end. */
  close(sink: ChunkSink): void;
  /** Whether a list of JSON objects is a stream to it. */
  readonly readsLists?: boolean;
  /** What the provider has counted so far, while it has not told its usage. */
  readonly usageSoFar?: unknown;
}

const maxEventBytes = 8 * 1_048_576;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The chat format itself. */
export class PlainSource implements ChunkSource {
  readonly #provider: Provider;
  readonly #splitter = new EventSplitter(maxEventBytes);
  #hasFinished = false;

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  push(bytes: Uint8Array, sink: ChunkSink): void {
    for (const { data, frame } of this.#split(bytes)) {
      if (isDoneMark(data)) {
        sink.done();
        return;
      }
      const text = decode(data, this.#provider);
      const chunk = parseObject(text, this.#provider);
      if (chunk["error"]) throw toErrorInAnswer(this.#provider, chunk["error"]);
      this.#hasFinished ||= hasFinishReason(chunk);
      sink.chunk(chunk, frame, text);
    }
  }

  close(sink: ChunkSink): void {
    if (this.#splitter.endsWithDone) {
      sink.done();
      return;
    }
    // A close without the mark that ends a stream is a cut, however clean it looks on the wire.
    if (this.#splitter.isMidEvent || !(this.#hasFinished && this.#provider.row.chat?.streamEnd === "finish"))
      throw cutOff(this.#provider);
    sink.done();
  }

  #split(bytes: Uint8Array) {
    try {
      return this.#splitter.push(bytes);
    } catch (error) {
      if (error instanceof EventStreamError) throw bad(this.#provider, `sent a broken stream: ${error.message}`);
      throw error;
    }
  }
}

/** Another dialect, read event by event. */
export class TranslatedSource implements ChunkSource {
  readonly readsLists = true;
  readonly #provider: Provider;
  readonly #framing: Framing;
  readonly #reader: ChatStreamReader;
  readonly #readsChatFormat: boolean;
  #hasUsage = false;
  /** The provider answers in the chat format after all, as some do at an address of another kind. */
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
    // What follows the mark of the end is usage, where it comes apart.
    if (this.#reader.isComplete && this.#hasUsage) sink.done();
  }

  close(sink: ChunkSink): void {
    let isDone = false;
    for (const event of this.#split(null)) {
      if (event.isDone) isDone = true;
      else this.#take(event, sink);
    }
    const isComplete = this.#reader.isComplete || (this.#isPlain && (isDone || this.#hasFinished));
    if (!isComplete || this.#framing.isMidEvent) throw cutOff(this.#provider);
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

  /** Null: there is nothing more. */
  #split(bytes: Uint8Array | null) {
    try {
      return bytes === null ? this.#framing.end() : this.#framing.push(bytes);
    } catch (error) {
      if (error instanceof FramingError) throw bad(this.#provider, `sent a broken stream: ${error.message}`);
      throw error;
    }
  }

  #read(event: ProviderEvent) {
    try {
      return this.#reader.read(event);
    } catch (error) {
      if (error instanceof ErrorInAnswer) throw toFailureInAnswer(this.#provider, error);
      throw bad(this.#provider, "sent an event that cannot be read", error);
    }
  }
}

function decode(data: Uint8Array, provider: Provider): string {
  try {
    return decoder.decode(data);
  } catch (cause) {
    throw bad(provider, "sent an event that is not UTF-8", cause);
  }
}

function parseObject(text: string, provider: Provider): LooseChunk {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as LooseChunk;
  } catch {
    // said below
  }
  throw bad(provider, "sent an event that is not JSON");
}

function hasFinishReason(chunk: LooseChunk): boolean {
  const choices = chunk["choices"];
  return Array.isArray(choices) && choices.some((choice) => Boolean(choice?.finish_reason));
}

function bad(provider: Provider, what: string, cause?: unknown): GatewayError {
  return new GatewayError("provider_bad_response", `The provider '${provider.name}' ${what}.`, { cause });
}

function cutOff(provider: Provider): GatewayError {
  return new GatewayError(
    "provider_disconnected",
    `The provider '${provider.name}' closed the stream before it was complete.`,
  );
}
