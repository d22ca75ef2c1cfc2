// Relays the stream of a provider that uses the caller's own format: each event is forwarded with few members changed, and is read
// for failures, usage and the end.

import type { GatewayError } from "../errors.ts";
import { isDoneMark, toFrame } from "../lib/event-stream.ts";
import type { Provider } from "../providers/configure.ts";
import type { JsonObject } from "../providers/dialect.ts";
import { toErrorInAnswer } from "../providers/refusal.ts";
import { JsonEvents } from "./json-events.ts";
import type { Charge } from "./pricing.ts";
import { incompleteStream } from "./provider-answer.ts";
import type { Relay } from "./relay-stream.ts";

export interface ForwardedEvent {
  readonly type: string;
  /** The JSON of the event. */
  readonly text: string;
  readonly isLast: boolean;
}

export abstract class EventRelay implements Relay {
  abstract readonly usage: unknown;
  charge: Charge | null = null;
  observe: Relay["observe"] = null;
  failure: GatewayError | null = null;
  protected readonly provider: Provider;
  readonly #events: JsonEvents;

  constructor(provider: Provider) {
    this.provider = provider;
    this.#events = new JsonEvents(provider);
  }

  push(bytes: Uint8Array, frames: Uint8Array[]): boolean {
    for (const { data } of this.#events.split(bytes)) {
      // Some providers also send the end marker of the chat format.
      if (isDoneMark(data)) continue;
      const { text, event } = this.#events.parse(data);
      const type = typeof event["type"] === "string" ? event["type"] : "";
      const isError = type === "error" || (type === "" && Boolean(event["error"]));
      if (isError) this.receiveError(toErrorInAnswer(this.provider, event));
      if (this.observe !== null) this.observe(event);
      const forwarded = this.forward(event, isError ? "error" : type, text);
      frames.push(toFrame(forwarded.text, forwarded.type));
      if (!forwarded.isLast) continue;
      this.end(frames);
      return true;
    }
    return false;
  }

  close(): never {
    throw this.failure ?? incompleteStream(this.provider);
  }

  /** For an error event: throws the error, or returns, and the event is forwarded. */
  protected receiveError(error: GatewayError): void {
    throw error;
  }

  protected abstract forward(event: JsonObject, type: string, text: string): ForwardedEvent;

  /** Adds the frames that follow the last event. */
  protected end(_frames: Uint8Array[]): void {}
}
