// A streamed chat completion of the same dialect. The provider's frames are passed on as they came; each is parsed once,
// because only then can nothing broken be passed on as if all were well (docs/decisions/0004-streams.md has the price).

import { GatewayError } from "../errors.ts";
import { doneFrame, EventSplitter, EventStreamError, type StreamEvent, toFrame } from "../lib/event-stream.ts";
import { type ProviderCall, toErrorInAnswer } from "../providers/call.ts";
import type { AttemptReport } from "./report.ts";

interface StreamOptions {
  readonly includeUsage: boolean;
  /** USD; null when the price is not known. */
  readonly cost: number | null;
  readonly onEnd: (outcome: AttemptReport["outcome"], usage: unknown) => void;
}

type Chunk = Readonly<Record<string, unknown>>;

const maxEventBytes = 8 * 1_048_576;
const decoder = new TextDecoder("utf-8", { fatal: true });

export class ChatStream {
  readonly #call: ProviderCall;
  readonly #options: StreamOptions;
  readonly #splitter = new EventSplitter(maxEventBytes);
  #opening: readonly Uint8Array[] | null = null;
  #usage: unknown = null;
  #lastChunk: Chunk | null = null;
  #usageSent = false;
  #finished = false;
  #ended = false;

  constructor(call: ProviderCall, options: StreamOptions) {
    this.#call = call;
    this.#options = options;
  }

  /** Waits for the first event: until then the call can still fail with a status of its own, or fall back. */
  async open(): Promise<void> {
    const type = this.#call.contentType;
    if (/^(?:application\/json|text\/html)/i.test(type))
      throw this.#bad(`answered with '${type.slice(0, 80)}' instead of a stream`);
    for (;;) {
      const frames = this.#readFrames();
      if (frames === undefined) await this.#call.wait();
      else if (frames.length > 0) {
        this.#opening = frames;
        break;
      }
    }
    this.#call.beginIdleClock();
  }

  /** The frames to write next, null when the stream is complete, undefined when they have to be waited for. */
  take(): readonly Uint8Array[] | null | undefined {
    const opening = this.#opening;
    if (opening !== null) {
      this.#opening = null;
      return opening;
    }
    if (this.#ended) return null;
    try {
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
    this.#end("caller_left");
    this.#call.abandon();
  }

  #readFrames(): Uint8Array[] | undefined {
    const piece = this.#call.take();
    if (piece === undefined) return undefined;
    const frames: Uint8Array[] = [];
    if (piece === null) {
      // A close without the mark that ends a stream is a cut, however clean it looks on the wire.
      if (this.#splitter.isMidEvent || !(this.#finished && this.#call.provider.row.streamEnd === "finish"))
        throw this.#error("provider_disconnected", "closed the stream before it was complete");
      this.#complete(frames);
      return frames;
    }
    for (const event of this.#split(piece)) {
      if (this.#ended) break;
      if (isDone(event.data)) this.#complete(frames);
      else this.#take(event, frames);
    }
    return frames;
  }

  #split(piece: Uint8Array): StreamEvent[] {
    try {
      return this.#splitter.push(piece);
    } catch (error) {
      if (error instanceof EventStreamError) throw this.#bad(`sent a broken stream: ${error.message}`);
      throw error;
    }
  }

  #take({ data, frame }: StreamEvent, frames: Uint8Array[]): void {
    const { chunk, text } = this.#parse(data);
    if (chunk["error"]) throw toErrorInAnswer(this.#call.provider, chunk["error"]);
    const choices = chunk["choices"];
    const isEmpty = !Array.isArray(choices) || choices.length === 0;
    if (!isEmpty) {
      this.#lastChunk = chunk;
      this.#finished ||= choices.some((choice) => Boolean(choice?.finish_reason));
    }
    const usage = chunk["usage"];
    if (usage !== null && usage !== undefined) {
      this.#usage = usage;
      if (isEmpty) {
        // Ours was the wish for it: a caller who did not ask does not get it.
        if (this.#options.includeUsage) frames.push(this.#usageFrame(chunk));
        return;
      }
    }
    frames.push(frame ?? toFrame(text));
  }

  #parse(data: Uint8Array): { chunk: Chunk; text: string } {
    try {
      const text = decoder.decode(data);
      const chunk: unknown = JSON.parse(text);
      if (typeof chunk === "object" && chunk !== null && !Array.isArray(chunk)) return { chunk: chunk as Chunk, text };
    } catch {
      // said below
    }
    throw this.#bad("sent an event that is not JSON");
  }

  #usageFrame(chunk: Chunk): Uint8Array {
    this.#usageSent = true;
    return toFrame(JSON.stringify({ ...chunk, choices: [], cost: this.#options.cost }));
  }

  #complete(frames: Uint8Array[]): void {
    // Some providers put usage into the last content chunk: who asked for a chunk of its own gets one.
    if (this.#options.includeUsage && !this.#usageSent && this.#usage !== null && this.#lastChunk !== null) {
      const { id, object, created, model } = this.#lastChunk;
      frames.push(this.#usageFrame({ id, object, created, model, usage: this.#usage }));
    }
    frames.push(doneFrame);
    this.#end("completed");
    this.#call.finish();
  }

  #breakOff(error: unknown): unknown {
    this.#end(error instanceof GatewayError ? error.code : "caller_left");
    this.#call.abandon();
    return error;
  }

  #end(outcome: AttemptReport["outcome"]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.onEnd(outcome, this.#usage);
  }

  #bad(what: string): GatewayError {
    return this.#error("provider_bad_response", what);
  }

  #error(code: "provider_bad_response" | "provider_disconnected", what: string): GatewayError {
    return new GatewayError(code, `The provider '${this.#call.provider.name}' ${what}.`);
  }
}

/** `[DONE]`, with or without space around it. */
function isDone(data: Uint8Array): boolean {
  if (data.length > 16 || data.indexOf(0x44) < 0) return false;
  return Buffer.from(data).toString("latin1").trim() === "[DONE]";
}
