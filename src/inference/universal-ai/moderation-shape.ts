// Converts the output of text/moderation into OpenAI's moderation result. Categories that OpenAI does not have keep their own names.

import { categoryNames, type ModerationResult } from "../../contract/moderations.ts";
import type { TaskOutputs } from "../../contract/task-types.ts";
import { isObject } from "../../lib/lenient-json.ts";
import { lookUp } from "../../lib/look-up.ts";
import { asList, at } from "../../providers/lenient.ts";

type Moderation = TaskOutputs["text/moderation"];
type Item = NonNullable<Moderation["items"]>[number];
type CategoryName = (typeof categoryNames)[number];

// Engines return a likelihood and leave the decision to their callers.
const flaggedFrom = 0.5;

/** By category or category/subcategory. Only categories of the same meaning: profanity is not harassment, drugs are not illicit. */
const sameMeaning: Readonly<Record<string, CategoryName>> = {
  Sexual: "sexual",
  Violence: "violence",
  "Violence/GraphicViolenceOrGore": "violence/graphic",
  "HateAndExtremism/Hate": "hate",
  "HateAndExtremism/Threatening": "hate/threatening",
  "HateAndExtremism/Harassment": "harassment",
  "Toxic/Derogatory": "hate",
  "Toxic/Insult": "harassment",
  "Toxic/Threat": "harassment/threatening",
};

/** Vendors write `selfharm` or `SelfHarm` for the same category. */
const byLabel = new Map(categoryNames.map((name) => [plain(name), name]));

export function toModerationResult(output: Moderation, original: unknown): ModerationResult {
  return ownResult(original) ?? fromItems(output.items ?? []);
}

/** A provider that answers in this format has decided itself, which is better than our threshold. */
function ownResult(original: unknown): ModerationResult | null {
  const [result, ...others] = asList(at(original, "results"));
  if (others.length > 0 || !isObject(result) || typeof result["flagged"] !== "boolean") return null;
  const { categories, category_scores: scores, category_applied_input_types: types } = result;
  if (!isObject(categories) || !isObject(scores)) return null;
  const applied = isObject(types) ? types : Object.fromEntries(Object.keys(scores).map((name) => [name, ["text"]]));
  return { ...withEveryName(), ...result, category_applied_input_types: applied } as unknown as ModerationResult;
}

function fromItems(items: readonly Item[]): ModerationResult {
  const { categories, category_scores: scores, category_applied_input_types: types } = withEveryName();
  for (const item of items) {
    if (item.category === "Safe") continue;
    const name = nameOf(item);
    scores[name] = Math.max(scores[name] ?? 0, item.likelihood_score);
    categories[name] = (scores[name] ?? 0) >= flaggedFrom;
    types[name] = ["text"];
  }
  return {
    flagged: Object.values(categories).includes(true),
    categories,
    category_scores: scores,
    category_applied_input_types: types,
  };
}

function withEveryName() {
  const each = <Value>(value: Value): Record<string, Value> =>
    Object.fromEntries(categoryNames.map((name) => [name, value]));
  return {
    categories: each(false),
    category_scores: each(0),
    category_applied_input_types: each<string[]>([]),
  };
}

function nameOf({ label, category, subcategory }: Item): string {
  const known =
    byLabel.get(plain(label)) ?? lookUp(sameMeaning, `${category}/${subcategory}`) ?? lookUp(sameMeaning, category);
  if (known !== undefined) return known;
  if (category === "Other" && subcategory === "Other") return label;
  return category === subcategory ? toSnake(category) : `${toSnake(category)}/${toSnake(subcategory)}`;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, "");
}

function toSnake(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();
}
