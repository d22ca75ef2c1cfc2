// Which models are on offer: the rows' facts in the public shape, filtered on demand.

import type { Model, ModelDetail } from "../contract/models.ts";
import { once } from "../lib/once.ts";
import type { Dialect, ParameterTable } from "../providers/dialect.ts";
import type { EmbeddingModelFacts, ModelFacts, ProviderRow } from "../providers/provider.ts";
import { createDocument, createJsonDocument, type Document, jsonType } from "./document.ts";
import { type PriceBook, toPublicPricing } from "./prices.ts";

export interface Offered {
  readonly row: ProviderRow;
  readonly configured: boolean;
  /** Null: it speaks as our callers do. */
  readonly dialect: Dialect | null;
}

/** Every value given must hold. A value that nothing has leaves an empty list. */
export interface ModelFilters {
  readonly provider: readonly string[];
  readonly feature: readonly string[];
  readonly capability: readonly string[];
  readonly endpoint: readonly string[];
}

export interface ListedModel {
  readonly model: Model;
  readonly document: Document;
}

export interface ModelListing {
  /** Configured providers first come, first listed; then, when asked for, the others. */
  list(filters: ModelFilters, withUnconfigured: boolean): Document;
  /** Unconfigured ones included: see `model.configured`. */
  find(id: string): ListedModel | undefined;
}

// Chat models belong to this feature, as the alias path `/v3/llm/chat/completions` says.
const chatFeature = "llm";
const chatEndpoints = ["chat/completions", "responses", "v1/messages"];
const embeddingsEndpoint = "embeddings";
const capabilityPrefix = "supports_";

interface Entry extends ListedModel {
  readonly json: string;
  readonly features: readonly string[];
  readonly capabilities: ReadonlySet<string>;
}

export function createModelListing(providers: readonly Offered[], prices: PriceBook | null): ModelListing {
  const entries = once(() => createEntries(providers, prices));
  const all = once(() => [...entries().values()]);
  const configured = once(() => all().filter((entry) => entry.model.configured));
  const wholeConfigured = once(() => toListDocument(configured()));
  const wholeAll = once(() => toListDocument(all()));

  return {
    find: (id) => entries().get(id),
    list(filters, withUnconfigured) {
      if (Object.values(filters).every((values) => values.length === 0)) {
        return withUnconfigured ? wholeAll() : wholeConfigured();
      }
      return toListDocument((withUnconfigured ? all() : configured()).filter((entry) => holds(entry, filters)));
    },
  };
}

/** By id. */
function createEntries(providers: readonly Offered[], prices: PriceBook | null): ReadonlyMap<string, Entry> {
  const ordered = [...providers.filter((offered) => offered.configured), ...providers.filter((o) => !o.configured)];
  const byId = new Map<string, Entry>();
  for (const { row, configured, dialect } of ordered) {
    const parameters = toParameters(dialect?.chat?.parameters ?? null);
    const chatModels = row.models.map((facts) => toModel(row, facts, configured));
    const embeddingModels = (row.embeddingModels ?? []).map((facts) => toEmbeddingModel(row, facts, configured));
    for (const plain of [...chatModels, ...embeddingModels]) {
      const model = withPrice(plain, row.name, prices);
      // A row that states a model twice would otherwise list one id twice.
      if (!byId.has(model.id)) byId.set(model.id, toEntry(model, parameters));
    }
  }
  return byId;
}

function holds(entry: Entry, filters: ModelFilters): boolean {
  return (
    filters.provider.every((provider) => entry.model.owned_by === provider) &&
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
    // Clients of the OpenAI listing insist on a number here, and no vendor's page states it for all models.
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
    responses_native: row.responses === "native",
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

/** What the catalogue of prices knows besides: the price, and a context length that the vendor's page did not state. */
function withPrice(model: Model, provider: string, prices: PriceBook | null): Model {
  if (prices === null) return model;
  const name = model.id.slice(provider.length + 1);
  const price = prices.find(provider, name);
  const { contextTokens = null } = prices.facts(provider, name) ?? {};
  return {
    ...model,
    context_length: model.context_length ?? contextTokens,
    pricing: price === null ? null : toPublicPricing(price, new Date()),
  };
}

function toParameters(table: ParameterTable | null): ModelDetail["parameters"] {
  return table === null ? { "*": "forwarded" } : { ...table, "*": table["*"] ?? "dropped" };
}

function toEntry(model: Model, parameters: ModelDetail["parameters"]): Entry {
  const isChat = !model.endpoints.includes(embeddingsEndpoint);
  const detail: Model | ModelDetail = isChat ? { ...model, parameters } : model;
  return {
    model,
    document: createJsonDocument(detail),
    json: JSON.stringify(model),
    features: isChat ? [chatFeature] : [],
    capabilities: readCapabilities(model),
  };
}

/** Both spellings, `supports_vision` and `vision`, of everything that the model is known to support. */
function readCapabilities(model: Model): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, value] of Object.entries(model.capabilities)) {
    if (value !== true) continue;
    names.add(name);
    names.add(name.slice(capabilityPrefix.length));
  }
  return names;
}

function toListDocument(entries: readonly Entry[]): Document {
  return createDocument(`{"object":"list","data":[${entries.map((entry) => entry.json).join(",")}]}`, jsonType);
}
