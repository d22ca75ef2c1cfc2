// What a provider wants back in the next turn (signed and encrypted reasoning, signatures of calls and of text), packed into one
// string: the `encrypted_content` of a reasoning item, or the signature of a thinking block. Clients of both formats send that
// back unread. It is not secret: it holds nothing but what the provider told this caller.

import type { ReasoningDetail } from "../../contract/chat-format.ts";
import { scanJson } from "../../lib/json-scan.ts";
import { isObject } from "../../lib/lenient-json.ts";

export type ExtraContent = Readonly<Record<string, unknown>>;

export interface Kept {
  /**
   * The provider that alone can use it. Null for providers of other dialects: their translations recognise by themselves what
   * comes from a provider of the same dialect.
   */
  readonly origin: string | null;
  readonly details: readonly ReasoningDetail[];
  /** `extra_content` of calls, by their `call_id`. */
  readonly calls: ReadonlyMap<string, ExtraContent>;
  /** `extra_content` of the message. */
  readonly message: ExtraContent | null;
}

// The number is the form's: another form gets another.
const prefix = "sy1.";
// What nests deeper cannot be written again by JSON.stringify, and no provider gives it.
const limits = { maxDepth: 64, maxTokens: 250_000 };

export function toEncryptedContent({ origin, details, calls, message }: Kept): string {
  const held = {
    ...(origin !== null && { origin }),
    ...(details.length > 0 && { details }),
    ...(calls.size > 0 && { calls: [...calls] }),
    ...(message !== null && { message }),
  };
  return `${prefix}${Buffer.from(JSON.stringify(held)).toString("base64url")}`;
}

/** Null when it is not ours: another provider's is closed to this one. */
export function readEncryptedContent(text: string): Kept | null {
  if (!text.startsWith(prefix)) return null;
  const json = Buffer.from(text.slice(prefix.length), "base64url").toString();
  const { tooDeepIn, tooComplex } = scanJson(json, limits);
  if (tooDeepIn !== null || tooComplex) return null;
  try {
    const held: unknown = JSON.parse(json);
    if (!isObject(held)) return null;
    const { origin, details, calls, message } = held;
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

/** Of several pieces for the same vendor the lists are joined; of anything else the later one counts. */
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

/** Streams that give a block of reasoning piece by piece number it; the pieces are one detail again. */
export function addDetail(details: ReasoningDetail[], detail: ReasoningDetail): void {
  const last = details.at(-1);
  if (last === undefined || detail.index === undefined || last.index !== detail.index) details.push(detail);
  else if (last.type === "reasoning.text" && detail.type === "reasoning.text" && !last.signature)
    details[details.length - 1] = { ...last, ...detail, text: `${last.text ?? ""}${detail.text ?? ""}` };
  else if (last.type === "reasoning.summary" && detail.type === "reasoning.summary")
    details[details.length - 1] = { ...last, ...detail, summary: `${last.summary}${detail.summary}` };
  else details.push(detail);
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

/** Vendors leave a text out, or write null in its place. */
function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string";
}

function isCall(value: unknown): value is [string, ExtraContent] {
  return Array.isArray(value) && typeof value[0] === "string" && isObject(value[1]);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
