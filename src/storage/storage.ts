// What we keep, and the one way to it: SQLite in the data folder, or PostgreSQL when there is an address for it.

import type { Log } from "../log.ts";
import { refuseMoved } from "./data-dir.ts";
import { migrateStorage } from "./migrate.ts";
import { openPostgres } from "./postgres.ts";
import { openSecrets } from "./sealed-secrets.ts";
import { openSqlite } from "./sqlite.ts";
import type { Storage } from "./stores.ts";

export { lockDataDir } from "./data-dir.ts";
export type { KeyRecord } from "./keys.ts";
export { migrateStorage } from "./migrate.ts";
export { moveStorage } from "./move.ts";
export { requireStore } from "./require-store.ts";
export type { ResponseChain, ResponseRecord } from "./responses.ts";
export type {
  DeliveryStore,
  JobStore,
  KeyStore,
  ResponseStore,
  SecretStore,
  Storage,
  WorkStore,
} from "./stores.ts";

export interface StorageOptions {
  /** `postgres://…`, or null for SQLite in the data folder. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly log: Log;
  /** Whether work is taken here: on PostgreSQL these processes also look after work whose holder died. */
  readonly works?: boolean;
  /** What seals the gateway's own secrets, or null. Absent: they are not opened, for commands that need none of them. */
  readonly encryptionKey?: string | null;
}

/** Brings the tables up to date first, so that whoever opens it finds them as this code expects. */
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
