// Configures providers: rows and settings become addresses and credentials.

import type { TaskName } from "../contract/tasks.ts";
import { SettingError } from "../errors.ts";
import { suggest } from "../lib/find-nearest.ts";
import {
  type DeclaredDeployment,
  type Deployed,
  type Deployment,
  deploy,
  type IsOwnAddress,
  type Level,
  nameDeployment,
  type Section,
  type Source,
  type StoredAccess,
} from "./deployment.ts";
import type { Dialect } from "./dialect.ts";
import { dialects } from "./dialects/index.ts";
import { spellModel } from "./model-spelling.ts";
import {
  type Access,
  type DialectName,
  dialectNames,
  findModelFacts,
  hasModels,
  ownNamesOf,
  type ProviderRow,
} from "./provider.ts";
import { type ReadSetting, withFallbacks } from "./settings.ts";

export interface Provider {
  readonly row: ProviderRow;
  readonly name: string;
  /** Null: the provider uses the chat format. */
  readonly dialect: Dialect | null;
  /** For models. Empty for a provider without models, and while a setting is missing. */
  readonly deployments: readonly Deployment[];
  /** The setting that its models need, or null. */
  readonly missingSetting: string | null;
  /** Whether the operator has set up its models, so that they are listed. */
  readonly configured: boolean;
  /** For tasks: the same as for models, unless its models have their own address. */
  readonly taskDeployments: readonly Deployment[];
  /** The setting that its tasks need, or null. */
  readonly missingTaskSetting: string | null;
  /** Values that must not appear in logs or answers. */
  readonly secrets: readonly string[];
  /** Where its keys and addresses come from, by deployment. */
  readonly sources: readonly AccessSource[];
  /** Tasks in the gateway's own format, as the operator declares. */
  readonly declaredTasks: readonly TaskName[];
  /** The operator's default models, by task; `*` is any task. */
  readonly defaultModels: Readonly<Record<string, string>>;
  /** Reads a setting of this provider under any of its names. */
  readonly readSetting: ReadSetting;
}

export interface AccessSource {
  /** As `Deployment.name`: `openai`, `openai#europe`, `openai#2`; the name of a model API with its own settings, such as `gemini`. */
  readonly deployment: string;
  readonly key: Source | null;
  readonly address: Source | null;
}

/** A provider in the operator's file. */
export interface Declared extends DeclaredDeployment {
  readonly dialect?: string;
  readonly stream_usage?: string;
  readonly stream_end?: string;
  readonly responses?: string;
  readonly tasks?: readonly string[];
  /** One for all tasks, or by task. */
  readonly default_model?: string | Readonly<Record<string, string>>;
  readonly deployments?: readonly DeclaredDeployment[];
}

type AllDeclared = Readonly<Record<string, Declared>>;

/** By the name of the provider, or of its model API. */
export type AllStored = ReadonlyMap<string, StoredAccess>;

export interface ConfigureOptions {
  readonly stored?: AllStored;
  /** A provider at an address of the gateway itself counts as not set up. Absent: the gateway listens on no address. */
  readonly isOwnAddress?: IsOwnAddress;
  /** Called for each provider with a wrong setting, which is then left out; absent: the first error is thrown. */
  readonly onProblem?: (error: SettingError) => void;
}

/** What the operator has written. */
export interface Written {
  readonly declared: AllDeclared;
  readonly readSetting: ReadSetting;
  readonly isOwnAddress: IsOwnAddress;
}

/** A provider before its credentials are known. */
export interface ProviderDraft {
  readonly row: ProviderRow;
  /** For its settings, in the order in which they are read. */
  readonly names: readonly string[];
}

export function configureProviders(
  rows: readonly ProviderRow[],
  declared: AllDeclared,
  readSetting: ReadSetting,
  { stored = new Map(), isOwnAddress = () => false, onProblem }: ConfigureOptions = {},
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  const refuse = (error: unknown) => {
    if (onProblem === undefined || !(error instanceof SettingError)) throw error;
    onProblem(error);
  };
  for (const draft of draftProviders(rows, declared, refuse))
    try {
      providers.set(draft.row.name, configureProvider(draft, { declared, readSetting, isOwnAddress }, stored));
    } catch (error) {
      refuse(error);
    }
  return providers;
}

/** The rows that exist, and one for each provider that only the operator's file knows. */
export function draftProviders(
  rows: readonly ProviderRow[],
  declared: AllDeclared,
  refuse: (error: SettingError) => void,
): ProviderDraft[] {
  const drafts: ProviderDraft[] = rows.map((row) => ({ row, names: ownNamesOf(row, rows) }));
  const known = new Set(drafts.flatMap(({ row, names }) => [...names, row.modelAccess?.name ?? row.name]));
  for (const [name, settings] of Object.entries(declared)) {
    if (known.has(name)) continue;
    if ([settings, ...(settings.deployments ?? [])].some(({ base_url }) => base_url))
      drafts.push({ row: rowFor(name, settings.dialect, rows), names: [name] });
    else {
      const nearest = suggest(name, [...known]) || ".";
      const message = `there is no known provider '${name}'${nearest} A provider of your own needs base_url`;
      refuse(new SettingError(`providers.${name}`, message));
    }
  }
  return drafts;
}

/** A provider that the operator declares is like the vendor of its dialect, with another address and other models. */
function rowFor(name: string, dialect: string | undefined, rows: readonly ProviderRow[]): ProviderRow {
  const own = { name, title: name, docs: "", baseUrl: null };
  const known = dialect === undefined || dialect === "openai" ? undefined : rows.find((row) => row.dialect === dialect);
  if (known === undefined) return { ...own, auth: { kind: "optional-bearer" }, chat: { models: [] } };
  const { auth, settingFallbacks, strippedSuffix, headers } = known.modelAccess ?? known;
  const { errors, chat, embeddings, responses } = known;
  const { defaultModel: _, defaultVisionModel: __, ...likeChat } = chat ?? {};
  return {
    ...own,
    ...(auth && { auth }),
    ...(known.dialect && { dialect: known.dialect }),
    ...(settingFallbacks && { settingFallbacks }),
    ...(strippedSuffix && { strippedSuffix }),
    ...(headers && { headers }),
    ...(errors && { errors }),
    ...(chat && { chat: { ...likeChat, models: [] } }),
    ...(embeddings && { embeddings: { ...embeddings, models: [] } }),
    ...(responses && { responses }),
  };
}

type ProviderLevel = Level & { readonly section: Section<Declared> | null };

export function configureProvider(
  { row: plainRow, names }: ProviderDraft,
  { declared, readSetting: readPlain, isOwnAddress }: Written,
  allStored: AllStored,
): Provider {
  const toLevel = (own: readonly string[]): ProviderLevel => ({
    names: own,
    section: findSection(own, declared),
    stored: allStored.get(own[0] ?? "") ?? null,
  });
  const level = toLevel(names);
  const modelLevel = plainRow.modelAccess === undefined ? null : toLevel([plainRow.modelAccess.name]);
  const settings = { ...level.section?.settings, ...modelLevel?.section?.settings };
  const storedSettings = new Map(Object.entries({ ...level.stored?.settings, ...modelLevel?.stored?.settings }));
  const readSetting: ReadSetting = (name) => storedSettings.get(name) ?? readPlain(name);
  const row = withOverrides(plainRow, settings, modelLevel?.section ?? level.section);
  const dialect = dialectOf(row);
  const deployAll = (access: Access, own: ProviderLevel, providerLevel: ProviderLevel | null) => {
    const listing = [own, providerLevel].find((one) => listsDeployments(one))?.section;
    const isOwnOfProvider = listing !== undefined && listing === providerLevel?.section;
    const several = listing?.settings.deployments ?? [];
    const owns = several.map((one, index) => ({
      path: `${listing?.path}.deployments.${index}`,
      settings:
        one.models === undefined ? one : { ...one, models: one.models.map((id) => spellModel({ dialect }, id)) },
    }));
    const all = (owns.length === 0 ? [null] : owns).map((one, ownIndex) => ({
      name: nameDeployment(own.names[0] ?? row.name, one, ownIndex),
      ...deploy({
        ...{ row, access, own: one, ownIndex, isOwnOfProvider },
        ...{ level: own, providerLevel, readSetting, isOwnAddress },
      }),
    }));
    return summarize(all);
  };
  const ofProvider = deployAll(row, level, null);
  const ofModels =
    row.modelAccess === undefined || modelLevel === null ? ofProvider : deployAll(row.modelAccess, modelLevel, level);
  const models = hasModels(row) ? ofModels : { ...ofProvider, deployments: [], isSetUp: false };
  return {
    row,
    name: row.name,
    dialect,
    deployments: models.deployments,
    missingSetting: models.missingSetting,
    configured: models.isSetUp,
    taskDeployments: ofProvider.deployments,
    missingTaskSetting: ofProvider.missingSetting,
    secrets: [...new Set([...ofModels.secrets, ...ofProvider.secrets])],
    sources: ofModels === ofProvider ? ofProvider.sources : [...ofModels.sources, ...ofProvider.sources],
    // The configuration has checked the names.
    declaredTasks: (settings.tasks ?? []) as TaskName[],
    defaultModels: readDefaultModels(settings.default_model, dialect),
    readSetting: withFallbacks(row, readSetting),
  };
}

/** A key or address of the store replaces all deployments of the file. */
function listsDeployments(level: ProviderLevel | null): boolean {
  const { api_key, base_url } = level?.stored ?? {};
  return level?.section?.settings.deployments !== undefined && api_key === undefined && base_url === undefined;
}

/** If a provider is declared under two of its names, members of the first take precedence. */
function findSection(names: readonly string[], declared: AllDeclared): Section<Declared> | null {
  const found = names.filter((name) => Object.hasOwn(declared, name));
  if (found.length === 0) return null;
  const settings: Declared = Object.assign({}, ...found.toReversed().map((name) => declared[name]));
  return { path: `providers.${found[0]}`, settings };
}

function summarize(all: readonly (Deployed & { readonly name: string })[]) {
  const deployments = all.flatMap(({ deployment }) => (deployment === null ? [] : [deployment]));
  const missing = all.find(({ missingSetting }) => missingSetting !== null)?.missingSetting ?? null;
  return {
    deployments,
    missingSetting: deployments.length > 0 ? null : missing,
    isSetUp: all.some(({ isSetUp }) => isSetUp),
    secrets: all.flatMap(({ secrets }) => secrets),
    sources: all.map(({ name, keySource, addressSource }) => ({
      deployment: name,
      key: keySource,
      address: addressSource,
    })),
  };
}

function dialectOf({ dialect = "openai" }: { readonly dialect?: DialectName | undefined }): Dialect | null {
  return dialects[dialect];
}

function readDefaultModels(
  declared: Declared["default_model"] = {},
  dialect: Dialect | null,
): Readonly<Record<string, string>> {
  const models = Object.entries(typeof declared === "string" ? { "*": declared } : declared);
  return Object.fromEntries(models.map(([task, model]) => [task, spellModel({ dialect }, model)]));
}

function withOverrides(row: ProviderRow, declared: Declared, section: Section | null): ProviderRow {
  if (section === null) return row;
  const choose = <Choice extends string>(member: string, given: string | undefined, known: readonly Choice[]) => {
    if (given === undefined || isOneOf(known, given)) return given;
    const message = `should be one of ${known.join(", ")}, and is '${given}'`;
    throw new SettingError(`${section.path}.${member}`, message);
  };
  const dialect = choose("dialect", declared.dialect, dialectNames) ?? row.dialect;
  const streamUsage = choose("stream_usage", declared.stream_usage, ["ask", "always", "never"]);
  const streamEnd = choose("stream_end", declared.stream_end, ["done", "finish"]);
  const kind = choose("responses", declared.responses, ["native", "stateless", "translated"]) ?? row.responses?.kind;
  const models = declared.models?.map((written) => {
    const id = spellModel({ dialect: dialectOf({ dialect }) }, written);
    return findModelFacts(row, id) ?? { id };
  });
  const { responses, ...others } = row;
  return {
    ...others,
    ...(dialect && { dialect }),
    ...(row.chat && {
      chat: {
        ...row.chat,
        ...(streamUsage && { streamUsage }),
        ...(streamEnd && { streamEnd }),
        ...(models && { models }),
      },
    }),
    ...(row.embeddings && !row.chat && models && { embeddings: { ...row.embeddings, models } }),
    ...(kind && kind !== "translated" && { responses: { ...responses, kind } }),
  };
}

function isOneOf<Choice extends string>(known: readonly Choice[], given: string): given is Choice {
  return (known as readonly string[]).includes(given);
}
