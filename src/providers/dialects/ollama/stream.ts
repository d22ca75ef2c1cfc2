// The lines of a streamed answer as chunks: https://docs.ollama.com/api/streaming

import type { ChatChunk, ChatDelta, FinishReason } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, ProviderEvent, Reading } from "../../dialect.ts";
import { asString } from "../../lenient.ts";
import { createId, nowSeconds } from "../new-answer.ts";
import { readMessage, throwIfError, toFinishReason, toLogprobs, toUsage } from "./answer.ts";

export class OllamaStreamReader implements ChatStreamReader {
  isComplete = false;
  readonly #frame: { id: string; object: "chat.completion.chunk"; created: number; model: string };
  #hasBegun = false;
  #thoughts = "";
  #callCount = 0;

  constructor(reading: Reading) {
    this.#frame = {
      id: createId("chatcmpl-"),
      object: "chat.completion.chunk",
      created: nowSeconds(),
      model: reading.model,
    };
  }

  read({ value }: ProviderEvent): readonly ChatChunk[] {
    throwIfError(value);
    if (!this.#hasBegun) this.#frame.model = asString(value["model"]) || this.#frame.model;
    const { text, thinking, calls } = readMessage(value);
    const logprobs = toLogprobs(value["logprobs"]);
    const chunks: ChatChunk[] = [];
    if (thinking !== "") {
      this.#thoughts += thinking;
      chunks.push(this.#chunk({ reasoning_content: thinking }, text === "" ? logprobs : null));
    }
    const isDone = value["done"] === true;
    if (this.#thoughts !== "" && (text !== "" || calls.length > 0 || isDone)) {
      chunks.push(this.#chunk({ reasoning_details: [{ type: "reasoning.text", text: this.#thoughts }] }));
      this.#thoughts = "";
    }
    if (text !== "") chunks.push(this.#chunk({ content: text }, logprobs));
    for (const call of calls) chunks.push(this.#chunk({ tool_calls: [{ ...call, index: this.#callCount++ }] }));
    if (!isDone) return chunks;

    this.isComplete = true;
    const reason = toFinishReason(value["done_reason"], this.#callCount > 0);
    chunks.push(this.#chunk({}, null, reason));
    const usage = toUsage(value);
    if (usage !== null) chunks.push({ ...this.#frame, choices: [], usage });
    return chunks;
  }

  #chunk(delta: ChatDelta, logprobs: unknown = null, finish: FinishReason | null = null): ChatChunk {
    const first: ChatDelta = this.#hasBegun ? delta : { role: "assistant", ...delta };
    this.#hasBegun = true;
    const choice = { index: 0, delta: first, finish_reason: finish, ...(logprobs === null ? {} : { logprobs }) };
    return { ...this.#frame, choices: [choice] };
  }
}
