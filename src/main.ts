// The process entry: reads the command line and runs one command. Nobody imports it.

import { runCommand } from "./cli/commands.ts";

const code = await runCommand(process.argv.slice(2));
// What was printed must be out before the end; an open channel to the parent must not delay it.
await new Promise((resolve) => process.stdout.write("", resolve));
process.exit(code);
