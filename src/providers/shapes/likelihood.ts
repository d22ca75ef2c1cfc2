// How moderation tells a score beside the score: from 0 (none at all) to 5 (almost certainly), and the worst of a list as a whole.

import type { TaskDraft } from "../../contract/tasks.ts";
import { asScore } from "../lenient.ts";

export type Kind = readonly [category: string, subcategory: string];

export const other: Kind = ["Other", "Other"];
export const safe: Kind = ["Safe", "Safe"];

export function toLikelihood(score: number): number {
  return score <= 0 ? 0 : Math.min(5, Math.floor(score * 5) + 1);
}

export interface Finding {
  readonly label: string;
  readonly score: unknown;
  readonly kind: Kind;
}

/**
 * The output of `text/moderation` and `image/explicit_content`. What is found to be safe does not count towards the whole. The schema
 * requires a score, so a finding without one is left out; an answer without any score does not say that the content is harmless.
 */
export function toModeration(findings: readonly Finding[]): TaskDraft<"text/moderation"> {
  const items = findings.flatMap(({ label, score, kind: [category, subcategory] }) => {
    const likelihood_score = asScore(score);
    if (likelihood_score === null) return [];
    return [{ label, likelihood: toLikelihood(likelihood_score), category, subcategory, likelihood_score }];
  });
  if (findings.length > 0 && items.length === 0) throw new TypeError("there are no scores in the answer");
  const worst = items.reduce(
    (most, item) => (item.category === "Safe" ? most : Math.max(most, item.likelihood_score)),
    0,
  );
  return { nsfw_likelihood: toLikelihood(worst), nsfw_likelihood_score: worst, items };
}
