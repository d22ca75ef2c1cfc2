// Reads an answer of Converse as a completion. Unknown blocks and members are skipped.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

import type {
  ChatAnnotation,
  ChatCompletion,
  ChatImage,
  ChatToolCall,
  ChatUsage,
  FinishReason,
  ReasoningDetail,
} from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { ErrorInAnswer, type JsonObject, type Reading } from "../../dialect.ts";
import { asCount, asList, asObject, asString, objectOrNull, objectsIn } from "../../lenient.ts";
import { createFinishReasons, createId, filled, toCompletion, toUrlCitation } from "../completion.ts";

export function fromConverseAnswer(answer: JsonObject, { model, answerTool }: Reading): ChatCompletion {
  const message = asObject(answer["output"])["message"];
  if (!isObject(message)) throw new TypeError("the answer has no message");
  const reader = new BlockReader(answerTool);
  for (const block of asList(message["content"])) reader.add(asObject(block));
  const finishReason = toFinishReason(asString(answer["stopReason"]), reader.calls.length > 0);
  const { usage } = answer;
  return toCompletion({
    model,
    choices: [{ index: 0, message: reader.toMessage(), finish_reason: finishReason, logprobs: null }],
    usage: isObject(usage) ? fromConverseUsage(usage) : null,
    service_tier: readTier(answer),
    additionalModelResponseFields: objectOrNull(answer["additionalModelResponseFields"]),
    trace: objectOrNull(answer["trace"]),
  });
}

/** The service tier, or `optimized` for low latency, which has its own price as well; "" at the usual price. */
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
  readonly #images: ChatImage[] = [];
  #text = "";
  /** The input of the answer tool. */
  #answer: string | null = null;

  constructor(answerTool: string | null) {
    this.#answerTool = answerTool;
  }

  add(block: JsonObject): void {
    if (typeof block["text"] === "string") this.#text += block["text"];
    else if (isObject(block["toolUse"])) this.#addCall(block["toolUse"]);
    else if (isObject(block["reasoningContent"])) this.#details.push(...toReasoningDetail(block["reasoningContent"]));
    else if (isObject(block["citationsContent"])) this.#addCited(block["citationsContent"]);
    else if (isObject(block["image"]))
      this.#images.push(...toImages(block["image"]["format"], readImageBytes(block["image"])));
  }

  toMessage(): ChatCompletion["choices"][number]["message"] {
    const content = this.#answer ?? this.#text;
    const thoughts = this.#details.map((detail) => (detail.type === "reasoning.text" ? detail.text : ""));
    return {
      role: "assistant",
      content: content === "" && this.calls.length > 0 ? null : content,
      refusal: null,
      ...filled({
        tool_calls: this.calls,
        reasoning_content: thoughts.join(""),
        reasoning_details: this.#details,
        annotations: this.#annotations,
        images: this.#images,
      }),
    };
  }

  #addCall(toolUse: JsonObject): void {
    if (isServerTool(toolUse)) return;
    const name = readToolName(toolUse);
    const input = JSON.stringify(toolUse["input"] ?? {});
    // A stream cannot take back the first answer, so it is also the one that counts here.
    if (name === this.#answerTool) this.#answer ??= input;
    else this.calls.push({ id: readCallId(toolUse), type: "function", function: { name, arguments: input } });
  }

  #addCited({ content, citations }: JsonObject): void {
    const start = this.#text.length;
    for (const part of objectsIn(content)) this.#text += asString(part["text"]);
    for (const one of objectsIn(citations)) this.#annotations.push(...toAnnotation(one, start, this.#text.length));
  }
}

/** The service runs such a tool itself, and the caller does not see its calls. */
export function isServerTool(toolUse: JsonObject): boolean {
  return toolUse["type"] === "server_tool_use";
}

/** Some models append tokens of their own format to the name. */
export function readToolName(toolUse: JsonObject): string {
  const name = asString(toolUse["name"]);
  const mark = name.indexOf("<|");
  return mark < 0 ? name : name.slice(0, mark);
}

export function readCallId(toolUse: JsonObject): string {
  return asString(toolUse["toolUseId"]) || createId("call_");
}

function toReasoningDetail({ redactedContent, reasoningText }: JsonObject): ReasoningDetail[] {
  const data = asString(redactedContent);
  if (data !== "") return [{ type: "reasoning.encrypted", data }];
  const text = asString(asObject(reasoningText)["text"]);
  const signature = asString(asObject(reasoningText)["signature"]);
  return text === "" && signature === "" ? [] : [{ type: "reasoning.text", text, ...filled({ signature }) }];
}

/** The bytes of an image, or of a piece of it, in base64. Empty for an image that the service stores elsewhere or could not create. */
export function readImageBytes({ source }: JsonObject): string {
  return asString(asObject(source)["bytes"]);
}

/** In the form that chat clients expect. Empty for an image without bytes. */
export function toImages(format: unknown, bytes: string): ChatImage[] {
  if (bytes === "") return [];
  return [{ type: "image_url", image_url: { url: `data:image/${asString(format) || "png"};base64,${bytes}` } }];
}

/** Empty for a citation without an address, which refers to the caller's own documents. */
export function toAnnotation(citation: JsonObject, start: number, end: number): ChatAnnotation[] {
  const url = asString(asObject(asObject(citation["location"])["web"])["url"]) || asString(citation["source"]);
  if (!/^https?:\/\//.test(url)) return [];
  const quotes = objectsIn(citation["sourceContent"]).map((source) => asString(source["text"]));
  return [toUrlCitation({ url, title: asString(citation["title"]), content: quotes.join(""), start, end })];
}

const findFinishReason = createFinishReasons({
  stop: ["end_turn", "stop_sequence"],
  length: ["max_tokens", "model_context_window_exceeded"],
  content_filter: ["guardrail_intervened", "content_filtered", "refusal"],
});

export function toFinishReason(stopReason: string, hasCalls: boolean): FinishReason {
  // The output is unusable, and a retry may succeed.
  if (stopReason.startsWith("malformed_"))
    throw new ErrorInAnswer(`the model's output was malformed (${stopReason})`, 502);
  return findFinishReason(stopReason) ?? (hasCalls ? "tool_calls" : "stop");
}

/** `inputTokens` excludes tokens read from and written to the cache, unless `includesCache` is set. */
export function fromConverseUsage(usage: JsonObject, includesCache = false): ChatUsage {
  const output = asCount(usage["outputTokens"]);
  const input = asCount(usage["inputTokens"]);
  const cached = asCount(usage["cacheReadInputTokens"]);
  const written = asCount(usage["cacheWriteInputTokens"]);
  const prompt = includesCache && input >= cached + written ? input : input + cached + written;
  const hourly = objectsIn(usage["cacheDetails"]).filter((detail) => detail["ttl"] === "1h");
  const written1h = hourly.reduce((sum, detail) => sum + asCount(detail["inputTokens"]), 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(written1h > 0 ? { cache_write_1h_tokens: Math.min(written1h, written) } : {}),
    },
  };
}
