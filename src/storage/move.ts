// Copies the whole store from SQLite to PostgreSQL, in one transaction.

import type { Log } from "../log.ts";
import { type Actor, recordChange } from "./audit.ts";
import { connectPostgres, connectSqlite, parseDatabaseUrl } from "./connect.ts";
import { lockDataDir, markAsMoved, refuseMoved } from "./data-dir.ts";
import { createPartitions, toMonth } from "./ledger.ts";
import { migrateStorage } from "./migrate.ts";
import type { Database, Sql, SqlRow } from "./sql.ts";
import type { WorkKind } from "./work-queue.ts";

export interface MoveOptions {
  readonly dataDir: string;
  /** `postgres://…` */
  readonly to: string;
  readonly log: Log;
  /** The actor of the record in the audit log of the new store. Absent: no record is written. */
  readonly actor?: Actor;
  /** Called while a table is copied. */
  readonly onProgress?: (table: string, rows: number) => void;
}

export interface MovedTable {
  readonly table: string;
  readonly rows: number;
}

const maxBatchRows = 500;
// Rows of responses may hold megabytes. A batch has at least one row.
const maxBatchBytes = 8 * 1_048_576;
// PostgreSQL accepts at most 65,535 parameters in one statement.
const maxParameters = 60_000;

export async function moveStorage(options: MoveOptions): Promise<readonly MovedTable[]> {
  const { dataDir, to, log, actor = null, onProgress = () => {} } = options;
  parseDatabaseUrl(to);
  refuseMoved(dataDir);
  // A gateway that still runs would write to tables that are already copied.
  const lock = lockDataDir(dataDir);
  try {
    await migrateStorage({ databaseUrl: null, dataDir, log });
    await migrateStorage({ databaseUrl: to, dataDir, log });
    const moved = await copy({ dataDir, to, actor, onProgress });
    markAsMoved(dataDir);
    return moved;
  } finally {
    lock.release();
  }
}

type OnProgress = NonNullable<MoveOptions["onProgress"]>;

interface CopyOptions extends Pick<MoveOptions, "dataDir" | "to"> {
  readonly actor: Actor | null;
  readonly onProgress: OnProgress;
}

async function copy({ dataDir, to, actor, onProgress }: CopyOptions): Promise<readonly MovedTable[]> {
  const source = await connectSqlite(dataDir);
  const { openPostgresQueue } = await import("./postgres-queue.ts");
  const queue = openPostgresQueue(() => target);
  const { createQueue } = queue;
  const target = connectPostgres(to, { maxConnections: 1, createQueue });
  try {
    await queue.prepare();
    // The source is read in one transaction, so that the copy holds all or nothing of a concurrent write.
    return await source.transaction(async (reader) => {
      const tables = await listTables(reader);
      return await target.transaction(async (writer) => {
        for (const table of tables) await lockEmptyTable(writer, table);
        await createPartitions(writer, await listMonths(reader));
        const moved: MovedTable[] = [];
        for (const table of tables) moved.push({ table, rows: await copyTable(reader, writer, table, onProgress) });
        moved.push({ table: "work", rows: await moveWork(reader, writer) });
        await recordChange(writer, actor, {
          action: "storage.move",
          target: { kind: "storage", id: null, name: null, team: null },
          before: { engine: "sqlite" },
          after: { engine: "postgres", rows: moved.reduce((sum, { rows }) => sum + rows, 0) },
        });
        return moved;
      });
    });
  } finally {
    await close(source);
    await close(target);
  }
}

async function listTables(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }>`
    select name from sqlite_master
    where type = 'table' and name not like 'sqlite_%' and name not in ('migrations', 'work') order by name`;
  return rows.map((row) => row.name);
}

/** The months of the blocks of the ledger. */
async function listMonths(sql: Sql): Promise<number[]> {
  const rows = await sql<{ day: bigint }>`select distinct to_time / 86400000 as day from ledger_blocks`;
  return [...new Set(rows.map(({ day }) => toMonth(Number(day) * 86_400_000)))];
}

async function lockEmptyTable(sql: Sql, table: string): Promise<void> {
  await sql`lock table ${sql.identifier(table)} in access exclusive mode`;
  if ((await countRows(sql, table)) === 0) return;
  throw new Error(`The table ${table} of the PostgreSQL database is not empty. Move the store into an empty database.`);
}

async function copyTable(reader: Sql, writer: Sql, table: string, onProgress: OnProgress): Promise<number> {
  const size = await sizeOfRow(reader, table);
  let done = 0;
  for (let after = 0n; ; ) {
    const last = await findBatchEnd(reader, { table, size, after });
    if (last === null) break;
    const rows = await reader`
      select * from ${reader.identifier(table)} where rowid > ${after} and rowid <= ${last} order by rowid`;
    after = last;
    await insertRows(writer, table, rows);
    done += rows.length;
    onProgress(table, done);
  }
  const [from, copied] = [await countRows(reader, table), await countRows(writer, table)];
  if (from !== copied)
    throw new Error(`The table ${table} has ${from} rows, but ${copied} were copied. Nothing was moved.`);
  return copied;
}

/** Copies the work queue into pg-boss. Leases are dropped, because their consumers are no longer running: such work is due at once. */
async function moveWork(reader: Sql, writer: Sql): Promise<number> {
  let moved = 0;
  for (let after = ""; ; ) {
    const rows = await reader<WorkRow>`
      select id, kind, subject, group_name, due_at, held, rank from work where id > ${after} order by id limit ${maxBatchRows}`;
    await writer.work.add(
      rows.map((row) => ({
        id: row.id,
        kind: row.kind,
        subject: row.subject,
        group: row.group_name,
        dueAt: row.held === 1n ? 0 : Number(row.due_at),
        rank: Number(row.rank),
      })),
    );
    moved += rows.length;
    const last = rows.at(-1);
    if (last === undefined) return moved;
    after = last.id;
  }
}

interface WorkRow {
  readonly id: string;
  readonly kind: WorkKind;
  readonly subject: string;
  readonly group_name: string;
  readonly due_at: bigint;
  readonly held: bigint;
  readonly rank: bigint;
}

/** An SQL expression for the size of a row in bytes. */
async function sizeOfRow(reader: Sql, table: string): Promise<string> {
  const columns = await reader<{ name: string }>`select name from pragma_table_info(${table})`;
  return columns.map((column) => `coalesce(length("${column.name}"), 0)`).join(" + ");
}

interface Batch {
  readonly table: string;
  readonly size: string;
  readonly after: bigint;
}

/** The last row of the batch that starts after the row `after`. Null: `after` is the last row of the table. */
async function findBatchEnd(reader: Sql, { table, size, after }: Batch): Promise<bigint | null> {
  const rows = await reader.script(
    `select rowid as row, ${size} as bytes from "${table}" where rowid > ${after} order by rowid limit ${maxBatchRows}`,
  );
  let end: bigint | null = null;
  let bytes = 0n;
  for (const row of rows) {
    bytes += row["bytes"] as bigint;
    if (end !== null && bytes > maxBatchBytes) break;
    end = row["row"] as bigint;
  }
  return end;
}

async function insertRows(writer: Sql, table: string, rows: readonly SqlRow[]): Promise<void> {
  const batch = Math.max(1, Math.floor(maxParameters / Object.keys(rows[0] ?? {}).length));
  for (let start = 0; start < rows.length; start += batch) {
    await writer`insert into ${writer.identifier(table)} ${writer.columns(rows.slice(start, start + batch))}`;
  }
}

async function countRows(sql: Sql, table: string): Promise<number> {
  const [row] = await sql<{ total: bigint }>`select count(*) as total from ${sql.identifier(table)}`;
  return Number(row?.total);
}

async function close(database: Database): Promise<void> {
  await database.client.close({ timeout: 1 });
}
