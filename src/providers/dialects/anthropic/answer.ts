// The vendor's answer as a chat completion; what a stream's reader shares with it stands here too.

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
import { lookUp } from "../../../lib/look-up.ts";
import { ErrorInAnswer, type JsonObject, type Reading, type Refusal } from "../../dialect.ts";
import { asCount, asList, asString } from "../../lenient.ts";
import { reasoningFormat } from "./messages.ts";
import { toKeptTurn, toWebSearches } from "./server-tools.ts";
import { originalToolName } from "./tool-names.ts";

export function fromAnthropicAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  if (answer["type"] === "error" || isObject(answer["error"])) throw toErrorInAnswer(answer);
  const blocks = answer["content"];
  if (!Array.isArray(blocks)) throw new TypeError("an answer without content");
  const joiner = new TextJoiner();
  const toolCalls: ChatToolCall[] = [];
  const details: ReasoningDetail[] = [];
  const annotations: ChatAnnotation[] = [];
  const searches: ChatWebSearch[] = [];
  let text = "";
  let reasoning = "";
  let structured: string | null = null;
  for (const block of blocks as readonly unknown[]) {
    if (!isObject(block)) continue;
    if (block["type"] === "text") {
      const start = joiner.nextStart;
      text += joiner.join(asString(block["text"]));
      for (const citation of asList(block["citations"]))
        annotations.push(...toAnnotation(citation, start, joiner.length));
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
  const content = structured ?? text;
  const kept = reading.answerTool === null ? toKeptTurn(asList(blocks).filter(isObject)) : null;
  const finishReason = toFinishReason(answer["stop_reason"], toolCalls.length > 0);
  return {
    id: asString(answer["id"]) || createChatId(),
    object: "chat.completion",
    created: Math.floor(Date.now() / 1_000),
    model: asString(answer["model"]) || reading.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: content === "" ? null : content,
          refusal: readRefusalText(answer),
          ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
          ...(details.length > 0 ? { reasoning_details: details } : {}),
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
          ...(annotations.length > 0 ? { annotations } : {}),
          ...(searches.length > 0 ? { web_searches: searches } : {}),
          ...(kept === null ? {} : { extra_content: kept }),
        },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage: readAnthropicUsage(answer["usage"], answer["stop_reason"] === "refusal" && blocks.length === 0),
  };
}

/** Joins the blocks of text: one may be a part of a sentence, or follow after a search or a thought. */
export class TextJoiner {
  length = 0;
  #endsInSpace = true;
  #isInterrupted = false;

  /** Something that is no text stands between. */
  interrupt(): void {
    this.#isInterrupted = true;
  }

  /** Where the next text starts. */
  get nextStart(): number {
    return this.length + this.#gap().length;
  }

  /** What has to be written so that this is read after all that came before. */
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

function toToolCall(block: JsonObject, input: string, reading: Reading): ChatToolCall {
  const name = originalToolName(reading, asString(block["name"]));
  return { id: asString(block["id"]), type: "function", function: { name, arguments: input } };
}

/** Without a signature a block of thinking cannot be sent back. */
export function toReasoningDetail(block: JsonObject, index: number): readonly ReasoningDetail[] {
  const { type, thinking, signature, data } = block as Readonly<Record<string, string | undefined>>;
  const format = { format: reasoningFormat };
  if (type === "redacted_thinking" && data) return [{ type: "reasoning.encrypted", data, index, ...format }];
  if (type !== "thinking" || !signature) return [];
  return [{ type: "reasoning.text", text: asString(thinking), signature, index, ...format }];
}

/** Of the citations those of the web: the others point into the caller's own documents. */
export function toAnnotation(citation: unknown, start: number, end: number): readonly ChatAnnotation[] {
  if (!isObject(citation)) return [];
  const url = asString(citation["url"] ?? citation["source"]);
  if (url === "") return [];
  const title = asString(citation["title"]);
  const cited = asString(citation["cited_text"]);
  return [
    {
      type: "url_citation",
      url_citation: {
        url,
        ...(title === "" ? {} : { title }),
        start_index: start,
        end_index: end,
        ...(cited === "" ? {} : { content: cited }),
      },
    },
  ];
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  // The vendor stopped its own tools in the middle: it continues when the message is sent back as the last one.
  pause_turn: "length",
  refusal: "content_filter",
};

export function toFinishReason(stopReason: unknown, hasToolCalls: boolean): FinishReason {
  const known = typeof stopReason === "string" ? lookUp(finishReasons, stopReason) : undefined;
  // `tool_use` without a call of the caller's tools: the call was the answer itself.
  return known ?? (hasToolCalls ? "tool_calls" : "stop");
}

/** Why the vendor refused, in its words. */
export function readRefusalText(message: JsonObject): string | null {
  if (message["stop_reason"] !== "refusal") return null;
  const details = message["stop_details"];
  return (isObject(details) && asString(details["explanation"])) || null;
}

/** The vendor counts what is read from a cache and what is written to it beside the input; here they are parts of it. */
export function readAnthropicUsage(usage: unknown, isEmptyRefusal = false): ChatUsage {
  const counts = isObject(usage) ? usage : {};
  const split = isObject(counts["cache_creation"]) ? counts["cache_creation"] : {};
  const written1h = asCount(split["ephemeral_1h_input_tokens"]);
  const written = Math.max(
    asCount(counts["cache_creation_input_tokens"]),
    asCount(split["ephemeral_5m_input_tokens"]) + written1h,
  );
  const read = asCount(counts["cache_read_input_tokens"]);
  const prompt = asCount(counts["input_tokens"]) + read + written;
  const completion = asCount(counts["output_tokens"]);
  const outputDetails = counts["output_tokens_details"];
  const thinking = isObject(outputDetails) ? outputDetails["thinking_tokens"] : undefined;
  const { server_tool_use: serverTools, iterations } = counts;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written, cache_write_1h_tokens: written1h },
    ...(typeof thinking === "number"
      ? { completion_tokens_details: { reasoning_tokens: Math.min(asCount(thinking), completion) } }
      : {}),
    // Searches are paid for by the piece.
    ...(isObject(serverTools) ? { server_tool_use: serverTools } : {}),
    // The counts above leave out the runs that summarized the conversation or asked another model: the list has all.
    ...(Array.isArray(iterations) && iterations.length > 0 ? { iterations } : {}),
    ...(isEmptyRefusal ? { is_empty_refusal: true } : {}),
    ...readConditions(counts),
  };
}

/** Each of these has a price of its own. What is usual is not told. */
const conditions: Readonly<Record<string, ReadonlySet<unknown>>> = {
  service_tier: new Set(["standard"]),
  speed: new Set(["standard"]),
  inference_geo: new Set(["global", "not_available"]),
};

function readConditions(counts: JsonObject): Record<string, string> {
  const told: Record<string, string> = {};
  for (const [name, usual] of Object.entries(conditions)) {
    const value = counts[name];
    if (typeof value === "string" && !usual.has(value)) told[name] = value;
  }
  return told;
}

const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** `{type: "error", error: {type, message}}`, in a stream or where an answer should be. */
export function toErrorInAnswer(value: JsonObject): ErrorInAnswer {
  const error = isObject(value["error"]) ? value["error"] : value;
  const message = asString(error["message"]) || asString(error["type"]) || "it gave no reason";
  const { status = lookUp(statuses, asString(error["type"])) ?? null } = readAnthropicRefusal(400, value);
  return new ErrorInAnswer(message, status);
}

/** An empty account and a spent limit come as a 400, as if the request were wrong; so do other things behind proxies. */
export function readAnthropicRefusal(status: number, body: JsonObject): Refusal {
  const error = isObject(body["error"]) ? body["error"] : {};
  const type = asString(error["type"]);
  const message = asString(error["message"]);
  if (status === 400 && /credit balance is too low|reached your specified API usage limits/i.test(message))
    return { status: 402 };
  const isMisleading = type !== "invalid_request_error" && (status === 400 || status === 500);
  const meant = isMisleading ? lookUp(statuses, type) : undefined;
  return meant === undefined ? {} : { status: meant };
}

export function createChatId(): string {
  return `chatcmpl-${Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("hex")}`;
}
