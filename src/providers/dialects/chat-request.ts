// What a caller asks for, in the terms that vendors share: the cap on tokens, stop words, effort, tools and old-style calls.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
} from "../../contract/chat-format.ts";
import { ValidationError } from "../../errors.ts";
import { isObject } from "../../lib/lenient-json.ts";
import { asObject, asString } from "../lenient.ts";

export type Location = readonly (string | number)[];

export function refuse(location: Location, message: string, type = "unsupported_parameter"): ValidationError {
  return new ValidationError([{ loc: ["body", ...location], msg: message, type }]);
}

export function tokenCapOf(request: ChatRequest): number | null {
  return request.max_completion_tokens ?? request.max_tokens ?? null;
}

export function stopWordsOf(request: ChatRequest): readonly string[] | null {
  const { stop } = request;
  if (stop === undefined || stop === null) return null;
  return typeof stop === "string" ? [stop] : stop;
}

/** The schema that the answer has to follow; null when none was given. */
export function answerSchemaOf(request: ChatRequest): Readonly<Record<string, unknown>> | null {
  const format = request.response_format;
  return format?.type === "json_schema" ? (format.json_schema.schema ?? { type: "object" }) : null;
}

/** How much thought is asked for. */
export interface AskedReasoning {
  /** `none` … `max`, or null when only a budget or a switch was given. */
  readonly effort: string | null;
  readonly isOn: boolean;
  readonly budgetTokens: number | null;
}

/** From `thinking`, `reasoning` or `reasoning_effort`, the more exact first; null when the caller says nothing. */
export function askedReasoning(request: ChatRequest): AskedReasoning | null {
  const thinking = request["thinking"];
  if (isObject(thinking)) {
    const budget = thinking["token_budget"] ?? thinking["budget_tokens"];
    return { effort: null, isOn: thinking["type"] !== "disabled", budgetTokens: asBudget(budget) };
  }
  const reasoning = asObject(request["reasoning"]);
  const effort = request.reasoning_effort ?? (asString(reasoning["effort"]) || null);
  const budgetTokens = asBudget(reasoning["max_tokens"]);
  if (effort !== null) return { effort, isOn: effort !== "none", budgetTokens };
  if (typeof reasoning["enabled"] === "boolean") return { effort: null, isOn: reasoning["enabled"], budgetTokens };
  return budgetTokens === null ? null : { effort: null, isOn: true, budgetTokens };
}

function asBudget(value: unknown): number | null {
  return typeof value === "number" && value >= 1 ? Math.floor(value) : null;
}

/** The functions that may be called, and whether one of them has to be. */
export interface AskedTools {
  readonly functions: readonly NonNullable<ChatTool["function"]>[];
  readonly mode: "auto" | "required" | "none";
}

/** A choice of one function is a duty to call, with no other function on offer: no vendor reads it otherwise. */
export function askedTools(request: ChatRequest): AskedTools {
  const functions = (request.tools ?? []).map((tool, index) => {
    if (tool.type === "function" && tool.function !== undefined) return tool.function;
    throw refuse(["tools", index, "type"], `Tools of type '${tool.type}' are not supported by this provider`);
  });
  const choice = request.tool_choice ?? "auto";
  if (typeof choice === "string") {
    const mode = choice === "none" ? "none" : choice === "required" || choice === "any" ? "required" : "auto";
    return { functions, mode };
  }
  if (choice.type === "function") {
    const { name } = choice.function;
    return { functions: onlyNamed(functions, new Set([name])), mode: "required" };
  }
  if (choice.type === "allowed_tools") {
    const { mode, tools } = choice.allowed_tools;
    return { functions: onlyNamed(functions, new Set(tools.map((tool) => tool.function?.name ?? ""))), mode };
  }
  throw refuse(["tool_choice", "type"], "This tool_choice is not supported by this provider");
}

function onlyNamed(functions: AskedTools["functions"], names: ReadonlySet<string>): AskedTools["functions"] {
  const chosen = functions.filter(({ name }) => names.has(name));
  if (chosen.length > 0) return chosen;
  throw refuse(["tool_choice"], "tool_choice names a function that is not among the tools", "value_error");
}

/** Messages with the old `function_call` and its result told as a tool call and its result. */
export function withoutFunctionCalls(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let calls = 0;
  return messages.map((message): ChatMessage => {
    if (message.role === "function")
      return { role: "tool", tool_call_id: `call_${calls}`, content: message.content ?? "" };
    if (message.role !== "assistant" || !message.function_call || message.tool_calls?.length) return message;
    calls += 1;
    const { function_call, ...rest } = message;
    return { ...rest, tool_calls: [{ id: `call_${calls}`, type: "function", function: function_call }] };
  });
}

/** The text of a message, refusals included. Other parts are passed by. */
export function textOf(content: ChatContent | null | undefined, separator = ""): string {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const part of content) {
    const text = textOfPart(part);
    if (text !== null && text !== "") texts.push(text);
  }
  return texts.join(separator);
}

export function textOfPart(part: ChatPart): string | null {
  if (part.type === "text") return part.text;
  return part.type === "refusal" ? part.refusal : null;
}

/** The thoughts that an assistant's message carries, as its vendor gave them. */
export function thoughtsOf(message: ChatAssistantMessage): readonly { text: string; signature?: string }[] {
  const thoughts: { text: string; signature?: string }[] = [];
  for (const detail of message.reasoning_details ?? []) {
    if (detail.type !== "reasoning.text" || !detail.text) continue;
    thoughts.push({ text: detail.text, ...(detail.signature ? { signature: detail.signature } : {}) });
  }
  if (thoughts.length === 0 && message.reasoning_content) thoughts.push({ text: message.reasoning_content });
  return thoughts;
}
