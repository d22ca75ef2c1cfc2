// A streamed response from a provider that has the responses API itself: events pass with our ids in place of the provider's,
// and are read for failures, usage and the end.

import { GatewayError } from "../../errors.ts";
import { doneFrame, EventSplitter, EventStreamError } from "../../lib/event-stream.ts";
import type { OwnedIds } from "../../lib/owned-id.ts";
import { toErrorInAnswer } from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { type Charge, type Quote, toCostMembers } from "../pricing.ts";
import type { Relay } from "../relay.ts";
import { type ResponseNames, toChatUsage, toOwnEventText, toOwnResponse } from "./native-response.ts";
import { completeEvent } from "./response-defaults.ts";

export interface NativeRelayOptions {
  readonly provider: Provider;
  readonly names: ResponseNames;
  readonly owned: OwnedIds;
  readonly quote: Quote;
  readonly startedAt: number;
  /** Told once, when the provider's own id is known. */
  readonly onCreated: (response: JsonObject) => void;
  /** Told once, with the last state of the response as the caller sees it. */
  readonly onEnded: (response: JsonObject) => void;
}

const maxEventBytes = 8 * 1_048_576;
const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();
const endings: ReadonlySet<string> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
]);

export class NativeRelay implements Relay {
  readonly #options: NativeRelayOptions;
  readonly #splitter = new EventSplitter(maxEventBytes);
  usage: unknown = null;
  charge: Charge | null = null;
  #nextNumber = 0;
  #lastResponse: Record<string, unknown> | null = null;
  #isComplete = false;

  constructor(options: NativeRelayOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array, frames: Uint8Array[]): boolean {
    for (const { data } of this.#split(bytes)) {
      this.#take(data, frames);
      if (!this.#isComplete) continue;
      frames.push(doneFrame);
      return true;
    }
    return false;
  }

  close(): void {
    throw this.#error("provider_disconnected", "closed the stream before it was complete");
  }

  /** The last events of a stream that breaks off. */
  fail(error: { readonly code: string; readonly message: string }): Uint8Array {
    const isLimit = error.code === "rate_limit_exceeded" || error.code === "provider_rate_limited";
    // In the words of the response object; the event before it has ours.
    const reason = { code: isLimit ? "rate_limit_exceeded" : "server_error", message: error.message };
    const failed = { ...this.#lastResponse, status: "failed", error: reason };
    const own = { ...error, param: null };
    const told = [
      { type: "error", ...own, error: own, detail: error.message, sequence_number: this.#nextNumber },
      { type: "response.failed", response: failed, sequence_number: this.#nextNumber + 1 },
    ];
    return encoder.encode(
      told
        .filter(({ type }) => type === "error" || this.#lastResponse !== null)
        .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(""),
    );
  }

  #take(data: Uint8Array, frames: Uint8Array[]): void {
    const { text, event } = this.#parse(data);
    const type = typeof event["type"] === "string" ? event["type"] : "";
    if (type === "error" || (type === "" && event["error"]))
      throw toErrorInAnswer(this.#options.provider, event["error"] ?? event);
    const number = event["sequence_number"];
    this.#nextNumber = typeof number === "number" ? number + 1 : this.#nextNumber + 1;
    const response = event["response"];
    const own =
      typeof response === "object" && response !== null
        ? JSON.stringify({ ...event, response: this.#toOwn(response as JsonObject, type) })
        : this.#toOwnText(text, event);
    frames.push(encoder.encode(type === "" ? `data: ${own}\n\n` : `event: ${type}\ndata: ${own}\n\n`));
    if (endings.has(type)) this.#isComplete = true;
  }

  #toOwnText(text: string, event: JsonObject): string {
    const { names, owned } = this.#options;
    const complete = completeEvent(event);
    return toOwnEventText(complete === event ? text : JSON.stringify(complete), event, names.owner, owned);
  }

  #toOwn(response: JsonObject, type: string): Record<string, unknown> {
    const { names, owned, onCreated, onEnded } = this.#options;
    if (this.#lastResponse === null) onCreated(response);
    const added = endings.has(type) ? this.#account(response) : {};
    this.#lastResponse = toOwnResponse(response, names, owned, added);
    if (endings.has(type)) onEnded(this.#lastResponse);
    return this.#lastResponse;
  }

  #account(response: JsonObject): Record<string, unknown> {
    const { provider, quote, startedAt } = this.#options;
    this.usage = toChatUsage(response["usage"]);
    this.charge = quote.chargeFor(this.usage, response);
    const providerTime = Math.round(performance.now() - startedAt) / 1_000;
    return { provider: provider.name, ...toCostMembers(this.charge), provider_time: providerTime };
  }

  #split(bytes: Uint8Array) {
    try {
      return this.#splitter.push(bytes).filter(({ data }) => !isDone(data));
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

/** Some providers send the chat format's mark of the end as well; ours follows anyway. */
function isDone(data: Uint8Array): boolean {
  return data.length <= 16 && Buffer.from(data).toString("latin1").trim() === "[DONE]";
}
