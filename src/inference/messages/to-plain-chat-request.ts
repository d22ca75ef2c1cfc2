// A translated request without what not every provider of the chat format takes. The format has grown members that some of
// its providers read and others refuse; which of them a provider reads is a property of its row.

import type { ChatMessage, ChatPart, ChatRequest } from "../../contract/chat-format.ts";
import type { TranslatedRequest } from "./from-messages-request.ts";

export type ChatExtension = "thinking" | "top_k" | "cache_control" | "reasoning_content" | "reasoning_details";

const requestExtensions: readonly ChatExtension[] = ["thinking", "top_k", "cache_control"];

/**
 * `top_k` has no substitute, so it is named as dropped. The others have one: the effort stands for `thinking`, caches work
 * without marks, and reasoning is the model's own affair.
 */
export function toPlainChatRequest(
  { request, dropped }: TranslatedRequest,
  kept: ReadonlySet<ChatExtension>,
): TranslatedRequest {
  const plain: Record<string, unknown> = { ...request };
  const missing = requestExtensions.filter((member) => !kept.has(member));
  for (const member of missing) delete plain[member];
  if (!kept.has("cache_control") && request.tools)
    plain["tools"] = request.tools.map(({ cache_control: _, ...tool }) => tool);
  const messages = request.messages.map((message) => toPlainMessage(message, kept));
  return {
    request: { ...(plain as ChatRequest), messages },
    dropped: "top_k" in request && !kept.has("top_k") ? [...dropped, "top_k"] : dropped,
  };
}

function toPlainMessage(message: ChatMessage, kept: ReadonlySet<ChatExtension>): ChatMessage {
  const plain: Record<string, unknown> = { ...message };
  if (!kept.has("reasoning_content")) delete plain["reasoning_content"];
  if (!kept.has("reasoning_details")) delete plain["reasoning_details"];
  if (Array.isArray(message.content) && !kept.has("cache_control"))
    plain["content"] = withoutMarks(message.content, message.role === "assistant" ? "" : "\n\n");
  return plain as unknown as ChatMessage;
}

/** Without marks nothing keeps texts apart, and there are providers that take text as a string only. */
function withoutMarks(parts: readonly ChatPart[], separator: string): string | ChatPart[] {
  if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join(separator);
  return parts.map((part) => {
    const { cache_control: _, ...plain } = part as ChatPart & { cache_control?: unknown };
    return plain as ChatPart;
  });
}
