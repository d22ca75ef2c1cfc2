// The events of a streamed answer as chunks: the same but for thoughts, and for usage, which comes with the last choice.

import type { ChatChunk, ChatDelta, ChatToolCallDelta } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, JsonObject, ProviderEvent, Reading } from "../../dialect.ts";
import { asCount, asList, asObject, asString } from "../../lenient.ts";
import { createId, nowSeconds } from "../new-answer.ts";
import { readCallId, readFunction, throwIfError, toDetail, toFinishReason, toUsage } from "./answer.ts";
import { readContent } from "./thoughts.ts";

/** One of the answers that are told side by side. */
interface ChoiceState {
  readonly index: number;
  hasBegun: boolean;
  isFinished: boolean;
  textLength: number;
  thoughts: string;
  signature: string;
  callCount: number;
  /** The vendor's number of a call → ours. */
  readonly calls: Map<number, number>;
}

export class MistralStreamReader implements ChatStreamReader {
  readonly #choices: ChoiceState[] = [];
  readonly #frame: { id: string; object: "chat.completion.chunk"; created: number; model: string };
  #hasFrame = false;

  constructor(reading: Reading) {
    this.#frame = { id: "", object: "chat.completion.chunk", created: nowSeconds(), model: reading.model };
  }

  get isComplete(): boolean {
    return this.#choices.length > 0 && this.#choices.every((choice) => choice.isFinished);
  }

  read({ value }: ProviderEvent): readonly ChatChunk[] {
    throwIfError(value);
    if (!this.#hasFrame) this.#readFrame(value);
    const chunks: ChatChunk[] = [];
    for (const choice of asList(value["choices"])) this.#readChoice(asObject(choice), chunks);
    const usage = toUsage(value["usage"]);
    if (usage !== null) chunks.push({ ...this.#frame, choices: [], usage });
    return chunks;
  }

  #readFrame(event: JsonObject): void {
    this.#hasFrame = true;
    this.#frame.id = asString(event["id"]) || createId("chatcmpl-");
    this.#frame.created = asCount(event["created"]) || this.#frame.created;
    this.#frame.model = asString(event["model"]) || this.#frame.model;
  }

  #readChoice(choice: JsonObject, chunks: ChatChunk[]): void {
    const state = this.#stateOf(asCount(choice["index"]));
    const delta = asObject(choice["delta"]);
    const { text, thoughts, signature, annotations, others } = readContent(delta["content"], state.textLength);
    const calls = asList(delta["tool_calls"]);
    const isLast = typeof choice["finish_reason"] === "string";
    if (thoughts !== "") chunks.push(this.#chunk(state, { reasoning_content: thoughts }));
    state.thoughts += thoughts;
    state.signature = signature || state.signature;
    // That a thought is closed is told with each of its pieces: only what follows it shows its end.
    if (state.thoughts !== "" && (text !== "" || calls.length > 0 || isLast)) {
      chunks.push(this.#chunk(state, { reasoning_details: [toDetail(state.thoughts, state.signature)] }));
      state.thoughts = "";
      state.signature = "";
    }
    state.textLength += text.length;
    const told: ChatDelta = {
      ...(text === "" ? {} : { content: text }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toCallDelta(asObject(call), state)) }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(others.length === 0 ? {} : { extra_content: { mistral: { parts: others } } }),
    };
    const isEmpty = text === "" && calls.length === 0 && annotations.length === 0 && others.length === 0;
    if (isEmpty && !isLast && state.hasBegun) return;
    const reason = isLast ? toFinishReason(choice["finish_reason"], state.callCount > 0) : null;
    if (isLast) state.isFinished = true;
    chunks.push(
      this.#chunk(state, state.hasBegun ? told : { content: "", ...told }, reason, choice["logprobs"] ?? null),
    );
  }

  #stateOf(index: number): ChoiceState {
    let state = this.#choices.find((choice) => choice.index === index);
    if (state === undefined) {
      state = {
        index,
        hasBegun: false,
        isFinished: false,
        textLength: 0,
        thoughts: "",
        signature: "",
        callCount: 0,
        calls: new Map(),
      };
      this.#choices.push(state);
    }
    return state;
  }

  #chunk(
    state: ChoiceState,
    delta: ChatDelta,
    finish_reason: ChatChunk["choices"][number]["finish_reason"] = null,
    logprobs: unknown = null,
  ): ChatChunk {
    const first: ChatDelta = state.hasBegun ? delta : { role: "assistant", ...delta };
    state.hasBegun = true;
    const choice = { index: state.index, delta: first, finish_reason, ...(logprobs === null ? {} : { logprobs }) };
    return { ...this.#frame, choices: [choice] };
  }
}

/** A call with an id is a new one, whatever its number: calls that come together may all have the same. */
function toCallDelta(call: JsonObject, state: ChoiceState): ChatToolCallDelta {
  const number = asCount(call["index"]);
  const { name, args } = readFunction(call);
  const id = readCallId(call);
  const known = state.calls.get(number);
  if (id === "" && known !== undefined) return { index: known, function: { arguments: args } };
  const index = state.callCount++;
  state.calls.set(number, index);
  return { index, id: id || createId("call_"), type: "function", function: { name, arguments: args } };
}
