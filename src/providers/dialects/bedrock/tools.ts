// The tools of a request, which of them has to be called, and the tool that stands for a structured answer.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html

import type { ChatRequest, ChatTool } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { refuse } from "../chat-request.ts";
import { toCachePoint } from "./messages.ts";
import type { ModelTraits } from "./models.ts";
import { toStrictSchema } from "./schema.ts";

export interface ToolPlan {
  readonly toolConfig?: JsonObject;
  /** Members of `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  readonly isForced: boolean;
  /** Told to a model that cannot be forced. */
  readonly instruction: string | null;
}

interface ToolOptions {
  readonly traits: ModelTraits;
  /** Tools that the conversation has already called: it is refused when none is declared. */
  readonly usedNames: ReadonlySet<string>;
  readonly answer: AnswerTool | null;
  /** Collects what found no place. */
  readonly dropped: Set<string>;
}

/** A structured answer is the input of a tool that is never run. */
export interface AnswerTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

type Choice = { readonly mode: "auto" | "any" | "none" } | { readonly mode: "tool"; readonly name: string };

const anyObject = { type: "object", properties: {} };
const allowedName = /^[a-zA-Z0-9_-]{1,64}$/;
// The service refuses more.
const maxStrictTools = 20;

export function planTools(request: ChatRequest, options: ToolOptions): ToolPlan {
  const { traits, usedNames, answer, dropped } = options;
  const asked = readChoice(request);
  const choice = answer === null ? asked.choice : chooseAnswer(answer, asked);
  const tools = toTools(offer(asked.tools, choice, options), traits, dropped);
  if (answer !== null) tools.push(toTool(answer));
  if (tools.length > 0) return applyChoice(tools, choice, request.parallel_tool_calls === false, options);
  if (usedNames.size === 0) return { fields: {}, isForced: false, instruction: null };
  const gone = [...usedNames].map((name) => toTool({ name, description: "No longer available.", schema: anyObject }));
  return { ...sayNone(traits), toolConfig: { tools: gone } };
}

interface RequestedTools {
  readonly tools: readonly ChatTool[];
  readonly choice: Choice;
}

function readChoice(request: ChatRequest): RequestedTools {
  const tools = request.tools ?? [];
  tools.forEach(checkTool);
  const choice = request.tool_choice ?? "auto";
  if (choice === "none") return { tools, choice: { mode: "none" } };
  if (typeof choice === "string")
    return { tools, choice: { mode: choice === "required" || choice === "any" ? "any" : "auto" } };
  if (choice.type === "function") {
    const { name } = choice.function;
    if (tools.some((tool) => tool.function?.name === name)) return { tools, choice: { mode: "tool", name } };
    throw refuse(["tool_choice"], "tool_choice names a function that is not among the tools", "value_error");
  }
  if (choice.type !== "allowed_tools")
    throw refuse(["tool_choice", "type"], "This tool_choice is not supported by this provider");
  const names = new Set(choice.allowed_tools.tools.map((tool) => tool.function?.name));
  const allowed = tools.filter((tool) => names.has(tool.function?.name));
  return { tools: allowed, choice: { mode: choice.allowed_tools.mode === "required" ? "any" : "auto" } };
}

function checkTool(tool: ChatTool, index: number): void {
  if (tool.type !== "function" || tool.function === undefined)
    throw refuse(["tools", index, "type"], `Tools of type '${tool.type}' are not supported by this provider`);
  if (allowedName.test(tool.function.name)) return;
  const rule = "This provider takes names of at most 64 letters, digits, underscores and hyphens";
  throw refuse(["tools", index, "function", "name"], rule, "value_error");
}

/** Beside tools that may be called, the answer is one more of them: something has to be called. */
function chooseAnswer(answer: AnswerTool, { tools, choice }: RequestedTools): Choice {
  if (choice.mode === "tool") return choice;
  return tools.length === 0 || choice.mode === "none" ? { mode: "tool", name: answer.name } : { mode: "any" };
}

/** What is left on offer by a choice that cannot be said as one. */
function offer(tools: readonly ChatTool[], choice: Choice, { traits, usedNames }: ToolOptions): readonly ChatTool[] {
  if (choice.mode === "none") return usedNames.size > 0 ? tools : [];
  if (choice.mode !== "tool" || traits.toolChoice === "tool") return tools;
  return tools.filter((tool) => tool.function?.name === choice.name);
}

function toTools(tools: readonly ChatTool[], traits: ModelTraits, dropped: Set<string>): JsonObject[] {
  const takesStrict =
    traits.hasJsonSchema && tools.filter((tool) => tool.function?.strict === true).length <= maxStrictTools;
  return tools.flatMap((tool) => {
    const { name = "", description, parameters, strict } = tool.function ?? {};
    const schema = { ...anyObject, ...parameters };
    const strictSchema = strict && takesStrict ? toStrictSchema(schema) : null;
    if (strict && strictSchema === null) dropped.add("tools.strict");
    const mark = traits.cachesTools ? toCachePoint(tool.cache_control, traits) : null;
    if (mark === null && tool.cache_control) dropped.add("cache_control");
    const spec = toTool(
      { name, description: description ?? "", schema: strictSchema ?? schema },
      strictSchema !== null,
    );
    return mark === null ? [spec] : [spec, mark];
  });
}

function toTool({ name, description, schema }: AnswerTool, isStrict = false): JsonObject {
  const words = description.trim() === "" ? {} : { description };
  const strict = isStrict ? { strict: true } : {};
  return { toolSpec: { name, ...words, inputSchema: { json: { ...anyObject, ...schema } }, ...strict } };
}

function applyChoice(
  tools: readonly JsonObject[],
  choice: Choice,
  isSingle: boolean,
  { traits, answer, dropped }: ToolOptions,
): ToolPlan {
  const plan = { toolConfig: { tools }, fields: {}, isForced: false, instruction: null };
  if (choice.mode === "none") {
    if (!hasOwnWords(traits)) dropped.add("tool_choice");
    return { ...sayNone(traits), toolConfig: { tools } };
  }
  const isForced = choice.mode !== "auto" && traits.toolChoice !== "none";
  if (choice.mode !== "auto" && !isForced && answer === null) dropped.add("tool_choice");
  const instruction = answer !== null && !isForced ? instruct(answer) : null;
  const said: Choice = isForced ? choice : { mode: "auto" };
  if (isSingle && hasOwnWords(traits)) {
    const name = said.mode === "tool" ? { name: said.name } : {};
    const fields = { tool_choice: { type: said.mode, ...name, disable_parallel_tool_use: true } };
    return { ...plan, fields, isForced, instruction };
  }
  if (isSingle) dropped.add("parallel_tool_calls");
  return { ...plan, toolConfig: { tools, ...toToolChoice(said, traits) }, isForced, instruction };
}

/** Converse cannot say "none" or "one at a time"; these models can in their own words, and then in no others. */
function hasOwnWords({ generation }: ModelTraits): boolean {
  return generation !== null;
}

function sayNone(traits: ModelTraits): ToolPlan {
  const fields = hasOwnWords(traits) ? { tool_choice: { type: "none" } } : {};
  return { fields, isForced: false, instruction: null };
}

function instruct(answer: AnswerTool): string {
  return `Give your final answer by calling the tool '${answer.name}', and not as text.`;
}

/** `auto` is what nothing says, and some models refuse to have it said. */
function toToolChoice(choice: Choice, traits: ModelTraits): JsonObject {
  if (choice.mode === "tool" && traits.toolChoice === "tool") return { toolChoice: { tool: { name: choice.name } } };
  return choice.mode === "auto" ? {} : { toolChoice: { any: {} } };
}
