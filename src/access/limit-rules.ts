// The limits on the calls of a key, as rules: those of the key and those of its team, each for all calls or for certain models. A call must pass
// every rule that applies to it.

import type { Budget, ModelLimit, RateLimit } from "../contract/limits.ts";
import { features, findTask } from "../contract/tasks.ts";
import { fitsPattern } from "../lib/name-pattern.ts";

const featureNames: ReadonlySet<string> = new Set(features.map(({ name }) => name));

export interface LimitRule {
  /** `key:<id>` or `team:<id>`; for certain models followed by `/` and the pattern as the holder's limits state it. */
  readonly id: string;
  readonly holder: "key" | "team";
  readonly holderName: string;
  /** A pattern such as `openai/*`, with the canonical name of the provider; null: the rule applies to every call. */
  readonly model: string | null;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
}

/**
 * Whether a rule applies to a call. `model` is `<provider>/<model>`; a call for a task has the name of the task before it, such as
 * `text/summarize/openai/gpt-5`. A pattern without a task, such as `openai/*`, also applies to calls for tasks.
 */
export function appliesTo({ model: pattern }: LimitRule, model: string): boolean {
  if (pattern === null || fitsPattern(model, pattern)) return true;
  const taskEnd = model.indexOf("/", model.indexOf("/") + 1);
  return (
    taskEnd > 0 && findTask(model.slice(0, taskEnd)) !== undefined && fitsPattern(model.slice(taskEnd + 1), pattern)
  );
}

export interface RuleHolder {
  readonly id: string;
  readonly name: string;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
  readonly modelLimits: readonly ModelLimit[];
}

/** Turns any name of a provider into the canonical one, under which its calls are counted. */
export type ToProviderName = (name: string) => string;

/** Empty when the holder has no limits, so that its calls skip all checks. */
export function toRules(
  holder: LimitRule["holder"],
  { id, name, rateLimit, budget, modelLimits }: RuleHolder,
  toProviderName: ToProviderName,
): LimitRule[] {
  const base = { id: `${holder}:${id}`, holder, holderName: name, model: null };
  const modelRules = modelLimits.map(
    (limit): LimitRule => ({
      ...base,
      id: `${base.id}/${limit.model}`,
      model: withProviderName(limit.model, toProviderName),
      rateLimit: limit.rate_limit,
      budget: limit.budget,
    }),
  );
  return rateLimit === null && budget === null ? modelRules : [{ ...base, rateLimit, budget }, ...modelRules];
}

/** Calls are counted under the canonical name of the provider, so `gemini/*` becomes `google/*`. */
function withProviderName(pattern: string, toProviderName: ToProviderName): string {
  const parts = pattern.split("/");
  // The pattern of a task begins with its feature and subfeature: `text/summarize/gemini/*`.
  const providerIndex = featureNames.has(parts[0] ?? "") ? 2 : 0;
  return parts.map((part, index) => (index === providerIndex ? toProviderName(part) : part)).join("/");
}
