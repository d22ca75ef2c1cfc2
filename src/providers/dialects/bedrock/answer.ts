// What Converse answers, as a chat completion. Unknown blocks and members are passed by.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

import type {
  ChatAnnotation,
  ChatCompletion,
  ChatToolCall,
  ChatUsage,
  FinishReason,
  ReasoningDetail,
} from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { lookUp } from "../../../lib/look-up.ts";
import { ErrorInAnswer, type JsonObject, type Reading } from "../../dialect.ts";
import { asCount, asList, asObject, asString } from "../../lenient.ts";
import { createId, nowSeconds } from "../completion.ts";

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
  refusal: "content_filter",
};

export function fromConverseAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  const message = asObject(answer["output"])["message"];
  if (!isObject(message)) throw new TypeError("there is no message in the answer");
  const read = new BlockReader(reading.answerTool);
  for (const block of asList(message["content"])) read.add(asObject(block));
  const finish = toFinishReason(asString(answer["stopReason"]), read.calls.length > 0);
  const tier = readTier(answer);
  return {
    id: createId("chatcmpl-"),
    object: "chat.completion",
    created: nowSeconds(),
    model: reading.model,
    choices: [{ index: 0, message: read.toMessage(), finish_reason: finish, logprobs: null }],
    ...(isObject(answer["usage"]) ? { usage: fromConverseUsage(answer["usage"]) } : {}),
    ...(tier === "" ? {} : { service_tier: tier }),
    ...(isObject(answer["additionalModelResponseFields"])
      ? { additionalModelResponseFields: answer["additionalModelResponseFields"] }
      : {}),
    ...(isObject(answer["trace"]) ? { trace: answer["trace"] } : {}),
  };
}

/** The tier of service, or the mode of low latency, which has a price of its own as well; "" at the usual one. */
export function readTier({ serviceTier, performanceConfig }: JsonObject): string {
  const tier = asString(asObject(serviceTier)["type"]);
  if (tier !== "" && tier !== "default") return tier;
  return asObject(performanceConfig)["latency"] === "optimized" ? "optimized" : tier;
}

class BlockReader {
  readonly calls: ChatToolCall[] = [];
  readonly #answerTool: string | null;
  readonly #details: ReasoningDetail[] = [];
  readonly #annotations: ChatAnnotation[] = [];
  #text = "";
  /** What was given to the tool that stands for the answer. */
  #answer: string | null = null;

  constructor(answerTool: string | null) {
    this.#answerTool = answerTool;
  }

  add(block: JsonObject): void {
    if (typeof block["text"] === "string") this.#text += block["text"];
    else if (isObject(block["toolUse"])) this.#addCall(block["toolUse"]);
    else if (isObject(block["reasoningContent"])) this.#addThought(block["reasoningContent"]);
    else if (isObject(block["citationsContent"])) this.#addCited(block["citationsContent"]);
  }

  toMessage(): ChatCompletion["choices"][number]["message"] {
    const content = this.#answer ?? this.#text;
    const thoughts = this.#details.map((detail) => (detail.type === "reasoning.text" ? detail.text : "")).join("");
    return {
      role: "assistant",
      content: content === "" && this.calls.length > 0 ? null : content,
      refusal: null,
      ...(this.calls.length > 0 ? { tool_calls: this.calls } : {}),
      ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
      ...(this.#details.length > 0 ? { reasoning_details: this.#details } : {}),
      ...(this.#annotations.length > 0 ? { annotations: this.#annotations } : {}),
    };
  }

  #addCall(toolUse: JsonObject): void {
    if (isOfServer(toolUse)) return;
    const name = readToolName(toolUse);
    const input = JSON.stringify(toolUse["input"] ?? {});
    if (name === this.#answerTool) this.#answer = input;
    else this.calls.push({ id: readCallId(toolUse), type: "function", function: { name, arguments: input } });
  }

  #addThought(content: JsonObject): void {
    const detail = toReasoningDetail(content);
    if (detail !== null) this.#details.push(detail);
  }

  #addCited(cited: JsonObject): void {
    const start = this.#text.length;
    for (const content of asList(cited["content"])) this.#text += asString(asObject(content)["text"]);
    for (const citation of asList(cited["citations"])) {
      const annotation = toAnnotation(asObject(citation), start, this.#text.length);
      if (annotation !== null) this.#annotations.push(annotation);
    }
  }
}

/** Tools that the service runs itself are no business of the caller's. */
export function isOfServer(toolUse: JsonObject): boolean {
  return toolUse["type"] === "server_tool_use";
}

/** Some models let marks of their own format slip into the name. */
export function readToolName(toolUse: JsonObject): string {
  const name = asString(toolUse["name"]);
  const mark = name.indexOf("<|");
  return mark < 0 ? name : name.slice(0, mark);
}

export function readCallId(toolUse: JsonObject): string {
  return asString(toolUse["toolUseId"]) || createId("call_");
}

function toReasoningDetail(content: JsonObject): ReasoningDetail | null {
  const redacted = asString(content["redactedContent"]);
  if (redacted !== "") return { type: "reasoning.encrypted", data: redacted };
  if (!isObject(content["reasoningText"])) return null;
  const text = asString(content["reasoningText"]["text"]);
  const signature = asString(content["reasoningText"]["signature"]);
  if (text === "" && signature === "") return null;
  return { type: "reasoning.text", text, ...(signature === "" ? {} : { signature }) };
}

/** Null when there is no address to point to: a place in a document of the caller's is none. */
export function toAnnotation(citation: JsonObject, start: number, end: number): ChatAnnotation | null {
  const url = asString(asObject(asObject(citation["location"])["web"])["url"]) || asString(citation["source"]);
  if (!/^https?:\/\//.test(url)) return null;
  const title = asString(citation["title"]);
  const content = asList(citation["sourceContent"])
    .map((source) => asString(asObject(source)["text"]))
    .join("");
  return {
    type: "url_citation",
    url_citation: {
      url,
      ...(title === "" ? {} : { title }),
      start_index: start,
      end_index: end,
      ...(content === "" ? {} : { content }),
    },
  };
}

export function toFinishReason(stopReason: string, hasCalls: boolean): FinishReason {
  // Nothing that can be used, and another try may well succeed.
  if (stopReason.startsWith("malformed_"))
    throw new ErrorInAnswer(`the model's output was malformed (${stopReason})`, 502);
  const reason = lookUp(finishReasons, stopReason);
  if (reason === undefined) return hasCalls ? "tool_calls" : "stop";
  // Calls of a tool that is not the caller's leave nothing to be called.
  return reason === "tool_calls" && !hasCalls ? "stop" : reason;
}

/** `inputTokens` leaves out what is read from the cache and written to it, except where it is known to count them. */
export function fromConverseUsage(usage: JsonObject, countsCache = false): ChatUsage {
  const output = asCount(usage["outputTokens"]);
  const input = asCount(usage["inputTokens"]);
  const cached = asCount(usage["cacheReadInputTokens"]);
  const written = asCount(usage["cacheWriteInputTokens"]);
  const prompt = countsCache && input >= cached + written ? input : input + cached + written;
  const forAnHour = asList(usage["cacheDetails"])
    .map(asObject)
    .filter((detail) => detail["ttl"] === "1h")
    .reduce((sum, detail) => sum + asCount(detail["inputTokens"]), 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(forAnHour > 0 ? { cache_write_1h_tokens: Math.min(forAnHour, written) } : {}),
    },
  };
}
