// Turns in which the vendor ran tools of its own: the vendor continues such a turn only when it gets all of its blocks back as they
// were. Chat clients send back the text and what stands in `extra_content`, so the blocks go there.
// https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons (pause_turn)

import type { ChatAssistantMessage, ChatWebSearch } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { textOf } from "../chat-request.ts";
import type { Block } from "./media.ts";

/** All others belong to tools that the vendor runs. */
const plainTypes: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

export function hasServerBlock(blocks: readonly JsonObject[]): boolean {
  return blocks.some((block) => !plainTypes.has(block["type"]));
}

/** For `extra_content` of the message; null where its other members say all. */
export function toKeptTurn(blocks: readonly JsonObject[]): JsonObject | null {
  return hasServerBlock(blocks) ? { anthropic: { content: blocks } } : null;
}

/** The blocks of an earlier turn, unless the caller has changed its text or its calls since; null when there are none. */
export function readKeptTurn(message: ChatAssistantMessage): Block[] | null {
  const kept = message.extra_content?.["anthropic"] as { readonly content?: unknown } | null | undefined;
  if (!Array.isArray(kept?.content)) return null;
  const blocks = kept.content.filter(isBlock);
  if (!hasServerBlock(blocks)) return null;
  const texts = blocks.map((block) => (block.type === "text" ? String(block["text"] ?? "") : ""));
  const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block["id"]] : []));
  const given = (message.tool_calls ?? []).map(({ id }) => id);
  const isSame = squeeze(texts.join("")) === squeeze(textOf(message.content)) && Bun.deepEquals(calls, given);
  return isSame ? blocks.filter((block) => block.type !== "text" || squeeze(String(block["text"])) !== "") : null;
}

/** A search as chat callers are told of it; none for other blocks. */
export function toWebSearches({ type, name, id, input }: JsonObject): readonly ChatWebSearch[] {
  if (type !== "server_tool_use" || name !== "web_search") return [];
  const query = (input as JsonObject | null | undefined)?.["query"];
  return [{ id: String(id), query: typeof query === "string" ? query : "" }];
}

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && typeof (value as JsonObject)["type"] === "string";
}

/** Between two blocks a translation may have put white space. */
function squeeze(text: string): string {
  return text.replace(/\s+/g, "");
}
