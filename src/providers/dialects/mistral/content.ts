// Reads the content of an answer: text, reasoning, citations, and parts that the chat format does not have.

import type { ChatAnnotation, ReasoningDetail } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asList, asObject, asString } from "../../lenient.ts";
import { toUrlCitation } from "../completion.ts";

interface Content {
  readonly text: string;
  readonly thoughts: string;
  readonly signature: string;
  readonly annotations: readonly ChatAnnotation[];
  readonly others: readonly JsonObject[];
}

/** `textBefore`: the length of the text in earlier events. */
export function readContent(content: unknown, textBefore: number): Content {
  let text = asString(content);
  let thoughts = "";
  let signature = "";
  const annotations: ChatAnnotation[] = [];
  const others: JsonObject[] = [];
  for (const value of asList(content)) {
    const part = asObject(value);
    if (part["type"] === "text") text += asString(part["text"]);
    else if (part["type"] === "thinking") {
      thoughts += textOfThinking(part["thinking"]);
      signature = asString(part["signature"]) || signature;
    } else if (part["type"] === "tool_reference" && asString(part["url"]) !== "")
      annotations.push(toAnnotation(part, textBefore + text.length));
    else others.push(part);
  }
  return { text, thoughts, signature, annotations, others };
}

function textOfThinking(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  return asList(thinking)
    .map((part) => asString(asObject(part)["text"]))
    .join("");
}

/** A reference follows the words that it supports. */
function toAnnotation({ url, title, description }: JsonObject, at: number): ChatAnnotation {
  const content = asString(description);
  return toUrlCitation({ url: asString(url), title: asString(title), content, start: at, end: at });
}

// A signature is valid only for the vendor that created it, and a conversation may have begun at another vendor.
const signaturePrefix = "mistral:";

/** The signature as the vendor sent it; null when another vendor created it. */
export function readOwnSignature(signature: string | undefined): string | null {
  return signature?.startsWith(signaturePrefix) ? signature.slice(signaturePrefix.length) : null;
}

export function toDetail(text: string, signature: string): ReasoningDetail {
  return { type: "reasoning.text", text, ...(signature === "" ? {} : { signature: signaturePrefix + signature }) };
}

/** Parts that the chat format does not have. */
export function toExtraContent(parts: readonly JsonObject[]): { extra_content?: JsonObject } {
  return parts.length === 0 ? {} : { extra_content: { mistral: { parts } } };
}
