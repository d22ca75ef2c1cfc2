// The commands as data: for shell completion, `switchyard help --json` and docs/command-line.md.

import type { Command } from "commander";

export interface CommandInfo {
  /** The words after the name of the program: `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly arguments: readonly { readonly name: string; readonly meaning: string }[];
  readonly options: readonly OptionInfo[];
  readonly example: string | null;
  /** The commands below this one, one word each. */
  readonly commands: readonly string[];
  /** False: the command only groups other commands. */
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

const helpOption: OptionInfo = {
  flags: "-h, --help",
  name: "--help",
  takesValue: false,
  meaning: "print help and an example",
};

/** All commands below the program, in the order in which help lists them. */
export function listCommands(program: Command): CommandInfo[] {
  return program.commands.flatMap((command) => describeBelow(command, []));
}

function describeBelow(command: Command, parents: readonly string[]): CommandInfo[] {
  const path = [...parents, command.name()];
  return [describe(command, path), ...command.commands.flatMap((below) => describeBelow(below, path))];
}

function describe(command: Command, path: readonly string[]): CommandInfo {
  const options = command.options.map(({ flags, long, required, optional, description }) => ({
    flags,
    name: long ?? flags,
    takesValue: required || optional,
    meaning: description,
  }));
  return {
    name: path.join(" "),
    summary: command.description(),
    usage: `switchyard ${path.join(" ")} ${command.usage()}`,
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      meaning: argument.description,
    })),
    options: [...options, helpOption],
    example: readExample(command),
    commands: command.commands.map((below) => below.name()),
    isRunnable: isRunnable(command),
  };
}

/** `usage` runs by itself and has a command below it; other commands do one of the two. */
export function isRunnable(command: Command): boolean {
  return command.commands.length === 0 || command.options.length > 0;
}

/** The example at the end of a command's help. */
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
