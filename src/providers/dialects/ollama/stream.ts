// Reads the lines of a streamed answer as chunks: https://docs.ollama.com/api/streaming

import type { ChatChunk } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, ProviderEvent, Reading } from "../../dialect.ts";
import { asString } from "../../lenient.ts";
import { ChunkWriter, createEnvelope, toUsageChunk } from "../chunk-writer.ts";
import { readMessage, throwIfError, toDetail, toFinishReason, toLogprobs, toUsage } from "./answer.ts";

export class OllamaStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #writer: ChunkWriter;
  #thoughts = "";
  #callCount = 0;

  constructor({ model }: Reading) {
    this.#writer = new ChunkWriter(createEnvelope(model));
  }

  read({ value }: ProviderEvent): readonly ChatChunk[] {
    throwIfError(value);
    const writer = this.#writer;
    if (!writer.hasBegun) writer.envelope.model = asString(value["model"]) || writer.envelope.model;
    const { text, thinking, calls } = readMessage(value);
    const logprobs = toLogprobs(value["logprobs"]);
    const chunks: ChatChunk[] = [];
    if (thinking !== "") {
      this.#thoughts += thinking;
      chunks.push(writer.write({ reasoning_content: thinking }, null, text === "" ? logprobs : null));
    }
    const isDone = value["done"] === true;
    if (this.#thoughts !== "" && (text !== "" || calls.length > 0 || isDone)) {
      chunks.push(writer.write({ reasoning_details: [toDetail(this.#thoughts)] }));
      this.#thoughts = "";
    }
    if (text !== "") chunks.push(writer.write({ content: text }, null, logprobs));
    for (const call of calls) chunks.push(writer.write({ tool_calls: [{ ...call, index: this.#callCount++ }] }));
    if (!isDone) return chunks;

    this.isComplete = true;
    chunks.push(writer.write({}, toFinishReason(value["done_reason"], this.#callCount > 0)));
    const usage = toUsage(value);
    if (usage !== null) chunks.push(toUsageChunk(writer.envelope, usage));
    return chunks;
  }
}
