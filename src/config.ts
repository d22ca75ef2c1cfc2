// Every setting once: its name, default and meaning. The only reader of the environment and of switchyard.yaml.
// A setting of the environment wins over the same one in the file.

import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { tasks } from "./contract/tasks.ts";
import { createAddressRanges, readServerAddress } from "./lib/addresses.ts";
import { findNearest } from "./lib/find-nearest.ts";
import { readProxy, secretsOfProxy } from "./lib/outgoing-proxy.ts";
import { parseSealingKeys } from "./lib/seal.ts";
import type { LogLevel } from "./log.ts";

interface Setting<T> {
  readonly name: string;
  readonly meaning: string;
  /** As it is shown in the documents. */
  readonly shownDefault: string;
  readonly fallback: () => T;
  readonly parse: (text: string) => T;
}

const hour = 3_600_000;

export const settings = {
  host: text("SWITCHYARD_HOST", "127.0.0.1", "address that the public listener binds"),
  port: whole("SWITCHYARD_PORT", 8080, 0, 65_535, "port of the public listener"),
  adminPort: optional(
    whole("SWITCHYARD_ADMIN_PORT", 0, 1, 65_535, "when set, `/v3/manage/*` is served on this port and nowhere else"),
  ),
  dataDir: text(
    "SWITCHYARD_DATA_DIR",
    "./data",
    "folder of the SQLite file and of everything else that is kept on disk",
  ),
  databaseUrl: optional(text("DATABASE_URL", "", "`postgres://…` keeps everything in PostgreSQL; unset is SQLite")),
  adminKey: optional(
    text(
      "SWITCHYARD_ADMIN_KEY",
      "",
      "management key, at least 16 characters; unset prints a generated one at first start",
    ),
  ),
  workers: whole("SWITCHYARD_WORKERS", availableParallelism, 1, 256, "serving processes", "number of cores"),
  egressAllow: list("SWITCHYARD_EGRESS_ALLOW", "CIDRs that are exempt from the egress guard, separated by commas"),
  egressDns: list(
    "SWITCHYARD_EGRESS_DNS",
    "servers, `address` or `address:port`, that look up the hosts of file, image and webhook addresses; unset is the system's way",
  ),
  egressProxy: optional(
    text(
      "SWITCHYARD_EGRESS_PROXY",
      "",
      "`http://[user:password@]host:port` of a proxy for file, image and webhook addresses; they are checked all the same",
    ),
  ),
  maxBodyBytes: whole("SWITCHYARD_MAX_BODY_BYTES", 20 * 1_048_576, 1_024, 2 ** 30, "largest JSON body"),
  bodyTimeoutMs: whole("SWITCHYARD_BODY_TIMEOUT_MS", 60_000, 100, hour, "how long a request's body may take to arrive"),
  connectTimeoutMs: whole(
    "SWITCHYARD_CONNECT_TIMEOUT_MS",
    10_000,
    100,
    hour,
    "clock 1: until the connection to a provider stands",
  ),
  firstByteTimeoutMs: whole(
    "SWITCHYARD_FIRST_BYTE_TIMEOUT_MS",
    300_000,
    100,
    hour,
    "clock 2: until the first event of a stream, or the head of another answer",
  ),
  idleTimeoutMs: whole("SWITCHYARD_IDLE_TIMEOUT_MS", 60_000, 100, hour, "clock 3: silence between a stream's events"),
  totalTimeoutMs: whole("SWITCHYARD_TOTAL_TIMEOUT_MS", 1_800_000, 100, 24 * hour, "clock 4: a provider's whole answer"),
  retries: whole("SWITCHYARD_RETRIES", 2, 0, 10, "how often a failed call is made again when there is no other offer"),
  breakerFailures: whole(
    "SWITCHYARD_BREAKER_FAILURES",
    20,
    0,
    100_000,
    "failures of an offer within the window, being at least half of its calls, that open its circuit; 0 is never",
  ),
  breakerWindowMs: whole("SWITCHYARD_BREAKER_WINDOW_MS", 30_000, 100, hour, "window in which failures are counted"),
  breakerOpenMs: whole(
    "SWITCHYARD_BREAKER_OPEN_MS",
    10_000,
    100,
    hour,
    "how long an open circuit waits before one call is let through as a probe; doubles up to eight times this",
  ),
  pricesFile: optional(
    text(
      "SWITCHYARD_PRICES_FILE",
      "",
      "a newer file of prices; one that is not sound is logged and the built-in one stays",
    ),
  ),
  responsesStoreForAll: yesOrNo(
    "SWITCHYARD_RESPONSES_STORE_FOR_ALL",
    "`true`: the gateway itself keeps conversations of `/v3/responses`, sealed, for every provider; in the file `responses: { store_for_all: true }`",
  ),
  responsesLifetimeDays: whole(
    "SWITCHYARD_RESPONSES_LIFETIME_DAYS",
    30,
    1,
    3_650,
    "how long a response can be asked for and gone on from",
  ),
  encryptionKey: optional(
    text(
      "SWITCHYARD_ENCRYPTION_KEY",
      "",
      "seals what is kept of conversations: 32 bytes as base64 or hex; several, separated by commas, open what older ones sealed",
    ),
  ),
  maxFileBytes: whole(
    "SWITCHYARD_MAX_FILE_BYTES",
    100 * 1_048_576,
    1_024,
    2 ** 31 - 1,
    "largest file, uploaded or fetched",
  ),
  filesMaxOwnerBytes: whole(
    "SWITCHYARD_FILES_MAX_OWNER_BYTES",
    10 * 2 ** 30,
    1_024,
    2 ** 50,
    "largest sum of the files that one owner has uploaded",
  ),
  uploadTimeoutMs: whole(
    "SWITCHYARD_UPLOAD_TIMEOUT_MS",
    900_000,
    1_000,
    24 * hour,
    "how long an upload may take; silence is bounded by SWITCHYARD_BODY_TIMEOUT_MS",
  ),
  resourceLifetimeHours: whole(
    "SWITCHYARD_RESOURCE_LIFETIME_HOURS",
    24,
    1,
    720,
    "how long the addresses of binary results work",
  ),
  filesS3Bucket: optional(
    text("SWITCHYARD_FILES_S3_BUCKET", "", "keeps files in this bucket; unset is the data folder"),
  ),
  filesS3Endpoint: optional(text("SWITCHYARD_FILES_S3_ENDPOINT", "", "address of the S3 service, when it is not AWS")),
  filesS3Region: optional(text("SWITCHYARD_FILES_S3_REGION", "", "region of the bucket")),
  filesS3AccessKeyId: optional(text("SWITCHYARD_FILES_S3_ACCESS_KEY_ID", "", "needed with a bucket")),
  filesS3SecretAccessKey: optional(text("SWITCHYARD_FILES_S3_SECRET_ACCESS_KEY", "", "needed with a bucket")),
  filesS3SessionToken: optional(text("SWITCHYARD_FILES_S3_SESSION_TOKEN", "", "with credentials that run out")),
  filesS3Prefix: text("SWITCHYARD_FILES_S3_PREFIX", "files/", "what the names of files begin with in the bucket"),
  localWorkers: optional(
    whole(
      "SWITCHYARD_LOCAL_WORKERS",
      1,
      1,
      256,
      "processes for local engines, per serving process; unset is the cores that are left",
    ),
  ),
  localMaxWaiting: whole("SWITCHYARD_LOCAL_MAX_WAITING", 64, 1, 100_000, "local tasks that may wait for a process"),
  localMaxWaitingPerOwner: whole(
    "SWITCHYARD_LOCAL_MAX_WAITING_PER_OWNER",
    16,
    1,
    100_000,
    "local tasks of one owner that may wait for a process; one more is answered with 429",
  ),
  localTextTimeoutMs: whole(
    "SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS",
    30_000,
    100,
    24 * hour,
    "how long a local engine may work on one text; the process that takes longer is ended",
  ),
  localMediaTimeoutMs: whole(
    "SWITCHYARD_LOCAL_MEDIA_TIMEOUT_MS",
    120_000,
    100,
    24 * hour,
    "the same for documents, images and speech, and for texts that a neural model or the grammar rules read",
  ),
  localJobTimeoutMs: whole(
    "SWITCHYARD_LOCAL_JOB_TIMEOUT_MS",
    1_800_000,
    100,
    24 * hour,
    "the same for local tasks that run as jobs only: long recordings, documents of many pages",
  ),
  localIdleMs: whole(
    "SWITCHYARD_LOCAL_IDLE_MS",
    300_000,
    1_000,
    24 * hour,
    "after which an idle process of a local engine ends",
  ),
  localMemoryMb: whole("SWITCHYARD_LOCAL_MEMORY_MB", 1_536, 128, 65_536, "largest process of a local engine"),
  jobWorkers: whole(
    "SWITCHYARD_JOB_WORKERS",
    1,
    0,
    64,
    "working processes, which run jobs and report them, beside the serving ones; 0 leaves it to `switchyard work`",
  ),
  jobsAtOnce: whole("SWITCHYARD_JOBS_AT_ONCE", 32, 1, 10_000, "jobs that a working process runs at once"),
  jobTimeoutMs: whole(
    "SWITCHYARD_JOB_TIMEOUT_MS",
    6 * hour,
    1_000,
    7 * 24 * hour,
    "how long a job may take from its acceptance to its end",
  ),
  jobLifetimeDays: whole("SWITCHYARD_JOB_LIFETIME_DAYS", 7, 1, 365, "how long a job and its result can be asked for"),
  deliveriesAtOnce: whole(
    "SWITCHYARD_DELIVERIES_AT_ONCE",
    512,
    1,
    10_000,
    "webhooks that a working process delivers at once",
  ),
  deliveriesPerHost: whole("SWITCHYARD_DELIVERIES_PER_HOST", 32, 1, 10_000, "of these, to one host"),
  publicUrl: optional(
    text(
      "SWITCHYARD_PUBLIC_URL",
      "",
      "where callers reach the gateway, for the addresses of binary results; else as they called it",
    ),
  ),
  heartbeatMs: whole(
    "SWITCHYARD_HEARTBEAT_MS",
    15_000,
    50,
    240_000,
    "silence after which a stream gets a comment line",
  ),
  drainDelayMs: whole(
    "SWITCHYARD_DRAIN_DELAY_MS",
    1_000,
    0,
    hour,
    "after SIGTERM: how long new requests are still served while `/readyz` says no",
  ),
  drainTimeoutMs: whole("SWITCHYARD_DRAIN_TIMEOUT_MS", 30_000, 0, hour, "then: how long running requests may finish"),
  keysStaleAfterMs: whole(
    "SWITCHYARD_KEYS_STALE_AFTER_MS",
    hour,
    100,
    24 * hour,
    "how long known keys are served from memory while the store is away",
  ),
  logLevel: oneOf<LogLevel>("SWITCHYARD_LOG_LEVEL", "info", ["debug", "info", "warn", "error"], "least level logged"),
  logFormat: oneOf<"json" | "text" | "auto">(
    "SWITCHYARD_LOG_FORMAT",
    "auto",
    ["json", "text", "auto"],
    "`auto` is text on a terminal and JSON lines elsewhere",
  ),
} as const;

type Settings = typeof settings;
type SettingValues = { readonly [K in keyof Settings]: ReturnType<Settings[K]["parse"]> };

/** What switchyard.yaml says of one provider: overrides of a known row, or a new one. */
export interface DeclaredProvider extends DeclaredDeployment {
  readonly dialect?: string;
  readonly stream_usage?: string;
  readonly stream_end?: string;
  readonly responses?: string;
  readonly tasks?: readonly string[];
  readonly deployments?: readonly DeclaredDeployment[];
}

/** One of several addresses or keys of a provider. */
export interface DeclaredDeployment {
  readonly name?: string;
  readonly base_url?: string;
  readonly api_key?: string;
  readonly weight?: number;
  readonly models?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** What each member of a declared provider has to be. */
const deploymentMembers: Readonly<Record<string, (value: unknown) => boolean>> = {
  base_url: (value) => value === "" || (typeof value === "string" && /^https?:\/\/[^/?#\s]+[^?#\s]*$/.test(value)),
  api_key: (value) => typeof value === "string",
  models: (value) => Array.isArray(value) && value.every((model) => typeof model === "string"),
  headers: (value) => isRecord(value) && Object.values(value).every((text) => typeof text === "string"),
};

const providerMembers: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...deploymentMembers,
  dialect: (value) => typeof value === "string",
  stream_usage: (value) => typeof value === "string",
  stream_end: (value) => typeof value === "string",
  responses: (value) => typeof value === "string",
  tasks: (value) => Array.isArray(value) && value.every((task) => isTaskName(String(task))),
};

const oneOfSeveral: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...deploymentMembers,
  name: (value) => typeof value === "string" && /^[A-Za-z0-9._-]{1,64}$/.test(value),
  weight: (value) => typeof value === "number" && value > 0 && value <= 1_000_000,
};

export interface Config extends SettingValues {
  /** The file that was read, if there was one. */
  readonly file: string | null;
  readonly providers: Readonly<Record<string, DeclaredProvider>>;
  readonly aliases: ReadonlyMap<string, readonly AliasTarget[]>;
  /** The operator's own prices as they are written; the catalogue reads them. */
  readonly prices: unknown;
  /** A setting of the environment that belongs to a provider, e.g. `OPENAI_API_KEY`. Empty counts as unset. */
  readonly readProviderSetting: (name: string) => string | null;
}

/** Says what is wrong with the settings, all of it, one line each. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment = process.env): Config {
  const problems: string[] = [];
  const file = findFile(environment, problems);
  const document = flatten(file === null ? {} : readFile(file, environment, problems));
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(settings)) {
    const written = environment[setting.name] || asText(document[fileName(setting.name)]);
    try {
      values[key] = written === undefined || written === "" ? setting.fallback() : setting.parse(written);
    } catch (error) {
      problems.push(`${setting.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const known = new Set(Object.values(settings).map((setting) => fileName(setting.name)));
  for (const member of Object.keys(document)) {
    if (!["providers", "aliases", "prices"].includes(member) && !known.has(member))
      problems.push(`${file}: unknown member '${member}'`);
  }
  const providers = readProviders(document["providers"], problems);
  const aliases = readAliases(document["aliases"], problems);
  const prices = document["prices"] ?? null;
  const config = { ...values, file, providers, aliases, prices } as unknown as Config;
  if (problems.length === 0) problems.push(...contradictions(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    ...config,
    dataDir: resolve(config.dataDir),
    readProviderSetting: (name) => environment[name] || null,
  };
}

/** How this process was started: by npm, and on which Node. Null where it does not say. */
export function readLauncher(environment: Environment = process.env) {
  return { npmScript: environment["npm_execpath"] || null, nodePath: environment["npm_node_execpath"] || null };
}

/** The environment of a serving process. Bun reads the number of outgoing requests at once only there, at start. */
export function childEnvironment(): Record<string, string | undefined> {
  return { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...process.env };
}

/** Everything in the settings that must appear in no log. */
export function secretsOf(config: Config): string[] {
  const password = config.databaseUrl === null ? "" : (URL.parse(config.databaseUrl)?.password ?? "");
  const sealing = (config.encryptionKey ?? "").split(",").map((key) => key.trim());
  const bucket = [config.filesS3SecretAccessKey ?? "", config.filesS3SessionToken ?? ""];
  const proxy = config.egressProxy === null ? [] : secretsOfProxy(config.egressProxy);
  return [config.adminKey ?? "", ...bucket, ...proxy, ...sealing, password, decodeURIComponent(password)].filter(
    (secret) => secret !== "",
  );
}

function contradictions(config: Config): string[] {
  const problems: string[] = [];
  if (config.responsesStoreForAll && config.encryptionKey === null)
    problems.push(
      "SWITCHYARD_RESPONSES_STORE_FOR_ALL: needs SWITCHYARD_ENCRYPTION_KEY, with which conversations are sealed",
    );
  if (config.filesS3Bucket !== null && (config.filesS3AccessKeyId === null || config.filesS3SecretAccessKey === null))
    problems.push("SWITCHYARD_FILES_S3_BUCKET: needs SWITCHYARD_FILES_S3_ACCESS_KEY_ID and …_SECRET_ACCESS_KEY");
  if (config.publicUrl !== null && !/^https?:\/\/[^/?#\s]+[^?#\s]*$/.test(config.publicUrl))
    problems.push("SWITCHYARD_PUBLIC_URL: should be an address such as https://gateway.example");
  try {
    if (config.encryptionKey !== null) parseSealingKeys(config.encryptionKey);
  } catch (error) {
    problems.push(`SWITCHYARD_ENCRYPTION_KEY: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    createAddressRanges(config.egressAllow);
  } catch (error) {
    problems.push(`SWITCHYARD_EGRESS_ALLOW: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    for (const server of config.egressDns) readServerAddress(server);
  } catch (error) {
    problems.push(`SWITCHYARD_EGRESS_DNS: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    if (config.egressProxy !== null) readProxy(config.egressProxy);
  } catch (error) {
    problems.push(`SWITCHYARD_EGRESS_PROXY: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (config.adminKey !== null && config.adminKey.length < 16)
    problems.push("SWITCHYARD_ADMIN_KEY: needs at least 16 characters");
  if (config.databaseUrl !== null && !/^postgres(ql)?:\/\//.test(config.databaseUrl))
    problems.push("DATABASE_URL: should start with postgres://");
  if (config.adminPort !== null && config.adminPort === config.port)
    problems.push("SWITCHYARD_ADMIN_PORT: is the public port too");
  return problems;
}

/** `SWITCHYARD_LOG_LEVEL` in the environment is `log_level` in the file. */
function fileName(setting: string): string {
  return setting.replace(/^SWITCHYARD_/, "").toLowerCase();
}

function findFile(environment: Environment, problems: string[]): string | null {
  const named = environment["SWITCHYARD_CONFIG"];
  if (named === undefined || named === "") return existsSync("switchyard.yaml") ? resolve("switchyard.yaml") : null;
  if (existsSync(named)) return resolve(named);
  problems.push(`SWITCHYARD_CONFIG: there is no file ${named}`);
  return null;
}

function readFile(file: string, environment: Environment, problems: string[]): Record<string, unknown> {
  let document: unknown;
  try {
    document = Bun.YAML.parse(readFileSync(file, "utf8"));
  } catch (error) {
    problems.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
  if (document === null || document === undefined) return {};
  if (!isRecord(document)) {
    problems.push(`${file}: should hold members such as 'providers:'`);
    return {};
  }
  return fillVariables(document, environment) as Record<string, unknown>;
}

/** `responses: { store_for_all: true }` is another way to write `responses_store_for_all: true`. */
function flatten(document: Record<string, unknown>): Record<string, unknown> {
  const { responses, ...others } = document;
  if (!isRecord(responses)) return document;
  return {
    ...others,
    ...Object.fromEntries(Object.entries(responses).map(([name, value]) => [`responses_${name}`, value])),
  };
}

/** `${NAME}` in any text of the file. A variable that is not set leaves nothing: the provider is then not configured. */
function fillVariables(value: unknown, environment: Environment): unknown {
  if (typeof value === "string")
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => environment[name] ?? "");
  if (Array.isArray(value)) return value.map((element) => fillVariables(element, environment));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fillVariables(inner, environment)]));
}

function readProviders(value: unknown, problems: string[]): Record<string, DeclaredProvider> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) {
    problems.push("providers: should be a list of names with their settings");
    return {};
  }
  const providers: Record<string, DeclaredProvider> = {};
  for (const [name, declared] of Object.entries(value)) {
    if (!/^[a-z0-9_][a-z0-9_-]*$/.test(name))
      problems.push(`providers.${name}: a name is lower case, digits and hyphens`);
    else if (declared !== null && !isRecord(declared)) problems.push(`providers.${name}: should hold settings`);
    else {
      const { deployments, ...members } = declared ?? {};
      checkMembers(`providers.${name}`, members, providerMembers, problems);
      checkTasks(`providers.${name}.tasks`, members["tasks"], problems);
      checkDeployments(`providers.${name}.deployments`, deployments, problems);
      providers[name] = declared ?? {};
    }
  }
  return providers;
}

function checkMembers(
  place: string,
  members: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, (value: unknown) => boolean>>,
  problems: string[],
): void {
  for (const [member, value] of Object.entries(members)) {
    const isRight = Object.hasOwn(known, member) ? known[member] : undefined;
    if (isRight === undefined) problems.push(`${place}: unknown member '${member}'`);
    else if (!isRight(value)) problems.push(`${place}.${member}: has the wrong form`);
  }
}

/** A task that nobody asks for would be a provider that nobody finds. */
function checkTasks(place: string, value: unknown, problems: string[]): void {
  const declared = Array.isArray(value) ? value.map(String) : [];
  const known = tasks.map(({ feature, subfeature }) => `${feature}/${subfeature}`);
  for (const task of declared.filter(isTaskName)) {
    if (!known.includes(task))
      problems.push(`${place}: there is no task '${task}'; the nearest is '${findNearest(task, known)}'`);
  }
}

function isTaskName(text: string): boolean {
  return /^[a-z0-9_]+\/[a-z0-9_]+$/.test(text);
}

function checkDeployments(place: string, value: unknown, problems: string[]): void {
  if (value === undefined) return;
  if (!Array.isArray(value) || value.length === 0) {
    problems.push(`${place}: should be a list with at least one deployment`);
    return;
  }
  const names = new Set<unknown>();
  for (const [index, deployment] of value.entries()) {
    if (!isRecord(deployment)) {
      problems.push(`${place}.${index}: should hold settings`);
      continue;
    }
    checkMembers(`${place}.${index}`, deployment, oneOfSeveral, problems);
    const { name } = deployment;
    if (name !== undefined && names.has(name))
      problems.push(`${place}.${index}.name: '${String(name)}' is there twice`);
    names.add(name);
  }
}

/** What an alias stands for. Without weights the order is the order of trying. */
export interface AliasTarget {
  readonly model: string;
  readonly weight: number | null;
}

/** An alias stands for one model, for several in order, or for several with weights. */
function readAliases(value: unknown, problems: string[]): Map<string, readonly AliasTarget[]> {
  const aliases = new Map<string, readonly AliasTarget[]>();
  if (value === undefined || value === null) return aliases;
  if (!isRecord(value)) {
    problems.push("aliases: should be a list of names with their models");
    return aliases;
  }
  for (const [name, target] of Object.entries(value)) {
    const targets = (Array.isArray(target) ? target : [target]).map(readTarget);
    if (!/^[A-Za-z0-9_.:@+~=-]{1,128}$/.test(name)) problems.push(`aliases.${name}: a name holds no slash or space`);
    else if (targets.length === 0 || targets.some((read) => read === null))
      problems.push(`aliases.${name}: should be <provider>/<model>, a list of them, or a list of {model, weight}`);
    else aliases.set(name, targets as AliasTarget[]);
  }
  return aliases;
}

function readTarget(value: unknown): AliasTarget | null {
  if (typeof value === "string") return isModelName(value) ? { model: value, weight: null } : null;
  if (!isRecord(value)) return null;
  const { model, weight, ...others } = value;
  if (typeof model !== "string" || !isModelName(model) || Object.keys(others).length > 0) return null;
  if (weight === undefined) return { model, weight: null };
  return typeof weight === "number" && weight > 0 && weight <= 1_000_000 ? { model, weight } : null;
}

function isModelName(text: string): boolean {
  return /^[^/]+\/.+$/.test(text);
}

function text(name: string, fallback: string, meaning: string): Setting<string> {
  return { name, meaning, shownDefault: fallback, fallback: () => fallback, parse: (written) => written };
}

function whole(
  name: string,
  fallback: number | (() => number),
  least: number,
  most: number,
  meaning: string,
  shownDefault = String(fallback),
): Setting<number> {
  return {
    name,
    meaning,
    shownDefault,
    fallback: () => (typeof fallback === "number" ? fallback : fallback()),
    parse(written) {
      const number = Number(written);
      if (/^\d+$/.test(written) && number >= least && number <= most) return number;
      throw new Error(`should be a whole number from ${least} to ${most}, and is '${written}'`);
    },
  };
}

function yesOrNo(name: string, meaning: string): Setting<boolean> {
  return {
    name,
    meaning,
    shownDefault: "false",
    fallback: () => false,
    parse(written) {
      if (written === "true" || written === "false") return written === "true";
      throw new Error(`should be true or false, and is '${written}'`);
    },
  };
}

function list(name: string, meaning: string): Setting<readonly string[]> {
  const parse = (written: string) =>
    written
      .split(",")
      .map((element) => element.trim())
      .filter((element) => element !== "");
  return { name, meaning, shownDefault: "empty", fallback: () => [], parse };
}

function oneOf<T extends string>(name: string, fallback: T, allowed: readonly T[], meaning: string): Setting<T> {
  return {
    name,
    meaning,
    shownDefault: fallback,
    fallback: () => fallback,
    parse(written) {
      const found = allowed.find((value) => value === written);
      if (found !== undefined) return found;
      throw new Error(`should be one of ${allowed.join(", ")}, and is '${written}'`);
    },
  };
}

function optional<T>(setting: Setting<T>): Setting<T | null> {
  return { ...setting, shownDefault: "unset", fallback: () => null };
}

function asText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.join(",") : String(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
