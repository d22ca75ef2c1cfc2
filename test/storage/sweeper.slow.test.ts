// Expired rows with large values: their deletion takes long on PostgreSQL, and it makes progress all the same. Triggers stand in for the size.

import { describe, expect, test } from "bun:test";
import type { Storage, StorageOptions } from "../../src/storage/storage.ts";
import { deleteInBatches } from "../../src/storage/sweeper.ts";
import {
  catchError,
  makeJob,
  makeResponse,
  quiet,
  usePostgres,
  withDatabase,
  withStorage,
} from "../contracts/engines.ts";
import { whyNoPostgres } from "../support/postgres.ts";

const listAll = { owner: null, status: null, feature: null, subfeature: null, limit: 1, offset: 0 };
const lifetimeMs = 600_000;

describe.skipIf(whyNoPostgres() !== null)("sweeps on PostgreSQL", () => {
  const { folders, server } = usePostgres();

  async function createStore(): Promise<StorageOptions> {
    const databaseUrl = await server().createStore();
    return { databaseUrl, dataDir: folders.create(), log: quiet, deadlineMs: 60_000 };
  }

  async function createJobs(storage: Storage, count: number): Promise<void> {
    const expiresAt = Date.now() + lifetimeMs;
    await Promise.all(Array.from({ length: count }, () => storage.jobs.create(makeJob({ expiresAt }), null)));
  }

  const sweepJobs = (storage: Storage) =>
    deleteInBatches((limit) => storage.jobs.deleteExpired(Date.now() + 2 * lifetimeMs, limit));

  test("a batch that takes too long is repeated in smaller ones until all rows are deleted", async () => {
    const options = await createStore();
    await withStorage(options, async (storage) => {
      await createJobs(storage, 130);
      await timeOutAbove(options, 60);
      expect(await sweepJobs(storage)).toBe(130);
      expect((await storage.jobs.list(listAll)).total).toBe(0);
    });
  });

  test("a row that cannot be deleted even alone fails the sweep, and rows stay complete", async () => {
    const options = await createStore();
    await withStorage(options, async (storage) => {
      await createJobs(storage, 3);
      await timeOutAbove(options, 0);
      expect(await catchError(sweepJobs(storage))).toMatchObject({ code: "dependency_unavailable" });
      expect((await storage.jobs.list(listAll)).total).toBe(3);
    });
  });

  test("rows whose deletion takes longer than the deadline of the store are deleted", async () => {
    const options = await createStore();
    await withStorage(options, async (storage) => {
      await createJobs(storage, 1);
      await storage.responses.create(makeResponse({ expiresAt: 1 }));
      const capture = { id: "a", requestId: "a", time: 1, keyId: "a", team: null, content: new Uint8Array(1) };
      await storage.captures.insert([capture]);
    });
    await slowDown(options, ["jobs", "responses", "captures"], 2);
    await withStorage({ ...options, deadlineMs: 1_500 }, async (storage) => {
      expect(await sweepJobs(storage)).toBe(1);
      expect(await deleteInBatches((limit) => storage.responses.deleteExpired(Date.now(), limit))).toBe(1);
      expect(await deleteInBatches((limit) => storage.captures.deleteOld(Date.now(), limit))).toBe(1);
    });
  });
});

/** A statement that deletes more jobs than this is cancelled, as the server cancels one that takes too long. */
async function timeOutAbove(options: StorageOptions, rows: number): Promise<void> {
  await withDatabase(options, async ({ sql }) => {
    await sql.script(`
      create function time_out() returns trigger language plpgsql as $$
      begin
        if (select count(*) from deleted) > ${rows} then
          raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
        end if;
        return null;
      end $$;
      create trigger time_out after delete on jobs referencing old table as deleted
        for each statement execute function time_out()`);
  });
}

/** Every deleted row takes this long. */
async function slowDown(options: StorageOptions, tables: readonly string[], seconds: number): Promise<void> {
  const triggers = tables.map(
    (table) => `create trigger slow_down before delete on ${table} for each row execute function slow_down()`,
  );
  await withDatabase(options, async ({ sql }) => {
    await sql.script(`
      create function slow_down() returns trigger language plpgsql as $$
      begin
        perform pg_sleep(${seconds});
        return old;
      end $$;
      ${triggers.join(";")}`);
  });
}
