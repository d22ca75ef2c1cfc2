// Writes the request of POST /v2/chat.

import type { ChatAssistantMessage, ChatContent, ChatMessage, ChatRequest } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import * as chat from "../chat-request.ts";
import { filled, present } from "../completion.ts";

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
    max_tokens: chat.maxTokensOf(request),
    temperature: request.temperature,
    p: toP(request.top_p),
    k: request["top_k"],
    seed: request.seed,
    ...filled({ stop_sequences: chat.stopSequencesOf(request) }),
    frequency_penalty: toPenalty(request, "frequency_penalty", dropped),
    presence_penalty: toPenalty(request, "presence_penalty", dropped),
    logprobs: request.logprobs,
    thinking: toThinking(request, target, dropped),
    documents: request["documents"],
    citation_options: request["citation_options"],
    safety_mode: request["safety_mode"],
    priority: request["priority"],
  });
  // The vendor cannot forbid parallel calls.
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

/** The vendor accepts a response format only without tools and documents; with tools, the structured answer is one more tool. */
function planTools(request: ChatRequest, dropped: string[]): ToolPlan {
  const { functions, mode } = chat.readTools(request);
  const format = request.response_format ?? { type: "text" };
  const schema = chat.answerSchemaOf(request);
  const isJson = format.type === "json_object" || schema !== null;
  if (isJson && Array.isArray(request["documents"]))
    throw chat.refuse(["response_format"], "A JSON answer together with documents is not supported by this provider");
  if (functions.length === 0 && !isJson) return { answerTool: null };
  if (functions.length === 0 || (isJson && mode === "none"))
    return { answerTool: null, responseFormat: present({ type: "json_object", json_schema: schema }) };
  // A call that the caller requires is the answer, whatever format a text would have.
  const needsFormat = isJson && mode !== "required";
  if (needsFormat && schema !== null) return planAnswerTool(functions, schema);
  if (needsFormat) dropped.push("response_format");
  const isStrict = mayBeStrict(functions);
  if (!isStrict && functions.some((one) => one.strict === true)) dropped.push("tools.function.strict");
  return {
    tools: functions.map(chat.toFunctionTool),
    ...(isStrict ? { isStrict } : {}),
    ...(mode === "auto" ? {} : { toolChoice: mode === "none" ? "NONE" : "REQUIRED" }),
    answerTool: null,
  };
}

function planAnswerTool(functions: readonly chat.ToolFunction[], schema: JsonObject): ToolPlan {
  const answerTool = chat.findFreeName("final_answer", new Set(functions.map(({ name }) => name)));
  const answer = { name: answerTool, description: "Give the final answer by calling this.", parameters: schema };
  return { tools: [...functions, answer].map(chat.toFunctionTool), toolChoice: "REQUIRED", answerTool };
}

/** `strict_tools` applies to all tools, and each of them then needs a required parameter. */
function mayBeStrict(functions: readonly chat.ToolFunction[]): boolean {
  return functions.every(({ strict, parameters }) => {
    const required = parameters?.["required"];
    return strict === true && Array.isArray(required) && required.length > 0;
  });
}

/** The vendor accepts 0.01 to 0.99. */
function toP(topP: number | null | undefined): number | null {
  return topP === undefined || topP === null ? null : Math.min(Math.max(topP, 0.01), 0.99);
}

/** The vendor accepts 0 to 1. */
function toPenalty(request: ChatRequest, name: "frequency_penalty" | "presence_penalty", dropped: string[]) {
  const penalty = request[name];
  if (penalty === undefined || penalty === null || (penalty >= 0 && penalty <= 1)) return penalty;
  dropped.push(name);
  return null;
}

// The vendor recommends reasoning without a limit, or with a limit that leaves a thousand tokens for the answer:
// https://docs.cohere.com/docs/reasoning
const budgetOfEffort: Readonly<Record<string, number>> = { minimal: 512, low: 1_024, medium: 8_192 };
const answerTokens = 1_000;

function toThinking(request: ChatRequest, target: Target, dropped: string[]): unknown {
  const reasoning = chat.readReasoning(request);
  if (reasoning === null) return null;
  if (target.facts?.reasoning === false) {
    if (reasoning.isOn) dropped.push(reasoning.parameter);
    return null;
  }
  dropped.push(...reasoning.dropped);
  if (!reasoning.isOn) return { type: "disabled" };
  const wanted = reasoning.budgetTokens ?? lookUp(budgetOfEffort, reasoning.effort ?? "") ?? null;
  const maxTokens = chat.maxTokensOf(request);
  if (maxTokens === null) return present({ type: "enabled", token_budget: wanted });
  const room = maxTokens - answerTokens;
  if (room < 1) {
    dropped.push(reasoning.parameter);
    return { type: "disabled" };
  }
  if (reasoning.budgetTokens !== null && reasoning.budgetTokens > room) dropped.push(reasoning.budgetParameter);
  return { type: "enabled", token_budget: Math.min(wanted ?? room, room) };
}

function toMessages(messages: readonly ChatMessage[], target: Target): readonly unknown[] {
  const all = chat.withToolCalls(messages).map((message, index) => ({ message, index }));
  const withText = all.filter(({ message }) => message.role !== "system" || chat.textOf(message.content) !== "");
  return (withText.length === 0 ? all : withText).map(({ message, index }) => {
    if (message.role === "assistant") return toAssistantMessage(message, target);
    if (message.role === "tool") {
      const content = toParts(message.content, index, toolParts);
      return { role: "tool", tool_call_id: message.tool_call_id, content };
    }
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
    const text = chat.textOfPart(part);
    if (text !== null) return { type: "text", text };
    const location = ["messages", messageIndex, "content", index];
    if (!allowed.has(part.type))
      throw chat.refuse(location, `Parts of type '${part.type}' are not supported here by this provider`);
    return part.type === "image_url" ? { type: "image_url", image_url: present(part.image_url) } : part;
  });
}

/** A reasoning model gets its thinking blocks back; any other model writes and accepts only a plan of its tool calls. */
function toAssistantMessage(message: ChatAssistantMessage, target: Target): unknown {
  const calls = (message.tool_calls ?? []).map((call) => ({
    id: call.id ?? "",
    type: "function",
    function: { name: call.function?.name ?? "", arguments: toArguments(call.function?.arguments ?? "") },
  }));
  const thoughts = chat.reasoningOf(message);
  const reasons = target.facts?.reasoning === true;
  const text = chat.textOf(message.content) || (message.refusal ?? "");
  const blocks: unknown[] = reasons ? thoughts.map((thought) => ({ type: "thinking", thinking: thought.text })) : [];
  if (text !== "") blocks.push({ type: "text", text });
  const isBare = blocks.length === 0 && calls.length === 0;
  const plan = !reasons && calls.length > 0 ? thoughts.map((thought) => thought.text).join("\n") : "";
  return {
    role: "assistant",
    ...(blocks.length > 0 ? { content: blocks } : isBare ? { content: "" } : {}),
    ...filled({ tool_calls: calls, tool_plan: plan }),
  };
}

/** The vendor documents the text of an object. Any other text that a model wrote becomes the member `input`. */
function toArguments(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    if (isObject(JSON.parse(text))) return text;
  } catch {
    // Handled below.
  }
  return JSON.stringify({ input: text });
}
