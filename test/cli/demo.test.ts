// The data of `switchyard demo`.

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStorage } from "../../src/cli/demo.ts";
import { createLog } from "../../src/log.ts";
import { openStorage } from "../../src/storage/storage.ts";

const end = Date.parse("2026-11-16T12:00:00Z");
const dayMs = 86_400_000;
const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });

async function fill(seed: number) {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-demo-"));
  const storage = await openStorage({ databaseUrl: null, dataDir, log });
  try {
    const computeCost = () => ({ pico: 1_000_000, version: "1" });
    const lines = await fillStorage(storage, { dataDir, seed, end, callsPerDay: 20, computeCost });
    const query = { from: end - 40 * dayMs, to: end + dayMs, offsetMs: 0, filters: {}, maxGroups: 10_000 };
    const sums = await storage.usageReports.summarize({ ...query, groupBy: ["day", "model", "outcome", "key_id"] });
    const management = await Bun.file(join(dataDir, "first-keys/management.key")).text();
    return { lines, sums, management };
  } finally {
    await storage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

test("the same seed gives the same lines, and another seed gives others", async () => {
  const [one, same, other] = [await fill(1), await fill(1), await fill(2)];
  expect(same.sums).toEqual(one.sums);
  expect(same.lines).toBe(one.lines);
  expect(other.sums).not.toEqual(one.sums);
  // Secrets are real ones: the gateway of the demo may be reachable.
  expect(same.management).not.toBe(one.management);
});

test("the lines cover thirty days up to the end", async () => {
  const { sums, lines } = await fill(3);
  if (sums === "too_many") throw new Error("too many groups");
  const days = new Set(sums.map(({ values }) => Number(values[0])));
  expect(Math.min(...days)).toBeGreaterThanOrEqual(Math.floor(end / dayMs) - 30);
  expect(Math.max(...days)).toBe(Math.floor(end / dayMs));
  expect(sums.reduce((sum, group) => sum + group.lines, 0)).toBe(lines);
  expect(lines).toBeGreaterThan(300);
});
