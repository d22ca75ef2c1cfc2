// The content of an answer as text, thoughts and what else stands in it.

import type { ChatAnnotation } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asList, asObject, asString } from "../../lenient.ts";

// A signature is good for the vendor that gave it only, and a conversation may have begun at another one.
const signaturePrefix = "mistral:";

export function toSignature(signature: string): string {
  return signaturePrefix + signature;
}

/** The signature as the vendor gave it; null when it is another vendor's, or there is none. */
export function ownSignature(signature: string | undefined): string | null {
  return signature?.startsWith(signaturePrefix) ? signature.slice(signaturePrefix.length) : null;
}

export interface ReadContent {
  readonly text: string;
  readonly thoughts: string;
  /** Empty when there is none. */
  readonly signature: string;
  readonly annotations: readonly ChatAnnotation[];
  /** Parts that the chat format has no place for. */
  readonly others: readonly JsonObject[];
}

export function readContent(content: unknown, textBefore: number): ReadContent {
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
    } else if (part["type"] === "tool_reference" && asString(part["url"]) !== "") {
      annotations.push(toAnnotation(part, textBefore + text.length));
    } else others.push(part);
  }
  return { text, thoughts, signature, annotations, others };
}

function textOfThinking(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  let text = "";
  for (const part of asList(thinking)) text += asString(asObject(part)["text"]);
  return text;
}

/** A reference stands behind the words that it is for. */
function toAnnotation(reference: JsonObject, at: number): ChatAnnotation {
  const title = asString(reference["title"]);
  const content = asString(reference["description"]);
  return {
    type: "url_citation",
    url_citation: {
      url: asString(reference["url"]),
      ...(title === "" ? {} : { title }),
      start_index: at,
      end_index: at,
      ...(content === "" ? {} : { content }),
    },
  };
}
