// The parts that all commands share: exit codes, output, and options that may be repeated. Commander parses the arguments.

import { Command, CommanderError, InvalidArgumentError } from "commander";
import { ConfigError } from "../config.ts";
import { messageOf, SettingError, ValidationError } from "../errors.ts";

export interface Output {
  print(line: string): void;
  /** Messages for people, apart from the output that `--json` asks for. */
  printError?(line: string): void;
  /** Replaces the line that shows how far long work is; null removes it. Absent where no person watches. */
  showProgress?(line: string | null): void;
}

/** The command line was not understood: exit code 2, and the command's help. */
export class UsageError extends Error {}

/** The command has already printed why it failed. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode = 1) {
    super();
    this.exitCode = exitCode;
  }
}

/** The commands below it inherit its settings. */
export function createCommand(name: string, summary: string, output: Output): Command {
  return new Command(name)
    .description(summary)
    .helpCommand(false)
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.print(text.trimEnd()),
      writeErr: (text) => printError(output, text.trimEnd()),
      getOutHelpWidth: () => 120,
      getErrHelpWidth: () => 120,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** What the exit codes of all commands mean, for help and docs/command-line.md. */
export const exitCodes: Readonly<Record<number, string>> = {
  0: "done",
  1: "failed, or a check found a problem",
  2: "wrong arguments or settings",
  130: "interrupted with Ctrl-C",
};

/** Runs a command and returns its exit code. */
export async function runCommandLine(command: Command, args: readonly string[], output: Output): Promise<number> {
  let current = command;
  command.hook("preAction", (_, action) => {
    current = action;
  });
  try {
    await command.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommandFailed) return error.exitCode;
    // It has printed its message already. Help that was asked for is no failure.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    printError(output, describe(error));
    if (error instanceof UsageError) {
      printError(output, "");
      current.outputHelp({ error: true });
    }
    return [UsageError, ValidationError, ConfigError, SettingError].some((kind) => error instanceof kind) ? 2 : 1;
  }
}

function describe(error: unknown): string {
  if (error instanceof ValidationError)
    return error.problems.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("\n");
  if (error instanceof SettingError) return `${error.path}: ${error.message}`;
  return messageOf(error);
}

function printError(output: Output, text: string): void {
  if (output.printError === undefined) process.stderr.write(`${text}\n`);
  else output.printError(text);
}

/** The values of an option that may be repeated. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

export function toNumber(given: string): number {
  const value = Number(given);
  if (given.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It takes a number.");
  return value;
}

export function toWholeNumber(most: number) {
  return (given: string): number => {
    if (!/^\d+$/.test(given) || Number(given) > most)
      throw new InvalidArgumentError(`It takes a whole number up to ${most}.`);
    return Number(given);
  };
}

export function toBoolean(given: string): boolean {
  if (given !== "true" && given !== "false") throw new InvalidArgumentError("It takes true or false.");
  return given === "true";
}
