// Adapts a translated request to one vendor of the chat format. Some vendors require members of the format that others reject; the
// provider's row declares which of them apply.

import type { ChatMessage, ChatPart, ChatRequest } from "../../contract/chat-format.ts";
import { lookUp } from "../../lib/look-up.ts";
import { findEffort } from "../../providers/chat-rules.ts";
import type { ChatRules } from "../../providers/provider.ts";
import { toCallerName } from "../caller-names.ts";
import type { TranslatedRequest } from "../translated-request.ts";

type Members = Record<string, unknown>;

/**
 * `top_k` has no substitute, so it is named as dropped. The other members that are left out have one: the effort replaces `thinking`, and
 * caches work without marks.
 */
export function toPlainChatRequest(own: TranslatedRequest, rules: ChatRules): TranslatedRequest {
  const { cache_control: _, top_k, ...request } = own.request;
  const dropped: string[] = top_k === undefined ? [] : ["top_k"];
  const members: Members = { ...request, ...rules.added };
  removeRefused(members, rules, dropped);
  setOutputLimit(members, rules);
  setReasoning(members, rules, dropped);
  if (request.tools) members["tools"] = request.tools.map(({ cache_control: _mark, ...tool }) => tool);
  const messages = request.messages.map((message) => toPlainMessage(message, rules));
  return {
    request: { ...(members as unknown as ChatRequest), messages },
    dropped: [...new Set([...own.dropped, ...dropped.map((name) => toCallerName(name, own.names))])],
    names: own.names,
  };
}

/** The defaults of every model: removing them changes nothing. */
const defaults: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};

function removeRefused(members: Members, { refused = [] }: ChatRules, dropped: string[]): void {
  for (const name of refused) {
    const value = members[name];
    delete members[name];
    if (value !== undefined && value !== null && value !== false && value !== lookUp(defaults, name))
      dropped.push(name);
  }
}

function setOutputLimit(members: Members, { outputLimit = "max_tokens" }: ChatRules): void {
  const { max_tokens: limit } = members;
  if (limit === undefined || outputLimit === "max_tokens") return;
  delete members["max_tokens"];
  members[outputLimit] = limit;
}

function setReasoning(members: Members, rules: ChatRules, dropped: string[]): void {
  const { thinking, reasoning_effort: requested } = members;
  delete members["thinking"];
  if (typeof requested !== "string") return;
  const isOff = requested === "none";
  if (rules.thinking) members["thinking"] = isOff ? rules.thinking.off : rules.thinking.on;
  if (rules.efforts === undefined) return;
  const effort = isOff && rules.thinking ? null : findEffort(requested, rules.efforts);
  if (effort === null) delete members["reasoning_effort"];
  else members["reasoning_effort"] = effort;
  const isExpressed = rules.thinking || (effort !== null && (effort === "none") === isOff);
  const neverReasons = isOff && rules.efforts.length === 0;
  if (!isExpressed && !neverReasons) dropped.push(thinking === undefined ? "reasoning_effort" : "thinking");
}

function toPlainMessage(message: ChatMessage, { reasoningReturn, missingReasoning }: ChatRules): ChatMessage {
  const { cache_control: _, reasoning_content, reasoning_details, ...plain } = { ...message } as Members;
  if (Array.isArray(message.content))
    plain["content"] = withoutMarks(message.content, message.role === "assistant" ? "" : "\n\n");
  if (message.role !== "assistant") return plain as unknown as ChatMessage;
  if (reasoningReturn === "reasoning_details" && reasoning_details !== undefined)
    plain["reasoning_details"] = reasoning_details;
  if (reasoningReturn === "reasoning_content") {
    const reasoning = reasoning_content || (message.tool_calls?.length ? missingReasoning : undefined);
    if (reasoning !== undefined) plain["reasoning_content"] = reasoning;
  }
  return plain as unknown as ChatMessage;
}

/** Joins texts into one string where no cache mark separates them: some providers accept text only as a string. */
function withoutMarks(parts: readonly ChatPart[], separator: string): string | ChatPart[] {
  if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join(separator);
  return parts.map((part) => {
    const { cache_control: _, ...plain } = part as ChatPart & { cache_control?: unknown };
    return plain as ChatPart;
  });
}
