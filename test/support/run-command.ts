// Runs one command of the command line in this process.

import type { Command } from "commander";
import { type Output, runCommandLine } from "../../src/cli/command-line.ts";

interface Printed {
  readonly code: number;
  readonly text: string;
  readonly errors: string;
  json(): ReturnType<typeof JSON.parse>;
}

/** Collects what a command prints. */
export async function runAndCollect(run: (output: Output) => Promise<number>): Promise<Printed> {
  const printed: string[] = [];
  const errors: string[] = [];
  const code = await run({
    print: (line) => void printed.push(line),
    printError: (line) => void errors.push(line),
  });
  return { code, text: printed.join("\n"), errors: errors.join("\n"), json: () => JSON.parse(printed.join("\n")) };
}

export function runCommand<Context extends Output>(
  create: (context: Context) => Command,
  args: readonly string[],
  context: Context,
): Promise<number> {
  return runCommandLine(create(context), args, context);
}
