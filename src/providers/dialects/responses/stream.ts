// Reads the events of a Responses stream as chunks.

import type { ChatChunk } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../../lib/lenient-json.ts";
import type { ChatStreamReader, ProviderEvent, Reading } from "../../dialect.ts";
import { asObject, asString } from "../../lenient.ts";
import { ChunkWriter, createEnvelope, toUsageChunk } from "../chunk-writer.ts";
import { throwIfFailed, toAnnotation, toErrorInAnswer, toFinishReason, toReasoningDetail, toUsage } from "./answer.ts";

interface Call {
  readonly index: number;
  arguments: string;
}

const noChunks: readonly ChatChunk[] = [];

export class ResponsesStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #writer: ChunkWriter;
  #hasThoughts = false;
  /** By the key of the item. */
  readonly #calls = new Map<unknown, Call>();

  constructor({ model }: Reading) {
    this.#writer = new ChunkWriter(createEnvelope(model));
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
        return [this.#writer.write({ content: asString(value["delta"]) })];
      case "response.refusal.delta":
        return [this.#writer.write({ refusal: asString(value["delta"]) })];
      case "response.reasoning_summary_part.added":
        // The parts of a summary are paragraphs.
        return this.#hasThoughts ? [this.#writer.write({ reasoning_content: "\n\n" })] : noChunks;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#hasThoughts = true;
        return [this.#writer.write({ reasoning_content: asString(value["delta"]) })];
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
        throw toErrorInAnswer(value);
      default:
        return noChunks;
    }
  }

  #begin(response: JsonObject): void {
    const { envelope } = this.#writer;
    envelope.id = asString(response["id"]);
    envelope.model = asString(response["model"]) || envelope.model;
  }

  #addItem(event: JsonObject): readonly ChatChunk[] {
    const item = asObject(event["item"]);
    if (item["type"] !== "function_call") return noChunks;
    const call: Call = { index: this.#calls.size, arguments: "" };
    this.#calls.set(keyOf(event), call);
    const called = { name: asString(item["name"]), arguments: "" };
    const opened = { index: call.index, id: asString(item["call_id"]), type: "function", function: called };
    return [this.#writer.write({ tool_calls: [opened] }), ...this.#writeArguments(call, asString(item["arguments"]))];
  }

  #writeArguments(call: Call | undefined, piece: string): readonly ChatChunk[] {
    if (call === undefined || piece === "") return noChunks;
    call.arguments += piece;
    return [this.#writer.writeArguments(call.index, piece)];
  }

  /** The whole item may have arguments that no delta had. */
  #endItem(event: JsonObject): readonly ChatChunk[] {
    const item = asObject(event["item"]);
    if (item["type"] === "reasoning") {
      const details = toReasoningDetail(item);
      return details.length === 0 ? noChunks : [this.#writer.write({ reasoning_details: details })];
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
    return annotations.length === 0 ? noChunks : [this.#writer.write({ annotations })];
  }

  #end(response: JsonObject): readonly ChatChunk[] {
    this.isComplete = true;
    const finish = this.#writer.write({}, toFinishReason(response, this.#calls.size > 0));
    const usage = toUsage(response);
    if (usage === null) return [finish];
    return [finish, toUsageChunk(this.#writer.envelope, usage, asString(response["service_tier"]))];
  }
}

/** The index of an item in the output, or its id where the vendor leaves out the index. */
function keyOf(event: JsonObject): unknown {
  return event["output_index"] ?? event["item_id"] ?? asObject(event["item"])["id"];
}
