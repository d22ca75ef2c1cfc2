// `switchyard storage`: backups of the store in SQLite, and its move to PostgreSQL.

import type { Command } from "commander";
import { commandActor } from "../access/roles.ts";
import type { Config } from "../config.ts";
import { SettingError } from "../errors.ts";
import type { Log } from "../log.ts";
import { moveStorage, requireStore } from "../storage/storage.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { backUp } from "./back-up.ts";
import { createCommand, explain, megabytes, type Output, printResult, UsageError } from "./command-line.ts";
import { withProgress } from "./progress.ts";

export interface StorageContext extends Output {
  readonly settings: () => StorageSettings;
}

interface StorageSettings extends Pick<Config, "dataDir" | "databaseUrl" | "filesS3Bucket"> {
  readonly log: Log;
}

const usesPostgres =
  "the store is in PostgreSQL, which has its own tools for backups, such as pg_dump; docs/operations.md says what else to copy";

export function createStorageCommand(context: StorageContext): Command {
  const group = createCommand("storage", "Back up a store in SQLite, or move it to PostgreSQL.", context);
  explain(
    group.command("backup"),
    "Copy the SQLite database, lines of the ledger that wait on disk, and files to a new folder, while the gateway runs or not.",
    "storage backup backups/2026-08-01",
  )
    .argument("<folder>", "the folder to create; one that exists is refused")
    .option("--json", "print JSON")
    .action(async (folder: string, { json }: { json?: true }) => {
      const { dataDir, databaseUrl, filesS3Bucket } = context.settings();
      if (databaseUrl !== null) throw new SettingError("DATABASE_URL", usesPostgres);
      await requireStore(dataDir);
      const backup = await withProgress(context, "copying", ({ set }) => backUp({ dataDir, folder, onProgress: set }));
      const { database_bytes, ledger_lines, files, file_bytes } = backup;
      const lines = [
        `The backup is in ${backup.folder}: the database (${megabytes(database_bytes)}), ${ledger_lines} waiting lines of the ledger and ${files} files (${megabytes(file_bytes)}).`,
        "It contains private keys and content of callers: only this user may read it.",
      ];
      if (filesS3Bucket !== null) lines.push(`It lacks the files in the bucket ${filesS3Bucket}.`);
      printResult(context, json, { json: { ...backup, files_s3_bucket: filesS3Bucket }, lines });
    });
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
