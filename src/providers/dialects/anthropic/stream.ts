// Reads the vendor's events as chunks.

import type { ChatChunk, ChatUsage } from "../../../contract/chat-format.ts";
import { isObject, type JsonObject } from "../../../lib/lenient-json.ts";
import { type ChatStreamReader, ErrorInAnswer, type ProviderEvent, type Reading } from "../../dialect.ts";
import { asList, asObject, asString } from "../../lenient.ts";
import { ChunkWriter, createEnvelope, toUsageChunk } from "../chunk-writer.ts";
import { present } from "../completion.ts";
import {
  readAnthropicUsage,
  readRefusalText,
  TextJoiner,
  toAnnotation,
  toErrorInAnswer,
  toFinishReason,
  toReasoningDetail,
} from "./answer.ts";
import { toExtraContent, toWebSearches } from "./server-tools.ts";
import { type AnthropicReading, originalToolName } from "./tool-names.ts";

/** A block whose deltas are still arriving. */
interface OpenBlock {
  readonly block: JsonObject;
  /** The index of a call among the calls of the answer; -1 for any other block and for the structured answer. */
  readonly toolIndex: number;
  readonly isAnswer: boolean;
  readonly textStart: number;
  readonly citations: unknown[];
  thinking: string;
  signature: string;
  hasInput: boolean;
  /** Only collected for turns whose blocks are sent back. */
  text: string;
  input: string;
}

const noChunks: readonly ChatChunk[] = [];

export class AnthropicStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #reading: Reading;
  readonly #writer: ChunkWriter;
  readonly #joiner = new TextJoiner();
  readonly #open = new Map<unknown, OpenBlock>();
  #hasBlocks = false;
  #toolCalls = 0;
  #details = 0;
  #usage: JsonObject = {};
  /** Calls of the vendor's own tools, some of which are billed. */
  readonly #serverCalls: JsonObject[] = [];
  /** Complete blocks, for turns in which the vendor runs its own tools. */
  readonly #blocks: JsonObject[] = [];
  readonly #keepsTurn: boolean;
  /** `stop_reason` and `stop_details`. */
  #end: JsonObject = {};
  /** Text beside a structured answer, which is sent only if that answer never comes. */
  #heldText = "";
  #hasAnswer = false;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#keepsTurn = (reading as Partial<AnthropicReading>).keepsTurn === true && reading.answerTool === null;
    this.#writer = new ChunkWriter(createEnvelope(reading.model));
  }

  get usageSoFar(): ChatUsage | null {
    return Object.keys(this.#usage).length === 0 ? null : readAnthropicUsage(this.#usage, this.#serverCalls);
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
        this.#end = { ...this.#end, ...present(asObject(value["delta"])) };
        return noChunks;
      case "message_stop":
        return this.#finish();
      case "error":
        throw toErrorInAnswer(value);
      default:
        return noChunks;
    }
  }

  #readMessage(message: unknown): readonly ChatChunk[] {
    if (!isObject(message)) return noChunks;
    // A proxy retried the request. Chunks that have been sent cannot be taken back.
    if (this.#hasBlocks) throw new ErrorInAnswer("the answer began anew in the middle of it", 502);
    const { envelope } = this.#writer;
    envelope.id ||= asString(message["id"]);
    envelope.model = asString(message["model"]) || envelope.model;
    this.#addUsage(message["usage"]);
    this.#end = present({ stop_reason: message["stop_reason"], stop_details: message["stop_details"] });
    const chunks = this.#writer.hasBegun ? [] : [this.#writer.write({ content: "" })];
    // Content that the message has from the start, for example after calls by the vendor's own tools.
    for (const [position, block] of asList(message["content"]).entries()) {
      const event = { index: -1 - position, content_block: block };
      chunks.push(...this.#readStart(event), ...this.#readStop(event));
    }
    return chunks;
  }

  #readStart(value: JsonObject): readonly ChatChunk[] {
    this.#hasBlocks = true;
    const block = asObject(value["content_block"]);
    const isCall = block["type"] === "tool_use";
    const isAnswer = isCall && this.#reading.answerTool !== null && block["name"] === this.#reading.answerTool;
    if (block["type"] !== "text") this.#joiner.interrupt();
    if (block["type"] === "server_tool_use") this.#serverCalls.push(block);
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
    if (isAnswer) this.#hasAnswer = true;
    if (open.toolIndex >= 0) {
      const called = { name: originalToolName(this.#reading, asString(block["name"])), arguments: "" };
      const call = { index: open.toolIndex, id: asString(block["id"]), type: "function", function: called };
      return [this.#writer.write({ tool_calls: [call] })];
    }
    if (block["type"] === "text") return this.#writeText(asString(block["text"]));
    if (block["type"] === "thinking") return this.#writeThinking(open, asString(block["thinking"]));
    return noChunks;
  }

  #readDelta(value: JsonObject): readonly ChatChunk[] {
    const delta = value["delta"];
    if (!isObject(delta)) return noChunks;
    const isText = delta["type"] === "text_delta";
    if (isText && !this.#keepsTurn) return this.#writeText(asString(delta["text"]));
    const open = this.#open.get(value["index"]);
    if (isText) {
      if (open !== undefined) open.text += asString(delta["text"]);
      return this.#writeText(asString(delta["text"]));
    }
    if (open === undefined) return noChunks;
    switch (delta["type"]) {
      case "input_json_delta":
        return this.#writeInput(open, asString(delta["partial_json"]));
      case "thinking_delta":
        return this.#writeThinking(open, asString(delta["thinking"]));
      case "signature_delta":
        open.signature += asString(delta["signature"]);
        return noChunks;
      case "citations_delta":
        open.citations.push(delta["citation"]);
        return noChunks;
      default:
        return noChunks;
    }
  }

  #readStop(value: JsonObject): readonly ChatChunk[] {
    const open = this.#open.get(value["index"]);
    if (open === undefined) return noChunks;
    this.#open.delete(value["index"]);
    const { block, citations, thinking, signature } = open;
    if (this.#keepsTurn) {
      const whole = toWholeBlock(open);
      this.#blocks.push(whole);
      const searches = toWebSearches(whole);
      if (searches.length > 0) return [this.#writer.write({ web_searches: searches })];
    }
    // A call without arguments has no deltas, and the empty text is not JSON.
    if (block["type"] === "tool_use" && !open.hasInput)
      return this.#writeInput(open, JSON.stringify(block["input"] ?? {}));
    const details = toReasoningDetail({ ...block, thinking, signature }, this.#details);
    this.#details += details.length;
    if (details.length > 0) return [this.#writer.write({ reasoning_details: details })];
    const annotations = citations.flatMap((one) => toAnnotation(one, open.textStart, this.#joiner.length));
    return annotations.length > 0 ? [this.#writer.write({ annotations })] : noChunks;
  }

  #finish(): readonly ChatChunk[] {
    if (this.isComplete) return noChunks;
    this.isComplete = true;
    const writer = this.#writer;
    const chunks: ChatChunk[] = [];
    if (this.#heldText !== "" && !this.#hasAnswer) chunks.push(writer.write({ content: this.#heldText }));
    const refusal = readRefusalText(this.#end);
    if (refusal !== null) chunks.push(writer.write({ refusal }));
    const extra = toExtraContent(this.#blocks);
    if (extra !== null) chunks.push(writer.write({ extra_content: extra }));
    chunks.push(writer.write({}, toFinishReason(this.#end["stop_reason"], this.#toolCalls > 0)));
    const isEmptyRefusal = this.#end["stop_reason"] === "refusal" && !this.#hasBlocks;
    chunks.push(toUsageChunk(writer.envelope, readAnthropicUsage(this.#usage, this.#serverCalls, isEmptyRefusal)));
    return chunks;
  }

  #writeText(text: string): readonly ChatChunk[] {
    const written = this.#joiner.join(text);
    if (written === "") return noChunks;
    if (this.#reading.answerTool === null) return [this.#writer.write({ content: written })];
    this.#heldText += written;
    return noChunks;
  }

  #writeInput(open: OpenBlock, json: string): readonly ChatChunk[] {
    if (json === "") return noChunks;
    open.hasInput = true;
    if (this.#keepsTurn) open.input += json;
    if (open.isAnswer) return [this.#writer.write({ content: json })];
    return open.toolIndex < 0 ? noChunks : [this.#writer.writeArguments(open.toolIndex, json)];
  }

  #writeThinking(open: OpenBlock, text: string): readonly ChatChunk[] {
    if (text === "") return noChunks;
    open.thinking += text;
    return [this.#writer.write({ reasoning_content: text })];
  }

  /** Counts are cumulative: later ones replace earlier ones. */
  #addUsage(usage: unknown): void {
    this.#usage = { ...this.#usage, ...present(asObject(usage)) };
  }
}

/** The block as an answer that is not streamed has it. */
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
    // A stream that was cut off leaves an incomplete call; complete blocks are still used.
    return {};
  }
}
