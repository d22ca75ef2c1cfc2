// Reads the parts of a candidate, its finish reason, its sources and its probabilities, for answers and streams alike.

import type { ChatAnnotation, ChatWebSearch, FinishReason } from "../../../contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject } from "../../dialect.ts";
import { asList, asString, asText, finiteNumber, objectOrNull, objectsIn } from "../../lenient.ts";
import { createFinishReasons, createId, filled, toUrlCitation } from "../completion.ts";
import { toExtra } from "./signature.ts";

/** The content of several parts. */
export interface Gathered {
  content: string;
  reasoning: string;
  calls: Call[];
  images: JsonObject[];
  /** The signature of the text, which is sent back with it. */
  signature: string | null;
  /** Calls of the vendor's own tools and their results, which the next turn must contain. */
  serverParts: JsonObject[];
}

interface Call {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: JsonObject;
}

/** `complete` returns null for a part of an incomplete call. */
export function gatherParts(
  candidate: JsonObject,
  answerTool: string | null,
  complete: (part: JsonObject) => JsonObject | null = (part) => part,
): Gathered {
  const gathered: Gathered = { content: "", reasoning: "", calls: [], images: [], signature: null, serverParts: [] };
  for (const part of objectsIn(objectOrNull(candidate["content"])?.["parts"])) {
    const whole = complete(part);
    if (whole !== null) gatherPart(whole, answerTool, gathered);
  }
  return gathered;
}

/** Unknown parts are skipped. */
function gatherPart(part: JsonObject, answerTool: string | null, gathered: Gathered): void {
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
  const args = typeof call["args"] === "string" ? call["args"] : JSON.stringify(call["args"] ?? {});
  if (name === answerTool) {
    gathered.content += args;
    return;
  }
  const id = asText(call["id"]) ?? createId("call_");
  gathered.calls.push({ id, type: "function", function: { name, arguments: args }, ...toExtra(signature) });
}

/** The form that chat clients expect for images of an answer. */
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

/** Code that the vendor ran and its output become fenced text. */
function toVisibleCode(part: JsonObject): string {
  const code = objectOrNull(part["executableCode"]);
  if (code !== null)
    return `\n\`\`\`${String(code["language"] ?? "").toLowerCase()}\n${String(code["code"] ?? "")}\n\`\`\`\n`;
  const result = objectOrNull(part["codeExecutionResult"]);
  return result === null ? "" : `\n\`\`\`\n${String(result["output"] ?? "")}\n\`\`\`\n`;
}

export function toExtraContent({ signature, serverParts }: Gathered): JsonObject | null {
  if (signature === null && serverParts.length === 0) return null;
  return { google: filled({ thought_signature: signature, parts: serverParts }) };
}

const imageFilters = ["IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"];
const textFilters = ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"];
const findFinishReason = createFinishReasons({
  length: ["MAX_TOKENS", "CONTINUATION"],
  content_filter: [...textFilters, ...imageFilters],
});

// The output is unusable, and a retry may succeed.
const failures = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
]);

/** Null: the candidate has not ended. Throws when it ended with a failure and is empty. */
export function readFinish(candidate: JsonObject, holds: { isEmpty: boolean; hasCalls: boolean }): FinishReason | null {
  const reason = asText(candidate["finishReason"]);
  if (reason === null || reason === "FINISH_REASON_UNSPECIFIED") return null;
  if (failures.has(reason) && holds.isEmpty)
    throw new ErrorInAnswer(asText(candidate["finishMessage"]) ?? `the model's answer is broken (${reason})`, 502);
  return findFinishReason(reason) ?? (holds.hasCalls ? "tool_calls" : "stop");
}

export function readBlock(answer: JsonObject): { refusal: string | null } | null {
  const feedback = objectOrNull(answer["promptFeedback"]);
  const reason = asText(feedback?.["blockReason"]);
  if (reason === null || reason.endsWith("_UNSPECIFIED")) return null;
  return { refusal: asText(feedback?.["blockReasonMessage"]) };
}

/** The sources and the queries of a candidate. */
export function readGrounding(grounding: unknown, content: string) {
  return { annotations: toAnnotations(grounding, content), web_searches: toWebSearches(grounding) };
}

/**
 * Sources with the range of the text that they support; without one, they stand at the end of the text. The vendor counts bytes, the chat
 * format characters.
 */
function toAnnotations(grounding: unknown, content: string): ChatAnnotation[] {
  const chunks = asList(objectOrNull(grounding)?.["groundingChunks"]).map(toSource);
  const supports = asList(objectOrNull(grounding)?.["groundingSupports"]);
  const annotations: ChatAnnotation[] = [];
  const cited = new Set<number>();
  const bytes = supports.length > 0 ? Buffer.from(content) : null;
  const atEnd = { start: content.length, end: content.length };
  for (const support of supports) {
    const segment = objectOrNull(objectOrNull(support)?.["segment"]);
    const start = characterAt(bytes, segment?.["startIndex"] ?? 0);
    const end = characterAt(bytes, segment?.["endIndex"]);
    for (const index of asList(objectOrNull(support)?.["groundingChunkIndices"])) {
      const source = typeof index === "number" ? chunks[index] : undefined;
      if (source === undefined || source === null) continue;
      cited.add(index as number);
      const isRange = start !== null && end !== null && start <= end;
      annotations.push(toUrlCitation({ ...source, ...(isRange ? { start, end } : atEnd) }));
    }
  }
  for (const [index, source] of chunks.entries())
    if (source !== null && !cited.has(index)) annotations.push(toUrlCitation({ ...source, ...atEnd }));
  return annotations;
}

/** One search per query, as the vendor bills them. */
function toWebSearches(grounding: unknown): ChatWebSearch[] {
  const queries = asList(objectOrNull(grounding)?.["webSearchQueries"]);
  return queries.map((query) => ({ id: createId("search_"), query: String(query) }));
}

function toSource(chunk: unknown): { url: string; title: string; content: string } | null {
  const found = objectOrNull(chunk);
  const source =
    objectOrNull(found?.["web"]) ?? objectOrNull(found?.["retrievedContext"]) ?? objectOrNull(found?.["maps"]);
  const url = asText(source?.["uri"]);
  if (url === null) return null;
  return { url, title: asString(source?.["title"]), content: asString(source?.["text"]) };
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
