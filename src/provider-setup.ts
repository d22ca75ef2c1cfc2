// The providers as the configuration sets them up, and the checks of the configuration that need to know the providers. `switchyard config check`
// and every process that starts use the same code.

import { type PriceOverrides, readPriceOverrides } from "./catalogue/prices.ts";
import { type ConfigProblem, type Locations, locate } from "./config/config-file.ts";
import { isOwnAddress } from "./config/own-address.ts";
import { type Config, ConfigError } from "./config.ts";
import { features, findTask, tasks } from "./contract/tasks.ts";
import type { SettingError } from "./errors.ts";
import { createLocalEmbeddings } from "./inference/local-embeddings.ts";
import { findNearest, suggest } from "./lib/find-nearest.ts";
import { configureProviders, type Provider } from "./providers/configure.ts";
import { listProviderNames } from "./providers/find-provider.ts";
import { rows as builtInRows } from "./providers/index.ts";
import { createLiveProviders, type LiveProviders } from "./providers/live-providers.ts";
import { spellName } from "./providers/model-spelling.ts";
import { modelNamesOf, ownNamesOf, type ProviderRow } from "./providers/provider.ts";
import { settingName } from "./providers/settings.ts";

export interface ProviderSetup {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly live: LiveProviders;
  readonly priceOverrides: PriceOverrides;
}

const featureNames: ReadonlySet<string> = new Set(features.map(({ name }) => name));
const taskNames = tasks.map(({ name }) => name);

/** `localRow`: the engines of this machine, unless the operator declared a provider of that name. Throws a ConfigError with all problems. */
export function setUpProviders(config: Config, localRow: ProviderRow = createLocalEmbeddings([]).row): ProviderSetup {
  const problems: ConfigProblem[] = [];
  const add = (path: string, message: string) => problems.push(locate(path, message, config));
  const ownRows = Object.hasOwn(config.providers, localRow.name) ? [] : [localRow];
  const all = [...builtInRows, ...ownRows];
  const rows = all.flatMap((row) => withoutSwitchedOff(row, ownNamesOf(row, all), config.switchedOff));
  checkSwitchedOff(config, [...all.flatMap(modelNamesOf), localRow.name], add);
  const { providers: declared, readProviderSetting: readSetting } = config;
  const onProblem = ({ path, message }: SettingError) => add(path, message);
  const isOwn = (url: URL) => isOwnAddress(config, url);
  const providers = configureProviders(rows, declared, readSetting, { onProblem, isOwnAddress: isOwn });
  // A provider with a wrong setting is reported for that setting alone.
  const names = new Set([
    ...listProviderNames(providers.values()),
    ...rows.flatMap(modelNamesOf),
    ...Object.keys(declared),
  ]);
  checkAliases(config, names, add);
  checkPatterns(config, names, add);
  const overrides = readPriceOverrides(config.prices);
  for (const { path, message } of overrides.problems) add(path, message);
  for (const name of Object.keys(overrides.prices)) checkProvider(name, names, `prices.${name}`, add);
  if (problems.length > 0)
    throw new ConfigError(problems.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0)));
  const live = createLiveProviders({ rows, written: { declared, readSetting, isOwnAddress: isOwn }, providers });
  // A price that is stated for the spelling in use takes precedence.
  const spelled = Object.entries(overrides.prices).map(([name, card]) => [spellName(providers.values(), name), card]);
  return { providers, live, priceOverrides: { ...Object.fromEntries(spelled), ...overrides.prices } };
}

/** Whether a provider has what it needs. The sandbox and the local engines always have it, and do not count. */
export function isSetUp({ row, configured, taskDeployments, missingTaskSetting }: Provider): boolean {
  const hasTasks = (row.tasks ?? []).length > 0 && missingTaskSetting === null && taskDeployments.length > 0;
  const isBuiltIn = row.isSandbox === true || row.name === createLocalEmbeddings([]).row.name;
  return !isBuiltIn && (configured || hasTasks);
}

/** Variables that look like the key or address of a provider, and that no provider reads: probably misspelt. */
export function findMisspeltVariables(config: Config, { providers }: ProviderSetup): ConfigProblem[] {
  const known = [...new Set([...listVariables(providers, "API_KEY"), ...listVariables(providers, "BASE_URL")])];
  return config.providerVariables.flatMap((variable) => {
    const nearest = known.includes(variable) ? null : findNearest(variable, known, mostMisspeltLetters);
    if (nearest === null || config.providerVariables.includes(nearest)) return [];
    const message = `no provider reads this variable; did you mean '${nearest}'?`;
    return [locate(variable, message, noLocations)];
  });
}

function listVariables(providers: ProviderSetup["providers"], of: "API_KEY" | "BASE_URL"): string[] {
  return [...providers.values()].flatMap(({ row, name }) => [
    ...[name, ...modelNamesOf(row)].map((one) => settingName(one, of)),
    ...[row, row.modelAccess].flatMap((access) => (of === "API_KEY" ? access?.keyNames : access?.addressNames) ?? []),
  ]);
}

/** Addresses of providers that lead to this gateway. Such a provider counts as not set up. */
export function findOwnAddresses(config: Config, { providers }: ProviderSetup): ConfigProblem[] {
  const ofFile = Object.entries(config.providers).flatMap(([name, { base_url, deployments = [] }]) => [
    [`providers.${name}.base_url`, base_url] as const,
    ...deployments.map((one, index) => [`providers.${name}.deployments.${index}.base_url`, one.base_url] as const),
  ]);
  const variables = new Set(listVariables(providers, "BASE_URL"));
  const ofEnvironment = Array.from(variables, (name) => [name, config.readProviderSetting(name)] as const);
  return [...ofFile, ...ofEnvironment].flatMap(([path, address]) => {
    const url = address ? URL.parse(address) : null;
    if (url === null || !isOwnAddress(config, url)) return [];
    const message = `${url.origin} is this gateway itself, so the provider is not set up; write the address of its server, or set another SWITCHYARD_PORT`;
    return [locate(path, message, config)];
  });
}

const mostMisspeltLetters = 2;
const noLocations: Locations = { file: null, positions: {} };

type AddProblem = (path: string, message: string) => void;

/** The name of a model API switches off that API alone, and the provider's name all of it. */
function withoutSwitchedOff(
  row: ProviderRow,
  names: readonly string[],
  switchedOff: ReadonlySet<string>,
): ProviderRow[] {
  if (names.some((name) => switchedOff.has(name))) return [];
  if (row.modelAccess === undefined || !switchedOff.has(row.modelAccess.name)) return [row];
  const { modelAccess: _, dialect: __, chat: ___, embeddings: ____, responses: _____, ...tasksOnly } = row;
  return [tasksOnly];
}

/** A misspelt name would leave the provider on that was to be switched off. */
function checkSwitchedOff({ switchedOff }: Config, known: readonly string[], add: AddProblem): void {
  for (const name of switchedOff)
    if (!known.includes(name)) add(`providers.${name}`, `there is no known provider '${name}'${suggest(name, known)}`);
}

/** An alias whose provider does not exist would be refused with every request that names it. */
function checkAliases(config: Config, known: ReadonlySet<string>, add: AddProblem): void {
  for (const [alias, targets] of config.aliases)
    for (const [index, { model }] of targets.entries()) {
      // The place of a list's element is known.
      const path = targets.length === 1 ? `aliases.${alias}` : `aliases.${alias}.${index}`;
      checkModel(model, known, path, add);
    }
}

function checkModel(model: string, known: ReadonlySet<string>, path: string, add: AddProblem): void {
  const [first = "", second = "", third = ""] = model.split("/");
  const task = `${first}/${second}`;
  if (!featureNames.has(first)) checkProvider(model, known, path, add);
  else if (findTask(task) === undefined)
    add(path, `'${model}' names the unknown task '${task}'${suggest(task, taskNames)}`);
  else if (!known.has(third))
    add(path, `'${model}' names the unknown provider '${third}'${suggest(third, [...known])}`);
}

function checkProvider(model: string, known: ReadonlySet<string>, path: string, add: AddProblem): void {
  const [name = ""] = model.split("/");
  if (!known.has(name) && !name.includes("*"))
    add(path, `'${model}' names the unknown provider '${name}'${suggest(name, [...known])}`);
}

/** A pattern with an unknown provider would allow nothing, or limit nothing. */
function checkPatterns({ defaults }: Config, known: ReadonlySet<string>, add: AddProblem): void {
  for (const holder of ["key", "team"] as const) {
    const { allowed_models, model_limits } = defaults[holder];
    const patterns = [
      ...(allowed_models ?? []).map((pattern, index) => [`allowed_models.${index}`, pattern] as const),
      ...(model_limits ?? []).map(({ model }, index) => [`model_limits.${index}.model`, model] as const),
    ];
    for (const [path, pattern] of patterns) {
      const [first = ""] = pattern.split("/");
      const isNamed = pattern.includes("/") && !first.includes("*") && !featureNames.has(first);
      if (isNamed) checkProvider(pattern, known, `defaults.${holder}.${path}`, add);
    }
  }
}
