// `switchyard config check|show|schema|import`.

import type { Command } from "commander";
import schema from "../../docs/switchyard.schema.json";
import { type ConfigProblem, describeProblem, type Environment } from "../config/config-file.ts";
import { checkSetting } from "../config/settings.ts";
import { listSettings } from "../config/shown-settings.ts";
import { type Config, ConfigError, readConfig, readConfigPartly, withConfigFile } from "../config.ts";
import type { ProviderDetail } from "../contract/providers.ts";
import type { ShownSetting } from "../contract/settings.ts";
import { findMisspeltVariables, findOwnAddresses, setUpProviders } from "../provider-setup.ts";
import type { Provider } from "../providers/configure.ts";
import { importLitellmConfig } from "../providers/litellm/import-config.ts";
import { toTable } from "./access-command.ts";
import { CommandFailed, createCommand, explain, type Output } from "./command-line.ts";
import { type OpenProviders, toProviderRows } from "./providers.ts";

export interface ConfigContext extends Output {
  /** Opens the credentials of providers, with those in the store if there is one. */
  readonly openProviders: OpenProviders;
  readFile(path: string): string;
  /** Throws when the file exists. */
  createFile(path: string, text: string): void;
}

interface FileOptions {
  readonly config?: string;
  readonly json?: true;
}

interface CheckResult {
  readonly valid: boolean;
  readonly file: string | null;
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly ConfigProblem[];
  readonly providers: readonly string[];
}

const fileOption = ["--config <file>", "the file to read; default: SWITCHYARD_CONFIG or ./switchyard.yaml"] as const;
/** The exit code of every command that finds wrong settings. */
const invalidExitCode = 2;

export function createConfigCommand(context: ConfigContext): Command {
  const group = createCommand("config", "Check, show, describe and import the configuration.", context);

  explain(
    group.command("check"),
    "Check the environment and switchyard.yaml. Every problem is printed with file, line and remedy.",
    "config check --config switchyard.yaml",
  )
    .option(...fileOption)
    .option("--strict", "treat warnings as problems")
    .option("--json", "print JSON")
    .action(({ config, json, strict }: FileOptions & { strict?: true }) => {
      const result = checkConfig(withConfigFile(config), strict === true);
      if (json) context.print(JSON.stringify(result, null, 2));
      else printCheck(result, context);
      if (!result.valid) throw new CommandFailed(invalidExitCode);
    });

  explain(
    group.command("show"),
    "Show every setting and provider in force, and where it comes from. Secrets are hidden.",
    "config show --json",
  )
    .option(...fileOption)
    .option("--json", "print JSON")
    .action(async ({ config: file, json }: FileOptions) => {
      const config = readConfig(withConfigFile(file));
      const settings = listSettings(config).map(({ description: _, ...setting }) => setting);
      const { providers, storeProblem } = await readProviders(context, file);
      const aliases = Object.fromEntries(config.aliases);
      if (json) {
        const store = { read: storeProblem === null, reason: storeProblem };
        return context.print(JSON.stringify({ file: config.file, store, settings, providers, aliases }, null, 2));
      }
      context.print(config.file === null ? "There is no switchyard.yaml." : `File: ${config.file}`);
      context.print("");
      const rows = settings.map(({ name, variable, value, source }) => [
        variable ?? name,
        describeValue(value),
        describeSource(source),
      ]);
      for (const line of toTable([["SETTING", "VALUE", "FROM"], ...rows])) context.print(line);
      context.print("");
      for (const line of toTable(toProviderRows(providers))) context.print(line);
      if (storeProblem !== null) context.print(`\nThe store was not read: ${storeProblem}`);
    });

  explain(
    group.command("schema"),
    "Print the JSON Schema of switchyard.yaml, with which editors complete and check the file.",
    "config schema > switchyard.schema.json",
  )
    .option("--json", "print JSON, which is the only format")
    .action(() => context.print(JSON.stringify(schema, null, 2)));

  explain(
    group.command("import"),
    "Convert the configuration of a LiteLLM proxy, and list what could not be converted.",
    "config import litellm.yaml --output switchyard.yaml",
  )
    .argument("<file>", "the configuration of the LiteLLM proxy, such as litellm.yaml")
    .option("--output <file>", "write the result to this new file; default: print it")
    .option("--json", "print JSON: the result and the notes")
    .action((file: string, { output, json }: { output?: string; json?: true }) => {
      const { yaml, notes, problems } = importLitellmConfig(context.readFile(file), checkSetting);
      if (problems.length > 0) throw new ConfigError(problems.map((problem) => ({ path: null, file, ...problem })));
      if (output !== undefined) context.createFile(output, yaml);
      if (json) return context.print(JSON.stringify({ yaml, notes }, null, 2));
      if (output === undefined) context.print(yaml.trimEnd());
      for (const { line, path, message } of notes) context.printError(`${file}:${line}: ${path}: ${message}`);
      context.printError(
        notes.length === 0
          ? "Everything was converted."
          : `${notes.length} ${notes.length === 1 ? "entry needs" : "entries need"} your attention.`,
      );
      if (output !== undefined) context.printError(`Next: npx switchyard-gateway config check --config ${output}`);
    });
  return group;
}

function checkConfig(environment: Environment, isStrict: boolean): CheckResult {
  const { config, problems: wrongSettings } = readConfigPartly(environment);
  const found = config === null ? { problems: [], warnings: [], providers: [] } : checkProviders(config);
  // Settings that are left out because they are wrong can cause warnings that mean nothing.
  const warnings = wrongSettings.length === 0 ? found.warnings : [];
  const problems = [...wrongSettings, ...found.problems, ...(isStrict ? warnings : [])];
  return {
    valid: problems.length === 0,
    file: config?.file ?? problems.find(({ file }) => file !== null)?.file ?? null,
    problems: problems.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0)),
    warnings: isStrict ? [] : warnings,
    providers: found.providers,
  };
}

/** The checks for which the providers have to be set up. */
function checkProviders(config: Config): Pick<CheckResult, "problems" | "warnings" | "providers"> {
  try {
    const setup = setUpProviders(config);
    // A provider without credentials, such as the sandbox, is always configured.
    const isListed = ({ configured, row }: Provider) => configured && row.auth?.kind !== "none";
    return {
      problems: [],
      warnings: [...config.warnings, ...findMisspeltVariables(config, setup), ...findOwnAddresses(config, setup)],
      providers: [...setup.providers.values()].filter(isListed).map(({ name }) => name),
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems, warnings: [], providers: [] };
  }
}

function printCheck({ valid, file, problems, warnings, providers }: CheckResult, { print, printError }: Output): void {
  for (const problem of problems) printError(describeProblem(problem));
  for (const warning of warnings) printError(`warning: ${describeProblem(warning)}`);
  if (!valid) printError(`${problems.length} ${problems.length === 1 ? "problem" : "problems"}.`);
  else print(`${file ?? "The environment"} is valid. Configured providers: ${providers.join(", ") || "none"}.`);
}

async function readProviders(context: ConfigContext, file: string | undefined) {
  const opened = await context.openProviders(file, "store if there is one");
  try {
    const { credentials, names, storeProblem } = opened;
    const described = names.map((name) => credentials.describe(name));
    const isShown = ({ configured, stored }: ProviderDetail) => configured || stored.length > 0;
    return { providers: described.filter(isShown).map(withoutHealth), storeProblem };
  } finally {
    await opened.close();
  }
}

/** Leaves out what only calls can tell, because this process has made none. */
function withoutHealth({ healthy: _, last_error: __, deployments, ...provider }: ProviderDetail) {
  return { ...provider, deployments: deployments.map(({ offers: ___, ...deployment }) => deployment) };
}

function describeSource(source: ShownSetting["source"]): string {
  if (source.kind === "default") return "default";
  return source.kind === "environment" ? `environment (${source.variable})` : `file, line ${source.line}`;
}

function describeValue(value: unknown): string {
  if (value === null) return "-";
  if (Array.isArray(value)) return value.map(describeValue).join(",") || "-";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
