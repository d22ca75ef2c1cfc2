// The command line: noun, then verb. Only the code of the command that runs is loaded, so that a gateway starts sooner.

import type { Command } from "commander";
import { type Config, findDataDir, readConfig, readLauncher, storageSettings, withSettings } from "../config.ts";
import type { Log } from "../log.ts";
import { openStorage, requireStore, type Storage } from "../storage/storage.ts";
import { version } from "../version.ts";
import { CommandFailed, createCommand, exitCodes, type Output, runCommandLine } from "./command-line.ts";
import { createCommandLog } from "./command-log.ts";
import { isRunnable, listCommands, readExample } from "./command-tree.ts";
import type { DemoPaths } from "./demo.ts";
import { showOnTerminal } from "./progress.ts";
import { addressOf, runServe, runWork } from "./serve.ts";
import { addLocationOptions, addServingOptions } from "./setting-options.ts";

const terminal: Output = {
  print: console.log,
  printError: console.error,
  ...(process.stderr.isTTY ? { showProgress: showOnTerminal } : {}),
};
/** The options of the program itself. Arguments that begin with any other option are those of `serve`. */
const programOptions = ["-h", "--help", "--version"];
const settingsNote = " Its settings come from the environment and from switchyard.yaml; docs/settings.md lists them.";

interface LazyCommand {
  readonly summary: string;
  readonly load: (output: Output) => Promise<Command>;
  /** False: the command has no options for the configuration file and the data folder. Default: true. */
  readonly readsSettings?: false;
}

/** In the order of the help. */
const lazyCommands: Readonly<Record<string, LazyCommand>> = {
  keys: {
    summary: "Create, list, update, revoke and rotate keys.",
    load: async (output) => (await import("./keys.ts")).createKeysCommand(toAccessContext(output)),
  },
  teams: {
    summary: "Create, list, show, update and delete teams.",
    load: async (output) => (await import("./teams.ts")).createTeamsCommand(toAccessContext(output)),
  },
  usage: {
    summary: "Report lines, tokens and cost from the ledger.",
    load: async (output) => (await import("./usage.ts")).createUsageCommand(toStorageContext(output)),
  },
  requests: {
    summary: "List calls and refused requests, and show how a cost was computed.",
    load: async (output) => (await import("./requests.ts")).createRequestsCommand(toRequestsContext(output)),
  },
  audit: {
    summary: "List who changed what: keys, teams, sign-ins, reloads.",
    load: async (output) => (await import("./audit.ts")).createAuditCommand(toStorageContext(output)),
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
    load: async (output) => (await import("./reload.ts")).createReloadCommand({ ...output, findDataDir }),
  },
  demo: {
    summary: "Serve a gateway with thirty days of invented data, in a data folder of its own.",
    load: async (output) => (await import("./demo.ts")).createDemoCommand(toDemoContext(output)),
    readsSettings: false,
  },
  models: {
    summary: "List and search the models of a running gateway, and show their prices.",
    load: async (output) => (await import("./models.ts")).createModelsCommand(toGatewayContext(output)),
  },
  tasks: {
    summary: "List and search the tasks of a running gateway, and show their engines and prices.",
    load: async (output) => (await import("./tasks.ts")).createTasksCommand(toGatewayContext(output)),
  },
  jobs: {
    summary: "List, show and cancel jobs, and send their webhooks again.",
    load: async (output) => (await import("./jobs.ts")).createJobsCommand(toStorageContext(output)),
  },
  webhooks: {
    summary: "Check and receive callbacks, and manage the keys that sign them.",
    load: async (output) => (await import("./webhooks.ts")).createWebhooksCommand(toWebhooksContext(output)),
  },
  engines: {
    summary: "List, install and remove groups of local engines.",
    load: async (output) => (await import("./engines.ts")).createEnginesCommand({ ...output, ...readLauncher() }),
    readsSettings: false,
  },
  storage: {
    summary: "Back up a store in SQLite, or move it to PostgreSQL.",
    load: async (output) => (await import("./storage.ts")).createStorageCommand(toStoreFilesContext(output)),
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
  const [first] = args;
  const namesCommand = first !== undefined && (!first.startsWith("-") || programOptions.includes(first));
  const command = namesCommand ? first : "serve";
  const program = await createProgram(command, output);
  return await runCommandLine(program, namesCommand ? args : [command, ...args], output);
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
  const add = ({ name, summary, note = "", example }: CommandText) =>
    program
      .command(name)
      .summary(summary)
      .description(summary + note)
      .addHelpText("after", `\nExample: ${example}`);

  const serve = add({
    name: "serve",
    summary: "Start the gateway.",
    note: settingsNote,
    example: "npx switchyard-gateway serve --port 8081",
  });
  addServingOptions(serve, { listens: true }).action(toAction(runServe));
  const work = add({
    name: "work",
    summary: "Run jobs only, beside gateways on the same PostgreSQL.",
    note: settingsNote,
    example: "DATABASE_URL=postgres://switchyard:password@db.example/switchyard npx switchyard-gateway work",
  });
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
  add({ name: "version", summary: "Print the version.", example: "npx switchyard-gateway version" })
    .option("--json", "print JSON")
    .action(({ json }: { json?: true }) =>
      output.print(json ? JSON.stringify({ version, bun: Bun.version }, null, 2) : version),
    );
  add({
    name: "help",
    summary: "Print this help, or that of a command.",
    example: "npx switchyard-gateway help keys create",
  })
    .argument("[command...]", "the command whose help is printed")
    .option("--json", "print all commands, with their options, as JSON")
    .action(async (words: readonly string[], { json }: { json?: true }) => {
      if (words.length > 0) await runCommand([...words, "--help"], output);
      else if (!json) program.outputHelp();
      else output.print(JSON.stringify(listCommands(await createProgram(null, output)), null, 2));
    });
  return program;
}

interface CommandText {
  readonly name: string;
  readonly summary: string;
  /** Follows the summary in the help of the command. */
  readonly note?: string;
  readonly example: string;
}

function toAction(run: () => Promise<number>) {
  return async () => {
    const exitCode = await run();
    if (exitCode !== 0) throw new CommandFailed(exitCode);
  };
}

/** Options for the settings, and for a group of commands the example of its first one. */
function addCommonParts(command: Command, readsSettings: boolean): void {
  for (const subcommand of command.commands) addCommonParts(subcommand, readsSettings);
  if (readsSettings && isRunnable(command)) addLocationOptions(command);
  const [first] = command.commands;
  if (first !== undefined && readExample(command) === null)
    command.addHelpText("after", `\nExample: ${readExample(first)}`);
}

function toAccessContext(output: Output) {
  return { ...toStorageContext(output), readDefaults: () => readConfig().defaults };
}

function toStorageContext(output: Output) {
  return { ...output, openStorage: () => openConfiguredStorage("no secrets") };
}

function toRequestsContext(output: Output) {
  const loadExplainCost = async () => {
    const config = readConfig();
    return await loadExplainer(config, createCommandLog(config));
  };
  return { ...toStorageContext(output), loadExplainCost };
}

function toDemoContext(output: Output) {
  const environmentOf = ({ dataDir, configFile }: DemoPaths) =>
    withSettings({ SWITCHYARD_DATA_DIR: dataDir, SWITCHYARD_CONFIG: configFile, DATABASE_URL: "" });
  return {
    ...output,
    readConfig: (paths: DemoPaths) => readConfig(environmentOf(paths)),
    openLog: createCommandLog,
    loadComputeCost: loadExplainer,
    serve: (paths: DemoPaths) => runServe(environmentOf(paths)),
  };
}

/** For commands that ask a running gateway. */
function toGatewayContext(output: Output) {
  return { ...output, readAddress: readGatewayAddress };
}

function toWebhooksContext(output: Output) {
  return {
    ...output,
    settings: () => ({ dataDir: readConfig().dataDir, gatewayUrl: readGatewayAddress() }),
    openStorage: () => openConfiguredStorage("secrets"),
    log: createCommandLog(null),
    readInput: () => Bun.stdin.bytes(),
  };
}

function toStoreFilesContext(output: Output) {
  const settings = () => {
    const config = readConfig();
    return { ...config, log: createCommandLog(config) };
  };
  return { ...output, settings };
}

/** Never creates a store: a command that runs in the wrong folder would otherwise work on a new and empty one. */
async function openConfiguredStorage(needs: "secrets" | "no secrets"): Promise<Storage> {
  const config = readConfig();
  const settings = storageSettings(config);
  const encryptionKey = needs === "secrets" ? settings.encryptionKey : undefined;
  await requireStore(config.dataDir, config.databaseUrl);
  return await openStorage({ ...settings, encryptionKey, log: createCommandLog(config) });
}

async function loadExplainer(config: Config, log: Log) {
  return (await import("../services.ts")).createOfflineExplainer(config, log);
}

function readGatewayAddress(): string {
  return addressOf(readConfig());
}
