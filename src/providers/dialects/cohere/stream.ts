// The events of a streamed POST /v2/chat as chunks: https://docs.cohere.com/v2/docs/streaming

import type { ChatChunk, ChatDelta } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, JsonObject, ProviderEvent, Reading } from "../../dialect.ts";
import { asCount, asObject, asString } from "../../lenient.ts";
import { createId, nowSeconds } from "../new-answer.ts";
import { isNoArguments, toAnnotations, toDetail, toFinishReason, toLogprobs, toUsage } from "./answer.ts";

const none: readonly ChatChunk[] = [];

export class CohereStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #reading: Reading;
  readonly #created = nowSeconds();
  #id = "";
  #hasBegun = false;
  /** What was thought since the last block of thoughts was handed on. */
  #thoughts = "";
  #textLength = 0;
  /** Where in the text each block begins. */
  readonly #starts: number[] = [];
  #callCount = 0;
  /** The call that is being told: its number among the calls, null when it is the answer itself. */
  #call: { readonly index: number | null; hasArguments: boolean } | null = null;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  read({ name, value }: ProviderEvent): readonly ChatChunk[] {
    switch (value["type"] ?? name) {
      case "content-delta":
        return this.#readContent(value);
      case "message-start":
        this.#id = asString(value["id"]);
        return this.#hasBegun ? none : [this.#chunk({ content: "" })];
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
        return none;
    }
  }

  #readContent(event: JsonObject): readonly ChatChunk[] {
    const content = asObject(messageOf(event)["content"]);
    const text = asString(content["text"]);
    if (text === "") return this.#readThought(asString(content["thinking"]));
    this.#textLength += text.length;
    const logprobs = event["logprobs"] === undefined ? null : toLogprobs([event["logprobs"]]);
    return [this.#chunk({ content: text }, logprobs)];
  }

  #readThought(text: string): readonly ChatChunk[] {
    if (text === "") return none;
    this.#thoughts += text;
    return [this.#chunk({ reasoning_content: text })];
  }

  /** A plan has no event that ends it: what comes after it does. */
  #endThoughts(): ChatChunk[] {
    if (this.#thoughts === "") return [];
    const detail = toDetail(this.#thoughts);
    this.#thoughts = "";
    return [this.#chunk({ reasoning_details: [detail] })];
  }

  #startCall(call: JsonObject): readonly ChatChunk[] {
    const chunks = this.#endThoughts();
    const called = asObject(call["function"]);
    const name = asString(called["name"]);
    const isAnswer = name === this.#reading.answerTool;
    this.#call = { index: isAnswer ? null : this.#callCount, hasArguments: false };
    if (!isAnswer) {
      const index = this.#callCount++;
      const id = asString(call["id"]) || createId("call_");
      chunks.push(this.#chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }));
    }
    return [...chunks, ...this.#readArguments(call)];
  }

  #readArguments(call: JsonObject): readonly ChatChunk[] {
    const text = asString(asObject(call["function"])["arguments"]);
    if (this.#call === null || text === "") return none;
    if (!this.#call.hasArguments && isNoArguments(text)) return none;
    this.#call.hasArguments = true;
    return [this.#argumentChunk(this.#call.index, text)];
  }

  #endCall(): readonly ChatChunk[] {
    const call = this.#call;
    this.#call = null;
    return call === null || call.hasArguments ? none : [this.#argumentChunk(call.index, "{}")];
  }

  #argumentChunk(index: number | null, text: string): ChatChunk {
    if (index === null) return this.#chunk({ content: text });
    return this.#chunk({ tool_calls: [{ index, function: { arguments: text } }] });
  }

  #readCitation(citation: JsonObject): readonly ChatChunk[] {
    const annotations = toAnnotations(citation, this.#starts);
    const delta = { citations: [citation], ...(annotations.length === 0 ? {} : { annotations }) };
    return [this.#chunk(delta)];
  }

  #end(delta: JsonObject): readonly ChatChunk[] {
    const reason = toFinishReason(delta["finish_reason"], this.#callCount > 0, asString(delta["error"]));
    this.isComplete = true;
    const chunks = this.#endThoughts();
    chunks.push({ ...this.#frame(), choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    const usage = toUsage(delta["usage"]);
    if (usage !== null) chunks.push({ ...this.#frame(), choices: [], usage });
    return chunks;
  }

  #chunk(delta: ChatDelta, logprobs: unknown = null): ChatChunk {
    const first: ChatDelta = this.#hasBegun ? delta : { role: "assistant", ...delta };
    this.#hasBegun = true;
    const choice = { index: 0, delta: first, finish_reason: null, ...(logprobs === null ? {} : { logprobs }) };
    return { ...this.#frame(), choices: [choice] };
  }

  #frame() {
    if (this.#id === "") this.#id = createId("chatcmpl-");
    return {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: this.#reading.model,
    } as const;
  }
}

function messageOf(event: JsonObject): JsonObject {
  return asObject(asObject(event["delta"])["message"]);
}
