// What every engine promises about the ledger.

import { expect, test } from "bun:test";
import { dayMs, hourMs } from "../../src/lib/time-units.ts";
import { toMonth } from "../../src/storage/ledger.ts";
import { toBlock } from "../../src/storage/ledger-blocks.ts";
import type { LedgerLine } from "../../src/storage/ledger-line.ts";
import type { LinePage, LinePosition } from "../../src/storage/ledger-lines.ts";
import { insertRows } from "../../src/storage/operation.ts";
import type { Storage, StorageOptions } from "../../src/storage/storage.ts";
import { readAll } from "../support/ledger.ts";
import { catchError, describeOn, type Engine, withDatabase, withStorage } from "./engines.ts";

const noon = Date.UTC(2026, 4, 17, 12);

export function makeLine(changes: Partial<LedgerLine> = {}): LedgerLine {
  return {
    id: Bun.randomUUIDv7(),
    time: noon,
    request_id: "request",
    key_id: "key",
    team: "team",
    tags: { app: "shop" },
    endpoint: "/v3/chat/completions",
    provider: "in-house",
    model: "model",
    attempt: 1,
    outcome: "completed",
    status: 200,
    input_tokens: 10,
    output_tokens: 5,
    tokens: { input: 10, output: 5 },
    cost_pico: 1_234,
    counted_pico: 1_234,
    latency_ms: 20,
    is_stream: 0,
    is_cached: 0,
    count: 1,
    usage: { prompt_tokens: 10, completion_tokens: 5 },
    ...changes,
  };
}

async function append(storage: Storage, lines: readonly LedgerLine[]): Promise<number> {
  await storage.ledger.createPartitions([...new Set(lines.map(({ time }) => toMonth(time)))]);
  return (await storage.ledger.append({ lines: JSON.stringify(lines), processId: "process" })).lines;
}

async function readTotals<Row>(options: StorageOptions): Promise<Row[]> {
  let rows: Row[] = [];
  await withDatabase(options, async ({ sql }) => {
    rows = [...(await sql<Row>`select * from usage_hourly order by hour`)];
  });
  return rows;
}

async function readLines(options: StorageOptions): Promise<LedgerLine[]> {
  let lines: LedgerLine[] = [];
  await withDatabase(options, async ({ sql }) => {
    lines = await readAll(sql);
  });
  return lines;
}

async function countBlocks(options: StorageOptions): Promise<number> {
  let count = 0;
  await withDatabase(options, async ({ sql }) => {
    count = (await sql`select 1 as one from ledger_blocks`).length;
  });
  return count;
}

export function describeLedgerStore(engine: Engine): void {
  describeOn(engine, "the ledger", () => {
    test("a line comes back as it was written", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const full = makeLine({
          ...{ task: "text/summarize", deployment: "in-house#2", attempt: 3, cached_tokens: 4, reasoning_tokens: 2 },
          ...{
            units: { page: 2 },
            price_version: "2026-10-01",
            cost_pico: Number.MAX_SAFE_INTEGER,
            accounts: ["a b 1"],
          },
          ...{ first_token_ms: 7, is_stream: 1, is_cached: 1, job_id: "job", reason: "Zoë's 'reason'; --\n{}" },
        });
        const bare = makeLine({
          ...{ key_id: undefined, team: undefined, tags: {}, provider: undefined, model: undefined, usage: undefined },
          ...{ tokens: undefined, cost_pico: undefined, input_tokens: undefined, output_tokens: undefined },
        });
        expect(await append(storage, [full, bare])).toBe(2);
        const [first, second] = await readLines(options);
        expect(first).toEqual(full);
        expect(second).toEqual(JSON.parse(JSON.stringify(bare)));
      });
    });

    test("a batch that is repeated, also in part and with new lines, counts once", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const [one, two, three] = [makeLine({ n: 1 }), makeLine({ n: 2 }), makeLine({ n: 3, time: noon + 5 })];
        expect(await append(storage, [one, two])).toBe(2);
        expect(await append(storage, [one, two])).toBe(0);
        expect(await append(storage, [two, three])).toBe(1);
        // Another process counts its own lines.
        expect((await storage.ledger.append({ lines: JSON.stringify([one]), processId: "other" })).lines).toBe(1);
        expect(await storage.ledger.count()).toMatchObject({ lines: 4, costPico: 4_936n });
        const [total, ...others] = await readTotals(options);
        expect(others).toEqual([]);
        expect(total).toMatchObject({ hour: BigInt(noon), lines: 4n, cost_pico: 4_936n, input_tokens: 40n });
      });
    });

    test("a line that two processes may append counts once", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const shared = makeLine({ n: 1, once: 1 });
        const send = async (processId: string, lines: readonly LedgerLine[]) =>
          (await storage.ledger.append({ lines: JSON.stringify(lines), processId })).lines;
        await storage.ledger.createPartitions([toMonth(noon)]);
        expect(await send("one", [shared, makeLine({ n: 2 })])).toBe(2);
        expect(await send("two", [makeLine({ n: 1 }), { ...shared, n: 2 }, { ...shared, n: 3 }])).toBe(1);
        expect(await storage.ledger.count()).toMatchObject({ lines: 3, costPico: 3_702n });
      });
    });

    test("totals add up by hour and dimension: unknown costs, streams and merged refusals are counted", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const longTags = Object.fromEntries(
          Array.from({ length: 10 }, (_, index) => [`${index}`.repeat(64), "ü".repeat(256)]),
        );
        await append(storage, [
          makeLine({ first_token_ms: 4, is_stream: 1 }),
          makeLine({ first_token_ms: 6, is_stream: 1, time: noon + hourMs - 1 }),
          makeLine({ cost_pico: undefined, cost_reason: "price_unknown" }),
          makeLine({ time: noon + hourMs, tags: longTags, team: "ü".repeat(256) }),
          makeLine({ time: noon + hourMs, tags: longTags, team: "ü".repeat(256) }),
          makeLine({
            outcome: "provider_error",
            cost_pico: undefined,
            cost_reason: "not_answered",
            time: noon + 2 * hourMs,
          }),
          makeLine({
            ...{ time: noon + 3 * hourMs, attempt: 0, count: 37, outcome: "invalid_api_key", status: 401, tags: {} },
            ...{ key_id: undefined, team: undefined, provider: undefined, model: undefined, cost_pico: undefined },
          }),
        ]);
        expect(await readTotals(options)).toMatchObject([
          { lines: 3n, cost_pico: 2_468n, unknown_costs: 1n, streams: 2n, first_token_ms: 10n, latency_ms: 60n },
          { hour: BigInt(noon + hourMs), lines: 2n, tags: JSON.stringify(longTags) },
          { lines: 1n, outcome: "provider_error", unknown_costs: 0n },
          { lines: 37n, key_id: "", team: "", provider: "", model: "", task: "", tags: "{}", unknown_costs: 0n },
        ]);
      });
    });

    test("processes that append at the same time, and one that is replayed by two others, count each line once", async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (other) => {
          await one.ledger.createPartitions([toMonth(noon)]);
          const send = async (storage: Storage, processId: string, lines: readonly LedgerLine[]) => {
            for (;;) {
              try {
                return (await storage.ledger.append({ lines: JSON.stringify(lines), processId })).lines;
              } catch (error) {
                if ((error as { code?: string }).code !== "dependency_unavailable") throw error;
              }
            }
          };
          const batches = Array.from({ length: 8 }, (_, batch) =>
            Array.from({ length: 20 }, (_, index) =>
              makeLine({ n: index + 1, key_id: `key ${(batch * 7 + index) % 5}` }),
            ),
          );
          const added = await Promise.all(
            batches.flatMap((lines, batch) => [one, other, one].map((storage) => send(storage, `${batch}`, lines))),
          );
          expect(added.reduce((sum, count) => sum + count, 0)).toBe(160);
          expect(await other.ledger.count()).toMatchObject({ lines: 160, costPico: 160n * 1_234n });
          const totals = await readTotals<{ lines: bigint }>(options);
          expect(totals.reduce((sum, { lines }) => sum + lines, 0n)).toBe(160n);
        }),
      );
    });

    test("small blocks are merged, by process, and nothing is lost", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await storage.ledger.createPartitions([toMonth(noon)]);
        const lines = Array.from({ length: 40 }, (_, index) =>
          makeLine({ n: Math.floor(index / 2) + 1, time: noon + index, request_id: `request ${index}` }),
        );
        for (const [index, line] of lines.entries())
          await storage.ledger.append({ lines: JSON.stringify([line]), processId: `process ${index % 2}` });
        const large = Array.from({ length: 300 }, (_, index) => makeLine({ n: index + 1, time: noon }));
        await storage.ledger.append({ lines: JSON.stringify(large), processId: "large" });
        expect(await countBlocks(options)).toBe(41);
        // Those from the given time on are left alone.
        expect(await storage.ledger.mergeBlocks(noon + 30)).toBe(30);
        expect(await countBlocks(options)).toBe(13);
        while ((await storage.ledger.mergeBlocks(noon + hourMs)) > 0);
        expect(await countBlocks(options)).toBe(3);
        expect((await readLines(options)).length).toBe(340);
        for (const { id, request_id } of [lines[0], lines[39]] as LedgerLine[])
          expect(await storage.usageReports.findRequest(request_id, 10, null)).toMatchObject([{ id }]);
        // A batch that was stored before the merge is still known.
        const again = { lines: JSON.stringify([lines[0]]), processId: "process 0" };
        expect((await storage.ledger.append(again)).lines).toBe(0);
      });
    });

    test("merged lines are deleted at their age, although one process writes a few every day", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        // The lines that are old enough are those of April, because PostgreSQL drops whole months.
        const [now, days] = [Date.UTC(2026, 4, 31, 12), 40];
        const times = Array.from({ length: days }, (_, day) => now - (days - 1 - day) * dayMs);
        let n = 0;
        for (const time of times) {
          for (const of of [time - hourMs, time]) await append(storage, [makeLine({ n: ++n, time: of })]);
          while ((await storage.ledger.mergeBlocks(time + 1)) > 0);
        }
        const before = now - 30 * dayMs - hourMs;
        while ((await storage.ledger.deleteBlocks(before, 10)) > 0);
        const left = (await readLines(options)).map(({ time }) => time);
        const expected = times.flatMap((time) => [time - hourMs, time]).filter((time) => time >= before);
        expect(left.sort((one, other) => one - other)).toEqual(expected);
        expect(await countBlocks(options)).toBe(expected.length / 2);
      });
    });

    test("hundreds of blocks that are alone on their day do not keep others from being merged", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await storage.ledger.createPartitions([toMonth(noon)]);
        const alone = Array.from({ length: 600 }, (_, index) =>
          toBlock(`process ${index >> 1}`, [makeLine({ time: noon + (index % 2) * dayMs })]),
        );
        await withDatabase(options, async ({ sql }) => await insertRows(sql, "ledger_blocks", alone));
        for (const n of [1, 2]) {
          const lines = JSON.stringify([makeLine({ n })]);
          await storage.ledger.append({ lines, processId: "the last process" });
        }
        expect(await storage.ledger.mergeBlocks(noon + 3 * dayMs)).toBe(2);
        expect(await storage.ledger.mergeBlocks(noon + 3 * dayMs)).toBe(0);
        expect(await countBlocks(options)).toBe(601);
      });
    });

    test("a list goes on while blocks are merged", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await storage.ledger.createPartitions([toMonth(noon)]);
        const lines = Array.from({ length: 60 }, (_, index) => makeLine({ n: index + 1, time: noon + index * 7 }));
        for (const line of lines) await storage.ledger.append({ lines: JSON.stringify([line]), processId: "one" });
        const filters = { provider: ["in-house"] };
        const rest = { status: 200, minCostPico: 1n, minLatencyMs: 1, limit: 60, scanMs: 10_000 };
        const lists = Array.from({ length: 8 }, () =>
          storage.usageReports.listLines({ from: null, to: null, after: null, filters, ...rest }),
        );
        const merging = (async () => {
          while ((await storage.ledger.mergeBlocks(noon + hourMs)) > 0);
        })();
        for (const { lines: found, next } of await Promise.all(lists)) {
          expect(found.map(({ id }) => id)).toEqual(lines.map(({ id }) => id).reverse());
          expect(next).toBeNull();
        }
        await merging;
      });
    });

    test("lines of long calls, which began before those of other blocks, are listed in their order", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await storage.ledger.createPartitions([toMonth(noon)]);
        const batches = Array.from({ length: 12 }, (_, batch) =>
          Array.from({ length: 10 }, (_, index) =>
            // Some calls began long before the others of their block, and some lines have the same time.
            makeLine({ time: noon + batch * 1_000 + index * 10 - (index === 3 ? batch * 900 : 0) }),
          ),
        );
        for (const lines of batches) await append(storage, lines);
        const expected = batches
          .flat()
          .sort((one, other) => other.time - one.time || (one.id < other.id ? 1 : -1))
          .map(({ id }) => id);
        for (const [limit, scanMs] of [
          [7, 10_000],
          [1_000, 10_000],
          [7, 0],
        ] as const) {
          const found: string[] = [];
          const query = { from: null, to: null, filters: {}, status: null, minCostPico: null, minLatencyMs: null };
          let after: LinePosition | null = null;
          do {
            const page: LinePage = await storage.usageReports.listLines({ ...query, after, limit, scanMs });
            found.push(...page.lines.map(({ id }) => id));
            after = page.next;
          } while (after !== null);
          expect(found).toEqual(expected);
        }
      });
    });

    test("old lines go before old totals, and the newest stay", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const times = Array.from({ length: 130 }, (_, day) => noon - day * dayMs);
        for (const time of times) await append(storage, [makeLine({ time })]);
        const before = noon - 60 * dayMs;
        let deleted = 0;
        for (;;) {
          const step = await storage.ledger.deleteBlocks(before, 10);
          expect(step).toBeLessThanOrEqual(10);
          deleted += step;
          if (step === 0) break;
        }
        const left = await readLines(options);
        // PostgreSQL drops whole months.
        const kept = engine.name === "SQLite" ? before : Date.UTC(2026, 2);
        expect(left).toHaveLength(times.filter((time) => time >= kept).length);
        expect(left.every(({ time }) => time >= kept)).toBe(true);
        // The partitions of January and February.
        expect(deleted).toBe(engine.name === "SQLite" ? 130 - left.length : 2);
        expect(await readTotals(options)).toHaveLength(130);
        while ((await storage.ledger.deleteTotals(before, 10)) > 0);
        expect(await readTotals(options)).toHaveLength(61);
        await storage.ledger.createPartitions([toMonth(noon)]);
        expect(await append(storage, [makeLine()])).toBe(1);
      });
    });

    test("text that is no JSON and a line without its required members change nothing", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await append(storage, [makeLine()]);
        const wrong = [
          `[${JSON.stringify(makeLine())}`,
          JSON.stringify([makeLine(), { ...makeLine(), endpoint: null }]),
        ];
        for (const lines of wrong) await catchError(storage.ledger.append({ lines, processId: "process" }));
        expect(await storage.ledger.count()).toMatchObject({ lines: 1, costPico: 1_234n });
        expect(await readTotals(options)).toMatchObject([{ lines: 1n }]);
      });
    });
  });
}
