// Makes src/catalogue/prices.json from the price data of @pydantic/genai-prices and from our own table, which wins. Run by
// hand: `node bin/bun.mjs run scripts/prices.ts [--accept <provider>/<model>]...`. A file that fails the check is not written;
// `--accept` lets one model's jump pass that a person has looked at.

import { type MatchLogic, type ModelInfo, type ModelPrice, type Provider, waitForUpdate } from "@pydantic/genai-prices";
import ownPackage from "../package.json" with { type: "json" };
import ownTable from "../src/catalogue/own-prices.json" with { type: "json" };
import {
  checkPriceFile,
  type PricedModel,
  type PricedProvider,
  type PriceFile,
  type PriceSource,
  type RateCard,
  type RateName,
  type ScheduledCard,
} from "../src/catalogue/price-file.ts";
import { createPriceBook } from "../src/catalogue/prices.ts";
import { isExactPrice } from "../src/lib/money.ts";
import { rows } from "../src/providers/index.ts";

const target = "src/catalogue/prices.json";
const today = new Date().toISOString().slice(0, 10);
/** The day on which the version of the package below was published: its prices were right then. */
const genaiDate = "2026-09-23";
const genaiVersion = "0.1.8";

/** They have the same name in the package. */
const sameNames =
  "anthropic azure baseten cerebras cloudflare cohere deepseek fireworks groq minimax mistral novita openai openrouter ovhcloud perplexity together zai";
/** Our names of the providers → theirs. */
const names: Readonly<Record<string, string>> = {
  ...Object.fromEntries(sameNames.split(" ").map((name) => [name, name])),
  bedrock: "aws",
  gemini: "google",
  moonshot: "moonshotai",
  vertexai: "google",
  voyage: "voyageai",
  xai: "x-ai",
};

/** Whose prices hold where a provider sells another's models at their price. */
const fallbacks: Readonly<Record<string, readonly string[]>> = {
  azure: ["openai", "anthropic"],
  vertexai: ["gemini", "anthropic"],
};

/** Two of our providers share one of theirs. */
const isLeftOut: Readonly<Record<string, (model: ModelInfo) => boolean>> = {
  gemini: (model) => model.id.startsWith("claude"),
  vertexai: (model) => !model.id.startsWith("claude"),
};

const routerPrefix = "huggingface_";

const rateNames: Readonly<Record<string, RateName>> = {
  input_mtok: "input",
  output_mtok: "output",
  cache_read_mtok: "cache_read",
  cache_write_mtok: "cache_write",
  cache_write_1h_mtok: "cache_write_1h",
  output_reasoning_mtok: "reasoning",
  input_audio_mtok: "audio_input",
  cache_audio_read_mtok: "audio_cache_read",
  output_audio_mtok: "audio_output",
  input_image_mtok: "image_input",
  cache_image_read_mtok: "image_cache_read",
  output_image_mtok: "image_output",
  input_video_mtok: "video_input",
  web_searches_kcount: "web_search",
};
/** Billed only through a tool that chat calls do not have. */
const ignored = new Set(["storage_searches_kcount"]);
/** Billed with every call, and not to be seen in its usage. */
const fees: Readonly<Record<string, string>> = {
  requests_kcount: "each request has a fee that depends on its search context",
  output_citation_mtok: "citations are billed by their tokens",
  output_video_mtok: "video is billed by its tokens",
};

interface OwnModel extends Omit<PricedModel, "source"> {
  readonly source?: PriceSource;
}
/** `source`: where the rule was read, if not on the provider's page. */
interface Rule {
  readonly like: readonly string[];
  readonly source?: PriceSource;
}
interface OwnProvider {
  readonly source: PriceSource;
  readonly fallback?: string[];
  readonly audio_as_text?: true;
  /** Tiers of service that the package does not have. The first rule that fits a model holds. */
  readonly tiers?: readonly (Rule & { readonly tiers: NonNullable<RateCard["tiers"]> })[];
  /** Rates that the package does not have, of models that it has; null takes one away. The first rule that fits a model holds. */
  readonly rates?: readonly (Rule & { readonly rates: Partial<Record<RateName, number | null>> })[];
  readonly models?: readonly OwnModel[];
}
const own = (ownTable as unknown as { readonly providers: Readonly<Record<string, OwnProvider>> }).providers;

const sources: PriceSource[] = [];
const notes: string[] = [];
await main();

async function main(): Promise<void> {
  const pinned = (ownPackage.devDependencies as Readonly<Record<string, string>>)["@pydantic/genai-prices"];
  if (pinned !== genaiVersion)
    throw new Error(`@pydantic/genai-prices is ${pinned}: set its version and date in this script`);
  const theirs = (await waitForUpdate()) ?? [];
  const accepted = new Set(process.argv.flatMap((word, i, all) => (all[i - 1] === "--accept" ? [word] : [])));
  const current = (await Bun.file(target).json()) as PriceFile;

  const providers: Record<string, PricedProvider> = {};
  for (const name of [...new Set([...Object.keys(names), "huggingface", ...Object.keys(own)])].sort())
    providers[name] = toProvider(name, theirs);
  const file: PriceFile = { format: 1, version: "", sources, providers };
  const digest = new Bun.CryptoHasher("sha256").update(JSON.stringify(file)).digest("hex").slice(0, 6);
  file.version = `${today}-${digest}`;
  if (current.version.endsWith(digest)) return console.log("nothing has changed");

  const isFirst = Object.keys(current.providers).length === 0;
  const problems = checkPriceFile(file, isFirst ? null : current).filter(
    (it) => !accepted.has(it.split(": ")[0] ?? ""),
  );
  report(file);
  for (const problem of problems) console.error(`refused: ${problem}`);
  if (problems.length > 0) process.exit(1);
  await Bun.write(target, print(file));
  console.log(`${target} is now ${file.version}`);
}

function toProvider(name: string, theirs: readonly Provider[]): PricedProvider {
  const ours = own[name];
  const ownModels = (ours?.models ?? []).map(({ source, ...model }) => ({
    ...model,
    source: addSource(source ?? (ours as OwnProvider).source),
  }));
  const found = theirs.find((provider) => provider.id === names[name]);
  const source = found === undefined ? undefined : addSource(toSource(found));
  const isOwn = createPriceBook({
    format: 1,
    version: "own",
    sources: [],
    providers: { [name]: { source: 0, models: ownModels } },
  });
  const theirModels = (name === "huggingface" ? toRoutedModels(theirs) : toModels(name, found)).flatMap((model) => {
    // An entry that our own table has as well is ours.
    const ids = model.ids.filter((id) => isOwn.facts(name, id) === null);
    return ids.length === 0 ? [] : [{ ...model, ids }];
  });
  const fallback = ours?.fallback ?? fallbacks[name];
  const models = [...ownModels, ...theirModels].map((model) => withTiers(withRates(model, ours), ours));
  const main = source ?? (ours === undefined ? models[0]?.source : addSource(ours.source)) ?? 0;
  return {
    source: main,
    ...(fallback === undefined ? {} : { fallback: [...fallback] }),
    ...(ours?.audio_as_text === true ? { audio_as_text: true as const } : {}),
    models: models.map(({ source: its, ...model }) =>
      its === undefined || its === main ? model : { ...model, source: its },
    ),
  };
}

function toSource(provider: Provider): PriceSource {
  const url = provider.pricing_urls?.[0];
  if (url === undefined) throw new Error(`${provider.id} names no page of prices`);
  return { url, date: genaiDate, via: `@pydantic/genai-prices ${genaiVersion}` };
}

function addSource(source: PriceSource): number {
  const found = sources.findIndex((known) => Bun.deepEquals(known, source));
  return found >= 0 ? found : sources.push(source) - 1;
}

function toModels(name: string, provider: Provider | undefined): PricedModel[] {
  if (provider === undefined) return [];
  return provider.models
    .filter((model) => isLeftOut[name]?.(model) !== true)
    .flatMap((model) => toModel(name, model) ?? []);
}

/** A router's model is named with the provider that is to serve it: `<model>:<provider>`. Without one the price is not known. */
function toRoutedModels(theirs: readonly Provider[]): PricedModel[] {
  return theirs
    .filter((provider) => provider.id.startsWith(routerPrefix))
    .flatMap((provider) =>
      provider.models.flatMap((model) => {
        const priced = toModel("huggingface", model);
        if (priced === null) return [];
        const { like: _, ...rest } = priced;
        const suffix = provider.id.slice(routerPrefix.length);
        return [{ ...rest, ids: rest.ids.map((id) => `${id}:${suffix}`), source: addSource(toSource(provider)) }];
      }),
    );
}

/** Null when neither a price by tokens nor a length of context is known of it. */
function toModel(provider: string, model: ModelInfo): PricedModel | null {
  const at = `${provider}/${model.id}`;
  const { ids, like } = toNames(model);
  const { fee, price } = toPrice(at, model.prices);
  // An empty price means free where the name says so, and unknown elsewhere.
  const isFree = price === undefined && model.id.endsWith(":free");
  if (price === undefined && !isFree && model.context_window === undefined) return null;
  return {
    ids,
    ...(like.length === 0 ? {} : { like }),
    ...(model.context_window === undefined ? {} : { context: model.context_window }),
    ...(fee === undefined ? {} : { fee }),
    ...(isFree ? { free: true as const } : {}),
    ...(price === undefined ? {} : { price }),
  };
}

function toNames(model: ModelInfo): { ids: string[]; like: string[] } {
  const ids = new Set<string>();
  const like: string[] = [];
  const read = (match: MatchLogic): void => {
    if ("or" in match) for (const part of match.or) read(part);
    else if ("equals" in match) ids.add(match.equals.toLowerCase());
    else if ("starts_with" in match) like.push(`${match.starts_with}*`.toLowerCase());
    else if ("ends_with" in match) like.push(`*${match.ends_with}`.toLowerCase());
    else if ("contains" in match) like.push(`*${match.contains}*`.toLowerCase());
    else if ("regex" in match) like.push(`/${match.regex}/`);
    else like.push(`/^${match.and.map(toLookahead).join("")}/`);
  };
  read(model.match);
  // Some ids are only names of the entry: they count where there is no other.
  if (ids.size === 0) ids.add(model.id.toLowerCase());
  return { ids: [...ids], like: [...new Set(like)] };
}

function toLookahead(match: MatchLogic): string {
  if ("starts_with" in match) return `(?=${escapeExpression(match.starts_with)})`;
  if ("contains" in match) return `(?=.*${escapeExpression(match.contains)})`;
  if ("ends_with" in match) return `(?=.*${escapeExpression(match.ends_with)}$)`;
  if ("regex" in match) return match.regex.startsWith("^") ? `(?=${match.regex.slice(1)})` : `(?=.*(?:${match.regex}))`;
  throw new Error(`a condition that has no form here: ${JSON.stringify(match)}`);
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

interface Converted {
  readonly fee?: string;
  readonly price?: RateCard | ScheduledCard[];
}

function toPrice(at: string, prices: ModelInfo["prices"]): Converted {
  if (!Array.isArray(prices)) {
    const { card, fee } = toCard(at, prices);
    return { ...(fee === undefined ? {} : { fee }), ...(card === null ? {} : { price: card }) };
  }
  // What was over before today is dropped: a later start without other conditions replaces everything before it.
  const lastStart = prices.findLastIndex(
    ({ constraint }) =>
      constraint === undefined || (constraint.type === "start_date" && constraint.start_date <= today),
  );
  const cards = prices.slice(lastStart).flatMap(({ constraint, prices: rates }, i): ScheduledCard[] => {
    const { card } = toCard(at, rates);
    if (card === null) return [];
    if (i === 0 || constraint === undefined) return [card];
    if (constraint.type === "start_date") return [{ from: constraint.start_date, ...card }];
    return [{ hours: [toClock(constraint.start_time), toClock(constraint.end_time)], ...card }];
  });
  if (cards.length === 0) return {};
  return { price: cards.length === 1 ? (cards[0] as RateCard) : cards };
}

function toClock(time: string): string {
  if (!/^\d\d:\d\d:00Z$/.test(time)) throw new Error(`not a whole minute in UTC: ${time}`);
  return time.slice(0, 5);
}

function toCard(at: string, prices: ModelPrice): { card: RateCard | null; fee?: string } {
  const card: RateCard = {};
  const higher = new Map<number, NonNullable<RateCard["above"]>[number]>();
  let fee: string | undefined;
  for (const [key, price] of Object.entries(prices)) {
    if (price === undefined || ignored.has(key)) continue;
    const name = rateNames[key];
    if (name === undefined) {
      fee = fees[key] ?? "it is not billed by tokens";
      continue;
    }
    card[name] = toExact(at, typeof price === "number" ? price : price.base);
    if (typeof price === "number") continue;
    for (const { start, price: above } of price.tiers) {
      const bracket = higher.get(start) ?? { tokens: start };
      bracket[name] = toExact(at, above);
      higher.set(start, bracket);
    }
  }
  if (higher.size > 0) card.above = [...higher.values()].sort((left, right) => left.tokens - right.tokens);
  const hasTokens = Object.keys(card).some((name) => name !== "web_search");
  return { card: hasTokens ? card : null, ...(fee === undefined || !hasTokens ? {} : { fee }) };
}

/** Rests of binary arithmetic are taken off; a third of a cent cannot be had exactly and is noted. */
function toExact(at: string, price: number): number {
  if (isExactPrice(price)) return price;
  const rounded = Math.round(price * 1e6) / 1e6;
  if (Math.abs(rounded - price) > 1e-12) notes.push(`${at}: ${price} is rounded to ${rounded}`);
  return rounded;
}

function withTiers<Model extends PricedModel>(model: Model, ours: OwnProvider | undefined): Model {
  const rule = ours?.tiers?.find(({ like }) => fits(model, like));
  if (rule === undefined) return model;
  return changeCards(model, (card) => ({ ...card, tiers: { ...rule.tiers, ...card.tiers } }));
}

function withRates<Model extends PricedModel>(model: Model, ours: OwnProvider | undefined): Model {
  const rule = ours?.rates?.find(({ like }) => fits(model, like));
  if (rule === undefined) return model;
  const removed = Object.entries(rule.rates).flatMap(([name, rate]) => (rate === null ? [name] : []));
  return changeCards(model, (card) => {
    const changed = Object.entries({ ...card, ...rule.rates }).filter(([name]) => !removed.includes(name));
    return Object.fromEntries(changed) as typeof card;
  });
}

function fits(model: PricedModel, like: readonly string[]): boolean {
  return like.some((pattern) =>
    pattern.endsWith("*") ? model.ids.some((id) => id.startsWith(pattern.slice(0, -1))) : model.ids.includes(pattern),
  );
}

function changeCards<Model extends PricedModel>(
  model: Model,
  change: <Card extends RateCard>(card: Card) => Card,
): Model {
  const { price } = model;
  if (price === undefined) return model;
  return { ...model, price: Array.isArray(price) ? price.map(change) : change(price) };
}

function report(file: PriceFile): void {
  const book = createPriceBook(file);
  for (const note of notes) console.log(note);
  for (const [name, { models }] of Object.entries(file.providers)) console.log(`${name}: ${models.length} models`);
  const unpriced = rows
    .filter((row) => row.isFree !== true)
    .flatMap(({ name, chat }) =>
      (chat?.models ?? []).filter(({ id }) => book.find(name, id) === null).map(({ id }) => `${name}/${id}`),
    );
  console.log(`models of our rows without a price: ${unpriced.join(" ") || "none"}`);
}

/** One model a line, so that a change can be read. */
function print({ providers, ...head }: PriceFile): string {
  const lines = Object.entries(providers).map(([name, { models, ...rest }]) => {
    const start = JSON.stringify(rest).slice(0, -1);
    return `"${name}":${start},"models":[\n${models.map((model) => JSON.stringify(model)).join(",\n")}\n]}`;
  });
  return `${JSON.stringify(head).slice(0, -1)},"providers":{\n${lines.join(",\n")}\n}}\n`;
}
