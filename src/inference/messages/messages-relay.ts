// Relays a Messages stream from a provider of the same format. The event with the final usage gets additional members: the cost
// and, for callers that requested it, the metadata.

import type { ChatUsage } from "../../contract/chat-format.ts";
import { isObject } from "../../lib/lenient-json.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject, MessagesPassthrough } from "../../providers/dialect.ts";
import { EventRelay, type ForwardedEvent } from "../event-relay.ts";
import { type Quote, toCostMembers } from "../pricing.ts";
import { appendMembers } from "../provider-answer.ts";

const openings: ReadonlySet<string> = new Set(["message_start", "content_block_start", "ping"]);

interface MessagesRelayOptions {
  readonly provider: Provider;
  readonly passthrough: MessagesPassthrough;
  readonly quote: Quote;
  /** Null: the caller did not request it. */
  readonly metadata: (() => Record<string, unknown>) | null;
}

export class MessagesRelay extends EventRelay {
  hasContent = false;
  readonly #options: MessagesRelayOptions;
  /** The counts of later events replace those of the first; counts that they do not name stay. */
  #counts: JsonObject | null = null;
  #model: unknown;
  readonly #serverCalls: JsonObject[] = [];
  #hasBlocks = false;
  #isEmptyRefusal = false;

  constructor(options: MessagesRelayOptions) {
    super(options.provider);
    this.#options = options;
  }

  get usage(): ChatUsage | null {
    return this.#counts === null
      ? null
      : this.#options.passthrough.readUsage(this.#counts, this.#serverCalls, this.#isEmptyRefusal);
  }

  protected forward(event: JsonObject, type: string, text: string): ForwardedEvent {
    if (type === "message_start") this.#begin(event["message"]);
    if (type === "content_block_start") this.#beginBlock(event["content_block"]);
    this.hasContent ||= !openings.has(type);
    const isLast = type === "message_stop";
    if (type !== "message_delta") return { type, text, isLast };
    this.#count(event["usage"]);
    const { stop_reason: reason } = (event["delta"] ?? {}) as JsonObject;
    if (reason === "refusal") this.#isEmptyRefusal = !this.#hasBlocks;
    const { quote, metadata } = this.#options;
    this.charge = quote.chargeFor(this.usage, { model: this.#model });
    const added = { ...toCostMembers(this.charge), ...(metadata !== null && { switchyard: metadata() }) };
    return { type, text: appendMembers(text, event, added), isLast };
  }

  #beginBlock(block: unknown): void {
    this.#hasBlocks = true;
    if (isObject(block) && block["type"] === "server_tool_use") this.#serverCalls.push(block);
  }

  #begin(message: unknown): void {
    if (!isObject(message)) return;
    this.#model = message["model"];
    this.#count(message["usage"]);
  }

  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    const counts = Object.entries(usage).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(counts) };
  }
}
