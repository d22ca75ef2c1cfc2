// Predictions from a score.

import { asScore } from "../lenient.ts";

export function toAiPrediction(score: number): "ai-generated" | "original" {
  return score > 0.5 ? "ai-generated" : "original";
}

/** An item of `text/ai_detection`; none without a score, because the schema requires one. */
export function toJudgedText(text: string, value: unknown) {
  const score = asScore(value);
  return score === null ? [] : [{ text, prediction: toAiPrediction(score), ai_score: score, ai_score_detail: score }];
}

export function toDeepfakePrediction(score: number): "deepfake" | "original" {
  return score > 0.5 ? "deepfake" : "original";
}
