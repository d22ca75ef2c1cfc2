// What text and image moderation share: whole numbers of likelihood are made from the scores, so that both always agree.

import type { JsonObject } from "../../../providers/dialect.ts";

/** 1 (very unlikely) to 5 (very likely); 0 would be "not judged". */
export function toLikelihood(item: JsonObject): number {
  return Math.min(5, 1 + Math.floor(Number(item["likelihood_score"]) * 5));
}

export function worstScore(items: readonly JsonObject[]): JsonObject {
  const unsafe = items.filter(({ category }) => category !== "Safe");
  const worst = Math.max(0, ...unsafe.map((item) => Number(item["likelihood_score"])));
  return { nsfw_likelihood: toLikelihood({ likelihood_score: worst }), nsfw_likelihood_score: worst };
}
