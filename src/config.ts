// Every setting once: its name, default and meaning. The only reader of the environment and of switchyard.yaml.
// A setting of the environment wins over the same one in the file.

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import {
  type ConfigFile,
  describePlace,
  type Environment,
  isRecord,
  Problems,
  readConfigFile,
  suggest,
} from "./config/config-file.ts";
import { type AliasTarget, type DeclaredProvider, readAliases, readProviders } from "./config/declared.ts";
import { createAddressRanges, readServerAddress } from "./lib/addresses.ts";
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
      "management key, at least 16 characters; when it is unset, the first start creates one",
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
  maxWebSocketsPerKey: whole(
    "SWITCHYARD_MAX_WEBSOCKETS_PER_KEY",
    64,
    1,
    100_000,
    "WebSockets that one key may have open at a serving process",
  ),
  maxWebSocketMessageBytes: whole(
    "SWITCHYARD_MAX_WEBSOCKET_MESSAGE_BYTES",
    4 * 1_048_576,
    1_024,
    2 ** 30,
    "largest WebSocket message, and never more than SWITCHYARD_MAX_BODY_BYTES; unfinished messages of a key take at most this times its WebSockets",
  ),
  trustedProxies: list(
    "SWITCHYARD_TRUSTED_PROXIES",
    "CIDRs of proxies, separated by commas, whose `X-Forwarded-Proto` gives the scheme of result addresses; unset ignores the header",
  ),
  maxConcurrentRequestsPerKey: whole(
    "SWITCHYARD_MAX_CONCURRENT_REQUESTS_PER_KEY",
    12_000,
    1,
    1_000_000,
    "requests of one key that a serving process answers at the same time, streams included; one more is answered with 429",
  ),
  maxConcurrentStreamsPerKey: whole(
    "SWITCHYARD_MAX_CONCURRENT_STREAMS_PER_KEY",
    10_000,
    1,
    1_000_000,
    "streams of one key that a serving process sends at the same time; one more is answered with 429",
  ),
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
      "encrypts stored conversations, the private keys of webhooks and the gateway's other secrets: 32 bytes as base64 or hex; of several, separated by commas, the first encrypts and all decrypt",
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
    "largest sum, in bytes, of the files of one key, or of all keys of one owner: uploads and binary results of tasks",
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
  localUnconfined: yesOrNo(
    "SWITCHYARD_LOCAL_UNCONFINED",
    "`true`: processes of local engines keep the network and the file system, which they otherwise lose on Linux",
  ),
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
  maxQueuedJobsPerKey: whole(
    "SWITCHYARD_MAX_QUEUED_JOBS_PER_KEY",
    250_000,
    1,
    10_000_000,
    "jobs that are queued or running, of one key, or of all keys of one owner; one more is answered with 429",
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

export interface Config extends SettingValues {
  /** The file that was read, if there was one. */
  readonly file: string | null;
  /** The line of each member of the file, by its path joined with dots. */
  readonly lines: Readonly<Record<string, number>>;
  readonly providers: Readonly<Record<string, DeclaredProvider>>;
  /** Providers that are not part of this gateway: `providers: { sandbox: false }`. */
  readonly switchedOff: ReadonlySet<string>;
  readonly aliases: ReadonlyMap<string, readonly AliasTarget[]>;
  /** What the operator may not have meant, one line each. */
  readonly warnings: readonly string[];
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

export function readConfig(environment: Environment = process.env): Config {
  const problems = new Problems();
  const file = flatten(readConfigFile(environment, problems));
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(settings)) {
    const member = fileName(setting.name);
    const isFromFile = !environment[setting.name];
    const written = environment[setting.name] || asText(file.document[member]);
    try {
      values[key] = written === undefined || written === "" ? setting.fallback() : setting.parse(written);
    } catch (error) {
      if (isFromFile) problems.add(member, messageOf(error), file);
      else problems.add(setting.name, messageOf(error));
    }
  }
  refuseUnknownSettings(environment, file, problems);
  const { providers, switchedOff } = readProviders(file, problems);
  const aliases = readAliases(file, problems);
  const prices = file.document["prices"] ?? null;
  const warnings = Array.from(
    file.unsetKeys,
    ([path, name]) => `${describePlace(path, file)}: the variable ${name} is not set, so this key is not configured`,
  );
  const { file: path, lines } = file;
  const config = {
    ...values,
    file: path,
    lines,
    providers,
    switchedOff,
    aliases,
    prices,
    warnings,
  } as unknown as Config;
  // A contradiction between two settings is told only when each of them could be read.
  if (problems.all.length === 0)
    for (const { setting, message } of contradictions(config)) {
      const isFromFile = !environment[setting] && file.document[fileName(setting)] !== undefined;
      if (isFromFile) problems.add(fileName(setting), message, file);
      else problems.add(setting, message);
    }
  if (problems.all.length > 0) throw new ConfigError(problems.all);
  return withEnvironment({ ...config, dataDir: resolve(config.dataDir) }, environment);
}

/** A configuration without its functions, as one process hands it to another. */
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

// Variables for clients, which an operator's shell may hold as well.
const clientVariables = new Set(["SWITCHYARD_KEY", "SWITCHYARD_URL", "SWITCHYARD_MANAGEMENT_KEY"]);
// Kubernetes sets these in every pod beside a service that is called `switchyard`.
const serviceVariable = /^SWITCHYARD_(?:SERVICE_(?:HOST|PORT)\w*|PORT_\d+_(?:TCP|UDP|SCTP)\w*)$/;

/** A misspelt name would otherwise leave the default in force without a word. */
function refuseUnknownSettings(environment: Environment, file: ConfigFile, problems: Problems): void {
  const names = ["SWITCHYARD_CONFIG", ...Object.values(settings).map(({ name }) => name)];
  for (const name of Object.keys(environment)) {
    if (!name.startsWith("SWITCHYARD_") || names.includes(name)) continue;
    if (clientVariables.has(name) || serviceVariable.test(name)) continue;
    problems.add(name, `unknown setting${suggest(name, names)} docs/settings.md lists all settings`);
  }
  const members = ["providers", "aliases", "prices", ...names.slice(1).map(fileName)];
  for (const name of Object.keys(file.document))
    if (!members.includes(name)) problems.add(name, `unknown member '${name}'${suggest(name, members)}`, file);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The form of the log as far as the environment says it: for failures before there is a configuration. */
export function readLogFormat(environment: Environment = process.env): "json" | "text" | "auto" {
  const written = environment[settings.logFormat.name];
  return written === "json" || written === "text" ? written : "auto";
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

interface Contradiction {
  readonly setting: string;
  readonly message: string;
}

function contradictions(config: Config): Contradiction[] {
  const found: Contradiction[] = [];
  const add = (setting: string, message: string) => found.push({ setting, message });
  const attempt = (setting: string, read: () => unknown) => {
    try {
      read();
    } catch (error) {
      add(setting, messageOf(error));
    }
  };
  if (config.responsesStoreForAll && config.encryptionKey === null)
    add(
      "SWITCHYARD_RESPONSES_STORE_FOR_ALL",
      "needs SWITCHYARD_ENCRYPTION_KEY, which encrypts stored conversations; make one with: openssl rand -base64 32",
    );
  if (config.filesS3Bucket !== null && (config.filesS3AccessKeyId === null || config.filesS3SecretAccessKey === null))
    add(
      "SWITCHYARD_FILES_S3_BUCKET",
      "needs SWITCHYARD_FILES_S3_ACCESS_KEY_ID and SWITCHYARD_FILES_S3_SECRET_ACCESS_KEY; set both",
    );
  if (config.publicUrl !== null && !/^https?:\/\/[^/?#\s]+[^?#\s]*$/.test(config.publicUrl))
    add("SWITCHYARD_PUBLIC_URL", `should be an address such as https://gateway.example, and is '${config.publicUrl}'`);
  if (/[\s/?#@]/.test(config.host) || config.host.startsWith("[") || /^[^:]*:\d*$/.test(config.host))
    add(
      "SWITCHYARD_HOST",
      `should be an address or a name alone, such as 127.0.0.1, 0.0.0.0 or ::, and is '${config.host}'; the port is SWITCHYARD_PORT`,
    );
  attempt("SWITCHYARD_ENCRYPTION_KEY", () => config.encryptionKey === null || parseSealingKeys(config.encryptionKey));
  attempt("SWITCHYARD_EGRESS_ALLOW", () => createAddressRanges(config.egressAllow));
  attempt("SWITCHYARD_TRUSTED_PROXIES", () => createAddressRanges(config.trustedProxies));
  attempt("SWITCHYARD_EGRESS_DNS", () => config.egressDns.map(readServerAddress));
  attempt("SWITCHYARD_EGRESS_PROXY", () => config.egressProxy === null || readProxy(config.egressProxy));
  if (config.adminKey !== null && config.adminKey.length < 16)
    add("SWITCHYARD_ADMIN_KEY", `needs at least 16 characters, and has ${config.adminKey.length}`);
  // The address holds a password: it is not repeated.
  if (config.databaseUrl !== null && !/^postgres(ql)?:\/\/[^/?#\s]+/.test(config.databaseUrl))
    add("DATABASE_URL", "should have the form postgres://user:password@host:5432/database");
  if (config.adminPort !== null && config.adminPort === config.port)
    add("SWITCHYARD_ADMIN_PORT", `is ${config.adminPort}, as SWITCHYARD_PORT is; choose another port for one of them`);
  return found;
}

/** `SWITCHYARD_LOG_LEVEL` in the environment is `log_level` in the file. */
function fileName(setting: string): string {
  return setting.replace(/^SWITCHYARD_/, "").toLowerCase();
}

/** `responses: { store_for_all: true }` is another way to write `responses_store_for_all: true`. */
function flatten(file: ConfigFile): ConfigFile {
  const { responses, ...others } = file.document;
  if (!isRecord(responses)) return file;
  const document: Record<string, unknown> = { ...others };
  const lines: Record<string, number> = { ...file.lines };
  for (const [name, value] of Object.entries(responses)) {
    document[`responses_${name}`] = value;
    lines[`responses_${name}`] = lines[`responses.${name}`] ?? 1;
  }
  return { ...file, document, lines };
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
