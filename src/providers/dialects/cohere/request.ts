// From the chat format to POST /v2/chat.

import type { ChatAssistantMessage, ChatContent, ChatMessage, ChatRequest } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, Target } from "../../dialect.ts";
import {
  type AskedTools,
  answerSchemaOf,
  askedReasoning,
  askedTools,
  refuse,
  stopWordsOf,
  textOf,
  textOfPart,
  thoughtsOf,
  tokenCapOf,
  withoutFunctionCalls,
} from "../asked.ts";
import { present } from "../new-answer.ts";

export function toCohereRequest(request: ChatRequest, target: Target): DialectRequest {
  const dropped: string[] = [];
  const plan = planTools(request, dropped);
  const body = present({
    model: target.model,
    stream: target.isStream,
    messages: toMessages(request.messages, target),
    tools: plan.tools,
    tool_choice: plan.toolChoice,
    strict_tools: request["strict_tools"] ?? plan.isStrict,
    response_format: plan.responseFormat,
    max_tokens: tokenCapOf(request),
    temperature: request.temperature,
    p: toP(request.top_p),
    k: request["top_k"],
    seed: request.seed,
    stop_sequences: stopWordsOf(request),
    frequency_penalty: toPenalty(request, "frequency_penalty", dropped),
    presence_penalty: toPenalty(request, "presence_penalty", dropped),
    logprobs: request.logprobs,
    thinking: toThinking(request, target, dropped),
    documents: request["documents"],
    citation_options: request["citation_options"],
    safety_mode: request["safety_mode"],
    priority: request["priority"],
  });
  // Several calls at once cannot be switched off.
  if (request.parallel_tool_calls === false) dropped.push("parallel_tool_calls");
  return {
    path: "/v2/chat",
    body: JSON.stringify(body),
    dropped,
    reading: { model: target.model, answerTool: plan.answerTool },
  };
}

interface ToolPlan {
  readonly tools?: readonly unknown[];
  readonly toolChoice?: "REQUIRED" | "NONE";
  readonly isStrict?: true;
  readonly responseFormat?: unknown;
  readonly answerTool: string | null;
}

/** The vendor takes a format of the answer only without tools and documents: beside tools, the answer is a tool of its own. */
function planTools(request: ChatRequest, dropped: string[]): ToolPlan {
  const { functions, mode } = askedTools(request);
  const format = request.response_format ?? { type: "text" };
  const schema = answerSchemaOf(request);
  const isJson = format.type === "json_object" || schema !== null;
  if (isJson && Array.isArray(request["documents"]))
    throw refuse(["response_format"], "A JSON answer together with documents is not supported by this provider");
  if (functions.length === 0 || (isJson && mode === "none")) {
    if (!isJson) return { answerTool: null };
    return { answerTool: null, responseFormat: present({ type: "json_object", json_schema: schema }) };
  }
  if (schema !== null) return planAnswerTool(functions, schema);
  if (isJson) dropped.push("response_format");
  const isStrict = mayBeStrict(functions);
  if (!isStrict && functions.some((one) => one.strict === true)) dropped.push("tools.function.strict");
  return {
    tools: functions.map(toTool),
    ...(isStrict ? { isStrict } : {}),
    ...(mode === "auto" ? {} : { toolChoice: mode === "none" ? "NONE" : "REQUIRED" }),
    answerTool: null,
  };
}

function planAnswerTool(functions: AskedTools["functions"], schema: Readonly<Record<string, unknown>>): ToolPlan {
  const taken = new Set(functions.map(({ name }) => name));
  let answerTool = "final_answer";
  while (taken.has(answerTool)) answerTool += "_";
  const answer = { name: answerTool, description: "Give the final answer by calling this.", parameters: schema };
  return { tools: [...functions, answer].map(toTool), toolChoice: "REQUIRED", answerTool };
}

function toTool({ name, description, parameters }: AskedTools["functions"][number]): unknown {
  const schema = parameters ?? { type: "object", properties: {} };
  return { type: "function", function: present({ name, description, parameters: schema }) };
}

/** Strictness is one switch for all tools, and each of them then needs a required parameter. */
function mayBeStrict(functions: AskedTools["functions"]): boolean {
  return functions.every(({ strict, parameters }) => {
    const required = parameters?.["required"];
    return strict === true && Array.isArray(required) && required.length > 0;
  });
}

/** 0.01 to 0.99 is what the vendor takes; 1, no limit, is nearest to its highest. */
function toP(topP: number | null | undefined): number | null {
  return topP === undefined || topP === null ? null : Math.min(Math.max(topP, 0.01), 0.99);
}

/** From 0 to 1 is what the vendor takes: the wish for more repetition cannot be expressed, nor one twice as strong. */
function toPenalty(request: ChatRequest, name: "frequency_penalty" | "presence_penalty", dropped: string[]) {
  const penalty = request[name];
  if (penalty === undefined || penalty === null || (penalty >= 0 && penalty <= 1)) return penalty;
  dropped.push(name);
  return null;
}

// The vendor recommends thought without a limit, and a thousand tokens left for the answer where there is one:
// https://docs.cohere.com/docs/reasoning
const budgetOfEffort: Readonly<Record<string, number>> = { minimal: 512, low: 1_024, medium: 8_192 };
const answerTokens = 1_000;

function toThinking(request: ChatRequest, target: Target, dropped: string[]): unknown {
  const asked = askedReasoning(request);
  if (asked === null) return null;
  if (target.facts?.reasoning === false) {
    if (asked.isOn) dropped.push("reasoning_effort");
    return null;
  }
  if (!asked.isOn) return { type: "disabled" };
  const wanted = asked.budgetTokens ?? lookUp(budgetOfEffort, asked.effort ?? "") ?? null;
  const cap = tokenCapOf(request);
  if (cap === null) return present({ type: "enabled", token_budget: wanted });
  const room = cap - answerTokens;
  if (room < 1) return { type: "disabled" };
  return { type: "enabled", token_budget: Math.min(wanted ?? room, room) };
}

function toMessages(messages: readonly ChatMessage[], target: Target): readonly unknown[] {
  const plain = withoutFunctionCalls(messages);
  const said = plain.filter((message) => message.role !== "system" || textOf(message.content) !== "");
  // Instructions that say nothing are left out.
  return (said.length === 0 ? plain : said).map((message) => {
    const index = plain.indexOf(message);
    if (message.role === "assistant") return toAssistantMessage(message, target);
    if (message.role === "tool")
      return {
        role: "tool",
        tool_call_id: message.tool_call_id,
        content: toParts(message.content, index, toolParts),
      };
    if (message.role === "user") return { role: "user", content: toParts(message.content, index, userParts) };
    return { role: "system", content: toParts(message.content ?? "", index, systemParts) };
  });
}

const userParts = new Set(["text", "image_url"]);
const toolParts = new Set(["text", "document"]);
const systemParts = new Set(["text"]);

function toParts(content: ChatContent, messageIndex: number, allowed: ReadonlySet<string>): unknown {
  if (typeof content === "string") return content;
  return content.map((part, index) => {
    const text = textOfPart(part);
    if (text !== null) return { type: "text", text };
    if (!allowed.has(part.type))
      throw refuse(
        ["messages", messageIndex, "content", index],
        `Parts of type '${part.type}' are not supported here by this provider`,
      );
    if (part.type === "image_url") return { type: "image_url", image_url: present(part.image_url) };
    return part;
  });
}

/**
 * Thoughts go back as what they were: a model that reasons gives thinking blocks, one that does not gives a plan of its
 * tool calls and knows no other thoughts.
 */
function toAssistantMessage(message: ChatAssistantMessage, target: Target): unknown {
  const calls = (message.tool_calls ?? []).map((call) => ({
    id: call.id ?? "",
    type: "function",
    function: { name: call.function?.name ?? "", arguments: toArguments(call.function?.arguments ?? "") },
  }));
  const thoughts = thoughtsOf(message);
  const reasons = target.facts?.reasoning === true;
  const text = textOf(message.content) || (message.refusal ?? "");
  const blocks: unknown[] = reasons ? thoughts.map((thought) => ({ type: "thinking", thinking: thought.text })) : [];
  if (text !== "") blocks.push({ type: "text", text });
  const isBare = blocks.length === 0 && calls.length === 0;
  const plan = !reasons && calls.length > 0 ? thoughts.map((thought) => thought.text).join("\n") : "";
  return {
    role: "assistant",
    ...(blocks.length > 0 ? { content: blocks } : isBare ? { content: "" } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(plan === "" ? {} : { tool_plan: plan }),
  };
}

/** The text of an object is what the vendor documents. What a model wrote instead is kept under a name of its own. */
function toArguments(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    if (isObject(JSON.parse(text))) return text;
  } catch {
    // said below
  }
  return JSON.stringify({ input: text });
}
