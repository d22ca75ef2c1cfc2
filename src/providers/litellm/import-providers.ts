// The providers of a LiteLLM configuration. A group (`model_name`) uses only its own entries. All deployments of a provider that have a
// model serve it, so that groups which reach one model with different addresses or keys need different providers.

import { withoutSuffix } from "../deployment.ts";
import { type Access, modelNamesOf, type ProviderRow } from "../provider.ts";
import { settingName } from "../settings.ts";
import { findKeyVariable } from "./provider-names.ts";

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
  /** Entries with a higher one are used when those with a lower one have failed. */
  readonly order: number;
}

export interface ImportOptions {
  readonly rows: readonly ProviderRow[];
  /** The names of servers of the operator's. */
  readonly ownNames: ReadonlySet<string>;
  /** Callers may name every model of every provider. */
  readonly servesAll: boolean;
  readonly note: AddNote;
}

export interface ImportedProviders {
  readonly sections: Readonly<Record<string, unknown>>;
  /** The provider that serves each use. */
  readonly names: ReadonlyMap<Use, string>;
}

interface Deployment {
  /** The same for all ways to write an address with its credentials. */
  readonly identity: string;
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
  readonly groups: Map<string | null, string>;
}

/** The largest weight of switchyard.yaml. */
const maxWeight = 1_000_000;
/** So small that a fallback is drawn only after all others have failed. */
const fallbackWeight = 0.000_001;

export function importProviders(uses: readonly Use[], options: ImportOptions): ImportedProviders {
  const names = new Map<Use, string>();
  const taken = new Set([...options.rows.flatMap(modelNamesOf), ...options.ownNames]);
  const all: Declared[] = [];
  for (const [provider, own] of Map.groupBy(uses, (use) => use.provider)) {
    const declared = [declareUsual(provider, options)];
    // Entries for all models have no other name, and neither has a group that is named like its model: they come before the others.
    const isNamed = ({ model }: Use) => model !== null;
    const isUnusualName = ({ group, model }: Use) => group !== `${provider}/${model ?? "*"}`;
    const sorted = [...own, ...listUsualUses(provider, own, options)].toSorted(
      (one, other) =>
        Number(isNamed(one)) - Number(isNamed(other)) || Number(isUnusualName(one)) - Number(isUnusualName(other)),
    );
    const pools = Map.groupBy(sorted, ({ group, model }) => JSON.stringify([group, model]));
    for (const pool of pools.values()) {
      const chosen = chooseProvider(pool, declared, { ...options, taken });
      for (const use of pool) names.set(use, chosen.name);
    }
    noteRefused(declared, own, options);
    all.push(...declared);
  }
  const sections = all.map((declared) => [declared.name, toSection(declared)] as const);
  return { sections: Object.fromEntries(sections.filter(([, section]) => Object.keys(section).length > 0)), names };
}

/** The provider under its usual name. */
function declareUsual(name: string, { ownNames }: ImportOptions): Declared {
  const isOwn = ownNames.has(name);
  return {
    name,
    members: isOwn ? { dialect: "openai" } : {},
    listsModels: isOwn,
    toAccess: asWritten,
    deployments: [],
    groups: new Map(),
  };
}

/** If callers may name every model, one deployment must not list its models: that with the usual address and key. */
function listUsualUses(provider: string, own: readonly Use[], { rows, servesAll }: ImportOptions): Use[] {
  const [first] = own;
  const isOneAccess = new Set(own.map(toIdentity)).size === 1;
  if (!servesAll || first === undefined || isOneAccess || own.some(({ model }) => model === null)) return [];
  if (usualAddressOf(provider, rows) === null) return [];
  return [{ ...first, group: "*", model: null, access: usualAccessOf(provider), name: null, weight: null, order: 0 }];
}

function noteRefused(
  [usual]: readonly Declared[],
  [first]: readonly Use[],
  { ownNames, note }: Pick<ImportOptions, "ownNames" | "note">,
): void {
  if (usual === undefined || first === undefined || ownNames.has(usual.name) || usual.deployments.length < 2) return;
  if (usual.deployments.some(({ models }) => models === null)) return;
  note(
    `${first.path}.litellm_params.model`,
    `the deployments of '${usual.name}' list their models, and other models of it are refused: ` +
      "add a deployment without models to serve them",
  );
}

/** The provider for the entries of one group with one model. */
function chooseProvider(
  pool: readonly Use[],
  declared: Declared[],
  options: ImportOptions & { readonly taken: Set<string> },
): Declared {
  const { group, path, provider, model } = pool[0] as Use;
  const name = `${provider}/${model ?? "*"}`;
  const wanted = mergeUses(pool);
  if (wanted.length > 1 && new Set(pool.map(({ order }) => order)).size > 1)
    options.note(
      `${path}.litellm_params.order`,
      `the deployments of ${name} have weights in place of orders: one with a weight of ${fallbackWeight.toFixed(6)} is tried last`,
    );
  const fitting = declared.find((one) => fits(one, model, wanted));
  if (fitting !== undefined) return addModel(fitting, model, group, wanted);
  const [usual] = declared as [Declared];
  const other = usual.groups.get(model);
  const conflict =
    `it reaches ${name} with other addresses, keys or weights than ` +
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
  const unique = toUniqueName(toSlug(group), (one) => options.taken.has(one));
  options.taken.add(unique);
  if (!options.ownNames.has(provider))
    options.note(
      `${path}.model_name`,
      `${conflict}, so it has the provider '${unique}' of its own: ` +
        "set the prices of its models, and check the parameters that callers send",
    );
  const added = { ...like, name: unique, listsModels: true, deployments: [], groups: new Map() };
  declared.push(added);
  return addModel(added, model, group, wanted);
}

/** Equal addresses and keys are one deployment with the lowest order, and the sum of the weights that have it. */
function mergeUses(uses: readonly Use[]): Wanted[] {
  const merged = [...Map.groupBy(sortByOrder(uses), toIdentity)].map(([identity, same]) => {
    const [{ name, order, weight }] = same as [Use];
    const access: EntryAccess = Object.assign({}, ...same.map((use) => use.access));
    return { identity, access, name, order, weight: same.length === 1 ? weight : sumFirst(same) };
  });
  const tiers = [...Map.groupBy(merged, ({ order }) => order).values()];
  const weights = weighTiers(tiers.map((tier) => tier.map(({ weight }) => weight ?? 1))).flat();
  return tiers.length === 1 ? merged : merged.map((one, index) => ({ ...one, weight: weights[index] ?? 1 }));
}

export function sortByOrder(uses: readonly Use[]): Use[] {
  return uses.toSorted((one, other) => (one.order < other.order ? -1 : Number(one.order > other.order)));
}

/** The weights of the entries that are used first. */
export function sumFirst(sorted: readonly Use[]): number {
  return sorted.filter(({ order }) => order === sorted[0]?.order).reduce((sum, { weight }) => sum + (weight ?? 1), 0);
}

/** An absent key is the usual one. */
function toIdentity({ provider, access }: Use): string {
  const { api_key: key = keyOf(provider), base_url: address, headers = {} } = access;
  return JSON.stringify([key, address, Object.entries(headers).toSorted()]);
}

/** Whether the model is new for the provider, or is served by the same deployments. */
function fits({ deployments }: Declared, model: string | null, wanted: readonly Wanted[]): boolean {
  const serving = deployments.filter(({ models }) => models === null || model === null || models.has(model));
  if (serving.length === 0) return true;
  return serving.length === wanted.length && wanted.every((one) => findSame(serving, one, wanted.length) !== undefined);
}

function addModel(declared: Declared, model: string | null, group: string, wanted: readonly Wanted[]): Declared {
  const { deployments, groups } = declared;
  for (const one of wanted) {
    const same = findSame(deployments, one, wanted.length);
    if (same === undefined) deployments.push({ ...one, models: model === null ? null : new Set([model]) });
    else {
      // The usual key is written if one of the entries has it.
      deployments[deployments.indexOf(same)] = { ...same, access: { ...same.access, ...one.access } };
      if (model !== null) same.models?.add(model);
    }
  }
  if (!groups.has(model)) groups.set(model, group);
  return declared;
}

/** A weight matters only among several deployments. */
function findSame(deployments: readonly Deployment[], wanted: Wanted, count: number) {
  return deployments.find(
    ({ identity, weight }) => identity === wanted.identity && (count === 1 || weight === wanted.weight),
  );
}

type Template = Pick<Declared, "members" | "toAccess">;

const asWritten = (access: EntryAccess) => access;
const chatPath = "/chat/completions";
const responsesPath = "/responses";

/** How another provider is declared that calls the same vendor; null: the file cannot express it. */
function findTemplate(provider: string, wanted: readonly Wanted[], { rows, ownNames }: ImportOptions): Template | null {
  if (ownNames.has(provider)) return { members: { dialect: "openai" }, toAccess: asWritten };
  const row = findRow(provider, rows);
  if (row === undefined) return null;
  const access = row.modelAccess ?? row;
  const usualAddress = usualAddressOf(provider, rows);
  if (usualAddress === null && wanted.some((one) => one.access.base_url === undefined)) return null;
  const isOpenaiFormat = row.dialect === undefined || row.dialect === "openai";
  return isOpenaiFormat
    ? likeOpenaiVendor(row, access, { provider, usualAddress })
    : likeVendorOfDialect(row, access, { provider, usualAddress, rows });
}

function findRow(provider: string, rows: readonly ProviderRow[]): ProviderRow | undefined {
  return rows.find((one) => modelNamesOf(one).includes(provider));
}

/** Null: every deployment needs an address of its own. */
function usualAddressOf(provider: string, rows: readonly ProviderRow[]): string | null {
  const row = findRow(provider, rows);
  const address = (row?.modelAccess ?? row)?.baseUrl ?? null;
  return address?.includes("{") ? null : address;
}

export function isUsualAddress(address: string, provider: string, rows: readonly ProviderRow[]): boolean {
  const row = findRow(provider, rows);
  const usual = usualAddressOf(provider, rows);
  const { strippedSuffix } = row?.modelAccess ?? row ?? {};
  return usual !== null && withoutSuffix(address, strippedSuffix) === withoutSuffix(usual, strippedSuffix);
}

/** The access without a key or an address in the entry. The gateway reads most keys from the variable that LiteLLM reads. */
export function usualAccessOf(provider: string): EntryAccess {
  return findKeyVariable(provider) === null ? {} : { api_key: keyOf(provider) };
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
  { auth = { kind: "bearer" }, strippedSuffix, headers: vendorHeaders, query }: Access,
  { provider, usualAddress }: VendorOptions,
): Template | null {
  const path = chat?.path ?? chatPath;
  const basePath = path.slice(0, -chatPath.length);
  const isBearer = auth.kind === "bearer" || auth.kind === "optional-bearer";
  const header = auth.kind === "header" && auth.prefix === undefined ? auth.name : null;
  const isLike = path.endsWith(chatPath) && (isBearer || header !== null);
  if (!isLike || vendorHeaders !== undefined || query !== undefined) return null;
  const toAddress = (written: string) => `${withoutSuffix(written, strippedSuffix)}${basePath}`;
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

/** The variable from which LiteLLM reads the key of an entry without one. */
function keyOf(provider: string): string {
  return `\${${findKeyVariable(provider) ?? settingName(provider, "API_KEY")}}`;
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

/** Weights with which items of a later tier are drawn only after all items of the earlier ones. */
export function weighTiers(tiers: readonly (readonly number[])[]): number[][] {
  return tiers.map((weights, tier) => {
    if (tier === 0) return scaleWeights(weights);
    const sum = weights.reduce((one, other) => one + other, 0);
    return weights.map((weight) => Number(((weight / sum) * fallbackWeight ** tier).toPrecision(6)));
  });
}

/** Weights above the largest one are reduced together, so that their ratio stays. */
function scaleWeights<Weight extends number | null>(weights: readonly Weight[]): (number | Weight)[] {
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
