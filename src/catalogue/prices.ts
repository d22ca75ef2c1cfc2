// The prices of models: the operator's own prices first, then the price file. The rates of a model are compiled on first use and cached.

import { z } from "zod";
import type { Model } from "../contract/models.ts";
import { toUsd } from "../lib/money.ts";
import type { PricedModel, PricedProvider, PriceFile, PriceSource, RateCard, ScheduledCard } from "./price-file.ts";
import { feeNames, rateCardSchema, rateNames, toCards } from "./price-file.ts";
import { compileCard, freeSchedule, inEveryTier, type Rates, type Schedule, toSchedule } from "./price-rates.ts";

export { builtInPrices, checkPriceFile, loadPrices, type PriceFile, type PriceSource } from "./price-file.ts";

export interface Price extends Schedule {
  /** Identifies the price list, for the ledger. */
  readonly version: string;
  readonly source: PriceSource | null;
  /** Set by the operator: takes precedence over the price of the model that answered. */
  readonly isOverride: boolean;
  /** The operator set what tokens cost: takes precedence over a cost that the vendor returns. */
  readonly replacesStatedCost: boolean;
  /** A further fee that does not follow from the usage, or null. */
  readonly fee: string | null;
}

export interface PriceBook {
  readonly version: string;
  /** Null if the price is unknown, which never means free. Ids are looked up before patterns. */
  find(provider: string, model: string): Price | null;
  facts(provider: string, model: string): { readonly contextTokens: number | null } | null;
}

export type PriceOverrides = Readonly<Record<string, OverrideCard>>;
type OverrideCard = z.infer<typeof overrideSchema>;

/** `freeProviders` cost nothing, such as servers of the operator. `otherNames`: further names of a provider in price files. */
export function createPriceBook(
  file: PriceFile,
  overrides: PriceOverrides = {},
  freeProviders: ReadonlySet<string> = new Set(),
  otherNames: ReadonlyMap<string, readonly string[]> = new Map(),
): PriceBook {
  const namesOf = (provider: string) => [provider, ...(otherNames.get(provider) ?? [])];
  const indexes = new Map<string, ProviderIndex>();
  const compiled = new Map<PricedModel, Price | null>();
  const resold = new Map<PricedModel, Price | null>();
  const findOverride = createOverrideIndex(overrides);
  const free: Price = {
    version: file.version,
    source: null,
    isOverride: false,
    replacesStatedCost: false,
    fee: null,
    ...freeSchedule,
  };

  function indexOf(provider: string): ProviderIndex | undefined {
    const found = indexes.get(provider);
    if (found !== undefined) return found;
    const listed = namesOf(provider).find((name) => Object.hasOwn(file.providers, name));
    if (listed === undefined) return undefined;
    const index = createProviderIndex(file.providers[listed] as PricedProvider);
    indexes.set(provider, index);
    return index;
  }

  function findModel(provider: string, model: string): FoundModel | null {
    const index = indexOf(provider);
    if (index === undefined) return null;
    const entry = index.find(model);
    if (entry !== undefined) return { entry, index, isResold: false };
    for (const name of index.provider.fallback ?? []) {
      const other = indexOf(name);
      const found = other?.find(model);
      if (other !== undefined && found !== undefined) return { entry: found, index: other, isResold: true };
    }
    return null;
  }

  /** The price file's entry with the rates of the operator. Its further fee stays, and so does the precedence of a cost that the vendor returns. */
  function extendEntry({ card, extended }: Override, provider: string, model: string): Price {
    const isFreeProvider = freeProviders.has(provider);
    const found = isFreeProvider ? null : findModel(provider, model);
    const known = extended.get(found?.entry ?? null);
    if (known !== undefined) return known;
    const isFree = isFreeProvider || found?.entry.free === true;
    const cards = isFree ? [toFreeCard(card)] : found === null ? [] : cardsOf(found);
    const merged = cards.length === 0 ? [card] : cards.map((listed) => ({ ...listed, ...card }));
    const audioAsText = found === null || isFree || found.index.provider.audio_as_text === true;
    const schedule = toSchedule(merged.map((each) => compileCard(each, audioAsText)));
    const replacesStatedCost = Object.keys(card).some((name) => !isFee(name));
    const price: Price = {
      ...toOverride(isFree && !replacesStatedCost ? inEveryTier(schedule) : schedule),
      replacesStatedCost,
      fee: found?.entry.fee ?? null,
    };
    extended.set(found?.entry ?? null, price);
    return price;
  }

  return {
    version: file.version,
    find(provider, name) {
      const model = name.toLowerCase();
      for (const known of namesOf(provider)) {
        const override = findOverride(`${known}/${model}`);
        if (override !== null) return override.price ?? extendEntry(override, provider, model);
      }
      if (freeProviders.has(provider)) return free;
      const found = findModel(provider, model);
      if (found === null) return null;
      const prices = found.isResold ? resold : compiled;
      const known = prices.get(found.entry);
      if (known !== undefined) return known;
      const price = compileModel(file, found);
      prices.set(found.entry, price);
      return price;
    },
    facts(provider, name) {
      const found = findModel(provider, name.toLowerCase());
      return found === null ? null : { contextTokens: found.entry.context ?? null };
    },
  };
}

interface FoundModel {
  readonly entry: PricedModel;
  readonly index: ProviderIndex;
  /** The price of another provider whose tokens cost the same. Fees for its tools do not apply. */
  readonly isResold: boolean;
}

interface ProviderIndex {
  readonly provider: PricedProvider;
  find(model: string): PricedModel | undefined;
}

function createProviderIndex(provider: PricedProvider): ProviderIndex {
  const byId = new Map<string, PricedModel>();
  const patterns: { readonly fits: (model: string) => boolean; readonly model: PricedModel }[] = [];
  for (const model of provider.models) {
    for (const id of model.ids) if (!byId.has(id.toLowerCase())) byId.set(id.toLowerCase(), model);
    for (const pattern of model.like ?? []) patterns.push({ fits: toMatcher(pattern), model });
  }
  return {
    provider,
    find: (model) => byId.get(model) ?? patterns.find(({ fits }) => fits(model))?.model,
  };
}

/** Expects lower-case names. */
function toMatcher(pattern: string): (model: string) => boolean {
  if (pattern.startsWith("/")) {
    const expression = new RegExp(pattern.slice(1, -1));
    return (model) => expression.test(model);
  }
  const lower = pattern.toLowerCase();
  const inner = lower.replace(/^\*|\*$/g, "");
  if (inner.includes("*")) {
    const expression = new RegExp(`^${lower.split("*").map(RegExp.escape).join(".*")}$`);
    return (model) => expression.test(model);
  }
  if (lower.startsWith("*"))
    return lower.endsWith("*") ? (model) => model.includes(inner) : (model) => model.endsWith(inner);
  return (model) => model.startsWith(inner);
}

function cardsOf({ entry, isResold }: FoundModel): readonly ScheduledCard[] {
  return isResold ? toCards(entry).map(withoutToolFees) : toCards(entry);
}

function compileModel(file: PriceFile, found: FoundModel): Price | null {
  const { entry: model, index } = found;
  const { provider } = index;
  const source = file.sources[model.source ?? provider.source] ?? null;
  const base = {
    version: file.version,
    source,
    isOverride: false,
    replacesStatedCost: false,
    fee: model.fee ?? null,
  };
  if (model.free === true) return { ...base, ...freeSchedule };
  const cards = cardsOf(found);
  if (cards.length === 0) return null;
  return { ...base, ...toSchedule(cards.map((card) => compileCard(card, provider.audio_as_text === true))) };
}

function withoutToolFees(card: ScheduledCard): ScheduledCard {
  return Object.fromEntries(Object.entries(card).filter(([name]) => !isFee(name)));
}

function isFee(name: string): boolean {
  return (feeNames as readonly string[]).includes(name);
}

/** What an entry of the operator adds to where a model is free. Absent rates follow from those that are there, also from those of the operator. */
function toFreeCard({ grounded_prompt }: RateCard): RateCard {
  const names = ["input", "output", "audio_output", "image_output", ...feeNames].filter(
    // Searches with a price of their own, even 0, are not billed by the prompt.
    (name) => name !== "web_search_preview" && (name !== "web_search" || grounded_prompt === undefined),
  );
  return Object.fromEntries(names.map((name) => [name, 0]));
}

const overrideVersion = "operator";

export const overrideSchema = rateCardSchema.extend({
  free: z.literal(true).optional(),
  /** What the entry does not state is as in the price file. */
  catalogue: z.literal(true).optional(),
});
const namePattern = /^[a-z0-9-]+\/.+$/;

/** `path` is the location in switchyard.yaml. */
interface PriceProblem {
  readonly path: string;
  readonly message: string;
}

/** The member `prices` of switchyard.yaml: `<provider>/<model>`, in which `*` matches anything, with prices in USD per million tokens. */
export function readPriceOverrides(value: unknown): { prices: PriceOverrides; problems: PriceProblem[] } {
  if (value === undefined || value === null) return { prices: {}, problems: [] };
  if (typeof value !== "object" || Array.isArray(value)) {
    const message = "should hold models with their prices, such as 'openai/gpt-5: { input: 1.25, output: 10 }'";
    return { prices: {}, problems: [{ path: "prices", message }] };
  }
  const prices: Record<string, OverrideCard> = {};
  const problems: PriceProblem[] = [];
  for (const [name, card] of Object.entries(value)) {
    const path = `prices.${name}`;
    const parsed = overrideSchema.safeParse(card);
    if (!namePattern.test(name)) problems.push({ path, message: "should be named <provider>/<model>" });
    else if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => describeIssue(path, issue)));
    else if (parsed.data.free !== true && rateNames.every((rate) => parsed.data[rate] === undefined))
      problems.push({ path, message: "names no price; write `free: true` for a model that costs nothing" });
    else prices[name] = parsed.data;
  }
  return { prices, problems };
}

function describeIssue(path: string, issue: z.core.$ZodIssue): PriceProblem {
  if (issue.code === "unrecognized_keys")
    return { path, message: `unknown member '${issue.keys.join("', '")}'; known are ${rateNames.join(", ")}` };
  return { path: [path, ...issue.path].join("."), message: issue.message };
}

/** A price of the operator. */
interface Override {
  readonly card: RateCard;
  /** Null: it extends the price file's entry of a model. */
  readonly price: Price | null;
  /** By entry of the price file. */
  readonly extended: Map<PricedModel | null, Price>;
}

function toOverride(schedule: Schedule): Price {
  return {
    version: overrideVersion,
    source: null,
    isOverride: true,
    replacesStatedCost: true,
    fee: null,
    ...schedule,
  };
}

/** Finds the operator's price of `<provider>/<model>`. */
function createOverrideIndex(overrides: PriceOverrides): (name: string) => Override | null {
  const exact = new Map<string, Override>();
  const patterns: { readonly fits: (name: string) => boolean; readonly override: Override }[] = [];
  for (const [name, { free, catalogue, ...card }] of Object.entries(overrides)) {
    // A single input price of the operator applies to all kinds of input.
    const schedule = free === true ? freeSchedule : toSchedule([compileCard(card, true)]);
    const isExtension = catalogue === true && free !== true;
    const override = { card, price: isExtension ? null : toOverride(schedule), extended: new Map() };
    if (name.includes("*")) patterns.push({ fits: toMatcher(name), override });
    else exact.set(name.toLowerCase(), override);
  }
  return (name) => exact.get(name) ?? patterns.find(({ fits }) => fits(name))?.override ?? null;
}

type PublicPricing = NonNullable<Model["pricing"]>;

const publicNames: readonly (readonly [part: keyof Rates, name: string])[] = [
  ["input", "input_cost_per_token"],
  ["output", "output_cost_per_token"],
  ["cacheRead", "cache_read_input_token_cost"],
  ["cacheWrite5m", "cache_creation_input_token_cost"],
  ["cacheWrite1h", "cache_creation_input_token_cost_above_1hr"],
  ["reasoning", "output_cost_per_reasoning_token"],
  ["audioInput", "input_cost_per_audio_token"],
  ["cacheReadAudio", "cache_read_input_audio_token_cost"],
  ["audioOutput", "output_cost_per_audio_token"],
  ["imageInput", "input_cost_per_image_token"],
  ["imageOutput", "output_cost_per_image_token"],
  ["videoInput", "input_cost_per_video_token"],
  ["webSearch", "search_cost_per_query"],
  ["groundedPrompt", "search_cost_per_prompt"],
  ["fileSearch", "file_search_cost_per_call"],
  ["codeExecution", "code_execution_cost_per_call"],
  ["searchUnit", "search_cost_per_unit"],
];

/** The members that every listing contains, even if they are unknown. */
const alwaysNamed: ReadonlySet<keyof Rates> = new Set(["input", "output", "cacheRead"]);

/** The member `pricing` of the model listing, in USD per token. */
export function toPublicPricing(price: Price, at: Date): PublicPricing {
  const pricing: PublicPricing = {
    input_cost_per_token: null,
    output_cost_per_token: null,
    cache_read_input_token_cost: null,
    source: price.source?.url ?? null,
    updated_at: price.source?.date ?? null,
    ...(price.fee === null ? {} : { unlisted_fee: price.fee }),
  };
  for (const { aboveTokens, rates } of price.bracketsAt(at)) {
    const ending = aboveTokens === 0 ? "" : `_above_${Math.ceil(aboveTokens / 1_000)}k_tokens`;
    for (const [part, name] of publicNames) {
      const rate = rates[part];
      if (rate !== null) pricing[`${name}${ending}`] = toUsd(rate);
      else if (alwaysNamed.has(part)) pricing[`${name}${ending}`] = null;
    }
  }
  return pricing;
}
