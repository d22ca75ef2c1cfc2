// The store of the gateway: SQLite in the data folder, or PostgreSQL with DATABASE_URL. How a call such as `storage.jobs.create(job)` travels:
//
// 1. jobs.ts (like keys.ts, files.ts, …) declares `create` as an operation: SQL plus "read" or "write" (operation.ts).
// 2. stores.ts makes an async method of every operation. Concurrent calls of some operations share a transaction (coalesce-calls.ts).
// 3. The engine runs the operation within its deadline: sqlite.ts sends the call to a thread (sqlite-worker.ts), postgres.ts takes a
//    connection from its pool. Both hand the operation the same SQL handle (sql.ts), with the work queue in it (work-queue.ts).
// 4. Outages become 503 errors (outage.ts). After a commit, listeners in all processes are told about changed keys and new work.

import { refuseMoved } from "./data-dir.ts";
import { migrateStorage } from "./migrate.ts";
import { openPostgres } from "./postgres.ts";
import { openSecrets } from "./sealed-secrets.ts";
import { openSqlite } from "./sqlite.ts";
import type { Storage, StorageOptions } from "./stores.ts";

export { lockDataDir } from "./data-dir.ts";
export { migrateStorage } from "./migrate.ts";
export { moveStorage } from "./move.ts";
export { requireStore } from "./require-store.ts";
export type { ResponseRecord } from "./responses.ts";
export type { DeliveryStore, JobStore, ResponseStore, Storage, StorageOptions } from "./stores.ts";

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
