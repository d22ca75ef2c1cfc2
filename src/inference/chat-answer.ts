// Reads the members of chat completions and chunks that the Messages and the Responses format have as well.

import type { ChatAnnotation, ChatChoice, ChatImage, ChatUsage, ReasoningDetail } from "../contract/chat-format.ts";
import { isObject } from "../lib/lenient-json.ts";
import { countCached, countInput, countOutput, readTokenParts } from "../usage/tokens.ts";
import type { ExtraContent, ReasoningState } from "./reasoning-state.ts";

/** The chat format requires a string; some providers send parts. */
export function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}

/** Providers of the chat format use two names for this member. */
export function readReasoningText(holder: object): string {
  const { reasoning_content: content, reasoning } = holder as Readonly<Record<string, unknown>>;
  const text = content ?? reasoning;
  return typeof text === "string" ? text : "";
}

/** The readable text of a detail. An encrypted detail has none. */
export function readDetailText(detail: ReasoningDetail): string {
  if (detail.type === "reasoning.text") return detail.text ?? "";
  return detail.type === "reasoning.summary" ? (detail.summary ?? "") : "";
}

/** A signed detail repeats the text before it. `openText` is the text of the open block, or null. */
export function isRepeatedText(
  { text, signature }: Extract<ReasoningDetail, { type: "reasoning.text" }>,
  openText: string | null | undefined,
): boolean {
  return typeof openText === "string" && (Boolean(signature) || text === openText);
}

/** Providers of the chat format may leave out every member but the address. */
export function readSources(annotations: readonly ChatAnnotation[] | null | undefined) {
  const sources = (annotations ?? []).map((annotation): Partial<ChatAnnotation["url_citation"]> => {
    return annotation?.url_citation ?? {};
  });
  return sources.flatMap(({ url, title, content, ...range }) =>
    typeof url === "string" ? [{ url, title: title ?? "", content: content ?? "", ...range }] : [],
  );
}

/** Images without an address are left out. */
export function readImages(images: unknown): ChatImage[] {
  if (!Array.isArray(images)) return [];
  return images.flatMap((image): ChatImage[] => {
    const url: unknown = image?.image_url?.url;
    if (typeof url !== "string") return [];
    return [{ type: "image_url", image_url: { url }, ...toExtraMember(image.extra_content) }];
  });
}

/** The state that the provider of an image expects to receive again with it. */
export function toExtraMember(extra: unknown): { extra_content?: ExtraContent } {
  return isObject(extra) ? { extra_content: extra } : {};
}

/** `calls` with their ids as the caller receives them. */
export function toReasoningState(
  { reasoning_details: details = [], extra_content: extra }: ChatChoice["message"],
  calls: readonly { readonly id: string; readonly extra: ExtraContent | null | undefined }[],
  origin: string | null,
): ReasoningState {
  const extras = calls.flatMap(({ id, extra }) => (extra ? [[id, extra] as const] : []));
  return { origin, details: details ?? [], calls: new Map(extras), message: extra ?? null };
}

/** The same counts as in the ledger. A missing count is 0, except `reasoning`, which is null when the provider did not report it. */
export function readTokenCounts(usage: ChatUsage | null | undefined) {
  const parts = readTokenParts(usage);
  if (parts === null) {
    const output = readCount(usage?.completion_tokens);
    return { input: 0, cached: 0, written: 0, writtenFor1h: 0, output, reasoning: null };
  }
  const isReported = parts.reasoning > 0 || usage?.completion_tokens_details?.reasoning_tokens !== undefined;
  return {
    input: countInput(parts),
    cached: countCached(parts),
    written: parts.cacheWrite5m + parts.cacheWrite1h,
    writtenFor1h: parts.cacheWrite1h,
    output: countOutput(parts),
    reasoning: isReported ? parts.reasoning : null,
  };
}

export function readCount(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(value) : 0;
}
