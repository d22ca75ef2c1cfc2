// What every engine promises about latencies.

import { expect, test } from "bun:test";
import { hourMs } from "../../src/lib/time-units.ts";
import { latencyBounds } from "../../src/storage/latencies.ts";
import { toMonth } from "../../src/storage/ledger.ts";
import { describeOn, type Engine, withStorage } from "./engines.ts";
import { makeLine } from "./ledger-store.ts";

const noon = Date.UTC(2026, 4, 17, 12);
const all = { from: noon - 24 * hourMs, to: noon + 24 * hourMs, teams: [], providers: [], models: [] };

export function describeLatencyStore(engine: Engine): void {
  describeOn(engine, "the latencies", () => {
    test("completed calls are counted by step, once, and deleted with their hour", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        await storage.ledger.createPartitions([toMonth(noon)]);
        const numbered = [
          makeLine({ latency_ms: 50, first_token_ms: 30, n: 1 }),
          makeLine({ latency_ms: 51, n: 2 }),
          makeLine({ latency_ms: 1_000_000, time: noon + hourMs, team: "other", n: 3 }),
          makeLine({ latency_ms: 10, outcome: "provider_error", n: 4 }),
          makeLine({ latency_ms: 0, provider: undefined, attempt: 0, n: 5 }),
        ];
        const batch = { lines: JSON.stringify(numbered), processId: "process" };
        await storage.ledger.append(batch);
        await storage.ledger.append(batch);
        const counts = (values: Readonly<Record<number, number>>) =>
          Array.from({ length: latencyBounds.length + 1 }, (_, index) => values[index] ?? 0);
        const first = { from: noon, calls: counts({ 0: 1, 1: 1 }), streams: counts({ 0: 1 }) };
        const second = { from: noon + hourMs, calls: counts({ [latencyBounds.length]: 1 }), streams: counts({}) };
        const { list } = storage.latencies;
        expect(await list({ ...all, stepMs: hourMs })).toEqual([first, second]);
        expect(await list({ ...all, stepMs: hourMs, teams: ["team"] })).toEqual([first]);
        expect(await list({ ...all, stepMs: hourMs, models: ["in-house/model"], providers: ["in-house"] })).toEqual([
          first,
          second,
        ]);
        const [day] = await list({ ...all, stepMs: 48 * hourMs });
        expect(day).toEqual({
          from: all.from,
          calls: counts({ 0: 1, 1: 1, [latencyBounds.length]: 1 }),
          streams: counts({ 0: 1 }),
        });
        await storage.ledger.deleteLatencies(noon + hourMs, 10);
        expect(await list({ ...all, stepMs: hourMs })).toEqual([second]);
      });
    });
  });
}
