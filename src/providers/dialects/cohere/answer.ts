// From an answer of POST /v2/chat to a completion.

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
import { createId, nowSeconds } from "../new-answer.ts";

export function fromCohereAnswer(answer: JsonObject, reading: Reading): ChatCompletion {
  const message = answer["message"];
  // An error body has its sentence where an answer has its message.
  if (typeof message === "string") throw new ErrorInAnswer(message, null);
  if (!isObject(message)) throw new TypeError("the answer has no message");
  const content = readContent(message);
  const calls: ChatToolCall[] = [];
  let { text } = content;
  for (const call of asList(message["tool_calls"])) {
    const { name, args, id } = readCall(asObject(call));
    if (name === reading.answerTool) text = args;
    else calls.push({ id, type: "function", function: { name, arguments: args } });
  }
  const citations = asList(message["citations"]);
  const annotations = citations.flatMap((citation) => toAnnotations(asObject(citation), content.starts));
  const logprobs = toLogprobs(asList(answer["logprobs"]));
  const usage = toUsage(answer["usage"]);
  return {
    id: asString(answer["id"]) || createId("chatcmpl-"),
    object: "chat.completion",
    created: nowSeconds(),
    model: reading.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          refusal: null,
          ...(content.thoughts.length === 0
            ? {}
            : { reasoning_content: content.thoughts.join("\n"), reasoning_details: content.thoughts.map(toDetail) }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
          ...(annotations.length === 0 ? {} : { annotations }),
          ...(citations.length === 0 ? {} : { citations }),
        },
        finish_reason: toFinishReason(answer["finish_reason"], calls.length > 0, null),
        ...(logprobs === null ? {} : { logprobs }),
      },
    ],
    ...(usage === null ? {} : { usage }),
  };
}

/** The texts, the thoughts, and where in the joined text each block begins: citations count within their block. */
function readContent(message: JsonObject): { text: string; thoughts: string[]; starts: number[] } {
  const thoughts: string[] = [];
  const starts: number[] = [];
  // A plan of the tool calls is a thought: it stands before them and is not for the reader.
  const plan = asString(message["tool_plan"]);
  if (plan !== "") thoughts.push(plan);
  let text = asString(message["content"]);
  for (const value of asList(message["content"])) {
    const block = asObject(value);
    starts.push(text.length);
    const thinking = asString(block["thinking"]);
    if (thinking !== "") thoughts.push(thinking);
    text += asString(block["text"]);
  }
  return { text, thoughts, starts };
}

function readCall(call: JsonObject): { id: string; name: string; args: string } {
  const called = asObject(call["function"]);
  const args = asString(called["arguments"]);
  return {
    id: asString(call["id"]) || createId("call_"),
    name: asString(called["name"]),
    args: isNoArguments(args) ? "{}" : args,
  };
}

/** A function without parameters is called with nothing, or with null: clients expect an object. */
export function isNoArguments(text: string): boolean {
  return text === "" || text === "null";
}

export function toDetail(text: string): ReasoningDetail {
  return { type: "reasoning.text", text };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  COMPLETE: "stop",
  STOP_SEQUENCE: "stop",
  MAX_TOKENS: "length",
  TOOL_CALL: "tool_calls",
  ERROR_TOXIC: "content_filter",
};

/** With an answer tool a call may be the answer, so the calls that were handed on decide between `tool_calls` and `stop`. */
export function toFinishReason(reason: unknown, hasCalls: boolean, error: string | null): FinishReason {
  if (reason === "ERROR") throw new ErrorInAnswer(error || "the generation failed", 500);
  if (reason === "TIMEOUT") throw new ErrorInAnswer(error || "the generation took too long and was stopped", 504);
  const known = lookUp(finishReasons, asString(reason)) ?? "stop";
  if (known === "length" || known === "content_filter") return known;
  return hasCalls ? "tool_calls" : "stop";
}

/**
 * Sources are documents and tool outputs, not pages. Where one of them has an address it becomes an annotation; every
 * citation is kept as it came in `citations`. Citations of thoughts and plans are not about the content.
 */
export function toAnnotations(citation: JsonObject, starts: readonly number[]): ChatAnnotation[] {
  const type = citation["type"] ?? "TEXT_CONTENT";
  if (type !== "TEXT_CONTENT") return [];
  const offset = starts[asCount(citation["content_index"])] ?? 0;
  const annotations: ChatAnnotation[] = [];
  for (const value of asList(citation["sources"])) {
    const source = asObject(value);
    const told = asObject(source["document"] ?? source["tool_output"]);
    const url = [told["url"], source["id"]].map(asString).find((address) => /^https?:\/\//i.test(address));
    if (url === undefined) continue;
    const title = asString(told["title"]);
    const content = asString(told["text"] ?? told["snippet"] ?? told["content"]);
    annotations.push({
      type: "url_citation",
      url_citation: {
        url,
        ...(title === "" ? {} : { title }),
        start_index: asCount(citation["start"]) + offset,
        end_index: asCount(citation["end"]) + offset,
        ...(content === "" ? {} : { content }),
      },
    });
  }
  return annotations;
}

/** An item is a piece of text, of one or more tokens: its probability is the product of theirs. */
export function toLogprobs(items: readonly unknown[]): unknown {
  if (items.length === 0) return null;
  const content = items.map((value) => {
    const item = asObject(value);
    const token = asString(item["text"]);
    const logprob = asList(item["logprobs"]).reduce<number>((sum, one) => sum + (typeof one === "number" ? one : 0), 0);
    return { token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] };
  });
  return { content, refusal: null };
}

/**
 * `tokens` is what the model read and wrote, with the vendor's own preamble, images beside it; `billed_units` is what is
 * charged, without the preamble. The whole is told as usage, what is charged is handed on beside it.
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
