// The numbered events of a Responses stream, and the output items that they announce.

import { type ErrorCode, errorCatalogue } from "../../errors.ts";
import { lookUp } from "../../lib/look-up.ts";
import { type OutputItem, toItemId } from "./to-response.ts";

/** An item and its index in the output. */
export interface OutputEntry<Item extends OutputItem = OutputItem> {
  readonly item: Item;
  readonly index: number;
}

export class ResponseEvents {
  readonly output: OutputItem[] = [];
  readonly #responseId: string;
  #frames: string[] = [];
  #sequenceNumber = 0;

  constructor(responseId: string) {
    this.#responseId = responseId;
  }

  /** The frames since the last call, each of them one complete event. */
  take(): string[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  push(type: string, members: Readonly<Record<string, unknown>>): void {
    const event = { type, sequence_number: this.#sequenceNumber++, ...members };
    this.#frames.push(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  /** An event about an output item. */
  pushAt(type: string, { item, index }: OutputEntry, members: Readonly<Record<string, unknown>> = {}): void {
    this.push(type, { item_id: item.id, output_index: index, ...members });
  }

  /** The most frequent event, written without an intermediate object. `before` and `after` are members as JSON. */
  pushDelta(type: string, { item, index }: OutputEntry, delta: string, { before = "", after = "" } = {}): void {
    this.#frames.push(
      `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequenceNumber++},"item_id":"${item.id}",` +
        `"output_index":${index},${before}"delta":${JSON.stringify(delta)}${after}}\n\n`,
    );
  }

  /** Adds the item to the output. `announced` are members that the event shows with other values. */
  add<Item extends OutputItem>(item: Item, announced: Readonly<Record<string, unknown>> = {}): OutputEntry<Item> {
    const index = this.output.length;
    const own = { ...item, id: toItemId(item.id, this.#responseId, index) };
    this.output.push(own);
    this.push("response.output_item.added", { output_index: index, item: { ...own, ...announced } });
    return { item: own, index };
  }

  finish({ item, index }: OutputEntry): void {
    this.push("response.output_item.done", { output_index: index, item });
  }

  /** The last event was not sent, so its number is used again. */
  takeBackNumber(): void {
    this.#sequenceNumber--;
  }
}

export interface StreamFailure {
  readonly code: string;
  readonly message: string;
  /** For a caller that asked which decisions were made. */
  readonly switchyard?: Record<string, unknown>;
}

/** Maps the type of a gateway error to the `error.code` of a response object. */
const responseCodes: Readonly<Record<string, string>> = {
  rate_limit_error: "rate_limit_exceeded",
  invalid_request_error: "invalid_prompt",
};

/** The members of the `error` event, and the error of the response object, which has few codes. */
export function describeFailure({ code, message, switchyard }: StreamFailure) {
  const type = errorCatalogue[code as ErrorCode]?.type ?? "server_error";
  // Clients read the same information from different members.
  const event = {
    ...{ code, message, param: null, error: { type, code, message, param: null }, detail: message },
    ...(switchyard && { switchyard }),
  };
  return { event, error: { code: lookUp(responseCodes, type) ?? "server_error", message } };
}
