// The command line: noun, then verb. Only the code of the command that runs is loaded, so that a gateway starts sooner.

import type { Command } from "commander";
import { type Config, findDataDir, readConfig, readLauncher, secretsOf, withSettings } from "../config.ts";
import { createLog, type Log } from "../log.ts";
import { openStorage, requireStore, type Storage } from "../storage/storage.ts";
import { version } from "../version.ts";
import { CommandFailed, createCommand, type Output, runCommandLine } from "./command-line.ts";
import { addressOf, runServe, runWork } from "./serve.ts";

const settingsNote = " Its settings come from the environment and from switchyard.yaml; docs/settings.md lists them.";
const terminal: Output = { print: console.log, printError: console.error };

/** Commands that consist of several commands, with the code that builds them. */
const groups = {
  keys: {
    summary: "Create, list, update, revoke and rotate keys.",
    load: async (output) => (await import("./keys.ts")).createKeysCommand(accessContext(output)),
  },
  teams: {
    summary: "Create, list, show, update and delete teams.",
    load: async (output) => (await import("./teams.ts")).createTeamsCommand(accessContext(output)),
  },
  usage: {
    summary: "Report lines, tokens and cost from the ledger.",
    load: async (output) =>
      (await import("./usage.ts")).createUsageCommand({ ...output, openStorage: () => openConfiguredStorage() }),
  },
  requests: {
    summary: "List calls and refused requests, and show how a cost was computed.",
    load: async (output) => (await import("./requests.ts")).createRequestsCommand(requestsContext(output)),
  },
  audit: {
    summary: "List who changed what: keys, teams, sign-ins, reloads.",
    load: async (output) =>
      (await import("./audit.ts")).createAuditCommand({ ...output, openStorage: () => openConfiguredStorage() }),
  },
  providers: {
    summary: "Show providers, and store, test and remove their credentials.",
    load: async (output) =>
      (await import("./providers.ts")).createProvidersCommand((await import("./provider-access.ts")).toContext(output)),
  },
  config: {
    summary: "Check, show, describe and import the configuration.",
    load: async (output) =>
      (await import("./config.ts")).createConfigCommand((await import("./provider-access.ts")).toContext(output)),
  },
  reload: {
    summary: "Make the running gateway read its configuration again.",
    load: async (output) =>
      (await import("./reload.ts")).createReloadCommand({ ...output, findDataDir: () => findDataDir() }),
  },
  demo: {
    summary: "Serve a gateway with thirty days of invented data, in a data folder of its own.",
    load: async (output) => (await import("./demo.ts")).createDemoCommand(demoContext(output)),
  },
  storage: {
    summary: "Move stored data from SQLite to PostgreSQL.",
    load: async (output) =>
      (await import("./storage.ts")).createStorageCommand({ ...output, settings: storageSettings }),
  },
  engines: {
    summary: "List, install and remove groups of local engines.",
    load: async (output) => (await import("./engines.ts")).createEnginesCommand({ ...output, ...readLauncher() }),
  },
  webhooks: {
    summary: "Check and receive callbacks, and manage the keys that sign them.",
    load: async (output) => (await import("./webhooks.ts")).createWebhooksCommand(webhooksContext(output)),
  },
} satisfies Record<string, { readonly summary: string; readonly load: (output: Output) => Promise<Command> }>;

/** Runs one command and returns its exit code: 0 done, 1 failed, 2 wrong arguments or settings. */
export async function runCommand(args: readonly string[], output = terminal): Promise<number> {
  const [name = "help"] = args;
  return await runCommandLine(await createProgram(name, output), args.length === 0 ? [name] : args, output);
}

async function createProgram(wanted: string, output: Output): Promise<Command> {
  const program = createCommand("switchyard", `Switchyard ${version}, an AI model gateway.`, output)
    .version(version, "--version", "print the version")
    .usage("<command> [options]")
    .addHelpText(
      "after",
      "\nExample: npx switchyard keys create --name ci\n\nAdd --help to a command for its options.",
    );
  const add = (name: string, summary: string, example: string, run: () => number | Promise<number>, note = "") =>
    program
      .command(name)
      .summary(summary)
      .description(summary + note)
      .addHelpText("after", `\nExample: ${example}`)
      .action(async () => {
        const exitCode = await run();
        if (exitCode !== 0) throw new CommandFailed(exitCode);
      });
  add("serve", "Start the gateway.", "SWITCHYARD_PORT=8081 npx switchyard serve", () => runServe(), settingsNote);
  const workExample = "DATABASE_URL=postgres://switchyard:password@db.example/switchyard npx switchyard work";
  add("work", "Run jobs only, beside gateways on the same PostgreSQL.", workExample, runWork, settingsNote);
  for (const [group, { summary, load }] of Object.entries(groups))
    program.addCommand(group === wanted ? await load(output) : createCommand(group, summary, output));
  add("version", "Print the version.", "npx switchyard version", () => {
    output.print(version);
    return 0;
  });
  add("help", "Print this help.", "npx switchyard help", () => {
    program.outputHelp();
    return 0;
  });
  return program;
}

/** Never creates a store: a command that runs in the wrong folder would otherwise work on a new and empty one. */
async function openConfiguredStorage(needs: "secrets" | "no secrets" = "no secrets"): Promise<Storage> {
  const config = readConfig();
  const { databaseUrl, dataDir, encryptionKey } = config;
  const log = openCommandLog(config);
  const options = { databaseUrl, dataDir, log, ...(needs === "secrets" ? { encryptionKey } : {}) };
  await requireStore(config.dataDir, config.databaseUrl);
  return await openStorage(options);
}

function requestsContext(output: Output) {
  return {
    ...output,
    openStorage: () => openConfiguredStorage(),
    loadExplainCost: async () => {
      const config = readConfig();
      return (await import("../services.ts")).createOfflineExplainer(config, openCommandLog(config));
    },
  };
}

function demoContext(output: Output) {
  const environmentOf = (dataDir: string) => withSettings({ SWITCHYARD_DATA_DIR: dataDir, DATABASE_URL: "" });
  return {
    ...output,
    readConfig: (dataDir: string) => readConfig(environmentOf(dataDir)),
    openLog: openCommandLog,
    loadComputeCost: async (config: Config, log: Log) =>
      (await import("../services.ts")).createOfflineExplainer(config, log),
    serve: (dataDir: string) => runServe(environmentOf(dataDir)),
  };
}

function accessContext(output: Output) {
  return { ...output, openStorage: () => openConfiguredStorage(), readDefaults: () => readConfig().defaults };
}

function storageSettings() {
  const config = readConfig();
  return { dataDir: config.dataDir, log: openCommandLog(config) };
}

function webhooksContext(output: Output) {
  return {
    ...output,
    settings: () => {
      const config = readConfig();
      return { dataDir: config.dataDir, gatewayUrl: addressOf(config) };
    },
    openStorage: () => openConfiguredStorage("secrets"),
    log: createLog({ level: "warn", format: "text", secrets: [], write: (lines) => void process.stderr.write(lines) }),
    readInput: () => Bun.stdin.bytes(),
  };
}

function openCommandLog(config: Config): Log {
  const write = (lines: string) => void process.stderr.write(lines);
  return createLog({ level: "warn", format: "text", secrets: secretsOf(config), write });
}
