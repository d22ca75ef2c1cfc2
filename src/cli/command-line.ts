// What all commands share: output, help, exit codes, and the parsing of option values. Commander parses the arguments.

import { Command, CommanderError, InvalidArgumentError } from "commander";
import { ConfigError } from "../config.ts";
import { messageOf, type Problem, SettingError, ValidationError } from "../errors.ts";

export interface Output {
  print(line: string): void;
  /** For errors and notes, which must not mix with a result that a program reads. */
  printError(line: string): void;
  /** Replaces the progress line; null removes it. Absent unless standard error is a terminal. */
  showProgress?(line: string | null): void;
}

/** The arguments are wrong. The message and the command's help are printed, and the exit code is 2. */
export class UsageError extends Error {}

/** Ends a command that has already printed why it failed. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode = 1) {
    super();
    this.exitCode = exitCode;
  }
}

/** Creates a command with the settings that all commands share. Subcommands that are added with `.command()` inherit them. */
export function createCommand(name: string, summary: string, output: Output): Command {
  return new Command(name)
    .description(summary)
    .helpCommand(false)
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.print(text.trimEnd()),
      writeErr: (text) => output.printError(text.trimEnd()),
      getOutHelpWidth: () => 120,
      getErrHelpWidth: () => 120,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** Sets what the help of a command says: its summary, and an example at the end. */
export function explain(command: Command, summary: string, example: string): Command {
  return command.description(summary).addHelpText("after", `\nExample: npx switchyard-gateway ${example}`);
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
  // A UsageError prints the help of this command.
  let runningCommand = command;
  command.hook("preAction", (_, subcommand) => {
    runningCommand = subcommand;
  });
  try {
    await command.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommandFailed) return error.exitCode;
    // Commander has already printed its message. Printing the requested help is not a failure.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    output.printError(describeError(error));
    if (error instanceof UsageError) {
      output.printError("");
      runningCommand.outputHelp({ error: true });
    }
    return [UsageError, ValidationError, ConfigError, SettingError].some((kind) => error instanceof kind) ? 2 : 1;
  }
}

function describeError(error: unknown): string {
  if (error instanceof ValidationError) return error.problems.map(describeProblem).join("\n");
  if (error instanceof SettingError) return `${error.path}: ${error.message}`;
  return messageOf(error);
}

/** Leaves out the first part of the location: it says where in an HTTP request the member is. */
function describeProblem({ loc: [, ...path], msg }: Problem): string {
  return path.length === 0 ? msg : `${path.join(".")}: ${msg}`;
}

/** The result of a command: `json` is printed with `--json`, otherwise `lines`. */
export interface Result {
  readonly json: unknown;
  readonly lines: readonly string[];
}

export function printResult(output: Output, isJson: boolean | undefined, { json, lines }: Result): void {
  for (const line of isJson ? [JSON.stringify(json, null, 2)] : lines) output.print(line);
}

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_048_576)} MB`;
}

/** Parses a repeatable option: Commander calls this for each occurrence. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

export function toNumber(given: string): number {
  const value = Number(given);
  if (given.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It takes a number.");
  return value;
}

export function toWholeNumber(min: number, max: number): (given: string) => number {
  return (given) => {
    if (!/^\d+$/.test(given) || Number(given) < min || Number(given) > max)
      throw new InvalidArgumentError(`It takes a whole number from ${min} to ${max}.`);
    return Number(given);
  };
}

export function toBoolean(given: string): boolean {
  if (given !== "true" && given !== "false") throw new InvalidArgumentError("It takes true or false.");
  return given === "true";
}
