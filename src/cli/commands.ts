// The command line: noun, then verb.

import { type Config, ConfigError, readConfig, secretsOf } from "../config.ts";
import { createLog, type Log } from "../log.ts";
import { openStorage, type Storage } from "../storage/storage.ts";
import { version } from "../version.ts";
import { runKeysCommand } from "./keys.ts";
import { runServe, runServingProcess } from "./serve.ts";
import { runStorageCommand } from "./storage.ts";

const usage = `switchyard ${version}

  switchyard serve                 start the gateway
  switchyard keys create|list|revoke|rotate
  switchyard storage move --to postgres://…
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
      case "keys":
        return await runKeysCommand(rest, { openStorage: openConfiguredStorage, print: console.log });
      case "storage":
        return await runStorageCommand(rest, storageContext());
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

function openCommandLog(config: Config): Log {
  const write = (lines: string) => void process.stderr.write(lines);
  return createLog({ level: "warn", format: "text", secrets: secretsOf(config), write });
}
