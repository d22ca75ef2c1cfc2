import { describe, expect, test } from "bun:test";
import { dayMs } from "../../src/lib/time-units.ts";
import { toMonth } from "../../src/storage/ledger.ts";
import type { Sql } from "../../src/storage/sql.ts";
import { deleteInBatches } from "../../src/storage/sweeper.ts";
import { startLedgerRetention } from "../../src/usage/retention.ts";
import { createEngines, describeOn, quiet, usePostgres, withDatabase, withStorage } from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";
import { whyNoPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";

for (const engine of createEngines()) {
  describeOn(engine, "retention", () => {
    test("old lines and totals are deleted, and the partitions of the next months exist", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const now = Date.now();
        const days = [0, 1, 200, 400, 1_000];
        const lines = days.map((day) => makeLine({ time: now - day * dayMs, model: day === 1_000 ? "old" : "new" }));
        await storage.ledger.createPartitions(lines.map(({ time }) => toMonth(time)));
        for (const line of lines) await storage.ledger.append({ lines: JSON.stringify([line]), processId: "process" });
        const sweeper = startLedgerRetention({
          ...{ store: storage.ledger, lineDays: 90, totalDays: 800, log: quiet, everyMs: 20 },
        });
        await waitFor("old lines to be deleted", async () => (await storage.ledger.count()).lines === 2);
        const hours = async () => {
          let left = 0;
          await withDatabase(options, async ({ sql }) => {
            left = (await sql`select hour from usage_hourly`).length;
          });
          return left;
        };
        await waitFor("old totals to be deleted", async () => (await hours()) === 4);
        await withDatabase(options, async ({ sql }) => {
          expect(await sql`select model from usage_dimensions`).toEqual([{ model: "new" }]);
        });
        await sweeper.stop();
        expect(await storage.ledger.count()).toMatchObject({ lines: 2 });
        const ahead = makeLine({ time: now + 35 * dayMs });
        const appended = await storage.ledger.append({ lines: JSON.stringify([ahead]), processId: "process" });
        expect(appended).toMatchObject({ lines: 1 });
      });
    });
  });
}

// More than a batch, and from 1970.
const backlog = 1_300;
const zeros = (count: number) => Array.from({ length: count }, () => "0").join(", ");
const rows: Readonly<Record<string, string>> = {
  ledger_once: "n::text, n",
  ledger_positions: "n::text, 1, n",
  latency_hourly: `n, '', '', '', ${zeros(26)}`,
  usage_dimensions: "n, n::text, '', '', '', '', '', '', '', 0",
  budget_leases: "'', n::text, 1, n, 1, 1",
  rate_shares: "'', n, '', 1, n",
};
const tables = Object.keys(rows);

describe.skipIf(whyNoPostgres() !== null)("retention on PostgreSQL", () => {
  const { folders, server } = usePostgres();

  test("a large backlog, and a partition that is in use, keep nothing else from being deleted", async () => {
    const databaseUrl = await server().createStore();
    const options = { databaseUrl, dataDir: folders.create(), log: quiet };
    await withStorage(options, async ({ ledger, budgets, rateShares }) => {
      await ledger.createPartitions([600]);
      await withDatabase(options, async ({ sql }) => {
        for (const [table, values] of Object.entries(rows))
          await sql.script(`insert into ${table} select ${values} from generate_series(1, ${backlog}) as n`);
        await timeOutAbove(sql, 500);
        await withDatabase(options, ({ transaction }) =>
          transaction(async (reader) => {
            // As a dump of the database does.
            await reader.script("lock table ledger_blocks in access share mode");
            const sweeper = startLedgerRetention({
              ...{ store: ledger, lineDays: 90, totalDays: 800, log: quiet, everyMs: 20 },
            });
            try {
              await deleteInBatches((limit) => budgets.deleteEnded(Date.now(), limit));
              await deleteInBatches((limit) => rateShares.deleteExpired(Date.now(), limit));
              const counts = tables.map((table) => `(select count(*) from ${table})`).join(" + ");
              await waitFor("the backlog to be deleted", async () => {
                const [left] = await sql.script(`select ${counts} as rows`);
                return left?.["rows"] === 0n;
              });
            } finally {
              await sweeper.stop();
            }
          }),
        );
      });
    });
  });
});

/** A statement that deletes more rows than this is cancelled, as the server cancels one that takes too long. */
async function timeOutAbove(sql: Sql, limit: number): Promise<void> {
  await sql.script(`
    create function time_out() returns trigger language plpgsql as $$
    begin
      if (select count(*) from deleted) > ${limit} then
        raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
      end if;
      return null;
    end $$`);
  for (const table of tables)
    await sql.script(`
      create trigger time_out after delete on ${table} referencing old table as deleted
        for each statement execute function time_out()`);
}
