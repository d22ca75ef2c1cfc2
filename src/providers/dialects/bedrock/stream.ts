// Reads the events of ConverseStream as chunks.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

import type { ChatChunk, ReasoningDetail } from "../../../contract/chat-format.ts";
import { isObject, type JsonObject } from "../../../lib/lenient-json.ts";
import { type ChatStreamReader, ErrorInAnswer, type ProviderEvent, type Reading } from "../../dialect.ts";
import { failureMember } from "../../framing/aws-event-stream.ts";
import { asList, asObject, asString } from "../../lenient.ts";
import { ChunkWriter, createEnvelope, toUsageChunk } from "../chunk-writer.ts";
import {
  fromConverseUsage,
  isServerTool,
  readCallId,
  readImageBytes,
  readTier,
  readToolName,
  toAnnotation,
  toFinishReason,
  toImages,
} from "./answer.ts";
import { findTraits } from "./models.ts";
import { statusOfFailure } from "./refusal.ts";

const noChunks: readonly ChatChunk[] = [];

/** A block of the answer that is not plain text. */
type Block =
  | { readonly kind: "call"; readonly index: number; hasInput: boolean }
  | { readonly kind: "answer"; hasInput: boolean }
  /** A tool that the service runs itself, or a further answer. */
  | { readonly kind: "hidden" }
  | { readonly kind: "image"; readonly format: unknown; readonly pieces: Uint8Array[] }
  | { readonly kind: "thought"; text: string; signature: string; readonly redacted: Uint8Array[] };

export class ConverseStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #answerTool: string | null;
  readonly #model: string;
  readonly #writer: ChunkWriter;
  readonly #blocks = new Map<unknown, Block>();
  #calls = 0;
  /** The length of the text so far, and the start of its current block, which citations refer to. */
  #textLength = 0;
  #blockStart = 0;
  /** Text beside a structured answer, which is sent only if that answer never comes. */
  #heldText = "";
  #hasAnswer = false;

  constructor({ model, answerTool }: Reading) {
    this.#answerTool = answerTool;
    this.#model = model;
    this.#writer = new ChunkWriter(createEnvelope(model));
  }

  read({ name, value }: ProviderEvent): readonly ChatChunk[] {
    switch (name) {
      case "contentBlockDelta":
        return this.#readDelta(value["contentBlockIndex"], asObject(value["delta"]));
      case "messageStart":
        return this.#writer.hasBegun ? noChunks : [this.#writer.write({ content: "" })];
      case "contentBlockStart":
        return this.#startBlock(value["contentBlockIndex"], asObject(value["start"]));
      case "contentBlockStop":
        return this.#stopBlock(value["contentBlockIndex"]);
      case "messageStop":
        return this.#stop(asString(value["stopReason"]));
      case "metadata":
        return this.#readMetadata(value);
      default:
        if (value[failureMember] !== undefined) throw toErrorInAnswer(name, value);
        return noChunks;
    }
  }

  #readDelta(at: unknown, delta: JsonObject): readonly ChatChunk[] {
    if (typeof delta["text"] === "string") return this.#addText(delta["text"]);
    if (isObject(delta["toolUse"])) return this.#addInput(at, asString(delta["toolUse"]["input"]));
    if (isObject(delta["reasoningContent"])) return this.#addThought(at, delta["reasoningContent"]);
    if (isObject(delta["image"])) return this.#addImagePiece(at, readImageBytes(delta["image"]));
    if (!isObject(delta["citation"])) return noChunks;
    const annotations = toAnnotation(delta["citation"], this.#blockStart, this.#textLength);
    return annotations.length === 0 ? noChunks : [this.#writer.write({ annotations })];
  }

  #addText(text: string): readonly ChatChunk[] {
    if (text === "") return noChunks;
    if (this.#answerTool !== null) {
      this.#heldText += text;
      return noChunks;
    }
    this.#textLength += text.length;
    return [this.#writer.write({ content: text })];
  }

  #startBlock(at: unknown, { toolUse, image }: JsonObject): readonly ChatChunk[] {
    if (isObject(image)) this.#blocks.set(at, { kind: "image", format: image["format"], pieces: [] });
    if (!isObject(toolUse)) return noChunks;
    const name = readToolName(toolUse);
    if (isServerTool(toolUse) || (name === this.#answerTool && this.#hasAnswer)) {
      this.#blocks.set(at, { kind: "hidden" });
      return noChunks;
    }
    if (name === this.#answerTool) {
      this.#hasAnswer = true;
      this.#blocks.set(at, { kind: "answer", hasInput: false });
      return noChunks;
    }
    const index = this.#calls++;
    this.#blocks.set(at, { kind: "call", index, hasInput: false });
    const call = { index, id: readCallId(toolUse), type: "function", function: { name, arguments: "" } };
    return [this.#writer.write({ tool_calls: [call] })];
  }

  #addInput(at: unknown, input: string): readonly ChatChunk[] {
    const block = this.#blocks.get(at);
    if (input === "" || block === undefined) return noChunks;
    if (block.kind !== "call" && block.kind !== "answer") return noChunks;
    block.hasInput = true;
    return [this.#writeInput(block, input)];
  }

  #writeInput(block: Extract<Block, { kind: "call" | "answer" }>, input: string): ChatChunk {
    return block.kind === "answer"
      ? this.#writer.write({ content: input })
      : this.#writer.writeArguments(block.index, input);
  }

  #addImagePiece(at: unknown, bytes: string): readonly ChatChunk[] {
    const block = this.#blocks.get(at);
    if (block?.kind === "image") block.pieces.push(Buffer.from(bytes, "base64"));
    return noChunks;
  }

  #addThought(at: unknown, content: JsonObject): readonly ChatChunk[] {
    let block = this.#blocks.get(at);
    if (block?.kind !== "thought") {
      block = { kind: "thought", text: "", signature: "", redacted: [] };
      this.#blocks.set(at, block);
    }
    block.signature += asString(content["signature"]);
    const redacted = asString(content["redactedContent"]);
    if (redacted !== "") block.redacted.push(Buffer.from(redacted, "base64"));
    const text = asString(content["text"]);
    if (text === "") return noChunks;
    block.text += text;
    return [this.#writer.write({ reasoning_content: text })];
  }

  #stopBlock(at: unknown): readonly ChatChunk[] {
    this.#blockStart = this.#textLength;
    const block = this.#blocks.get(at);
    if (block === undefined) return noChunks;
    this.#blocks.delete(at);
    if (block.kind === "thought") return this.#writeDetails(block);
    if (block.kind === "image") {
      const images = toImages(block.format, Buffer.concat(block.pieces).toString("base64"));
      return images.length === 0 ? noChunks : [this.#writer.write({ images })];
    }
    // A call without input still needs arguments that are JSON, and so does an answer.
    return block.kind === "hidden" || block.hasInput ? noChunks : [this.#writeInput(block, "{}")];
  }

  #writeDetails({ text, signature, redacted }: Extract<Block, { kind: "thought" }>): readonly ChatChunk[] {
    const details: ReasoningDetail[] = [];
    if (text !== "" || signature !== "")
      details.push({ type: "reasoning.text", text, ...(signature === "" ? {} : { signature }) });
    if (redacted.length > 0)
      details.push({ type: "reasoning.encrypted", data: Buffer.concat(redacted).toString("base64") });
    return details.length === 0 ? noChunks : [this.#writer.write({ reasoning_details: details })];
  }

  #stop(stopReason: string): readonly ChatChunk[] {
    const chunks = [...this.#blocks.keys()].flatMap((at) => this.#stopBlock(at));
    if (!this.#hasAnswer && this.#heldText !== "") chunks.push(this.#writer.write({ content: this.#heldText }));
    chunks.push(this.#writer.write({}, toFinishReason(stopReason, this.#calls > 0)));
    this.isComplete = true;
    return chunks;
  }

  #readMetadata(metadata: JsonObject): readonly ChatChunk[] {
    const { usage } = metadata;
    if (!isObject(usage)) return noChunks;
    const read = fromConverseUsage(usage, findTraits(this.#model).countsCacheInStreams);
    return [toUsageChunk(this.#writer.envelope, read, readTier(metadata))];
  }
}

function toErrorInAnswer(name: string, value: JsonObject): ErrorInAnswer {
  const { originalMessage, message, errors } = value;
  const reason = asString(originalMessage) || asString(message) || asString(asList(errors)[0]);
  return new ErrorInAnswer(reason || name, statusOfFailure(name));
}
