// What whole answers and streams have in common: the parts of a candidate, why it ended, its sources and probabilities.

import type { ChatAnnotation, ChatWebSearch, FinishReason } from "../../../contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject } from "../../dialect.ts";
import { asList, asText, finiteNumber, objectOrNull, objectsIn } from "../../lenient.ts";
import { toExtra } from "./signature.ts";

/** What one lot of parts holds. */
export interface Gathered {
  content: string;
  reasoning: string;
  calls: Call[];
  images: JsonObject[];
  /** Of a text: sent back with it. */
  signature: string | null;
  /** Calls of the vendor's own tools and their results, which the next turn has to hold. */
  serverParts: JsonObject[];
}

interface Call {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: JsonObject;
}

export function emptyGathered(): Gathered {
  return { content: "", reasoning: "", calls: [], images: [], signature: null, serverParts: [] };
}

export function gatherParts(parts: unknown, answerTool: string | null): Gathered {
  const gathered = emptyGathered();
  for (const part of objectsIn(parts)) gatherPart(part, answerTool, gathered);
  return gathered;
}

/** Parts of a kind that is not known are passed by. */
export function gatherPart(part: JsonObject, answerTool: string | null, gathered: Gathered): void {
  const { text, thoughtSignature } = part;
  const call = objectOrNull(part["functionCall"]);
  if (call !== null) {
    gatherCall(call, asText(thoughtSignature), answerTool, gathered);
    return;
  }
  if (part["toolCall"] !== undefined || part["toolResponse"] !== undefined) {
    gathered.serverParts.push(part);
    return;
  }
  if (part["inlineData"] !== undefined) {
    const image = part["thought"] === true ? null : toImage(part);
    if (image !== null) gathered.images.push(image);
    return;
  }
  if (typeof text === "string") {
    if (part["thought"] === true) gathered.reasoning += text;
    else gathered.content += text;
  } else gathered.content += toVisibleCode(part);
  if (typeof thoughtSignature === "string" && thoughtSignature !== "") gathered.signature = thoughtSignature;
}

function gatherCall(call: JsonObject, signature: string | null, answerTool: string | null, gathered: Gathered): void {
  const name = asText(call["name"]) ?? "";
  const written = toArguments(call["args"]);
  if (name === answerTool) {
    gathered.content += written;
    return;
  }
  gathered.calls.push({
    id: asText(call["id"]) ?? `call_${randomId()}`,
    type: "function",
    function: { name, arguments: written },
    ...toExtra(signature),
  });
}

function toArguments(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}

/** In the form that chat clients know images of an answer in. */
function toImage(part: JsonObject): JsonObject | null {
  const data = objectOrNull(part["inlineData"]);
  const bytes = asText(data?.["data"]);
  if (bytes === null) return null;
  return {
    type: "image_url",
    image_url: { url: `data:${asText(data?.["mimeType"]) ?? "image/png"};base64,${bytes}` },
    ...toExtra(asText(part["thoughtSignature"])),
  };
}

/** Code that the vendor ran, and what it printed, stay visible as fenced text. */
function toVisibleCode(part: JsonObject): string {
  const code = objectOrNull(part["executableCode"]);
  if (code !== null)
    return `\n\`\`\`${String(code["language"] ?? "").toLowerCase()}\n${String(code["code"] ?? "")}\n\`\`\`\n`;
  const result = objectOrNull(part["codeExecutionResult"]);
  return result === null ? "" : `\n\`\`\`\n${String(result["output"] ?? "")}\n\`\`\`\n`;
}

export function googleExtra(gathered: Gathered): JsonObject | null {
  const { signature, serverParts } = gathered;
  if (signature === null && serverParts.length === 0) return null;
  return {
    google: {
      ...(signature === null ? {} : { thought_signature: signature }),
      ...(serverParts.length === 0 ? {} : { parts: serverParts }),
    },
  };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
};

// The model said something that is no answer: to ask again helps.
const failures = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
]);

/** Null: it has not ended. Throws when it ended in a failure and holds nothing. */
export function readFinish(candidate: JsonObject, holds: { isEmpty: boolean; hasCalls: boolean }): FinishReason | null {
  const reason = asText(candidate["finishReason"]);
  if (reason === null || reason === "FINISH_REASON_UNSPECIFIED") return null;
  if (failures.has(reason) && holds.isEmpty)
    throw new ErrorInAnswer(asText(candidate["finishMessage"]) ?? `the model's answer is broken (${reason})`, 502);
  const known = Object.hasOwn(finishReasons, reason) ? finishReasons[reason] : "stop";
  return known === "stop" && holds.hasCalls ? "tool_calls" : (known ?? "stop");
}

export function readBlock(answer: JsonObject): { refusal: string | null } | null {
  const feedback = objectOrNull(answer["promptFeedback"]);
  const reason = asText(feedback?.["blockReason"]);
  if (reason === null || reason.endsWith("_UNSPECIFIED")) return null;
  return { refusal: asText(feedback?.["blockReasonMessage"]) };
}

/** Sources, each with the stretch of the text that it supports. The vendor counts bytes, our callers characters. */
export function toAnnotations(grounding: unknown, content: string): ChatAnnotation[] {
  const chunks = asList(objectOrNull(grounding)?.["groundingChunks"]).map(toSource);
  const supports = asList(objectOrNull(grounding)?.["groundingSupports"]);
  const annotations: ChatAnnotation[] = [];
  const cited = new Set<number>();
  const bytes = supports.length > 0 ? Buffer.from(content) : null;
  for (const support of supports) {
    const segment = objectOrNull(objectOrNull(support)?.["segment"]);
    const start = characterAt(bytes, segment?.["startIndex"] ?? 0);
    const end = characterAt(bytes, segment?.["endIndex"]);
    for (const index of asList(objectOrNull(support)?.["groundingChunkIndices"])) {
      const source = typeof index === "number" ? chunks[index] : undefined;
      if (source === undefined || source === null) continue;
      cited.add(index as number);
      const stretch = start === null || end === null || end < start ? {} : { start_index: start, end_index: end };
      annotations.push({ type: "url_citation", url_citation: { ...source, ...stretch } });
    }
  }
  for (const [index, source] of chunks.entries())
    if (source !== null && !cited.has(index)) annotations.push({ type: "url_citation", url_citation: source });
  return annotations;
}

/** Each is told as a search of its own: the vendor bills them so. */
export function toWebSearches(grounding: unknown): ChatWebSearch[] {
  const queries = asList(objectOrNull(grounding)?.["webSearchQueries"]);
  return queries.map((query) => ({ id: `search_${randomId()}`, query: String(query) }));
}

function toSource(chunk: unknown): ChatAnnotation["url_citation"] | null {
  const found = objectOrNull(chunk);
  const source =
    objectOrNull(found?.["web"]) ?? objectOrNull(found?.["retrievedContext"]) ?? objectOrNull(found?.["maps"]);
  const url = asText(source?.["uri"]);
  if (url === null) return null;
  const title = asText(source?.["title"]);
  const text = asText(source?.["text"]);
  return { url, ...(title === null ? {} : { title }), ...(text === null ? {} : { content: text }) };
}

function characterAt(bytes: Buffer | null, offset: unknown): number | null {
  const at = finiteNumber(offset);
  return bytes === null || at === null || at < 0 || at > bytes.length ? null : bytes.toString("utf8", 0, at).length;
}

export function toLogprobs(result: unknown): JsonObject | null {
  const chosen = asList(objectOrNull(result)?.["chosenCandidates"]);
  if (chosen.length === 0) return null;
  const alternatives = asList(objectOrNull(result)?.["topCandidates"]);
  const content = chosen.map((candidate, index) => ({
    ...toLogprob(candidate),
    top_logprobs: asList(objectOrNull(alternatives[index])?.["candidates"]).map(toLogprob),
  }));
  return { content, refusal: null };
}

function toLogprob(candidate: unknown): { token: string; logprob: number; bytes: number[] } {
  const token = String(objectOrNull(candidate)?.["token"] ?? "");
  return {
    token,
    logprob: finiteNumber(objectOrNull(candidate)?.["logProbability"]) ?? 0,
    bytes: [...Buffer.from(token)],
  };
}

export function randomId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 24);
}
