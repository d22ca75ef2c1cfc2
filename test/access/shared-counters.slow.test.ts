// Several real processes that count in one file at the same time, some of them killed.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Counter, createCounterFile, openCounterFile, running } from "../../src/access/counter-table.ts";
import { SharedCounters } from "../../src/access/shared-counters.ts";
import { resetMs, sumOf } from "../../src/access/window-cells.ts";
import type { Work } from "../support/counter-child.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-counters-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function createFile(entries = 1_024): string {
  const path = join(folder, `counters-${++files}`);
  createCounterFile(path, { entries, slots: 8 });
  return path;
}

async function startChild(path: string, slot: number, work: Work) {
  const script = join(import.meta.dir, "../support/counter-child.ts");
  const child = Bun.spawn([process.execPath, script, path, String(slot), JSON.stringify(work)], {
    stdin: "pipe",
    stdout: "pipe",
  });
  const lines = readLines(child.stdout);
  expect((await lines.next()).value).toBe("ready");
  return {
    start: () => child.stdin.write("go\n"),
    result: async () => JSON.parse((await lines.next()).value ?? "null"),
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function* readLines(output: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of output) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

async function runAll(path: string, works: readonly Work[]): Promise<unknown[]> {
  const children = await Promise.all(works.map((work, index) => startChild(path, index + 1, work)));
  for (const child of children) await child.start();
  const results = await Promise.all(children.map((child) => child.result()));
  await Promise.all(children.map((child) => child.kill()));
  return results;
}

const now = () => 60_000_000;
const times = 100_000;
const observe = (path: string) => new SharedCounters({ table: openCounterFile(path), slot: 0, now });

test("processes that take from the same windows take exactly the limit of each together", async () => {
  const path = createFile();
  // More counters than fit into some buckets would be counted by each process alone, so there are fewer than entries.
  const ids = Array.from({ length: 50 }, (_, index) => `key:${index}`);
  const work: Work = { kind: "take", ids, limit: 4_000, amount: 1 };
  const results = (await runAll(path, [work, work, work])) as Record<string, number>[];
  for (const id of ids) expect([id, sum(results.map((taken) => taken[id] ?? 0))]).toEqual([id, 4_000]);
  expect(observe(path).read(new Counter("key:7"), "perMinute").counts[0]).toBe(4_000);
});

test("a summary of a window has the sum and the time until the reset of what the window holds", () => {
  let at = 60_000_000;
  const counters = new SharedCounters({ now: () => at });
  const counter = new Counter("key:summary");
  const expectSame = () => {
    const window = counters.read(counter, "tokens");
    const expected = { sum: sumOf(window), resetMs: resetMs(window, "tokens") };
    expect([at, counters.summarize(counter, "tokens")]).toEqual([at, expected]);
  };
  expectSame();
  const taken = counters.take(counter, "tokens", { limit: 1_000, amount: 300, isShared: false });
  for (const amount of [7, 0, 11, 5]) {
    at += 13_000;
    counters.add(counter, "tokens", amount);
    expectSame();
  }
  // What is given back is no longer part of the sum.
  counters.giveBack(counter, "tokens", { ...(taken as { step: number }), amount: 100 });
  expect(counters.summarize(counter, "tokens").sum).toBe(223);
  for (const passedMs of [9_000, 2_000, 30_000, 40_000]) {
    at += passedMs;
    expectSame();
  }
  expect(counters.summarize(counter, "tokens")).toEqual({ sum: 0, resetMs: 0 });
});

test("an amount that exceeds the rest of the limit is refused as a whole", async () => {
  const path = createFile();
  const work: Work = { kind: "take", ids: ["tokens"], limit: 100_000, amount: 7 };
  const results = (await runAll(path, [work, work, work])) as Record<string, number>[];
  expect(sum(results.map((taken) => taken["tokens"] ?? 0))).toBe(99_995);
});

test("corrections of all processes add up to the last unit", async () => {
  const path = createFile();
  const work: Work = { kind: "correct", id: "key:1", times };
  await runAll(path, [work, work, work]);
  expect(observe(path).read(new Counter("key:1"), "tokens").counts[0]).toBe(3 * times);
}, 300_000);

test("never more requests run than the limit, and exactly as many as the limit can", async () => {
  const path = createFile();
  const ids = Array.from({ length: 500 }, (_, index) => `key:${index}`);
  const fill: Work = { kind: "fill", ids, limit: 25 };
  const held = (await runAll(path, [fill, fill, fill])) as Record<string, number>[];
  for (const id of ids) expect([id, sum(held.map((begun) => begun[id] ?? 0))]).toEqual([id, 25]);
  const work: Work = { kind: "run", id: "other", times, limit: 2 };
  const results = (await runAll(path, [work, work, work])) as { passed: number; refused: number; most: number }[];
  for (const { passed, refused, most } of results) {
    expect(passed + refused).toBe(times);
    // A process reads the sum while others count and take back, so it may see a request that is not confirmed.
    expect(most).toBeLessThanOrEqual(4);
  }
  expect(observe(path).countRunning(new Counter("other"), running.requests)).toBe(0);
}, 300_000);

test("what a killed process had running is cleared with its slot, and nothing else", async () => {
  const path = createFile();
  const children = await Promise.all(
    [1, 2].map((slot) => startChild(path, slot, { kind: "hold", id: "key:1", times: 10 * slot })),
  );
  for (const child of children) {
    await child.start();
    await child.result();
  }
  const counters = observe(path);
  const counter = new Counter("key:1");
  expect(counters.countRunning(counter, running.requests)).toBe(30);
  await children[1]?.kill();
  openCounterFile(path).clearSlot(2);
  expect(counters.countRunning(counter, running.requests)).toBe(10);
  await children[0]?.kill();
});

test("processes that are killed while they count stop no other, and at most their last count is uncertain", async () => {
  const path = createFile(64);
  const counter = new Counter("key:0");
  for (let round = 0; round < 10; round++) {
    const ids = Array.from({ length: 40 }, (_, index) => `key:${index === 0 ? 0 : `${round}-${index}`}`);
    const child = await startChild(path, 1, { kind: "take", ids, limit: 4_000_000_000, amount: 1 });
    await child.start();
    await Bun.sleep(Math.random() * 20);
    await child.kill();
    openCounterFile(path).clearSlot(1);
    // Every bucket can still be changed.
    const later = new SharedCounters({
      table: openCounterFile(path),
      slot: 2,
      now: () => 60_000_000 + (round + 1) * 400_000,
    });
    for (let index = 0; index < 500; index++) {
      const added = new Counter(`later:${round}:${index}`);
      expect(later.take(added, "perMinute", { limit: 1, amount: 1, isShared: false })).toHaveProperty("step");
      expect(later.take(added, "perMinute", { limit: 1, amount: 1, isShared: false })).toHaveProperty("waitMs");
    }
  }
  expect(observe(path).read(counter, "perMinute").counts[0]).toBeGreaterThanOrEqual(0);
}, 300_000);

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
