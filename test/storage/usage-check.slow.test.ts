// `switchyard usage check`: the ledger against the accounts of budgets and the hourly totals, on both engines.

import { expect, test } from "bun:test";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { createUsageCommand } from "../../src/cli/usage.ts";
import { toMonth } from "../../src/storage/ledger.ts";
import type { LedgerLine } from "../../src/storage/ledger-line.ts";
import type { Sql, SqlValue } from "../../src/storage/sql.ts";
import { openStorage, type Storage, type StorageOptions } from "../../src/storage/storage.ts";
import { usageCheckStatements } from "../../src/storage/usage-check.ts";
import { createEngines, describeOn, withDatabase, withStorage } from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";

async function append(storage: Storage, lines: readonly LedgerLine[]): Promise<void> {
  await storage.ledger.createPartitions(lines.map(({ time }) => toMonth(time)));
  await storage.ledger.append({ lines: JSON.stringify(lines), processId: "process" });
}

async function check(options: StorageOptions, ...args: string[]) {
  const printed: string[] = [];
  const context = {
    print: (line: string) => void printed.push(line),
    printError: console.error,
    openStorage: () => openStorage(options),
  };
  const exitCode = await runCommandLine(createUsageCommand(context), ["check", ...args], context);
  return { exitCode, text: printed.join("\n") };
}

for (const engine of createEngines()) {
  describeOn(engine, "usage check", () => {
    async function createStore(): Promise<StorageOptions> {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const accounts = ["key:one none 0", "team:red/openai/* daily 86400000"];
        await append(storage, [
          makeLine({ counted_pico: 7, accounts }),
          makeLine({ counted_pico: 5, accounts: accounts.slice(0, 1) }),
          makeLine({ outcome: "provider_error", counted_pico: 0 }),
        ]);
      });
      return options;
    }

    test("a store whose sums agree has no differences", async () => {
      const options = await createStore();
      const { exitCode, text } = await check(options);
      expect(text).toBe("3 lines, 2 accounts of budgets and the totals of 1 hours: no differences.");
      expect(exitCode).toBe(0);
      expect(JSON.parse((await check(options, "--json")).text)).toMatchObject({ lines: 3, differences: [] });
    });

    test("every difference is printed, and the exit code is 1", async () => {
      const options = await createStore();
      await withDatabase(options, async ({ sql }) => {
        await sql`update budget_accounts set spent_pico = 13 where id = 'key:one none 0'`;
        await sql`
          update usage_sums set lines = lines + 1
          where dimension_id = (select id from usage_dimensions where outcome = 'provider_error')`;
        await sql`delete from budget_accounts where id like 'team:%'`;
      });
      const { exitCode, text } = await check(options);
      expect(exitCode).toBe(1);
      expect(text).toContain("account of key:one none 0: 12 in the ledger, 13 counted");
      expect(text).toContain("account of team:red/openai/* daily 86400000: 7 in the ledger, 0 counted");
      expect(text).toMatch(/lines of .*provider_error: 1 in the ledger, 2 counted/);
      expect(text).toContain("3 differences");
      const { differences } = JSON.parse((await check(options, "--json")).text);
      expect(differences).toContainEqual({ what: "account", of: "key:one none 0", ledger: "12", derived: "13" });
    });

    test("lines whose blocks are merged during the check count once", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const accounts = ["key:one none 0"];
        let n = 0;
        const appendNext = () => append(storage, [makeLine({ n: ++n, counted_pico: 3, accounts })]);
        while (n < 40) await appendNext();
        const merged: number[] = [];
        const merge = async () => {
          // A block that was merged and read is merged again with the line that follows.
          await appendNext();
          merged.push(await storage.ledger.mergeBlocks(Number.MAX_SAFE_INTEGER));
        };
        await withDatabase(options, async ({ sql }) => {
          const mergeAfterPage = async (text: TemplateStringsArray, ...values: SqlValue[]) => {
            const rows = await sql(text, ...values);
            if (text.join("").includes("from ledger_blocks where id >") && merged.length < 3) await merge();
            return rows;
          };
          const result = await usageCheckStatements.run.run(Object.assign(mergeAfterPage, sql) as unknown as Sql);
          expect(merged).toEqual([41, 2, 2]);
          expect(result).toMatchObject({ lines: 40, accounts: 1, differences: [] });
        });
      });
    });

    test("lines that were deleted because of their age are no difference", async () => {
      const options = await createStore();
      const old = Date.UTC(2026, 0, 10);
      await withStorage(options, async (storage) => {
        await append(storage, [makeLine({ time: old, counted_pico: 3, accounts: ["key:one none 0"] })]);
        await storage.ledger.deleteBlocks(Date.UTC(2026, 1, 1), 100);
      });
      const { exitCode, text } = await check(options);
      expect(text).toContain("1 accounts began before the oldest line");
      expect(exitCode).toBe(0);
    });
  });
}
