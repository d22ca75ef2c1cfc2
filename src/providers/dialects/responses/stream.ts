// The events of a Responses stream as chunks of a chat completion.

import type { ChatChunk, ChatDelta, FinishReason } from "../../../contract/chat-format.ts";
import {
  type ChatStreamReader,
  ErrorInAnswer,
  type JsonObject,
  type ProviderEvent,
  type Reading,
} from "../../dialect.ts";
import { asObject, asString } from "../../lenient.ts";
import { createId, nowSeconds } from "../completion.ts";
import { throwIfFailed, toAnnotation, toFinishReason, toReasoningDetail, toUsage } from "./answer.ts";

interface Call {
  readonly index: number;
  arguments: string;
}

const noChunks: readonly ChatChunk[] = [];

export class ResponsesStreamReader implements ChatStreamReader {
  readonly #reading: Reading;
  #id = "";
  #model = "";
  readonly #created = nowSeconds();
  #hasRole = false;
  #isComplete = false;
  #hasThoughts = false;
  /** By the id of the item, or its place where the vendor leaves the id out. */
  readonly #calls = new Map<unknown, Call>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  read({ value }: ProviderEvent): readonly ChatChunk[] {
    switch (value["type"]) {
      case "response.created":
        this.#begin(asObject(value["response"]));
        return noChunks;
      case "response.output_item.added":
        return this.#addItem(value);
      case "response.output_item.done":
        return this.#endItem(value);
      case "response.output_text.delta":
        return this.#emit({ content: asString(value["delta"]) });
      case "response.refusal.delta":
        return this.#emit({ refusal: asString(value["delta"]) });
      case "response.reasoning_summary_part.added":
        // Parts of a summary are paragraphs.
        return this.#hasThoughts ? this.#emit({ reasoning_content: "\n\n" }) : noChunks;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#hasThoughts = true;
        return this.#emit({ reasoning_content: asString(value["delta"]) });
      case "response.function_call_arguments.delta":
        return this.#writeArguments(this.#calls.get(keyOf(value)), asString(value["delta"]));
      case "response.output_text.annotation.added":
        return this.#annotate(value["annotation"]);
      case "response.completed":
      case "response.incomplete":
        return this.#end(asObject(value["response"]));
      case "response.failed":
        throwIfFailed({ status: "failed", ...asObject(value["response"]) });
        return noChunks;
      case "error":
        throw toError(value);
      default:
        return noChunks;
    }
  }

  #begin(response: JsonObject): void {
    this.#id = asString(response["id"]);
    this.#model = asString(response["model"]);
  }

  #addItem(event: JsonObject): readonly ChatChunk[] {
    const item = asObject(event["item"]);
    if (item["type"] !== "function_call") return noChunks;
    const call: Call = { index: this.#calls.size, arguments: "" };
    this.#calls.set(keyOf(event), call);
    const opened = {
      index: call.index,
      id: asString(item["call_id"]),
      type: "function",
      function: { name: asString(item["name"]), arguments: "" },
    };
    return [...this.#emit({ tool_calls: [opened] }), ...this.#writeArguments(call, asString(item["arguments"]))];
  }

  #writeArguments(call: Call | undefined, piece: string): readonly ChatChunk[] {
    if (call === undefined || piece === "") return noChunks;
    call.arguments += piece;
    return this.#emit({ tool_calls: [{ index: call.index, function: { arguments: piece } }] });
  }

  /** What the pieces have not told, the whole item tells. */
  #endItem(event: JsonObject): readonly ChatChunk[] {
    const item = asObject(event["item"]);
    if (item["type"] === "reasoning") {
      const details = toReasoningDetail(item);
      return details.length === 0 ? noChunks : this.#emit({ reasoning_details: details });
    }
    if (item["type"] !== "function_call") return noChunks;
    const opened = this.#calls.has(keyOf(event))
      ? noChunks
      : this.#addItem({ ...event, item: { ...item, arguments: "" } });
    const call = this.#calls.get(keyOf(event));
    const rest = asString(item["arguments"]).slice(call?.arguments.length ?? 0);
    return [...opened, ...this.#writeArguments(call, rest)];
  }

  #annotate(given: unknown): readonly ChatChunk[] {
    const annotations = toAnnotation(given);
    return annotations.length === 0 ? noChunks : this.#emit({ annotations });
  }

  #end(response: JsonObject): readonly ChatChunk[] {
    this.#isComplete = true;
    const finish = this.#emit({}, toFinishReason(response, this.#calls.size > 0));
    const usage = toUsage(response);
    const tier = asString(response["service_tier"]);
    if (usage === null) return finish;
    return [...finish, { ...this.#base(), choices: [], usage, ...(tier === "" ? {} : { service_tier: tier }) }];
  }

  #emit(delta: ChatDelta, finishReason: FinishReason | null = null): readonly ChatChunk[] {
    const whole: ChatDelta = this.#hasRole ? delta : { role: "assistant", ...delta };
    this.#hasRole = true;
    return [{ ...this.#base(), choices: [{ index: 0, delta: whole, finish_reason: finishReason }] }];
  }

  #base(): Pick<ChatChunk, "id" | "object" | "created" | "model"> {
    this.#id ||= createId("chatcmpl-");
    return {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: this.#model || this.#reading.model,
    };
  }
}

/** Items are told apart by their place in the output. */
function keyOf(event: JsonObject): unknown {
  return event["output_index"] ?? event["item_id"] ?? asObject(event["item"])["id"];
}

function toError(event: JsonObject): ErrorInAnswer {
  const error = { ...event, ...asObject(event["error"]) };
  const status = error["code"] === "rate_limit_exceeded" ? 429 : null;
  return new ErrorInAnswer(asString(error["message"]) || "the response failed", status);
}
