// The models of a LiteLLM configuration: `model_list` becomes providers, aliases and prices.

import { isObject } from "../../lib/lenient-json.ts";
import { lookUp } from "../../lib/look-up.ts";
import { findKeyVariable, splitLitellmModel } from "./provider-names.ts";

/** An entry that was not converted, or not completely. */
export type AddNote = (path: string, message: string) => void;

export interface Target {
  readonly model: string;
  readonly weight: number;
}

export interface ImportedModels {
  readonly providers: Readonly<Record<string, unknown>>;
  /** By `model_name`: the deployments that requests are distributed over. */
  readonly groups: ReadonlyMap<string, readonly Target[]>;
  readonly prices: Readonly<Record<string, unknown>>;
}

/** The address and credentials of an entry. */
interface EntryAccess {
  readonly api_key?: string;
  readonly base_url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface UsedAccess {
  readonly access: EntryAccess;
  readonly models: Set<string>;
  readonly name: string | null;
  weight: number | null;
}

type Members = Readonly<Record<string, unknown>>;

// Members that need no conversion: they describe the model, or say what this gateway does anyway.
const silentParams = new Set(["model", "custom_llm_provider", "litellm_credential_name", "use_in_pass_through"]);
const convertedParams = new Set([
  ...["api_key", "api_base", "base_url", "organization", "extra_headers", "headers", "weight", "rpm", "tpm"],
  ...["input_cost_per_token", "output_cost_per_token", "api_version"],
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
const silentInfo = new Set(["id", "mode", "max_tokens", "max_input_tokens", "max_output_tokens", "description"]);
const chatModes = new Set(["chat", "completion", "embedding", "responses"]);
const tokensPerMillion = 1_000_000;
const maxWeight = 1_000_000;
const deploymentName = /^[A-Za-z0-9._-]{1,64}$/;

export function importModels(
  list: unknown,
  credentials: ReadonlyMap<string, Members>,
  known: ReadonlySet<string>,
  note: AddNote,
): ImportedModels {
  const groups = new Map<string, Target[]>();
  const prices: Record<string, unknown> = {};
  const used = new Map<string, UsedAccess[]>();
  const ownNames = new Map<string, string>();
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
    const provider = findProviderFor(params, name, { path: paramsPath, known, ownNames, note });
    if (provider === null) continue;
    const info = isObject(entry["model_info"]) ? entry["model_info"] : {};
    noteParams(params, paramsPath, note);
    noteInfo(info, `${path}.model_info`, note);
    if (provider.model.includes("*")) {
      noteWildcard(name, provider, path, note);
      addAccess(used, provider.name, {
        access: readAccess(params, provider.name),
        models: new Set(),
        name: null,
        weight: null,
      });
      continue;
    }
    const weight = readWeight(entry, params, path, note);
    const target = `${provider.name}/${provider.model}`;
    const id = info["id"];
    addAccess(used, provider.name, {
      access: readAccess(params, provider.name),
      models: new Set([provider.model]),
      name: typeof id === "string" && deploymentName.test(id) ? id : null,
      weight,
    });
    const group = groups.get(name) ?? [];
    if (!group.some(({ model }) => model === target)) group.push({ model: target, weight: weight ?? 1 });
    groups.set(name, group);
    const price = readPrice(params, info, path, note);
    if (price !== null) prices[target] = price;
  }
  const providers = Object.fromEntries(
    [...used].flatMap(([name, accesses]) => {
      const section = toSection(accesses, ownNames.has(name));
      return Object.keys(section).length === 0 ? [] : [[name, section]];
    }),
  );
  return { providers, groups, prices };
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
  // The prefix for the chat format with an address: a server of the operator's.
  const isOwnServer =
    address !== null && (split.isCompatibleServer || (split.written === "openai" && !isPublicAddress(address)));
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
  const name = toUniqueName(toSlug(modelName), (one) => known.has(one) || ownNames.has(one));
  ownNames.set(name, address);
  return { name, model: split.model };
}

function addressOf(params: Members): string | null {
  const address = params["api_base"] ?? params["base_url"];
  return typeof address === "string" && address !== "" ? address : null;
}

function isPublicAddress(address: string): boolean {
  return /^https:\/\/api\.openai\.com(?:\/|$)/.test(address);
}

function readAccess(params: Members, provider: string): EntryAccess {
  const key = params["api_key"];
  const address = addressOf(params);
  const variable = findKeyVariable(provider);
  const organization = params["organization"];
  const headers = {
    ...toHeaders(params["extra_headers"] ?? params["headers"]),
    ...(typeof organization === "string" ? { "openai-organization": organization } : {}),
  };
  return {
    ...(typeof key === "string" ? { api_key: key } : variable === null ? {} : { api_key: `\${${variable}}` }),
    ...(address === null ? {} : { base_url: address }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

function toHeaders(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

function addAccess(used: Map<string, UsedAccess[]>, provider: string, next: UsedAccess): void {
  const all = used.get(provider) ?? [];
  used.set(provider, all);
  const same = all.find(({ access }) => Bun.deepEquals(access, next.access));
  if (same === undefined) all.push(next);
  else {
    for (const model of next.models) same.models.add(model);
    if (next.weight !== null) same.weight = Math.max(same.weight ?? 0, next.weight);
  }
}

/** One access is the provider's own; several become deployments, each for the models that use it. */
function toSection(accesses: readonly UsedAccess[], isOwn: boolean): Record<string, unknown> {
  const dialect = isOwn ? { dialect: "openai" } : {};
  const [only] = accesses;
  if (only !== undefined && accesses.length === 1) {
    const models = isOwn && only.models.size > 0 ? { models: [...only.models] } : {};
    return { ...dialect, ...only.access, ...models };
  }
  const names = new Set<string>();
  const deployments = accesses.map(({ access, models, name, weight }) => {
    const isNew = name !== null && !names.has(name);
    if (isNew) names.add(name);
    return {
      ...(isNew ? { name } : {}),
      ...access,
      ...(models.size > 0 ? { models: [...models] } : {}),
      ...(weight === null ? {} : { weight }),
    };
  });
  return { ...dialect, deployments };
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
  const weight = read("weight") ?? read("rpm") ?? read("tpm");
  return weight === null ? null : Math.min(weight, maxWeight);
}

const priceNames = [
  ["input", "input_cost_per_token"],
  ["output", "output_cost_per_token"],
] as const;

function readPrice(params: Members, info: Members, path: string, note: AddNote): Record<string, number> | null {
  const rates: Record<string, number> = {};
  for (const [rate, name] of priceNames) {
    const section = (params[name] ?? null) === null ? "model_info" : "litellm_params";
    const written = params[name] ?? info[name] ?? null;
    if (written === null) continue;
    const perToken = toNumber(written);
    if (perToken === null || perToken < 0)
      note(`${path}.${section}.${name}`, "should be a number of USD per token; set prices yourself");
    else rates[rate] = Number((perToken * tokensPerMillion).toPrecision(12));
  }
  return Object.keys(rates).length === 0 ? null : rates;
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
    if (silentParams.has(name) || convertedParams.has(name)) continue;
    note(`${path}.${name}`, "parameters of a model have no defaults here; callers send it with each request");
  }
  if (Array.isArray(params["organization"]))
    note(`${path}.organization`, "a list of organizations was not converted; write one deployment for each");
}

function noteInfo(info: Members, path: string, note: AddNote): void {
  const { mode } = info;
  if (typeof mode === "string" && !chatModes.has(mode))
    note(`${path}.mode`, `models of the mode '${mode}' are tasks here: callers use POST /v3/universal-ai`);
  for (const name of Object.keys(info))
    if (!silentInfo.has(name) && !/^(?:input|output)_cost_per_token$|^supports_/.test(name))
      note(`${path}.${name}`, "was not converted");
}

function noteWildcard(name: string, target: { name: string; model: string }, path: string, note: AddNote): void {
  const isSame = name === `${target.name}/${target.model}`;
  if (!isSame)
    note(
      `${path}.model_name`,
      `callers write ${target.name}/<model>, which needs no entry; '${name}' cannot be an alias`,
    );
}

function toSlug(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "server" : slug;
}

export function toUniqueName(name: string, isTaken: (name: string) => boolean): string {
  let unique = name;
  for (let number = 2; isTaken(unique); number++) unique = `${name}-${number}`;
  return unique;
}
