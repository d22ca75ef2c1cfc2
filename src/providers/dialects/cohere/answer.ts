// Reads an answer of POST /v2/chat as a completion.

import type { ChatAnnotation, ChatCompletion, ChatUsage, FinishReason } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { ErrorInAnswer, type JsonObject, type Reading } from "../../dialect.ts";
import { asArguments, asCount, asList, asObject, asString } from "../../lenient.ts";
import { createFinishReasons, createId, filled, present, toCompletion, toUrlCitation } from "../completion.ts";

export function fromCohereAnswer(body: JsonObject, reading: Reading): ChatCompletion {
  const { message } = body;
  // In an error, `message` is a sentence.
  if (typeof message === "string") throw new ErrorInAnswer(message, null);
  if (!isObject(message)) throw new TypeError("the answer has no message");
  const { text, thoughts, starts } = readContent(message);
  const allCalls = asList(message["tool_calls"]).map((call) => readCall(asObject(call)));
  const calls = allCalls.filter((call) => call.function.name !== reading.answerTool);
  // A stream cannot take back the first answer, so it is also the one that counts here.
  const answer = allCalls.find((call) => call.function.name === reading.answerTool);
  const content = answer?.function.arguments ?? text;
  const citations = asList(message["citations"]);
  const written = {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    refusal: null,
    ...filled({
      reasoning_content: thoughts.join("\n"),
      reasoning_details: thoughts.map(toDetail),
      tool_calls: calls,
      annotations: citations.flatMap((citation) => toAnnotations(asObject(citation), starts)),
      citations,
    }),
  } as const;
  const finishReason = toFinishReason(body["finish_reason"], calls.length > 0, null);
  const logprobs = present({ logprobs: toLogprobs(asList(body["logprobs"])) });
  return toCompletion({
    id: asString(body["id"]),
    model: reading.model,
    choices: [{ index: 0, message: written, finish_reason: finishReason, ...logprobs }],
    usage: toUsage(body["usage"]),
  });
}

/** `starts`: where in the joined text each block begins, because citations count within their block. */
function readContent(message: JsonObject): { text: string; thoughts: string[]; starts: number[] } {
  // The plan of the tool calls precedes them and is not meant for the reader, as reasoning.
  const thoughts = [asString(message["tool_plan"])];
  const starts: number[] = [];
  let text = asString(message["content"]);
  for (const block of asList(message["content"]).map(asObject)) {
    starts.push(text.length);
    thoughts.push(asString(block["thinking"]));
    text += asString(block["text"]);
  }
  return { text, thoughts: thoughts.filter((thought) => thought !== ""), starts };
}

function readCall(call: JsonObject) {
  const { name, arguments: given } = asObject(call["function"]);
  const args = asArguments(given);
  const called = { name: asString(name), arguments: isNoArguments(args) ? "{}" : args };
  return { id: asString(call["id"]) || createId("call_"), type: "function", function: called };
}

/** A function without parameters is called with nothing or with null; clients expect an object. */
export function isNoArguments(text: string): boolean {
  return text === "" || text === "null";
}

export function toDetail(text: string) {
  return { type: "reasoning.text", text } as const;
}

const findFinishReason = createFinishReasons({ length: ["MAX_TOKENS"], content_filter: ["ERROR_TOXIC"] });

/** With an answer tool, a call may be the answer itself, so the remaining calls decide between `tool_calls` and `stop`. */
export function toFinishReason(reason: unknown, hasCalls: boolean, error: string | null): FinishReason {
  if (reason === "ERROR") throw new ErrorInAnswer(error || "the generation failed", 500);
  if (reason === "TIMEOUT") throw new ErrorInAnswer(error || "the generation took too long and was stopped", 504);
  return findFinishReason(reason) ?? (hasCalls ? "tool_calls" : "stop");
}

/**
 * Sources are documents and tool outputs; one with an address becomes an annotation. Every citation is also passed on unchanged in
 * `citations`. Citations of reasoning and plans do not refer to the content.
 */
export function toAnnotations(citation: JsonObject, starts: readonly number[]): ChatAnnotation[] {
  if ((citation["type"] ?? "TEXT_CONTENT") !== "TEXT_CONTENT") return [];
  const offset = starts[asCount(citation["content_index"])] ?? 0;
  const start = asCount(citation["start"]) + offset;
  const end = asCount(citation["end"]) + offset;
  return asList(citation["sources"]).flatMap((value) => {
    const source = asObject(value);
    const document = asObject(source["document"] ?? source["tool_output"]);
    const url = [document["url"], source["id"]].map(asString).find((address) => /^https?:\/\//i.test(address));
    if (url === undefined) return [];
    const content = asString(document["text"] ?? document["snippet"] ?? document["content"]);
    return [toUrlCitation({ url, title: asString(document["title"]), content, start, end })];
  });
}

/** An item is a piece of text of one or more tokens; its probability is the product of theirs. */
export function toLogprobs(items: readonly unknown[]): unknown {
  if (items.length === 0) return null;
  const content = items.map(asObject).map((item) => {
    const token = asString(item["text"]);
    const logprob = asList(item["logprobs"]).reduce<number>((sum, one) => sum + (typeof one === "number" ? one : 0), 0);
    return { token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] };
  });
  return { content, refusal: null };
}

/**
 * `tokens` counts everything that the model read and wrote, with the vendor's own preamble; images are beside it. `billed_units` is
 * charged and leaves out the preamble. The usage has the former and carries the latter along.
 */
export function toUsage(value: unknown): ChatUsage | null {
  if (!isObject(value)) return null;
  const billed = asObject(value["billed_units"]);
  const tokens = isObject(value["tokens"]) ? value["tokens"] : billed;
  const image = asCount(tokens["image_tokens"]);
  const prompt = asCount(tokens["input_tokens"]) + image;
  const completion = asCount(tokens["output_tokens"]);
  const cached = Math.min(asCount(value["cached_tokens"]), prompt);
  const reasoning = Math.min(asCount(tokens["reasoning_tokens"]), completion);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, ...(image === 0 ? {} : { image_tokens: image }) },
    completion_tokens_details: { reasoning_tokens: reasoning },
    ...(isObject(value["billed_units"]) ? { billed_units: billed } : {}),
  };
}
