// The limits that apply to the calls of a key: those of the key, those of its team, and those of either for certain models. A call must pass all
// rules that match it.

import type { Budget, ModelLimit, RateLimit } from "../contract/limits.ts";
import { features, findTask } from "../contract/tasks.ts";
import { fitsPattern } from "../lib/name-pattern.ts";

const featureNames: ReadonlySet<string> = new Set(features.map(({ name }) => name));

export interface LimitRule {
  /** `key:<id>` or `team:<id>`; for certain models followed by `/` and the pattern. */
  readonly id: string;
  readonly holder: "key" | "team";
  readonly holderName: string;
  /** A pattern such as `openai/*`; null for every call. */
  readonly model: string | null;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
}

/**
 * Whether a rule applies to a call of `model`: `<provider>/<model>`, with the name of the task before it if a task calls the model. A pattern such
 * as `openai/*` also applies to the calls of tasks.
 */
export function appliesTo({ model: pattern }: LimitRule, model: string): boolean {
  if (pattern === null || fitsPattern(model, pattern)) return true;
  const end = model.indexOf("/", model.indexOf("/") + 1);
  return end > 0 && findTask(model.slice(0, end)) !== undefined && fitsPattern(model.slice(end + 1), pattern);
}

export interface RuleHolder {
  readonly id: string;
  readonly name: string;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
  readonly modelLimits: readonly ModelLimit[];
}

/** The name under which calls of a provider are counted, by any of its names. */
export type ToProviderName = (name: string) => string;

/** Empty when the holder has no limits, so that calls without limits cost nothing. */
export function toRules(
  holder: LimitRule["holder"],
  { id, name, modelLimits, ...own }: RuleHolder,
  toProviderName: ToProviderName,
): LimitRule[] {
  const base = { id: `${holder}:${id}`, holder, holderName: name, model: null };
  const { rateLimit, budget } = own;
  const ofModels = modelLimits.map(
    ({ model, rate_limit, budget: budgetOfModel }): LimitRule => ({
      ...base,
      id: `${base.id}/${model}`,
      model: withProviderName(model, toProviderName),
      rateLimit: rate_limit,
      budget: budgetOfModel,
    }),
  );
  return rateLimit === null && budget === null ? ofModels : [{ ...base, rateLimit, budget }, ...ofModels];
}

/** A provider may have several names: `gemini/*` limits the calls of `google`. */
function withProviderName(pattern: string, toProviderName: ToProviderName): string {
  const parts = pattern.split("/");
  const place = featureNames.has(parts[0] ?? "") ? 2 : 0;
  return parts.map((part, index) => (index === place ? toProviderName(part) : part)).join("/");
}
