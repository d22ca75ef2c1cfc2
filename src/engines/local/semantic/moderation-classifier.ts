// The classifier of harmful sentences: kernel ridge regression, which compares the vector of a sentence with those of about 1,500 labelled sentences.
// `scripts/train-moderation.ts` trains it.

import classifier from "./moderation-classifier.json" with { type: "json" };
import { vectorLength } from "./sentence-model.ts";

export type HarmKind = Exclude<keyof typeof classifier.weights, "harm">;

export interface Judgement {
  /** The probability of any harm, 0 to 1. */
  readonly harm: number;
  readonly kind: HarmKind;
}

export function loadClassifier(): (vector: Float32Array) => Judgement {
  const vectors = new Int8Array(decode(classifier.vectors));
  const rows = Object.entries(classifier.weights).map(([name, weights]) => ({
    name,
    weights: new Float32Array(decode(weights)),
  }));
  return (vector) => {
    const similarities = toSimilarities(vector, vectors);
    const scored = rows.map(({ name, weights }) => ({ name, score: sumOf(weights, similarities) }));
    const logOdds = (scored.find(({ name }) => name === "harm")?.score ?? 0) + classifier.offset;
    const ofKinds = scored.filter((one): one is { name: HarmKind; score: number } => one.name !== "harm");
    const { name: kind } = ofKinds.reduce((one, other) => (other.score > one.score ? other : one));
    return { harm: 1 / (1 + Math.exp(-logOdds)), kind };
  };
}

/** The Gaussian kernel of the vector with each of the rows, for vectors of length 1: exp(-|a - b|²). Neither needs to have that length. */
export function toSimilarities(vector: Float32Array, rows: Int8Array): Float64Array {
  const length = lengthOf(vector);
  return Float64Array.from({ length: rows.length / vectorLength }, (_, index) => {
    const row = rows.subarray(index * vectorLength, (index + 1) * vectorLength);
    const cosine = sumOf(vector, row) / (length * lengthOf(row) || 1);
    return Math.exp(2 * cosine - 2);
  });
}

function sumOf(a: Float32Array, b: Int8Array | Float32Array | Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

function lengthOf(vector: Int8Array | Float32Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

function decode(encoded: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(encoded, "base64")).buffer;
}
