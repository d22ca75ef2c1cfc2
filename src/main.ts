// The process entry: runs one command, or one process for the supervisor. No file imports it.

import { findProcess } from "./cli/serve.ts";

const args = process.argv.slice(2);
const runProcess = findProcess(args[0] ?? "");
// The processes do not need the command line.
const code = await (runProcess?.() ?? (await import("./cli/commands.ts")).runCommand(args));
// Output must be written before the process ends; an open channel to the parent must not delay the end.
await new Promise((resolve) => process.stdout.write("", resolve));
process.exit(code);
