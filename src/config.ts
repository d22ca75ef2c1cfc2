// The configuration: one zod schema for the environment and for switchyard.yaml. The only reader of both. A setting of the environment
// overrides the same one in the file.

import { resolve } from "node:path";
import { z } from "zod";
import { type ConfigFile, describeLocation, type Environment, Problems, readConfigFile } from "./config/config-file.ts";
import { type Defaults, defaultsSchema } from "./config/defaults.ts";
import { type OidcSettings, oidcSchema } from "./config/oidc.ts";
import { aliasesSchema, type DeclaredProvider, providersSchema } from "./config/providers.ts";
import { closedObject, toPathIssues } from "./config/schema-parts.ts";
import { findVariable, settings, variableOf } from "./config/settings.ts";
import type { AliasTarget } from "./contract/model-names.ts";
import { suggest } from "./lib/find-nearest.ts";
import { isObject } from "./lib/lenient-json.ts";
import { secretsOfProxy } from "./lib/outgoing-proxy.ts";

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
).superRefine(refuseContradictions);

type ParsedConfig = z.output<typeof configSchema>;
type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;
type SettingValues = { readonly [Name in keyof typeof settings as CamelCase<Name>]: ParsedConfig[Name] };

export interface Config extends SettingValues, Pick<ConfigFile, "file" | "lines"> {
  readonly providers: Readonly<Record<string, DeclaredProvider>>;
  /** Providers that are switched off: `providers: { sandbox: false }`. */
  readonly switchedOff: ReadonlySet<string>;
  readonly aliases: ReadonlyMap<string, readonly AliasTarget[]>;
  /** Limits of new keys and teams. */
  readonly defaults: Defaults;
  /** Null: people sign in with management keys only. */
  readonly oidc: OidcSettings | null;
  /** Settings that probably do not do what the operator intended, one line each. */
  readonly warnings: readonly string[];
  /** The operator's own prices as they are written; the catalogue reads them. */
  readonly prices: unknown;
  /** A setting of the environment that belongs to a provider, e.g. `OPENAI_API_KEY`. Empty counts as unset. */
  readonly readProviderSetting: (name: string) => string | null;
}

export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
  }
}

export function readConfig(environment: Environment = process.env): Config {
  const problems = new Problems();
  const file = flatten(readConfigFile(environment, problems));
  refuseUnknownVariables(environment, problems);
  const parsed = configSchema.safeParse(mergeSettings(environment, file));
  for (const issue of parsed.error?.issues ?? [])
    for (const { path, message } of toPathIssues(issue)) {
      const variable = findVariable(path, environment);
      const isFromFile = Object.hasOwn(file.document, path.split(".", 1)[0] ?? "") && !environment[variable];
      if (isFromFile) problems.add(path, message, file);
      else problems.add(variable, message);
    }
  if (!parsed.success || !problems.isEmpty) throw new ConfigError(problems.list());
  const { providers, aliases, defaults, oidc, prices, ...values } = parsed.data;
  const declared = Object.entries(providers);
  return withEnvironment(
    {
      ...toCamelCase(values),
      dataDir: resolve(values.data_dir),
      file: file.file,
      lines: file.lines,
      providers: Object.fromEntries(
        declared.flatMap(([name, one]) => (one === false ? [] : [[name, withUnsetKeys(name, one ?? {}, file)]])),
      ),
      switchedOff: new Set(declared.flatMap(([name, one]) => (one === false ? [name] : []))),
      aliases: new Map(Object.entries(aliases)),
      defaults,
      oidc,
      prices,
      warnings: Array.from(
        file.unsetKeys,
        ([path, name]) =>
          `${describeLocation(path, file)}: the variable ${name} is not set, so this key is not configured`,
      ),
    },
    environment,
  );
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
  const camelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  // The compiler does not follow names through Object.fromEntries.
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [camelCase(name), value]),
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
  return { ...config, readProviderSetting: (name) => environment[name] || null };
}

// Variables of clients, which an operator's shell may hold as well.
const clientVariables = new Set(["SWITCHYARD_KEY", "SWITCHYARD_URL", "SWITCHYARD_MANAGEMENT_KEY"]);
// Kubernetes sets these in every pod beside a service that is called `switchyard`.
const serviceVariable = /^SWITCHYARD_(?:SERVICE_(?:HOST|PORT)\w*|PORT_\d+_(?:TCP|UDP|SCTP)\w*)$/;

/** A misspelt name would otherwise leave the default in force without a message. */
function refuseUnknownVariables(environment: Environment, problems: Problems): void {
  const names = ["SWITCHYARD_CONFIG", ...Object.keys(settings).map(variableOf)];
  for (const name of Object.keys(environment)) {
    if (!name.startsWith("SWITCHYARD_") || names.includes(name)) continue;
    if (clientVariables.has(name) || serviceVariable.test(name)) continue;
    problems.add(name, `unknown setting${suggest(name, names) || "."} docs/settings.md lists all settings`);
  }
}

/** The log format as far as the environment states it: for failures before there is a configuration. */
export function readLogFormat(environment: Environment = process.env): "json" | "text" | "auto" {
  const written = environment[variableOf("log_format")];
  return written === "json" || written === "text" ? written : "auto";
}

/** Which npm started this process, and on which Node; null where the environment does not say. */
export function readLauncher(environment: Environment = process.env) {
  return { npmScript: environment["npm_execpath"] || null, nodePath: environment["npm_node_execpath"] || null };
}

/** The environment of a serving process. Bun reads its limit of concurrent outgoing requests only there, at start. */
export function childEnvironment(): Record<string, string | undefined> {
  return { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...process.env };
}

/** All values of the settings that must not appear in a log. */
export function secretsOf(config: Config): string[] {
  const password = config.databaseUrl === null ? "" : (URL.parse(config.databaseUrl)?.password ?? "");
  const sealing = (config.encryptionKey ?? "").split(",").map((key) => key.trim());
  const bucket = [config.filesS3SecretAccessKey ?? "", config.filesS3SessionToken ?? ""];
  const proxies = [config.egressProxy, config.httpsProxy].flatMap((proxy) =>
    proxy === null ? [] : secretsOfProxy(proxy),
  );
  const issuer = config.oidc?.client_secret ?? "";
  return [
    config.adminKey ?? "",
    issuer,
    ...bucket,
    ...proxies,
    ...sealing,
    password,
    decodeURIComponent(password),
  ].filter((secret) => secret !== "");
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
  const lines: Record<string, number> = { ...file.lines };
  for (const [name, value] of Object.entries(responses)) {
    document[`responses_${name}`] = value;
    lines[`responses_${name}`] = lines[`responses.${name}`] ?? 1;
  }
  return { ...file, document, lines };
}
