// The command line: noun, then verb. A command loads its own code only: a gateway starts sooner that way.

import { type Config, ConfigError, readConfig, readLauncher, secretsOf } from "../config.ts";
import { messageOf, SettingError } from "../errors.ts";
import { lookUp } from "../lib/look-up.ts";
import { createLog, type Log } from "../log.ts";
import { openStorage, requireStore, type Storage } from "../storage/storage.ts";
import { version } from "../version.ts";
import { type CommandSpec, describeCommand, findCommand, readArguments, UsageError } from "./command-line.ts";
import { addressOf, runServe, runServingProcess, runWork, runWorkingProcess } from "./serve.ts";

const usage = `switchyard ${version}

  switchyard serve                 start the gateway
  switchyard work                  run jobs only, beside gateways on the same PostgreSQL
  switchyard keys create|list|revoke|rotate
  switchyard storage move
  switchyard engines list|add|remove
  switchyard webhooks verify|listen|keys|rotate-key|drop-old-keys
  switchyard version

Example: npx switchyard keys create --name ci
Add --help to a command for its options.
Settings come from the environment and from switchyard.yaml; docs/settings.md lists them.`;

type Command =
  | { readonly spec: CommandSpec; readonly run: () => Promise<number> }
  /** Reads its own arguments. */
  | { readonly runGroup: (args: string[]) => Promise<number> };

const settingsNote = "Its settings come from the environment and from switchyard.yaml; docs/settings.md lists them.";

const commands: Readonly<Record<string, Command>> = {
  serve: {
    spec: {
      name: "serve",
      summary: `Starts the gateway. ${settingsNote}`,
      example: "SWITCHYARD_PORT=8081 npx switchyard serve",
    },
    run: runServe,
  },
  work: {
    spec: {
      name: "work",
      summary: `Runs jobs and nothing else, beside gateways on the same PostgreSQL. ${settingsNote}`,
      example: "DATABASE_URL=postgres://switchyard:password@db.example/switchyard npx switchyard work",
    },
    run: runWork,
  },
  keys: {
    runGroup: async (args) =>
      (await import("./keys.ts")).runKeysCommand(args, {
        openStorage: () => openConfiguredStorage(),
        print: console.log,
      }),
  },
  storage: {
    runGroup: async (args) => (await import("./storage.ts")).runStorageCommand(args, storageContext()),
  },
  engines: {
    runGroup: async (args) => (await import("./engines.ts")).runEnginesCommand(args, enginesContext()),
  },
  webhooks: {
    runGroup: async (args) => (await import("./webhooks.ts")).runWebhooksCommand(args, await webhooksContext()),
  },
  version: {
    spec: { name: "version", summary: "Prints the version.", example: "npx switchyard version" },
    run: async () => {
      console.log(version);
      return 0;
    },
  },
  help: {
    spec: { name: "help", summary: "Lists the commands.", example: "npx switchyard help" },
    run: async () => {
      console.log(usage);
      return 0;
    },
  },
};

// Started by the supervisor, not by people.
const processes: Readonly<Record<string, () => Promise<number>>> = {
  "serving-process": runServingProcess,
  "working-process": runWorkingProcess,
};

const otherNames: Readonly<Record<string, string>> = { "--help": "help", "-h": "help", "--version": "version" };

/** Runs one command and returns its exit code: 0 done, 1 failed, 2 wrong usage or settings. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [given = "help", ...rest] = args;
  const name = lookUp(otherNames, given) ?? given;
  try {
    const process = Object.hasOwn(processes, name) ? processes[name] : undefined;
    if (process !== undefined) return await process();
    const command = findCommand(commands, name);
    if ("runGroup" in command) return await command.runGroup(rest);
    return await runPlain(command.spec, rest, command.run);
  } catch (error) {
    if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`);
    else if (error instanceof SettingError) console.error(`${error.path}: ${error.message}`);
    else console.error(messageOf(error));
    return error instanceof ConfigError || error instanceof SettingError || error instanceof UsageError ? 2 : 1;
  }
}

async function runPlain(spec: CommandSpec, args: readonly string[], run: () => Promise<number>): Promise<number> {
  let input: ReturnType<typeof readArguments>;
  try {
    input = readArguments(spec, args);
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${describeCommand(spec)}`);
    return 2;
  }
  if (input !== "help") return await run();
  console.log(describeCommand(spec));
  return 0;
}

/** Never creates a store: a command that runs in another folder would otherwise work on a new and empty one. */
async function openConfiguredStorage(needs: "secrets" | "no secrets" = "no secrets"): Promise<Storage> {
  const config = readConfig();
  const { databaseUrl, dataDir, encryptionKey } = config;
  const log = openCommandLog(config);
  const options = { databaseUrl, dataDir, log, ...(needs === "secrets" ? { encryptionKey } : {}) };
  await requireStore(config.dataDir, config.databaseUrl);
  return await openStorage(options);
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
      const storage = await openConfiguredStorage("secrets");
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
