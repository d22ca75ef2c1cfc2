// `switchyard storage move`: from SQLite in the data folder to PostgreSQL.

import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { moveStorage, requireStore } from "../storage/storage.ts";
import { type CommandSpec, type Input, runInGroup, toOutput, UsageError } from "./command-line.ts";

export interface StorageContext {
  readonly dataDir: string;
  readonly log: Log;
  print(line: string): void;
  /** Messages for people, kept apart from what `--json` prints. */
  printError?(line: string): void;
}

const move: CommandSpec = {
  name: "storage move",
  summary:
    "Copies everything from SQLite in the data folder into an empty PostgreSQL database. Stop the gateway first.",
  options: {
    to: { takes: "<address>", meaning: "of the database: postgres://user:password@host:5432/database" },
    json: { meaning: "prints JSON" },
  },
  example: "npx switchyard storage move --to postgres://switchyard:password@db.example:5432/switchyard",
};

const commands = { move: { spec: move } };

/** The exit code: 0 done, 1 it could not be done, 2 the command was not understood. */
export async function runStorageCommand(args: string[], context: StorageContext): Promise<number> {
  const output = toOutput(context);
  return await runInGroup("storage", commands, args, output, async (_, input) => {
    const to = readTarget(input);
    context.log.hide(new URL(to).password);
    try {
      await requireStore(context.dataDir);
      const moved = await moveStorage({ dataDir: context.dataDir, to, log: context.log });
      const isJson = input.has("json");
      if (isJson) context.print(JSON.stringify({ moved }, null, 2));
      for (const { table, rows } of isJson ? [] : moved) context.print(`${table}: ${rows} rows`);
      if (!isJson) context.print("Done. Set DATABASE_URL to this database and start the gateway.");
      return 0;
    } catch (error) {
      output.printError(messageOf(error));
      return 1;
    }
  });
}

function readTarget(input: Input): string {
  const to = input.text("to");
  if (to === undefined) throw new UsageError("--to is needed: the address of the PostgreSQL database.");
  const protocol = URL.parse(to)?.protocol;
  if (protocol === "postgres:" || protocol === "postgresql:") return to;
  throw new UsageError("--to takes an address that begins with postgres://");
}
