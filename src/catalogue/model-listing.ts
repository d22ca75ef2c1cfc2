// The listing of models: the facts of the provider rows in the public format, with filters.

import { type Model, type ModelDetail, modelCapabilities } from "../contract/models.ts";
import { features } from "../contract/tasks.ts";
import { throwProblems } from "../errors.ts";
import { findNearest, suggest } from "../lib/find-nearest.ts";
import { once } from "../lib/once.ts";
import type { Dialect, ParameterTable } from "../providers/dialect.ts";
import { isNamed, listProviderNames } from "../providers/find-provider.ts";
import { spellModel } from "../providers/model-spelling.ts";
import { type EmbeddingModelFacts, type ModelFacts, modelNamesOf, type ProviderRow } from "../providers/provider.ts";
import { createDocument, createJsonDocument, type Document, jsonType, withCompression } from "./document.ts";
import type { Included } from "./feature-listing.ts";
import { splitModelName } from "./model-name.ts";
import { type PriceBook, toPublicPricing } from "./prices.ts";

export interface Offered {
  readonly row: ProviderRow;
  readonly configured: boolean;
  /** Null: the provider uses the chat format. */
  readonly dialect: Dialect | null;
}

/** A model is listed when it is of one of the providers and matches every other value. A value that no model can have is refused. */
export type ModelFilters = Readonly<Record<"provider" | "feature" | "capability" | "endpoint", readonly string[]>>;

export interface ListedModel {
  readonly model: Model;
  readonly document: Document;
}

export type ModelListing = ReturnType<typeof createModelListing>;

// The path `/v3/llm/chat/completions` names this feature.
const chatFeature = "llm";
const chatEndpoints = ["chat/completions", "responses", "v1/messages"];
const embeddingsEndpoint = "embeddings";
const capabilityPrefix = "supports_";

interface Entry extends ListedModel {
  readonly json: string;
  /** The provider's names. */
  readonly names: readonly string[];
  readonly isSandbox: boolean;
  readonly features: readonly string[];
  readonly capabilities: ReadonlySet<string>;
}

export function createModelListing(providers: readonly Offered[], prices: PriceBook | null, now: () => number) {
  const entries = once(() => createEntries(providers, prices, new Date(now())));
  // The sandbox comes last, also after the operator's own providers.
  const all = once(() => [...entries().values()].sort((one, other) => Number(one.isSandbox) - Number(other.isSandbox)));
  const pick = ({ unconfigured, sandbox }: Included) =>
    all().filter(({ model, isSandbox }) => (unconfigured || model.configured) && (sandbox || !isSandbox));
  const wholes = [false, true].map((sandbox) =>
    [false, true].map((unconfigured) => once(() => withCompression(toListDocument(pick({ unconfigured, sandbox }))))),
  );
  const known = once(() => listKnownValues(providers, all()));

  return {
    /** Also finds models of providers that are not configured: `model.configured` is false. */
    find: (id: string): ListedModel | undefined => entries().get(id) ?? findByOtherName(id, providers, entries()),
    suggest: (id: string) => suggestModel(id, providers, entries()),
    /** The models of configured providers, in the order of the providers; then, if included, all other models. */
    list({ provider, feature, capability, endpoint }: ModelFilters, included: Included): Document {
      const filters = { provider, feature, capability, endpoint };
      if (Object.values(filters).every((values) => values.length === 0))
        return wholes[included.sandbox ? 1 : 0]?.[included.unconfigured ? 1 : 0]?.() as Document;
      refuseUnknownValues(filters, known());
      // A filter that names the sandbox includes it.
      const sandbox = included.sandbox || filters.provider.some((name) => isSandboxName(name, providers));
      return toListDocument(pick({ ...included, sandbox }).filter((entry) => matches(entry, filters)));
    },
  };
}

/** The values that a filter may have. */
function listKnownValues(providers: readonly Offered[], entries: readonly Entry[]): ModelFilters {
  const capabilities = Object.keys(modelCapabilities.shape).filter((name) => name.startsWith(capabilityPrefix));
  return {
    provider: listProviderNames(providers),
    feature: [...new Set([chatFeature, ...features.map(({ name }) => name)])],
    capability: capabilities.flatMap((name) => [name.slice(capabilityPrefix.length), name]),
    endpoint: [...new Set([...chatEndpoints, embeddingsEndpoint, ...entries.flatMap(({ model }) => model.endpoints)])],
  };
}

// Limits of an error message: unknown values, known values, characters of a value.
const mostProblems = 10;
const mostKnownValues = 20;
const maxValueLength = 64;

/** Without this check, a misspelt value would return an empty list. */
function refuseUnknownValues(filters: ModelFilters, known: ModelFilters): void {
  const problems = (Object.keys(known) as (keyof ModelFilters)[]).flatMap((name) =>
    filters[name]
      .filter((value) => !known[name].includes(value))
      .slice(0, mostProblems)
      .map((value) => {
        const all = known[name].length > mostKnownValues ? "" : ` Known are ${known[name].join(", ")}.`;
        const msg = `There is no ${name} '${value.slice(0, maxValueLength)}'${suggest(value, known[name]) || "."}${all}`;
        return { loc: ["query", name], msg, type: "enum" };
      }),
  );
  throwProblems(problems);
}

function isSandboxName(name: string, providers: readonly Offered[]): boolean {
  return providers.some(({ row }) => row.isSandbox === true && row.name === name);
}

/** `google/gemini-3.8-flash` is `gemini/gemini-3.8-flash`. */
function findByOtherName(
  id: string,
  providers: readonly Offered[],
  entries: ReadonlyMap<string, Entry>,
): Entry | undefined {
  const { provider, model } = splitModelName(id);
  const named = providers.filter((offered) => isNamed(offered, provider));
  const found = named.flatMap((offered) => entries.get(`${offered.row.name}/${spellModel(offered, model)}`) ?? []);
  return found.find((entry) => entry.model.configured) ?? found[0];
}

/** For an unknown name: the most similar name of the same provider, or else the most similar provider. */
function suggestModel(id: string, providers: readonly Offered[], entries: ReadonlyMap<string, Entry>): string | null {
  const { provider } = splitModelName(id);
  const names = listProviderNames(providers);
  const nearest = names.includes(provider) ? provider : findNearest(provider, names);
  const own = [...entries.keys()].filter((name) => name.startsWith(`${nearest}/`));
  return own.length === 0 ? nearest : findNearest(`${nearest}/${id.slice(provider.length + 1)}`, own);
}

function createEntries(providers: readonly Offered[], prices: PriceBook | null, at: Date): ReadonlyMap<string, Entry> {
  const ordered = providers.toSorted((one, other) => Number(other.configured) - Number(one.configured));
  const byId = new Map<string, Entry>();
  for (const { row, configured, dialect } of ordered) {
    const parameters = toParameters(dialect?.chat?.parameters ?? null);
    const chatModels = (row.chat?.models ?? []).map((facts) => toModel(row, facts, configured));
    const embeddingModels = (row.embeddings?.models ?? []).map((facts) => toEmbeddingModel(row, facts, configured));
    for (const plain of [...chatModels, ...embeddingModels]) {
      const model = withPrice(plain, row.name, prices, at);
      // A row may state a model twice.
      if (!byId.has(model.id)) byId.set(model.id, toEntry(model, parameters, row));
    }
  }
  return byId;
}

function matches(entry: Entry, filters: ModelFilters): boolean {
  return (
    (filters.provider.length === 0 || filters.provider.some((provider) => entry.names.includes(provider))) &&
    filters.feature.every((feature) => entry.features.includes(feature)) &&
    filters.capability.every((capability) => entry.capabilities.has(capability)) &&
    filters.endpoint.every((endpoint) => entry.model.endpoints.includes(endpoint))
  );
}

function toModel(row: ProviderRow, facts: ModelFacts, configured: boolean): Model {
  const input = facts.input ?? ["text"];
  return {
    id: `${row.name}/${facts.id}`,
    object: "model",
    // Clients of the OpenAI format require a number, and no vendor documents it for all models.
    created: 0,
    owned_by: row.name,
    context_length: facts.contextTokens ?? null,
    max_output_tokens: facts.maxOutputTokens ?? null,
    pricing: null,
    capabilities: {
      input_modalities: [...input],
      output_modalities: ["text"],
      supports_function_calling: facts.tools ?? null,
      supports_response_schema: facts.jsonSchema ?? null,
      supports_reasoning: facts.reasoning ?? null,
      supports_vision: input.includes("image"),
      supports_audio_input: input.includes("audio"),
    },
    endpoints: chatEndpoints,
    responses_native: row.responses?.kind === "native" || row.keepsResponses === true,
    configured,
  };
}

function toEmbeddingModel(row: ProviderRow, facts: EmbeddingModelFacts, configured: boolean): Model {
  const plain = toModel(row, { id: facts.id, tools: false, jsonSchema: false, reasoning: false }, configured);
  return {
    ...plain,
    context_length: facts.maxInputTokens ?? null,
    capabilities: { ...plain.capabilities, output_modalities: ["embedding"] },
    endpoints: [embeddingsEndpoint],
  };
}

/** Adds the price, and the context length of the price file where the row has none. */
function withPrice(model: Model, provider: string, prices: PriceBook | null, at: Date): Model {
  if (prices === null) return model;
  const name = model.id.slice(provider.length + 1);
  const price = prices.find(provider, name);
  const { contextTokens = null } = prices.facts(provider, name) ?? {};
  return {
    ...model,
    context_length: model.context_length ?? contextTokens,
    pricing: price === null ? null : toPublicPricing(price, at),
  };
}

function toParameters(table: ParameterTable | null): ModelDetail["parameters"] {
  return table === null ? { "*": "forwarded" } : { ...table, "*": table["*"] ?? "dropped" };
}

function toEntry(model: Model, parameters: ModelDetail["parameters"], row: ProviderRow): Entry {
  const isChat = !model.endpoints.includes(embeddingsEndpoint);
  const detail: Model | ModelDetail = isChat ? { ...model, parameters } : model;
  return {
    model,
    document: createJsonDocument(detail),
    json: JSON.stringify(model),
    names: modelNamesOf(row),
    isSandbox: row.isSandbox === true,
    features: isChat ? [chatFeature] : [],
    capabilities: readCapabilities(model),
  };
}

/** Both spellings, such as `supports_vision` and `vision`. */
function readCapabilities(model: Model): ReadonlySet<string> {
  const supported = Object.entries(model.capabilities).filter(([, value]) => value === true);
  return new Set(supported.flatMap(([name]) => [name, name.slice(capabilityPrefix.length)]));
}

function toListDocument(entries: readonly Entry[]): Document {
  return createDocument(`{"object":"list","data":[${entries.map((entry) => entry.json).join(",")}]}`, jsonType);
}
