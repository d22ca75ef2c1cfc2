// What every engine promises about the ledger.

import { expect, test } from "bun:test";
import { type LedgerLine, toMonth } from "../../src/storage/ledger.ts";
import type { Storage, StorageOptions } from "../../src/storage/storage.ts";
import { catchError, describeOn, type Engine, withDatabase, withStorage } from "./engines.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
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

async function readRows<Row>(options: StorageOptions, table: "ledger" | "usage_hourly"): Promise<Row[]> {
  let rows: Row[] = [];
  await withDatabase(options, async ({ sql }) => {
    const order = sql.names([table === "ledger" ? "id" : "hour"]);
    rows = [...(await sql<Row>`select * from ${sql.identifier(table)} order by ${order}`)];
  });
  return rows;
}

export function describeLedgerStore(engine: Engine): void {
  describeOn(engine, "the ledger", () => {
    test("a line comes back as it was written, with its JSON members as text", async () => {
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
        const [first, second] = await readRows<Record<string, unknown>>(options, "ledger");
        const { tags, tokens, units, accounts, usage } = first as Record<string, string>;
        expect([tags, tokens, units, accounts, usage].map((text) => JSON.parse(text ?? ""))).toEqual([
          ...[full.tags, full.tokens, full.units, full.accounts, full.usage],
        ]);
        expect(first).toMatchObject({ id: full.id, cost_pico: 9_007_199_254_740_991n, time: BigInt(noon) });
        expect(first).toMatchObject({ reason: full.reason, is_stream: 1n, attempt: 3n, job_id: "job" });
        const empty = { key_id: null, team: null, tags: "{}", provider: null, usage: null, accounts: null };
        expect(second).toMatchObject({ id: bare.id, ...empty, tokens: null, cost_pico: null, units: null });
      });
    });

    test("a batch that is repeated, also in part and with new lines, counts once", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const [one, two, three] = [makeLine(), makeLine(), makeLine({ time: noon + 5 })];
        expect(await append(storage, [one, two])).toBe(2);
        expect(await append(storage, [one, two])).toBe(0);
        expect(await append(storage, [two, three])).toBe(1);
        expect(await storage.ledger.count()).toMatchObject({ lines: 3, costPico: 3_702n });
        const [total, ...others] = await readRows(options, "usage_hourly");
        expect(others).toEqual([]);
        expect(total).toMatchObject({ hour: BigInt(noon), lines: 3n, cost_pico: 3_702n, input_tokens: 30n });
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
        expect(await readRows(options, "usage_hourly")).toMatchObject([
          { lines: 3n, cost_pico: 2_468n, unknown_costs: 1n, streams: 2n, first_token_ms: 10n, latency_ms: 60n },
          { hour: BigInt(noon + hourMs), lines: 2n, tags: JSON.stringify(longTags) },
          { lines: 1n, outcome: "provider_error", unknown_costs: 0n },
          { lines: 37n, key_id: "", team: "", provider: "", model: "", task: "", tags: "{}", unknown_costs: 0n },
        ]);
      });
    });

    test("processes that append and repeat the same lines at the same time count each once", async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (other) => {
          const batches = Array.from({ length: 8 }, (_, batch) =>
            Array.from({ length: 20 }, (_, index) => makeLine({ key_id: `key ${(batch * 7 + index) % 5}` })),
          );
          await one.ledger.createPartitions([toMonth(noon)]);
          const send = async (storage: Storage, lines: readonly LedgerLine[]) => {
            const text = JSON.stringify(lines);
            for (;;) {
              try {
                return (await storage.ledger.append({ lines: text, processId: "process" })).lines;
              } catch (error) {
                if ((error as { code?: string }).code !== "dependency_unavailable") throw error;
              }
            }
          };
          const added = await Promise.all(
            batches.flatMap((lines) => [send(one, lines), send(other, lines.toReversed()), send(one, lines)]),
          );
          expect(added.reduce((sum, count) => sum + count, 0)).toBe(160);
          expect(await other.ledger.count()).toMatchObject({ lines: 160, costPico: 160n * 1_234n });
          const totals = await readRows<{ lines: bigint }>(options, "usage_hourly");
          expect(totals.reduce((sum, { lines }) => sum + lines, 0n)).toBe(160n);
        }),
      );
    });

    test("old lines go before old totals, and the newest stay", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const times = Array.from({ length: 130 }, (_, day) => noon - day * dayMs);
        await append(
          storage,
          times.map((time) => makeLine({ time })),
        );
        const before = noon - 60 * dayMs;
        let deleted = 0;
        for (;;) {
          const step = await storage.ledger.deleteLines(before, 10);
          expect(step).toBeLessThanOrEqual(10);
          deleted += step;
          if (step === 0) break;
        }
        const left = await readRows<{ time: bigint }>(options, "ledger");
        // PostgreSQL drops whole months.
        const kept = engine.name === "SQLite" ? before : Date.UTC(2026, 2);
        expect(left).toHaveLength(times.filter((time) => time >= kept).length);
        expect(left.every(({ time }) => time >= kept)).toBe(true);
        expect(deleted).toBe(engine.name === "SQLite" ? 130 - left.length : 0);
        expect(await readRows(options, "usage_hourly")).toHaveLength(130);
        while ((await storage.ledger.deleteTotals(before)) > 0);
        expect(await readRows(options, "usage_hourly")).toHaveLength(61);
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
        expect(await readRows(options, "usage_hourly")).toMatchObject([{ lines: 1n }]);
      });
    });
  });
}
