// `switchyard serve` and `switchyard work`: the supervisor, and the processes that it starts.

import { resolve } from "node:path";
import { createFirstKeys } from "../access/keys.ts";
import { type Config, secretsOf } from "../config.ts";
import { createLog, type Log } from "../log.ts";
import { lockDataDir, openStorage } from "../storage/storage.ts";
import { type SupervisorOptions, startSupervisor } from "../supervisor.ts";
import { version } from "../version.ts";

// A second Ctrl-C means now; but a terminal and the launcher may both pass on the first one.
const sameSignalMs = 1_000;

export async function runServe(config: Config): Promise<number> {
  const log = openLog(config);
  const lock = config.databaseUrl === null ? lockDataDir(config.dataDir) : null;
  refuseTakenPort(config.host, config.port);
  const inferenceKey = await prepareStorage(config, log);
  const counts = { serving: config.workers, working: config.jobWorkers };
  if (config.databaseUrl === null && counts.working === 0)
    log.warn("nobody runs jobs: SWITCHYARD_JOB_WORKERS is 0, and `switchyard work` needs PostgreSQL");
  const code = await supervise(config, counts, log, () => announce(config, inferenceKey));
  lock?.release();
  log.flush();
  return code;
}

/** Runs jobs and nothing else, beside gateways that share the same PostgreSQL. */
export async function runWork(config: Config): Promise<number> {
  if (config.databaseUrl === null)
    throw new Error("`switchyard work` needs DATABASE_URL: with SQLite the gateway itself runs the jobs.");
  const log = openLog(config);
  const counts = { serving: 0, working: Math.max(1, config.jobWorkers) };
  const code = await supervise(config, counts, log, () => print(`Switchyard ${version} works on jobs`));
  log.flush();
  return code;
}

async function supervise(
  config: Config,
  counts: SupervisorOptions["counts"],
  log: Log,
  onReady: () => void,
): Promise<number> {
  const main = resolve(import.meta.dir, "../main.ts");
  const supervisor = startSupervisor({ config, command: [process.execPath, main], counts, log });

  const ended = Promise.withResolvers<number>();
  let stoppingSince: number | null = null;
  async function stop(): Promise<void> {
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info("going down");
    await supervisor.stop();
    ended.resolve(0);
  }
  process.on("SIGTERM", () => void stop());
  process.on("SIGINT", () => void stop());
  process.on("SIGHUP", () => void supervisor.replaceAll());
  // The launcher died without a word: nobody could stop us any more.
  process.on("disconnect", () => void stop());

  if (await supervisor.ready) onReady();
  else if (stoppingSince === null) {
    log.error("the gateway could not start");
    await supervisor.stop();
    ended.resolve(1);
  }
  return await ended.promise;
}

export async function runServingProcess(config: Config): Promise<number> {
  // Loaded here alone: the supervisor starts sooner without it.
  return await runChild(config, async (log) => (await import("../gateway.ts")).startGateway(config, log));
}

export async function runWorkingProcess(config: Config): Promise<number> {
  return await runChild(config, async (log) => (await import("../workshop.ts")).startWorkshop(config, log));
}

async function runChild(config: Config, start: (log: Log) => Promise<{ stop(): Promise<void> }>): Promise<number> {
  const log = openLog(config);
  // What nobody waited for must not end a process that serves thousands of others.
  process.on("unhandledRejection", (error) => log.error("unhandled rejection", { error }));
  process.on("uncaughtException", (error) => log.error("uncaught exception", { error }));
  process.on("SIGINT", () => {}); // a terminal sends it to us too; the supervisor decides
  process.on("SIGHUP", () => {});
  process.on("disconnect", () => process.exit(1)); // the supervisor is gone
  const running = await start(log);
  const ended = Promise.withResolvers<number>();
  process.on("SIGTERM", () => void running.stop().then(() => ended.resolve(0), ended.reject));
  process.send?.("ready");
  const code = await ended.promise;
  log.flush();
  process.disconnect?.();
  return code;
}

function openLog(config: Config): Log {
  const format = config.logFormat === "auto" ? (process.stdout.isTTY ? "text" : "json") : config.logFormat;
  const write = (lines: string) => void process.stdout.write(lines);
  return createLog({ level: config.logLevel, format, secrets: secretsOf(config), write });
}

/** The serving processes share the port, and would share it with a stranger too: so it is tried alone first. */
function refuseTakenPort(host: string, port: number): void {
  try {
    Bun.listen({ hostname: host, port, exclusive: true, socket: { data() {} } }).stop(true);
  } catch (cause) {
    throw new Error(`Cannot listen on ${host}:${port}: it is taken or not allowed. Set SWITCHYARD_PORT.`, { cause });
  }
}

/** Tables up to date, and on the very first start two keys, printed this once. Returns the inference key then. */
async function prepareStorage(config: Config, log: Log): Promise<string | null> {
  const storage = await openStorage({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log });
  try {
    const first = await createFirstKeys(storage, { adminKey: config.adminKey });
    if (first === null) return null;
    const management = first.management ?? "as set by SWITCHYARD_ADMIN_KEY";
    print(`\n  inference key    ${first.inference}\n  management key   ${management}\n`);
    print("  Keep them: they are not shown again. `npx switchyard keys create --name <text>` makes others.\n");
    return first.inference;
  } finally {
    await storage.close();
  }
}

function announce(config: Config, inferenceKey: string | null): void {
  const address = addressOf(config.host, config.port);
  print(`Switchyard ${version} serves on ${address}   docs: ${address}/docs`);
  if (inferenceKey === null) return;
  print(`\nTry it, no vendor account needed:\n
curl ${address}/v3/chat/completions \\
  -H 'Authorization: Bearer ${inferenceKey}' \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'\n`);
}

/** Where this machine itself reaches a gateway that binds to `host`. */
export function addressOf(host: string, port: number): string {
  const name = host.includes(":") ? `[${host}]` : host === "0.0.0.0" ? "127.0.0.1" : host;
  return `http://${name}:${port}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
