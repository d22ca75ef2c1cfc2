// Brings the tables to the state that this code expects, forwards only, whoever else tries the same at the same time.

import type { Log } from "../log.ts";
import { connectPostgres, connectSqlite, describePostgres } from "./connect.ts";
import { type Migration, migrations } from "./migrations.ts";
import { isOutage } from "./outage.ts";
import type { Database, Sql } from "./sql.ts";

export interface MigrateOptions {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly log: Log;
}

// "SWYD" as a number: any fixed value does, as long as nobody else in the database uses it.
const advisoryLock = 0x53575944;
// A database that starts together with the gateway needs some seconds.
const waitForDatabaseMs = 10_000;

export async function migrateStorage(options: MigrateOptions): Promise<void> {
  const database = await connect(options);
  try {
    await migrateDatabase(database, migrations, options.log);
    if (database.engine === "postgres") await installQueue(database);
  } finally {
    await database.client.close({ timeout: 1 });
  }
}

async function connect(options: MigrateOptions): Promise<Database> {
  if (options.databaseUrl === null) return await connectSqlite(options.dataDir);
  // One to hold the lock, one for pg-boss, whose scripts begin and end transactions of their own.
  const database = connectPostgres(options.databaseUrl, { maxConnections: 2, connectTimeoutSeconds: 5 });
  await waitForDatabase(database, options.databaseUrl, options.log);
  return database;
}

/** Waits for a server that is starting. Without a log nothing is told meanwhile. */
export async function waitForDatabase(database: Database, databaseUrl: string, log: Log | null): Promise<void> {
  const giveUpAt = Date.now() + waitForDatabaseMs;
  const place = describePostgres(databaseUrl);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.sql`select 1 as one`;
      return;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (!isOutage(cause) || Date.now() > giveUpAt) {
        await database.client.close({ timeout: 0 });
        throw new Error(
          `${place} cannot be used: ${reason}. Check that the server runs and that DATABASE_URL names its host, user, password and database.`,
          { cause },
        );
      }
      if (attempt === 1) log?.warn(`Waiting for ${place}`, { reason });
      await Bun.sleep(250);
    }
  }
}

async function installQueue(database: Database): Promise<void> {
  const { installBoss } = await import("./boss-queue.ts");
  await withRetry(() =>
    database.transaction(async (sql) => {
      await sql`select pg_advisory_xact_lock(${advisoryLock})`;
      await installBoss(database);
    }),
  );
}

/** One transaction for each step, under a lock: a process that comes second finds the step done. */
export async function migrateDatabase(database: Database, steps: readonly Migration[], log: Log): Promise<void> {
  for (;;) {
    const applied = await withRetry(() => database.transaction((sql) => applyNext(sql, database.engine, steps)));
    if (applied === null) return;
    log.info("Storage was migrated", { step: applied.number, name: applied.name });
  }
}

async function applyNext(sql: Sql, engine: Database["engine"], steps: readonly Migration[]): Promise<Migration | null> {
  // SQLite's transaction is immediate, and with that alone.
  if (engine === "postgres") await sql`select pg_advisory_xact_lock(${advisoryLock})`;
  await sql.script(
    "create table if not exists migrations (number bigint primary key, name text not null, checksum text not null, applied_at bigint not null)",
  );
  const done = await sql<AppliedMigration>`select number, name, checksum from migrations order by number`;
  checkHistory(done, steps);
  const next = steps[done.length];
  if (next === undefined) return null;
  for (const statement of next.statements) await sql.script(statement);
  if (engine === "sqlite") for (const statement of next.sqliteStatements ?? []) await sql.script(statement);
  await sql`
    insert into migrations (number, name, checksum, applied_at)
    values (${next.number}, ${next.name}, ${checksum(next)}, ${Date.now()})`;
  return next;
}

interface AppliedMigration {
  readonly number: bigint;
  readonly name: string;
  readonly checksum: string;
}

function checkHistory(done: readonly AppliedMigration[], steps: readonly Migration[]): void {
  const newest = done.at(-1);
  if (done.length > steps.length) {
    throw new Error(
      `The store was written by a newer version of Switchyard (step ${newest?.number} "${newest?.name}", this version knows ${steps.length}). Start that version, or a newer one.`,
    );
  }
  for (const [index, row] of done.entries()) {
    const step = steps[index];
    if (step !== undefined && Number(row.number) === step.number && row.checksum === checksum(step)) continue;
    throw new Error(
      `Step ${row.number} "${row.name}" of the store is not the one that this version knows. It was made by another build; nothing was changed.`,
    );
  }
}

function checksum(step: Migration): string {
  return Bun.SHA256.hash([step.name, ...step.statements, ...(step.sqliteStatements ?? [])].join("\n"), "hex");
}

/** A lock that another process holds while it migrates is worth waiting for. */
async function withRetry<T>(body: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + waitForDatabaseMs;
  for (;;) {
    try {
      return await body();
    } catch (error) {
      if (!isOutage(error) || Date.now() > giveUpAt) throw error;
      await Bun.sleep(50);
    }
  }
}
