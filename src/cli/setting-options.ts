// Options that stand for settings, such as `--data-dir`. They override the environment and switchyard.yaml, also after a reload.

import type { Command } from "commander";
import { overrideSettings } from "../config.ts";
import { toWholeNumber } from "./command-line.ts";

interface SettingOption {
  readonly flags: string;
  readonly meaning: string;
  readonly variable: string;
  /** The value of an option that takes none. */
  readonly value?: string;
  readonly parse?: (given: string) => unknown;
}

/** Options of every command that reads the settings. */
const locations: readonly SettingOption[] = [
  {
    flags: "--config <file>",
    meaning: "the configuration file; default: ./switchyard.yaml, if it exists",
    variable: "SWITCHYARD_CONFIG",
  },
  {
    flags: "--data-dir <folder>",
    meaning: "the folder of the gateway's data; default: ./data",
    variable: "SWITCHYARD_DATA_DIR",
  },
];

const listener: readonly SettingOption[] = [
  {
    flags: "--host <address>",
    meaning: "the address to listen on; default: 127.0.0.1",
    variable: "SWITCHYARD_HOST",
  },
  {
    flags: "--port <n>",
    meaning: "the port to listen on; default: 8080",
    variable: "SWITCHYARD_PORT",
    parse: toWholeNumber(0, 65_535),
  },
];

const jsonLog: SettingOption = {
  flags: "--json",
  meaning: "write the log as JSON lines, also to a terminal",
  variable: "SWITCHYARD_LOG_FORMAT",
  value: "json",
};

export function addLocationOptions(command: Command): Command {
  return addSettingOptions(command, locations);
}

/** For commands that run until they are stopped. */
export function addServingOptions(command: Command, { listens }: { readonly listens: boolean }): Command {
  return addSettingOptions(command, [...(listens ? listener : []), ...locations, jsonLog]);
}

/** An option that the command has already is left to the command. */
function addSettingOptions(command: Command, options: readonly SettingOption[]): Command {
  const added = options.filter(
    ({ flags }) => !command.options.some((option) => flags.startsWith(option.long ?? flags)),
  );
  const variables = new Map<string, SettingOption>();
  for (const option of added) {
    if (option.parse === undefined) command.option(option.flags, option.meaning);
    else command.option(option.flags, option.meaning, option.parse);
    const attribute = command.options.at(-1)?.attributeName();
    if (attribute !== undefined) variables.set(attribute, option);
  }
  return command.hook("preAction", () => {
    const given = command.opts();
    for (const [attribute, { variable, value }] of variables) {
      if (given[attribute] === undefined) continue;
      overrideSettings({ [variable]: value ?? String(given[attribute]) });
      // The command checks its own options, and would refuse this one.
      delete given[attribute];
    }
  });
}
