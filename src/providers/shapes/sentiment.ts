// Feelings as the text tasks tell them: three words and a rate of two decimals.

import { asScore, limitToOne, rounded } from "../lenient.ts";

export type Sentiment = "Positive" | "Negative" | "Neutral";

export interface Feeling {
  readonly sentiment: Sentiment;
  /** Null when the vendor sent no score. */
  readonly rate: number | null;
}

interface Scores {
  readonly positive: unknown;
  readonly negative: unknown;
  readonly neutral: unknown;
}

/** From the vendor's word and its scores. What is mixed is told by the stronger of the two sides. */
export function toFeeling(word: unknown, scores: Scores): Feeling {
  const sentiment = readSentiment(word) ?? strongerSide(scores);
  const score = asScore({ Positive: scores.positive, Negative: scores.negative, Neutral: scores.neutral }[sentiment]);
  return { sentiment, rate: score === null ? null : rounded(score, 2) };
}

function strongerSide(scores: Scores): Sentiment {
  const [positive, negative] = [asScore(scores.positive), asScore(scores.negative)];
  if (positive === null || negative === null) throw new TypeError("there is no sentiment in the answer");
  return positive > negative ? "Positive" : "Negative";
}

/** Null for what is mixed, or something else. */
export function readSentiment(word: unknown): Sentiment | null {
  switch (String(word).toLowerCase()) {
    case "positive":
      return "Positive";
    case "negative":
      return "Negative";
    case "neutral":
      return "Neutral";
    default:
      return null;
  }
}

/** From a number between -1 and 1 whose sign is the side. */
export function fromSignedScore(score: number): Feeling {
  const sentiment = score > 0 ? "Positive" : score < 0 ? "Negative" : "Neutral";
  return { sentiment, rate: rounded(limitToOne(Math.abs(score)), 2) };
}
