// The events of streamGenerateContent as chunks. Every event is a small answer: parts to add, counts that grow, and at
// the end why it ended.

import type { ChatChunk, ChatChunkChoice, ChatDelta, ChatUsage } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, JsonObject, ProviderEvent, Reading } from "../../dialect.ts";
import { asText, finiteNumber, objectOrNull, objectsIn } from "../../lenient.ts";
import {
  emptyGathered,
  type Gathered,
  gatherPart,
  googleExtra,
  randomId,
  readBlock,
  readFinish,
  toAnnotations,
  toLogprobs,
  toWebSearches,
} from "./candidate.ts";
import { throwErrorIn, unwrap } from "./failure.ts";
import { PartialCall } from "./partial-call.ts";
import { toCallDetails } from "./signature.ts";
import { countWebSearches, fromGeminiUsage } from "./usage.ts";

type Delta = { -readonly [Member in keyof ChatDelta]: ChatDelta[Member] } & { images?: readonly JsonObject[] };

/** One candidate of the answer, while it grows. */
interface Growing {
  readonly index: number;
  hasBegun: boolean;
  hasEnded: boolean;
  isEmpty: boolean;
  callCount: number;
  /** Kept for the places of citations, which come at the end. */
  content: string;
  grounding: unknown;
  partialCall: PartialCall | null;
}

export class GeminiStreamReader implements ChatStreamReader {
  readonly #reading: Reading;
  readonly #created = Math.floor(Date.now() / 1_000);
  readonly #growing: Growing[] = [];
  #id = "";
  #model = "";
  #hasUsage = false;
  /** Counts grow from event to event; one that an event leaves out stays as it was. */
  #counts: JsonObject = {};

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  get isComplete(): boolean {
    return this.#growing.length > 0 && this.#growing.every((one) => one.hasEnded);
  }

  get usageSoFar(): ChatUsage | null {
    return fromGeminiUsage(this.#counts, {
      webSearches: this.#growing.reduce((sum, { grounding }) => sum + countWebSearches(grounding), 0),
      askedTier: this.#reading.serviceTier ?? null,
    });
  }

  read(event: ProviderEvent): readonly ChatChunk[] {
    const answer = unwrap(event.value);
    throwErrorIn(answer);
    if (this.#id === "") this.#begin(answer);
    const chunks: ChatChunk[] = [];
    const candidates = objectsIn(answer["candidates"]);
    for (const [position, candidate] of candidates.entries()) this.#readCandidate(candidate, position, chunks);
    if (candidates.length === 0 && this.#growing.length === 0) this.#readBlock(answer, chunks);
    const counts = objectOrNull(answer["usageMetadata"]);
    if (counts !== null) this.#counts = { ...this.#counts, ...counts };
    if (counts !== null && !this.#hasUsage && this.isComplete) this.#tellUsage(chunks);
    return chunks;
  }

  #begin(answer: JsonObject): void {
    this.#id = asText(answer["responseId"]) ?? `chatcmpl-${randomId()}`;
    this.#model = asText(answer["modelVersion"]) ?? this.#reading.model;
  }

  #readCandidate(candidate: JsonObject, position: number, chunks: ChatChunk[]): void {
    const growing = this.#find(finiteNumber(candidate["index"]) ?? position);
    const gathered = this.#gather(candidate, growing);
    const logprobs = candidate["logprobsResult"] === undefined ? null : toLogprobs(candidate["logprobsResult"]);
    const delta = toDelta(gathered, growing);
    if (delta !== null || logprobs !== null) chunks.push(this.#toChunk(growing, delta ?? {}, null, logprobs));
    if (candidate["groundingMetadata"] !== undefined) growing.grounding = candidate["groundingMetadata"];
    if (growing.hasEnded) return;
    const finish = readFinish(candidate, { isEmpty: growing.isEmpty, hasCalls: growing.callCount > 0 });
    if (finish === null) return;
    growing.hasEnded = true;
    const annotations = growing.grounding === null ? [] : toAnnotations(growing.grounding, growing.content);
    if (annotations.length > 0) chunks.push(this.#toChunk(growing, { annotations }, null, null));
    const searches = toWebSearches(growing.grounding);
    if (searches.length > 0) chunks.push(this.#toChunk(growing, { web_searches: searches }, null, null));
    chunks.push(this.#toChunk(growing, {}, finish, null));
  }

  #gather(candidate: JsonObject, growing: Growing): Gathered {
    const gathered = emptyGathered();
    const parts = objectsIn(objectOrNull(candidate["content"])?.["parts"]);
    for (const part of parts) {
      const whole = part["functionCall"] === undefined ? part : this.#wholeCall(part, growing);
      if (whole !== null) gatherPart(whole, this.#reading.answerTool, gathered);
    }
    return gathered;
  }

  /** Null while more of the call is to come. */
  #wholeCall(part: JsonObject, growing: Growing): JsonObject | null {
    const call = objectOrNull(part["functionCall"]) ?? {};
    const hasMore = call["willContinue"] === true;
    const pending = growing.partialCall;
    if (pending === null && !hasMore && call["partialArgs"] === undefined) return part;
    const partial = pending ?? new PartialCall(call, asText(part["thoughtSignature"]));
    if (pending !== null) pending.add(call);
    growing.partialCall = hasMore ? partial : null;
    return hasMore ? null : partial.toPart();
  }

  #find(index: number): Growing {
    const found = this.#growing.find((one) => one.index === index);
    if (found !== undefined) return found;
    const growing: Growing = {
      index,
      hasBegun: false,
      hasEnded: false,
      isEmpty: true,
      callCount: 0,
      content: "",
      grounding: null,
      partialCall: null,
    };
    this.#growing.push(growing);
    return growing;
  }

  #readBlock(answer: JsonObject, chunks: ChatChunk[]): void {
    const block = readBlock(answer);
    if (block === null) return;
    const growing = this.#find(0);
    growing.hasEnded = true;
    const delta = block.refusal === null ? {} : { refusal: block.refusal };
    chunks.push(this.#toChunk(growing, delta, "content_filter", null));
  }

  #tellUsage(chunks: ChatChunk[]): void {
    const usage = this.usageSoFar;
    if (usage === null) return;
    this.#hasUsage = true;
    chunks.push(this.#chunk([], usage));
  }

  #toChunk(
    growing: Growing,
    delta: Delta,
    finish: ChatChunkChoice["finish_reason"],
    logprobs: JsonObject | null,
  ): ChatChunk {
    if (!growing.hasBegun) {
      growing.hasBegun = true;
      delta = { role: "assistant", content: "", ...delta };
    }
    return this.#chunk([
      { index: growing.index, delta, finish_reason: finish, ...(logprobs === null ? {} : { logprobs }) },
    ]);
  }

  #chunk(choices: readonly ChatChunkChoice[], usage?: ChatUsage): ChatChunk {
    return {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: this.#model,
      choices,
      ...(usage === undefined ? {} : { usage }),
    };
  }
}

/** Null when there is nothing to say. */
function toDelta(gathered: Gathered, growing: Growing): Delta | null {
  const { content, reasoning, calls, images } = gathered;
  const extra = googleExtra(gathered);
  if (content === "" && reasoning === "" && calls.length === 0 && images.length === 0 && extra === null) return null;
  const delta: Delta = {};
  if (reasoning !== "") delta.reasoning_content = reasoning;
  if (content !== "") {
    delta.content = content;
    growing.content += content;
  }
  if (calls.length > 0) {
    delta.tool_calls = calls.map((call, offset) => ({ index: growing.callCount + offset, ...call }));
    growing.callCount += calls.length;
    const details = toCallDetails(calls);
    if (details.length > 0) delta.reasoning_details = details;
  }
  if (images.length > 0) delta.images = images;
  if (extra !== null) delta.extra_content = extra;
  if (content !== "" || calls.length > 0 || images.length > 0) growing.isEmpty = false;
  return delta;
}
