// Reads an answer of POST /chat/completions, which differs from the chat format in its content, as a completion.

import type { ChatChoice, ChatCompletion, ChatUsage, FinishReason } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { ErrorInAnswer, type JsonObject, type Reading } from "../../dialect.ts";
import { readErrorStatus } from "../../error-status.ts";
import { asArguments, asCount, asList, asObject, asString } from "../../lenient.ts";
import { createFinishReasons, createId, filled, toCompletion } from "../completion.ts";
import { readContent, toDetail, toExtraContent } from "./content.ts";

export function fromMistralAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  throwIfError(answer);
  const { choices, usage, ...others } = answer;
  if (!Array.isArray(choices)) throw new TypeError("the answer has no choices");
  return {
    ...others,
    ...toCompletion({
      id: asString(answer["id"]),
      created: asCount(answer["created"]),
      model: asString(answer["model"]) || reading.model,
      choices: choices.map((choice, index) => toChoice(asObject(choice), index)),
      usage: toUsage(usage),
    }),
  };
}

export function throwIfError(answer: JsonObject): void {
  const error = answer["error"] ?? (answer["object"] === "error" ? answer : null);
  if (error === null || error === undefined) return;
  const message = asString(error) || asString(asObject(error)["message"]) || "the generation failed";
  throw new ErrorInAnswer(message, asCount(answer["raw_status_code"]) || readErrorStatus(answer));
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
      ...filled({ tool_calls: calls, annotations }),
      ...toExtraContent(others),
    },
    finish_reason: toFinishReason(choice["finish_reason"], calls.length > 0),
  };
}

function toToolCall(call: JsonObject) {
  const { name, args } = readFunction(call);
  return { id: readCallId(call) || createId("call_"), type: "function", function: { name, arguments: args || "{}" } };
}

/** A missing id may be the string "null". */
export function readCallId(call: JsonObject): string {
  const id = asString(call["id"]);
  return id === "null" ? "" : id;
}

export function readFunction(call: JsonObject): { name: string; args: string } {
  const { name, arguments: given } = asObject(call["function"]);
  return { name: asString(name), args: asArguments(given) };
}

const findFinishReason = createFinishReasons({
  stop: ["stop"],
  length: ["length", "model_length"],
  tool_calls: ["tool_calls"],
  content_filter: ["content_filter"],
});

export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "error") throw new ErrorInAnswer("the generation failed", null);
  return findFinishReason(reason) ?? (hasCalls ? "tool_calls" : "stop");
}

/** Members that are not counts of tokens are passed on unchanged. */
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
