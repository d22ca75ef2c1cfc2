// `switchyard reload`: makes the running gateway read its configuration again, and says which one serves afterwards.

import { resolve } from "node:path";
import type { Command } from "commander";
import { CommandFailed, createCommand, type Output } from "./command-line.ts";
import { type ReloadAnswer, reloadGateways } from "./control-socket.ts";

export interface ReloadContext extends Output {
  /** Where the gateway stores its data, also when its configuration is not valid. */
  readonly findDataDir: () => string;
}

export function createReloadCommand(context: ReloadContext): Command {
  return createCommand("reload", "Make the running gateway read its configuration again.", context)
    .summary("Make the running gateway read its configuration again.")
    .option("--data-dir <folder>", "the data folder of the gateway; default: that of the settings")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
All processes take the new configuration, or all keep the current one; the output says which.
Exit codes: 0 the new configuration serves, 1 it could not be started or no gateway runs, 2 it is not valid.

Example: npx switchyard-gateway reload`,
    )
    .action(async (options: { dataDir?: string; json?: true }) => {
      const dataDir = resolve(options.dataDir ?? context.findDataDir());
      const { answers, unreachable } = await reloadGateways(dataDir);
      if (answers.length === 0 && unreachable.length === 0)
        throw new Error(
          `No gateway runs on the data folder ${dataDir}. Start one with: npx switchyard-gateway serve, or name its folder: npx switchyard-gateway reload --data-dir /path/to/data`,
        );
      if (options.json === true) context.print(JSON.stringify(answers.map(toJson), null, 2));
      else for (const answer of answers) print(answer, context);
      for (const pid of unreachable)
        context.printError(
          `Gateway ${pid} uses the data folder ${dataDir}, but its control socket cannot be opened from here. Reload it with SIGHUP, on its own machine.`,
        );
      const failed = answers.filter(({ reloaded }) => !reloaded);
      if (failed.length === 0 && unreachable.length > 0) throw new CommandFailed(1);
      if (failed.length > 0) throw new CommandFailed(failed.some(({ isConfiguration }) => isConfiguration) ? 2 : 1);
    });
}

function toJson({ pid, reloaded, reason, configuration }: ReloadAnswer) {
  return { pid, reloaded, reason, configuration };
}

function print({ pid, reloaded, reason, configuration }: ReloadAnswer, { print, printError }: Output) {
  const { number, file, read_at: readAt } = configuration;
  const described = `configuration ${number}, read at ${readAt} from ${file ?? "the environment"}`;
  if (reloaded) {
    print(`Gateway ${pid}: all processes serve the new configuration (${described}).`);
    return;
  }
  printError(`Gateway ${pid}: all processes keep the current configuration (${described}).`);
  printError(`The new configuration was not taken: ${reason}`);
}
