// Opens connections to SQLite and PostgreSQL with the settings that durability and exact integers depend on.

import { messageOf } from "../errors.ts";
import { parsePostgresUrl } from "../lib/postgres-url.ts";
import { createDataDir, databaseFile } from "./data-dir.ts";
import { isOutage } from "./outage.ts";
import { type CreateQueue, type Database, toDatabase } from "./sql.ts";
import { createSqliteQueue } from "./sqlite-queue.ts";

// One look at the lock. Writers poll for it: see `beginImmediate` in sql.ts.
const busyTimeoutMs = 5;
const walAttempts = 50;
const defaultLockTimeoutMs = 800;

/** `lockTimeoutMs`: how long a transaction waits for the lock of the file. */
export async function connectSqlite(dataDir: string, lockTimeoutMs = defaultLockTimeoutMs): Promise<Database> {
  createDataDir(dataDir);
  const client = new Bun.SQL({ adapter: "sqlite", filename: databaseFile(dataDir), safeIntegers: true });
  const database = toDatabase(client, { engine: "sqlite", createQueue: createSqliteQueue, lockTimeoutMs });
  try {
    await database.sql.script(`pragma busy_timeout = ${busyTimeoutMs}`);
    await useWriteAheadLog(database);
    // NORMAL could lose acknowledged commits in a power failure.
    await database.sql.script("pragma synchronous = full");
    await database.sql.script("pragma foreign_keys = on");
    return database;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Switching to WAL ignores the busy timeout while another process does the same, hence the retries. */
async function useWriteAheadLog(database: Database): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [row] = await database.sql.script("pragma journal_mode = wal");
      if (row?.["journal_mode"] === "wal") return;
      throw new Error(`SQLite cannot use its write-ahead log here (journal mode ${row?.["journal_mode"]})`);
    } catch (error) {
      if (!isOutage(error) || attempt === walAttempts) throw error;
      await Bun.sleep(20);
    }
  }
}

export interface PostgresOptions {
  readonly maxConnections: number;
  /** Default: 5. */
  readonly connectTimeoutSeconds?: number;
  /** Only for connections that use the work queue. */
  readonly createQueue?: CreateQueue;
}

export function connectPostgres(databaseUrl: string, options: PostgresOptions): Database {
  const url = parseDatabaseUrl(databaseUrl);
  const client = new Bun.SQL(url, {
    bigint: true,
    max: options.maxConnections,
    connectionTimeout: options.connectTimeoutSeconds ?? 5,
    // Otherwise PGDATABASE in the environment would override the address.
    ...(url.pathname.length > 1 ? { database: decodeURIComponent(url.pathname.slice(1)) } : {}),
    connection: { application_name: url.searchParams.get("application_name") ?? "switchyard" },
  });
  return toDatabase(client, { engine: "postgres", createQueue: options.createQueue ?? refuseQueue });
}

export function parseDatabaseUrl(databaseUrl: string): URL {
  try {
    return parsePostgresUrl(databaseUrl);
  } catch (cause) {
    throw new Error(`The address of the database ${messageOf(cause)}`, { cause });
  }
}

/** For messages: server and database without the password. */
export function describePostgres(databaseUrl: string): string {
  const { hostname, port, pathname } = parseDatabaseUrl(databaseUrl);
  return `PostgreSQL at ${hostname}:${port || "5432"}, database '${decodeURIComponent(pathname.slice(1))}',`;
}

function refuseQueue(): never {
  throw new Error("This connection was opened without a work queue");
}
