// Reads the events of streamGenerateContent as chunks. Every event is a small answer: parts to add, growing counts, and finally the finish
// reason.

import type { ChatChunk, ChatDelta, ChatUsage } from "../../../contract/chat-format.ts";
import type { ChatStreamReader, JsonObject, ProviderEvent, Reading } from "../../dialect.ts";
import { asText, finiteNumber, objectOrNull, objectsIn } from "../../lenient.ts";
import { ChunkWriter, createEnvelope, type Envelope, toUsageChunk } from "../chunk-writer.ts";
import type { Gathered } from "./candidate.ts";
import { gatherParts, readBlock, readFinish, readGrounding, toExtraContent, toLogprobs } from "./candidate.ts";
import { throwErrorIn, unwrap } from "./failure.ts";
import { PartialCall } from "./partial-call.ts";
import { toCallDetails } from "./signature.ts";
import { countWebSearches, fromGeminiUsage } from "./usage.ts";

type Delta = { -readonly [Member in keyof ChatDelta]: ChatDelta[Member] } & { images?: readonly JsonObject[] };

/** One candidate of the answer. */
interface Candidate {
  readonly writer: ChunkWriter;
  hasEnded: boolean;
  isEmpty: boolean;
  callCount: number;
  /** For the positions of citations, which arrive at the end. */
  content: string;
  grounding: unknown;
  continuationToken: string | null;
  partialCall: PartialCall | null;
}

export class GeminiStreamReader implements ChatStreamReader {
  readonly #reading: Reading;
  readonly #envelope: Envelope;
  readonly #candidates: Candidate[] = [];
  #hasUsage = false;
  /** Counts grow from event to event; an event may omit some of them. */
  #counts: JsonObject = {};

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#envelope = createEnvelope("");
  }

  get isComplete(): boolean {
    return this.#candidates.length > 0 && this.#candidates.every((candidate) => candidate.hasEnded);
  }

  get usageSoFar(): ChatUsage | null {
    const webSearches = countWebSearches(this.#candidates.map(({ grounding }) => grounding));
    return fromGeminiUsage(this.#counts, { webSearches, requestedTier: this.#reading.serviceTier ?? null });
  }

  read(event: ProviderEvent): readonly ChatChunk[] {
    const answer = unwrap(event.value);
    throwErrorIn(answer);
    if (this.#envelope.model === "") this.#begin(answer);
    const chunks: ChatChunk[] = [];
    const candidates = objectsIn(answer["candidates"]);
    for (const [position, candidate] of candidates.entries()) this.#readCandidate(candidate, position, chunks);
    if (candidates.length === 0 && this.#candidates.length === 0) this.#readBlock(answer, chunks);
    const counts = objectOrNull(answer["usageMetadata"]);
    if (counts === null) return chunks;
    this.#counts = { ...this.#counts, ...counts };
    const usage = !this.#hasUsage && this.isComplete ? this.usageSoFar : null;
    if (usage !== null) {
      this.#hasUsage = true;
      chunks.push(toUsageChunk(this.#envelope, usage));
    }
    return chunks;
  }

  #begin(answer: JsonObject): void {
    this.#envelope.id = asText(answer["responseId"]) ?? "";
    this.#envelope.model = asText(answer["modelVersion"]) ?? this.#reading.model;
  }

  #readCandidate(value: JsonObject, position: number, chunks: ChatChunk[]): void {
    const candidate = this.#find(finiteNumber(value["index"]) ?? position);
    const { writer } = candidate;
    const logprobs = value["logprobsResult"] === undefined ? null : toLogprobs(value["logprobsResult"]);
    const gathered = gatherParts(value, this.#reading.answerTool, (part) => completeCall(part, candidate));
    const delta = toDelta(gathered, candidate);
    if (delta !== null || logprobs !== null) chunks.push(writer.write(delta ?? {}, null, logprobs));
    if (value["groundingMetadata"] !== undefined) candidate.grounding = value["groundingMetadata"];
    candidate.continuationToken = asText(value["continuationToken"]) ?? candidate.continuationToken;
    if (candidate.hasEnded) return;
    const finish = readFinish(value, { isEmpty: candidate.isEmpty, hasCalls: candidate.callCount > 0 });
    if (finish === null) return;
    candidate.hasEnded = true;
    const { annotations, web_searches } = readGrounding(candidate.grounding, candidate.content);
    if (annotations.length > 0) chunks.push(writer.write({ annotations }));
    if (web_searches.length > 0) chunks.push(writer.write({ web_searches }));
    chunks.push(withToken(writer.write({}, finish), candidate.continuationToken));
  }

  #find(index: number): Candidate {
    const found = this.#candidates.find(({ writer }) => writer.index === index);
    if (found !== undefined) return found;
    const writer = new ChunkWriter(this.#envelope, index, { role: "assistant", content: "" });
    const candidate: Candidate = {
      writer,
      hasEnded: false,
      isEmpty: true,
      callCount: 0,
      content: "",
      grounding: null,
      continuationToken: null,
      partialCall: null,
    };
    this.#candidates.push(candidate);
    return candidate;
  }

  #readBlock(answer: JsonObject, chunks: ChatChunk[]): void {
    const block = readBlock(answer);
    if (block === null) return;
    const candidate = this.#find(0);
    candidate.hasEnded = true;
    const delta = block.refusal === null ? {} : { refusal: block.refusal };
    chunks.push(candidate.writer.write(delta, "content_filter"));
  }
}

function withToken(chunk: ChatChunk, token: string | null): ChatChunk {
  if (token === null) return chunk;
  return { ...chunk, choices: chunk.choices.map((choice) => ({ ...choice, continuation_token: token })) };
}

/** Null while the call is incomplete. */
function completeCall(part: JsonObject, candidate: Candidate): JsonObject | null {
  if (part["functionCall"] === undefined) return part;
  const call = objectOrNull(part["functionCall"]) ?? {};
  const hasMore = call["willContinue"] === true;
  const pending = candidate.partialCall;
  if (pending === null && !hasMore && call["partialArgs"] === undefined) return part;
  const partial = pending ?? new PartialCall(call, asText(part["thoughtSignature"]));
  if (pending !== null) pending.add(call);
  candidate.partialCall = hasMore ? partial : null;
  return hasMore ? null : partial.toPart();
}

/** Null for a delta without content. */
function toDelta(gathered: Gathered, candidate: Candidate): Delta | null {
  const { content, reasoning, calls, images } = gathered;
  const extra = toExtraContent(gathered);
  const isEmpty = content === "" && calls.length === 0 && images.length === 0;
  if (isEmpty && reasoning === "" && extra === null) return null;
  const delta: Delta = {};
  if (reasoning !== "") delta.reasoning_content = reasoning;
  if (content !== "") {
    delta.content = content;
    candidate.content += content;
  }
  if (calls.length > 0) {
    delta.tool_calls = calls.map((call, offset) => ({ index: candidate.callCount + offset, ...call }));
    candidate.callCount += calls.length;
    const details = toCallDetails(calls);
    if (details.length > 0) delta.reasoning_details = details;
  }
  if (images.length > 0) delta.images = images;
  if (extra !== null) delta.extra_content = extra;
  if (!isEmpty) candidate.isEmpty = false;
  return delta;
}
