// The price file: its schema, the checks of a new version, and loading the operator's own file.

import { readFileSync } from "node:fs";
import { z } from "zod";
import { isExactPrice, toPicoPerToken } from "../lib/money.ts";
import type { Log } from "../log.ts";
import builtIn from "./prices.json" with { type: "json" };

/** USD per million tokens, or per thousand calls for the names in `feeNames`. */
const rate = z
  .number()
  .min(0)
  .max(100_000)
  .refine(isExactPrice, { error: "has more than six decimals, which cannot be billed exactly" })
  .optional();

export const feeNames = [
  ...(["web_search", "web_search_preview", "grounded_prompt", "file_search", "code_execution", "search_unit"] as const),
];
export const rateNames = [
  ...(["input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning"] as const),
  ...(["audio_input", "audio_cache_read", "audio_output", "image_input", "image_cache_read", "image_output"] as const),
  ...(["video_input"] as const),
  ...feeNames,
];
export type RateName = (typeof rateNames)[number];
const rates = Object.fromEntries(rateNames.map((name) => [name, rate])) as Record<RateName, typeof rate>;

/** Applies to the whole request if it has more than `tokens` input tokens. Rates that it does not state stay unchanged. */
const bracket = z.strictObject({ tokens: z.int().positive(), ...rates });
const above = z.array(bracket).min(1).optional();

/** A service tier: a factor for all rates, or its own rates. */
const tier = z.union([z.number().positive().max(100), z.strictObject({ ...rates, above })]);
const tiers = z.record(z.string(), tier).optional();

const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

export const rateCardSchema = z.strictObject({ ...rates, above, tiers });

/** `from` is a day, `hours` a window [start, end) and `days` 1 (Monday) to 7, all in UTC. */
const scheduledSchema = z.strictObject({
  from: z.iso.date().optional(),
  hours: z.tuple([clock, clock]).optional(),
  days: z.array(z.int().min(1).max(7)).min(1).optional(),
  ...rateCardSchema.shape,
});

const modelSchema = z.strictObject({
  ids: z.array(z.string().min(1)).min(1),
  /** `prefix*`, `*suffix`, `*part*`, or a regular expression between slashes. Tried in order, after all ids. */
  like: z.array(z.string().min(2)).optional(),
  context: z.int().positive().optional(),
  /** Only if it differs from the provider's. */
  source: z.int().min(0).optional(),
  free: z.literal(true).optional(),
  /** A fee that does not follow from the usage: the cost is known only if the vendor returns it. */
  fee: z.string().optional(),
  /** The last card that applies counts; the first one always applies. */
  price: z.union([rateCardSchema, z.array(scheduledSchema).min(1)]).optional(),
});

const providerSchema = z.strictObject({
  source: z.int().min(0),
  /** Providers whose prices apply to models that are not listed here. */
  fallback: z.array(z.string()).optional(),
  /** The vendor bills input audio like text, unless a model has a rate for it. */
  audio_as_text: z.literal(true).optional(),
  models: z.array(modelSchema),
});

const sourceSchema = z.strictObject({ url: z.url(), date: z.iso.date(), via: z.string().optional() });

const priceFileSchema = z.strictObject({
  format: z.literal(1),
  version: z.string().min(1),
  sources: z.array(sourceSchema).min(1),
  providers: z.record(z.string(), providerSchema),
});

export type RateCard = z.infer<typeof rateCardSchema>;
export type ScheduledCard = z.infer<typeof scheduledSchema>;
export type PricedModel = z.infer<typeof modelSchema>;
export type PricedProvider = z.infer<typeof providerSchema>;
export type PriceSource = z.infer<typeof sourceSchema>;
export type PriceFile = z.infer<typeof priceFileSchema>;

/** Generated and checked by scripts/prices.ts; a test checks it again. */
export const builtInPrices = builtIn as unknown as PriceFile;

const largestJump = 10;
const mostLoggedProblems = 20;

/** The problems of a new file, as sentences; empty if the file may replace the current one. */
export function checkPriceFile(next: unknown, current: PriceFile | null): string[] {
  const parsed = priceFileSchema.safeParse(next);
  if (!parsed.success) {
    return parsed.error.issues.map((issue) => `${issue.path.join(".") || "the file"}: ${issue.message}`);
  }
  const problems = [...findBrokenReferences(parsed.data), ...findInexactTiers(parsed.data)];
  if (current !== null) problems.push(...findLosses(parsed.data, current), ...findJumps(parsed.data, current));
  return problems;
}

/** The operator's file if it is set and valid, otherwise the file of this version. */
export function loadPrices(options: { builtIn: PriceFile; operatorFile: string | null; log: Log }): PriceFile {
  const { builtIn, operatorFile, log } = options;
  if (operatorFile === null) return builtIn;
  const where = { file: operatorFile, version: builtIn.version };
  try {
    const file = JSON.parse(readFileSync(operatorFile, "utf8"));
    const problems = checkPriceFile(file, builtIn);
    if (problems.length === 0) {
      log.info("prices loaded", { file: operatorFile, version: file.version });
      return file;
    }
    log.error("the price file is not valid: the built-in prices are used", {
      ...where,
      problems: problems.slice(0, mostLoggedProblems),
    });
  } catch (error) {
    log.error("the price file cannot be read: the built-in prices are used", { ...where, error: String(error) });
  }
  return builtIn;
}

function findBrokenReferences({ sources, providers }: PriceFile): string[] {
  const problems: string[] = [];
  for (const [name, { source, models, fallback }] of Object.entries(providers)) {
    if (source >= sources.length) problems.push(`${name}: there is no source ${source}`);
    for (const other of fallback ?? [])
      if (providers[other] === undefined) problems.push(`${name}: falls back to '${other}', which is not in the file`);
    for (const model of models) {
      const at = `${name}/${model.ids[0]}`;
      if ((model.source ?? 0) >= sources.length) problems.push(`${at}: there is no source ${model.source}`);
      const [first] = toCards(model);
      if (first !== undefined && (first.from ?? first.hours ?? first.days) !== undefined)
        problems.push(`${at}: its first price has a condition, so at some times no price applies`);
      for (const pattern of model.like ?? [])
        if (!isPattern(pattern)) problems.push(`${at}: '${pattern}' is not a pattern`);
    }
  }
  return problems;
}

function isPattern(pattern: string): boolean {
  if (!pattern.startsWith("/")) return pattern.includes("*");
  try {
    return pattern.endsWith("/") && new RegExp(pattern.slice(1, -1)) !== null;
  } catch {
    return false;
  }
}

function findInexactTiers({ providers }: PriceFile): string[] {
  const problems: string[] = [];
  for (const [provider, { models }] of Object.entries(providers))
    for (const { ids, price } of models)
      for (const card of toCards({ price }))
        for (const [tier, factor] of Object.entries(card.tiers ?? {})) {
          if (typeof factor !== "number") continue;
          const [inexact] = listRates(card).find(([, rate]) => !isExactFactor(rate, factor)) ?? [];
          if (inexact !== undefined)
            problems.push(`${provider}/${ids[0]}: ${inexact} × ${factor} (${tier}) has more than six decimals`);
        }
  return problems;
}

function isExactFactor(rate: number, factor: number): boolean {
  const exact = toPicoPerToken(rate) * factor;
  return Math.abs(exact - Math.round(exact)) < 1e-6;
}

function findLosses(next: PriceFile, current: PriceFile): string[] {
  return Object.entries(current.providers).flatMap(
    ([
      name,
      {
        models: { length: before },
      },
    ]) => {
      const after = next.providers[name]?.models.length ?? 0;
      return after * 2 < before ? [`${name}: ${after} models instead of ${before}`] : [];
    },
  );
}

function findJumps(next: PriceFile, current: PriceFile): string[] {
  const problems: string[] = [];
  for (const [name, { models }] of Object.entries(next.providers)) {
    const before = new Map(current.providers[name]?.models.map((model) => [model.ids[0], model]));
    for (const model of models) {
      const old = before.get(model.ids[0]);
      if (old === undefined) continue;
      const oldRanges = rangesOf(old);
      for (const [rate, range] of rangesOf(model)) {
        const oldRange = oldRanges.get(rate);
        if (oldRange === undefined) continue;
        for (const end of ["lowest", "highest"] as const)
          if (isJump(oldRange[end], range[end]))
            problems.push(`${name}/${model.ids[0]}: ${rate} goes from ${oldRange[end]} to ${range[end]}`);
      }
    }
  }
  return [...new Set(problems)];
}

/** A rate that appears or disappears counts as a change, too, because a number may have been lost. */
function isJump(before: number, after: number): boolean {
  if (before === after) return false;
  if (before === 0 || after === 0) return true;
  return Math.max(before / after, after / before) > largestJump;
}

function rangesOf(model: PricedModel): Map<RateName, { lowest: number; highest: number }> {
  const ranges = new Map<RateName, { lowest: number; highest: number }>();
  for (const card of toCards(model))
    for (const [name, rate] of listRates(card)) {
      const { lowest, highest } = ranges.get(name) ?? { lowest: rate, highest: rate };
      ranges.set(name, { lowest: Math.min(lowest, rate), highest: Math.max(highest, rate) });
    }
  return ranges;
}

/** The rates of a card and its brackets, without its tiers. */
function listRates(card: RateCard): [RateName, number][] {
  return [card, ...(card.above ?? [])].flatMap((rates) =>
    rateNames.flatMap((name): [RateName, number][] => {
      const rate = rates[name];
      return rate === undefined ? [] : [[name, rate]];
    }),
  );
}

export function toCards({ price }: Pick<PricedModel, "price">): readonly ScheduledCard[] {
  if (price === undefined) return [];
  return Array.isArray(price) ? price : [price];
}
