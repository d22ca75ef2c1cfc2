// The output of moderation tasks: each score with a likelihood from 0 (none) to 5 (almost certain), and the worst of them overall.

import type { TaskOutputs } from "../../contract/task-types.ts";
import type { TaskDraft } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import { asObject, asScore, at } from "../lenient.ts";
import { defineTask, type ProviderTask } from "../task.ts";
import { modelOf, postJson } from "./inputs.ts";

type Item = NonNullable<TaskOutputs["text/moderation"]["items"]>[number];
type Category = Item["category"];
type Subcategory = Item["subcategory"];
export type Kind = readonly [Category, Subcategory];

export const other: Kind = ["Other", "Other"];
export const safe: Kind = ["Safe", "Safe"];

type Labels = Readonly<Partial<Record<Category, Readonly<Partial<Record<Subcategory, readonly string[]>>>>>>;

/** The kind of each of a vendor's labels, from the labels of each kind. */
export function toKinds(labels: Labels): Readonly<Record<string, Kind>> {
  const entries = Object.entries(labels).flatMap(([category, subcategories]) =>
    Object.entries(subcategories).flatMap(([subcategory, names]) =>
      names.map((name) => [name, [category, subcategory]]),
    ),
  );
  return Object.fromEntries(entries);
}

export interface Finding {
  readonly label: string;
  readonly score: unknown;
  readonly kind: Kind;
}

/** From scores by label. A response without any score does not say that the content is harmless. */
export function toFindings(scores: unknown, kinds: Readonly<Record<string, Kind>>): Finding[] {
  const entries = Object.entries(asObject(scores));
  if (entries.length === 0) throw new TypeError("there are no scores in the answer");
  return entries.map(([label, score]) => ({ label, score, kind: lookUp(kinds, label) ?? other }));
}

/** `text/moderation` of a vendor that has the OpenAI format. The first model is the default. */
export function defineTextModeration({
  docs,
  models,
  kinds,
}: {
  readonly docs: string;
  readonly models: readonly [string, ...string[]];
  readonly kinds: Readonly<Record<string, Kind>>;
}): ProviderTask<"text/moderation"> {
  return defineTask("text/moderation", {
    docs,
    unsupported: ["language"],
    models,
    acceptsAnyModel: true,
    defaultModel: models[0],
    toRequest: (call) => postJson("/moderations", { model: modelOf(call), input: call.input.text }),
    fromResponse: ({ json }) => ({
      output: toModeration(toFindings(at(json, "results", 0, "category_scores"), kinds)),
      units: { request: 1 },
    }),
  });
}

/**
 * The output of `text/moderation` and `image/explicit_content`. Findings that are safe do not count towards the overall score. The schema
 * requires a score, so a finding without one is left out; an answer without any score does not say that the content is harmless.
 */
export function toModeration(findings: readonly Finding[], minLikelihood = 0): TaskDraft<"text/moderation"> {
  const toStep = (score: number) => Math.max(minLikelihood, toLikelihood(score));
  const items = findings.flatMap(({ label, score, kind: [category, subcategory] }) => {
    const likelihood_score = asScore(score);
    if (likelihood_score === null) return [];
    return [{ label, likelihood: toStep(likelihood_score), category, subcategory, likelihood_score }];
  });
  if (findings.length > 0 && items.length === 0) throw new TypeError("there are no scores in the answer");
  const scores = items.map(({ category, likelihood_score }) => (category === "Safe" ? 0 : likelihood_score));
  const worst = Math.max(0, ...scores);
  return { nsfw_likelihood: items.length === 0 ? 0 : toStep(worst), nsfw_likelihood_score: worst, items };
}

export function toLikelihood(score: number): number {
  return score <= 0 ? 0 : Math.min(5, Math.floor(score * 5) + 1);
}
