// The verdict beside a score.

import { asScore } from "../lenient.ts";

export function toAiPrediction(score: number): "ai-generated" | "original" {
  return score > 0.5 ? "ai-generated" : "original";
}

export interface JudgedText {
  readonly text: string;
  readonly prediction: "ai-generated" | "original";
  readonly ai_score: number;
  readonly ai_score_detail: number;
}

/** An item of `text/ai_detection`; none without a score, because the schema requires one. */
export function toJudgedText(text: string, value: unknown): JudgedText[] {
  const score = asScore(value);
  if (score === null) return [];
  return [{ text, prediction: toAiPrediction(score), ai_score: score, ai_score_detail: score }];
}

export function toDeepfakePrediction(score: number): "deepfake" | "original" {
  return score > 0.5 ? "deepfake" : "original";
}
