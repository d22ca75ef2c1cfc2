// From an answer of POST /api/chat, or of its older sister POST /api/generate, to a completion.

import type { ChatCompletion, ChatUsage, FinishReason } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { ErrorInAnswer, type JsonObject, type Reading } from "../../dialect.ts";
import { asCount, asList, asObject, asString } from "../../lenient.ts";
import { createId, nowSeconds } from "../new-answer.ts";

export function fromOllamaAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  throwIfError(answer);
  if (!isObject(answer["message"]) && typeof answer["response"] !== "string")
    throw new TypeError("the answer has no message");
  const { text, thinking, calls } = readMessage(answer);
  const logprobs = toLogprobs(answer["logprobs"]);
  const usage = toUsage(answer);
  return {
    id: createId("chatcmpl-"),
    object: "chat.completion",
    created: nowSeconds(),
    model: asString(answer["model"]) || reading.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          refusal: null,
          ...(thinking === ""
            ? {}
            : { reasoning_content: thinking, reasoning_details: [{ type: "reasoning.text", text: thinking }] }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: toFinishReason(answer["done_reason"], calls.length > 0),
        ...(logprobs === null ? {} : { logprobs }),
      },
    ],
    ...(usage === null ? {} : { usage }),
  };
}

/** A failure while the answer is under way comes in its place. */
export function throwIfError(answer: JsonObject): void {
  const error = answer["error"];
  if (error === undefined || error === null) return;
  throw new ErrorInAnswer(asString(error) || asString(asObject(error)["message"]) || "the generation failed", null);
}

export interface OllamaMessage {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly OllamaCall[];
}

interface OllamaCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** `message` of the chat endpoint; `response` and `thinking` of the older one. */
export function readMessage(answer: JsonObject): OllamaMessage {
  const message = isObject(answer["message"]) ? answer["message"] : answer;
  return {
    text: asString(message["content"] ?? answer["response"]),
    thinking: asString(message["thinking"]),
    calls: asList(message["tool_calls"]).map(toToolCall),
  };
}

/** Older servers give a call no id; a client cannot answer a call without one. */
function toToolCall(value: unknown): OllamaCall {
  const call = asObject(value);
  const called = asObject(call["function"]);
  const given = called["arguments"];
  const args = typeof given === "string" ? given || "{}" : JSON.stringify(given ?? {});
  return {
    id: asString(call["id"]) || createId("call_"),
    type: "function",
    function: { name: asString(called["name"]), arguments: args },
  };
}

/** `load` and `unload` end an answer in which nothing was generated. */
export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "length") return "length";
  return hasCalls ? "tool_calls" : "stop";
}

export function toLogprobs(value: unknown): unknown {
  const items = asList(value);
  return items.length === 0 ? null : { content: items.map(toLogprob), refusal: null };
}

function toLogprob(value: unknown): unknown {
  const item = asObject(value);
  const { token, logprob, bytes } = item as { token?: unknown; logprob?: unknown; bytes?: unknown };
  return {
    token: asString(token),
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(asString(token))],
    top_logprobs: asList(item["top_logprobs"]).map(toLogprob),
  };
}

const durations = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"];

/** Counts of the model itself; the durations beside them are nanoseconds. A prompt that was held ready may go uncounted. */
export function toUsage(answer: JsonObject): ChatUsage | null {
  if (answer["eval_count"] === undefined && answer["prompt_eval_count"] === undefined) return null;
  const prompt = asCount(answer["prompt_eval_count"]);
  const completion = asCount(answer["eval_count"]);
  const measured: Record<string, unknown> = {};
  for (const name of durations) if (typeof answer[name] === "number") measured[name] = answer[name];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...measured,
  };
}
