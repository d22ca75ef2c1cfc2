// Chooses the framing of a stream by its content type, or the usual one of the dialect.

import { EventSplitter, EventStreamError, isDoneMark } from "../../lib/event-stream.ts";
import type { ChatDialect } from "../dialect.ts";
import { AwsEventDecoder } from "./aws-event-stream.ts";
import { type FramedEvent, type Framing, FramingError, parseEvent } from "./framing.ts";
import { JsonLineDecoder } from "./json-lines.ts";
import { JsonValueDecoder } from "./json-values.ts";

const byContentType: readonly (readonly [RegExp, ChatDialect["framing"]])[] = [
  [/^text\/event-stream/i, "event-stream"],
  [/^application\/(?:x-ndjson|jsonl|x-jsonlines)/i, "json-lines"],
  [/^application\/vnd\.amazon\.eventstream/i, "aws-event-stream"],
];

export function createFraming(contentType: string, usual: ChatDialect["framing"]): Framing {
  const stated = byContentType.find(([pattern]) => pattern.test(contentType))?.[1];
  switch (stated ?? usual) {
    case "event-stream":
      return /^application\/json/i.test(contentType) ? new JsonOrEventFraming() : new EventStreamFraming();
    case "json-lines":
      return new JsonLineDecoder();
    case "aws-event-stream":
      return new AwsEventDecoder();
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
  return isDoneMark(data) ? doneEvent : { name: "", value: parseEvent(decoder.decode(data)) };
}

const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * An answer of type JSON where events were requested. Some vendors send a list of the events when the request for a stream got lost, others
 * send events under the wrong type. The first byte decides.
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
      this.#framing = first === openBracket ? new JsonValueDecoder() : new EventStreamFraming();
    }
    return this.#framing.push(piece);
  }

  end(): readonly FramedEvent[] {
    return this.#framing?.end() ?? [];
  }
}
