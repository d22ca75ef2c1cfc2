// Writes the chunks of a streamed answer: one writer per choice, all with the same envelope.

import type { ChatChunk, ChatDelta, ChatUsage, FinishReason } from "../../contract/chat-format.ts";
import { createId, nowSeconds } from "./completion.ts";

export interface Envelope {
  /** Created with the first chunk when the vendor sends none. */
  id: string;
  created: number;
  model: string;
}

export class ChunkWriter {
  readonly index: number;
  readonly envelope: Envelope;
  readonly #opening: ChatDelta;
  hasBegun = false;

  /** `opening`: members of the first delta. */
  constructor(envelope: Envelope, index = 0, opening: ChatDelta = { role: "assistant" }) {
    this.envelope = envelope;
    this.index = index;
    this.#opening = opening;
  }

  write(delta: ChatDelta, finishReason: FinishReason | null = null, logprobs: unknown = null): ChatChunk {
    const whole = this.hasBegun ? delta : { ...this.#opening, ...delta };
    this.hasBegun = true;
    const choice = { index: this.index, delta: whole, finish_reason: finishReason };
    return toChunk(this.envelope, [logprobs === null ? choice : { ...choice, logprobs }]);
  }

  writeArguments(callIndex: number, text: string): ChatChunk {
    return this.write({ tool_calls: [{ index: callIndex, function: { arguments: text } }] });
  }
}

export function createEnvelope(model: string): Envelope {
  return { id: "", created: nowSeconds(), model };
}

export function toUsageChunk(envelope: Envelope, usage: ChatUsage, serviceTier = ""): ChatChunk {
  return { ...toChunk(envelope, []), usage, ...(serviceTier === "" ? {} : { service_tier: serviceTier }) };
}

function toChunk(envelope: Envelope, choices: ChatChunk["choices"]): ChatChunk {
  if (envelope.id === "") envelope.id = createId("chatcmpl-");
  const { id, created, model } = envelope;
  return { id, object: "chat.completion.chunk", created, model, choices };
}
