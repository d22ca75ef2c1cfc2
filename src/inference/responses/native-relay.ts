// A streamed response from a provider that has the responses API itself: events pass with our ids in place of the provider's,
// and are read for failures, usage and the end.

import { type ErrorCode, errorCatalogue } from "../../errors.ts";
import { doneFrame, isDoneMark } from "../../lib/event-stream.ts";
import { toErrorInAnswer } from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { JsonEvents } from "../json-events.ts";
import { type Charge, type Quote, toCostMembers } from "../pricing.ts";
import type { Relay } from "../relay.ts";
import {
  type IdPairs,
  type MarkId,
  type ResponseNames,
  toChatUsage,
  toFinishedTime,
  toOwnEvent,
  toOwnResponse,
  toPairs,
  toSeconds,
  withoutProviderIds,
} from "./native-response.ts";
import { patchJson } from "./patch-json.ts";

export interface NativeRelayOptions {
  readonly provider: Provider;
  readonly markId: MarkId;
  readonly quote: Quote;
  /** When the call began. */
  readonly startedAt: number;
  /** The response was created by an earlier call, and its events are told again. */
  readonly isRetrieved: boolean;
  /** What the response is called here, asked once, when the provider's own words of it are known. */
  readonly name: (response: JsonObject) => ResponseNames;
  /** Told once, with the provider's words and with the first state of the response as the caller sees it. */
  readonly onCreated: (response: JsonObject, own: JsonObject) => void;
  /** Told once, with the last state of the response as the caller sees it. */
  readonly onEnded: (own: JsonObject) => void;
}

const encoder = new TextEncoder();
const endings: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

export class NativeRelay implements Relay {
  readonly #options: NativeRelayOptions;
  readonly #events: JsonEvents;
  usage: unknown = null;
  charge: Charge | null = null;
  #nextNumber = 0;
  #names: ResponseNames | null = null;
  /** The provider's ids, and ours for them. */
  #pairs: IdPairs = [];
  /** Items that are complete, which a stream that breaks off leaves behind. */
  readonly #items: unknown[] = [];
  #lastResponse: Record<string, unknown> | null = null;
  #isComplete = false;

  constructor(options: NativeRelayOptions) {
    this.#options = options;
    this.#events = new JsonEvents(options.provider);
  }

  push(bytes: Uint8Array, frames: Uint8Array[]): boolean {
    for (const data of this.#events.split(bytes)) {
      // Some providers send the chat format's mark of the end as well; ours follows anyway.
      if (isDoneMark(data)) continue;
      this.#take(data, frames);
      if (!this.#isComplete) continue;
      frames.push(doneFrame);
      return true;
    }
    return false;
  }

  close(): void {
    throw this.#events.cutOff();
  }

  /** The last events of a stream that breaks off. */
  fail({ code, message }: { readonly code: string; readonly message: string }): Uint8Array {
    // The number of the end that nobody was told.
    if (this.#isComplete) this.#nextNumber--;
    let told = message;
    for (const [id, own] of this.#pairs) told = told.replaceAll(id, own);
    const type = errorCatalogue[code as ErrorCode]?.type ?? "server_error";
    // In the words of the response object; the event before it has ours.
    const reason = { code: type === "rate_limit_error" ? "rate_limit_exceeded" : "server_error", message: told };
    const error = { type, code, message: told, param: null };
    const events: Readonly<Record<string, unknown> & { type: string }>[] = [
      { type: "error", code, message: told, param: null, error, detail: told, sequence_number: this.#nextNumber++ },
    ];
    if (this.#lastResponse !== null) {
      const ending = { status: "failed", error: reason, provider_time: toSeconds(this.#options.startedAt) };
      this.#lastResponse = { ...this.#lastResponse, ...ending, output: this.#items };
      const sequence_number = this.#nextNumber++;
      events.push({ type: "response.failed", response: this.#lastResponse, sequence_number });
    }
    return encoder.encode(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  }

  /** As it was told last; null while nothing was. */
  get response(): JsonObject | null {
    return this.#lastResponse;
  }

  #take(data: Uint8Array, frames: Uint8Array[]): void {
    const { text, event } = this.#events.parse(data);
    const given = typeof event["type"] === "string" ? event["type"] : "";
    const type = given === "response.cancelled" ? "response.incomplete" : given;
    if (type === "error" || (type === "" && event["error"]))
      throw toErrorInAnswer(this.#options.provider, event["error"] ?? event);
    const own = { ...this.#toOwn(event, type), ...(type !== given && { type }) };
    const counted = event["sequence_number"];
    const number = typeof counted === "number" ? counted : this.#nextNumber;
    this.#nextNumber = number + 1;
    const told = withoutProviderIds(patchJson(text, event, { ...own, sequence_number: number }), this.#pairs);
    // A line break between two members is nothing to JSON and the end of a line to the event.
    const line = told.includes("\n") || told.includes("\r") ? told.replace(/[\r\n]+/g, " ") : told;
    frames.push(encoder.encode(type === "" ? `data: ${line}\n\n` : `event: ${type}\ndata: ${line}\n\n`));
    if (endings.has(type)) this.#isComplete = true;
  }

  #toOwn(event: JsonObject, type: string): JsonObject {
    const { response } = event;
    const isWhole = typeof response === "object" && response !== null && !Array.isArray(response);
    if (!isWhole) {
      const own = toOwnEvent(event, this.#names, this.#options.markId);
      if (type === "response.output_item.done") this.#items.push(own["item"]);
      return own;
    }
    return { ...event, response: this.#toOwnResponse(response as JsonObject, endings.has(type)) };
  }

  #toOwnResponse(response: JsonObject, isEnd: boolean): Record<string, unknown> {
    const { markId, name, onCreated, onEnded } = this.#options;
    const isFirst = this.#names === null;
    this.#names ??= name(response);
    const added = isEnd ? this.#account(response) : { provider: this.#options.provider.name };
    const own = toOwnResponse(response, this.#names, markId, added);
    this.#lastResponse = own;
    if (isFirst) {
      this.#pairs = toPairs(response, this.#names);
      onCreated(response, own);
    }
    if (isEnd) onEnded(own);
    return own;
  }

  #account(response: JsonObject): Record<string, unknown> {
    const { provider, quote, startedAt, isRetrieved } = this.#options;
    this.usage = toChatUsage(response["usage"]);
    this.charge = quote.chargeFor(this.usage, response);
    const time = isRetrieved ? toFinishedTime(response, startedAt) : { provider_time: toSeconds(startedAt) };
    return { provider: provider.name, ...toCostMembers(this.charge), ...time };
  }
}
