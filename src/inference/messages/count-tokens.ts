// Estimates the tokens of a prompt for providers that cannot count them. Every tokenizer splits text by words and scripts before it splits
// further, so counting these comes close to all tokenizers without being one of them. The estimate leaves out what a provider adds to a
// prompt, such as some hundreds of tokens that explain tools.

import type { ChatRequest } from "../../contract/chat-format.ts";
import type { CountTokensRequest, MessagesRequest } from "../../contract/messages.ts";
import { readImageSize } from "../../lib/image-size.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { readImageText } from "./image-text.ts";

// Tokens that a chat format adds to each message, to the whole prompt, and to each tool declaration.
const tokensPerMessage = 4;
const tokensPerPrompt = 3;
const tokensPerTool = 8;

export function countTokens(request: CountTokensRequest | MessagesRequest) {
  let tokens = tokensPerPrompt + countTools(request.tools);
  if (request.system) tokens += tokensPerMessage + countContent(request.system);
  for (const { content } of request.messages) tokens += tokensPerMessage + countContent(content);
  const schema = request.output_config?.format?.schema ?? request.output_format?.schema;
  if (schema) tokens += countJson(schema);
  return { input_tokens: Math.max(1, Math.round(tokens)), estimated: true };
}

/** Estimates a request in the chat format. */
export function estimateChatTokens({ messages, tools, response_format: format }: ChatRequest): number {
  let tokens = tokensPerPrompt + countTools(tools);
  for (const message of messages) {
    const { content, reasoning_content: thought, tool_calls: calls } = message as JsonObject;
    tokens += tokensPerMessage + countContent(content) + countText(thought);
    for (const call of Array.isArray(calls) ? calls : []) tokens += tokensPerTool + countJson(call?.function ?? {});
  }
  if (format?.type === "json_schema") tokens += countJson(format.json_schema);
  return Math.max(1, Math.round(tokens));
}

function countTools(tools: readonly object[] | null | undefined): number {
  return ((tools ?? []) as readonly JsonObject[]).reduce(
    (sum, { cache_control: _, ...tool }) => sum + tokensPerTool + countJson(tool),
    0,
  );
}

function countContent(content: unknown): number {
  if (!Array.isArray(content)) return countText(content);
  return content.reduce((sum: number, part) => sum + countPart(part as JsonObject), 0);
}

/** A block of the Messages format, or a part of the chat format. */
function countPart(part: JsonObject): number {
  switch (part["type"]) {
    case "text":
      return countTextPart(part["text"]);
    case "image":
      return countImage(part["source"] as JsonObject | undefined);
    case "image_url":
      return countImage(toSource((part["image_url"] as JsonObject | undefined)?.["url"]));
    case "document":
      return countText(part["title"]) + countText(part["context"]) + countDocument(part["source"] as JsonObject);
    case "file":
      return countDocument(toSource((part["file"] as JsonObject | undefined)?.["file_data"]));
    case "search_result":
      return countText(part["title"]) + countText(part["source"]) + countContent(part["content"]);
    case "tool_use":
      return tokensPerTool + countText(part["name"]) + countJson(part["input"] ?? {});
    case "tool_result":
      return tokensPerMessage + countContent(part["content"]);
    case "thinking":
      return countText(part["thinking"]);
    // The length of encrypted data says nothing about its tokens.
    case "redacted_thinking":
      return 0;
    default:
      return countJson(part);
  }
}

function countTextPart(text: unknown): number {
  const image = typeof text === "string" ? readImageText(text) : null;
  return image === null ? countText(text) : countImage(toSource(image));
}

/** The source of a block in the Messages format. */
function toSource(url: unknown): JsonObject {
  const data = typeof url === "string" && url.startsWith("data:") ? url.slice(url.indexOf(",") + 1) : null;
  return data === null ? { type: "url" } : { type: "base64", data };
}

function countText(text: unknown): number {
  return typeof text === "string" ? estimateTextTokens(text) : 0;
}

/** A model receives declarations in a shorter form than JSON: quotes and braces are about a third of the tokens. */
const terseShare = 0.75;

function countJson(value: unknown): number {
  return terseShare * estimateTextTokens(JSON.stringify(value) ?? "");
}

// https://platform.claude.com/docs/en/build-with-claude/vision: an image is scaled down to 1568 pixels on its long edge and
// to about 1,600 tokens, and then has a token for every 750 pixels.
const maxImageEdge = 1568;
const maxImageTokens = 1600;
const pixelsPerToken = 750;

// Enough bytes to find the size of a JPEG whose metadata is not unusually long.
const headerCharacters = 256 * 1024;

function countImage(source: JsonObject | undefined): number {
  const data = source?.["type"] === "base64" ? String(source["data"]) : "";
  const size = readImageSize(Buffer.from(data.slice(0, headerCharacters), "base64"));
  if (size === null) return maxImageTokens;
  const scale = Math.min(1, maxImageEdge / Math.max(size.width, size.height));
  return Math.min(maxImageTokens, Math.ceil((size.width * size.height * scale * scale) / pixelsPerToken));
}

// https://platform.claude.com/docs/en/build-with-claude/pdf-support: about 7,000 for three pages, read as text and picture.
const tokensPerPage = 2_300;
// Pages inside compressed objects cannot be counted; a page of text with a small picture takes about this many bytes.
const bytesPerPage = 50_000;

function countDocument(source: JsonObject | undefined): number {
  switch (source?.["type"]) {
    case "text":
      return countText(source["data"]);
    case "content":
      return countContent(source["content"]);
    case "base64":
      return tokensPerPage * countPages(String(source["data"]));
    default:
      return tokensPerPage;
  }
}

function countPages(base64: string): number {
  const bytes = Buffer.from(base64, "base64");
  const pages = bytes.toString("latin1").match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  return pages > 0 ? pages : Math.max(1, Math.round(bytes.length / bytesPerPage));
}

/**
 * Counts words, numbers, signs and white space as tokenizers split them. How many tokens a word has depends on its script; the numbers
 * below were fitted to a public tokenizer with a vocabulary of 200,000 (o200k).
 */
export function estimateTextTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; ) {
    const kind = kindOf(text.charCodeAt(index));
    let end = index + 1;
    if (kind === upperCase && kindOf(text.charCodeAt(end)) === lowerCase) end++;
    const runKind = end > index + 1 ? lowerCase : kind;
    while (end < text.length && kindOf(text.charCodeAt(end)) === runKind) end++;
    tokens += countRun(runKind, end - index);
    index = end;
  }
  return tokens;
}

const space = 0;
const lineBreak = 1;
const lowerCase = 2;
const upperCase = 3;
const digit = 4;
const sign = 5;
const otherScript = 6;

/** From this code unit on, the letters of a word per token. Sorted. */
const scripts: readonly (readonly [from: number, lettersPerToken: number])[] = [
  [0x80, 1], // Latin signs
  [0xc0, 2], // Latin with accents, in pieces between plain letters
  [0x250, 1],
  [0x370, 2.2], // Greek
  [0x400, 2.75], // Cyrillic
  [0x530, 2.4], // Armenian
  [0x590, 2.3], // Hebrew
  [0x600, 2.2], // Arabic
  [0x780, 1],
  [0x900, 2.4], // scripts of India
  [0xe00, 2.8], // Thai, Lao
  [0xf00, 1],
  [0x10a0, 2.5], // Georgian
  [0x1100, 1],
  [0x1780, 1.6], // Khmer
  [0x1800, 1],
  [0x1e00, 2], // Latin with two accents
  [0x2000, 1],
  [0x3040, 1.7], // Kana
  [0x3100, 1],
  [0x3400, 1.2], // Han
  [0xa000, 1],
  [0xac00, 1.45], // Hangul
  [0xd7b0, 1], // pairs of code units: an emoji has two tokens or three
  [0xf900, 1.2], // Han
  [0xfb00, 1],
];

/** Values below `otherScript` are kinds of ASCII; the others are rows of `scripts`. */
function kindOf(code: number): number {
  if (code < 0x80) return asciiKinds[code] ?? sign;
  let row = scripts.length - 1;
  while (row > 0 && code < (scripts[row]?.[0] ?? 0)) row--;
  return otherScript + row;
}

const asciiKinds: readonly number[] = Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[\n\r]/.test(character)) return lineBreak;
  if (/\s/.test(character)) return space;
  if (/[a-z]/.test(character)) return lowerCase;
  if (/[A-Z]/.test(character)) return upperCase;
  return /[0-9]/.test(character) ? digit : sign;
});

function countRun(kind: number, length: number): number {
  switch (kind) {
    case space:
      // A single space is part of the token of the next word.
      return length > 1 ? 0.8 : 0;
    case lineBreak:
      return 0.4;
    case lowerCase:
      return length <= 4 ? 1 : 1 + (length - 4) * 0.05;
    case upperCase:
      return Math.max(1, length / 2.5);
    case digit:
      return Math.ceil(length / 3);
    case sign:
      // A sign is often part of the token before it, or of the line break after it.
      return Math.max(0.9, length / 2.6);
    default:
      return length / (scripts[kind - otherScript]?.[1] ?? 1);
  }
}
