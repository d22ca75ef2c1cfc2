// The events of a provider's stream whose data are JSON objects, each with its text, for relays that pass them on.

import { GatewayError } from "../errors.ts";
import { EventSplitter, EventStreamError } from "../lib/event-stream.ts";
import type { Provider } from "../providers/configure.ts";
import type { JsonObject } from "../providers/dialect.ts";

export interface JsonEvent {
  readonly text: string;
  readonly event: JsonObject;
}

const maxEventBytes = 8 * 1_048_576;
const decoder = new TextDecoder("utf-8", { fatal: true });

export class JsonEvents {
  readonly #provider: Provider;
  readonly #splitter = new EventSplitter(maxEventBytes);

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  /** The data of the events that are complete with these bytes. */
  split(bytes: Uint8Array): Uint8Array[] {
    try {
      return this.#splitter.push(bytes).map(({ data }) => data);
    } catch (error) {
      if (error instanceof EventStreamError) throw this.#bad(`sent a broken stream: ${error.message}`);
      throw error;
    }
  }

  parse(data: Uint8Array): JsonEvent {
    try {
      const text = decoder.decode(data);
      const event: unknown = JSON.parse(text);
      if (typeof event === "object" && event !== null && !Array.isArray(event))
        return { text, event: event as JsonObject };
    } catch {
      // said below
    }
    throw this.#bad("sent an event that is not JSON");
  }

  /** A close before the mark of the end is a cut, however clean it looks on the wire. */
  cutOff(): GatewayError {
    return new GatewayError(
      "provider_disconnected",
      `The provider '${this.#provider.name}' closed the stream before it was complete.`,
    );
  }

  #bad(what: string): GatewayError {
    return new GatewayError("provider_bad_response", `The provider '${this.#provider.name}' ${what}.`);
  }
}
