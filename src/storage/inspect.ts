// Looks at a store without changing it: its database, and whether this version can use it.

import { Database as SqliteFile } from "bun:sqlite";
import { existsSync } from "node:fs";
import { messageOf } from "../errors.ts";
import { connectPostgres, describePostgres } from "./connect.ts";
import { databaseFile } from "./data-dir.ts";
import { type AppliedMigration, checkHistory } from "./migrate.ts";
import { migrations } from "./migrations.ts";

export interface StoreState {
  /** `SQLite 3.50.4` */
  readonly database: string;
  /** Migrations that are applied, and those that the next start applies. */
  readonly applied: number;
  readonly pending: number;
  /** Why this version cannot use the store; null: it can. */
  readonly problem: string | null;
  /** How far the clock of the database server is ahead of this machine's; null: the database is on this machine. */
  readonly clockAheadMs: number | null;
  /** When the newest migration was applied; null: none was. */
  readonly migratedAt: number | null;
}

interface MigrationRow extends AppliedMigration {
  readonly applied_at: bigint;
}

/** Null: there is no store yet. */
export async function inspectStore(dataDir: string, databaseUrl: string | null): Promise<StoreState | null> {
  return databaseUrl === null ? inspectFile(databaseFile(dataDir)) : await inspectPostgres(databaseUrl);
}

function inspectFile(path: string): StoreState | null {
  if (!existsSync(path)) return null;
  const file = new SqliteFile(path, { readonly: true, safeIntegers: true });
  try {
    const { version } = file.query("select sqlite_version() as version").get() as { version: string };
    const damage = file.query("pragma quick_check(1)").get() as { quick_check: string };
    const hasTable = file.query("select 1 from sqlite_master where name = 'migrations'").get() !== null;
    const rows = hasTable
      ? (file
          .query("select number, name, checksum, applied_at from migrations order by number")
          .all() as MigrationRow[])
      : [];
    const state = toState(`SQLite ${version}`, rows, null);
    return damage.quick_check === "ok" ? state : { ...state, problem: `The file is damaged: ${damage.quick_check}` };
  } finally {
    file.close();
  }
}

async function inspectPostgres(databaseUrl: string): Promise<StoreState | null> {
  const database = connectPostgres(databaseUrl, { maxConnections: 1 });
  try {
    const askedAt = Date.now();
    const [server] = await database.sql<{ version: string; now: number; has_table: boolean }>`
      select current_setting('server_version') as version,
        cast(extract(epoch from clock_timestamp()) * 1000 as double precision) as now,
        to_regclass('migrations') is not null as has_table`;
    const receivedAt = Date.now();
    if (server === undefined || !server.has_table) return null;
    const rows = await database.sql<MigrationRow>`
      select number, name, checksum, applied_at from migrations order by number`;
    // The server read its clock somewhere between the two times.
    const ahead = Number(server.now) - (askedAt + receivedAt) / 2;
    return toState(`PostgreSQL ${server.version}`, rows, ahead);
  } catch (cause) {
    throw new Error(`${describePostgres(databaseUrl)} cannot be used: ${messageOf(cause)}`, { cause });
  } finally {
    await database.client.close({ timeout: 1 }).catch(() => {});
  }
}

function toState(database: string, rows: readonly MigrationRow[], clockAheadMs: number | null): StoreState {
  const newest = rows.at(-1);
  return {
    database,
    applied: rows.length,
    pending: Math.max(0, migrations.length - rows.length),
    problem: findProblem(rows),
    clockAheadMs,
    migratedAt: newest === undefined ? null : Number(newest.applied_at),
  };
}

function findProblem(rows: readonly MigrationRow[]): string | null {
  try {
    checkHistory(rows, migrations);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
