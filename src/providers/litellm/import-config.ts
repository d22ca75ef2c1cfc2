// Converts the configuration of a LiteLLM proxy to switchyard.yaml.
// https://docs.litellm.ai/docs/proxy/configs and https://docs.litellm.ai/docs/proxy/config_settings document the format.

import * as yaml from "yaml";
import { isObject } from "../../lib/lenient-json.ts";
import { type Position, parseYaml, type YamlFile } from "../../lib/yaml-file.ts";
import { rows } from "../index.ts";
import { modelNamesOf } from "../provider.ts";
import { importModels, type Tier, toNumber } from "./import-models.ts";
import { type AddNote, toUniqueName, weighTiers } from "./import-providers.ts";

export interface Note {
  readonly line: number;
  readonly path: string;
  readonly message: string;
}

export interface ImportedConfig {
  readonly yaml: string;
  /** What could not be converted, in the order of the lines. */
  readonly notes: readonly Note[];
  /** Why the file cannot be read at all. */
  readonly problems: YamlFile["problems"];
}

type Members = Readonly<Record<string, unknown>>;
type Convert = (value: unknown, path: string, note: AddNote) => Readonly<Record<string, unknown>>;

const aliasName = /^[A-Za-z0-9_.:@+~=-]{1,128}$/;
const shortestKey = 16;
const secondMs = 1_000;

/** A setting that is computed from a number. */
const number =
  (name: string, toValue: (written: number) => number): Convert =>
  (value, path, note) => {
    const written = toNumber(value);
    if (written !== null) return { [name]: toValue(written) };
    note(path, `should be a number; set ${name} yourself`);
    return {};
  };

const seconds = (name: string) => number(name, (written) => Math.round(written * secondMs));
const retries = number("retries", (written) => written);

const hint =
  (message: string): Convert =>
  (_, path, note) => {
    note(path, message);
    return {};
  };

const elsewhere = () => ({});
const whenTrue =
  (members: Members): Convert =>
  (value) =>
    value === true ? members : {};

const observability = hint("logs, metrics (/metrics), traces and the ledger take the place of callbacks");
const redis = hint("is not needed: gateways share their state in PostgreSQL (DATABASE_URL)");
const caching = hint("answers are not cached");

const litellmSettings: Readonly<Record<string, Convert>> = {
  num_retries: retries,
  request_timeout: seconds("total_timeout_ms"),
  fallbacks: elsewhere,
  default_fallbacks: elsewhere,
  context_window_fallbacks: hint("fallbacks for one kind of error were not converted; fallbacks apply to all errors"),
  content_policy_fallbacks: hint("fallbacks for one kind of error were not converted; fallbacks apply to all errors"),
  drop_params: hint("parameters that a provider's format lacks are always dropped, and named in the answer"),
  set_verbose: whenTrue({ log_level: "debug" }),
  json_logs: whenTrue({ log_format: "json" }),
  success_callback: observability,
  failure_callback: observability,
  callbacks: observability,
  service_callbacks: observability,
  cache: caching,
  cache_params: caching,
  turn_off_message_logging: whenTrue({}),
};

const routerSettings: Readonly<Record<string, Convert>> = {
  num_retries: retries,
  timeout: seconds("total_timeout_ms"),
  stream_timeout: seconds("first_byte_timeout_ms"),
  cooldown_time: seconds("breaker_open_ms"),
  allowed_fails: number("breaker_failures", (written) => written + 1),
  disable_cooldowns: whenTrue({ breaker_failures: 0 }),
  fallbacks: elsewhere,
  default_fallbacks: elsewhere,
  model_group_alias: elsewhere,
  routing_strategy(value, path, note) {
    if (value !== "simple-shuffle")
      note(
        path,
        `'${String(value)}' was not converted: requests are distributed by weight; callers may send routing.sort`,
      );
    return {};
  },
  redis_host: redis,
  redis_port: redis,
  redis_password: redis,
  redis_url: redis,
  context_window_fallbacks: hint("fallbacks for one kind of error were not converted; fallbacks apply to all errors"),
  content_policy_fallbacks: hint("fallbacks for one kind of error were not converted; fallbacks apply to all errors"),
};

const generalSettings: Readonly<Record<string, Convert>> = {
  master_key(value, path, note) {
    note(path, "became the management key, which calls no models: create keys with `switchyard keys create`");
    const key = String(value);
    if (key.startsWith("${") || key.length >= shortestKey) return { admin_key: key };
    note(
      path,
      `the management key needs ${shortestKey} characters, and this one has ${key.length}; set SWITCHYARD_ADMIN_KEY`,
    );
    return {};
  },
  database_url: hint("use a new database: set DATABASE_URL, and create keys and teams again"),
  alerting: hint("set budget_alert_webhook to receive alerts about budgets"),
};

/** Says what is wrong with the value of a setting of `switchyard.yaml`; null when it is valid. */
export type CheckSetting = (name: string, value: unknown) => string | null;

export function importLitellmConfig(text: string, checkSetting: CheckSetting): ImportedConfig {
  const { value, positions, problems } = parseYaml(text);
  if (problems.length > 0) return { yaml: "", notes: [], problems };
  if (!isObject(value))
    return {
      yaml: "",
      notes: [],
      problems: [{ line: 1, column: 1, message: "should hold members such as 'model_list:'" }],
    };
  const notes: Note[] = [];
  const note: AddNote = (path, message) => notes.push({ line: lineOf(path, positions), path, message });
  const document = replaceReferences(value) as Members;

  const credentials = readCredentials(document["credential_list"]);
  const { providers, groups, prices } = importModels(document["model_list"], credentials, rows, note);
  const converted = {
    ...convertSection(document, "litellm_settings", litellmSettings, { note, checkSetting }),
    ...convertSection(document, "router_settings", routerSettings, { note, checkSetting }),
    ...convertSection(document, "general_settings", generalSettings, { note, checkSetting }),
  };
  const known = new Set([...rows.flatMap(modelNamesOf), ...Object.keys(providers)]);
  const aliases = toAliases(document, groups, known, note);
  noteRest(document, note);
  const sections = { providers, aliases, prices, ...converted };
  const written = Object.fromEntries(
    Object.entries(sections).filter(([, one]) => !isObject(one) || Object.keys(one).length > 0),
  );
  const body = Object.keys(written).length === 0 ? "" : yaml.stringify(written, { lineWidth: 0 });
  return {
    yaml: `# Converted from a LiteLLM configuration by \`switchyard config import\`.\n${body}`,
    notes: notes.toSorted((one, other) => one.line - other.line),
    problems: [],
  };
}

/** `os.environ/NAME` is `${NAME}` here. */
function replaceReferences(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/, "${$1}");
  if (Array.isArray(value)) return value.map(replaceReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaceReferences(inner)]));
}

function lineOf(path: string, positions: Readonly<Record<string, Position>>): number {
  for (let known = path; known !== ""; known = known.slice(0, Math.max(0, known.lastIndexOf(".")))) {
    const position = positions[known];
    if (position !== undefined) return position.line;
  }
  return 1;
}

function readCredentials(list: unknown): ReadonlyMap<string, Members> {
  const entries = (Array.isArray(list) ? list : []).filter(isObject);
  return new Map(
    entries.flatMap(({ credential_name: name, credential_values: values }) =>
      typeof name === "string" && isObject(values) ? [[name, values] as const] : [],
    ),
  );
}

function convertSection(
  document: Members,
  section: string,
  converters: Readonly<Record<string, Convert>>,
  { note, checkSetting }: { readonly note: AddNote; readonly checkSetting: CheckSetting },
): Members {
  const members = document[section];
  if (!isObject(members)) return {};
  const converted = Object.entries(members).flatMap(([name, value]) => {
    const path = `${section}.${name}`;
    if (value === null) return [];
    const convert = Object.hasOwn(converters, name)
      ? converters[name]
      : hint("was not converted: there is no such setting");
    return Object.entries(convert?.(value, path, note) ?? {}).filter(([setting, result]) => {
      // The value of a variable is known when the gateway starts.
      const problem = typeof result === "string" && result.includes("${") ? null : checkSetting(setting, result);
      if (problem !== null) note(path, `${setting} ${problem}; set it yourself`);
      return problem === null;
    });
  });
  return Object.fromEntries(converted);
}

/** `[{ "gpt-4o": ["claude"] }]` by name. */
function readFallbacks(document: Members): {
  readonly byName: ReadonlyMap<string, readonly string[]>;
  readonly usual: readonly string[];
} {
  const sections = ["litellm_settings", "router_settings"].map((name) => document[name]).filter(isObject);
  const lists = sections.flatMap(({ fallbacks }) => (Array.isArray(fallbacks) ? fallbacks.filter(isObject) : []));
  const byName = new Map(
    lists.flatMap((one) => Object.entries(one).map(([name, names]) => [name, toTexts(names)] as const)),
  );
  return { byName, usual: sections.flatMap(({ default_fallbacks: names }) => toTexts(names)) };
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function toAliases(
  document: Members,
  groups: ReadonlyMap<string, readonly Tier[]>,
  known: ReadonlySet<string>,
  note: AddNote,
): Record<string, unknown> {
  const { byName, usual } = readFallbacks(document);
  const router = document["router_settings"];
  const renamed = isObject(router) && isObject(router["model_group_alias"]) ? router["model_group_alias"] : {};
  const aliases: Record<string, unknown> = {};
  const add = (name: string, group: string, path: string) => {
    const targets = groups.get(group);
    if (targets === undefined)
      return note(path, `there is no model '${group}' in model_list; '${name}' was not converted`);
    const fallbacks = (byName.get(group) ?? usual).filter((one) => one !== group);
    const others = fallbacks.flatMap((fallback) => {
      if (!groups.has(fallback)) note(path, `the fallback '${fallback}' is not in model_list and was left out`);
      return groups.get(fallback) ?? [];
    });
    const converted = toTargets([...targets, ...others], (message) => note(path, message));
    // Every model can be called by its own name.
    if (converted === name) return;
    const alias = aliasName.test(name)
      ? name
      : toUniqueName(name.replace(/[^A-Za-z0-9_.:@+~=-]+/g, "-"), (one) => one in aliases || groups.has(one));
    const [provider = ""] = name.split("/");
    const instead = known.has(provider) ? `, which is sent to the provider '${provider}'` : "";
    if (alias !== name)
      note(path, `an alias has no slash or space: callers write '${alias}' in place of '${name}'${instead}`);
    aliases[alias] = converted;
  };
  const indexes = new Map<string, number>();
  const list = Array.isArray(document["model_list"]) ? document["model_list"] : [];
  for (const [index, entry] of list.entries())
    if (isObject(entry) && typeof entry["model_name"] === "string" && !indexes.has(entry["model_name"]))
      indexes.set(entry["model_name"], index);
  for (const name of groups.keys()) add(name, name, `model_list.${indexes.get(name)}.model_name`);
  for (const [name, group] of Object.entries(renamed)) {
    const target = isObject(group) ? group["model"] : group;
    add(name, String(target), `router_settings.model_group_alias.${name}`);
  }
  return aliases;
}

/** One model, several in order, or several by weight with the fallbacks last. */
function toTargets(all: readonly Tier[], tell: (message: string) => void): unknown {
  const seen = new Set<string>();
  const isNew = (model: string) => !seen.has(model) && seen.add(model);
  const tiers = all.map((tier) => tier.filter(({ model }) => isNew(model))).filter(({ length }) => length > 0);
  if (tiers.every(({ length }) => length === 1)) {
    const names = tiers.flatMap((tier) => tier.map(({ model }) => model));
    return names.length === 1 ? names[0] : names;
  }
  if (tiers.length > 1) tell("its fallbacks have a very small weight, so that they are tried last");
  const weights = weighTiers(tiers.map((tier) => tier.map(({ weight }) => weight))).flat();
  return tiers.flat().map(({ model }, index) => ({ model, weight: weights[index] ?? 1 }));
}

const sections = new Set(["model_list", "litellm_settings", "router_settings", "general_settings", "credential_list"]);

function noteRest(document: Members, note: AddNote): void {
  for (const [name, value] of Object.entries(document)) {
    if (sections.has(name)) continue;
    if (name === "environment_variables" && isObject(value))
      for (const variable of Object.keys(value))
        note(`${name}.${variable}`, "set this variable in the environment of the gateway");
    else if (name === "include") note(name, "other files are not read: import them one by one");
    else note(name, "was not converted");
  }
}
