// Sentiments as the text tasks write them: three words, and a rate with two decimals.

import type { TaskDraft } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asScore, limitToOne, rounded } from "../lenient.ts";

export type Sentiment = "Positive" | "Negative" | "Neutral";

export interface RatedSentiment {
  readonly sentiment: Sentiment;
  /** Null when the vendor sent no score. */
  readonly rate: number | null;
}

/** The output of `text/sentiment_analysis`. */
export function toSentimentAnalysis(
  overall: RatedSentiment,
  segments: readonly (RatedSentiment & { readonly text: string })[],
): TaskDraft<"text/sentiment_analysis"> {
  const items = segments.map(({ text, sentiment, rate }) => ({ segment: text, sentiment, sentiment_rate: rate }));
  return { general_sentiment: overall.sentiment, general_sentiment_rate: overall.rate, items };
}

/** From the vendor's word and its scores, which may have names in lower case. The higher score decides a mixed sentiment. */
export function toRatedSentiment(word: unknown, scores: JsonObject): RatedSentiment {
  const scoreOf = (side: Sentiment) => asScore(scores[side] ?? scores[side.toLowerCase()]);
  const strongerSide = (): Sentiment => {
    const [positive, negative] = [scoreOf("Positive"), scoreOf("Negative")];
    if (positive === null || negative === null) throw new TypeError("there is no sentiment in the answer");
    return positive > negative ? "Positive" : "Negative";
  };
  const sentiment = readSentiment(word) ?? strongerSide();
  const score = scoreOf(sentiment);
  return { sentiment, rate: score === null ? null : rounded(score, 2) };
}

const words: Readonly<Record<string, Sentiment>> = { positive: "Positive", negative: "Negative", neutral: "Neutral" };

/** Null for a mixed sentiment, and for any other word. */
export function readSentiment(word: unknown): Sentiment | null {
  return lookUp(words, String(word).toLowerCase()) ?? null;
}

/** From a number between -1 (negative) and 1 (positive). */
export function fromSignedScore(score: number): RatedSentiment {
  const sentiment = score > 0 ? "Positive" : score < 0 ? "Negative" : "Neutral";
  return { sentiment, rate: rounded(limitToOne(Math.abs(score)), 2) };
}
