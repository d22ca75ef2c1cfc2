// Runs one command of the command line in this process.

import type { Command } from "commander";
import { type Output, runCommandLine } from "../../src/cli/command-line.ts";

export function runCommand<Context extends Output>(
  create: (context: Context) => Command,
  args: readonly string[],
  context: Context,
): Promise<number> {
  return runCommandLine(create(context), args, context);
}
