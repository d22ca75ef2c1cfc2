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
  /** A pattern such as `openai/*`, as the holder's limits state it; null: the rule applies to every call. */
  readonly model: string | null;
  /**
   * The pattern in the form of the names under which calls are counted, where it differs: `gemini/models/*` limits `google/…`. In lower case,
   * because many vendors do not distinguish it.
   */
  readonly otherPatterns?: readonly string[];
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
}

/** A rule for certain models also applies to calls of the models for tasks. */
export function appliesTo({ model: pattern, otherPatterns }: LimitRule, call: string): boolean {
  if (pattern === null) return true;
  const name = call.toLowerCase();
  if (includesCallOfProvider(pattern, name)) return true;
  return otherPatterns?.some((other) => includesCallOfProvider(other, name)) === true;
}

export interface RuleHolder {
  readonly id: string;
  readonly name: string;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
  readonly modelLimits: readonly ModelLimit[];
}

/** How the names in patterns relate to the names under which calls are counted. */
export interface CountedNames {
  /**
   * The canonical names of all providers that have the name, whether they are set up or not: calls are counted under the canonical name,
   * credentials change while rules stay, and the tasks of a provider may be set up without its models.
   */
  toProviderNames(name: string): readonly string[];
  /** The pattern with the spelling of its model under which calls are counted: `gemini/gemini-*` for `gemini/models/gemini-*`. */
  spellName(pattern: string): string;
}

export const asWritten: CountedNames = { toProviderNames: () => [], spellName: (pattern) => pattern };

/** Empty when the holder has no limits, so that its calls skip all checks. */
export function toRules(
  holder: LimitRule["holder"],
  { id, name, rateLimit, budget, modelLimits }: RuleHolder,
  names: CountedNames,
): LimitRule[] {
  const base = { id: `${holder}:${id}`, holder, holderName: name, model: null };
  const modelRules = modelLimits.map(({ model, rate_limit, budget }): LimitRule => {
    const otherPatterns = findOtherPatterns(model, names);
    return {
      ...{ ...base, id: `${base.id}/${model}`, model, rateLimit: rate_limit, budget },
      ...(otherPatterns.length > 0 && { otherPatterns }),
    };
  });
  return rateLimit === null && budget === null ? modelRules : [{ ...base, rateLimit, budget }, ...modelRules];
}

const replacements = new WeakMap<readonly LimitRule[], readonly LimitRule[]>();

/** Requests that are running keep the rules with which they began. `findCurrentRules` leads them to the new ones. */
export function replaceRules(old: readonly LimitRule[], current: readonly LimitRule[]): void {
  replacements.set(old, current);
}

/** The rules that have replaced the given ones, or the given ones themselves. */
export function findCurrentRules(rules: readonly LimitRule[]): readonly LimitRule[] {
  let current = rules;
  for (let next = replacements.get(rules); next !== undefined; next = replacements.get(next)) current = next;
  return current;
}

function findOtherPatterns(pattern: string, names: CountedNames): readonly string[] {
  const spelled = names.spellName(pattern);
  const patterns = [spelled, ...listOfProviders(spelled, names)].map((one) => one.toLowerCase());
  return [...new Set(patterns)].filter((one) => one !== pattern);
}

function listOfProviders(pattern: string, { toProviderNames }: CountedNames): readonly string[] {
  const parts = pattern.split("/");
  // The pattern of a task begins with its feature and subfeature: `text/summarize/gemini/*`.
  const providerIndex = featureNames.has(parts[0] ?? "") ? 2 : 0;
  const written = parts[providerIndex];
  if (written === undefined) return [];
  return toProviderNames(written).map((name) => parts.with(providerIndex, name).join("/"));
}
