// `switchyard serve` and `switchyard work`: the supervisor, and the processes that it starts.

import { resolve } from "node:path";
import { createFirstKeys } from "../access/first-keys.ts";
import type { GatewayIdentity } from "../access/rate-shares.ts";
import type { CounterFile } from "../access/shared-counters.ts";
import { describeProblem, type Environment } from "../config/config-file.ts";
import type { Config } from "../config.ts";
import { ConfigError, fromSnapshot, readConfig, readLogFormat, secretsOf, storageSettings } from "../config.ts";
import type { GatewayStatus } from "../contract/health.ts";
import type { EngineProcess } from "../engines/local/remote-pool.ts";
import { messageOf, SettingError } from "../errors.ts";
import type { HandoverLink } from "../gateway.ts";
import { createQuestions } from "../lib/ask-parent.ts";
import type { HandoverMessage } from "../lib/handover.ts";
import { createLog, type Log } from "../log.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { createMetricsLink, type MetricsAccess } from "../metrics/metrics-link.ts";
import { isUnavailable } from "../storage/outage.ts";
import { lockDataDir, openStorage } from "../storage/storage.ts";
import type {
  ProcessCounts,
  ProcessMessage,
  ProcessReport,
  StartMessage,
  StartSummary,
} from "../supervisor/messages.ts";
import { type ReloadOutcome, startSupervisor } from "../supervisor.ts";
import { version } from "../version.ts";
import { openControlSocket } from "./control-socket.ts";
import type { FirstKeys } from "./first-keys.ts";
import { describeKeys, describeStart, hasTerminal, introduce, storeKeys, suggestEngines } from "./first-keys.ts";
import { leaveTakenMetricsPort, preparePorts } from "./ports.ts";
import { recordReload } from "./record-reload.ts";
import { openStandardOutput } from "./standard-output.ts";
import { surviveUnexpectedErrors } from "./unexpected-errors.ts";

// A second Ctrl-C ends the process at once. Signals within this time count as one: the terminal and the launcher may both send the first.
const sameSignalMs = 1_000;
const statusTimeoutMs = 1_000;

/** `environment`: instead of that of the process. */
export async function runServe(environment?: Environment): Promise<number> {
  return await withLog(async (written, log) => {
    const lock = written.databaseUrl === null ? lockDataDir(written.dataDir) : null;
    const config = preparePorts(written, null);
    const keys = await prepareStorage(config, log);
    if (config.databaseUrl === null && config.jobWorkers === 0)
      log.warn(
        "no process runs jobs: SWITCHYARD_JOB_WORKERS is 0, and `switchyard work` needs PostgreSQL; set SWITCHYARD_JOB_WORKERS to 1 or more",
      );
    const count = ({ workers, jobWorkers }: Config) => ({ serving: workers, worker: jobWorkers });
    const code = await supervise(config, {
      count,
      read: (current) => preparePorts(readConfig(environment), current),
      log,
      onReady: (summary) => announce({ config, keys, summary, log }),
    });
    lock?.release();
    return code;
  }, environment);
}

/** Runs jobs only, beside gateways that share the same PostgreSQL. */
export async function runWork(): Promise<number> {
  return await withLog(async (config, log) => {
    if (config.databaseUrl === null)
      throw new SettingError(
        "DATABASE_URL",
        "`switchyard work` needs a PostgreSQL database, such as postgres://user:password@host:5432/database; with SQLite the gateway itself runs the jobs",
      );
    const count = ({ jobWorkers }: Config) => ({ serving: 0, worker: Math.max(1, jobWorkers) });
    // Nothing listens on the other ports, so a provider of this machine may have them.
    const choosePorts = (next: Config, current: Config | null) =>
      leaveTakenMetricsPort({ ...next, port: 0, adminPort: null }, current, log);
    return await supervise(choosePorts(config, null), {
      count,
      read: (current) => choosePorts(readConfig(), current),
      log,
      onReady: () => log.info(`Switchyard ${version} runs jobs`),
    });
  });
}

/** Reports failures through the log: a line of plain text would break a log of JSON lines. */
async function withLog(run: (config: Config, log: Log) => Promise<number>, environment?: Environment): Promise<number> {
  let log = openLog({ logFormat: readLogFormat(), logLevel: "info" }, []);
  try {
    const config = readConfig(environment);
    log = openLog(config, secretsOf(config));
    redirectConsole(log);
    surviveUnexpectedErrors(log);
    for (const warning of config.warnings) log.warn(describeProblem(warning));
    return await run(config, log);
  } catch (error) {
    return fail(log, describeFailure(error), isConfiguration(error));
  } finally {
    log.flush();
  }
}

function fail(log: Log, message: string, isConfigurationProblem: boolean): number {
  for (const line of message.split("\n")) log.error(line);
  return isConfigurationProblem ? 2 : 1;
}

interface Supervision {
  readonly count: (config: Config) => ProcessCounts;
  /** Reads the configuration again, and checks its ports. */
  readonly read: (current: Config) => Config;
  readonly log: Log;
  readonly onReady: (summary: StartSummary | null) => void;
}

async function supervise(config: Config, { count, read: readAgain, log, onReady }: Supervision): Promise<number> {
  const main = resolve(import.meta.dir, "../main.ts");
  const read = (current: Config) => readNext(current, readAgain(current), log);
  const supervisor = startSupervisor({ config, read, command: [process.execPath, main], count, log });

  const { folder, describe } = supervisor;
  const recorded = new WeakSet<ReloadOutcome>();
  let recording = Promise.resolve();
  async function reload(): Promise<ReloadOutcome> {
    const before = describe();
    const outcome = await supervisor.reload();
    // Several callers may wait for the same reload.
    if (recorded.has(outcome)) return outcome;
    recorded.add(outcome);
    const at = Date.now();
    // One at a time: the audit log lists its records in the order in which they were written.
    recording = recording.then(() => recordReload(config, { before, outcome, at, log }));
    return outcome;
  }
  using _control = openControlSocket({ dataDir: config.dataDir, folder, reload, log });

  const ended = Promise.withResolvers<number>();
  let stoppingSince: number | null = null;
  async function stop(): Promise<void> {
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info("shutting down");
    await supervisor.stop();
    ended.resolve(0);
  }
  process.on("SIGTERM", () => void stop());
  process.on("SIGINT", () => void stop());
  process.on("SIGHUP", () => void reload());
  // The launcher died without a signal, so no other process would stop this one.
  process.on("disconnect", () => void stop());

  const failure = await supervisor.ready;
  if (failure === null) onReady(supervisor.summary());
  else if (stoppingSince === null) {
    await supervisor.stop();
    ended.resolve(fail(log, failure.message, failure.isConfiguration));
  }
  return await ended.promise;
}

/** The configuration of a reload. What belongs to the store that is open cannot change while it is. */
function readNext(current: Config, next: Config, log: Log): Config {
  const fixed = [
    ["data_dir", current.dataDir === next.dataDir],
    ["database_url", current.databaseUrl === next.databaseUrl],
  ] as const;
  for (const [name, isSame] of fixed)
    if (!isSame) throw new ConfigError([`${name} cannot change while the gateway runs; restart the gateway`]);
  for (const secret of secretsOf(next)) log.hide(secret);
  for (const warning of next.warnings) log.warn(describeProblem(warning));
  return next;
}

/** The processes that the supervisor starts; not commands for people. */
export function findProcess(name: string): (() => Promise<number>) | null {
  // Loaded on demand: the supervisor starts sooner without them.
  if (name === "serving-process")
    return () =>
      runChild(async (config, log, mayServe, shared) =>
        (await import("../gateway.ts")).startGateway(config, log, mayServe, shared),
      );
  if (name === "worker-process")
    return () =>
      runChild(async (config, log, mayServe, shared) =>
        (await import("../worker-process.ts")).startWorkerProcess(config, log, mayServe, shared),
      );
  if (name === "engine-process")
    return () =>
      runChild(async (config, log, mayServe, { engineProcess: { socketPath }, metrics: { metrics } }) =>
        (await import("../engine-process.ts")).startEngineProcess(config, log, mayServe, { socketPath, metrics }),
      );
  return null;
}

interface RunningProcess {
  stop(): Promise<void>;
  /** `stop` ends that at once, before running jobs have ended. */
  readonly takesJobs?: true;
  /** For a process that ends by itself. */
  readonly finished?: Promise<unknown>;
  readonly summary?: StartSummary;
}

/** What a process shares with the others of its gateway. */
interface SharedWithOthers {
  readonly engineProcess: EngineProcess;
  readonly counters: CounterFile | undefined;
  readonly gateway: GatewayIdentity;
  readonly metrics: MetricsAccess;
  readonly handover: HandoverLink;
  readonly readStatus: () => Promise<GatewayStatus | null>;
}

type Start = (
  config: Config,
  log: Log,
  mayServe: () => Promise<void>,
  shared: SharedWithOthers,
) => Promise<RunningProcess>;

async function runChild(start: Start): Promise<number> {
  const given = Promise.withResolvers<StartMessage>();
  const permitted = Promise.withResolvers<void>();
  const metrics = createMetrics();
  const link = createMetricsLink(metrics, report);
  const status = createQuestions<GatewayStatus>((id) => report({ state: "wants-status", id }), statusTimeoutMs);
  let receiveHandover = (_message: HandoverMessage) => {};
  process.on("message", (message: ProcessMessage) => {
    if (message === "serve") permitted.resolve();
    else if ("metrics" in message) link.receive(message);
    else if ("status" in message) status.receive(message.id, message.status);
    else if ("config" in message) given.resolve(message);
    else receiveHandover(message);
  });
  process.on("disconnect", () => process.exit(1)); // the supervisor has ended
  const startMessage = await given.promise;
  const config = fromSnapshot(startMessage.config);
  const log = openLog(config, secretsOf(config));
  redirectConsole(log);
  surviveUnexpectedErrors(log);
  process.on("SIGINT", () => {}); // a terminal sends it to this process too; the supervisor handles it
  process.on("SIGHUP", () => {});
  // Before the start is complete, there is no request to drain.
  const exitAtOnce = () => process.exit(0);
  process.on("SIGTERM", exitAtOnce);
  try {
    const mayServe = () => {
      report({ state: "prepared" });
      return permitted.promise;
    };
    const { engineSocket: socketPath } = startMessage;
    const engineProcess = { socketPath, start: () => report({ state: "needs-engines" }) };
    const shared = {
      engineProcess,
      counters: startMessage.counters ?? undefined,
      gateway: startMessage.gateway,
      metrics: { metrics, readAll: link.readAll },
      readStatus: status.ask,
      handover: {
        address: startMessage.handover,
        report,
        listen(receive: (message: HandoverMessage) => void) {
          receiveHandover = receive;
        },
      },
    };
    const running = await start(config, log, mayServe, shared);
    const ended = Promise.withResolvers<number>();
    running.finished?.then(() => ended.resolve(0), ended.reject);
    process.off("SIGTERM", exitAtOnce);
    process.on("SIGTERM", () => {
      running.stop().then(() => ended.resolve(0), ended.reject);
      if (running.takesJobs === true) report({ state: "stopping" });
    });
    report({ state: "ready", summary: running.summary });
    const code = await ended.promise;
    await link.sendLast();
    return code;
  } catch (error) {
    // The supervisor reports it once, however many processes failed for the same reason.
    const kind = { isConfiguration: isConfiguration(error), isTemporary: isUnavailable(error) };
    report({ state: "failed", message: describeFailure(error), ...kind });
    if (!isExpected(error)) log.error("a process could not start", { error });
    return 1;
  } finally {
    log.flush();
    process.disconnect?.();
  }
}

function report(message: ProcessReport): void {
  process.send?.(message);
}

function isConfiguration(error: unknown): boolean {
  return error instanceof ConfigError || error instanceof SettingError;
}

/** The message explains the error; a stack trace would distract from it. */
function isExpected(error: unknown): boolean {
  return isConfiguration(error) || (error instanceof Error && error.constructor === Error);
}

function describeFailure(error: unknown): string {
  return error instanceof SettingError ? `${error.path}: ${error.message}` : messageOf(error);
}

function openLog({ logFormat, logLevel }: Pick<Config, "logFormat" | "logLevel">, secrets: readonly string[]): Log {
  const format = logFormat === "auto" ? (hasTerminal() ? "text" : "json") : logFormat;
  const write = openStandardOutput((bytes) =>
    log.warn("lines were lost, because standard output was not read", { bytes }),
  );
  const log = createLog({ level: logLevel, format, secrets, write });
  return log;
}

/** Turns console output of libraries into log lines, so that a log of JSON lines stays valid. */
function redirectConsole(log: Log): void {
  const tell = (...values: unknown[]) => log.warn("output of a library", { output: values.map(String).join(" ") });
  for (const name of ["log", "info", "debug", "warn", "error", "trace"] as const) console[name] = tell;
}

/** Migrates the database. On the very first start it creates two keys and returns them, or the files that hold them. */
async function prepareStorage(config: Config, log: Log): Promise<FirstKeys | null> {
  // Opens the secrets as well: a secret that cannot be decrypted ends the start here, with one message.
  const storage = await openStorage({ ...storageSettings(config), log });
  try {
    const first = await createFirstKeys(storage, { adminKey: config.adminKey, defaults: config.defaults });
    if (first === null) return null;
    return mayShowKeys(config) ? { shown: first } : { stored: storeKeys(first, config.dataDir) };
  } finally {
    await storage.close();
  }
}

/** Only the operator reads a terminal; other outputs may be stored or forwarded. */
function mayShowKeys({ logFormat }: Config): boolean {
  return hasTerminal() && logFormat !== "json";
}

interface StartedGateway {
  readonly config: Config;
  readonly keys: FirstKeys | null;
  readonly summary: StartSummary | null;
  readonly log: Log;
}

/** Says where the gateway is and what it found. The very first start also says how to use it. */
function announce({ config, keys, summary, log }: StartedGateway): void {
  const address = addressOf(config);
  const admin = addressOf({ ...config, port: config.adminPort ?? config.port });
  const { providers = [], pages = [] } = summary ?? {};
  const isText = config.logFormat === "text" || mayShowKeys(config);
  const found = {
    ...(pages.includes("/docs") ? { docs: `${address}/docs` } : {}),
    ...(pages.includes("/dashboard") ? { dashboard: `${admin}/dashboard` } : {}),
    config_file: config.file,
    data_dir: config.dataDir,
    providers,
  };
  if (!isText)
    log.info("serving", {
      address,
      version,
      ...found,
      ...(keys !== null && "stored" in keys ? { first_keys: keys.stored } : {}),
    });
  log.flush();
  if (config.logFormat === "json") return;
  const text = `Switchyard ${version} listens on ${address}\n${describeStart(found)}`;
  const introduction =
    keys === null
      ? text
      : `${describeKeys(keys)}${text}${introduce(address, keys, !config.switchedOff.has("sandbox"))}${suggestEngines()}`;
  // With JSON logs, standard output holds only JSON lines.
  (isText ? process.stdout : process.stderr).write(introduction);
}

/** Address under which this machine reaches a gateway that listens on `host`. */
export function addressOf({ host, port, tls }: Pick<Config, "host" | "port" | "tls">): string {
  const wildcards: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };
  const name = wildcards[host] ?? (host.includes(":") ? `[${host}]` : host);
  return `${tls === null ? "http" : "https"}://${name}:${port}`;
}
