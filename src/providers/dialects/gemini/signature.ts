// Signatures of thoughts, which the vendor wants back with what it signed. A client keeps them in `extra_content`, as the
// vendor's own endpoint of our format has it. The signature of a call is also told as reasoning, because formats other
// than ours carry that from turn to turn; the mark keeps other vendors' reasoning from being taken for one.

import type { ReasoningDetail } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asText, objectOrNull } from "../../lenient.ts";

const mark = "gemini-call:";

export function readSignature(extra: unknown): string | null {
  return asText(objectOrNull(objectOrNull(extra)?.["google"])?.["thought_signature"]);
}

export function toExtra(signature: string | null): { extra_content?: JsonObject } {
  return signature === null ? {} : { extra_content: { google: { thought_signature: signature } } };
}

export function toCallDetails(calls: readonly { readonly extra_content?: JsonObject }[]): ReasoningDetail[] {
  const signature = calls.map((call) => readSignature(call.extra_content)).find((found) => found !== null);
  return signature === undefined ? [] : [{ type: "reasoning.encrypted", data: `${mark}${signature}` }];
}

export function readCallDetails(details: unknown): string | null {
  if (!Array.isArray(details)) return null;
  for (const detail of details) {
    const data = asText(objectOrNull(detail)?.["data"]);
    if (data?.startsWith(mark)) return data.slice(mark.length);
  }
  return null;
}
