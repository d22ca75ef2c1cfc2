// From an answer of POST /chat/completions to a completion: the same but for its content.

import type {
  ChatChoice,
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
import { createId, nowSeconds } from "../new-answer.ts";
import { readContent, toSignature } from "./thoughts.ts";

export function fromMistralAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  throwIfError(answer);
  if (!Array.isArray(answer["choices"])) throw new TypeError("the answer has no choices");
  const usage = toUsage(answer["usage"]);
  return {
    ...answer,
    id: asString(answer["id"]) || createId("chatcmpl-"),
    object: "chat.completion",
    created: asCount(answer["created"]) || nowSeconds(),
    model: asString(answer["model"]) || reading.model,
    choices: answer["choices"].map((choice, index) => toChoice(asObject(choice), index)),
    ...(usage === null ? {} : { usage }),
  };
}

export function throwIfError(answer: JsonObject): void {
  const error = answer["error"] ?? (answer["object"] === "error" ? answer : null);
  if (error === null || error === undefined) return;
  const message = asString(error) || asString(asObject(error)["message"]) || "the generation failed";
  throw new ErrorInAnswer(message, asCount(answer["raw_status_code"]) || null);
}

function toChoice(choice: JsonObject, index: number): ChatChoice {
  const { content: given, tool_calls: givenCalls, ...rest } = asObject(choice["message"]);
  const { text, thoughts, signature, annotations, others } = readContent(given, 0);
  const calls = asList(givenCalls).map((call) => toToolCall(asObject(call)));
  return {
    ...choice,
    index: asCount(choice["index"] ?? index),
    message: {
      ...rest,
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...(thoughts === "" ? {} : { reasoning_content: thoughts, reasoning_details: [toDetail(thoughts, signature)] }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(others.length === 0 ? {} : { extra_content: { mistral: { parts: others } } }),
    },
    finish_reason: toFinishReason(choice["finish_reason"], calls.length > 0),
  };
}

export function toDetail(text: string, signature: string): ReasoningDetail {
  return { type: "reasoning.text", text, ...(signature === "" ? {} : { signature: toSignature(signature) }) };
}

function toToolCall(call: JsonObject): ChatToolCall {
  const { name, args } = readFunction(call);
  return { id: readCallId(call) || createId("call_"), type: "function", function: { name, arguments: args || "{}" } };
}

/** An id that is not there may be the word null. */
export function readCallId(call: JsonObject): string {
  const id = asString(call["id"]);
  return id === "null" ? "" : id;
}

export function readFunction(call: JsonObject): { name: string; args: string } {
  const called = asObject(call["function"]);
  const given = called["arguments"];
  const args = typeof given === "string" ? given : isObject(given) ? JSON.stringify(given) : "";
  return { name: asString(called["name"]), args };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
};

export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "error") throw new ErrorInAnswer("the generation failed", null);
  return lookUp(finishReasons, asString(reason)) ?? (hasCalls ? "tool_calls" : "stop");
}

/** What is not a count of tokens is kept as it came. */
export function toUsage(value: unknown): ChatUsage | null {
  if (!isObject(value)) return null;
  const prompt = asCount(value["prompt_tokens"]);
  const completion = asCount(value["completion_tokens"]);
  const details = asObject(value["prompt_tokens_details"]);
  const cached = Math.min(asCount(details["cached_tokens"] ?? value["num_cached_tokens"]), prompt);
  return {
    ...value,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { ...details, cached_tokens: cached },
  };
}
