// Relays a streamed response from a provider that has the Responses API: each event is forwarded with the gateway's ids in place of
// the provider's.

import type { GatewayError } from "../../errors.ts";
import { doneFrame, toFrame } from "../../lib/event-stream.ts";
import { isObject } from "../../lib/lenient-json.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { asObject, asString } from "../../providers/lenient.ts";
import { hideSecrets } from "../../providers/refusal.ts";
import { EventRelay, type ForwardedEvent } from "../event-relay.ts";
import { type Quote, toCostMembers } from "../pricing.ts";
import * as native from "./native-response.ts";
import { patchJson } from "./patch-json.ts";
import { describeFailure, type StreamFailure } from "./response-events.ts";

export interface NativeRelayOptions {
  readonly provider: Provider;
  readonly signId: native.SignId;
  readonly quote: Quote;
  /** When the attempt began. */
  readonly startedAt: number;
  /** Null: the caller did not request it. */
  readonly metadata: (() => Record<string, unknown>) | null;
  /** The response was created by an earlier request, and its events are replayed. */
  readonly isRetrieved: boolean;
  /** Called once, with the first state of the response as the provider sent it. */
  readonly name: (response: JsonObject) => native.ResponseNames;
  /** Called once, with the first state of the response as the provider sent it and as the caller receives it. */
  readonly onCreated: (response: JsonObject, own: JsonObject) => void;
  /** Called once, with the last state of the response as the caller receives it. */
  readonly onEnded: (own: JsonObject) => void;
}

const endings: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

export class NativeRelay extends EventRelay {
  usage: unknown = null;
  readonly #options: NativeRelayOptions;
  #nextNumber = 0;
  #names: native.ResponseNames | null = null;
  /** The provider's ids, and the gateway's ids for them. */
  #pairs: native.IdPairs = [];
  /** Completed items, which a broken stream leaves behind. */
  readonly #items: unknown[] = [];
  #lastResponse: Record<string, unknown> | null = null;
  #isComplete = false;
  /** The error that the provider reported, as the caller received it. */
  #reported: { readonly code: string; readonly message: string } | null = null;

  constructor(options: NativeRelayOptions) {
    super(options.provider);
    this.#options = options;
  }

  /** The last state that was sent to the caller; null before the first. */
  get response(): JsonObject | null {
    return this.#lastResponse;
  }

  /** The last events of a broken stream. */
  fail({ message, ...failure }: StreamFailure): Uint8Array {
    // The last event was read but not sent, so its number is free.
    if (this.#isComplete) this.#nextNumber--;
    const described = describeFailure({ ...failure, message: native.replaceIds(message, this.#pairs) });
    const error = this.#reported ?? described.error;
    const frames: Uint8Array[] = [];
    if (this.#reported === null)
      frames.push(toEventFrame({ type: "error", ...described.event, sequence_number: this.#nextNumber++ }));
    if (this.#lastResponse !== null) {
      // A final event that was not sent may have set the first two.
      const ending = {
        ...(this.#isComplete && { completed_at: null, incomplete_details: null }),
        ...{ status: "failed", error, provider_time: native.toSeconds(this.#options.startedAt) },
        ...(failure.switchyard && { switchyard: failure.switchyard }),
      };
      this.#lastResponse = { ...this.#lastResponse, ...ending, output: this.#items };
      frames.push(
        toEventFrame({ type: "response.failed", response: this.#lastResponse, sequence_number: this.#nextNumber++ }),
      );
    }
    return Buffer.concat(frames);
  }

  /** The caller receives the provider's `error` and `response.failed` events, because clients decide by the codes in them. */
  protected override receiveError(error: GatewayError): void {
    // Before the response has begun, the request can fail with a status. A refusal of the gateway's credentials is not the caller's.
    if (this.#lastResponse === null || error.code === "provider_auth_failed") throw error;
    if (!this.#options.isRetrieved) this.failure = error;
  }

  protected forward(event: JsonObject, type: string, text: string): ForwardedEvent {
    const ownType = type === "response.cancelled" ? "response.incomplete" : type;
    const own = { ...this.#toOwn(event, ownType), ...(ownType !== type && { type: ownType }) };
    const received = event["sequence_number"];
    // Some vendors number every error event with 0.
    const number = typeof received === "number" && type !== "error" ? received : this.#nextNumber;
    this.#nextNumber = number + 1;
    const patched = native.withoutProviderIds(patchJson(text, event, { ...own, sequence_number: number }), this.#pairs);
    this.#isComplete = endings.has(ownType);
    return { type: ownType, text: patched, isLast: this.#isComplete };
  }

  protected override end(frames: Uint8Array[]): void {
    frames.push(doneFrame);
  }

  #toOwn(event: JsonObject, type: string): JsonObject {
    const { response } = event;
    if (type === "error") return this.#toOwnError(event);
    if (isObject(response)) return { ...event, response: this.#toOwnResponse(response, endings.has(type)) };
    const own = native.toOwnEvent(event, this.#names, this.#options.signId);
    if (type === "response.output_item.done") this.#items.push(own["item"]);
    return own;
  }

  #toOwnError(event: JsonObject): JsonObject {
    const nested = asObject(event["error"]);
    const { code: name, message: said, param = null } = { ...event, ...nested };
    const message = native.replaceIds(hideSecrets(this.provider, asString(said)), this.#pairs);
    const described = describeFailure({ code: this.failure?.code ?? "provider_error", message });
    const code = asString(name) || described.error.code;
    this.#reported = { code, message };
    const error = { ...described.event.error, ...nested, code, message, param };
    return { ...event, ...described.event, type: "error", code, param, error };
  }

  #toOwnResponse(response: JsonObject, isEnd: boolean): Record<string, unknown> {
    const { provider, signId, name, onCreated, onEnded } = this.#options;
    const isFirst = this.#names === null;
    this.#names ??= name(response);
    const added = isEnd ? this.#account(response) : {};
    const own = native.toOwnResponse(response, { provider, names: this.#names, signId }, added);
    this.#lastResponse = own;
    if (isFirst) {
      this.#pairs = native.toPairs(response, this.#names);
      onCreated(response, own);
    }
    if (isEnd) onEnded(own);
    return own;
  }

  #account(response: JsonObject): Record<string, unknown> {
    const { quote, startedAt, metadata, isRetrieved } = this.#options;
    this.usage = native.toChatUsage(response["usage"]);
    this.charge = quote.chargeFor(this.usage, response);
    const time = isRetrieved
      ? native.toFinishedTime(response, startedAt)
      : { provider_time: native.toSeconds(startedAt) };
    const decisions = metadata === null ? {} : { switchyard: metadata() };
    return { ...toCostMembers(this.charge), ...time, ...decisions };
  }
}

function toEventFrame(event: JsonObject & { readonly type: string }): Uint8Array {
  return toFrame(JSON.stringify(event), event.type);
}
