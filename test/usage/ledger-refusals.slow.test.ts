// Lines of the ledger while the database answers and accepts none of them: they are not the reason, so they wait.

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Storage, StorageOptions } from "../../src/storage/storage.ts";
import { type Ledger, openLedger } from "../../src/usage/ledger.ts";
import {
  catchError,
  createEngines,
  describeOn,
  quiet,
  usePostgres,
  withDatabase,
  withStorage,
} from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";
import { whyNoPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";

async function withLedger(
  storage: Storage,
  dataDir: string,
  body: (ledger: Ledger, refusedFile: string) => Promise<void>,
): Promise<void> {
  const folder = join(dataDir, "ledger");
  // Only flushes that the test asks for.
  const settings = { maxSpoolBytes: 2 ** 30, log: quiet, flushEveryMs: 3_600_000 };
  const ledger = openLedger({ store: storage.ledger, folder, ...settings });
  try {
    await body(ledger, join(folder, "refused-lines.jsonl"));
  } finally {
    await ledger.close();
  }
}

async function runStatement(options: StorageOptions, statement: string): Promise<void> {
  await withDatabase(options, async ({ sql }) => {
    await sql.script(statement);
  });
}

async function expectWaiting(ledger: Ledger, refusedFile: string, lines: number): Promise<void> {
  expect(await catchError(ledger.flush())).toMatchObject({ code: "dependency_unavailable" });
  expect(ledger).toMatchObject({ isBehind: true, waiting: lines, refused: 0 });
  expect(existsSync(refusedFile)).toBe(false);
}

for (const engine of createEngines()) {
  describeOn(engine, "lines of the ledger", () => {
    test("wait while a table is missing", async () => {
      const options = await engine.createStore();
      await withStorage(options, (storage) =>
        withLedger(storage, options.dataDir, async (ledger, refusedFile) => {
          for (let index = 0; index < 5; index++) ledger.record(makeLine());
          await runStatement(options, "alter table latency_hourly rename to away");
          await expectWaiting(ledger, refusedFile, 5);
          await runStatement(options, "alter table away rename to latency_hourly");
          await ledger.flush();
          expect(ledger).toMatchObject({ isBehind: false, waiting: 0 });
          expect((await storage.ledger.count()).lines).toBe(5);
        }),
      );
    });
  });
}

describe.skipIf(whyNoPostgres() !== null)("lines of the ledger on PostgreSQL", () => {
  const { folders, server } = usePostgres();

  test("wait while the server refuses new connections of the gateway's user, and management is 503", async () => {
    const admin = { databaseUrl: await server().createStore(), dataDir: folders.create(), log: quiet };
    const run = (statement: string) => runStatement(admin, statement);
    const user = `gateway_${crypto.randomUUID().replaceAll("-", "")}`;
    await run(`create role ${user} superuser login`);
    try {
      const url = new URL(admin.databaseUrl);
      url.username = user;
      await withStorage({ ...admin, databaseUrl: url.href }, (storage) =>
        withLedger(storage, admin.dataDir, async (ledger, refusedFile) => {
          ledger.record(makeLine());
          await ledger.flush();
          await run(`alter role ${user} nologin`);
          // The connection that probes the server stays.
          await run(`
            select pg_terminate_backend(pid, 60000) from pg_stat_activity
            where usename = '${user}' and query not ilike '%topics%' and query not ilike 'listen%'`);
          const list = () => storage.keys.list({ kind: null, enabled: null, team: null, limit: 1, offset: 0 });
          await waitFor("management to be refused", async () => {
            const error = await list().catch((reason) => reason);
            return error instanceof Error;
          });
          expect(await catchError(list())).toMatchObject({ code: "dependency_unavailable" });
          for (let index = 0; index < 5; index++) ledger.record(makeLine());
          await expectWaiting(ledger, refusedFile, 5);
          expect(storage.isHealthy()).toBe(true);
          await run(`alter role ${user} login`);
          await waitFor("the lines to be stored", () =>
            ledger.flush().then(
              () => true,
              () => false,
            ),
          );
          expect((await storage.ledger.count()).lines).toBe(6);
        }),
      );
    } finally {
      await run(`drop owned by ${user}; drop role ${user}`);
    }
  });
});
