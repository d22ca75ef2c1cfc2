// Reads the vendor's answer as a completion, and the parts that a stream has in common with it.

import type {
  ChatAnnotation,
  ChatCompletion,
  ChatToolCall,
  ChatUsage,
  ChatWebSearch,
  FinishReason,
  ReasoningDetail,
} from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { ErrorInAnswer, type JsonObject, type Reading, type Refusal } from "../../dialect.ts";
import { readErrorStatus, statusOfName } from "../../error-status.ts";
import { asCount, asList, asObject, asString } from "../../lenient.ts";
import { createFinishReasons, filled, toCompletion, toUrlCitation } from "../completion.ts";
import { reasoningFormat } from "./messages.ts";
import { countCodeRuns, toExtraContent, toWebSearches } from "./server-tools.ts";
import { originalToolName } from "./tool-names.ts";

export function fromAnthropicAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  if (answer["type"] === "error" || isObject(answer["error"])) throw toErrorInAnswer(answer);
  if (!Array.isArray(answer["content"])) throw new TypeError("the answer has no content");
  const blocks = answer["content"].filter(isObject);
  const joiner = new TextJoiner();
  const toolCalls: ChatToolCall[] = [];
  const details: ReasoningDetail[] = [];
  const annotations: ChatAnnotation[] = [];
  const searches: ChatWebSearch[] = [];
  let text = "";
  let reasoning = "";
  let structured: string | null = null;
  for (const block of blocks) {
    if (block["type"] === "text") {
      const start = joiner.nextStart;
      text += joiner.join(asString(block["text"]));
      annotations.push(...asList(block["citations"]).flatMap((one) => toAnnotation(one, start, joiner.length)));
      continue;
    }
    joiner.interrupt();
    searches.push(...toWebSearches(block));
    if (block["type"] === "thinking") reasoning += asString(block["thinking"]);
    details.push(...toReasoningDetail(block, details.length));
    if (block["type"] !== "tool_use") continue;
    const input = JSON.stringify(block["input"] ?? {});
    if (reading.answerTool !== null && block["name"] === reading.answerTool) structured = input;
    else toolCalls.push(toToolCall(block, input, reading));
  }
  const message = {
    role: "assistant",
    content: (structured ?? text) || null,
    refusal: readRefusalText(answer),
    ...filled({
      reasoning_content: reasoning,
      reasoning_details: details,
      tool_calls: toolCalls,
      annotations,
      web_searches: searches,
      extra_content: reading.answerTool === null ? toExtraContent(blocks) : null,
    }),
  } as const;
  const finishReason = toFinishReason(answer["stop_reason"], toolCalls.length > 0);
  const isEmptyRefusal = answer["stop_reason"] === "refusal" && blocks.length === 0;
  return toCompletion({
    id: asString(answer["id"]),
    model: asString(answer["model"]) || reading.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: readAnthropicUsage(answer["usage"], blocks, isEmptyRefusal),
  });
}

/** Joins text blocks. A block may be part of a sentence, or follow a search or reasoning, which needs a gap. */
export class TextJoiner {
  length = 0;
  #endsInSpace = true;
  #isInterrupted = false;

  /** Another block comes between two text blocks. */
  interrupt(): void {
    this.#isInterrupted = true;
  }

  /** The position of the next text. */
  get nextStart(): number {
    return this.length + this.#gap().length;
  }

  /** The text, with a gap before it where one is needed. */
  join(text: string): string {
    if (text === "") return "";
    const written = this.#isInterrupted ? this.#gap() + text : text;
    this.#isInterrupted = false;
    this.length += written.length;
    this.#endsInSpace = text.charCodeAt(text.length - 1) <= 0x20;
    return written;
  }

  #gap(): string {
    return this.#isInterrupted && !this.#endsInSpace ? "\n\n" : "";
  }
}

function toToolCall({ id, name }: JsonObject, input: string, reading: Reading): ChatToolCall {
  const original = originalToolName(reading, asString(name));
  return { id: asString(id), type: "function", function: { name: original, arguments: input } };
}

/** Empty for a thinking block without a signature, because it cannot be sent back. */
export function toReasoningDetail(block: JsonObject, index: number): readonly ReasoningDetail[] {
  const { type, thinking, signature, data } = block as Readonly<Record<string, string | undefined>>;
  const format = { format: reasoningFormat };
  if (type === "redacted_thinking" && data) return [{ type: "reasoning.encrypted", data, index, ...format }];
  if (type !== "thinking" || !signature) return [];
  return [{ type: "reasoning.text", text: asString(thinking), signature, index, ...format }];
}

/** Empty for a citation without an address, which refers to the caller's own documents. */
export function toAnnotation(citation: unknown, start: number, end: number): readonly ChatAnnotation[] {
  const { url, source, title, cited_text: content } = asObject(citation);
  const address = asString(url ?? source);
  if (address === "") return [];
  return [toUrlCitation({ url: address, title: asString(title), content: asString(content), start, end })];
}

const findFinishReason = createFinishReasons({
  stop: ["end_turn", "stop_sequence"],
  // `pause_turn`: the vendor paused its own tools, and continues when the message is sent back as the last one.
  length: ["max_tokens", "model_context_window_exceeded", "pause_turn"],
  content_filter: ["refusal"],
});

/** `tool_use` without a call of the caller's tools: the call was the structured answer. */
export function toFinishReason(stopReason: unknown, hasToolCalls: boolean): FinishReason {
  return findFinishReason(stopReason) ?? (hasToolCalls ? "tool_calls" : "stop");
}

/** The vendor's explanation of a refusal. */
export function readRefusalText(message: JsonObject): string | null {
  if (message["stop_reason"] !== "refusal") return null;
  return asString(asObject(message["stop_details"])["explanation"]) || null;
}

/** The vendor counts tokens read from and written to a cache beside the input; in the chat format they are part of the prompt. */
export function readAnthropicUsage(
  usage: unknown,
  blocks: readonly JsonObject[] = [],
  isEmptyRefusal = false,
): ChatUsage {
  const counts = asObject(usage);
  const split = asObject(counts["cache_creation"]);
  const written1h = asCount(split["ephemeral_1h_input_tokens"]);
  const written = Math.max(
    asCount(counts["cache_creation_input_tokens"]),
    asCount(split["ephemeral_5m_input_tokens"]) + written1h,
  );
  const read = asCount(counts["cache_read_input_tokens"]);
  const prompt = asCount(counts["input_tokens"]) + read + written;
  const completion = asCount(counts["output_tokens"]);
  const { thinking_tokens: thinking } = asObject(counts["output_tokens_details"]);
  const { iterations } = counts;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written, cache_write_1h_tokens: written1h },
    ...(typeof thinking === "number"
      ? { completion_tokens_details: { reasoning_tokens: Math.min(asCount(thinking), completion) } }
      : {}),
    ...readServerTools(counts["server_tool_use"], blocks),
    // The counts above leave out runs that summarized the conversation or called another model; this list has all runs.
    ...(Array.isArray(iterations) && iterations.length > 0 ? { iterations } : {}),
    ...(isEmptyRefusal ? { is_empty_refusal: true } : {}),
    ...readConditions(counts),
  };
}

/** Each search has a price, and code that runs may have one. */
function readServerTools(counts: unknown, blocks: readonly JsonObject[]): JsonObject {
  const { runs, isFree } = countCodeRuns(blocks);
  if (runs === 0) return isObject(counts) ? { server_tool_use: counts } : {};
  const stated = asCount(asObject(counts)["code_execution_requests"]);
  return {
    server_tool_use: { ...asObject(counts), code_execution_requests: Math.max(stated, runs) },
    ...(isFree ? { has_free_code: true } : {}),
  };
}

/** Conditions that change the price, with their usual values, which are left out. */
const conditions: Readonly<Record<string, readonly unknown[]>> = {
  service_tier: ["standard"],
  speed: ["standard"],
  inference_geo: ["global", "not_available"],
};

function readConditions(counts: JsonObject): JsonObject {
  const unusual = Object.entries(conditions).filter(
    ([name, usual]) => typeof counts[name] === "string" && !usual.includes(counts[name]),
  );
  return Object.fromEntries(unusual.map(([name]) => [name, counts[name]]));
}

/** `{type: "error", error: {type, message}}`, as an event of a stream or instead of an answer. */
export function toErrorInAnswer(value: JsonObject): ErrorInAnswer {
  const error = isObject(value["error"]) ? value["error"] : value;
  const message = asString(error["message"]) || asString(error["type"]) || "it gave no reason";
  const { status = readErrorStatus(value) } = readAnthropicRefusal(400, value);
  return new ErrorInAnswer(message, status);
}

/** The vendor reports an empty account and an exhausted limit with status 400; proxies do the same with other errors. */
export function readAnthropicRefusal(status: number, body: JsonObject): Refusal {
  const { type, message } = asObject(body["error"]);
  if (status === 400 && /credit balance is too low|reached your specified API usage limits/i.test(asString(message)))
    return { status: 402 };
  const isMisleading = type !== "invalid_request_error" && (status === 400 || status === 500);
  const actual = isMisleading ? statusOfName(type) : null;
  return actual === null ? {} : { status: actual };
}
