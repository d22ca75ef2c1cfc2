// The commands as data: for shell completion, `switchyard help --json` and docs/command-line.md.

import type { Command } from "commander";

export interface CommandInfo {
  /** The words after `switchyard`, such as `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly arguments: readonly { readonly name: string; readonly meaning: string }[];
  readonly options: readonly OptionInfo[];
  readonly example: string | null;
  /** The last word of the name of each subcommand, such as `create`. */
  readonly commands: readonly string[];
  /** False: the command only groups its subcommands. */
  readonly isRunnable: boolean;
}

export interface OptionInfo {
  /** `--name <name>` */
  readonly flags: string;
  /** `--name` */
  readonly name: string;
  readonly takesValue: boolean;
  readonly meaning: string;
}

// Commander does not list --help among the options of a command.
const helpOption: OptionInfo = {
  flags: "-h, --help",
  name: "--help",
  takesValue: false,
  meaning: "print this help",
};

/** All commands of the program, each followed by its subcommands, in the order in which help lists them. */
export function listCommands(program: Command): CommandInfo[] {
  return program.commands.flatMap((command) => describeTree(command, command.name()));
}

function describeTree(command: Command, name: string): CommandInfo[] {
  const subcommands = command.commands.flatMap((subcommand) =>
    describeTree(subcommand, `${name} ${subcommand.name()}`),
  );
  return [describe(command, name), ...subcommands];
}

function describe(command: Command, name: string): CommandInfo {
  const options = command.options.map(({ flags, long, required, optional, description }) => ({
    flags,
    name: long ?? flags,
    takesValue: required || optional,
    meaning: description,
  }));
  return {
    name,
    summary: command.description(),
    usage: `switchyard ${name} ${command.usage()}`,
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      meaning: argument.description,
    })),
    options: [...options, helpOption],
    example: readExample(command),
    commands: command.commands.map((subcommand) => subcommand.name()),
    isRunnable: isRunnable(command),
  };
}

/** A command without subcommands runs. One with subcommands runs if it has options of its own, as `usage` does. */
export function isRunnable(command: Command): boolean {
  return command.commands.length === 0 || command.options.length > 0;
}

/** The example in a command's help. Commander does not expose texts that were added to the help, so the help is printed into a string. */
export function readExample(command: Command): string | null {
  const { writeOut = () => {} } = command.configureOutput();
  let help = "";
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  command.configureOutput({ writeOut });
  return /Example: (.+)/.exec(help)?.[1] ?? null;
}
