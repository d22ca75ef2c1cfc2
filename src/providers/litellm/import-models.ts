// The models of a LiteLLM configuration: `model_list` becomes providers, aliases and prices.

import { isObject } from "../../lib/lenient-json.ts";
import { lookUp } from "../../lib/look-up.ts";
import { hasModels, modelNamesOf, type ProviderRow } from "../provider.ts";
import {
  type AddNote,
  type EntryAccess,
  importProviders,
  isUsualAddress,
  sortByOrder,
  sumFirst,
  toSlug,
  toUniqueName,
  type Use,
  usualAccessOf,
} from "./import-providers.ts";
import { splitLitellmModel } from "./provider-names.ts";

export interface Target {
  readonly model: string;
  readonly weight: number;
}

export interface ImportedModels {
  readonly providers: Readonly<Record<string, unknown>>;
  /** By `model_name`: the models that requests are distributed over, then those that are used when all of these have failed, and so on. */
  readonly groups: ReadonlyMap<string, readonly Tier[]>;
  readonly prices: Readonly<Record<string, unknown>>;
}

export type Tier = readonly Target[];
type Price = Readonly<Record<string, number | true>>;
type Members = Readonly<Record<string, unknown>>;

// Members that need no conversion: they describe the model, or say what this gateway does anyway.
const silentParams = new Set(["model", "custom_llm_provider", "litellm_credential_name", "use_in_pass_through"]);
const convertedParams = new Set([
  ...["api_key", "api_base", "base_url", "organization", "extra_headers", "headers", "weight", "rpm", "tpm", "order"],
  ...["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_region_name"],
  ...["vertex_project", "vertex_location", "vertex_credentials"],
]);
/** Settings that this gateway reads from the environment. */
const environmentSettings: Readonly<Record<string, string>> = {
  api_version: "AZURE_API_VERSION",
  aws_access_key_id: "AWS_ACCESS_KEY_ID",
  aws_secret_access_key: "AWS_SECRET_ACCESS_KEY",
  aws_session_token: "AWS_SESSION_TOKEN",
  aws_region_name: "AWS_REGION",
  vertex_project: "GOOGLE_CLOUD_PROJECT",
  vertex_location: "GOOGLE_CLOUD_LOCATION",
  vertex_credentials: "VERTEXAI_CREDENTIALS",
};
/** Members that are no parameters of a request. */
const otherParams: Readonly<Record<string, string>> = {
  timeout: "a model has no timeout of its own: total_timeout_ms is that of all requests",
  stream_timeout: "a model has no timeout of its own: first_byte_timeout_ms is that of all requests",
  num_retries: "a model has no number of retries of its own: retries is that of all requests",
  max_retries: "a model has no number of retries of its own: retries is that of all requests",
  cooldown_time: "a model has no cooldown of its own: breaker_open_ms is that of all models",
  max_budget: "a model has no budget: budgets are set for keys and teams",
  budget_duration: "a model has no budget: budgets are set for keys and teams",
  max_parallel_requests: "a model has no limit: limits are set for keys and teams",
  tags: "requests are not routed by tags: give the models names of their own",
  mock_response: "the provider is called: the model sandbox/echo is for tests",
  drop_params: "parameters that a provider's format lacks are always dropped, and named in the answer",
  additional_drop_params: "parameters of callers are not removed",
};
const silentInfo = new Set([
  ...["id", "mode", "order", "base_model", "description", "max_tokens", "max_input_tokens", "max_output_tokens"],
]);
const chatModes = new Set(["chat", "completion", "embedding", "responses"]);
const tokensPerMillion = 1_000_000;
/** A price with more cannot be billed exactly, and is refused. */
const priceDecimals = 6;
const deploymentName = /^[A-Za-z0-9._-]{1,64}$/;

export function importModels(
  list: unknown,
  credentials: ReadonlyMap<string, Members>,
  rows: readonly ProviderRow[],
  note: AddNote,
): ImportedModels {
  const known = new Set(rows.filter(hasModels).flatMap(modelNamesOf));
  const uses: Use[] = [];
  const prices = new Map<Use, Price>();
  const baseModels = new Map<Use, string>();
  const ownNames = new Map<string, string>();
  let servesAll = false;
  const entries = Array.isArray(list) ? list : [];
  if (list !== undefined && !Array.isArray(list)) note("model_list", "should be a list; it was not converted");

  for (const [index, entry] of entries.entries()) {
    const path = `model_list.${index}`;
    const name = isObject(entry) ? entry["model_name"] : undefined;
    const written = isObject(entry) && isObject(entry["litellm_params"]) ? entry["litellm_params"] : null;
    if (!isObject(entry) || written === null || typeof name !== "string" || typeof written["model"] !== "string") {
      note(path, "needs model_name and litellm_params with a model; it was not converted");
      continue;
    }
    if (written["model"] === "*") {
      note(path, "callers write <provider>/<model>, which needs no entry");
      servesAll = true;
      continue;
    }
    const credentialName = written["litellm_credential_name"];
    const credential = typeof credentialName === "string" ? credentials.get(credentialName) : undefined;
    if (typeof credentialName === "string" && credential === undefined)
      note(
        `${path}.litellm_params.litellm_credential_name`,
        `there is no credential '${credentialName}' in credential_list`,
      );
    const params: Members = { ...credential, ...written };
    const paramsPath = `${path}.litellm_params`;
    const info = isObject(entry["model_info"]) ? entry["model_info"] : {};
    if (info["mode"] === "rerank" || (info["mode"] === undefined && /rerank/i.test(written["model"]))) {
      note(`${paramsPath}.model`, "this gateway has no endpoint for reranking; the model was not converted");
      continue;
    }
    const provider = findProviderFor(params, name, { path: paramsPath, known, ownNames, note });
    if (provider === null) continue;
    noteParams(params, paramsPath, note);
    noteInfo(info, `${path}.model_info`, note);
    const isWildcard = provider.model.includes("*");
    const id = info["id"];
    const use: Use = {
      group: name,
      path,
      provider: provider.name,
      model: isWildcard ? null : provider.model,
      access: readAccess(params, provider.name, rows),
      name: typeof id === "string" && deploymentName.test(id) ? id : null,
      weight: isWildcard ? null : readWeight(entry, params, path, note),
      order: toNumber(params["order"] ?? info["order"]) ?? Number.POSITIVE_INFINITY,
    };
    uses.push(use);
    const price = isWildcard ? null : readPrice(params, info, path, note);
    if (price !== null) prices.set(use, price);
    else if (!isWildcard && typeof info["base_model"] === "string") baseModels.set(use, info["base_model"]);
  }
  const { sections, names } = importProviders(uses, { rows, ownNames: new Set(ownNames.keys()), servesAll, note });
  const targetOf = (use: Use) => `${names.get(use)}/${use.model ?? "*"}`;
  for (const use of uses) if (use.model === null) noteWildcard(use, targetOf(use), known, note);
  for (const [use, model] of baseModels)
    note(
      `${use.path}.model_info.base_model`,
      `a cost is that of the model which the answer names; set the price of ${targetOf(use)} under prices if that is not ${model}`,
    );
  return {
    providers: sections,
    groups: toGroups(
      uses.filter(({ model }) => model !== null),
      targetOf,
    ),
    prices: toPrices(prices, targetOf, note),
  };
}

function toPrices(
  prices: ReadonlyMap<Use, Price>,
  targetOf: (use: Use) => string,
  note: AddNote,
): Record<string, Price> {
  const written: Record<string, Price> = {};
  for (const [use, price] of prices) {
    const target = targetOf(use);
    const earlier = written[target];
    written[target] = earlier ?? price;
    if (earlier !== undefined && !Bun.deepEquals(earlier, price))
      note(use.path, `the price of ${target} is that of an earlier entry, and this one was left out`);
  }
  return written;
}

/** The targets of each group. A target that is written several times has the sum of the weights. */
function toGroups(uses: readonly Use[], targetOf: (use: Use) => string): Map<string, Tier[]> {
  const groups = new Map<string, Tier[]>();
  for (const [group, own] of Map.groupBy(uses, (use) => use.group)) {
    const targets = [...Map.groupBy(sortByOrder(own), targetOf)].map(([model, same]) => ({
      target: { model, weight: sumFirst(same) },
      order: same[0]?.order,
    }));
    const tiers = [...Map.groupBy(targets, ({ order }) => order).values()];
    groups.set(
      group,
      tiers.map((tier) => tier.map(({ target }) => target)),
    );
  }
  return groups;
}

interface FindOptions {
  readonly path: string;
  readonly known: ReadonlySet<string>;
  /** Providers of the operator's own: name → address. */
  readonly ownNames: Map<string, string>;
  readonly note: AddNote;
}

function findProviderFor(params: Members, modelName: string, { path, known, ownNames, note }: FindOptions) {
  const given = params["custom_llm_provider"];
  const written = String(params["model"]);
  const split = splitLitellmModel(written, typeof given === "string" ? given : null, known);
  for (const message of split.notes) note(`${path}.model`, message);
  if (split.otherApi !== null) {
    const message = `this gateway does not use the API '${split.otherApi}' of ${split.written}; the model was not converted`;
    note(`${path}.model`, message);
    return null;
  }
  const address = addressOf(params);
  // The prefix for the chat format with an address: a server of the operator's, unless callers name that provider.
  const isVendor = modelName === `${split.written}/${split.model}` || isPublicAddress(address ?? "");
  const isOwnServer = address !== null && (split.isCompatibleServer || (split.written === "openai" && !isVendor));
  if (split.provider !== null && !isOwnServer) return { name: split.provider, model: split.model };
  if (address === null) {
    const reason =
      split.written === ""
        ? `the provider of '${written}' cannot be recognized; write <provider>/<model>`
        : `this gateway has no provider '${split.written}'`;
    note(`${path}.model`, `${reason}; the model was not converted`);
    return null;
  }
  if (!isOwnServer)
    note(
      `${path}.model`,
      `this gateway has no provider '${split.written}'; it was converted to a server that uses the OpenAI format`,
    );
  const existing = [...ownNames].find(([, known]) => known === address)?.[0];
  if (existing !== undefined) return { name: existing, model: split.model };
  // Callers who write <name>/<model> keep that name.
  const suffix = modelName.endsWith(`/${split.model}`) ? split.model.length + 1 : 0;
  const slug = toSlug(modelName.slice(0, modelName.length - suffix));
  const name = toUniqueName(slug, (one) => known.has(one) || ownNames.has(one));
  ownNames.set(name, address);
  return { name, model: split.model };
}

function addressOf(params: Members): string | null {
  const address = params["api_base"] ?? params["base_url"];
  return typeof address === "string" && address !== "" ? address : null;
}

/** With a region, as in https://eu.api.openai.com: https://developers.openai.com/api/docs/guides/data-residency lists them. */
function isPublicAddress(address: string): boolean {
  return /^https:\/\/(?:[a-z]+\.)?api\.openai\.com(?:\/|$)/.test(address);
}

function readAccess(params: Members, provider: string, rows: readonly ProviderRow[]): EntryAccess {
  const key = params["api_key"];
  const address = addressOf(params);
  const organization = params["organization"];
  const headers = {
    ...toHeaders(params["extra_headers"] ?? params["headers"]),
    ...(typeof organization === "string" ? { "openai-organization": organization } : {}),
  };
  return {
    ...(typeof key === "string" ? { api_key: key } : usualAccessOf(provider)),
    ...(address === null || isUsualAddress(address, provider, rows) ? {} : { base_url: address }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

function toHeaders(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

/** Requests are distributed by weight, otherwise by requests or tokens per minute. */
function readWeight(entry: Members, params: Members, path: string, note: AddNote): number | null {
  const read = (name: string) => {
    const value = Number(params[name] ?? entry[name]);
    return Number.isFinite(value) && value > 0 ? value : null;
  };
  for (const name of ["rpm", "tpm"])
    if (read(name) !== null)
      note(`${path}.litellm_params.${name}`, `${name} only weights the deployment; limits are set for keys and teams`);
  return read("weight") ?? read("rpm") ?? read("tpm");
}

const priceNames: readonly (readonly [rate: string, name: string])[] = [
  ["input", "input_cost_per_token"],
  ["output", "output_cost_per_token"],
  ["cache_read", "cache_read_input_token_cost"],
  ["cache_write", "cache_creation_input_token_cost"],
  ["cache_write_1h", "cache_creation_input_token_cost_above_1hr"],
  ["reasoning", "output_cost_per_reasoning_token"],
  ["audio_input", "input_cost_per_audio_token"],
  ["audio_output", "output_cost_per_audio_token"],
];
const convertedPrices = new Set(priceNames.map(([, name]) => name));

function readPrice(params: Members, info: Members, path: string, note: AddNote): Price | null {
  const rates: Record<string, number> = {};
  for (const [rate, name] of priceNames) {
    const section = (params[name] ?? null) === null ? "model_info" : "litellm_params";
    const written = params[name] ?? info[name] ?? null;
    if (written === null) continue;
    const perToken = toNumber(written);
    if (perToken === null || perToken < 0)
      note(`${path}.${section}.${name}`, "should be a number of USD per token; set prices yourself");
    else rates[rate] = Number((perToken * tokensPerMillion).toFixed(priceDecimals));
  }
  if (Object.keys(rates).length === 0) return null;
  // LiteLLM takes what is not written from its own list of prices.
  return rates["input"] === undefined || rates["output"] === undefined ? { catalogue: true, ...rates } : rates;
}

/** A number, or a text with one. Null for everything else: an empty value must not become 0. */
export function toNumber(value: unknown): number | null {
  const isWritten = typeof value === "number" || (typeof value === "string" && value.trim() !== "");
  const number = isWritten ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

function noteParams(params: Members, path: string, note: AddNote): void {
  for (const [name, value] of Object.entries(params)) {
    const setting = lookUp(environmentSettings, name);
    if (setting !== undefined) {
      // Another variable, or a value; a secret is not repeated.
      if (value !== `\${${setting}}`) note(`${path}.${name}`, `set ${setting} in the environment to this value`);
      continue;
    }
    if (silentParams.has(name) || convertedParams.has(name) || convertedPrices.has(name)) continue;
    const reason = lookUp(otherParams, name) ?? (isPrice(name) ? unknownPrice : noDefaults);
    note(`${path}.${name}`, `was not converted: ${reason}`);
  }
  if (Array.isArray(params["organization"]))
    note(`${path}.organization`, "a list of organizations was not converted; write one deployment for each");
}

const noDefaults = "a model has no default parameters here; callers send it if it is a parameter of requests";
const unknownPrice = "write the price under prices";

function isPrice(name: string): boolean {
  return /_cost(?:_|$)|^cost_per_/.test(name);
}

function noteInfo(info: Members, path: string, note: AddNote): void {
  const { mode } = info;
  if (typeof mode === "string" && !chatModes.has(mode))
    note(`${path}.mode`, `models of the mode '${mode}' are tasks here: callers use POST /v3/universal-ai`);
  for (const name of Object.keys(info))
    if (!silentInfo.has(name) && !convertedPrices.has(name) && !name.startsWith("supports_"))
      note(`${path}.${name}`, `was not converted${isPrice(name) ? `: ${unknownPrice}` : ""}`);
}

function noteWildcard({ group, path }: Use, target: string, known: ReadonlySet<string>, note: AddNote): void {
  const [provider = ""] = group.split("/");
  const [own] = target.split("/");
  if (group.includes("/") && provider === own) return;
  const other = known.has(provider) ? `, and ${provider}/<model> is sent to the provider '${provider}'` : "";
  note(
    `${path}.model_name`,
    `callers write ${own}/<model>, which needs no entry; '${group}' cannot be an alias${other}`,
  );
}
