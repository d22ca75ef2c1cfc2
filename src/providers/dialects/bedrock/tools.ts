// Writes the tools of a request, the choice among them, and the tool whose input is the structured answer.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html

import type { ChatRequest, ChatTool } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { readFunction, refuse } from "../chat-request.ts";
import { toCachePoint } from "./messages.ts";
import type { ModelTraits } from "./models.ts";
import { toStrictSchema } from "./schema.ts";

export interface ToolPlan {
  readonly toolConfig?: JsonObject;
  /** Members of `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  readonly isForced: boolean;
  /** For a model that cannot be forced to call a tool. */
  readonly instruction: string | null;
  /** The name of the tool for the structured answer, if it is offered. */
  readonly answerTool: string | null;
}

interface ToolOptions {
  readonly traits: ModelTraits;
  /** Tools that the conversation has called. The service refuses such a conversation when the request has no tools. */
  readonly usedNames: ReadonlySet<string>;
  readonly answer: AnswerTool | null;
  /** Collects the parameters that could not be expressed. */
  readonly dropped: Set<string>;
}

/** A tool that is never run: its input is the structured answer. */
export interface AnswerTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

type Choice = { readonly mode: "auto" | "any" | "none" } | { readonly mode: "tool"; readonly name: string };

const anyObject = { type: "object", properties: {} };
const noPlan: ToolPlan = { fields: {}, isForced: false, instruction: null, answerTool: null };
const allowedName = /^[a-zA-Z0-9_-]{1,64}$/;
/** The service refuses more. */
const maxStrictTools = 20;

export function planTools(request: ChatRequest, options: ToolOptions): ToolPlan {
  const { traits, usedNames, dropped } = options;
  const requested = readChoice(request);
  const { mode } = requested.choice;
  const requiresCall = requested.tools.length > 0 && (mode === "any" || mode === "tool");
  const mayForce = traits.toolChoice !== "none";
  if (requiresCall && !mayForce) dropped.add("tool_choice");
  // A call that the caller requires is the answer, whatever format a text would have.
  const answer = requiresCall && mayForce ? null : options.answer;
  const choice = answer === null ? requested.choice : chooseAnswer(answer, requested);
  const tools = toTools(selectTools(requested.tools, choice, options), traits, dropped);
  if (answer !== null) tools.push(toTool(answer));
  if (tools.length > 0)
    return applyChoice(tools, choice, request.parallel_tool_calls === false, { ...options, answer });
  if (usedNames.size === 0) return noPlan;
  const gone = [...usedNames].map((name) => toTool({ name, description: "No longer available.", schema: anyObject }));
  return forbidCalls(gone, traits);
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
  if (allowedName.test(readFunction(tool, index).name)) return;
  const rule = "This provider accepts names of at most 64 letters, digits, underscores and hyphens";
  throw refuse(["tools", index, "function", "name"], rule, "value_error");
}

/** If other tools may be called, the model must call one of them or the answer tool. */
function chooseAnswer(answer: AnswerTool, { tools, choice }: RequestedTools): Choice {
  if (choice.mode === "tool") return choice;
  return tools.length === 0 || choice.mode === "none" ? { mode: "tool", name: answer.name } : { mode: "any" };
}

/** Leaves tools out where Converse cannot express the choice. */
function selectTools(tools: readonly ChatTool[], choice: Choice, { traits, usedNames }: ToolOptions) {
  if (choice.mode === "none") return usedNames.size > 0 ? tools : [];
  if (choice.mode !== "tool" || traits.toolChoice === "tool") return tools;
  return tools.filter((tool) => tool.function?.name === choice.name);
}

function toTools(tools: readonly ChatTool[], traits: ModelTraits, dropped: Set<string>): JsonObject[] {
  const strictCount = tools.filter((tool) => tool.function?.strict === true).length;
  const takesStrict = traits.hasJsonSchema && strictCount <= maxStrictTools;
  return tools.flatMap((tool) => {
    const { name = "", description, parameters, strict } = tool.function ?? {};
    const schema = { ...anyObject, ...parameters };
    const strictSchema = strict && takesStrict ? toStrictSchema(schema) : null;
    if (strict && strictSchema === null) dropped.add("tools.strict");
    const mark = traits.cachesTools ? toCachePoint(tool.cache_control, traits) : null;
    if (mark === null && tool.cache_control) dropped.add("cache_control");
    const described = { name, description: description ?? "", schema: strictSchema ?? schema };
    const written = toTool(described, strictSchema !== null);
    return mark === null ? [written] : [written, mark];
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
  if (choice.mode === "none") {
    if (!hasOwnChoice(traits)) dropped.add("tool_choice");
    return forbidCalls(tools, traits);
  }
  const isForced = choice.mode !== "auto" && traits.toolChoice !== "none";
  const instruction =
    answer === null || isForced
      ? null
      : `Give your final answer by calling the tool '${answer.name}', and not as text.`;
  const plan = { isForced, instruction, answerTool: answer?.name ?? null };
  const effective: Choice = isForced ? choice : { mode: "auto" };
  if (isSingle && hasOwnChoice(traits)) {
    const name = effective.mode === "tool" ? { name: effective.name } : {};
    const fields = { tool_choice: { type: effective.mode, ...name, disable_parallel_tool_use: true } };
    return { ...plan, toolConfig: { tools }, fields };
  }
  if (isSingle) dropped.add("parallel_tool_calls");
  return { ...plan, toolConfig: { tools, ...toToolChoice(effective, traits) }, fields: {} };
}

/** Converse has neither "none" nor "one call at a time". These models accept a `tool_choice` of their own instead. */
function hasOwnChoice({ generation }: ModelTraits): boolean {
  return generation !== null;
}

function forbidCalls(tools: readonly JsonObject[], traits: ModelTraits): ToolPlan {
  const fields = hasOwnChoice(traits) ? { tool_choice: { type: "none" } } : {};
  return { ...noPlan, fields, toolConfig: { tools } };
}

/** `auto` is the default, and some models refuse it. */
function toToolChoice(choice: Choice, traits: ModelTraits): JsonObject {
  if (choice.mode === "tool" && traits.toolChoice === "tool") return { toolChoice: { tool: { name: choice.name } } };
  return choice.mode === "auto" ? {} : { toolChoice: { any: {} } };
}
