// `switchyard storage move`: from SQLite in the data folder to PostgreSQL.

import { parseArgs } from "node:util";
import type { Log } from "../log.ts";
import { moveStorage } from "../storage/storage.ts";

export interface StorageContext {
  readonly dataDir: string;
  readonly log: Log;
  print(line: string): void;
  /** Messages for people, kept apart from what `--json` prints. */
  printError?(line: string): void;
}

export const storageUsage = `Usage:
  switchyard storage move --to postgres://user:password@host:5432/database [--json]
      Copies everything from SQLite in the data folder into an empty PostgreSQL database. Stop the gateway first.`;

/** The exit code: 0 done, 1 it could not be done, 2 the command was not understood. */
export async function runStorageCommand(args: string[], context: StorageContext): Promise<number> {
  const printError = context.printError ?? ((line) => process.stderr.write(`${line}\n`));
  if (args.includes("--help") || args.includes("-h")) {
    context.print(storageUsage);
    return 0;
  }
  const command = readCommand(args);
  if (typeof command === "string") {
    printError(`${command}\n\n${storageUsage}`);
    return 2;
  }
  context.log.hide(new URL(command.to).password);
  try {
    const moved = await moveStorage({ dataDir: context.dataDir, to: command.to, log: context.log });
    if (command.isJson) context.print(JSON.stringify({ moved }, null, 2));
    for (const { table, rows } of command.isJson ? [] : moved) context.print(`${table}: ${rows} rows`);
    if (!command.isJson) context.print("Done. Set DATABASE_URL to this database and start the gateway.");
    return 0;
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/** A string says what is wrong. */
function readCommand(args: string[]): { to: string; isJson: boolean } | string {
  try {
    const options = { to: { type: "string" }, json: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    if (positionals[0] !== "move" || positionals.length > 1) return "Say what to do: move.";
    if (values.to === undefined) return "--to is needed: the address of the PostgreSQL database.";
    const protocol = URL.parse(values.to)?.protocol;
    if (protocol !== "postgres:" && protocol !== "postgresql:")
      return "--to takes an address that begins with postgres://";
    return { to: values.to, isJson: values.json === true };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
