// The events of a provider's stream. Every event is parsed, so that a broken one is never forwarded as if it were complete
// (docs/decisions/0004-streams.md has the cost).

import { EventSplitter, EventStreamError, type StreamEvent } from "../lib/event-stream.ts";
import { isObject } from "../lib/lenient-json.ts";
import type { Provider } from "../providers/configure.ts";
import type { JsonObject } from "../providers/dialect.ts";
import { badAnswer } from "./provider-answer.ts";

const maxEventBytes = 8 * 1_048_576;
const decoder = new TextDecoder("utf-8", { fatal: true });

export class JsonEvents {
  readonly #provider: Provider;
  readonly #splitter = new EventSplitter(maxEventBytes);

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  /** Bytes are waiting for the rest of their event. */
  get isMidEvent(): boolean {
    return this.#splitter.isMidEvent;
  }

  /** The waiting bytes are the end marker, which some vendors send without the blank line that ends an event. */
  get endsWithDone(): boolean {
    return this.#splitter.endsWithDone;
  }

  /** The events that these bytes complete. */
  split(bytes: Uint8Array): StreamEvent[] {
    try {
      return this.#splitter.push(bytes);
    } catch (error) {
      if (error instanceof EventStreamError)
        throw badAnswer(this.#provider, `sent a broken stream: ${error.message}`, error);
      throw error;
    }
  }

  parse(data: Uint8Array): { text: string; event: JsonObject } {
    let problem = "sent an event that is not UTF-8";
    try {
      const text = decoder.decode(data);
      problem = "sent an event that is not JSON";
      const event: unknown = JSON.parse(text);
      if (isObject(event)) return { text, event };
    } catch (cause) {
      throw badAnswer(this.#provider, problem, cause);
    }
    throw badAnswer(this.#provider, problem);
  }
}
