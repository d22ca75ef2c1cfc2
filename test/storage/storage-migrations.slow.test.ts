import { expect, test } from "bun:test";
import { migrateDatabase } from "../../src/storage/migrate.ts";
import { migrations } from "../../src/storage/migrations.ts";
import { insertRows } from "../../src/storage/operation.ts";
import type { SqlRow } from "../../src/storage/sql.ts";
import { migrateStorage, openStorage, type StorageOptions } from "../../src/storage/storage.ts";
import type { UsageGroup } from "../../src/storage/usage-reports.ts";
import { addToTotals, sumNames } from "../../src/storage/usage-totals.ts";
import {
  catchError,
  createEngines,
  describeOn,
  makeTeam,
  quiet,
  startChild,
  withDatabase,
  withStorage,
} from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";
import { readAll } from "../support/ledger.ts";

for (const engine of createEngines()) {
  describeOn(engine, "migrations", () => {
    test("four processes that migrate at once do every step once, and none of them fails", async () => {
      const options = await engine.createEmptyStore();
      const at = String(Date.now() + 800);
      const children = Array.from({ length: 4 }, () => startChild("migrate", options, at));
      expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
      expect(await readSteps(options)).toEqual(migrations.map((step) => BigInt(step.number)));
    });

    test("migrating again changes nothing", async () => {
      const options = await engine.createEmptyStore();
      await migrateStorage(options);
      await migrateStorage(options);
      expect(await readSteps(options)).toHaveLength(migrations.length);
    });

    test("a store of a newer version is refused with a message that says so", async () => {
      const options = await engine.createEmptyStore();
      await withDatabase(options, async (database) => {
        const newer = {
          number: migrations.length + 1,
          name: "from the future",
          statements: ["create table later (id text)"],
        };
        await migrateDatabase(database, [...migrations, newer], quiet);
      });
      expect(String(await catchError(openStorage(options)))).toContain("newer version of Switchyard");
    });

    test("the rows of the ledger become blocks, in their months", async () => {
      const options = await engine.createEmptyStore();
      const start = Date.UTC(2026, 0, 31);
      const lines = Array.from({ length: 2_100 }, (_, index) =>
        makeLine({ time: start + index * 60_000, reason: index % 2 === 0 ? "Zoë's" : undefined, task: undefined }),
      );
      await withDatabase(options, async (database) => {
        await migrateDatabase(database, migrations.slice(0, 11), quiet);
        const { sql, engine: kind } = database;
        if (kind === "postgres") await sql.script("create table all_lines partition of ledger default");
        const rows = lines.map((line) => {
          const members = Object.entries({ reason: null, task: null, ...line }).map(([name, value]) => [
            name,
            typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? null),
          ]);
          return Object.fromEntries(members) as SqlRow;
        });
        await insertRows(sql, "ledger", rows);
      });
      await withStorage(options, async (storage) => {
        expect(await storage.ledger.count()).toEqual({ lines: 2_100, rows: 2_100, costPico: 2_100n * 1_234n });
      });
      await withDatabase(options, async ({ sql }) => {
        expect(await readAll(sql)).toEqual(JSON.parse(JSON.stringify(lines)));
      });
    });

    test("hourly totals keep their sums when they are divided into combinations and hours", async () => {
      const options = await engine.createEmptyStore();
      const sums = {
        ...Object.fromEntries(sumNames.map((name, index) => [name, index + 1])),
        cost_pico: 9_007_199_254_740_993n,
      };
      const hours = [1, 2, 3].map((number) => number * 3_600_000);
      const rows = ["one", "two's"].flatMap((model) =>
        hours.map((hour) => ({
          ...{ hour, key_id: "key", team: "", tags: '{"a":"b"}', provider: "openai", model, task: "", endpoint: "/v3" },
          ...{ outcome: "completed", ...sums },
        })),
      );
      await withDatabase(options, async (database) => {
        await migrateDatabase(database, migrations.slice(0, 15), quiet);
        await insertRows(database.sql, "usage_hourly", rows);
      });
      const query = { from: 0, to: 4 * 3_600_000, offsetMs: 0, filters: {}, maxGroups: 10 };
      await withStorage(options, async (storage) => {
        const groups = await storage.usageReports.summarize({ ...query, groupBy: ["hour", "model"] });
        expect(groups).toHaveLength(6);
        const [all] = (await storage.usageReports.summarize({ ...query, groupBy: [] })) as [UsageGroup];
        expect(all).toMatchObject({ lines: 6, costPico: 6n * 9_007_199_254_740_993n });
      });
      await withDatabase(options, async ({ sql, transaction }) => {
        expect(await sql`select count(*) as number from usage_dimensions`).toEqual([{ number: 2n }]);
        // A line of an hour that has totals is added to them.
        await transaction((inner) => addToTotals(inner, rows.slice(0, 1)));
        expect(await sql`select lines from usage_hourly where hour = ${hours[0] ?? 0} order by model`).toEqual([
          { lines: 2n },
          { lines: 1n },
        ]);
      });
    });

    test("every owner becomes a team, and its keys keep their settings", async () => {
      const options = await engine.createEmptyStore();
      const ids = Array.from({ length: 4 }, () => crypto.randomUUID());
      const owners = ["acme", "acme", "Zoë's 'team'", null];
      await withDatabase(options, async (database) => {
        await migrateDatabase(database, migrations.slice(0, 6), quiet);
        await database.sql`insert into topics (topic, revision) values ('keys', 9)`;
        for (const [index, id] of ids.entries()) {
          const budget = index === 0 ? { budget_pico_usd: 8_999_999_123456_000_000n, budget_period: "monthly" } : {};
          const row = {
            id,
            ...{
              kind: "inference",
              name: `key ${index}`,
              owner: owners[index] ?? null,
              scopes: '["chat"]',
              tags: "{}",
            },
            ...{ rate_limit: '{"requests_per_second":1,"requests_per_minute":null,"tokens_per_minute":null}' },
            ...{ enabled: 1, secret_hash: id, secret_tail: "tail", created_at: 1000 + index, revision: index + 1 },
            ...{ budget_pico_usd: null, budget_period: null, ...budget, revoked_at: index === 2 ? 5 : null },
          };
          await database.sql`insert into api_keys ${database.sql.columns(row)}`;
        }
      });
      await withStorage(options, async (storage) => {
        const { keys, teams, revision } = await storage.keys.changedSince(0n);
        expect(revision).toBe(9n);
        expect(keys.map(({ team }) => team).toSorted()).toEqual(owners.toSorted());
        expect(keys.find(({ id }) => id === ids[0])).toMatchObject({
          budget: { amount: 8_999_999.123456, period: "monthly", time_zone: "UTC", raise: null },
          rateLimit: { requests_per_second: 1, concurrent_requests: null },
          modelLimits: [],
        });
        expect(keys.find(({ id }) => id === ids[1])?.budget).toBeNull();
        const [acme, zoe] = teams.toSorted((one, other) => one.createdAt - other.createdAt);
        expect([acme, zoe, teams.length]).toEqual([
          makeTeam("acme", { id: acme?.id ?? "", createdAt: 1000 }),
          makeTeam("Zoë's 'team'", { id: zoe?.id ?? "", createdAt: 1002 }),
          2,
        ]);
        for (const { id } of teams)
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
        expect(await storage.teams.delete(acme?.id ?? "")).toBe(2);
        expect(await storage.teams.delete(zoe?.id ?? "")).toBe(0);
      });
    });

    test("a management key of an earlier version manages the whole gateway, unless its team is disabled", async () => {
      const options = await engine.createEmptyStore();
      const [free, ofTeam, ofDisabled, calling] = Array.from({ length: 4 }, () => crypto.randomUUID());
      const before = migrations.findIndex(({ name }) => name === "roles, sessions and audit");
      await withDatabase(options, async (database) => {
        await migrateDatabase(database, migrations.slice(0, before), quiet);
        const { sql } = database;
        const limits = { model_limits: "[]", tags: "{}", created_at: 1, revision: 1 };
        for (const [name, enabled] of [["acme", 1] as const, ["closed", 0] as const])
          await sql`insert into teams ${sql.columns({ id: crypto.randomUUID(), name, enabled, ...limits })}`;
        for (const [id, kind, owner] of [
          [free, "management", null],
          [ofTeam, "management", "acme"],
          [ofDisabled, "management", "closed"],
          [calling, "inference", "acme"],
        ] as const) {
          const row = { id: id ?? "", kind, owner, name: "a key", scopes: "[]", enabled: 1, ...limits };
          await sql`insert into api_keys ${sql.columns({ ...row, secret_hash: id ?? "", secret_tail: "tail" })}`;
        }
      });
      await withStorage(options, async (storage) => {
        const found = await Promise.all([free, ofTeam, ofDisabled, calling].map((id) => storage.keys.get(id ?? "")));
        expect(found.map((key) => [key?.role, key?.team])).toEqual([
          ["administrator", null],
          ["administrator", null],
          ["administrator", "closed"],
          [null, "acme"],
        ]);
      });
    });

    test("a step that is not the one that was applied is refused", async () => {
      const options = await engine.createEmptyStore();
      await withDatabase(options, async (database) => {
        const other = { number: 1, name: "another", statements: ["create table another (id text)"] };
        await migrateDatabase(database, [other], quiet);
      });
      expect(String(await catchError(openStorage(options)))).toContain("another build");
    });

    test("a step that fails leaves nothing behind", async () => {
      const options = await engine.createEmptyStore();
      await withDatabase(options, async (database) => {
        const statements = ["create table half (id text)", "create table half (id text)"];
        const broken = { number: migrations.length + 1, name: "broken", statements };
        await catchError(migrateDatabase(database, [...migrations, broken], quiet));
        expect(await catchError(database.sql`select * from half`)).toBeInstanceOf(Error);
      });
      expect(await readSteps(options)).toHaveLength(migrations.length);
    });

    test("the base handle inside a transaction is an error, not an endless wait", async () => {
      await withDatabase(await engine.createEmptyStore(), async (database) => {
        const error = await catchError(database.transaction(async () => await database.sql`select 1 as one`));
        expect(String(error)).toContain("base handle was used inside a transaction");
        const nested = await catchError(database.transaction(() => database.transaction(async () => null)));
        expect(String(nested)).toContain("base handle was used inside a transaction");
        expect(await database.sql`select 1 as one`).toHaveLength(1);
      });
    });

    test("integers beyond 2^53 are exact", async () => {
      await withDatabase(await engine.createEmptyStore(), async (database) => {
        await database.sql.script("create table sums (n bigint)");
        const large = 9_007_199_254_740_993n;
        await database.sql`insert into sums (n) values (${large})`;
        const [row] =
          await database.sql`select n, cast(sum(n) as bigint) as total, count(*) as rows from sums group by n`;
        expect(row).toEqual({ n: large, total: large, rows: 1n });
      });
    });
  });
}

async function readSteps(options: StorageOptions): Promise<unknown[]> {
  let steps: unknown[] = [];
  await withDatabase(options, async (database) => {
    const rows = await database.sql`select number from migrations order by number`;
    steps = rows.map((row) => row["number"]);
  });
  return steps;
}
