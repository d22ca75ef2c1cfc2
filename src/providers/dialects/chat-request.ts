// Reads parts of a chat request in the terms that vendors share: limits, stop sequences, reasoning, tools, messages.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
} from "../../contract/chat-format.ts";
import { ValidationError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import { asObject, asString } from "../lenient.ts";
import { present } from "./completion.ts";

/** The path of a member in the request body. */
export type Location = readonly (string | number)[];

export function refuse(location: Location, message: string, type = "unsupported_parameter"): ValidationError {
  return new ValidationError([{ loc: ["body", ...location], msg: message, type }]);
}

export function maxTokensOf(request: ChatRequest): number | null {
  return request.max_completion_tokens ?? request.max_tokens ?? null;
}

export function stopSequencesOf({ stop }: ChatRequest): readonly string[] {
  return typeof stop === "string" ? [stop] : (stop ?? []);
}

/** The schema of a structured answer; null when the request has none. */
export function answerSchemaOf(request: ChatRequest): JsonObject | null {
  const format = request.response_format;
  return format?.type === "json_schema" ? (format.json_schema.schema ?? { type: "object" }) : null;
}

export interface RequestedReasoning {
  /** `minimal` … `max`; null when the request has only a budget or a switch. */
  readonly effort: string | null;
  readonly isOn: boolean;
  readonly budgetTokens: number | null;
  /** Whether the answer has the text of the reasoning: `summarized`, `omitted` …; null when the request does not say. */
  readonly display: string | null;
  /** The parameter that it comes from, and the one of the budget. */
  readonly parameter: string;
  readonly budgetParameter: string;
  /** For vendors that can only switch thinking on and off: what that does not express. */
  readonly dropped: readonly string[];
}

/**
 * From `thinking`, `reasoning_effort` or `reasoning`, the most precise first; null when the request has none of them. An effort beside
 * `thinking` counts as well: translated Messages requests have both.
 */
export function readReasoning(request: ChatRequest): RequestedReasoning | null {
  const reasoning = asObject(request["reasoning"]);
  const named = request.reasoning_effort ?? (asString(reasoning["effort"]) || null);
  const effort = named === "none" ? null : named;
  const thinking = request["thinking"];
  if (isObject(thinking)) {
    const { type, token_budget: vendorBudget, budget_tokens: budget } = thinking;
    return {
      effort,
      isOn: !isThinkingOff(type),
      budgetTokens: asBudget(vendorBudget ?? budget),
      display: asString(thinking["display"]) || null,
      parameter: "thinking",
      budgetParameter: `thinking.${(vendorBudget ?? null) === null ? "budget_tokens" : "token_budget"}`,
      dropped: type === "between_tools" ? ["thinking"] : [],
    };
  }
  const budgetTokens = asBudget(reasoning["max_tokens"]);
  const { enabled } = reasoning;
  if (named === null && typeof enabled !== "boolean" && budgetTokens === null) return null;
  return {
    effort,
    isOn: named === null ? enabled !== false : named !== "none",
    budgetTokens,
    display: reasoning["exclude"] === true ? "omitted" : null,
    parameter: (request.reasoning_effort ?? null) === null ? "reasoning" : "reasoning_effort",
    budgetParameter: "reasoning.max_tokens",
    dropped: [],
  };
}

/** `between_tools`, which one model has, is the least thinking of that model. */
export function isThinkingOff(type: unknown): boolean {
  return type === "disabled" || type === "between_tools";
}

export function asBudget(value: unknown): number | null {
  return typeof value === "number" && value >= 1 ? Math.floor(value) : null;
}

export type ToolFunction = NonNullable<ChatTool["function"]>;

export interface RequestedTools {
  readonly functions: readonly ToolFunction[];
  /** Whether the model may, must or must not call one of them. */
  readonly mode: "auto" | "required" | "none";
}

/** A choice of one function becomes a required call with only that function on offer, which every vendor understands. */
export function readTools(request: ChatRequest): RequestedTools {
  const functions = (request.tools ?? []).map(readFunction);
  const choice = request.tool_choice ?? "auto";
  if (typeof choice === "string") {
    const mode = choice === "none" ? "none" : choice === "required" || choice === "any" ? "required" : "auto";
    return { functions, mode };
  }
  if (choice.type === "function") return { functions: onlyNamed(functions, [choice.function.name]), mode: "required" };
  if (choice.type === "allowed_tools") {
    const { mode, tools } = choice.allowed_tools;
    const names = tools.map((tool) => tool.function?.name ?? "");
    return { functions: onlyNamed(functions, names), mode };
  }
  throw refuse(["tool_choice", "type"], "This tool_choice is not supported by this provider");
}

export function readFunction(tool: ChatTool, index: number): ToolFunction {
  if (tool.type === "function" && tool.function !== undefined) return tool.function;
  throw refuse(["tools", index, "type"], `Tools of type '${tool.type}' are not supported by this provider`);
}

/** Whether the choice leaves room for a web search: `none` forbids all tools, and a named function all others. */
export function maySearch(choice: unknown): boolean {
  return choice !== "none" && asObject(choice)["type"] !== "function";
}

/** For vendors that require `parameters` and have no `strict`. */
export function toFunctionTool({ name, description, parameters }: ToolFunction): JsonObject {
  const schema = parameters ?? { type: "object", properties: {} };
  return { type: "function", function: present({ name, description, parameters: schema }) };
}

function onlyNamed(functions: readonly ToolFunction[], names: readonly string[]): readonly ToolFunction[] {
  const chosen = functions.filter(({ name }) => names.includes(name));
  if (chosen.length > 0) return chosen;
  throw refuse(["tool_choice"], "tool_choice names a function that is not among the tools", "value_error");
}

/** A name for the tool whose arguments are the structured answer. */
export function findFreeName(
  wanted: string,
  taken: ReadonlySet<string | undefined>,
  next = (name: string) => `${name}_`,
): string {
  let name = wanted;
  while (taken.has(name)) name = next(name);
  return name;
}

/** Replaces the deprecated `function_call` and its result by a tool call and its result. */
export function withToolCalls(messages: readonly ChatMessage[]): readonly ChatMessage[] {
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

/**
 * For vendors that accept instructions only before the conversation. A later instruction would change the start of the prompt there, which
 * invalidates cached prompts and thinking that is bound to the prompt, so it becomes a marked user message. Results of tools must
 * follow their calls, so an instruction among them moves behind them.
 */
export function placeSystemMessages(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const placed: ChatMessage[] = [];
  let later: ChatMessage[] = [];
  let hasBegun = false;
  messages.forEach((message, index) => {
    if (message.role === "system" || message.role === "developer") {
      checkInstruction(message.content, ["messages", index, "content"]);
      if (hasBegun) later.push({ ...message, role: "user", content: markInstruction(message.content) });
      else placed.push(message);
      return;
    }
    hasBegun = true;
    if (message.role !== "tool" && message.role !== "function") {
      placed.push(...later);
      later = [];
    }
    placed.push(message);
  });
  return [...placed, ...later];
}

function checkInstruction(content: ChatContent, location: Location): void {
  if (typeof content === "string") return;
  const other = content.findIndex((part) => part.type !== "text");
  if (other >= 0) throw refuse([...location, other, "type"], "System messages should contain only text", "value_error");
}

function markInstruction(content: ChatContent): ChatContent {
  if (typeof content === "string") return markSystemText(content);
  return content.map((part) => (part.type === "text" ? { ...part, text: markSystemText(part.text) } : part));
}

/** Separates an instruction from the user's words. Text that is left out because it is empty stays empty. */
export function markSystemText(text: string): string {
  return text.trim() === "" ? "" : `<system_message>\n${text}\n</system_message>`;
}

/** The arguments of a call as an object. Models also write other values, which are sent back under `wrapper`. */
export function toArgumentObject(text: string, wrapper: string): JsonObject {
  if (text.trim() === "") return {};
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // The text itself is the value.
  }
  return isObject(value) ? value : { [wrapper]: value };
}

/** The text of a message, refusals included. Other parts are skipped. */
export function textOf(content: string | readonly ChatPart[] | null | undefined, separator = ""): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map(textOfPart)
    .filter((text) => text !== null && text !== "")
    .join(separator);
}

export function textOfPart(part: ChatPart): string | null {
  if (part.type === "text") return part.text;
  return part.type === "refusal" ? part.refusal : null;
}

/** The reasoning of an assistant message. */
export function reasoningOf(message: ChatAssistantMessage): readonly { text: string; signature?: string }[] {
  const texts: { text: string; signature?: string }[] = [];
  for (const detail of message.reasoning_details ?? []) {
    if (detail.type !== "reasoning.text" || !detail.text) continue;
    texts.push({ text: detail.text, ...(detail.signature ? { signature: detail.signature } : {}) });
  }
  if (texts.length === 0 && message.reasoning_content) texts.push({ text: message.reasoning_content });
  return texts;
}
