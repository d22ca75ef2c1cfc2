// How similar two faces are, by their vectors. It measures similarity and does not prove identity.

import { round } from "../numbers.ts";

// Measured: at this similarity, false matches and false non-matches are equally frequent.
const undecided = 0.52;
const steepness = 0.045;

/** The scalar product of two vectors of length 1. */
export function similarityOf(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] as number), 0);
}

/** 0 to 1; 0.5 if the faces may as well belong to different people. */
export function toConfidence(similarity: number): number {
  return round(1 / (1 + Math.exp((undecided - similarity) / steepness)));
}
