// Turns in which the vendor ran tools of its own, such as a web search. The vendor continues such a turn only when it gets all blocks back
// unchanged. Chat clients send back the text and `extra_content`, so the blocks are in the latter.
// https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons (pause_turn)

import type { ChatAssistantMessage, ChatWebSearch } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asObject, asString, objectsIn } from "../../lenient.ts";
import { textOf } from "../chat-request.ts";
import type { Block } from "./media.ts";

/** Every other type belongs to a tool that the vendor runs. */
const plainTypes: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

export function hasServerBlock(blocks: readonly JsonObject[]): boolean {
  return blocks.some((block) => !plainTypes.has(block["type"]));
}

/** All blocks of the turn; null when the other members of the message are enough. */
export function toExtraContent(blocks: readonly JsonObject[]): JsonObject | null {
  return hasServerBlock(blocks) ? { anthropic: { content: blocks } } : null;
}

/** The blocks of an earlier turn; null when there are none, or when the caller has changed the text or the calls since. */
export function readExtraContent(message: ChatAssistantMessage): Block[] | null {
  const { content } = asObject(message.extra_content?.["anthropic"]);
  const blocks = objectsIn(content).filter((block): block is Block => typeof block["type"] === "string");
  if (!hasServerBlock(blocks)) return null;
  const texts = blocks.map((block) => (block.type === "text" ? asString(block["text"]) : ""));
  const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block["id"]] : []));
  const givenCalls = (message.tool_calls ?? []).map(({ id }) => id);
  const isSame = withoutSpace(texts.join("")) === withoutSpace(textOf(message.content));
  if (!isSame || !Bun.deepEquals(calls, givenCalls)) return null;
  return blocks.filter((block) => block.type !== "text" || withoutSpace(String(block["text"])) !== "");
}

/** Empty for any other block. */
export function toWebSearches({ type, name, id, input }: JsonObject): readonly ChatWebSearch[] {
  if (type !== "server_tool_use" || name !== "web_search") return [];
  return [{ id: String(id), query: asString(asObject(input)["query"]) }];
}

const codeTools: ReadonlySet<unknown> = new Set([
  "code_execution",
  "bash_code_execution",
  "text_editor_code_execution",
]);

/**
 * How often the vendor ran code, which the usage does not always state. Code is free together with the versions of the web tools that run it to
 * filter their results; a call to the web from code shows such a version.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool (usage and pricing)
 */
export function countCodeRuns(blocks: readonly JsonObject[]): { readonly runs: number; readonly isFree: boolean } {
  const calls = blocks.filter(({ type }) => type === "server_tool_use");
  return {
    runs: calls.filter(({ name }) => codeTools.has(name)).length,
    isFree: calls.some(({ name, caller }) => {
      const calledByCode = asString(asObject(caller)["type"]).startsWith("code_execution");
      return calledByCode && (name === "web_search" || name === "web_fetch");
    }),
  };
}

/** A translation may have added white space between two blocks. */
function withoutSpace(text: string): string {
  return text.replace(/\s+/g, "");
}
