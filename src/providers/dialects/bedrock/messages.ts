// The conversation as Converse wants it: system texts apart, turns of user and assistant in alternation, results of tools in
// the user's. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html

import { createHash } from "node:crypto";
import type {
  CacheMark,
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ChatRequest,
} from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import type { JsonObject } from "../../dialect.ts";
import { isBase64 } from "../anthropic/messages.ts";
import { type Location, refuse, textOf, withToolCalls } from "../chat-request.ts";
import { type DocumentNames, toMediaBlock } from "./media.ts";
import type { ModelTraits } from "./models.ts";

export interface Conversation {
  readonly system: readonly JsonObject[];
  readonly messages: readonly Turn[];
  /** The tools that were called in it. */
  readonly usedNames: ReadonlySet<string>;
  /** Whether the last turn answers calls that came without signed thoughts. */
  readonly lacksThoughts: boolean;
  /** Members of messages that found no place, by dotted names. */
  readonly dropped: ReadonlySet<string>;
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: JsonObject[];
}

// Demanded where the caller has nothing to say; the words are ours, so they are few.
const wordsBesideDocument = "See the attached document.";
const wordsToBegin = "Continue.";
const noOutput = "(no output)";

export function toConversation(request: ChatRequest, traits: ModelTraits): Conversation {
  const writer = new ConversationWriter(traits);
  withToolCalls(request.messages).forEach((message, index) => {
    writer.add(message, ["messages", index]);
  });
  return writer.finish();
}

class ConversationWriter {
  readonly #traits: ModelTraits;
  readonly #system: JsonObject[] = [];
  readonly #turns: Turn[] = [];
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
        this.#system.push(...this.#closed(this.#toTexts(message.content, location), mark));
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
    // The service wants at least one turn: instructions alone are the question.
    if (turns.length === 0 && this.#system.length > 0) turns.push({ role: "user", content: this.#system.splice(0) });
    if (turns.length === 0) throw refuse(["messages"], "There is nothing to answer in the messages", "value_error");
    if (turns[0]?.role === "assistant" && !this.#traits.mayBeginWithAssistant)
      turns.unshift({ role: "user", content: [{ text: wordsToBegin }] });
    for (const { content } of turns)
      if (hasBlock(content, "document") && !hasBlock(content, "text")) content.push({ text: wordsBesideDocument });
    const last = turns.at(-1);
    if (last?.role === "assistant") trimEnd(last.content);
    const answersCalls = last !== undefined && hasBlock(last.content, "toolResult");
    return {
      system: this.#system,
      messages: turns,
      usedNames: this.#usedNames,
      lacksThoughts: answersCalls && !this.#hasSignedThoughts,
      dropped: this.#dropped,
    };
  }

  #append(role: Turn["role"], blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    if (last === undefined || last.role !== role) {
      this.#turns.push({ role, content: [...blocks] });
      return;
    }
    if (this.#mayStandTogether(last.content, blocks)) {
      last.content.push(...blocks);
      return;
    }
    this.#putIntoResult(last.content, blocks);
  }

  /**
   * Two turns of one role would be joined by the service and then refused, and words that the model never said may not stand
   * between them: what follows the results of tools goes into the last result.
   */
  #putIntoResult(turn: JsonObject[], blocks: readonly JsonObject[]): void {
    const at = turn.findLastIndex((block) => isObject(block["toolResult"]));
    const result = turn[at]?.["toolResult"];
    if (!isObject(result)) return;
    const added = blocks
      .filter((block) => block["cachePoint"] === undefined)
      .map((block) => this.#toResultBlock(block));
    turn[at] = { toolResult: { ...result, content: [...(result["content"] as readonly JsonObject[]), ...added] } };
  }

  /** What the user said, told apart from what the tool gave back. */
  #toResultBlock(block: JsonObject): JsonObject {
    const { text } = block;
    if (typeof text !== "string") return block;
    return this.#traits.toolResultForm === "json"
      ? { json: { user_message: text } }
      : { text: `<user_message>\n${text}\n</user_message>` };
  }

  #mayStandTogether(earlier: readonly JsonObject[], later: readonly JsonObject[]): boolean {
    if (!hasBlock(earlier, "toolResult") || later.every((block) => block["toolResult"] !== undefined)) return true;
    switch (this.#traits.besideToolResults) {
      case "everything":
        return true;
      case "no documents":
        return !hasBlock(later, "document") && !hasBlock(later, "video");
      case "nothing":
        return false;
    }
  }

  #toMark(marked: object): JsonObject | null {
    const given = memberOf(marked, "cache_control");
    const mark = toCachePoint(given, this.#traits);
    if (mark === null && isObject(given)) this.#dropped.add("cache_control");
    return mark;
  }

  #closed(blocks: JsonObject[], mark: JsonObject | null): JsonObject[] {
    if (mark !== null && blocks.length > 0 && blocks.at(-1)?.["cachePoint"] === undefined) blocks.push(mark);
    return blocks;
  }

  #toTexts(content: ChatContent, location: Location): JsonObject[] {
    if (typeof content !== "string")
      content.forEach((part, index) => {
        if (part.type !== "text")
          throw refuse([...location, "content", index, "type"], "System messages hold text only", "value_error");
      });
    return this.#toBlocks(content, location);
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

  /** Null for empty text, which is refused. */
  #toBlock(part: ChatPart, location: Location): JsonObject | null {
    switch (part.type) {
      case "text":
        return part.text.trim() === "" ? null : { text: part.text };
      case "refusal":
        return part.refusal.trim() === "" ? null : { text: part.refusal };
      case "image_url":
      case "input_audio":
      case "file":
        return toMediaBlock(part, location, this.#documentNames);
      default:
        throw refuse([...location, "type"], "This kind of content is not supported by this provider");
    }
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
      blocks.push({ toolUse: { toolUseId: this.#toId(call.id ?? name), name, input: parseInput(text) } });
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

  /** Ids come from whoever answered before, and may be in another form than this model takes. */
  #toId(id: string): string {
    if (this.#traits.toolCallId.test(id)) return id;
    return createHash("sha256").update(id).digest("hex").slice(0, 9);
  }
}

/** `ttl` is said only where it differs from what goes without saying, and only to models that have it. */
export function toCachePoint(mark: unknown, { cache }: ModelTraits): JsonObject | null {
  if (!isObject(mark) || cache === "none") return null;
  const ttl = (mark as Partial<CacheMark>).ttl === "1h" && cache === "1h" ? { ttl: "1h" } : {};
  return { cachePoint: { type: "default", ...ttl } };
}

/** Thoughts that cannot be proved to be the model's own are refused by most models, and are not needed. */
function toThoughts(message: ChatAssistantMessage, { takesThoughts }: ModelTraits): JsonObject[] {
  if (takesThoughts === "none") return [];
  if (takesThoughts === "unsigned") return toUnsignedThoughts(message);
  return (message.reasoning_details ?? []).flatMap((detail): JsonObject[] => {
    if (detail.type === "reasoning.encrypted")
      return isBase64(detail.data) ? [{ reasoningContent: { redactedContent: detail.data } }] : [];
    if (detail.type !== "reasoning.text") return [];
    const isSigned = isBase64(detail.signature);
    if (!isSigned && takesThoughts === "signed") return [];
    const signature = isSigned ? { signature: detail.signature } : {};
    return [{ reasoningContent: { reasoningText: { text: detail.text ?? "", ...signature } } }];
  });
}

/** A signed thought is another model's. Clients that know no details keep the plain text. */
function toUnsignedThoughts({
  reasoning_content: plain,
  reasoning_details: details,
}: ChatAssistantMessage): JsonObject[] {
  const texts = details?.length
    ? details.flatMap((detail) => (detail.type === "reasoning.text" && !detail.signature ? [detail.text ?? ""] : []))
    : [plain ?? ""];
  return texts.flatMap((text) => (text === "" ? [] : [{ reasoningContent: { reasoningText: { text } } }]));
}

/** Models do write arguments that are not JSON; they are shown what they wrote. */
function parseInput(text: string): JsonObject {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // said below
  }
  return { arguments: text };
}

function parseResult(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : { result: value };
  } catch {
    return { result: text };
  }
}

function hasBlock(content: readonly JsonObject[], kind: string): boolean {
  return content.some((block) => block[kind] !== undefined);
}

/** The beginning of an answer may not end in white space. */
function trimEnd(content: JsonObject[]): void {
  const at = content.findLastIndex((block) => block["text"] !== undefined);
  const text = content[at]?.["text"];
  if (typeof text === "string" && at === content.length - 1) content[at] = { text: text.trimEnd() };
}

function memberOf(value: object, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}
