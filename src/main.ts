// The process entry: reads the command line and runs one command. Nobody imports it.

import { runCommand } from "./cli/commands.ts";

process.exitCode = await runCommand(process.argv.slice(2));
