import { expect, test } from "bun:test";
import { dayMs } from "../../src/lib/time-units.ts";
import { toMonth } from "../../src/storage/ledger.ts";
import { startLedgerRetention } from "../../src/usage/retention.ts";
import { createEngines, describeOn, quiet, withDatabase, withStorage } from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";
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
