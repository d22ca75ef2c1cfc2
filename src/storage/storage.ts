// The store of the gateway: SQLite in the data folder, or PostgreSQL with DATABASE_URL. How a call such as `storage.jobs.create(job)` travels:
//
// 1. jobs.ts (like keys.ts, files.ts, …) declares `create` as an operation: SQL plus "read" or "write" (operation.ts).
// 2. stores.ts makes an async method of every operation. Concurrent calls of some operations share a transaction (coalesce-calls.ts).
// 3. The engine runs the operation within its deadline: sqlite.ts sends the call to a thread (sqlite-worker.ts), postgres.ts takes a
//    connection from its pool. Both hand the operation the same SQL handle (sql.ts), with the work queue in it (work-queue.ts).
// 4. Outages become 503 errors (outage.ts). After a commit, listeners in all processes are told about changed keys and new work.

import { existsSync } from "node:fs";
import { connectPostgres, describePostgres } from "./connect.ts";
import { databaseFile, refuseMoved } from "./data-dir.ts";
import { migrateStorage, waitForDatabase } from "./migrate.ts";
import { openPostgres } from "./postgres.ts";
import { openSecrets } from "./sealed-secrets.ts";
import { openSqlite } from "./sqlite.ts";
import type { Storage, StorageOptions } from "./stores.ts";

export { backUpDatabase } from "./backup.ts";
export { findNetworkFileSystem, isGatewayRunning, listSharedFiles, lockDataDir } from "./data-dir.ts";
export { inspectStore, type StoreState } from "./inspect.ts";
export { migrateStorage } from "./migrate.ts";
export { moveStorage } from "./move.ts";
export type { ResponseRecord } from "./responses.ts";
export type {
  DeliveryStore,
  JobStore,
  LedgerStore,
  ManagedJobStore,
  ResponseStore,
  Storage,
  StorageOptions,
} from "./stores.ts";

/** Migrates the tables first, so that they match this version of the code. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { databaseUrl, dataDir } = options;
  if (databaseUrl === null) refuseMoved(dataDir);
  await migrateStorage(options);
  const storage = databaseUrl === null ? await openSqlite(options) : await openPostgres({ ...options, databaseUrl });
  if (options.encryptionKey === undefined) return storage;
  try {
    return { ...storage, secrets: await openSecrets(storage.secrets, options.encryptionKey) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** For commands that use the store of a gateway: they fail if it does not exist, instead of creating an empty one. */
export async function requireStore(dataDir: string, databaseUrl: string | null = null): Promise<void> {
  if (databaseUrl === null) requireFile(dataDir);
  else await requireTables(databaseUrl);
}

function requireFile(dataDir: string): void {
  if (existsSync(databaseFile(dataDir))) return;
  throw new Error(
    `There is no store in ${dataDir}. Run this command in the folder where the gateway runs, or name its data folder: --data-dir /path/to/data. The gateway creates the store when it first starts.`,
  );
}

async function requireTables(databaseUrl: string): Promise<void> {
  const database = connectPostgres(databaseUrl, { maxConnections: 1 });
  try {
    await waitForDatabase(database, databaseUrl, null);
    const [row] = await database.sql<{ found: boolean }>`select to_regclass('migrations') is not null as found`;
    if (row?.found === true) return;
    throw new Error(
      `There is no store in ${describePostgres(databaseUrl)}. Set DATABASE_URL to the database of the gateway. The gateway creates the store when it first starts.`,
    );
  } finally {
    await database.client.close({ timeout: 1 }).catch(() => {});
  }
}
