// For commands that use the store of a gateway: they fail if it does not exist, instead of creating an empty one.

import { existsSync } from "node:fs";
import { connectPostgres, describePostgres } from "./connect.ts";
import { databaseFile } from "./data-dir.ts";
import { waitForDatabase } from "./migrate.ts";

export async function requireStore(dataDir: string, databaseUrl: string | null = null): Promise<void> {
  if (databaseUrl === null) requireFile(dataDir);
  else await requireTables(databaseUrl);
}

function requireFile(dataDir: string): void {
  if (existsSync(databaseFile(dataDir))) return;
  throw new Error(
    `There is no store in ${dataDir}. Run this command in the folder where the gateway runs, or set its data folder: SWITCHYARD_DATA_DIR=/path/to/data npx switchyard … The gateway creates the store when it first starts.`,
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
