// How a stream is cut into events, by what the answer says that it is, else by what its dialect is used to.

import { EventSplitter, EventStreamError, isDoneMark } from "../../lib/event-stream.ts";
import { isObject } from "../../lib/lenient-json.ts";
import type { ChatDialect, JsonObject, ProviderEvent } from "../dialect.ts";
import { AwsEventDecoder, AwsEventStreamError } from "./aws-event-stream.ts";
import { JsonLineDecoder, JsonLineError } from "./json-lines.ts";
import { JsonValueDecoder, JsonValueError } from "./json-values.ts";

export interface Framing {
  /** The events that are complete with this piece. Throws a FramingError. */
  push(piece: Uint8Array): readonly FramedEvent[];
  /** Whether bytes are waiting for the rest of their event. */
  readonly isMidEvent: boolean;
  /** The provider has closed as it meant to: an event that needs no mark of its end is complete. */
  end(): readonly FramedEvent[];
}

/** `isDone`: the mark `[DONE]`, which is no JSON. */
export interface FramedEvent extends ProviderEvent {
  readonly isDone?: true;
}

/** The bytes are not of that framing. */
export class FramingError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "FramingError";
  }
}

const maxEventBytes = 8 * 1_048_576;
const decoder = new TextDecoder("utf-8", { fatal: true });
const doneEvent: FramedEvent = { name: "", value: {}, isDone: true };

class EventStreamFraming implements Framing {
  readonly #splitter = new EventSplitter(maxEventBytes);

  get isMidEvent(): boolean {
    return this.#splitter.isMidEvent && !this.#splitter.endsWithDone;
  }

  end(): readonly FramedEvent[] {
    return this.#splitter.endsWithDone ? [doneEvent] : [];
  }

  push(piece: Uint8Array): FramedEvent[] {
    try {
      return this.#splitter.push(piece).map(({ data }) => toEvent(data));
    } catch (error) {
      if (error instanceof EventStreamError || error instanceof TypeError)
        throw new FramingError(error.message, { cause: error });
      throw error;
    }
  }
}

function toEvent(data: Uint8Array): FramedEvent {
  return isDoneMark(data) ? doneEvent : { name: "", value: parseObject(decoder.decode(data)) };
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value as JsonObject;
  } catch {
    // said below
  }
  throw new FramingError("an event is not JSON");
}

/** A decoder of another kind, whose failures are told as ours. */
class DecoderFraming implements Framing {
  readonly #decoder: Decoder;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  get isMidEvent(): boolean {
    return this.#decoder.isMidEvent;
  }

  push(piece: Uint8Array): readonly FramedEvent[] {
    return told(() => this.#decoder.push(piece));
  }

  end(): readonly FramedEvent[] {
    return told(() => this.#decoder.end?.() ?? []);
  }
}

interface Decoder {
  readonly isMidEvent: boolean;
  push(piece: Uint8Array): readonly ProviderEvent[];
  end?(): readonly ProviderEvent[];
}

function told(read: () => readonly FramedEvent[]): readonly FramedEvent[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonLineError || error instanceof JsonValueError || error instanceof AwsEventStreamError)
      throw new FramingError(error.message, { cause: error });
    throw error;
  }
}

/**
 * An answer that calls itself JSON where events were asked for: a list of what the events would have been, as some vendors
 * answer when the wish for events was lost on the way; or events all the same. Its first byte tells.
 */
class JsonOrEventFraming implements Framing {
  #framing: Framing | null = null;

  get isMidEvent(): boolean {
    return this.#framing?.isMidEvent ?? false;
  }

  push(piece: Uint8Array): readonly FramedEvent[] {
    if (this.#framing === null) {
      const first = piece.find((byte) => byte > 0x20);
      if (first === undefined) return [];
      if (first === openBrace) throw new FramingError("it is a whole answer");
      const isList = first === openBracket;
      this.#framing = isList ? new DecoderFraming(new JsonValueDecoder()) : new EventStreamFraming();
    }
    return this.#framing.push(piece);
  }

  end(): readonly FramedEvent[] {
    return this.#framing?.end() ?? [];
  }
}

const openBracket = 0x5b;
const openBrace = 0x7b;

const byContentType: readonly (readonly [RegExp, ChatDialect["framing"]])[] = [
  [/^text\/event-stream/i, "event-stream"],
  [/^application\/(?:x-ndjson|jsonl|x-jsonlines)/i, "json-lines"],
  [/^application\/vnd\.amazon\.eventstream/i, "aws-event-stream"],
];

export function createFraming(contentType: string, usual: ChatDialect["framing"]): Framing {
  const said = byContentType.find(([pattern]) => pattern.test(contentType))?.[1];
  switch (said ?? usual) {
    case "event-stream":
      return /^application\/json/i.test(contentType) ? new JsonOrEventFraming() : new EventStreamFraming();
    case "json-lines":
      return new DecoderFraming(new JsonLineDecoder());
    case "aws-event-stream":
      return new DecoderFraming(new AwsEventDecoder());
  }
}
