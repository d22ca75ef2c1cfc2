// Writes the request of POST /api/chat.

import type { ChatAssistantMessage, ChatMessage, ChatPart, ChatRequest } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, Target } from "../../dialect.ts";
import { asObject } from "../../lenient.ts";
import * as chat from "../chat-request.ts";
import { filled, present } from "../completion.ts";
import { malformedEscape, readDataUrl } from "../media.ts";

export function toOllamaRequest(request: ChatRequest, { model, isStream }: Target): DialectRequest {
  const dropped: string[] = [];
  const body = present({
    model,
    stream: isStream,
    messages: toMessages(request.messages),
    tools: toTools(request, dropped),
    format: request["format"] ?? toFormat(request),
    think: request["think"] ?? toThink(request, model, dropped),
    ...filled({ options: toOptions(request) }),
    keep_alive: request["keep_alive"],
    logprobs: request.logprobs,
    top_logprobs: request.top_logprobs,
  });
  if (request.parallel_tool_calls === false) dropped.push("parallel_tool_calls");
  return { path: "/api/chat", body: JSON.stringify(body), dropped, reading: { model, answerTool: null } };
}

/** The caller's own `options` take precedence. */
function toOptions(request: ChatRequest): object {
  return present({
    temperature: request.temperature,
    top_p: request.top_p,
    top_k: request["top_k"],
    min_p: request["min_p"],
    seed: request.seed,
    num_predict: chat.maxTokensOf(request),
    ...filled({ stop: chat.stopSequencesOf(request) }),
    presence_penalty: request.presence_penalty,
    frequency_penalty: request.frequency_penalty,
    ...asObject(request["options"]),
  });
}

function toFormat(request: ChatRequest): unknown {
  return chat.answerSchemaOf(request) ?? (request.response_format?.type === "json_object" ? "json" : null);
}

/** The vendor cannot require a call. To forbid calls, no tools are offered. */
function toTools(request: ChatRequest, dropped: string[]): unknown {
  const { functions, mode } = chat.readTools(request);
  if (functions.length === 0 || mode === "none") return null;
  if (mode === "required") dropped.push("tool_choice");
  return functions.map(chat.toFunctionTool);
}

// These models take a level and ignore true and false. Other models take true and false, and older servers refuse a level for them:
// https://docs.ollama.com/capabilities/thinking
const takesLevels = /(?:^|\/)gpt-oss\b/;
const levels: Readonly<Record<string, string>> = { minimal: "low", low: "low", medium: "medium" };

function toThink(request: ChatRequest, model: string, dropped: string[]): unknown {
  const reasoning = chat.readReasoning(request);
  if (reasoning === null) return null;
  dropped.push(...reasoning.dropped);
  if (!reasoning.isOn) return false;
  // The vendor has no budgets.
  if (reasoning.budgetTokens !== null) dropped.push(reasoning.budgetParameter);
  if (!takesLevels.test(model)) return reasoning.effort !== "minimal";
  return reasoning.effort === null ? "medium" : (lookUp(levels, reasoning.effort) ?? "high");
}

function toMessages(messages: readonly ChatMessage[]): readonly unknown[] {
  const toolNames = new Map<string, string>();
  return chat.withToolCalls(messages).map((message, index) => {
    const location = ["messages", index, "content"];
    if (message.role === "assistant") return toAssistantMessage(message, toolNames);
    if (message.role === "tool") {
      const { tool_call_id, content } = message;
      const tool_name = toolNames.get(tool_call_id);
      return present({ role: "tool", content: readText(content, location), tool_name, tool_call_id });
    }
    if (message.role !== "user") return { role: "system", content: readText(message.content ?? "", location) };
    const parts = typeof message.content === "string" ? [] : message.content;
    const images = parts.flatMap((part, position) => toImage(part, [...location, position]));
    return { role: "user", content: chat.textOf(message.content, "\n"), ...filled({ images }) };
  });
}

function readText(content: string | readonly ChatPart[], location: chat.Location): string {
  if (typeof content === "string") return content;
  const other = content.findIndex((part) => chat.textOfPart(part) === null);
  if (other < 0) return chat.textOf(content, "\n");
  throw chat.refuse([...location, other], "Only text is supported in this message by this provider");
}

/** Base64 without the head of the data URL. */
function toImage(part: ChatPart, location: chat.Location): readonly string[] {
  if (part.type === "text" || part.type === "refusal") return [];
  if (part.type !== "image_url")
    throw chat.refuse(location, `Parts of type '${part.type}' are not supported by this provider`);
  const read = readDataUrl(part.image_url.url);
  if (read === null) throw chat.refuse([...location, "image_url", "url"], "Input should be a data URL", "value_error");
  if (read.data === null) throw chat.refuse([...location, "image_url", "url"], malformedEscape, "value_error");
  return [read.data];
}

function toAssistantMessage(message: ChatAssistantMessage, toolNames: Map<string, string>): unknown {
  const calls = (message.tool_calls ?? []).map(({ id, function: called }) => {
    const name = called?.name ?? "";
    if (id) toolNames.set(id, name);
    return present({ id, function: { name, arguments: chat.toArgumentObject(called?.arguments ?? "", "input") } });
  });
  const thinking = chat.reasoningOf(message).map(({ text }) => text);
  return {
    role: "assistant",
    content: chat.textOf(message.content) || (message.refusal ?? ""),
    ...filled({ thinking: thinking.join("\n"), tool_calls: calls }),
  };
}
