// The providers of a LiteLLM configuration. A group (`model_name`) uses only its own entries. All deployments of a provider that have a
// model serve it, so that groups which reach one model with different addresses or keys need different providers.

import { type Access, modelNamesOf, type ProviderRow } from "../provider.ts";
import { settingName } from "../settings.ts";

/** An entry that was not converted, or not completely. */
export type AddNote = (path: string, message: string) => void;

/** The address and credentials of an entry. */
export interface EntryAccess {
  readonly api_key?: string;
  readonly base_url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an entry of `model_list` uses. */
export interface Use {
  readonly group: string;
  /** The entry in the file. */
  readonly path: string;
  readonly provider: string;
  /** Null: all models of the provider. */
  readonly model: string | null;
  readonly access: EntryAccess;
  /** The entry's own name. */
  readonly name: string | null;
  readonly weight: number | null;
}

export interface ImportOptions {
  readonly rows: readonly ProviderRow[];
  /** The names of servers of the operator's. */
  readonly ownNames: ReadonlySet<string>;
  readonly note: AddNote;
}

export interface ImportedProviders {
  readonly sections: Readonly<Record<string, unknown>>;
  /** The provider that serves each use. */
  readonly names: ReadonlyMap<Use, string>;
}

interface Deployment {
  readonly access: EntryAccess;
  readonly name: string | null;
  readonly weight: number | null;
  /** Null: all models. */
  readonly models: Set<string> | null;
}

type Wanted = Omit<Deployment, "models">;

interface Declared {
  readonly name: string;
  /** The members beside addresses and credentials. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Whether its models are listed: the gateway knows those of its own providers. */
  readonly listsModels: boolean;
  readonly toAccess: (access: EntryAccess) => EntryAccess;
  readonly deployments: Deployment[];
  /** The first group that uses each model. */
  readonly groups: Map<string, string>;
}

/** The largest weight of switchyard.yaml. */
const maxWeight = 1_000_000;

export function importProviders(uses: readonly Use[], options: ImportOptions): ImportedProviders {
  const names = new Map<Use, string>();
  const taken = new Set([...options.rows.flatMap(modelNamesOf), ...options.ownNames]);
  const all: Declared[] = [];
  for (const [provider, own] of Map.groupBy(uses, (use) => use.provider)) {
    const wildcards = own.filter(({ model }) => model === null);
    const declared = [declareUsual(provider, wildcards, options)];
    for (const use of wildcards) names.set(use, provider);
    // A group that is named like its model is called by the usual name of the provider, so it comes before the others.
    const isUsualName = ({ group, model }: Use) => group === `${provider}/${model}`;
    const named = own
      .filter(({ model }) => model !== null)
      .toSorted((one, other) => Number(isUsualName(other)) - Number(isUsualName(one)));
    const pools = Map.groupBy(named, ({ group, model }) => JSON.stringify([group, model]));
    for (const pool of pools.values()) {
      const chosen = chooseProvider(pool, declared, { ...options, taken });
      for (const use of pool) names.set(use, chosen.name);
    }
    all.push(...declared);
  }
  const sections = all.map((declared) => [declared.name, toSection(declared)] as const);
  return { sections: Object.fromEntries(sections.filter(([, section]) => Object.keys(section).length > 0)), names };
}

/** The provider under its usual name. Its entries for all models have no other name, so they come first. */
function declareUsual(name: string, wildcards: readonly Use[], { ownNames }: ImportOptions): Declared {
  const isOwn = ownNames.has(name);
  return {
    name,
    members: isOwn ? { dialect: "openai" } : {},
    listsModels: isOwn,
    toAccess: asWritten,
    deployments: mergeUses(wildcards).map((one) => ({ ...one, models: null })),
    groups: new Map(),
  };
}

/** The provider for the entries of one group with one model. */
function chooseProvider(
  pool: readonly Use[],
  declared: Declared[],
  options: ImportOptions & { readonly taken: Set<string> },
): Declared {
  const { group, path, provider, model: wantedModel } = pool[0] as Use;
  const model = wantedModel ?? "";
  const wanted = mergeUses(pool);
  const fitting = declared.find((one) => fits(one, model, wanted));
  if (fitting !== undefined) return addModel(fitting, model, group, wanted);
  const [usual] = declared as [Declared];
  const other = usual.groups.get(model);
  const conflict =
    `it reaches ${provider}/${model} with other addresses, keys or weights than ` +
    (other === undefined ? "the entry for all models" : `'${other}'`);
  const like = findTemplate(provider, wanted, options);
  if (like === null) {
    options.note(
      `${path}.model_name`,
      `${conflict}, and requests of both are distributed over all of them: ` +
        "declare a provider with a base_url of its own, and name it in the alias",
    );
    return addModel(usual, model, group, wanted);
  }
  const name = toUniqueName(toSlug(group), (one) => options.taken.has(one));
  options.taken.add(name);
  if (!options.ownNames.has(provider))
    options.note(
      `${path}.model_name`,
      `${conflict}, so it has the provider '${name}' of its own: ` +
        "set the prices of its models, and check the parameters that callers send",
    );
  const added = { ...like, name, listsModels: true, deployments: [], groups: new Map() };
  declared.push(added);
  return addModel(added, model, group, wanted);
}

/** Equal addresses and keys are one deployment with the sum of the weights. */
function mergeUses(uses: readonly Use[]): Wanted[] {
  const merged: Wanted[] = [];
  for (const { access, name, weight } of uses) {
    const index = merged.findIndex((one) => Bun.deepEquals(one.access, access));
    const same = merged[index];
    if (same === undefined) merged.push({ access, name, weight });
    else merged[index] = { ...same, weight: (same.weight ?? 1) + (weight ?? 1) };
  }
  return merged;
}

/** Whether the model is new for the provider, or is served by the same deployments. */
function fits({ deployments }: Declared, model: string, wanted: readonly Wanted[]): boolean {
  const serving = deployments.filter(({ models }) => models === null || models.has(model));
  if (serving.length === 0) return true;
  return serving.length === wanted.length && wanted.every((one) => findSame(serving, one, wanted.length) !== undefined);
}

function addModel(declared: Declared, model: string, group: string, wanted: readonly Wanted[]): Declared {
  for (const one of wanted) {
    const same = findSame(declared.deployments, one, wanted.length);
    if (same === undefined) declared.deployments.push({ ...one, models: new Set([model]) });
    else same.models?.add(model);
  }
  if (!declared.groups.has(model)) declared.groups.set(model, group);
  return declared;
}

/** A weight matters only among several deployments. */
function findSame(deployments: readonly Deployment[], wanted: Wanted, count: number) {
  return deployments.find(
    ({ access, weight }) => Bun.deepEquals(access, wanted.access) && (count === 1 || weight === wanted.weight),
  );
}

type Template = Pick<Declared, "members" | "toAccess">;

const asWritten = (access: EntryAccess) => access;
const chatPath = "/chat/completions";
const responsesPath = "/responses";

/** How another provider is declared that calls the same vendor; null: the file cannot express it. */
function findTemplate(provider: string, wanted: readonly Wanted[], { rows, ownNames }: ImportOptions): Template | null {
  if (ownNames.has(provider)) return { members: { dialect: "openai" }, toAccess: asWritten };
  const row = rows.find((one) => modelNamesOf(one).includes(provider));
  if (row === undefined) return null;
  const access = row.modelAccess ?? row;
  const usualAddress = access.baseUrl?.includes("{") ? null : access.baseUrl;
  if (usualAddress === null && wanted.some((one) => one.access.base_url === undefined)) return null;
  const isOpenaiFormat = row.dialect === undefined || row.dialect === "openai";
  return isOpenaiFormat
    ? likeOpenaiVendor(row, access, { provider, usualAddress })
    : likeVendorOfDialect(row, access, { provider, usualAddress, rows });
}

interface VendorOptions {
  readonly provider: string;
  /** Null: every entry has an address. */
  readonly usualAddress: string | null;
}

/** The operator's own provider has the credentials, headers and paths of the first vendor with its dialect. */
function likeVendorOfDialect(
  row: ProviderRow,
  { auth }: Access,
  { provider, usualAddress, rows }: VendorOptions & Pick<ImportOptions, "rows">,
): Template | null {
  if (rows.find(({ dialect }) => dialect === row.dialect) !== row) return null;
  const needsKey = auth === undefined || auth.kind === "bearer" || auth.kind === "header";
  const key = needsKey ? { api_key: keyOf(provider) } : {};
  const address = usualAddress === null ? {} : { base_url: usualAddress };
  return { members: { dialect: row.dialect }, toAccess: (access) => ({ ...address, ...key, ...access }) };
}

/** The operator's own provider has a bearer token, if any, and the paths of OpenAI. */
function likeOpenaiVendor(
  { chat, responses }: ProviderRow,
  { auth = { kind: "bearer" }, strippedSuffix = [], headers: vendorHeaders, query }: Access,
  { provider, usualAddress }: VendorOptions,
): Template | null {
  const path = chat?.path ?? chatPath;
  const basePath = path.slice(0, -chatPath.length);
  const isBearer = auth.kind === "bearer" || auth.kind === "optional-bearer";
  const header = auth.kind === "header" && auth.prefix === undefined ? auth.name : null;
  const isLike = path.endsWith(chatPath) && (isBearer || header !== null);
  if (!isLike || vendorHeaders !== undefined || query !== undefined) return null;
  const toAddress = (written: string) => {
    const trimmed = written.replace(/\/+$/, "");
    const suffix = [strippedSuffix].flat().find((one) => trimmed.endsWith(one)) ?? "";
    return `${trimmed.slice(0, trimmed.length - suffix.length)}${basePath}`;
  };
  const usualKey = auth.kind === "optional-bearer" ? undefined : keyOf(provider);
  const hasResponses = responses !== undefined && (responses.path ?? responsesPath) === `${basePath}${responsesPath}`;
  return {
    members: {
      dialect: "openai",
      ...(chat?.streamUsage && { stream_usage: chat.streamUsage }),
      ...(chat?.streamEnd && { stream_end: chat.streamEnd }),
      ...(hasResponses && { responses: responses.kind }),
    },
    toAccess: ({ api_key: key = usualKey, base_url: address = usualAddress ?? "", headers }) => ({
      base_url: toAddress(address),
      ...(header === null && key !== undefined && { api_key: key }),
      ...(header === null ? headers && { headers } : { headers: { ...headers, [header]: key ?? "" } }),
    }),
  };
}

/** The variable from which the vendor's provider has its key without being told. */
function keyOf(provider: string): string {
  return `\${${settingName(provider, "API_KEY")}}`;
}

/** One access is the provider's own; several become deployments, each for the models that use it. */
function toSection({ members, listsModels, toAccess, deployments }: Declared): Record<string, unknown> {
  const [only] = deployments;
  if (only !== undefined && deployments.length === 1) {
    const models = listsModels && only.models !== null ? { models: [...only.models] } : {};
    return { ...members, ...toAccess(only.access), ...models };
  }
  const names = new Set<string>();
  const weights = scaleWeights(deployments.map(({ weight }) => weight));
  const written = deployments.map(({ access, models, name }, index) => {
    const isNew = name !== null && !names.has(name);
    if (isNew) names.add(name);
    const weight = weights[index] ?? null;
    return {
      ...(isNew ? { name } : {}),
      ...toAccess(access),
      ...(models === null ? {} : { models: [...models] }),
      ...(weight === null ? {} : { weight }),
    };
  });
  return { ...members, deployments: written };
}

/** Weights above the largest one are reduced together, so that their ratio stays. */
export function scaleWeights<Weight extends number | null>(weights: readonly Weight[]): (number | Weight)[] {
  const largest = Math.max(...weights.map((weight) => weight ?? 1));
  if (largest <= maxWeight) return [...weights];
  // A weight of 0 would be refused.
  const scale = (weight: number) => Math.max(Number(((weight * maxWeight) / largest).toPrecision(6)), 0.000_001);
  return weights.map((weight) => scale(weight ?? 1));
}

export function toSlug(text: string): string {
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
