// `switchyard storage move`: from SQLite in the data folder to PostgreSQL.

import type { Command } from "commander";
import { commandActor } from "../access/roles.ts";
import type { Log } from "../log.ts";
import { moveStorage, requireStore } from "../storage/storage.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { createCommand, explain, type Output, printResult, UsageError } from "./command-line.ts";
import { withProgress } from "./progress.ts";

export interface StorageContext extends Output {
  readonly settings: () => { readonly dataDir: string; readonly log: Log };
}

export function createStorageCommand(context: StorageContext): Command {
  const group = createCommand("storage", "Move stored data from SQLite to PostgreSQL.", context);
  explain(
    group.command("move"),
    "Copy all data from SQLite in the data folder into an empty PostgreSQL database. Stop the gateway first.",
    "storage move --to postgres://switchyard:password@db.example:5432/switchyard",
  )
    .option("--to <address>", "the database, postgres://user:password@host:5432/database; required")
    .option("--json", "print JSON")
    .action(async ({ to, json }: { to?: string; json?: true }) => {
      if (to === undefined) throw new UsageError("--to is required: the address of the PostgreSQL database.");
      // The message does not repeat the address, which holds a password.
      if (!/^postgres(ql)?:\/\//.test(to)) throw new UsageError("--to takes an address that begins with postgres://");
      const { dataDir, log } = context.settings();
      log.hide(new URL(to).password);
      await requireStore(dataDir);
      const moved = await withProgress(context, "copying", (progress) =>
        moveStorage({
          ...{ dataDir, to, log, actor: commandActor() },
          onProgress: (table, rows) => progress.set(`copying ${table}: ${rows} rows`),
        }),
      );
      const rows = moved.map(({ table, rows }) => [table, rows]);
      const next = "Done. Set DATABASE_URL to this database and start the gateway.";
      printResult(context, json, { json: { moved }, lines: [...alignColumns([["table", "rows"], ...rows], 1), next] });
    });
  return group;
}
