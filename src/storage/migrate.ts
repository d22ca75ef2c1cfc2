// Migrates the tables forwards to the state that this version expects. Several processes may do so at the same time.

import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { connectPostgres, connectSqlite, describePostgres } from "./connect.ts";
import { type Migration, migrations } from "./migrations.ts";
import { isOutage } from "./outage.ts";
import type { Database, Sql } from "./sql.ts";
import type { StorageOptions } from "./stores.ts";

type MigrateOptions = Pick<StorageOptions, "databaseUrl" | "dataDir" | "log">;

// "SWYD" as a number. Any fixed value works that no other program uses in this database.
const advisoryLock = 0x53575944;
// A database server that starts together with the gateway needs some seconds.
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
  // One connection holds the lock; the scripts of pg-boss, which contain their own transactions, use the other.
  const database = connectPostgres(options.databaseUrl, { maxConnections: 2 });
  await waitForDatabase(database, options.databaseUrl, options.log);
  return database;
}

/** Waits for a server that is starting. `log` null: without a message. */
export async function waitForDatabase(database: Database, databaseUrl: string, log: Log | null): Promise<void> {
  const giveUpAt = Date.now() + waitForDatabaseMs;
  const server = describePostgres(databaseUrl);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.sql`select 1 as one`;
      return;
    } catch (cause) {
      const reason = messageOf(cause);
      if (!isOutage(cause) || Date.now() > giveUpAt) {
        await database.client.close({ timeout: 0 });
        throw new Error(
          `${server} cannot be used: ${reason}. Check that the server is running and that DATABASE_URL names its host, user, password and database.`,
          { cause },
        );
      }
      if (attempt === 1) log?.warn(`Waiting for ${server}`, { reason });
      await Bun.sleep(250);
    }
  }
}

async function installQueue(database: Database): Promise<void> {
  const { installPostgresQueue } = await import("./postgres-queue.ts");
  await withRetry(() =>
    database.transaction(async (sql) => {
      await sql`select pg_advisory_xact_lock(${advisoryLock})`;
      await installPostgresQueue(database);
    }),
  );
}

/** Applies each step in a transaction that holds a lock: a second process waits and finds the step applied. */
export async function migrateDatabase(database: Database, steps: readonly Migration[], log: Log): Promise<void> {
  for (;;) {
    const applied = await withRetry(() => database.transaction((sql) => applyNext(sql, database.engine, steps)));
    if (applied === null) return;
    log.info("Storage was migrated", { step: applied.number, name: applied.name });
  }
}

async function applyNext(sql: Sql, engine: Database["engine"], steps: readonly Migration[]): Promise<Migration | null> {
  // On SQLite, the immediate transaction is the lock.
  if (engine === "postgres") await sql`select pg_advisory_xact_lock(${advisoryLock})`;
  await sql.script(
    "create table if not exists migrations (number bigint primary key, name text not null, checksum text not null, applied_at bigint not null)",
  );
  const done = await sql<AppliedMigration>`select number, name, checksum from migrations order by number`;
  checkHistory(done, steps);
  const next = steps[done.length];
  if (next === undefined) return null;
  for (const statement of next.statements) await sql.script(statement);
  const own = engine === "sqlite" ? next.sqliteStatements : next.postgresStatements;
  for (const statement of own ?? []) await sql.script(statement);
  await next.convert?.(sql);
  await sql`
    insert into migrations (number, name, checksum, applied_at)
    values (${next.number}, ${next.name}, ${checksum(next)}, ${Date.now()})`;
  return next;
}

export interface AppliedMigration {
  readonly number: bigint;
  readonly name: string;
  readonly checksum: string;
}

/** Throws if this version cannot use a store with these migrations. */
export function checkHistory(done: readonly AppliedMigration[], steps: readonly Migration[]): void {
  const newest = done.at(-1);
  if (done.length > steps.length) {
    throw new Error(
      `A newer version of Switchyard migrated this store (to migration ${newest?.number} "${newest?.name}"; this version has ${steps.length} migrations). Start that version or a newer one.`,
    );
  }
  for (const [index, row] of done.entries()) {
    const step = steps[index];
    if (step !== undefined && Number(row.number) === step.number && row.checksum === checksum(step)) continue;
    throw new Error(
      `Migration ${row.number} "${row.name}" of the store differs from the one of this version, so another build created the store. Nothing was changed. Start the build that created it.`,
    );
  }
}

function checksum(step: Migration): string {
  const { name, statements, sqliteStatements = [], postgresStatements = [] } = step;
  return Bun.SHA256.hash([name, ...statements, ...sqliteStatements, ...postgresStatements].join("\n"), "hex");
}

/** Retries while another process that migrates holds the lock. */
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
