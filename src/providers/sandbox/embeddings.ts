// Embeddings of the sandbox: a vector of length 1 that depends on the words of the text and not on their order, so that texts with common words
// have similar vectors.

import { SandboxRefusal } from "./refusal.ts";

export const embeddingModel = "embedding";

const defaultDimensions = 256;
const maxDimensions = 4_096;
const maxTexts = 2_048;
const decoder = new TextDecoder();

interface Request {
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number;
  readonly encoding: "float" | "base64";
}

export function readEmbeddingsModel(body: Uint8Array): string {
  const { model } = readBody(body);
  return typeof model === "string" ? model : "";
}

export function writeEmbeddings(body: Uint8Array): string {
  const { model, texts, dimensions, encoding } = readRequest(body);
  const tokens = texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
  const toItem = (text: string, index: number) => {
    return { object: "embedding", index, embedding: encode(toVector(text, dimensions), encoding) };
  };
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return JSON.stringify({ object: "list", data: texts.map(toItem), model, usage });
}

function readBody(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(decoder.decode(body));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Refused below.
  }
  throw new SandboxRefusal(400, "The body is not a JSON object.");
}

function readRequest(body: Uint8Array): Request {
  const { model, input, dimensions = defaultDimensions, encoding_format = "float" } = readBody(body);
  const elements = Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
  const texts = elements.map((element) => (typeof element === "string" ? element : JSON.stringify(element)));
  if (texts.length === 0 || texts.length > maxTexts || texts.some((text) => text === undefined || text === ""))
    throw new SandboxRefusal(400, "`input` should be a text, or a list of texts.", { param: "input" });
  if (typeof dimensions !== "number" || !Number.isInteger(dimensions) || dimensions < 1 || dimensions > maxDimensions)
    throw new SandboxRefusal(400, `\`dimensions\` should be from 1 to ${maxDimensions}.`, { param: "dimensions" });
  return { model: String(model), texts, dimensions, encoding: encoding_format === "base64" ? "base64" : "float" };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [text];
}

function toVector(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of wordsOf(text)) {
    let state = Bun.hash.wyhash(word);
    for (let index = 0; index < dimensions; index++) {
      state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
      vector[index] = (vector[index] ?? 0) + Number(state >> 33n) / 2 ** 30 - 1;
    }
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((number) => Math.fround(number / length));
}

function encode(vector: readonly number[], encoding: Request["encoding"]): readonly number[] | string {
  if (encoding === "float") return vector;
  return Buffer.from(new Float32Array(vector).buffer).toString("base64");
}
