// Reasoning that a provider expects to receive again in the next turn (signed and encrypted reasoning, signatures of calls and of text),
// packed into one string: the `encrypted_content` of a reasoning item, or the signature of a thinking block. Clients of both formats
// return that string unchanged. It is not secret: it contains only data that the provider sent to this caller.

import type { ReasoningDetail } from "../contract/chat-format.ts";
import { scanJson } from "../lib/json-scan.ts";
import { isObject } from "../lib/lenient-json.ts";

export type ExtraContent = Readonly<Record<string, unknown>>;

export interface ReasoningState {
  /**
   * The only provider that can use it. Null for providers of other dialects: their translations recognize the reasoning of a
   * provider of the same dialect.
   */
  readonly origin: string | null;
  readonly details: readonly ReasoningDetail[];
  /** `extra_content` of calls, by their `call_id`. */
  readonly calls: ReadonlyMap<string, ExtraContent>;
  /** `extra_content` of the message. */
  readonly message: ExtraContent | null;
}

// The number is the version of the encoding.
const prefix = "sy1.";
// JSON.stringify cannot write deeper nesting, and no provider sends it.
const limits = { maxDepth: 64, maxTokens: 250_000 };

export function toEncryptedContent({ origin, details, calls, message }: ReasoningState): string {
  const packed = {
    ...(origin !== null && { origin }),
    ...(details.length > 0 && { details }),
    ...(calls.size > 0 && { calls: [...calls] }),
    ...(message !== null && { message }),
  };
  return `${prefix}${Buffer.from(JSON.stringify(packed)).toString("base64url")}`;
}

/** Null when the gateway did not create the text: it belongs to a provider. */
export function readEncryptedContent(text: string): ReasoningState | null {
  if (!text.startsWith(prefix)) return null;
  const json = Buffer.from(text.slice(prefix.length), "base64url").toString();
  const { tooDeepIn, tooComplex } = scanJson(json, limits);
  if (tooDeepIn !== null || tooComplex) return null;
  try {
    const value: unknown = JSON.parse(json);
    if (!isObject(value)) return null;
    const { origin, details, calls, message } = value;
    return {
      origin: typeof origin === "string" ? origin : null,
      details: listOf(details).filter(isDetail),
      calls: new Map(listOf(calls).filter(isCall)),
      message: isObject(message) ? message : null,
    };
  } catch {
    return null;
  }
}

/** Joins the lists of several pieces for one vendor; of any other member the later value counts. */
export function mergeExtraContent(earlier: ExtraContent | null, later: ExtraContent): ExtraContent {
  if (earlier === null) return later;
  const merged = new Map<string, unknown>(Object.entries(earlier));
  for (const [name, value] of Object.entries(later)) {
    const before = merged.get(name);
    if (isObject(before) && isObject(value)) merged.set(name, mergeExtraContent(before, value));
    else merged.set(name, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value);
  }
  return Object.fromEntries(merged);
}

function isDetail(value: unknown): value is ReasoningDetail {
  if (!isObject(value)) return false;
  switch (value["type"]) {
    case "reasoning.text":
      return isText(value["text"]) && isText(value["signature"]);
    case "reasoning.summary":
      return typeof value["summary"] === "string";
    default:
      return value["type"] === "reasoning.encrypted" && typeof value["data"] === "string";
  }
}

/** Vendors omit an empty text, or write null. */
function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string";
}

function isCall(value: unknown): value is [string, ExtraContent] {
  return Array.isArray(value) && typeof value[0] === "string" && isObject(value[1]);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isEmpty({ details, calls, message }: ReasoningState): boolean {
  return details.length === 0 && calls.size === 0 && message === null;
}

/** Collects the reasoning state of a streamed answer until an item or a block carries it to the caller. */
export class ReasoningCollector {
  readonly #origin: string | null;
  #details: ReasoningDetail[] = [];
  #calls = new Map<string, ExtraContent>();
  #message: ExtraContent | null = null;

  constructor(origin: string | null) {
    this.#origin = origin;
  }

  /** Streams that split a block of reasoning into pieces number it; the pieces are joined into one detail. */
  addDetail(detail: ReasoningDetail): void {
    const last = this.#details.at(-1);
    const isNext = last !== undefined && detail.index !== undefined && last.index === detail.index;
    if (isNext && last.type === "reasoning.text" && detail.type === "reasoning.text" && !last.signature)
      this.#details.splice(-1, 1, { ...last, ...detail, text: `${last.text ?? ""}${detail.text ?? ""}` });
    else if (isNext && last.type === "reasoning.summary" && detail.type === "reasoning.summary")
      this.#details.splice(-1, 1, { ...last, ...detail, summary: `${last.summary}${detail.summary}` });
    else this.#details.push(detail);
  }

  setCall(callId: string, extra: ExtraContent): void {
    this.#calls.set(callId, extra);
  }

  addMessage(extra: ExtraContent): void {
    this.#message = mergeExtraContent(this.#message, extra);
  }

  /** Returns the collected state, and starts again. */
  take(): ReasoningState {
    const state = { origin: this.#origin, details: this.#details, calls: this.#calls, message: this.#message };
    this.#details = [];
    this.#calls = new Map();
    this.#message = null;
    return state;
  }

  get isEmpty(): boolean {
    return this.#details.length === 0 && this.#calls.size === 0 && this.#message === null;
  }
}
