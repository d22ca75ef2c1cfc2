// The events of ConverseStream as chunks of a chat completion, one event at a time.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

import type { ChatChunk, ChatDelta, FinishReason, ReasoningDetail } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import {
  type ChatStreamReader,
  ErrorInAnswer,
  type JsonObject,
  type ProviderEvent,
  type Reading,
} from "../../dialect.ts";
import { failureMember } from "../../framing/aws-event-stream.ts";
import { asList, asObject, asString } from "../../lenient.ts";
import { createId, nowSeconds } from "../completion.ts";
import {
  fromConverseUsage,
  isOfServer,
  readCallId,
  readTier,
  readToolName,
  toAnnotation,
  toFinishReason,
} from "./answer.ts";
import { findTraits } from "./models.ts";
import { statusOfFailure } from "./refusal.ts";

const noChunks: readonly ChatChunk[] = [];

/** A block of the answer that is not plain text. */
type Block =
  | { readonly kind: "call"; readonly index: number; hasInput: boolean }
  | { readonly kind: "answer" }
  /** Of the service's own: passed by. */
  | { readonly kind: "foreign" }
  | { readonly kind: "thought"; text: string; signature: string; readonly redacted: Uint8Array[] };

export class ConverseStreamReader implements ChatStreamReader {
  readonly #answerTool: string | null;
  readonly #base: Pick<ChatChunk, "id" | "object" | "created" | "model">;
  readonly #blocks = new Map<unknown, Block>();
  #calls = 0;
  #hasRole = false;
  #isComplete = false;
  /** Length of the text so far, and where the current block of it began: what citations refer to. */
  #textLength = 0;
  #blockStart = 0;
  /** Text beside a structured answer: it is the answer only if the tool is never called. */
  #heldText = "";
  #hasAnswer = false;

  constructor({ model, answerTool }: Reading) {
    this.#answerTool = answerTool;
    this.#base = { id: createId("chatcmpl-"), object: "chat.completion.chunk", created: nowSeconds(), model };
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  read({ name, value }: ProviderEvent): readonly ChatChunk[] {
    switch (name) {
      case "contentBlockDelta":
        return this.#readDelta(value["contentBlockIndex"], asObject(value["delta"]));
      case "messageStart":
        return this.#hasRole ? noChunks : this.#emit({ content: "" });
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
    if (isObject(delta["citation"])) return this.#addCitation(delta["citation"]);
    return noChunks;
  }

  #addText(text: string): readonly ChatChunk[] {
    if (text === "") return noChunks;
    if (this.#answerTool !== null) {
      this.#heldText += text;
      return noChunks;
    }
    this.#textLength += text.length;
    return this.#emit({ content: text });
  }

  #startBlock(at: unknown, { toolUse }: JsonObject): readonly ChatChunk[] {
    if (!isObject(toolUse)) return noChunks;
    if (isOfServer(toolUse)) {
      this.#blocks.set(at, { kind: "foreign" });
      return noChunks;
    }
    const name = readToolName(toolUse);
    if (name === this.#answerTool) {
      this.#hasAnswer = true;
      this.#blocks.set(at, { kind: "answer" });
      return noChunks;
    }
    const index = this.#calls;
    this.#calls += 1;
    this.#blocks.set(at, { kind: "call", index, hasInput: false });
    const call = { index, id: readCallId(toolUse), type: "function", function: { name, arguments: "" } };
    return this.#emit({ tool_calls: [call] });
  }

  #addInput(at: unknown, input: string): readonly ChatChunk[] {
    const block = this.#blocks.get(at);
    if (input === "" || block === undefined) return noChunks;
    if (block.kind === "answer") return this.#emit({ content: input });
    if (block.kind !== "call") return noChunks;
    block.hasInput = true;
    return this.#emit({ tool_calls: [{ index: block.index, function: { arguments: input } }] });
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
    return this.#emit({ reasoning_content: text });
  }

  #addCitation(citation: JsonObject): readonly ChatChunk[] {
    const annotation = toAnnotation(citation, this.#blockStart, this.#textLength);
    return annotation === null ? noChunks : this.#emit({ annotations: [annotation] });
  }

  #stopBlock(at: unknown): readonly ChatChunk[] {
    this.#blockStart = this.#textLength;
    const block = this.#blocks.get(at);
    if (block === undefined) return noChunks;
    this.#blocks.delete(at);
    if (block.kind === "thought") return this.#emitDetails(block);
    // A call without input would leave the caller with no JSON at all.
    if (block.kind !== "call" || block.hasInput) return noChunks;
    return this.#emit({ tool_calls: [{ index: block.index, function: { arguments: "{}" } }] });
  }

  #emitDetails({ text, signature, redacted }: Extract<Block, { kind: "thought" }>): readonly ChatChunk[] {
    const details: ReasoningDetail[] = [];
    if (text !== "" || signature !== "")
      details.push({ type: "reasoning.text", text, ...(signature === "" ? {} : { signature }) });
    if (redacted.length > 0)
      details.push({ type: "reasoning.encrypted", data: Buffer.concat(redacted).toString("base64") });
    return details.length === 0 ? noChunks : this.#emit({ reasoning_details: details });
  }

  #stop(stopReason: string): readonly ChatChunk[] {
    const chunks = [...this.#blocks.keys()].flatMap((at) => this.#stopBlock(at));
    if (!this.#hasAnswer && this.#heldText !== "") chunks.push(...this.#emit({ content: this.#heldText }));
    chunks.push(...this.#emit({}, toFinishReason(stopReason, this.#calls > 0)));
    this.#isComplete = true;
    return chunks;
  }

  #readMetadata(metadata: JsonObject): readonly ChatChunk[] {
    const { usage } = metadata;
    if (!isObject(usage)) return noChunks;
    const tier = readTier(metadata);
    const { countsCacheInStreams } = findTraits(this.#base.model);
    const read = fromConverseUsage(usage, countsCacheInStreams);
    return [{ ...this.#base, choices: [], usage: read, ...(tier === "" ? {} : { service_tier: tier }) }];
  }

  #emit(delta: ChatDelta, finishReason: FinishReason | null = null): readonly ChatChunk[] {
    const whole: ChatDelta = this.#hasRole ? delta : { role: "assistant", ...delta };
    this.#hasRole = true;
    return [{ ...this.#base, choices: [{ index: 0, delta: whole, finish_reason: finishReason }] }];
  }
}

function toErrorInAnswer(name: string, value: JsonObject): ErrorInAnswer {
  const said = asString(value["originalMessage"]) || asString(value["message"]) || asString(asList(value["errors"])[0]);
  return new ErrorInAnswer(said || name, statusOfFailure(name));
}
