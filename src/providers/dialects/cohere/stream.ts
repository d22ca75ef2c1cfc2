// Reads the events of a streamed POST /v2/chat as chunks: https://docs.cohere.com/v2/docs/streaming

import type { ChatChunk } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, JsonObject, ProviderEvent, Reading } from "../../dialect.ts";
import { asCount, asObject, asString } from "../../lenient.ts";
import { ChunkWriter, createEnvelope, toUsageChunk } from "../chunk-writer.ts";
import { createId } from "../completion.ts";
import { isNoArguments, toAnnotations, toDetail, toFinishReason, toLogprobs, toUsage } from "./answer.ts";

const noChunks: readonly ChatChunk[] = [];

export class CohereStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #answerTool: string | null;
  readonly #writer: ChunkWriter;
  /** Reasoning since the last `reasoning_details`. */
  #thoughts = "";
  #textLength = 0;
  /** Where in the text each block begins. */
  readonly #starts: number[] = [];
  #callCount = 0;
  /** Text beside a structured answer, which is sent only if that answer never comes. */
  #heldText = "";
  #hasAnswer = false;
  /** The current call; its index is null when it is the structured answer. */
  #call: { readonly index: number | null; hasArguments: boolean } | null = null;

  constructor({ model, answerTool }: Reading) {
    this.#answerTool = answerTool;
    this.#writer = new ChunkWriter(createEnvelope(model));
  }

  read({ name, value }: ProviderEvent): readonly ChatChunk[] {
    switch (value["type"] ?? name) {
      case "content-delta":
        return this.#readContent(value);
      case "message-start":
        this.#writer.envelope.id = asString(value["id"]);
        return this.#writer.hasBegun ? noChunks : [this.#writer.write({ content: "" })];
      case "content-start":
        this.#starts[asCount(value["index"])] = this.#textLength;
        return this.#readContent(value);
      case "content-end":
        return this.#endThoughts();
      case "tool-plan-delta":
        return this.#readThought(asString(messageOf(value)["tool_plan"]));
      case "tool-call-start":
        return this.#startCall(asObject(messageOf(value)["tool_calls"]));
      case "tool-call-delta":
        return this.#readArguments(asObject(messageOf(value)["tool_calls"]));
      case "tool-call-end":
        return this.#endCall();
      case "citation-start":
        return this.#readCitation(asObject(messageOf(value)["citations"]));
      case "message-end":
        return this.#end(asObject(value["delta"]));
      default:
        return noChunks;
    }
  }

  #readContent(event: JsonObject): readonly ChatChunk[] {
    const content = asObject(messageOf(event)["content"]);
    const text = asString(content["text"]);
    if (text === "") return this.#readThought(asString(content["thinking"]));
    this.#textLength += text.length;
    const logprobs = event["logprobs"] === undefined ? null : toLogprobs([event["logprobs"]]);
    if (this.#answerTool === null) return [this.#writer.write({ content: text }, null, logprobs)];
    this.#heldText += text;
    return logprobs === null ? noChunks : [this.#writer.write({}, null, logprobs)];
  }

  #readThought(text: string): readonly ChatChunk[] {
    if (text === "") return noChunks;
    this.#thoughts += text;
    return [this.#writer.write({ reasoning_content: text })];
  }

  /** A plan has no event that ends it; the next event does. */
  #endThoughts(): ChatChunk[] {
    if (this.#thoughts === "") return [];
    const detail = toDetail(this.#thoughts);
    this.#thoughts = "";
    return [this.#writer.write({ reasoning_details: [detail] })];
  }

  #startCall(call: JsonObject): readonly ChatChunk[] {
    const chunks = this.#endThoughts();
    const name = asString(asObject(call["function"])["name"]);
    const isAnswer = name === this.#answerTool;
    if (isAnswer && this.#hasAnswer) {
      this.#call = null;
      return chunks;
    }
    this.#hasAnswer ||= isAnswer;
    const index = isAnswer ? null : this.#callCount++;
    this.#call = { index, hasArguments: false };
    if (index !== null) {
      const id = asString(call["id"]) || createId("call_");
      chunks.push(
        this.#writer.write({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      );
    }
    return [...chunks, ...this.#readArguments(call)];
  }

  #readArguments(call: JsonObject): readonly ChatChunk[] {
    const text = asString(asObject(call["function"])["arguments"]);
    if (this.#call === null || text === "") return noChunks;
    if (!this.#call.hasArguments && isNoArguments(text)) return noChunks;
    this.#call.hasArguments = true;
    return [this.#writeArguments(this.#call.index, text)];
  }

  #endCall(): readonly ChatChunk[] {
    const call = this.#call;
    this.#call = null;
    return call === null || call.hasArguments ? noChunks : [this.#writeArguments(call.index, "{}")];
  }

  #writeArguments(index: number | null, text: string): ChatChunk {
    return index === null ? this.#writer.write({ content: text }) : this.#writer.writeArguments(index, text);
  }

  #readCitation(citation: JsonObject): readonly ChatChunk[] {
    const annotations = toAnnotations(citation, this.#starts);
    const delta = { citations: [citation], ...(annotations.length === 0 ? {} : { annotations }) };
    return [this.#writer.write(delta)];
  }

  #end(delta: JsonObject): readonly ChatChunk[] {
    const reason = toFinishReason(delta["finish_reason"], this.#callCount > 0, asString(delta["error"]));
    this.isComplete = true;
    const chunks = [...this.#endThoughts(), ...this.#endCall()];
    if (!this.#hasAnswer && this.#heldText !== "") chunks.push(this.#writer.write({ content: this.#heldText }));
    chunks.push(this.#writer.write({}, reason));
    const usage = toUsage(delta["usage"]);
    if (usage !== null) chunks.push(toUsageChunk(this.#writer.envelope, usage));
    return chunks;
  }
}

function messageOf(event: JsonObject): JsonObject {
  return asObject(asObject(event["delta"])["message"]);
}
