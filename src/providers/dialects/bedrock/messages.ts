// Writes the conversation for Converse: the system texts apart, alternating turns of user and assistant, tool results in the user's turns.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html

import { createHash } from "node:crypto";
import type { ChatAssistantMessage, ChatContent, ChatMessage, ChatPart } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import type { JsonObject } from "../../dialect.ts";
import { isBase64, reasoningFormat } from "../anthropic/messages.ts";
import {
  type Location,
  placeSystemMessages,
  refuse,
  textOf,
  textOfPart,
  toArgumentObject,
  withToolCalls,
} from "../chat-request.ts";
import { type DocumentNames, toMediaBlock } from "./media.ts";
import type { ModelTraits } from "./models.ts";

export interface Conversation {
  readonly system: readonly JsonObject[];
  readonly messages: readonly Turn[];
  /** The names of the tools that the conversation has called. */
  readonly usedNames: ReadonlySet<string>;
  /** Whether the last turn has results of calls that came without signed thoughts. */
  readonly lacksThoughts: boolean;
  readonly sendsThoughts: boolean;
  /** Members of messages that could not be expressed, by dotted names. */
  readonly dropped: ReadonlySet<string>;
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: JsonObject[];
}

// Texts that the service requires where the caller has none.
const textBesideDocument = "See the attached document.";
const openingText = "Continue.";
const noOutput = "(no output)";

export function toConversation(messages: readonly ChatMessage[], traits: ModelTraits): Conversation {
  const writer = new ConversationWriter(traits);
  withToolCalls(placeSystemMessages(messages)).forEach((message, index) => {
    writer.add(message, ["messages", index]);
  });
  return writer.finish();
}

class ConversationWriter {
  readonly #traits: ModelTraits;
  readonly #system: JsonObject[] = [];
  readonly #turns: Turn[] = [];
  #lastTurnHasResults = false;
  readonly #documentNames: DocumentNames = new Set();
  readonly #usedNames = new Set<string>();
  readonly #dropped = new Set<string>();
  #hasSignedThoughts = false;

  constructor(traits: ModelTraits) {
    this.#traits = traits;
  }

  add(message: ChatMessage, location: Location): void {
    const mark = this.#toMark(message);
    switch (message.role) {
      case "system":
      case "developer":
        this.#system.push(...this.#closed(this.#toBlocks(message.content, location), mark));
        return;
      case "assistant":
        this.#append("assistant", this.#closed(this.#toAssistantBlocks(message, location), mark));
        return;
      case "tool": {
        const result = this.#toToolResult(message.content, message.tool_call_id, location, message);
        this.#append("user", this.#closed([result], mark));
        return;
      }
      case "user":
        this.#append("user", this.#closed(this.#toBlocks(message.content, location), mark));
        return;
      case "function":
        return;
    }
  }

  finish(): Conversation {
    const turns = this.#turns;
    // The service requires a turn: a request that has only instructions sends them as the user's.
    if (turns.length === 0 && this.#system.length > 0) turns.push({ role: "user", content: this.#system.splice(0) });
    if (turns.length === 0) throw refuse(["messages"], "At least one message should have content", "value_error");
    if (turns[0]?.role === "assistant" && !this.#traits.mayBeginWithAssistant)
      turns.unshift({ role: "user", content: [{ text: openingText }] });
    for (const { content } of turns)
      if (hasBlock(content, "document") && !hasBlock(content, "text")) content.push({ text: textBesideDocument });
    const last = turns.at(-1);
    if (last?.role === "assistant") trimEnd(last.content);
    const answersCalls = last !== undefined && hasBlock(last.content, "toolResult");
    return {
      system: this.#system,
      messages: turns,
      usedNames: this.#usedNames,
      sendsThoughts: turns.some(({ content }) => hasBlock(content, "reasoningContent")),
      lacksThoughts: answersCalls && !this.#hasSignedThoughts,
      dropped: this.#dropped,
    };
  }

  #append(role: Turn["role"], blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    if (last === undefined || last.role !== role) {
      this.#turns.push({ role, content: [...blocks] });
      this.#lastTurnHasResults = false;
    } else if (this.#mayJoinLastTurn(blocks)) last.content.push(...blocks);
    else this.#appendToResult(last.content, blocks);
    this.#lastTurnHasResults ||= hasBlock(blocks, "toolResult");
  }

  /** The service joins two turns of one role and refuses the result, so content after tool results becomes part of the last result. */
  #appendToResult(turn: readonly JsonObject[], blocks: readonly JsonObject[]): void {
    const result = turn.findLast((block) => isObject(block["toolResult"]))?.["toolResult"];
    if (!isObject(result)) return;
    const content = result["content"] as JsonObject[];
    for (const block of blocks) if (block["cachePoint"] === undefined) content.push(this.#toResultBlock(block));
  }

  /** Marks a user message, to separate it from the output of the tool. */
  #toResultBlock(block: JsonObject): JsonObject {
    const { text } = block;
    if (typeof text !== "string") return block;
    return this.#traits.toolResultForm === "json"
      ? { json: { user_message: text } }
      : { text: `<user_message>\n${text}\n</user_message>` };
  }

  #mayJoinLastTurn(blocks: readonly JsonObject[]): boolean {
    if (!this.#lastTurnHasResults || blocks.every((block) => block["toolResult"] !== undefined)) return true;
    const { besideToolResults } = this.#traits;
    if (besideToolResults !== "no documents") return besideToolResults === "everything";
    return !hasBlock(blocks, "document") && !hasBlock(blocks, "video");
  }

  #toMark(marked: object): JsonObject | null {
    const control = memberOf(marked, "cache_control");
    const mark = toCachePoint(control, this.#traits);
    if (mark === null && isObject(control)) this.#dropped.add("cache_control");
    return mark;
  }

  #closed(blocks: JsonObject[], mark: JsonObject | null): JsonObject[] {
    if (mark !== null && blocks.length > 0 && blocks.at(-1)?.["cachePoint"] === undefined) blocks.push(mark);
    return blocks;
  }

  #toBlocks(content: ChatContent | null | undefined, location: Location): JsonObject[] {
    if (content === null || content === undefined) return [];
    if (typeof content === "string") return content.trim() === "" ? [] : [{ text: content }];
    const blocks: JsonObject[] = [];
    content.forEach((part, index) => {
      const block = this.#toBlock(part, [...location, "content", index]);
      if (block === null) return;
      blocks.push(block);
      const mark = this.#toMark(part);
      if (mark !== null) blocks.push(mark);
    });
    return blocks;
  }

  /** Null for empty text, which the service refuses. */
  #toBlock(part: ChatPart, location: Location): JsonObject | null {
    const text = textOfPart(part);
    if (text !== null) return text.trim() === "" ? null : { text };
    if (part.type === "image_url" || part.type === "input_audio" || part.type === "file")
      return toMediaBlock(part, location, this.#documentNames);
    throw refuse([...location, "type"], "This kind of content is not supported by this provider");
  }

  #toAssistantBlocks(message: ChatAssistantMessage, location: Location): JsonObject[] {
    const thoughts = toThoughts(message, this.#traits);
    if (!this.#traits.isKnown && thoughts.length < (message.reasoning_details?.length ?? 0))
      this.#dropped.add("messages.reasoning_details");
    const blocks = [...thoughts, ...this.#toBlocks(message.content ?? message.refusal, location)];
    const calls = message.tool_calls ?? [];
    if (calls.length > 0) this.#hasSignedThoughts = thoughts.length > 0;
    calls.forEach((call, index) => {
      if (!call.function)
        throw refuse([...location, "tool_calls", index], "Only calls of functions are supported", "value_error");
      const { name, arguments: text } = call.function;
      this.#usedNames.add(name);
      const input = toArgumentObject(text, "arguments");
      blocks.push({ toolUse: { toolUseId: this.#toId(call.id ?? name), name, input } });
    });
    return blocks;
  }

  #toToolResult(content: ChatContent, id: string, location: Location, message: ChatMessage): JsonObject {
    const all = this.#toBlocks(content, location).filter((block) => block["cachePoint"] === undefined);
    const media = all.filter((block) => block["text"] === undefined);
    const blocks = this.#traits.toolResultForm === "json" ? [{ json: parseResult(textOf(content)) }, ...media] : all;
    const status = memberOf(message, "is_error") === true ? { status: "error" } : {};
    const filled = blocks.length === 0 ? [{ text: noOutput }] : blocks;
    return { toolResult: { toolUseId: this.#toId(id), content: filled, ...status } };
  }

  /** Ids of an earlier provider may have a form that this model refuses. */
  #toId(id: string): string {
    if (this.#traits.toolCallId.test(id)) return id;
    return createHash("sha256").update(id).digest("hex").slice(0, 9);
  }
}

/** `ttl` is left out at its default, and for models that do not support it. */
export function toCachePoint(mark: unknown, { cache }: ModelTraits): JsonObject | null {
  if (!isObject(mark) || cache === "none") return null;
  const ttl = mark["ttl"] === "1h" && cache === "1h" ? { ttl: "1h" } : {};
  return { cachePoint: { type: "default", ...ttl } };
}

/** Most models refuse thoughts without their own signature, and do not need them. */
function toThoughts(message: ChatAssistantMessage, { takesThoughts }: ModelTraits): JsonObject[] {
  if (takesThoughts === "none") return [];
  if (takesThoughts === "unsigned") return toUnsignedThoughts(message);
  // Claude also reads what it wrote on its maker's own platform. Details of this service have no format.
  const knownFormat = takesThoughts === "signed" ? reasoningFormat : null;
  return (message.reasoning_details ?? []).flatMap((detail): JsonObject[] => {
    if (detail.format && detail.format !== knownFormat) return [];
    if (detail.type === "reasoning.encrypted")
      return isBase64(detail.data) ? [{ reasoningContent: { redactedContent: detail.data } }] : [];
    if (detail.type !== "reasoning.text") return [];
    const isSigned = isBase64(detail.signature);
    if (!isSigned && takesThoughts === "signed") return [];
    const signature = isSigned ? { signature: detail.signature } : {};
    return [{ reasoningContent: { reasoningText: { text: detail.text ?? "", ...signature } } }];
  });
}

/** A signed thought comes from another model. Clients without `reasoning_details` send the plain text. */
function toUnsignedThoughts(message: ChatAssistantMessage): JsonObject[] {
  const { reasoning_content: plain, reasoning_details: details } = message;
  const texts = details?.length
    ? details.flatMap((detail) => (detail.type === "reasoning.text" && !detail.signature ? [detail.text ?? ""] : []))
    : [plain ?? ""];
  return texts.flatMap((text) => (text === "" ? [] : [{ reasoningContent: { reasoningText: { text } } }]));
}

function parseResult(text: string): JsonObject {
  return text.trim() === "" ? { result: text } : toArgumentObject(text, "result");
}

function hasBlock(content: readonly JsonObject[], kind: string): boolean {
  return content.some((block) => block[kind] !== undefined);
}

/** The service refuses white space at the end of an answer to be continued. */
function trimEnd(content: JsonObject[]): void {
  const at = content.findLastIndex((block) => block["text"] !== undefined);
  const text = content[at]?.["text"];
  if (typeof text === "string" && at === content.length - 1) content[at] = { text: text.trimEnd() };
}

function memberOf(value: object, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}
