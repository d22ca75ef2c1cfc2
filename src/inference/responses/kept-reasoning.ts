// What a provider wants back in the next turn (signed and encrypted reasoning, signatures of calls and of text), as the
// `encrypted_content` of a reasoning item. Clients of the format send that back unread. It is packed and not secret: it holds
// nothing but what the provider told this caller.

import type { ReasoningDetail } from "../../contract/chat-format.ts";
import { scanJson } from "../../lib/json-scan.ts";

export type ExtraContent = Readonly<Record<string, unknown>>;

export interface Kept {
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

export function toEncryptedContent({ details, calls, message }: Kept): string {
  const held = {
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
    const { details, calls, message } = held;
    return {
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
  const merged: Record<string, unknown> = { ...earlier };
  for (const [name, value] of Object.entries(later)) {
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    if (isObject(before) && isObject(value)) merged[name] = mergeExtraContent(before, value);
    else merged[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return merged;
}

/** Streams that give a block of reasoning piece by piece number it; the pieces are one detail again. */
export function addDetail(details: ReasoningDetail[], detail: ReasoningDetail): void {
  const last = details.at(-1);
  const continues =
    last?.type === "reasoning.text" &&
    detail.type === "reasoning.text" &&
    detail.index !== undefined &&
    last.index === detail.index &&
    !last.signature;
  if (continues) details[details.length - 1] = { ...last, ...detail, text: `${last.text ?? ""}${detail.text ?? ""}` };
  else details.push(detail);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDetail(value: unknown): value is ReasoningDetail {
  if (!isObject(value)) return false;
  if (value["type"] === "reasoning.text") return typeof value["text"] === "string" && isText(value["signature"]);
  return value["type"] === "reasoning.encrypted" && typeof value["data"] === "string";
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isCall(value: unknown): value is [string, ExtraContent] {
  return Array.isArray(value) && typeof value[0] === "string" && isObject(value[1]);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
