// The conversation: chat messages as the vendor's system prompt and turns.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ReasoningDetail,
} from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import type { TranslationReport } from "../../translation-report.ts";
import type { Generation } from "./generation.ts";
import { type Block, toFileBlock, toImageBlock } from "./media.ts";
import { readKeptTurn } from "./server-tools.ts";
import type { ToolNames } from "./tool-names.ts";

export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly content: Block[];
}

export interface Conversation {
  readonly system: Block[];
  readonly turns: readonly Turn[];
}

type Place = readonly (string | number)[];

/** Says which vendor's blocks the reasoning of a message is made of: nobody else can read them. */
export const reasoningFormat = "anthropic-claude-v1";

export function toConversation(
  messages: readonly ChatMessage[],
  generation: Generation,
  names: ToolNames,
  report: TranslationReport,
): Conversation {
  const translation = new Translation(names, report);
  const system: Block[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const turn = translation.toTurn(message, ["messages", index]);
    if (turn.content.length === 0) continue;
    if (turn.role === "system" && turns.length === 0) system.push(...turn.content);
    else turns.push(turn);
  }
  // The vendor wants at least one turn: instructions alone are the question.
  if (turns.length === 0 && system.length > 0) turns.push({ role: "user", content: system.splice(-1) });
  if (turns.length === 0) report.invalid(["messages"], "At least one message should have content");
  return { system, turns: placeSystemTurns(merge(turns), generation).map(withResultsFirst) };
}

/**
 * A system turn stands after one of the user and before one of the assistant, or last; elsewhere, and where the model
 * knows none, its words are the user's, marked.
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
  return block.type === "text" ? { ...block, text: `<system_message>\n${block["text"]}\n</system_message>` } : block;
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

/** Results of tools have to stand before everything else of their turn. */
function withResultsFirst(turn: Turn): Turn {
  if (turn.role !== "user") return turn;
  const isResult = (block: Block) => block.type === "tool_result";
  return { role: turn.role, content: [...turn.content.filter(isResult), ...turn.content.filter((b) => !isResult(b))] };
}

class Translation {
  readonly #names: ToolNames;
  readonly #report: TranslationReport;
  /** Of the last call made in the old way, whose result names no call. */
  #functionCallId = "";

  constructor(names: ToolNames, report: TranslationReport) {
    this.#names = names;
    this.#report = report;
  }

  toTurn(message: ChatMessage, place: Place): Turn {
    switch (message.role) {
      case "system":
      case "developer":
        return { role: "system", content: withMark(this.#toTexts(message.content), message) };
      case "user":
        return { role: "user", content: withMark(this.#toBlocks(message.content, [...place, "content"]), message) };
      case "assistant":
        return { role: "assistant", content: withMark(this.#toAnswer(message, place), message) };
      case "tool":
        return { role: "user", content: [this.#toResult(message.tool_call_id, message, place)] };
      case "function":
        return { role: "user", content: [this.#toResult(this.#functionCallId, message, place)] };
    }
  }

  #toAnswer(message: ChatAssistantMessage, place: Place): Block[] {
    const kept = readKeptTurn(message);
    if (kept !== null) return kept;
    const blocks = (message.reasoning_details ?? []).flatMap(toThinking);
    blocks.push(...this.#toBlocks(message.content, [...place, "content"]));
    if (message.refusal && blocks.every((block) => block.type !== "text"))
      blocks.push({ type: "text", text: message.refusal });
    for (const [index, call] of (message.tool_calls ?? []).entries()) {
      if (call.function === undefined || call.function === null) {
        this.#report.unsupported([...place, "tool_calls", index], "Only calls of functions are supported");
        continue;
      }
      blocks.push(this.#toCall(call.id || `call_${place[1]}_${index}`, call.function));
    }
    if (message.function_call) {
      this.#functionCallId = `call_${place[1]}`;
      blocks.push(this.#toCall(this.#functionCallId, message.function_call));
    }
    // The vendor refuses a turn that ends with thinking.
    return blocks.every(isThinking) ? [] : blocks;
  }

  #toCall(id: string, call: { readonly name: string; readonly arguments: string }): Block {
    return {
      type: "tool_use",
      id: toCallId(id),
      name: this.#names.toVendor(call.name),
      input: toInput(call.arguments),
    };
  }

  #toResult(callId: string, message: Extract<ChatMessage, { role: "tool" | "function" }>, place: Place): Block {
    const content = this.#toBlocks(message.content, [...place, "content"]);
    const { is_error: isError, cache_control: mark } = message as unknown as JsonObject;
    return {
      type: "tool_result",
      tool_use_id: toCallId(callId),
      ...(content.length > 0 ? { content } : {}),
      ...(typeof isError === "boolean" ? { is_error: isError } : {}),
      ...(mark ? { cache_control: mark } : {}),
    };
  }

  #toTexts(content: ChatContent): Block[] {
    return this.#toBlocks(content, []).filter((block) => block.type === "text");
  }

  #toBlocks(content: ChatContent | null | undefined, place: Place): Block[] {
    if (content === null || content === undefined) return [];
    if (typeof content === "string") return isBlank(content) ? [] : [{ type: "text", text: content }];
    return content.flatMap((part, index) => {
      const block = this.#toBlock(part, [...place, index]);
      if (block === null) return [];
      const { cache_control: mark } = part as unknown as JsonObject;
      return mark ? { ...block, cache_control: mark } : block;
    });
  }

  #toBlock(part: ChatPart, place: Place): Block | null {
    switch (part.type) {
      case "text":
        return isBlank(part.text) ? null : { type: "text", text: part.text };
      case "refusal":
        return isBlank(part.refusal) ? null : { type: "text", text: part.refusal };
      case "image_url":
        return toImageBlock(part, place, this.#report);
      case "file":
        return toFileBlock(part, place, this.#report);
      case "input_audio":
        this.#report.unsupported(place, "This provider does not take audio");
        return null;
    }
  }
}

/** The vendor refuses texts without a visible character. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** A mark on the message stands for one on its last block. Thinking carries none. */
function withMark(blocks: Block[], message: ChatMessage): Block[] {
  const { cache_control: mark } = message as unknown as JsonObject;
  const last = blocks.at(-1);
  if (!mark || last === undefined || isThinking(last)) return blocks;
  return [...blocks.slice(0, -1), { ...last, cache_control: mark }];
}

/** Only what the vendor has signed is taken back. */
function toThinking(detail: ReasoningDetail & { readonly format?: string | null }): Block[] {
  if (detail.format && detail.format !== reasoningFormat) return [];
  if (detail.type === "reasoning.encrypted")
    return isBase64(detail.data) ? [{ type: "redacted_thinking", data: detail.data }] : [];
  if (detail.type !== "reasoning.text" || !isBase64(detail.signature)) return [];
  return [{ type: "thinking", thinking: detail.text, signature: detail.signature }];
}

/** What this maker's models sign is base64. Other vendors' signatures are marked, and not: the vendor would refuse them. */
export function isBase64(signature: string | undefined): signature is string {
  return signature !== undefined && /^[A-Za-z0-9+/_-]+=*$/.test(signature);
}

export function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** Other vendors' ids hold characters that this one refuses. */
function toCallId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
}

/** The vendor takes an object only; models do write other things, and the next turn should not fail for it. */
function toInput(text: string): JsonObject {
  if (isBlank(text)) return {};
  let input: unknown = text;
  try {
    input = JSON.parse(text);
  } catch {
    // Passed on as the text that it is.
  }
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as JsonObject;
  return { arguments: input };
}
