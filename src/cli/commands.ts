// The command line: noun, then verb.
// What a command needs is loaded by that command alone: a gateway starts sooner so.

import { type Config, ConfigError, readConfig, readLauncher, secretsOf } from "../config.ts";
import { createLog, type Log } from "../log.ts";
import { openStorage, type Storage } from "../storage/storage.ts";
import { version } from "../version.ts";
import { addressOf, runServe, runServingProcess, runWork, runWorkingProcess } from "./serve.ts";

const usage = `switchyard ${version}

  switchyard serve                 start the gateway
  switchyard work                  run jobs only, beside gateways on the same PostgreSQL
  switchyard keys create|list|revoke|rotate
  switchyard storage move --to postgres://…
  switchyard engines list|add|remove
  switchyard webhooks verify|listen|keys|rotate-key|drop-old-keys
  switchyard version

Settings come from the environment and from switchyard.yaml; docs/settings.md lists them.`;

/** Runs one command and returns its exit code: 0 done, 1 failed, 2 wrong usage or settings. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [command = "help", ...rest] = args;
  try {
    switch (command) {
      case "serve":
        return await runServe(readConfig());
      case "serving-process":
        return await runServingProcess(readConfig());
      case "work":
        return await runWork(readConfig());
      case "working-process":
        return await runWorkingProcess(readConfig());
      case "keys":
        return await (await import("./keys.ts")).runKeysCommand(rest, {
          openStorage: openConfiguredStorage,
          print: console.log,
        });
      case "storage":
        return await (await import("./storage.ts")).runStorageCommand(rest, storageContext());
      case "engines":
        return await (await import("./engines.ts")).runEnginesCommand(rest, enginesContext());
      case "webhooks":
        return await (await import("./webhooks.ts")).runWebhooksCommand(rest, await webhooksContext());
      case "version":
      case "--version":
        console.log(version);
        return 0;
      case "help":
      case "--help":
      case "-h":
        console.log(usage);
        return 0;
      default:
        console.error(`There is no command '${command}'.\n\n${usage}`);
        return 2;
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return error instanceof ConfigError ? 2 : 1;
  }
}

function openConfiguredStorage(): Promise<Storage> {
  const config = readConfig();
  return openStorage({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log: openCommandLog(config) });
}

function storageContext() {
  const config = readConfig();
  return { dataDir: config.dataDir, print: console.log, log: openCommandLog(config) };
}

function enginesContext() {
  const { npmScript, nodePath } = readLauncher();
  return { npmScript, nodePath, print: console.log };
}

async function webhooksContext() {
  const { storeWebhookKeysIn } = await import("../jobs/webhook-keys.ts");
  return {
    settings: () => {
      const { dataDir, host, port } = readConfig();
      return { dataDir, gatewayUrl: addressOf(host, port) };
    },
    openKeyStore: async () => {
      const storage = await openConfiguredStorage();
      return { store: storeWebhookKeysIn(storage.secrets), close: () => storage.close() };
    },
    log: createLog({ level: "warn", format: "text", secrets: [], write: (lines) => void process.stderr.write(lines) }),
    readInput: () => Bun.stdin.bytes(),
    print: console.log,
  };
}

function openCommandLog(config: Config): Log {
  const write = (lines: string) => void process.stderr.write(lines);
  return createLog({ level: "warn", format: "text", secrets: secretsOf(config), write });
}
