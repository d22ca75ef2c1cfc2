// Reads an answer of POST /api/chat, or of the older POST /api/generate, as a completion.

import type { ChatCompletion, ChatToolCallDelta, ChatUsage, FinishReason } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { ErrorInAnswer, type JsonObject, type Reading } from "../../dialect.ts";
import { asArguments, asCount, asList, asObject, asString } from "../../lenient.ts";
import { createId, filled, present, toCompletion } from "../completion.ts";

export function fromOllamaAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  throwIfError(answer);
  if (!isObject(answer["message"]) && typeof answer["response"] !== "string")
    throw new TypeError("the answer has no message");
  const { text, thinking, calls } = readMessage(answer);
  const message = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(thinking === "" ? {} : { reasoning_content: thinking, reasoning_details: [toDetail(thinking)] }),
    ...filled({ tool_calls: calls }),
  } as const;
  const finishReason = toFinishReason(answer["done_reason"], calls.length > 0);
  const logprobs = present({ logprobs: toLogprobs(answer["logprobs"]) });
  return toCompletion({
    model: asString(answer["model"]) || reading.model,
    choices: [{ index: 0, message, finish_reason: finishReason, ...logprobs }],
    usage: toUsage(answer),
  });
}

/** A generation that fails midway ends with an error instead of a message. */
export function throwIfError(answer: JsonObject): void {
  const error = answer["error"];
  if (error === undefined || error === null) return;
  throw new ErrorInAnswer(asString(error) || asString(asObject(error)["message"]) || "the generation failed", null);
}

export interface OllamaMessage {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly Omit<ChatToolCallDelta & { function: { name: string; arguments: string } }, "index">[];
}

/** The chat endpoint has `message`; the older one has `response` and `thinking`. */
export function readMessage(answer: JsonObject): OllamaMessage {
  const message = isObject(answer["message"]) ? answer["message"] : answer;
  return {
    text: asString(message["content"] ?? answer["response"]),
    thinking: asString(message["thinking"]),
    calls: asList(message["tool_calls"]).map(toToolCall),
  };
}

/** Older servers send calls without an id, which clients need to return the result. */
function toToolCall(value: unknown): OllamaMessage["calls"][number] {
  const call = asObject(value);
  const { name, arguments: given } = asObject(call["function"]);
  const id = asString(call["id"]) || createId("call_");
  return { id, type: "function", function: { name: asString(name), arguments: asArguments(given) || "{}" } };
}

export function toDetail(text: string) {
  return { type: "reasoning.text", text } as const;
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
  const { token, logprob, bytes, top_logprobs } = asObject(value);
  return {
    token: asString(token),
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(asString(token))],
    top_logprobs: asList(top_logprobs).map(toLogprob),
  };
}

/** In nanoseconds. */
const durations = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"];

/** The server may omit the count of a prompt that it had in its cache. */
export function toUsage(answer: JsonObject): ChatUsage | null {
  if (answer["eval_count"] === undefined && answer["prompt_eval_count"] === undefined) return null;
  const prompt = asCount(answer["prompt_eval_count"]);
  const completion = asCount(answer["eval_count"]);
  const measured = durations.filter((name) => typeof answer[name] === "number").map((name) => [name, answer[name]]);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...Object.fromEntries(measured),
  };
}
