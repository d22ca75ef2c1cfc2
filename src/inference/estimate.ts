// What a call may use at most, before it is sent: an estimate that limits reserve. The input is estimated from the bytes of the request, the
// output from the limit that the request sets.

import type { Demand } from "../access/call-limits.ts";
import type { Task } from "../contract/tasks.ts";
import type { Engine, InputFile, TaskCall } from "../engines/engine.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import { picoPerUsd } from "../lib/money.ts";
import { findListPrice } from "./universal-ai/unit-price.ts";

/** The parts of a request that its estimate depends on. */
export interface RequestShape {
  /** The body as JSON text. */
  readonly body: string;
  /** The most output tokens per choice that the request allows; null or absent: it sets no limit. */
  readonly maxOutputTokens?: number | null | undefined;
  readonly choices?: number | null | undefined;
  /** How many calls with this body make up the request. */
  readonly calls?: number;
  readonly serviceTier?: unknown;
}

// English has about four bytes per token, program code and Chinese about three.
const bytesPerToken = 3;
// Below this length, a body holds no media.
const shortBody = 4_096;
/** A text of the characters of base64 that is at least as long holds bytes. */
const leastBase64 = 2_048;
/** What vendors charge for an image is bounded by the number of its tiles, not by its bytes. */
const tokensPerImage = 2_000;
const tokensPerAddress = 10_000;
/** Documents and audio: pages and seconds are not known yet. */
const mediaBytesPerToken = 100;
const leastMediaTokens = 1_000;
/** A conversation that the provider stores is part of the input, and only the provider knows how long it is. */
const storedHistoryTokens = 8_192;
const storedHistory = /"(?:previous_response_id|conversation)"\s*:\s*["{]/;
/** Writing to a prompt cache costs more than plain input. */
const cacheWriteFactors = { none: 1, minutes: 1.25, hour: 2 };

/** The cost of this many tokens in pico-dollars; null when the price is unknown. */
export type EstimateCost = (inputTokens: number, outputTokens: number, serviceTier: unknown) => number | null;

export interface OutputLimits {
  /** For a request that sets no limit itself. */
  readonly usual: number;
  /** The documented maximum of the model; absent: it is unknown. */
  readonly most?: number | undefined;
}

export function estimateCall(shape: RequestShape, { usual, most }: OutputLimits, estimateCost: EstimateCost): Demand {
  const { maxOutputTokens, choices, calls = 1, serviceTier } = shape;
  const input = Math.ceil(estimateInput(shape.body) * calls);
  const output = Math.min(maxOutputTokens ?? usual, most ?? Number.POSITIVE_INFINITY) * Math.max(1, choices ?? 1);
  let pico: number | null | undefined;
  return {
    inputTokens: input,
    outputTokens: output,
    // Computed when a budget asks: limits of tokens need no price.
    get pico() {
      if (pico === undefined)
        pico = estimateCost(Math.max(1, Math.ceil(input * readCacheFactor(shape.body))), output, serviceTier);
      return pico;
    },
  };
}

function estimateInput(body: string): number {
  const bytes = Buffer.byteLength(body);
  const history = body.length > 0 && storedHistory.test(body) ? storedHistoryTokens : 0;
  if (body.length < shortBody && !body.includes("://")) return bytes / bytesPerToken + history;
  const media = findMedia(body);
  return (bytes - media.bytes) / bytesPerToken + media.tokens + history;
}

const mediaTexts = new RegExp(
  String.raw`"(data:[^",]{0,100},)?[A-Za-z0-9+/=_\\-]{${leastBase64},}"|"https?://[^"\s]{1,4096}"`,
  "g",
);

/** The bytes of the body that are media, and the tokens that stand for them. */
function findMedia(body: string): { bytes: number; tokens: number } {
  let bytes = 0;
  let tokens = 0;
  for (const { 0: text, 1: prefix, index } of body.matchAll(mediaTexts)) {
    if (text.startsWith('"http')) {
      // An address in a text is a text; one that is a member of its own is fetched.
      if (!/(?:url|uri)"\s*:\s*$/.test(body.slice(Math.max(0, index - 20), index))) continue;
      tokens += body.slice(Math.max(0, index - 60), index).includes("image") ? tokensPerImage : tokensPerAddress;
      continue;
    }
    bytes += text.length;
    const before = prefix ?? body.slice(Math.max(0, index - 120), index);
    tokens += before.includes("image/")
      ? tokensPerImage
      : Math.max(leastMediaTokens, Math.ceil(text.length / mediaBytesPerToken));
  }
  return { bytes, tokens };
}

function readCacheFactor(body: string): number {
  if (!body.includes('"cache_control"')) return cacheWriteFactors.none;
  return body.includes('"1h"') ? cacheWriteFactors.hour : cacheWriteFactors.minutes;
}

// The most that a file or an answer of unknown size is expected to have.
const estimatedUnits = { pages: 10, tokens: 10_000, seconds: 60 };
const bytesPerPage = 50_000;
const bytesPerSecond = 4_000;
const charactersPerMinute = 900;

/** A task at a price per unit. Engines that call models of their own reserve for each of those calls. */
export function estimateTask(
  task: Task,
  { engine, model }: { readonly engine: Engine; readonly model: string | null },
  call: Pick<TaskCall, "input" | "files">,
): Demand {
  const nothing = { inputTokens: 0, outputTokens: 0, pico: 0 };
  if (engine.isFree === true || engine.isPaidByToken === true || engine.isSandbox === true) return nothing;
  const price = findListPrice(task, engine.provider, model) ?? findTypicalPrice(task, engine);
  if (price === null) return { ...nothing, pico: null };
  const units = estimateUnits(price.unit, call.input as JsonObject, Object.values(call.files));
  return { ...nothing, pico: Math.ceil((Math.round(price.price * picoPerUsd) * units) / price.quantity) };
}

/** A model that is charged by its tokens may lack a list price, as its dated versions do. Then that of the provider is near enough to reserve. */
function findTypicalPrice(task: Task, { provider, tokenModel }: Engine) {
  return tokenModel === undefined ? null : findListPrice(task, provider, null);
}

function estimateUnits(unit: string, input: JsonObject, files: readonly InputFile[]): number {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  switch (unit) {
    case "char":
      return Math.max(countCharacters(input), bytes);
    case "token":
      return Math.max(estimatedUnits.tokens, Math.ceil((countCharacters(input) + bytes) / bytesPerToken));
    case "page":
      return Math.max(1, Math.min(estimatedUnits.pages * Math.max(1, files.length), Math.ceil(bytes / bytesPerPage)));
    case "image":
      return readCount(input["num_images"]) ?? Math.max(1, files.length);
    case "second":
      return readCount(input["duration"]) ?? Math.max(estimatedUnits.seconds, Math.ceil(bytes / bytesPerSecond));
    case "exec_time":
      return estimatedUnits.seconds;
    case "minute":
      return Math.max(
        Math.ceil(countCharacters(input) / charactersPerMinute),
        Math.ceil(bytes / bytesPerSecond / 60),
        1,
      );
    default:
      return 1;
  }
}

function readCount(value: unknown): number | null {
  return typeof value === "number" && value >= 1 ? Math.ceil(value) : null;
}

function countCharacters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let sum = 0;
  for (const one of Object.values(value)) sum += countCharacters(one);
  return sum;
}
