// The limits on the calls of a key, as rules: those of the key and those of its team, each for all calls or for certain models. A call must pass
// every rule that applies to it.

import type { Budget, ModelLimit, RateLimit } from "../contract/limits.ts";
import { features } from "../contract/tasks.ts";
import { includesCallOfProvider } from "./call-pattern.ts";

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

/** A rule for certain models also applies to calls of the models for tasks. */
export function appliesTo({ model: pattern }: LimitRule, call: string): boolean {
  return pattern === null || includesCallOfProvider(pattern, call);
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
