// A Messages stream from a provider that speaks the format itself: its events pass as they came, and are read for failures,
// usage and the end. Only the event with the final usage gets a member of ours, the cost.

import type { ChatUsage } from "../../contract/chat-format.ts";
import { GatewayError } from "../../errors.ts";
import { EventSplitter, EventStreamError } from "../../lib/event-stream.ts";
import { toErrorInAnswer } from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject, MessagesPassing } from "../../providers/dialect.ts";
import { type Charge, type Quote, toCostMembers } from "../pricing.ts";
import type { Relay } from "../relay.ts";
import { appendMembers } from "./append-members.ts";

interface Options {
  readonly provider: Provider;
  readonly passing: MessagesPassing;
  readonly quote: Quote;
}

const maxEventBytes = 8 * 1_048_576;
const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();
const openings: ReadonlySet<string> = new Set(["message_start", "content_block_start", "ping"]);

export class PassRelay implements Relay {
  readonly #options: Options;
  readonly #splitter = new EventSplitter(maxEventBytes);
  /** Counts of the last event replace those of the first; what it does not name stays. */
  #counts: JsonObject | null = null;
  #model: unknown;
  charge: Charge | null = null;
  hasContent = false;
  #isComplete = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get usage(): ChatUsage | null {
    return this.#counts === null ? null : this.#options.passing.readUsage(this.#counts);
  }

  push(bytes: Uint8Array, frames: Uint8Array[]): boolean {
    for (const { data } of this.#split(bytes)) {
      this.#take(data, frames);
      if (this.#isComplete) return true;
    }
    return false;
  }

  close(): void {
    throw this.#error("provider_disconnected", "closed the stream before it was complete");
  }

  #take(data: Uint8Array, frames: Uint8Array[]): void {
    const { text, event } = this.#parse(data);
    const type = typeof event["type"] === "string" ? event["type"] : "";
    if (type === "error" || event["error"]) throw toErrorInAnswer(this.#options.provider, event["error"] ?? event);
    if (type === "message_start") this.#begin(event["message"]);
    if (type === "message_delta") this.#count(event["usage"]);
    if (type === "message_stop") this.#isComplete = true;
    this.hasContent ||= !openings.has(type);
    const told = type === "message_delta" ? this.#withCost(text, event) : text;
    frames.push(encoder.encode(type === "" ? `data: ${told}\n\n` : `event: ${type}\ndata: ${told}\n\n`));
  }

  #begin(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    const { model, usage } = message as JsonObject;
    this.#model = model;
    this.#count(usage);
  }

  #count(usage: unknown): void {
    if (typeof usage !== "object" || usage === null) return;
    const told = Object.entries(usage).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(told) };
  }

  #withCost(text: string, event: JsonObject): string {
    this.charge = this.#options.quote.chargeFor(this.usage, {
      model: this.#model,
      service_tier: this.#counts?.["service_tier"],
    });
    return appendMembers(text, event, toCostMembers(this.charge));
  }

  #split(bytes: Uint8Array) {
    try {
      return this.#splitter.push(bytes);
    } catch (error) {
      if (error instanceof EventStreamError)
        throw this.#error("provider_bad_response", `sent a broken stream: ${error.message}`);
      throw error;
    }
  }

  #parse(data: Uint8Array): { text: string; event: JsonObject } {
    try {
      const text = decoder.decode(data);
      const event: unknown = JSON.parse(text);
      if (typeof event === "object" && event !== null && !Array.isArray(event))
        return { text, event: event as JsonObject };
    } catch {
      // said below
    }
    throw this.#error("provider_bad_response", "sent an event that is not JSON");
  }

  #error(code: "provider_bad_response" | "provider_disconnected", what: string): GatewayError {
    return new GatewayError(code, `The provider '${this.#options.provider.name}' ${what}.`);
  }
}
