// Signatures of thoughts, which the vendor needs back with the content that it signed. Clients keep them in `extra_content`, as with the
// vendor's OpenAI-compatible endpoint. The signature of a call is also sent as reasoning, which other formats keep from turn to turn; a prefix
// distinguishes it from the reasoning of other vendors.

import type { ReasoningDetail } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asString, asText, objectOrNull, objectsIn } from "../../lenient.ts";

const prefix = "gemini-call:";

export function readSignature(extra: unknown): string | null {
  return asText(objectOrNull(objectOrNull(extra)?.["google"])?.["thought_signature"]);
}

export function toExtra(signature: string | null): { extra_content?: JsonObject } {
  return signature === null ? {} : { extra_content: { google: { thought_signature: signature } } };
}

export function toCallDetails(calls: readonly { readonly extra_content?: JsonObject }[]): ReasoningDetail[] {
  const signature = calls.map((call) => readSignature(call.extra_content)).find((found) => found !== null);
  return signature === undefined ? [] : [{ type: "reasoning.encrypted", data: `${prefix}${signature}` }];
}

export function readCallDetails(details: unknown): string | null {
  const data = objectsIn(details).map((detail) => asString(detail["data"]));
  return data.find((text) => text.startsWith(prefix))?.slice(prefix.length) ?? null;
}
