// Reads an answer of the Responses API as a completion.

import type { ChatChoice, ChatCompletion, ChatUsage, FinishReason } from "../../../contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject, type Reading } from "../../dialect.ts";
import { readErrorStatus } from "../../error-status.ts";
import { asArguments, asCount, asList, asObject, asString } from "../../lenient.ts";
import { filled, toCompletion } from "../completion.ts";

export function fromResponsesAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  throwIfFailed(answer);
  if (!Array.isArray(answer["output"])) throw new TypeError("the answer has no output");
  return toCompletion({
    id: asString(answer["id"]),
    created: asCount(answer["created_at"]),
    model: asString(answer["model"]) || reading.model,
    choices: [toChoice(answer)],
    usage: toUsage(answer),
    service_tier: asString(answer["service_tier"]),
  });
}

export function throwIfFailed(answer: JsonObject): void {
  if (!answer["error"] && answer["status"] !== "failed") return;
  throw toErrorInAnswer(answer);
}

/** A failed response, an `error` event, or an error object instead of an answer. */
export function toErrorInAnswer(answer: JsonObject): ErrorInAnswer {
  const { message } = { ...answer, ...asObject(answer["error"]) };
  return new ErrorInAnswer(asString(message) || "the response failed", readErrorStatus(answer));
}

function toChoice(answer: JsonObject): ChatChoice {
  const items = asList(answer["output"]).map(asObject);
  const parts = items.flatMap((item) => (item["type"] === "message" ? asList(item["content"]).map(asObject) : []));
  const content = parts.map((part) => asString(part["text"])).join("");
  const refusal = parts.map((part) => asString(part["refusal"])).join("");
  const annotations = parts.flatMap((part) => asList(part["annotations"]).flatMap(toAnnotation));
  const calls = items.filter((item) => item["type"] === "function_call").map(toToolCall);
  const reasoning = items.filter((item) => item["type"] === "reasoning");
  const thoughts = reasoning.map(readReasoningText).filter((text) => text !== "");
  return {
    index: 0,
    message: {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      ...filled({
        refusal,
        reasoning_content: thoughts.join("\n\n"),
        reasoning_details: reasoning.flatMap(toReasoningDetail),
        tool_calls: calls,
        annotations,
      }),
    },
    finish_reason: toFinishReason(answer, calls.length > 0),
  };
}

function toToolCall(item: JsonObject) {
  const called = { name: asString(item["name"]), arguments: asArguments(item["arguments"]) };
  return { id: asString(item["call_id"]), type: "function", function: called };
}

function readReasoningText(item: JsonObject): string {
  const parts = [...asList(item["summary"]), ...asList(item["content"])];
  return parts.map((part) => asString(asObject(part)["text"])).join("\n\n");
}

/** The item in the form that the next request sends back. */
export function toReasoningDetail(item: JsonObject) {
  const data = asString(item["encrypted_content"]);
  if (data === "") return [];
  return [{ type: "reasoning.encrypted", data, ...filled({ summary: asList(item["summary"]) }) } as const];
}

export function toAnnotation(annotation: unknown) {
  const { type, url, title, start_index, end_index } = asObject(annotation);
  if (type !== "url_citation" || typeof url !== "string") return [];
  const source = { url, title: asString(title), start_index: asCount(start_index), end_index: asCount(end_index) };
  return [{ type: "url_citation", url_citation: source } as const];
}

export function toFinishReason(answer: JsonObject, hasCalls: boolean): FinishReason {
  const reason = asObject(answer["incomplete_details"])["reason"];
  if (reason === "content_filter") return "content_filter";
  if (answer["status"] === "incomplete") return "length";
  return hasCalls ? "tool_calls" : "stop";
}

export function toUsage({ usage, output }: JsonObject): ChatUsage | null {
  const { input_tokens: input, output_tokens: written, ...details } = asObject(usage);
  if (typeof input !== "number" || typeof written !== "number") return null;
  const searches = asList(output).filter(isBilledSearch).length;
  return {
    prompt_tokens: input,
    completion_tokens: written,
    total_tokens: input + written,
    prompt_tokens_details: asObject(details["input_tokens_details"]),
    completion_tokens_details: asObject(details["output_tokens_details"]),
    ...(searches > 0 && { server_tool_use: { web_search_requests: searches } }),
  };
}

/** Opening a page or searching within it has no fee. */
function isBilledSearch(item: unknown): boolean {
  const { type, action } = asObject(item);
  return type === "web_search_call" && (asObject(action)["type"] ?? "search") === "search";
}
