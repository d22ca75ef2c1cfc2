// The models of the catalogue as the page searches, filters and sorts them.

import type { Model } from "../../api/types.ts";

/** The whole catalogue. */
export const modelsQuery = { include: "unconfigured,sandbox" };

export const abilities = ["vision", "tools", "structured", "reasoning", "audio", "embeddings"] as const;
export type Ability = (typeof abilities)[number];

export const abilityTitles: Readonly<Record<Ability, string>> = {
  vision: "Vision",
  tools: "Tools",
  structured: "Structured output",
  reasoning: "Reasoning",
  audio: "Audio",
  embeddings: "Embeddings",
};

export interface Entry {
  readonly model: Model;
  readonly provider: string;
  /** Without the provider and other folders of the name. */
  readonly name: string;
  /** The same for one model at several providers. */
  readonly family: string;
  readonly abilities: ReadonlySet<Ability>;
  /** USD per million tokens; null: not known. */
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
}

const perMillion = 1_000_000;

export function toEntry(model: Model): Entry {
  const name = model.id.slice(model.id.lastIndexOf("/") + 1);
  const { pricing } = model;
  return {
    model,
    provider: model.owned_by,
    name,
    family: familyOf(name),
    abilities: abilitiesOf(model),
    input: toMillion(pricing?.input_cost_per_token),
    cached: toMillion(pricing?.cache_read_input_token_cost),
    output: toMillion(pricing?.output_cost_per_token),
  };
}

/** Without the rounding errors of the multiplication. */
function toMillion(perToken: number | null | undefined): number | null {
  return perToken === null || perToken === undefined ? null : Number((perToken * perMillion).toPrecision(12));
}

/**
 * Providers name one model in several ways: `claude-opus-5`, `anthropic.claude-opus-5-v1:0`, `claude-opus-5-20260901`. What remains without the vendor, the
 * version of the API and the date is compared.
 */
export function familyOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(?:[a-z]{2,6}\.)?(?:anthropic|meta|amazon|mistral|deepseek|cohere|openai|qwen)\./, "")
    .replace(/-v\d+(?::\d+)?$|:\w+$/, "")
    .replace(/[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/, "")
    .replaceAll(".", "-");
}

function abilitiesOf({ capabilities, endpoints }: Model): ReadonlySet<Ability> {
  const has: Readonly<Record<Ability, boolean>> = {
    vision: capabilities.supports_vision,
    tools: capabilities.supports_function_calling === true,
    structured: capabilities.supports_response_schema === true,
    reasoning: capabilities.supports_reasoning === true,
    audio: capabilities.supports_audio_input || capabilities.output_modalities.includes("audio"),
    embeddings: endpoints.includes("embeddings"),
  };
  return new Set(abilities.filter((ability) => has[ability]));
}

export interface Filters {
  readonly search: string;
  readonly provider: string;
  readonly abilities: readonly string[];
  readonly isConfigured: boolean;
}

/** Every word of the search has to be in the id, or the name of an ability. */
export function filterEntries(entries: readonly Entry[], filters: Filters): Entry[] {
  const words = filters.search.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(
    (entry) =>
      (!filters.isConfigured || entry.model.configured) &&
      (filters.provider === "" || entry.provider === filters.provider) &&
      filters.abilities.every((ability) => entry.abilities.has(ability as Ability)) &&
      words.every((word) => textOf(entry).includes(word)),
  );
}

function textOf({ model, abilities: own }: Entry): string {
  const named = [...own].map((ability) => abilityTitles[ability]);
  return [model.id, ...named].join(" ").toLowerCase();
}

export const sortNames = ["model", "provider", "context", "input", "cached", "output"] as const;
export type SortName = (typeof sortNames)[number];

/** What is not known comes last in both directions. */
export function sortEntries(entries: readonly Entry[], by: SortName, isDescending: boolean): Entry[] {
  const sign = isDescending ? -1 : 1;
  const byName = (one: Entry, other: Entry) => one.name.localeCompare(other.name, "en", { numeric: true });
  return entries.toSorted((one, other) => {
    if (by === "model") return sign * byName(one, other);
    if (by === "provider") return sign * one.provider.localeCompare(other.provider) || byName(one, other);
    const [left, right] = [amountOf(one, by), amountOf(other, by)];
    if (left === null || right === null) return Number(left === null) - Number(right === null) || byName(one, other);
    return sign * (left - right) || byName(one, other);
  });
}

function amountOf(entry: Entry, by: Exclude<SortName, "model" | "provider">): number | null {
  return by === "context" ? entry.model.context_length : entry[by];
}

/** Rates that are not for tokens; all others are stated by the million. */
const perCall = /_per_(?:query|prompt|call|unit)$/;
const rateTitles: ReadonlyMap<string, string> = new Map(
  Object.entries({
    input_cost_per_token: "Input",
    output_cost_per_token: "Output",
    cache_read_input_token_cost: "Cached input",
    cache_creation_input_token_cost: "Cache write",
    cache_creation_input_token_cost_above_1hr: "Cache write, 1 hour",
    output_cost_per_reasoning_token: "Reasoning",
    input_cost_per_audio_token: "Audio input",
    cache_read_input_audio_token_cost: "Cached audio input",
    output_cost_per_audio_token: "Audio output",
    input_cost_per_image_token: "Image input",
    output_cost_per_image_token: "Image output",
    input_cost_per_video_token: "Video input",
    search_cost_per_query: "Web search",
    search_cost_per_prompt: "Grounded prompt",
    file_search_cost_per_call: "File search",
    code_execution_cost_per_call: "Code execution",
    search_cost_per_unit: "Search unit",
  }),
);

const mainRates: ReadonlySet<string> = new Set(["input_cost_per_token", "output_cost_per_token"]);

export interface Rate {
  readonly name: string;
  readonly title: string;
  /** USD for a million tokens, or for a thousand calls. */
  readonly amount: number;
  readonly unit: "million tokens" | "thousand calls";
}

/** The known rates of a model, without those that are the same as for all input or all output. */
export function listRates(pricing: Model["pricing"]): Rate[] {
  const { input_cost_per_token: input, output_cost_per_token: output } = pricing ?? {};
  return Object.entries(pricing ?? {}).flatMap(([name, value]): Rate[] => {
    if (typeof value !== "number") return [];
    const isUsual = value === (name.startsWith("output") ? output : input);
    if (isUsual && !mainRates.has(name)) return [];
    const [, base = name, above] = /^(.*?)_above_(\d+k)_tokens$/.exec(name) ?? [];
    const title = `${rateTitles.get(base) ?? base.replaceAll("_", " ")}${above === undefined ? "" : `, above ${above} tokens`}`;
    const isPerCall = perCall.test(base);
    return [
      {
        ...{ name, title },
        amount: isPerCall ? Number((value * 1_000).toPrecision(12)) : (toMillion(value) ?? 0),
        unit: isPerCall ? "thousand calls" : "million tokens",
      },
    ];
  });
}
