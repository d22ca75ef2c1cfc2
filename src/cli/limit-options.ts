// Options of `switchyard keys` and `switchyard teams` that set limits, and the members of a request that they stand for.

import { type Command, InvalidArgumentError } from "commander";
import type { Budget, ModelLimit, RateLimit } from "../contract/limits.ts";
import { lookUp } from "../lib/look-up.ts";
import { collect, toNumber, UsageError } from "./command-line.ts";

const none = "none";
/** Commander takes null for an option without a value. */
type NumberOrNone = number | typeof none;

const rateOptions = {
  requestsPerSecond: "requests_per_second",
  requestsPerMinute: "requests_per_minute",
  tokensPerMinute: "tokens_per_minute",
  concurrentRequests: "concurrent_requests",
} as const satisfies Record<string, keyof RateLimit>;

type RateOptions = { readonly [Name in keyof typeof rateOptions]?: NumberOrNone };

interface BudgetOptions {
  readonly budget?: NumberOrNone;
  readonly period?: string;
  readonly timeZone?: string;
  readonly raise?: NumberOrNone;
  readonly raiseUntil?: string;
}

export interface LimitOptions extends RateOptions, BudgetOptions {
  readonly model?: readonly string[];
  readonly modelLimit?: readonly string[];
  readonly tag?: readonly string[];
}

/** Of commands that create or change a key or a team. */
export interface AccessOptions extends LimitOptions {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly json?: true;
}

/** The limits before a change. */
export interface CurrentLimits {
  readonly rate_limit: RateLimit | null;
  readonly budget: Budget | null;
  readonly model_limits: readonly ModelLimit[];
}

const noLimits: CurrentLimits = { rate_limit: null, budget: null, model_limits: [] };

/** Stands for limits that are not known yet: with it, the options of a change are checked before the store is opened. */
export const anyLimits: CurrentLimits = {
  ...noLimits,
  budget: { amount: 0, period: "none", time_zone: "UTC", raise: null },
};

export function addLimitOptions(command: Command): Command {
  return command
    .option("--model <pattern>", "an allowed model, such as openai/*; repeatable; none: all models", collect)
    .option("--budget <amount>", "US dollars; none: no budget", toNumberOrNone)
    .option(
      "--period <period>",
      "period of the budget: none, daily, weekly or monthly; a change starts its count at zero",
    )
    .option(
      "--time-zone <name>",
      "time zone in which the periods begin, such as Europe/Berlin; default: UTC; a change starts the count of the budget at zero",
    )
    .option("--raise <amount>", "US dollars that are added to the budget for a time; none: no raise", toNumberOrNone)
    .option("--raise-until <time>", "end of the raise: ISO 8601, or days such as 7d")
    .option("--requests-per-second <n>", "rate limit; none: no limit", toNumberOrNone)
    .option("--requests-per-minute <n>", "rate limit; none: no limit", toNumberOrNone)
    .option("--tokens-per-minute <n>", "rate limit; none: no limit", toNumberOrNone)
    .option("--concurrent-requests <n>", "requests at the same time; none: no limit", toNumberOrNone)
    .option(
      "--model-limit <limits>",
      "limits of models, such as openai/*=budget:5,period:daily,requests-per-minute:60; repeatable; none: no such limits",
      collect,
    )
    .option("--tag <name=value>", "repeatable; none: no tags", collect);
}

/** Only the members that were given, so that others keep their values, or get the defaults of a new key or team. */
export function toLimitMembers(options: LimitOptions, current: CurrentLimits = noLimits) {
  const { model, modelLimit, tag } = options;
  return {
    ...(model === undefined ? {} : { allowed_models: isNone(model) ? null : model }),
    ...toRateLimit(options, current.rate_limit),
    ...toBudget(options, current.budget),
    ...(modelLimit === undefined ? {} : { model_limits: toModelLimits(modelLimit, current.model_limits) }),
    ...(tag === undefined ? {} : { tags: isNone(tag) ? {} : Object.fromEntries(tag.map(toPair)) }),
  };
}

/** A budget in one word or two: `25 USD monthly`. */
export function describeBudget(budget: Budget | null): string {
  if (budget === null) return "no budget";
  const { amount, period, raise } = budget;
  return `${amount}${raise === null ? "" : ` + ${raise.amount}`} USD${period === "none" ? "" : ` ${period}`}`;
}

/** ISO 8601, or a number of days from now. */
export function toTime(given: string): string {
  const days = /^(\d{1,5})d$/.exec(given)?.[1];
  if (days !== undefined) return new Date(Date.now() + Number(days) * 86_400_000).toISOString();
  if (/^\d{4}-\d{2}-\d{2}\D\d/.test(given)) return given;
  throw new UsageError(`'${given}' is not a time; write days, such as 90d, or ISO 8601, such as 2027-01-31T00:00:00Z.`);
}

function toRateLimit(options: RateOptions, current: RateLimit | null) {
  const given = Object.entries(rateOptions).flatMap(([option, member]) => {
    const value = options[option as keyof RateOptions];
    return value === undefined ? [] : [[member, value === none ? null : value] as const];
  });
  if (given.length === 0) return {};
  const rates = { ...current, ...Object.fromEntries(given) };
  return { rate_limit: Object.values(rates).every((rate) => rate === null) ? null : rates };
}

function toBudget(options: BudgetOptions, current: Budget | null) {
  const { budget, period, timeZone, raise, raiseUntil } = options;
  const others = [period, timeZone, raise, raiseUntil];
  if (budget === undefined && others.every((value) => value === undefined)) return {};
  if (budget === none) {
    if (others.some((value) => value !== undefined))
      throw new UsageError("--budget none takes no other option of a budget.");
    return { budget: null };
  }
  if (budget === undefined && current === null)
    throw new UsageError("--period, --time-zone and --raise need a budget: add --budget.");
  if ((typeof raise === "number") !== (raiseUntil !== undefined))
    throw new UsageError("--raise and --raise-until belong together.");
  return {
    budget: {
      ...current,
      ...(budget === undefined ? {} : { amount: budget }),
      ...(period === undefined ? {} : { period }),
      ...(timeZone === undefined ? {} : { time_zone: timeZone }),
      ...(raise === undefined
        ? {}
        : { raise: raise === none ? null : { amount: raise, until: toTime(raiseUntil ?? "") } }),
    },
  };
}

/** A pattern that has limits already gets the new ones; `<pattern>=none` removes them. */
function toModelLimits(given: readonly string[], current: readonly ModelLimit[]): unknown[] {
  if (isNone(given)) return [];
  const limits = new Map<string, unknown>(current.map((limit) => [limit.model, limit]));
  for (const text of given) {
    // A pattern may contain equals signs, limits do not.
    const equals = text.lastIndexOf("=");
    if (equals < 1) throw new UsageError(`--model-limit takes <pattern>=<limits>, not "${text}".`);
    const [model, settings] = [text.slice(0, equals), text.slice(equals + 1)];
    if (settings === none) limits.delete(model);
    else limits.set(model, { model, ...toLimitMembers(readSettings(settings)) });
  }
  return [...limits.values()];
}

const settingReaders: Readonly<Record<string, (value: string) => LimitOptions>> = {
  "requests-per-second": (value) => ({ requestsPerSecond: readNumber(value) }),
  "requests-per-minute": (value) => ({ requestsPerMinute: readNumber(value) }),
  "tokens-per-minute": (value) => ({ tokensPerMinute: readNumber(value) }),
  "concurrent-requests": (value) => ({ concurrentRequests: readNumber(value) }),
  budget: (value) => ({ budget: readNumber(value) }),
  period: (period) => ({ period }),
  "time-zone": (timeZone) => ({ timeZone }),
  raise: (value) => ({ raise: readNumber(value) }),
  "raise-until": (raiseUntil) => ({ raiseUntil }),
};

/** `budget:5,period:daily` */
function readSettings(text: string): LimitOptions {
  return Object.assign(
    {},
    ...text.split(",").map((setting) => {
      const colon = setting.indexOf(":");
      const read = lookUp(settingReaders, setting.slice(0, colon));
      if (read === undefined)
        throw new UsageError(
          `--model-limit takes ${Object.keys(settingReaders).join(", ")}, each followed by a colon and its value, not "${setting}".`,
        );
      return read(setting.slice(colon + 1));
    }),
  );
}

function readNumber(text: string): number {
  try {
    return toNumber(text);
  } catch {
    throw new UsageError(`--model-limit takes a number, not "${text}".`);
  }
}

function toNumberOrNone(given: string): NumberOrNone {
  if (given === none) return none;
  try {
    return toNumber(given);
  } catch {
    throw new InvalidArgumentError('It takes a number or "none".');
  }
}

function isNone(values: readonly string[]): boolean {
  return values.length === 1 && values[0] === none;
}

function toPair(given: string): [string, string] {
  const equals = given.indexOf("=");
  if (equals < 1) throw new UsageError(`--tag takes name=value, not "${given}".`);
  return [given.slice(0, equals), given.slice(equals + 1)];
}
