// `switchyard serve`: the supervisor, and the serving processes that it starts.

import { resolve } from "node:path";
import { createFirstKeys } from "../access/keys.ts";
import { type Config, secretsOf } from "../config.ts";
import { createLog, type Log } from "../log.ts";
import { lockDataDir, openStorage } from "../storage/storage.ts";
import { startSupervisor } from "../supervisor.ts";
import { version } from "../version.ts";

// A second Ctrl-C means now; but a terminal and the launcher may both pass on the first one.
const sameSignalMs = 1_000;

export async function runServe(config: Config): Promise<number> {
  const log = openLog(config);
  const lock = config.databaseUrl === null ? lockDataDir(config.dataDir) : null;
  refuseTakenPort(config.host, config.port);
  const inferenceKey = await prepareStorage(config, log);
  const main = resolve(import.meta.dir, "../main.ts");
  const supervisor = startSupervisor(config, [process.execPath, main, "serving-process"], log);

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

  if (await supervisor.ready) announce(config, inferenceKey);
  else if (stoppingSince === null) {
    log.error("the gateway could not start");
    await supervisor.stop();
    ended.resolve(1);
  }
  const code = await ended.promise;
  lock?.release();
  log.flush();
  return code;
}

export async function runServingProcess(config: Config): Promise<number> {
  const log = openLog(config);
  // What nobody waited for must not end a process that serves thousands of others.
  process.on("unhandledRejection", (error) => log.error("unhandled rejection", { error }));
  process.on("uncaughtException", (error) => log.error("uncaught exception", { error }));
  process.on("SIGINT", () => {}); // a terminal sends it to us too; the supervisor decides
  process.on("SIGHUP", () => {});
  process.on("disconnect", () => process.exit(1)); // the supervisor is gone
  // Loaded here alone: the supervisor starts sooner without it.
  const { startGateway } = await import("../gateway.ts");
  const gateway = await startGateway(config, log);
  const ended = Promise.withResolvers<number>();
  process.on("SIGTERM", () => void gateway.stop().then(() => ended.resolve(0), ended.reject));
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
    print("  Keep them: they are not shown again. `npx switchyard keys create` makes others.\n");
    return first.inference;
  } finally {
    await storage.close();
  }
}

function announce(config: Config, inferenceKey: string | null): void {
  const host = config.host.includes(":") ? `[${config.host}]` : config.host === "0.0.0.0" ? "127.0.0.1" : config.host;
  const address = `http://${host}:${config.port}`;
  print(`Switchyard ${version} serves on ${address}   docs: ${address}/docs`);
  if (inferenceKey === null) return;
  print(`\nTry it, no vendor account needed:\n
curl ${address}/v3/chat/completions \\
  -H 'Authorization: Bearer ${inferenceKey}' \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
