// The vendor's events as chat chunks, one by one.

import type { ChatAnnotation, ChatChunk, ChatDelta, ChatUsage, FinishReason } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import {
  type ChatStreamReader,
  ErrorInAnswer,
  type JsonObject,
  type ProviderEvent,
  type Reading,
} from "../../dialect.ts";
import { asList, asString } from "../../lenient.ts";
import {
  createChatId,
  readAnthropicUsage,
  readRefusalText,
  TextJoiner,
  toAnnotation,
  toErrorInAnswer,
  toFinishReason,
  toReasoningDetail,
} from "./answer.ts";
import { toKeptTurn, toWebSearches } from "./server-tools.ts";
import { type AnthropicReading, originalToolName } from "./tool-names.ts";

/** What is gathered of a block while its deltas pass. */
interface OpenBlock {
  readonly block: JsonObject;
  /** Of a call: which of the answer's calls it is. -1: it is none, or the structured answer. */
  readonly toolIndex: number;
  readonly isAnswer: boolean;
  readonly textStart: number;
  readonly citations: unknown[];
  thinking: string;
  signature: string;
  hasInput: boolean;
  /** Gathered only where the blocks of the turn are kept. */
  text: string;
  input: string;
}

const nothing: readonly ChatChunk[] = [];

export class AnthropicStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #reading: Reading;
  readonly #joiner = new TextJoiner();
  readonly #open = new Map<unknown, OpenBlock>();
  #id = "";
  #model: string;
  readonly #created = Math.floor(Date.now() / 1_000);
  #hasRole = false;
  #hasBegun = false;
  #toolCalls = 0;
  #details = 0;
  #usage: JsonObject = {};
  /** The blocks that are complete, where the vendor runs tools of its own. */
  readonly #kept: JsonObject[] = [];
  readonly #keepsTurn: boolean;
  #end: JsonObject = {};
  /** Text beside a structured answer is held back: it counts only if that answer never comes. */
  #heldText = "";
  #hasAnswer = false;
  #hasBlocks = false;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#keepsTurn = (reading as Partial<AnthropicReading>).keepsTurn === true && reading.answerTool === null;
    this.#model = reading.model;
  }

  get usageSoFar(): ChatUsage | null {
    return Object.keys(this.#usage).length === 0 ? null : readAnthropicUsage(this.#usage);
  }

  read({ name, value }: ProviderEvent): readonly ChatChunk[] {
    switch (value["type"] ?? name) {
      case "content_block_delta":
        return this.#readDelta(value);
      case "content_block_start":
        return this.#readStart(value);
      case "content_block_stop":
        return this.#readStop(value);
      case "message_start":
        return this.#readMessage(value["message"]);
      case "message_delta":
        this.#addUsage(value["usage"]);
        if (isObject(value["delta"])) this.#end = { ...this.#end, ...withoutNulls(value["delta"]) };
        return nothing;
      case "message_stop":
        return this.#finish();
      case "error":
        throw toErrorInAnswer(value);
      default:
        return nothing;
    }
  }

  #readMessage(message: unknown): readonly ChatChunk[] {
    if (!isObject(message)) return nothing;
    // A proxy that tried again behind our back: what was passed on already cannot be taken back.
    if (this.#hasBegun) throw new ErrorInAnswer("the answer began anew in the middle of it", 502);
    this.#id ||= asString(message["id"]);
    this.#model = asString(message["model"]) || this.#model;
    this.#addUsage(message["usage"]);
    this.#end = withoutNulls({ stop_reason: message["stop_reason"], stop_details: message["stop_details"] });
    const chunks = this.#hasRole ? [] : [...this.#write({ content: "" })];
    // What is there already, as after calls that the vendor's own tools made, comes with the beginning.
    for (const [position, block] of asList(message["content"]).entries()) {
      const event = { index: -1 - position, content_block: block };
      chunks.push(...this.#readStart(event), ...this.#readStop(event));
    }
    return chunks;
  }

  #readStart(value: JsonObject): readonly ChatChunk[] {
    this.#hasBlocks = true;
    const block = isObject(value["content_block"]) ? value["content_block"] : {};
    const isCall = block["type"] === "tool_use";
    const isAnswer = isCall && this.#reading.answerTool !== null && block["name"] === this.#reading.answerTool;
    if (block["type"] !== "text") this.#joiner.interrupt();
    const open: OpenBlock = {
      block,
      toolIndex: isCall && !isAnswer ? this.#toolCalls++ : -1,
      isAnswer,
      textStart: this.#joiner.nextStart,
      citations: [...asList(block["citations"])],
      thinking: "",
      signature: asString(block["signature"]),
      hasInput: false,
      text: asString(block["text"]),
      input: "",
    };
    this.#open.set(value["index"], open);
    this.#hasBegun = true;
    if (isAnswer) this.#hasAnswer = true;
    if (open.toolIndex >= 0) {
      const called = { name: originalToolName(this.#reading, asString(block["name"])), arguments: "" };
      const call = { index: open.toolIndex, id: asString(block["id"]), type: "function", function: called };
      return this.#write({ tool_calls: [call] });
    }
    if (block["type"] === "text") return this.#writeText(asString(block["text"]));
    if (block["type"] === "thinking") return this.#writeThinking(open, asString(block["thinking"]));
    return nothing;
  }

  #readDelta(value: JsonObject): readonly ChatChunk[] {
    const delta = value["delta"];
    if (!isObject(delta)) return nothing;
    if (delta["type"] === "text_delta") {
      if (this.#keepsTurn) this.#keepText(value["index"], delta);
      return this.#writeText(asString(delta["text"]));
    }
    const open = this.#open.get(value["index"]);
    if (open === undefined) return nothing;
    switch (delta["type"]) {
      case "input_json_delta":
        return this.#writeInput(open, asString(delta["partial_json"]));
      case "thinking_delta":
        return this.#writeThinking(open, asString(delta["thinking"]));
      case "signature_delta":
        open.signature += asString(delta["signature"]);
        return nothing;
      case "citations_delta":
        open.citations.push(delta["citation"]);
        return nothing;
      default:
        return nothing;
    }
  }

  #readStop(value: JsonObject): readonly ChatChunk[] {
    const open = this.#open.get(value["index"]);
    if (open === undefined) return nothing;
    this.#open.delete(value["index"]);
    const { block, citations, thinking, signature } = open;
    if (this.#keepsTurn) {
      const whole = toWholeBlock(open);
      this.#kept.push(whole);
      const searches = toWebSearches(whole);
      if (searches.length > 0) return this.#write({ web_searches: searches });
    }
    // A call without arguments has no deltas, and nothing at all is not JSON.
    if (block["type"] === "tool_use" && !open.hasInput)
      return this.#writeInput(open, JSON.stringify(block["input"] ?? {}));
    const details = toReasoningDetail({ ...block, thinking, signature }, this.#details);
    this.#details += details.length;
    if (details.length > 0) return this.#write({ reasoning_details: details });
    const annotations: ChatAnnotation[] = [];
    for (const citation of citations) annotations.push(...toAnnotation(citation, open.textStart, this.#joiner.length));
    return annotations.length > 0 ? this.#write({ annotations }) : nothing;
  }

  #finish(): readonly ChatChunk[] {
    if (this.isComplete) return nothing;
    this.isComplete = true;
    const chunks: ChatChunk[] = [];
    if (this.#heldText !== "" && !this.#hasAnswer) chunks.push(...this.#write({ content: this.#heldText }));
    const isEmptyRefusal = this.#end["stop_reason"] === "refusal" && !this.#hasBlocks;
    const refusal = readRefusalText(this.#end);
    if (refusal !== null) chunks.push(...this.#write({ refusal }));
    const kept = toKeptTurn(this.#kept);
    if (kept !== null) chunks.push(...this.#write({ extra_content: kept }));
    chunks.push(...this.#write({}, toFinishReason(this.#end["stop_reason"], this.#toolCalls > 0)));
    chunks.push({ ...this.#chunk([]), usage: readAnthropicUsage(this.#usage, isEmptyRefusal) });
    return chunks;
  }

  #writeText(text: string): readonly ChatChunk[] {
    const written = this.#joiner.join(text);
    if (written === "") return nothing;
    if (this.#reading.answerTool === null) return this.#write({ content: written });
    this.#heldText += written;
    return nothing;
  }

  #keepText(index: unknown, delta: JsonObject): void {
    const open = this.#open.get(index);
    if (open !== undefined) open.text += asString(delta["text"]);
  }

  #writeInput(open: OpenBlock, json: string): readonly ChatChunk[] {
    if (json === "") return nothing;
    open.hasInput = true;
    if (this.#keepsTurn) open.input += json;
    if (open.isAnswer) return this.#write({ content: json });
    if (open.toolIndex < 0) return nothing;
    return this.#write({ tool_calls: [{ index: open.toolIndex, function: { arguments: json } }] });
  }

  #writeThinking(open: OpenBlock, text: string): readonly ChatChunk[] {
    if (text === "") return nothing;
    open.thinking += text;
    return this.#write({ reasoning_content: text });
  }

  #write(delta: ChatDelta, finishReason: FinishReason | null = null): readonly ChatChunk[] {
    const whole: ChatDelta = this.#hasRole ? delta : { role: "assistant", ...delta };
    this.#hasRole = true;
    return [this.#chunk([{ index: 0, delta: whole, finish_reason: finishReason }])];
  }

  #chunk(choices: ChatChunk["choices"]): ChatChunk {
    this.#id ||= createChatId();
    return { id: this.#id, object: "chat.completion.chunk", created: this.#created, model: this.#model, choices };
  }

  /** Counts are cumulative: later ones replace those before. */
  #addUsage(usage: unknown): void {
    if (isObject(usage)) this.#usage = { ...this.#usage, ...withoutNulls(usage) };
  }
}

/** The block as a whole answer would have it. */
function toWholeBlock({ block, text, input, thinking, signature, citations }: OpenBlock): JsonObject {
  switch (block["type"]) {
    case "text":
      return { ...block, text, ...(citations.length > 0 ? { citations } : {}) };
    case "thinking":
      return { ...block, thinking: asString(block["thinking"]) || thinking, signature };
    default:
      return input === "" ? block : { ...block, input: parseInput(input) };
  }
}

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // A stream that is cut leaves half a call; what is whole is kept.
    return {};
  }
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined));
}
