// From the chat format to POST /api/chat.

import type { ChatAssistantMessage, ChatMessage, ChatPart, ChatRequest } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, Target } from "../../dialect.ts";
import { asObject } from "../../lenient.ts";
import {
  answerSchemaOf,
  askedReasoning,
  askedTools,
  type Location,
  refuse,
  stopWordsOf,
  textOf,
  thoughtsOf,
  tokenCapOf,
  withoutFunctionCalls,
} from "../asked.ts";
import { present } from "../new-answer.ts";

export function toOllamaRequest(request: ChatRequest, target: Target): DialectRequest {
  const dropped: string[] = [];
  const options = toOptions(request);
  const body = present({
    model: target.model,
    stream: target.isStream,
    messages: toMessages(request.messages),
    tools: toTools(request, dropped),
    format: toFormat(request),
    think: request["think"] ?? toThink(request, target),
    options: Object.keys(options).length > 0 ? options : null,
    keep_alive: request["keep_alive"],
    logprobs: request.logprobs,
    top_logprobs: request.top_logprobs,
  });
  if (request.parallel_tool_calls === false) dropped.push("parallel_tool_calls");
  return {
    path: "/api/chat",
    body: JSON.stringify(body),
    dropped,
    reading: { model: target.model, answerTool: null },
  };
}

/** The caller's `options` are the vendor's own words, so they win. */
function toOptions(request: ChatRequest): Record<string, unknown> {
  return present({
    temperature: request.temperature,
    top_p: request.top_p,
    top_k: request["top_k"],
    min_p: request["min_p"],
    seed: request.seed,
    num_predict: tokenCapOf(request),
    stop: stopWordsOf(request),
    presence_penalty: request.presence_penalty,
    frequency_penalty: request.frequency_penalty,
    ...asObject(request["options"]),
  });
}

function toFormat(request: ChatRequest): unknown {
  if (request["format"] !== undefined && request["format"] !== null) return request["format"];
  return answerSchemaOf(request) ?? (request.response_format?.type === "json_object" ? "json" : null);
}

/** A call cannot be demanded. That none is wanted is told by offering no tools. */
function toTools(request: ChatRequest, dropped: string[]): unknown {
  const { functions, mode } = askedTools(request);
  if (functions.length === 0 || mode === "none") return null;
  if (mode === "required") dropped.push("tool_choice");
  return functions.map(({ name, description, parameters }) => ({
    type: "function",
    function: present({ name, description, parameters: parameters ?? { type: "object", properties: {} } }),
  }));
}

// These take a level and pass a plain true or false by. Others take true or false, and older servers refuse them a level:
// https://docs.ollama.com/capabilities/thinking
const takesLevels = /(?:^|\/)gpt-oss\b/;
const levels: Readonly<Record<string, string>> = { minimal: "low", low: "low", medium: "medium" };

function toThink(request: ChatRequest, target: Target): unknown {
  const asked = askedReasoning(request);
  if (asked === null) return null;
  if (!asked.isOn) return false;
  if (takesLevels.test(target.model))
    return asked.effort === null ? "medium" : (lookUp(levels, asked.effort) ?? "high");
  return asked.effort !== "minimal";
}

function toMessages(messages: readonly ChatMessage[]): readonly unknown[] {
  const names = new Map<string, string>();
  return withoutFunctionCalls(messages).map((message, index) => {
    if (message.role === "assistant") return toAssistantMessage(message, names);
    if (message.role === "tool") {
      const content = textOnly(message.content, ["messages", index]);
      const toolName = names.get(message.tool_call_id);
      return present({ role: "tool", content, tool_name: toolName, tool_call_id: message.tool_call_id });
    }
    if (message.role === "user") {
      const parts = typeof message.content === "string" ? [] : message.content;
      const images = parts.flatMap((part, at) => toImage(part, ["messages", index, "content", at]));
      const content = textOf(message.content, "\n");
      return { role: "user", content, ...(images.length > 0 ? { images } : {}) };
    }
    return { role: "system", content: textOnly(message.content ?? "", ["messages", index]) };
  });
}

function textOnly(content: string | readonly ChatPart[], location: Location): string {
  if (typeof content === "string") return content;
  const other = content.findIndex((part) => part.type !== "text" && part.type !== "refusal");
  if (other >= 0)
    throw refuse([...location, "content", other], "Only text is supported in this message by this provider");
  return textOf(content, "\n");
}

/** Bare base64, as it stands in a data URL. */
function toImage(part: ChatPart, location: Location): readonly string[] {
  if (part.type === "text" || part.type === "refusal") return [];
  if (part.type !== "image_url")
    throw refuse(location, `Parts of type '${part.type}' are not supported by this provider`);
  const match = /^data:([^,]*),/i.exec(part.image_url.url);
  if (match === null) throw refuse([...location, "image_url", "url"], "Input should be a data URL", "value_error");
  const data = part.image_url.url.slice(match[0].length);
  return [/;base64$/i.test(match[1] ?? "") ? data : Buffer.from(decodeURIComponent(data)).toString("base64")];
}

function toAssistantMessage(message: ChatAssistantMessage, names: Map<string, string>): unknown {
  const calls = (message.tool_calls ?? []).map((call) => {
    const name = call.function?.name ?? "";
    if (call.id) names.set(call.id, name);
    return present({ id: call.id, function: { name, arguments: toArguments(call.function?.arguments ?? "") } });
  });
  const thinking = thoughtsOf(message)
    .map((thought) => thought.text)
    .join("\n");
  return {
    role: "assistant",
    content: textOf(message.content) || (message.refusal ?? ""),
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** Arguments are an object here. What a model wrote instead is kept under a name of its own. */
function toArguments(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : value === null ? {} : { input: value };
  } catch {
    return { input: text };
  }
}
