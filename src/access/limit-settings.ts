// The members that keys and teams have in common: limits, tags and whether they are enabled. As they are requested, stored and shown.

import type { Budget, LimitDefaults, ModelLimit, RateLimit } from "../contract/limits.ts";
import { type Problem, throwProblems } from "../errors.ts";
import type { TeamRecord } from "../storage/teams.ts";

/** Members that are absent get their defaults in a new key or team, and keep their values in an existing one. */
export interface RequestedLimits {
  readonly allowed_models?: readonly string[] | null | undefined;
  readonly rate_limit?: RateLimit | null | undefined;
  readonly budget?: Budget | null | undefined;
  readonly model_limits?: readonly ModelLimit[] | null | undefined;
  readonly tags?: Readonly<Record<string, string>> | null | undefined;
}

export type StoredLimits = Pick<TeamRecord, "allowedModels" | "rateLimit" | "budget" | "modelLimits" | "tags">;

/** The limits of a new key or team. Null in the request means none, whatever the default. */
export function toNewLimits(request: RequestedLimits, defaults: LimitDefaults, now: number): StoredLimits {
  refusePastRaises(request, now);
  const pick = <Name extends keyof RequestedLimits>(name: Name) =>
    (request[name] === undefined ? defaults[name] : request[name]) ?? null;
  const budget = pick("budget");
  return {
    allowedModels: pick("allowed_models"),
    rateLimit: pick("rate_limit"),
    budget: budget === null ? null : toStoredBudget(budget),
    modelLimits: (pick("model_limits") ?? []).map(toStoredLimit),
    tags: pick("tags") ?? {},
  };
}

/** The members that the request names. */
export function toChangedLimits(request: RequestedLimits, now: number): Partial<StoredLimits> {
  refusePastRaises(request, now);
  const { allowed_models: allowedModels, rate_limit: rateLimit, budget, model_limits: modelLimits, tags } = request;
  return {
    ...(allowedModels === undefined ? {} : { allowedModels }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(budget === undefined ? {} : { budget: budget === null ? null : toStoredBudget(budget) }),
    ...(modelLimits === undefined ? {} : { modelLimits: (modelLimits ?? []).map(toStoredLimit) }),
    ...(tags === undefined ? {} : { tags: tags ?? {} }),
  };
}

export function toShownLimits({ allowedModels, rateLimit, budget, modelLimits, tags }: StoredLimits, now: number) {
  return {
    allowed_models: allowedModels === null ? null : [...allowedModels],
    rate_limit: rateLimit,
    budget: toShownBudget(budget, now),
    model_limits: modelLimits.map((limit) => ({ ...limit, budget: toShownBudget(limit.budget, now) })),
    tags: { ...tags },
  };
}

type GivenBudget = Omit<Budget, "raise"> & Partial<Pick<Budget, "raise">>;
type GivenModelLimit = Omit<ModelLimit, "budget"> & { readonly budget: GivenBudget | null };

function toStoredBudget({ raise = null, ...budget }: GivenBudget): Budget {
  return { ...budget, raise: raise && { ...raise, until: new Date(raise.until).toISOString() } };
}

function toStoredLimit({ budget, ...limit }: GivenModelLimit): ModelLimit {
  return { ...limit, budget: budget && toStoredBudget(budget) };
}

/** Without a raise that has ended: an object that was read can be sent back. */
function toShownBudget(budget: Budget | null, now: number): Budget | null {
  const hasEnded = budget?.raise && Date.parse(budget.raise.until) <= now;
  return hasEnded ? { ...budget, raise: null } : budget;
}

function refusePastRaises({ budget, model_limits: modelLimits }: RequestedLimits, now: number): void {
  const problems: Problem[] = [];
  const add = (given: Budget | null | undefined, path: readonly (string | number)[]) => {
    if (!given?.raise || Date.parse(given.raise.until) > now) return;
    const loc = ["body", ...path, "budget", "raise", "until"];
    problems.push({ loc, msg: "The end of the raise must be in the future", type: "value_error" });
  };
  add(budget, []);
  for (const [index, limit] of (modelLimits ?? []).entries()) add(limit.budget, ["model_limits", index]);
  throwProblems(problems);
}
