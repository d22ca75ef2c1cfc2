// The part that text and image moderation share: the integer likelihoods are computed from the scores, so that both always agree.

import type { JsonObject } from "../../../lib/lenient-json.ts";
import { listIn } from "../definition.ts";

export const moderation = {
  omitted: ["nsfw_likelihood", "nsfw_likelihood_score", "items.likelihood"],
  toOutput(answer: JsonObject) {
    const items = listIn(answer, "items").map((item) => ({ ...item, likelihood: toLikelihood(scoreOf(item)) }));
    const unsafe = listIn(answer, "items").filter(({ category }) => category !== "Safe");
    const worst = Math.max(0, ...unsafe.map(scoreOf));
    return { nsfw_likelihood: toLikelihood(worst), nsfw_likelihood_score: worst, items };
  },
};

/** 1 (very unlikely) to 5 (very likely); 0 would be "not judged". */
function toLikelihood(score: number): number {
  return Math.min(5, 1 + Math.floor(score * 5));
}

function scoreOf(item: JsonObject): number {
  return Number(item["likelihood_score"]);
}
