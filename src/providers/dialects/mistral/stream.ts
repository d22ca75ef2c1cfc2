// Reads the events of a streamed answer, which differs from the chat format in its content and its usage, as chunks.

import type { ChatChunk, ChatDelta, ChatToolCallDelta } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, JsonObject, ProviderEvent, Reading } from "../../dialect.ts";
import { asCount, asList, asObject, asString } from "../../lenient.ts";
import { ChunkWriter, createEnvelope, toUsageChunk } from "../chunk-writer.ts";
import { createId } from "../completion.ts";
import { readCallId, readFunction, throwIfError, toFinishReason, toUsage } from "./answer.ts";
import { readContent, toDetail, toExtraContent } from "./content.ts";

interface ChoiceState {
  readonly writer: ChunkWriter;
  isFinished: boolean;
  textLength: number;
  thoughts: string;
  signature: string;
  callCount: number;
  /** The vendor's index of a call → ours. */
  readonly calls: Map<number, number>;
}

export class MistralStreamReader implements ChatStreamReader {
  readonly #choices: ChoiceState[] = [];
  readonly #envelope;

  constructor(reading: Reading) {
    this.#envelope = createEnvelope(reading.model);
  }

  get isComplete(): boolean {
    return this.#choices.length > 0 && this.#choices.every((choice) => choice.isFinished);
  }

  read({ value }: ProviderEvent): readonly ChatChunk[] {
    throwIfError(value);
    if (this.#envelope.id === "") this.#readEnvelope(value);
    const chunks: ChatChunk[] = [];
    for (const choice of asList(value["choices"])) this.#readChoice(asObject(choice), chunks);
    const usage = toUsage(value["usage"]);
    if (usage !== null) chunks.push(toUsageChunk(this.#envelope, usage));
    return chunks;
  }

  #readEnvelope(event: JsonObject): void {
    this.#envelope.id = asString(event["id"]) || createId("chatcmpl-");
    this.#envelope.created = asCount(event["created"]) || this.#envelope.created;
    this.#envelope.model = asString(event["model"]) || this.#envelope.model;
  }

  #readChoice(choice: JsonObject, chunks: ChatChunk[]): void {
    const state = this.#findState(asCount(choice["index"]));
    const { writer } = state;
    const delta = asObject(choice["delta"]);
    const { text, thoughts, signature, annotations, others } = readContent(delta["content"], state.textLength);
    const calls = asList(delta["tool_calls"]);
    const isLast = typeof choice["finish_reason"] === "string";
    if (thoughts !== "") chunks.push(writer.write({ reasoning_content: thoughts }));
    state.thoughts += thoughts;
    state.signature = signature || state.signature;
    // Every piece of reasoning is marked as closed; only the content after it shows that it has ended.
    if (state.thoughts !== "" && (text !== "" || calls.length > 0 || isLast)) {
      chunks.push(writer.write({ reasoning_details: [toDetail(state.thoughts, state.signature)] }));
      state.thoughts = "";
      state.signature = "";
    }
    state.textLength += text.length;
    const isEmpty = text === "" && calls.length === 0 && annotations.length === 0 && others.length === 0;
    if (isEmpty && !isLast && writer.hasBegun) return;
    const written: ChatDelta = {
      ...(writer.hasBegun ? {} : { content: "" }),
      ...(text === "" ? {} : { content: text }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toCallDelta(asObject(call), state)) }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...toExtraContent(others),
    };
    state.isFinished ||= isLast;
    const reason = isLast ? toFinishReason(choice["finish_reason"], state.callCount > 0) : null;
    chunks.push(writer.write(written, reason, choice["logprobs"] ?? null));
  }

  #findState(index: number): ChoiceState {
    let state = this.#choices.find(({ writer }) => writer.index === index);
    if (state === undefined) {
      const writer = new ChunkWriter(this.#envelope, index);
      const empty = { isFinished: false, textLength: 0, thoughts: "", signature: "", callCount: 0 };
      state = { writer, ...empty, calls: new Map() };
      this.#choices.push(state);
    }
    return state;
  }
}

/** A call with an id is a new one, whatever its index: calls that arrive together may all have the same index. */
function toCallDelta(call: JsonObject, state: ChoiceState): ChatToolCallDelta {
  const vendorIndex = asCount(call["index"]);
  const { name, args } = readFunction(call);
  const id = readCallId(call);
  const known = state.calls.get(vendorIndex);
  if (id === "" && known !== undefined) return { index: known, function: { arguments: args } };
  const index = state.callCount++;
  state.calls.set(vendorIndex, index);
  return { index, id: id || createId("call_"), type: "function", function: { name, arguments: args } };
}
