// Writes the conversation as the vendor's system prompt and turns.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ReasoningDetail,
} from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import type { Path, TranslationReport } from "../../translation-report.ts";
import { markSystemText, textOfPart, toArgumentObject } from "../chat-request.ts";
import type { Generation } from "./generation.ts";
import { type Block, toFileBlock, toImageBlock } from "./media.ts";
import { readExtraContent } from "./server-tools.ts";
import type { ToolNames } from "./tool-names.ts";

export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly content: Block[];
}

export interface Conversation {
  readonly system: Block[];
  readonly turns: readonly Turn[];
}

/** What all parts of one translation share. */
export interface Context {
  readonly generation: Generation;
  readonly names: ToolNames;
  readonly report: TranslationReport;
}

/** Marks reasoning that only this vendor can read. */
export const reasoningFormat = "anthropic-claude-v1";

export function toConversation(messages: readonly ChatMessage[], context: Context): Conversation {
  const { generation, report } = context;
  const translation = new Translation(context);
  const system: Block[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const turn = translation.toTurn(message, ["messages", index]);
    if (turn.content.length === 0) continue;
    if (turn.role === "system" && turns.length === 0) system.push(...turn.content);
    else turns.push(turn);
  }
  // The vendor requires a turn: a request that has only instructions sends the last one as the user's.
  if (turns.length === 0 && system.length > 0) turns.push({ role: "user", content: system.splice(-1) });
  if (turns.length === 0) report.invalid(["messages"], "At least one message should have content");
  return { system, turns: placeSystemTurns(merge(turns), generation).map(withResultsFirst) };
}

/**
 * The vendor accepts a system turn between a user and an assistant turn, or after a final user turn. In other positions, and for models
 * without system turns, it becomes a marked user turn.
 */
function placeSystemTurns(turns: readonly Turn[], generation: Generation): readonly Turn[] {
  const placed = turns.map((turn, index): Turn => {
    if (turn.role !== "system") return turn;
    const next = turns[index + 1];
    const isPlaced = turns[index - 1]?.role === "user" && (next === undefined || next.role === "assistant");
    if (generation.takesSystemTurns && isPlaced) return turn;
    return { role: "user", content: turn.content.map(markAsSystem) };
  });
  return merge(placed);
}

function markAsSystem(block: Block): Block {
  return block.type === "text" ? { ...block, text: markSystemText(String(block["text"])) } : block;
}

function merge(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role === turn.role) last.content.push(...turn.content);
    else merged.push({ role: turn.role, content: [...turn.content] });
  }
  return merged;
}

/** The vendor requires the results of tools before the other content of their turn. */
function withResultsFirst(turn: Turn): Turn {
  if (turn.role !== "user") return turn;
  const isResult = (block: Block) => block.type === "tool_result";
  return { role: turn.role, content: [...turn.content.filter(isResult), ...turn.content.filter((b) => !isResult(b))] };
}

class Translation {
  readonly #names: ToolNames;
  readonly #report: TranslationReport;
  /** The id of the last `function_call`, whose result has no id. */
  #functionCallId = "";

  constructor({ names, report }: Context) {
    this.#names = names;
    this.#report = report;
  }

  toTurn(message: ChatMessage, path: Path): Turn {
    switch (message.role) {
      case "system":
      case "developer":
        return { role: "system", content: withMark(this.#toBlocks(message.content, []).filter(isText), message) };
      case "user":
        return { role: "user", content: withMark(this.#toBlocks(message.content, [...path, "content"]), message) };
      case "assistant":
        return { role: "assistant", content: withMark(this.#toAnswer(message, path), message) };
      case "tool":
        return { role: "user", content: [this.#toResult(message.tool_call_id, message, path)] };
      case "function":
        return { role: "user", content: [this.#toResult(this.#functionCallId, message, path)] };
    }
  }

  #toAnswer(message: ChatAssistantMessage, path: Path): Block[] {
    const earlier = readExtraContent(message);
    if (earlier !== null) return earlier;
    const blocks = (message.reasoning_details ?? []).flatMap(toThinking);
    blocks.push(...this.#toBlocks(message.content, [...path, "content"]));
    if (message.refusal && !blocks.some(isText)) blocks.push({ type: "text", text: message.refusal });
    for (const [index, call] of (message.tool_calls ?? []).entries()) {
      if (call.function === undefined || call.function === null) {
        this.#report.unsupported([...path, "tool_calls", index], "Only calls of functions are supported");
        continue;
      }
      blocks.push(this.#toCall(call.id || `call_${path[1]}_${index}`, call.function));
    }
    if (message.function_call) {
      this.#functionCallId = `call_${path[1]}`;
      blocks.push(this.#toCall(this.#functionCallId, message.function_call));
    }
    // The vendor refuses a turn that ends with thinking.
    return blocks.every(isThinking) ? [] : blocks;
  }

  #toCall(id: string, call: { readonly name: string; readonly arguments: string }): Block {
    const input = toArgumentObject(call.arguments, "arguments");
    return { type: "tool_use", id: toCallId(id), name: this.#names.toVendor(call.name), input };
  }

  #toResult(callId: string, message: Extract<ChatMessage, { role: "tool" | "function" }>, path: Path): Block {
    const content = this.#toBlocks(message.content, [...path, "content"]);
    const { is_error: isError, cache_control: mark } = message as unknown as JsonObject;
    return {
      type: "tool_result",
      tool_use_id: toCallId(callId),
      ...(content.length > 0 ? { content } : {}),
      ...(typeof isError === "boolean" ? { is_error: isError } : {}),
      ...(mark ? { cache_control: mark } : {}),
    };
  }

  #toBlocks(content: ChatContent | null | undefined, path: Path): Block[] {
    if (content === null || content === undefined) return [];
    if (typeof content === "string") return isBlank(content) ? [] : [{ type: "text", text: content }];
    return content.flatMap((part, index) => {
      const block = this.#toBlock(part, [...path, index]);
      if (block === null) return [];
      const { cache_control: mark } = part as unknown as JsonObject;
      return mark ? { ...block, cache_control: mark } : block;
    });
  }

  #toBlock(part: ChatPart, path: Path): Block | null {
    const text = textOfPart(part);
    if (text !== null) return isBlank(text) ? null : { type: "text", text };
    if (part.type === "image_url") return toImageBlock(part, path, this.#report);
    if (part.type === "file") return toFileBlock(part, path, this.#report);
    if (part.type === "input_audio") this.#report.unsupported(path, "This provider does not accept audio");
    return null;
  }
}

function isText(block: Block): boolean {
  return block.type === "text";
}

/** The vendor refuses texts without a visible character. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** A cache mark of the message moves to its last block. Thinking blocks cannot have one. */
function withMark(blocks: Block[], message: ChatMessage): Block[] {
  const { cache_control: mark } = message as unknown as JsonObject;
  const last = blocks.at(-1);
  if (!mark || last === undefined || isThinking(last)) return blocks;
  return [...blocks.slice(0, -1), { ...last, cache_control: mark }];
}

/** The vendor accepts only reasoning that it has signed. */
function toThinking(detail: ReasoningDetail & { readonly format?: string | null }): Block[] {
  if (detail.format && detail.format !== reasoningFormat) return [];
  if (detail.type === "reasoning.encrypted")
    return isBase64(detail.data) ? [{ type: "redacted_thinking", data: detail.data }] : [];
  if (detail.type !== "reasoning.text" || !isBase64(detail.signature)) return [];
  return [{ type: "thinking", thinking: detail.text, signature: detail.signature }];
}

/** Signatures of Claude are base64. Those of other vendors have a prefix and would be refused. */
export function isBase64(signature: string | undefined): signature is string {
  return signature !== undefined && /^[A-Za-z0-9+/_-]+=*$/.test(signature);
}

export function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** Ids of other vendors may have characters that this one refuses. */
function toCallId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
}
