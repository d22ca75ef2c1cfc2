// The configuration: one zod schema for the environment and for switchyard.yaml. The only reader of both. A setting of the environment
// overrides the same one in the file.

import { resolve } from "node:path";
import { z } from "zod";
import type { ConfigFile, ConfigProblem, Environment } from "./config/config-file.ts";
import { configVariable, describeProblem, locate, Problems, readConfigFile } from "./config/config-file.ts";
import { type Defaults, defaultsSchema } from "./config/defaults.ts";
import { type OidcSettings, oidcSchema } from "./config/oidc.ts";
import { aliasesSchema, type DeclaredProvider, providersSchema } from "./config/providers.ts";
import { closedObject, toPathIssues } from "./config/schema-parts.ts";
import { fileVariableOf, readSecretFiles, type SecretFiles } from "./config/secret-files.ts";
import {
  camelCaseOf,
  findVariable,
  hasSecretPath,
  isSecret,
  type SettingName,
  settings,
  variableOf,
} from "./config/settings.ts";
import { listTlsWarnings, readTlsFiles, type TlsFiles } from "./config/tls-files.ts";
import type { AliasTarget } from "./contract/model-names.ts";
import { SettingError } from "./errors.ts";
import { suggest } from "./lib/find-nearest.ts";
import { isObject } from "./lib/lenient-json.ts";
import { secretsOfProxy } from "./lib/outgoing-proxy.ts";
import { readPairs } from "./lib/pairs.ts";
import { secretsOfPostgres } from "./lib/postgres-url.ts";

export const configSchema = closedObject(
  {
    ...settings,
    providers: providersSchema,
    aliases: aliasesSchema,
    defaults: defaultsSchema,
    oidc: oidcSchema,
    // The catalogue, which uses the prices, also checks them.
    prices: z.unknown().default(null).describe("Your own prices, in USD per million tokens, by `<provider>/<model>`."),
  },
  "should hold members such as 'port: 8080' or 'providers:'",
  findMemberRemedy,
).superRefine(refuseContradictions);

const litellmMembers = new Set(["model_list", "litellm_settings", "router_settings", "general_settings"]);

/** For names that are right elsewhere. */
function findMemberRemedy(name: string): string | null {
  if (litellmMembers.has(name))
    return "; to convert the configuration of a LiteLLM proxy, run `npx switchyard-gateway config import <file>`";
  const setting = Object.keys(settings).find((one) => variableOf(one) === name);
  return setting === undefined ? null : `; in this file, write '${setting}'`;
}

type ParsedConfig = z.output<typeof configSchema>;
type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;
type SettingValues = { readonly [Name in keyof typeof settings as CamelCase<Name>]: ParsedConfig[Name] };

export interface Config extends SettingValues, Pick<ConfigFile, "file" | "positions"> {
  readonly providers: Readonly<Record<string, DeclaredProvider>>;
  /** Providers that are switched off: `providers: { sandbox: false }`. */
  readonly switchedOff: ReadonlySet<string>;
  readonly aliases: ReadonlyMap<string, readonly AliasTarget[]>;
  /** Limits of new keys and teams. */
  readonly defaults: Defaults;
  /** Null: people sign in with management keys only. */
  readonly oidc: OidcSettings | null;
  /** Settings that probably do not do what the operator intended, one line each. */
  readonly warnings: readonly ConfigProblem[];
  /** The operator's own prices as they are written; the catalogue reads them. */
  readonly prices: unknown;
  /** Where the value of each setting comes from. */
  readonly sources: Readonly<Record<SettingName, SettingSource>>;
  /** The content of the files of `tls_cert` and `tls_key`; null without TLS. */
  readonly tls: TlsFiles | null;
  /** Names of variables in the environment that look like the key or address of a provider. */
  readonly providerVariables: readonly string[];
  /** Read once, so that all processes have the same secrets whatever the files contain by then. */
  readonly secretFiles: SecretFiles;
  /**
   * A setting of the environment that belongs to a provider, e.g. `OPENAI_API_KEY`. Empty counts as unset. Throws a SettingError if a file
   * was to hold it and cannot be used.
   */
  readonly readProviderSetting: (name: string) => string | null;
}

export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];
  /** The configuration without the members that have problems; null: what remains means nothing. */
  readonly partly: Config | null;

  constructor(problems: readonly (ConfigProblem | string)[], partly: Config | null = null) {
    const located = problems.map((one) => (typeof one === "string" ? withoutPlace(one) : one));
    super(located.map(describeProblem).join("\n"));
    this.name = "ConfigError";
    this.problems = located;
    this.partly = partly;
  }
}

function withoutPlace(message: string): ConfigProblem {
  return { path: null, message, file: null, line: null, column: null };
}

/** The environment of this process, with another file where a command names one. */
export function withConfigFile(file: string | undefined): Environment {
  return file === undefined ? process.env : { ...process.env, [configVariable]: file };
}

export function readConfig(environment: Environment = process.env): Config {
  return readAll(environment).config;
}

/** For `switchyard config check`: all problems, and as much of the configuration as further checks can use. */
export function readConfigPartly(environment: Environment = process.env): {
  readonly config: Config | null;
  readonly problems: readonly ConfigProblem[];
} {
  try {
    return { config: readConfig(environment), problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: error.partly, problems: error.problems };
  }
}

function readAll(written: Environment) {
  const problems = new Problems();
  const secretFiles = readSecretFiles(written, (name) => !isOwnVariable(name) || secretVariables.has(name));
  const environment = { ...written, ...secretFiles.values };
  const file = flatten(readConfigFile(environment, secretFiles, problems));
  refuseUnknownVariables(written, problems);
  refuseUnusableFiles(secretFiles, problems);
  const merged = mergeSettings(environment, file);
  const parsed = configSchema.safeParse(merged);
  const addProblem = (path: string, message: string) => {
    const variable = findVariable(path, environment);
    const isOverridden = Object.hasOwn(settings, path) && environment[variable];
    const isFromFile = Object.hasOwn(file.document, path.split(".", 1)[0] ?? "") && !isOverridden;
    if (isFromFile) problems.add(path, message, file);
    else problems.add(Object.hasOwn(secretFiles.values, variable) ? fileVariableOf(variable) : variable, message);
  };
  for (const issue of parsed.error?.issues ?? [])
    for (const { path, message } of toPathIssues(issue)) addProblem(path, message);
  const tls = parsed.success ? readTlsFiles(parsed.data, addProblem) : null;
  const toConfig = (data: ParsedConfig): Config => {
    const { providers, aliases, defaults, oidc, prices, ...values } = data;
    const declared = Object.entries(providers);
    return withEnvironment(
      {
        ...toCamelCase(values),
        dataDir: resolve(values.data_dir),
        file: file.file,
        positions: file.positions,
        providers: Object.fromEntries(
          declared.flatMap(([name, one]) => (one === false ? [] : [[name, withUnsetKeys(name, one ?? {}, file)]])),
        ),
        switchedOff: new Set(declared.flatMap(([name, one]) => (one === false ? [name] : []))),
        aliases: new Map(Object.entries(aliases)),
        defaults,
        oidc,
        prices,
        sources: findSources(written, file),
        tls,
        secretFiles,
        providerVariables: Object.keys(environment).filter(
          (name) => /_(?:API_KEY|BASE_URL)$/.test(name) && !isOwnVariable(name) && environment[name],
        ),
        warnings: [
          ...Array.from(file.unsetKeys, ([path, name]) =>
            locate(path, `the variable ${name} is not set, so this key is not configured`, file),
          ),
          ...(tls === null ? [] : listTlsWarnings(tls, Date.now()).map(withoutPlace)),
        ],
      },
      written,
    );
  };
  if (parsed.success && problems.isEmpty) return { config: toConfig(parsed.data), values: parsed.data, file };
  const wrong = new Set(
    parsed.error?.issues.flatMap((issue) => toPathIssues(issue).map(({ path }) => path.split(".", 1)[0] ?? "")),
  );
  const rest = configSchema.safeParse(Object.fromEntries(Object.entries(merged).filter(([name]) => !wrong.has(name))));
  // Without the declared providers, further checks would report what depends on them.
  const isUsable = rest.success && problems.isFileReadable && !wrong.has("providers");
  throw new ConfigError(problems.list(), isUsable ? toConfig(rest.data) : null);
}

/** Where the value of a setting comes from. */
export type SettingSource =
  | { readonly kind: "default" }
  | { readonly kind: "environment"; readonly variable: string }
  | { readonly kind: "file"; readonly line: number };

function findSources(environment: Environment, file: ConfigFile): Record<SettingName, SettingSource> {
  const names = Object.keys(settings) as SettingName[];
  // The compiler does not follow names through Object.fromEntries.
  return Object.fromEntries(names.map((name) => [name, findSource(name, environment, file)])) as Record<
    SettingName,
    SettingSource
  >;
}

function findSource(name: SettingName, environment: Environment, { document, positions }: ConfigFile): SettingSource {
  const variable = findVariable(name, environment);
  if (environment[variable]) return { kind: "environment", variable };
  if (environment[fileVariableOf(variable)] && isSecret(name))
    return { kind: "environment", variable: fileVariableOf(variable) };
  const isWritten = document[name] !== undefined && document[name] !== null && document[name] !== "";
  return isWritten ? { kind: "file", line: positions[name]?.line ?? 1 } : { kind: "default" };
}

function refuseUnusableFiles(files: SecretFiles, problems: Problems): void {
  for (const [variable, problem] of Object.entries(files.problems))
    if (secretVariables.has(variable)) problems.add(fileVariableOf(variable), problem);
}

/** The environment of this process with other values of some variables. */
export function withSettings(changes: Environment): Environment {
  return { ...process.env, ...changes };
}

/** The file's document with the settings of the environment in it. Empty values count as unset. */
function mergeSettings(environment: Environment, { document }: ConfigFile): Record<string, unknown> {
  const variables = Object.keys(settings).map((name) => [name, environment[findVariable(name, environment)]] as const);
  const given = [...Object.entries(document), ...variables.filter(([, value]) => value)];
  return Object.fromEntries(given.filter(([, value]) => value !== null && value !== ""));
}

function withUnsetKeys(
  name: string,
  { deployments, ...provider }: Exclude<ParsedConfig["providers"][string], false | null>,
  { unsetKeys }: ConfigFile,
): DeclaredProvider {
  const withUnsetKey = <T extends object>(path: string, one: T) => {
    const variable = unsetKeys.get(`${path}.api_key`);
    return variable === undefined ? one : { ...one, unset_key: variable };
  };
  const path = `providers.${name}`;
  return {
    ...withUnsetKey(path, provider),
    ...(deployments === undefined
      ? {}
      : { deployments: deployments.map((one, index) => withUnsetKey(`${path}.deployments.${index}`, one)) }),
  };
}

function toCamelCase(
  values: Omit<ParsedConfig, "providers" | "aliases" | "defaults" | "oidc" | "prices">,
): SettingValues {
  // The compiler does not follow names through Object.fromEntries.
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [camelCaseOf(name), value]),
  ) as unknown as SettingValues;
}

/** A configuration without its functions, as one process sends it to another. */
export type ConfigSnapshot = Omit<Config, "readProviderSetting" | "aliases"> & {
  readonly aliases: readonly (readonly [string, readonly AliasTarget[]])[];
};

export function toSnapshot({ readProviderSetting: _, aliases, ...values }: Config): ConfigSnapshot {
  return { ...values, aliases: [...aliases] };
}

export function fromSnapshot(snapshot: ConfigSnapshot, environment: Environment = process.env): Config {
  return withEnvironment({ ...snapshot, aliases: new Map(snapshot.aliases) }, environment);
}

function withEnvironment(config: Omit<Config, "readProviderSetting">, environment: Environment): Config {
  const { values, problems } = config.secretFiles;
  const readProviderSetting = (name: string) => {
    const problem = problems[name];
    if (problem !== undefined) throw new SettingError(fileVariableOf(name), problem);
    return environment[name] || values[name] || null;
  };
  return { ...config, readProviderSetting };
}

const secretVariables: ReadonlySet<string> = new Set(Object.keys(settings).filter(isSecret).map(variableOf));

function isOwnVariable(name: string): boolean {
  return name.startsWith("SWITCHYARD_");
}

// Variables of clients, which an operator's shell may hold as well.
const clientVariables = new Set(["SWITCHYARD_KEY", "SWITCHYARD_URL", "SWITCHYARD_MANAGEMENT_KEY"]);
// Kubernetes sets these in every pod beside a service that is called `switchyard`.
const serviceVariable = /^SWITCHYARD_(?:SERVICE_(?:HOST|PORT)\w*|PORT_\d+_(?:TCP|UDP|SCTP)\w*)$/;

/** A misspelt name would otherwise leave the default in force without a message. */
function refuseUnknownVariables(environment: Environment, problems: Problems): void {
  const variables = Object.keys(settings).map(variableOf);
  const names = [configVariable, ...variables, ...Array.from(secretVariables, fileVariableOf)];
  for (const name of Object.keys(environment)) {
    if (!isOwnVariable(name) || names.includes(name)) continue;
    if (clientVariables.has(name) || serviceVariable.test(name)) continue;
    const message = variables.some((variable) => fileVariableOf(variable) === name)
      ? "only secrets are read from files; set the value itself"
      : `unknown setting${suggest(name, names) || "."} docs/settings.md lists all settings`;
    problems.add(name, message);
  }
}

/** The log format as far as the environment states it: for failures before there is a configuration. */
export function readLogFormat(environment: Environment = process.env): "json" | "text" | "auto" {
  const written = environment[variableOf("log_format")];
  return written === "json" || written === "text" ? written : "auto";
}

/** The data folder, also when the configuration has other problems: for commands that talk to a running gateway. */
export function findDataDir(environment: Environment = process.env): string {
  try {
    return readConfig(environment).dataDir;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return resolve(environment[variableOf("data_dir")] || settings.data_dir.parse(undefined));
  }
}

/** Which npm started this process, and on which Node; null where the environment does not say. */
export function readLauncher(environment: Environment = process.env) {
  return { npmScript: environment["npm_execpath"] || null, nodePath: environment["npm_node_execpath"] || null };
}

/** Settings from the command line: they override the environment and the file whenever the configuration is read. */
export function overrideSettings(values: Readonly<Record<string, string>>): void {
  Object.assign(process.env, values);
}

/** The environment of a serving process. Bun reads its limit of concurrent outgoing requests only there, at start. */
export function childEnvironment(): Record<string, string | undefined> {
  return { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...process.env };
}

/** All values of the settings that must not appear in a log. */
export function secretsOf(config: Config): string[] {
  const database = config.databaseUrl === null ? [] : secretsOfPostgres(config.databaseUrl);
  const sealing = (config.encryptionKey ?? "").split(",").map((key) => key.trim());
  const bucket = [config.filesS3SecretAccessKey ?? "", config.filesS3SessionToken ?? ""];
  const proxies = [config.egressProxy, config.httpsProxy].flatMap((proxy) =>
    proxy === null ? [] : secretsOfProxy(proxy),
  );
  const { budgetAlertWebhook, otelExporterOtlpEndpoint, otelExporterOtlpTracesEndpoint } = config;
  const receivers = [budgetAlertWebhook, otelExporterOtlpEndpoint, otelExporterOtlpTracesEndpoint].flatMap(
    (address) => {
      const url = address === null ? null : URL.parse(address);
      return address !== null && url !== null && hasSecretPath(url) ? [address] : [];
    },
  );
  const issuer = config.oidc?.client_secret ?? "";
  const headers =
    config.otelExporterOtlpHeaders === null ? [] : Object.values(readPairs(config.otelExporterOtlpHeaders));
  return [
    config.adminKey ?? "",
    issuer,
    ...bucket,
    ...proxies,
    ...receivers,
    ...headers,
    ...sealing,
    ...database,
  ].filter((secret) => secret !== "");
}

/** How the store is opened. */
export function storageSettings({ databaseUrl, dataDir, encryptionKey, storeTimeoutMs: deadlineMs }: Config) {
  return { databaseUrl, dataDir, encryptionKey, deadlineMs };
}

type Contradiction = Pick<
  z.output<z.ZodObject<typeof settings>>,
  | "responses_store_for_all"
  | "encryption_key"
  | "files_s3_bucket"
  | "files_s3_access_key_id"
  | "files_s3_secret_access_key"
  | "admin_port"
  | "metrics_port"
  | "port"
>;

function refuseContradictions(config: Contradiction, context: z.RefinementCtx): void {
  const refuse = (member: keyof Contradiction, message: string) =>
    context.addIssue({ code: "custom", path: [member], message });
  if (config.responses_store_for_all && config.encryption_key === null)
    refuse(
      "responses_store_for_all",
      "needs SWITCHYARD_ENCRYPTION_KEY, which encrypts stored conversations; make one with: openssl rand -base64 32",
    );
  const { files_s3_access_key_id: keyId, files_s3_secret_access_key: secret } = config;
  if (config.files_s3_bucket !== null && (keyId === null || secret === null))
    refuse(
      "files_s3_bucket",
      "needs SWITCHYARD_FILES_S3_ACCESS_KEY_ID and SWITCHYARD_FILES_S3_SECRET_ACCESS_KEY; set both",
    );
  const ports = [
    ["SWITCHYARD_PORT", config.port],
    ["SWITCHYARD_ADMIN_PORT", config.admin_port],
  ] as const;
  for (const [member, before] of [["admin_port", ports.slice(0, 1)] as const, ["metrics_port", ports] as const]) {
    const same = before.find(([, port]) => port !== null && port === config[member]);
    if (same !== undefined)
      refuse(member, `is ${config[member]}, as ${same[0]} is; choose another port for one of them`);
  }
}

/** `responses: { store_for_all: true }` is another way to write `responses_store_for_all: true`. */
function flatten(file: ConfigFile): ConfigFile {
  const { responses, ...others } = file.document;
  if (!isObject(responses)) return file;
  const document: Record<string, unknown> = { ...others };
  const positions = { ...file.positions };
  for (const [name, value] of Object.entries(responses)) {
    document[`responses_${name}`] = value;
    positions[`responses_${name}`] = positions[`responses.${name}`] ?? { line: 1, column: 1 };
  }
  return { ...file, document, positions };
}
