// The shape of a command as data: its options, words and example. Usage, `--help` and the refusal of anything else follow from it.

import { parseArgs } from "node:util";
import { findNearest } from "../lib/find-nearest.ts";

export interface OptionSpec {
  /** What follows the option, such as `<name>`; absent: nothing does. */
  readonly takes?: string;
  readonly meaning: string;
  readonly multiple?: true;
}

export interface CommandSpec {
  /** The words after `switchyard`: `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** What follows the name besides options. */
  readonly words?: { readonly shown: string; readonly least: number; readonly most: number; readonly hint?: string };
  readonly example: string;
}

export interface Input {
  readonly words: readonly string[];
  text(name: string): string | undefined;
  list(name: string): readonly string[];
  has(name: string): boolean;
}

/** The command line was not understood: exit code 2. */
export class UsageError extends Error {}

/** `help` when the caller asked for it; throws a UsageError for an unknown option, a missing value or a stray word. */
export function readArguments(spec: CommandSpec, args: readonly string[]): Input | "help" {
  if (args.includes("--help") || args.includes("-h")) return "help";
  const { options = {}, words = { shown: "", least: 0, most: 0, hint: "" } } = spec;
  const known = Object.fromEntries(
    Object.entries(options).map(([name, { takes, multiple = false }]) => [
      name,
      { type: takes === undefined ? "boolean" : "string", multiple } as const,
    ]),
  );
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: known,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw new UsageError(unknownOption(token.rawName, Object.keys(options)));
    if (
      option.takes !== undefined &&
      (token.value === undefined || (!token.inlineValue && token.value.startsWith("--")))
    )
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.takes}.`);
    if (option.takes === undefined && token.value !== undefined)
      throw new UsageError(`${token.rawName} takes no value, and got "${token.value}".`);
  }
  const stray = positionals[words.most];
  if (stray !== undefined)
    throw new UsageError(`Unexpected word "${stray}": \`switchyard ${spec.name}\` takes ${words.shown || "no words"}.`);
  if (positionals.length < words.least)
    throw new UsageError(`\`switchyard ${spec.name}\` needs ${words.shown}${words.hint ?? ""}.`);
  return {
    words: positionals,
    text: (name) => values[name] as string | undefined,
    list: (name) => (values[name] as string[] | undefined) ?? [],
    has: (name) => values[name] === true,
  };
}

function unknownOption(name: string, known: readonly string[]): string {
  const nearest = findNearest(name.replace(/^-+/, ""), [...known, "help"]);
  return `Unknown option ${name}${nearest === null ? "." : `; did you mean --${nearest}?`}`;
}

/** The command that was meant, by its first words; throws a UsageError that names the nearest one. */
export function findCommand<T>(commands: Readonly<Record<string, T>>, name: string, group = ""): T {
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(commands);
  if (name === "") throw new UsageError(`Name a command: ${names.join(", ")}.`);
  const prefix = group === "" ? "" : `${group} `;
  const nearest = findNearest(name, names);
  const hint = nearest === null ? `. The commands are ${names.join(", ")}.` : `; did you mean "${prefix}${nearest}"?`;
  throw new UsageError(`Unknown command "${prefix}${name}"${hint}`);
}

/** The text of `--help` for one command. */
export function describeCommand(spec: CommandSpec): string {
  const { name, summary, options = {}, words, example } = spec;
  const entries = Object.entries(options);
  const heads = entries.map(([option, { takes }]) => `--${option}${takes === undefined ? "" : ` ${takes}`}`);
  const width = Math.max(0, ...heads.map((head) => head.length));
  const lines = entries.map(([, { meaning }], index) => `  ${(heads[index] ?? "").padEnd(width)}  ${meaning}`);
  const line = ["switchyard", name, words?.shown, entries.length > 0 ? "[options]" : undefined];
  return [
    `${line.filter(Boolean).join(" ")}\n    ${summary}`,
    ...(lines.length > 0 ? ["", ...lines] : []),
    "",
    `Example: ${example}`,
  ].join("\n");
}

/** The text of `--help` for a group of commands. */
export function describeGroup(specs: readonly CommandSpec[]): string {
  const heads = specs.map(({ name, words }) => `switchyard ${name}${words === undefined ? "" : ` ${words.shown}`}`);
  const width = Math.max(...heads.map((head) => head.length));
  const lines = specs.map(({ summary }, index) => `  ${(heads[index] ?? "").padEnd(width)}  ${summary}`);
  return `${lines.join("\n")}\n\nExample: ${specs[0]?.example ?? ""}\nAdd --help to a command for its options.`;
}

export interface Output {
  print(line: string): void;
  printError(line: string): void;
}

/** Messages for people go to standard error, apart from what `--json` prints. */
export function toOutput(context: { print(line: string): void; printError?(line: string): void }): Output {
  return {
    print: (line) => context.print(line),
    printError: context.printError ?? ((line) => void process.stderr.write(`${line}\n`)),
  };
}

/** Runs one command of a group. Exit codes: 0 done, 1 it could not be done, 2 the command line was not understood. */
export async function runInGroup<T extends { readonly spec: CommandSpec }>(
  group: string,
  commands: Readonly<Record<string, T>>,
  args: readonly string[],
  output: Output,
  run: (command: T, input: Input) => Promise<number>,
): Promise<number> {
  const [verb = "", ...rest] = args;
  let spec: CommandSpec | null = null;
  try {
    if (verb === "--help" || verb === "-h") {
      output.print(describeGroup(Object.values(commands).map((command) => command.spec)));
      return 0;
    }
    const command = findCommand(commands, verb, group);
    spec = command.spec;
    const input = readArguments(spec, rest);
    if (input !== "help") return await run(command, input);
    output.print(describeCommand(spec));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const usage = spec === null ? describeGroup(Object.values(commands).map((one) => one.spec)) : describeCommand(spec);
    output.printError(`${error.message}\n\n${usage}`);
    return 2;
  }
}
