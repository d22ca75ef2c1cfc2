// A store in SQLite with the tables of this version. Tests begin with a copy of it, because migrating an empty store takes longer than many of
// them.

import { Database } from "bun:sqlite";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWebhookKeys } from "../../src/jobs/webhook-keys.ts";
import { createLog } from "../../src/log.ts";
import { databaseFile } from "../../src/storage/data-dir.ts";
import { migrateStorage } from "../../src/storage/migrate.ts";
import { takeRsaPair } from "./rsa-pairs.ts";
import { createMemorySecrets } from "./webhook-secrets.ts";

const quiet = createLog({ level: "error", format: "text", secrets: [], write: () => {} });

interface Templates {
  readonly empty: Uint8Array;
  readonly withWebhookKeys: Uint8Array;
}

let templates: Promise<Templates> | null = null;

/** Without rows, or with the webhook keys that a gateway would otherwise generate when it starts. */
export async function writeStore(dataDir: string, kind: keyof Templates = "empty"): Promise<void> {
  templates ??= createTemplates();
  const bytes = (await templates)[kind];
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(databaseFile(dataDir), bytes, { mode: 0o600 });
}

async function createTemplates(): Promise<Templates> {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-template-"));
  try {
    await migrateStorage({ databaseUrl: null, dataDir, log: quiet });
    const empty = await readFile(databaseFile(dataDir));
    const secrets = createMemorySecrets();
    await openWebhookKeys({ secrets: secrets.store, log: quiet, createRsaPair: takeRsaPair }).signing();
    const store = new Database(databaseFile(dataDir));
    const insert = "insert into secrets (name, value, created_at) values ('webhook-keys', ?, 1)";
    store.run(insert, [new TextEncoder().encode(secrets.text())]);
    store.close();
    return { empty, withWebhookKeys: await readFile(databaseFile(dataDir)) };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
