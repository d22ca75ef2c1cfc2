// A Messages stream from a provider that speaks the format itself: its events pass as they came, and are read for failures,
// usage and the end. Only the event with the final usage gets a member of ours, the cost.

import type { ChatUsage } from "../../contract/chat-format.ts";
import { toErrorInAnswer } from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject, MessagesPassing } from "../../providers/dialect.ts";
import { JsonEvents } from "../json-events.ts";
import { type Charge, type Quote, toCostMembers } from "../pricing.ts";
import type { Relay } from "../relay.ts";
import { appendMembers } from "./append-members.ts";

interface Options {
  readonly provider: Provider;
  readonly passing: MessagesPassing;
  readonly quote: Quote;
}

const encoder = new TextEncoder();
const openings: ReadonlySet<string> = new Set(["message_start", "content_block_start", "ping"]);

export class PassRelay implements Relay {
  readonly #options: Options;
  readonly #events: JsonEvents;
  /** Counts of the last event replace those of the first; what it does not name stays. */
  #counts: JsonObject | null = null;
  #model: unknown;
  charge: Charge | null = null;
  hasContent = false;
  #isComplete = false;

  constructor(options: Options) {
    this.#options = options;
    this.#events = new JsonEvents(options.provider);
  }

  get usage(): ChatUsage | null {
    return this.#counts === null ? null : this.#options.passing.readUsage(this.#counts);
  }

  push(bytes: Uint8Array, frames: Uint8Array[]): boolean {
    for (const data of this.#events.split(bytes)) {
      this.#take(data, frames);
      if (this.#isComplete) return true;
    }
    return false;
  }

  close(): void {
    throw this.#events.cutOff();
  }

  #take(data: Uint8Array, frames: Uint8Array[]): void {
    const { text, event } = this.#events.parse(data);
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
    this.charge = this.#options.quote.chargeFor(this.usage, { model: this.#model });
    return appendMembers(text, event, toCostMembers(this.charge));
  }
}
