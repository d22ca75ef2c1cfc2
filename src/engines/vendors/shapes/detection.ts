// The verdict beside a score.

export function toAiPrediction(score: number): "ai-generated" | "original" {
  return score > 0.5 ? "ai-generated" : "original";
}

export function toDeepfakePrediction(score: number): "deepfake" | "original" {
  return score > 0.5 ? "deepfake" : "original";
}
