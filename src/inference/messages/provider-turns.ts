// Cleans a conversation in which models of other providers took part, for a provider of the Messages format. Such a provider accepts only
// thinking that it signed itself, and no members that the gateway added for other providers. All other blocks stay unchanged.

import type { ContentBlock, MessagesRequest, MessagesTurn } from "../../contract/messages.ts";
import { readImageText } from "./image-text.ts";

/**
 * `replaced` contains the members of the request that change, as JSON; usually none. `dropped` names the members that the provider does not
 * receive as the caller sent them.
 */
export function toProviderTurns({ messages, thinking }: Pick<MessagesRequest, "messages" | "thinking">) {
  let isChanged = false;
  const dropped: string[] = [];
  const turns = messages.flatMap((turn) => {
    if (typeof turn.content === "string") return [turn];
    const before: readonly ContentBlock[] = turn.content;
    // An image that another model generated: the format has no place for it in a turn of the assistant.
    const hasImage = turn.role === "assistant" && before.some(isGeneratedImage);
    if (hasImage) dropped[0] = "messages.generated_image";
    const kept = hasImage ? before.filter((block) => !isGeneratedImage(block)) : before;
    const content = kept.flatMap(toProviderBlock);
    if (content.length === before.length && content.every((block, index) => block === before[index])) return [turn];
    isChanged = true;
    return content.length === 0 ? [] : [{ ...turn, content }];
  });
  const replaced = new Map<string, string>();
  if (!isChanged) return { replaced, dropped };
  replaced.set("messages", JSON.stringify(turns));
  // The provider rejects a thinking budget in the middle of calls that began without thinking.
  if (thinking?.type !== "enabled" || !beganWithoutThinking(turns)) return { replaced, dropped };
  replaced.set("thinking", '{"type":"disabled"}');
  return { replaced, dropped: [...dropped, "thinking"] };
}

function isGeneratedImage({ type, text }: ContentBlock): boolean {
  return type === "text" && typeof text === "string" && readImageText(text) !== null;
}

// Signatures and encrypted data of providers of this format are base64. Those that the gateway creates for other providers are empty, or
// contain a dot or a colon.
const base64 = /^[A-Za-z0-9+/_-]+=*$/;
const invalidInIds = /[^a-zA-Z0-9_-]/g;

function toProviderBlock(block: ContentBlock): readonly ContentBlock[] {
  switch (block.type) {
    case "thinking":
      return base64.test(String(block["signature"] ?? "")) ? [block] : [];
    case "redacted_thinking":
      return base64.test(String(block["data"])) ? [block] : [];
    case "tool_use": {
      const id = String(block["id"]).replace(invalidInIds, "_");
      if (id === block["id"] && !("extra_content" in block)) return [block];
      const { extra_content: _, ...own } = block;
      return [{ ...own, id } as ContentBlock];
    }
    case "tool_result": {
      const id = String(block["tool_use_id"]).replace(invalidInIds, "_");
      return id === block["tool_use_id"] ? [block] : [{ ...block, tool_use_id: id } as ContentBlock];
    }
    case "text": {
      const { citations, extra_content: extra, ...own } = block;
      const hasOurs = Array.isArray(citations) && citations.some(isOurs);
      if (!hasOurs && extra === undefined) return [block];
      return [(hasOurs ? own : { ...own, ...(citations !== undefined && { citations }) }) as ContentBlock];
    }
    default:
      return [block];
  }
}

/** A citation that the gateway created from an annotation. */
function isOurs(citation: unknown): boolean {
  return (citation as { encrypted_index?: unknown } | null)?.encrypted_index === "";
}

function beganWithoutThinking(turns: readonly MessagesTurn[]): boolean {
  const [before, last] = turns.slice(-2);
  if (last === undefined || firstTypeOf(last) !== "tool_result") return false;
  const began = firstTypeOf(before);
  return began !== "thinking" && began !== "redacted_thinking";
}

function firstTypeOf(turn: MessagesTurn | undefined): string | undefined {
  return turn === undefined || typeof turn.content === "string" ? undefined : turn.content[0]?.type;
}
