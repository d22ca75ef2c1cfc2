// Splits usage into disjoint parts: every token of a request is counted once, in the part by which it is billed. Reads a usage object in any
// spelling that vendors of the chat format use.

import type { TokenPart } from "../catalogue/price-rates.ts";
import type { JsonObject } from "../lib/lenient-json.ts";

/** The tokens of each part; a token is counted once. */
export type TokenParts = Readonly<Record<TokenPart, number>>;

const nothing: JsonObject = {};
const detailNames = ["tokens_details", "token_details"];
const inputDetailNames = detailNames.flatMap((name) => [`prompt_${name}`, `input_${name}`]);
const outputDetailNames = detailNames.flatMap((name) => [`completion_${name}`, `output_${name}`]);

/**
 * Null when the usage lacks the input count. Details that exceed their total are cut, in this order: cache reads, cache writes, audio, video,
 * images; of the output reasoning, audio, images. The remainder is text.
 */
export function readTokenParts(usage: unknown): TokenParts | null {
  const members = toMembers(usage);
  const totals = readTotals(members);
  if (totals === null) return null;
  const { prompt, completion } = totals;
  const inputDetails = firstMembers(members, ...inputDetailNames);

  let rest = prompt;
  const cached = Math.min(readCacheRead(members, inputDetails), rest);
  rest -= cached;
  const { written, writtenFor1h } = readCacheWrite(members, inputDetails);
  const cacheWrite = Math.min(written, rest);
  rest -= cacheWrite;
  const cacheWrite1h = Math.min(writtenFor1h, cacheWrite);

  // The counts of audio and images include their cached part, which some vendors state.
  const cachedDetails = toMembers(inputDetails["cached_tokens_details"]);
  const cacheReadAudio = Math.min(count(cachedDetails["audio_tokens"]), cached);
  const cacheReadImage = Math.min(count(cachedDetails["image_tokens"]), cached - cacheReadAudio);
  const audioInput = Math.min(Math.max(count(inputDetails["audio_tokens"]) - cacheReadAudio, 0), rest);
  rest -= audioInput;
  const videoInput = Math.min(count(inputDetails["video_tokens"]), rest);
  rest -= videoInput;
  const imageInput = Math.min(Math.max(count(inputDetails["image_tokens"]) - cacheReadImage, 0), rest);
  rest -= imageInput;

  const output = readOutput(members, prompt, completion);
  return {
    input: rest,
    cacheRead: cached - cacheReadAudio - cacheReadImage,
    cacheReadAudio,
    cacheReadImage,
    cacheWrite5m: cacheWrite - cacheWrite1h,
    cacheWrite1h,
    audioInput,
    imageInput,
    videoInput,
    ...output,
  };
}

/** The parts that are billed: some vendors count more input than they bill, such as a prompt of their own. */
export function readBilledParts(usage: unknown): TokenParts | null {
  return readTokenParts(toMembers(usage)["billed_units"]) ?? readTokenParts(usage);
}

/** The parts of everything that was billed, also of runs that the totals leave out. */
export function readAllParts(usage: unknown): TokenParts | null {
  const iterations = readIterations(usage);
  if (iterations === null) return readBilledParts(usage);
  const sum: Record<string, number> = {};
  for (const { parts } of iterations)
    for (const [name, count] of Object.entries(parts)) sum[name] = (sum[name] ?? 0) + count;
  // Every iteration has all parts, and there is at least one.
  return sum as TokenParts;
}

export function countInput(parts: TokenParts): number {
  const { input, cacheRead, cacheReadAudio, cacheReadImage, cacheWrite5m, cacheWrite1h } = parts;
  const text = input + cacheRead + cacheReadAudio + cacheReadImage + cacheWrite5m + cacheWrite1h;
  return text + parts.audioInput + parts.imageInput + parts.videoInput;
}

export function countOutput({ output, reasoning, audioOutput, imageOutput }: TokenParts): number {
  return output + reasoning + audioOutput + imageOutput;
}

export function countCached({ cacheRead, cacheReadAudio, cacheReadImage }: TokenParts): number {
  return cacheRead + cacheReadAudio + cacheReadImage;
}

/** The names of the counts in a format. */
const chatNames = { input: "prompt_tokens", output: "completion_tokens", details: "completion_tokens_details" };
export const responsesNames = { input: "input_tokens", output: "output_tokens", details: "output_tokens_details" };

/**
 * The usage with all reasoning in its output, and with a total that is the sum: callers of these formats rely on both. Its parts are the
 * same. A usage that is so already, as most are, is returned itself; so is one that lacks a count.
 */
export function toSummedUsage<Usage>(usage: Usage, names = chatNames): Usage {
  const members = toMembers(usage);
  const input = readCount(members[names.input]);
  const output = readCount(members[names.output]);
  if (input === null || output === null) return usage;
  const beside = count(members["reasoning_tokens"]);
  if (members["total_tokens"] === input + output && beside <= output) return usage;
  const { details, onTop, reasoning } = readReasoning(members, input, output);
  const whole = output + onTop;
  return {
    ...members,
    [names.output]: whole,
    ...(onTop > 0 && { [names.details]: { ...details, reasoning_tokens: reasoning } }),
    ...(beside > whole && { reasoning_tokens: reasoning }),
    total_tokens: input + whole,
  } as Usage;
}

/** One run of a model within an answer. */
export interface Iteration {
  readonly type: string;
  /** Null: the model that answered. */
  readonly model: string | null;
  readonly parts: TokenParts;
}

/**
 * The runs by which an answer is billed, where its usage lists them: the totals of such a usage leave out runs that summarized the
 * conversation or called another model. Null when the totals are billed.
 */
export function readIterations(usage: unknown): readonly Iteration[] | null {
  const list = toMembers(usage)["iterations"];
  if (!Array.isArray(list) || list.length === 0) return null;
  const iterations: Iteration[] = [];
  for (const entry of toList(list)) {
    const { type, model } = entry;
    const parts = readTokenParts(entry);
    if (parts === null) return null;
    iterations.push({ type: String(type), model: typeof model === "string" ? model : null, parts });
  }
  return iterations;
}

export function toList(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(toMembers) : [];
}

function readTotals(members: JsonObject): { prompt: number; completion: number } | null {
  const total = readCount(members["total_tokens"]);
  const completion = readCount(members["completion_tokens"]) ?? readCount(members["output_tokens"]);
  const prompt = readPrompt(members);
  if (prompt !== null) return { prompt, completion: completion ?? Math.max((total ?? prompt) - prompt, 0) };
  // Some vendors report only a total for embeddings.
  return total === null ? null : { prompt: Math.max(total - (completion ?? 0), 0), completion: completion ?? 0 };
}

function readPrompt(members: JsonObject): number | null {
  const prompt = readCount(members["prompt_tokens"]);
  if (prompt !== null) return prompt;
  const input = readCount(members["input_tokens"]);
  if (input === null) return null;
  // Beside `input_tokens`, these two counts are not part of it.
  return input + count(members["cache_read_input_tokens"]) + count(members["cache_creation_input_tokens"]);
}

/** Vendors use many names for one count; where two are present, one may be an empty default. */
function readCacheRead(members: JsonObject, details: JsonObject): number {
  return Math.max(
    count(details["cached_tokens"]),
    count(members["prompt_cache_hit_tokens"]),
    count(members["cached_tokens"]),
    count(members["num_cached_tokens"]),
    count(members["cache_read_input_tokens"]),
  );
}

function readCacheWrite(members: JsonObject, details: JsonObject): { written: number; writtenFor1h: number } {
  const byLifetime = toMembers(members["cache_creation"]);
  const for5m = count(byLifetime["ephemeral_5m_input_tokens"]);
  const for1h = Math.max(count(details["cache_write_1h_tokens"]), count(byLifetime["ephemeral_1h_input_tokens"]));
  const written = Math.max(
    count(details["cache_write_tokens"]),
    count(details["cache_creation_tokens"]),
    count(members["cache_creation_input_tokens"]),
    for5m + for1h,
  );
  return { written, writtenFor1h: for1h };
}

function readOutput(members: JsonObject, prompt: number, completion: number) {
  const { details, onTop, reasoning } = readReasoning(members, prompt, completion);
  let rest = completion + onTop - reasoning;
  const audioOutput = Math.min(count(details["audio_tokens"]), rest);
  rest -= audioOutput;
  const imageOutput = Math.min(count(details["image_tokens"]), rest);
  return { output: rest - imageOutput, reasoning, audioOutput, imageOutput };
}

/** `onTop` is the part of the reasoning that the completion does not include. */
function readReasoning(members: JsonObject, prompt: number, completion: number) {
  const details = firstMembers(members, ...outputDetailNames);
  const inDetails = Math.max(count(details["reasoning_tokens"]), count(details["thinking_tokens"]));
  const besideDetails = count(members["reasoning_tokens"]);
  const gap = count(members["total_tokens"]) - prompt - completion;
  const onTop = countReasoningOnTop({ gap, inDetails, besideDetails, completion });
  return { details, onTop, reasoning: Math.min(Math.max(inDetails, besideDetails, onTop), completion + onTop) };
}

/**
 * Most vendors include reasoning in the completion. For those that add it, the total is larger than prompt and completion: by the reasoning
 * that they state, or by reasoning that they do not state.
 */
function countReasoningOnTop(counts: { gap: number; inDetails: number; besideDetails: number; completion: number }) {
  const { gap, inDetails, besideDetails, completion } = counts;
  if (gap > 0) return inDetails > 0 ? Math.min(gap, inDetails) : gap;
  // A count outside of the details that exceeds the completion cannot be a part of it.
  return besideDetails > completion ? besideDetails : 0;
}

export function toMembers(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : nothing;
}

function firstMembers(members: JsonObject, ...names: readonly string[]): JsonObject {
  for (const name of names) {
    const found = members[name];
    if (typeof found === "object" && found !== null) return found as JsonObject;
  }
  return nothing;
}

// A larger count is a mistake of the vendor; the bound keeps every sum an exact integer.
const mostTokens = 1_000_000_000_000;

/** Null when there is no count. A negative count is 0. */
function readCount(value: unknown): number | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  return Math.min(Math.max(Math.trunc(value), 0), mostTokens);
}

export function count(value: unknown): number {
  return readCount(value) ?? 0;
}
