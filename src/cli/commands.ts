// The command line: noun, then verb. Only the code of the command that runs is loaded, so that a gateway starts sooner.

import type { Command } from "commander";
import type { Config } from "../config.ts";
import { findDataDir, readConfig, readLauncher, secretsOf, storageSettings, withSettings } from "../config.ts";
import { createLog, type Log } from "../log.ts";
import { openStorage, requireStore, type Storage } from "../storage/storage.ts";
import { version } from "../version.ts";
import { CommandFailed, createCommand, exitCodes, type Output, runCommandLine } from "./command-line.ts";
import { isRunnable, listCommands, readExample } from "./command-tree.ts";
import type { DemoPlace } from "./demo.ts";
import { showOnTerminal } from "./progress.ts";
import { addressOf, runServe, runWork } from "./serve.ts";
import { addLocationOptions, addServingOptions } from "./setting-options.ts";

const settingsNote = " Its settings come from the environment and from switchyard.yaml; docs/settings.md lists them.";
const terminal: Output = {
  print: console.log,
  printError: console.error,
  ...(process.stderr.isTTY ? { showProgress: showOnTerminal } : {}),
};

interface LazyCommand {
  readonly summary: string;
  readonly load: (output: Output) => Promise<Command>;
  /** False: the command has no options for the configuration file and the data folder. Default: true. */
  readonly readsSettings?: false;
}

/** Commands with the code that builds them. */
const lazyCommands: Readonly<Record<string, LazyCommand>> = {
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
    readsSettings: false,
  },
  models: {
    summary: "List and search the models of a running gateway, and show their prices.",
    load: async (output) => (await import("./models.ts")).createModelsCommand(gatewayContext(output)),
  },
  tasks: {
    summary: "List and search the tasks of a running gateway, and show their engines and prices.",
    load: async (output) => (await import("./tasks.ts")).createTasksCommand(gatewayContext(output)),
  },
  jobs: {
    summary: "List, show and cancel jobs, and send their webhooks again.",
    load: async (output) =>
      (await import("./jobs.ts")).createJobsCommand({ ...output, openStorage: () => openConfiguredStorage() }),
  },
  webhooks: {
    summary: "Check and receive callbacks, and manage the keys that sign them.",
    load: async (output) => (await import("./webhooks.ts")).createWebhooksCommand(webhooksContext(output)),
  },
  engines: {
    summary: "List, install and remove groups of local engines.",
    load: async (output) => (await import("./engines.ts")).createEnginesCommand({ ...output, ...readLauncher() }),
    readsSettings: false,
  },
  storage: {
    summary: "Move stored data from SQLite to PostgreSQL.",
    load: async (output) => (await import("./storage.ts")).createStorageCommand({ ...output, settings: moveSettings }),
  },
  doctor: {
    summary: "Find what keeps the gateway from working, and how to repair it.",
    load: async (output) => (await import("./doctor.ts")).createDoctorCommand(output),
  },
  licences: {
    summary: "List the packages and models of this version with their licences.",
    load: async (output) => (await import("./licences.ts")).createLicencesCommand(output),
    readsSettings: false,
  },
  completion: {
    summary: "Print a script that completes commands and options in a shell.",
    load: async (output) =>
      (await import("./completion.ts")).createCompletionCommand({
        ...output,
        loadProgram: () => createProgram(null, output),
      }),
    readsSettings: false,
  },
};

/** Runs one command and returns its exit code. Without a command, the gateway starts. */
export async function runCommand(args: readonly string[], output = terminal): Promise<number> {
  const [first = "serve"] = args;
  const isServe = args.length === 0 || (first.startsWith("-") && !["-h", "--help", "--version"].includes(first));
  const all = isServe ? ["serve", ...args] : args;
  return await runCommandLine(await createProgram(all[0] ?? "", output), all, output);
}

/** `wanted`: the command whose code is loaded; null: that of all commands. */
export async function createProgram(wanted: string | null, output: Output): Promise<Command> {
  const program = createCommand("switchyard", `Switchyard ${version}, an AI model gateway.`, output)
    .version(version, "--version", "print the version")
    .usage("<command> [options]")
    .addHelpText(
      "after",
      `
Without a command, the gateway starts. Add --help to a command for its options.
Example: npx switchyard-gateway keys create --name ci

Exit codes: ${Object.entries(exitCodes)
        .map(([code, meaning]) => `${code} ${meaning}`)
        .join("; ")}.`,
    );
  const add = (name: string, summary: string, example: string, note = "") =>
    program
      .command(name)
      .summary(summary)
      .description(summary + note)
      .addHelpText("after", `\nExample: ${example}`);

  const serve = add("serve", "Start the gateway.", "npx switchyard-gateway serve --port 8081", settingsNote);
  addServingOptions(serve, { listens: true }).action(toAction(() => runServe()));
  const workExample = "DATABASE_URL=postgres://switchyard:password@db.example/switchyard npx switchyard-gateway work";
  const work = add("work", "Run jobs only, beside gateways on the same PostgreSQL.", workExample, settingsNote);
  addServingOptions(work, { listens: false }).action(toAction(runWork));
  for (const [name, { summary, load, readsSettings = true }] of Object.entries(lazyCommands)) {
    if (wanted !== null && wanted !== name) {
      program.addCommand(createCommand(name, summary, output));
      continue;
    }
    const command = await load(output);
    addCommonParts(command, readsSettings);
    program.addCommand(command);
  }
  add("version", "Print the version.", "npx switchyard-gateway version")
    .option("--json", "print JSON")
    .action(({ json }: { json?: true }) =>
      output.print(json ? JSON.stringify({ version, bun: Bun.version }, null, 2) : version),
    );
  add("help", "Print this help.", "npx switchyard-gateway help")
    .option("--json", "print all commands, with their options, as JSON")
    .action(async ({ json }: { json?: true }) => {
      if (!json) program.outputHelp();
      else output.print(JSON.stringify(listCommands(await createProgram(null, output)), null, 2));
    });
  return program;
}

function toAction(run: () => Promise<number>) {
  return async () => {
    const exitCode = await run();
    if (exitCode !== 0) throw new CommandFailed(exitCode);
  };
}

/** What all loaded commands have in common. */
function addCommonParts(command: Command, readsSettings: boolean): void {
  for (const below of command.commands) addCommonParts(below, readsSettings);
  if (readsSettings && isRunnable(command)) addLocationOptions(command);
  const [first] = command.commands;
  if (first !== undefined && readExample(command) === null)
    command.addHelpText("after", `\nExample: ${readExample(first)}`);
}

/** Never creates a store: a command that runs in the wrong folder would otherwise work on a new and empty one. */
async function openConfiguredStorage(needs: "secrets" | "no secrets" = "no secrets"): Promise<Storage> {
  const config = readConfig();
  const settings = storageSettings(config);
  const encryptionKey = needs === "secrets" ? settings.encryptionKey : undefined;
  await requireStore(config.dataDir, config.databaseUrl);
  return await openStorage({ ...settings, encryptionKey, log: openCommandLog(config) });
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
  const environmentOf = ({ dataDir, configFile }: DemoPlace) =>
    withSettings({ SWITCHYARD_DATA_DIR: dataDir, SWITCHYARD_CONFIG: configFile, DATABASE_URL: "" });
  return {
    ...output,
    readConfig: (place: DemoPlace) => readConfig(environmentOf(place)),
    openLog: openCommandLog,
    loadComputeCost: async (config: Config, log: Log) =>
      (await import("../services.ts")).createOfflineExplainer(config, log),
    serve: (place: DemoPlace) => runServe(environmentOf(place)),
  };
}

function accessContext(output: Output) {
  return { ...output, openStorage: () => openConfiguredStorage(), readDefaults: () => readConfig().defaults };
}

function moveSettings() {
  const config = readConfig();
  return { dataDir: config.dataDir, log: openCommandLog(config) };
}

/** For commands that ask a running gateway. */
function gatewayContext(output: Output) {
  return { ...output, readAddress: readGatewayAddress };
}

function readGatewayAddress(): string {
  return addressOf(readConfig());
}

function webhooksContext(output: Output) {
  return {
    ...output,
    settings: () => ({ dataDir: readConfig().dataDir, gatewayUrl: readGatewayAddress() }),
    openStorage: () => openConfiguredStorage("secrets"),
    log: createLog({ level: "warn", format: "text", secrets: [], write: (lines) => void process.stderr.write(lines) }),
    readInput: () => Bun.stdin.bytes(),
  };
}

function openCommandLog(config: Config): Log {
  const write = (lines: string) => void process.stderr.write(lines);
  return createLog({ level: "warn", format: "text", secrets: secretsOf(config), write });
}
