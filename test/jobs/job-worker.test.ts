// The worker with a real store: how attempts of deliveries are stored.

import { afterAll, describe, expect, test } from "bun:test";
import type { Deliverer } from "../../src/jobs/deliverer.ts";
import { startJobWorker } from "../../src/jobs/worker.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createFolders, makeJob, makeResult, quiet, withStorage } from "../contracts/engines.ts";
import { waitFor } from "../support/wait.ts";

const folders = createFolders();

afterAll(() => folders.remove());

/** Runs `count` jobs and reports each as `attempt` says; when each report was over, and when it came to the store. */
async function deliver(
  count: number,
  places: number,
  send: () => Promise<void>,
): Promise<{ over: number[]; stored: number[] }> {
  const over: number[] = [];
  const stored: number[] = [];
  const deliverer: Deliverer = {
    attempt: async () => {
      await send();
      over.push(performance.now());
      const attempt = { number: 1, startedAt: Date.now(), durationMs: 1, status: 200, error: null, keyId: "key" };
      return { attempt, state: "delivered", nextAt: null };
    },
  };
  await withStorage({ databaseUrl: null, dataDir: folders.create(), log: quiet }, async (storage: Storage) => {
    const recordAttempt: Storage["deliveries"]["recordAttempt"] = (...call) => {
      stored.push(performance.now());
      return storage.deliveries.recordAttempt(...call);
    };
    const worker = startJobWorker({
      storage: { ...storage, deliveries: { ...storage.deliveries, recordAttempt } },
      run: async (item) => {
        const delivery = { id: crypto.randomUUID() };
        await storage.jobs.begin(item, { countRun: true });
        await storage.jobs.finish(item, item.subject, makeResult(), delivery);
      },
      deliverer,
      runsAtOnce: 32,
      deliveriesAtOnce: places,
      deliveriesPerHost: places,
      log: quiet,
    });
    const jobs = Array.from({ length: count }, () => makeJob());
    await Promise.all(jobs.map((job) => storage.jobs.create(job, null)));
    await waitFor("all reports", () => stored.length === count, { withinMs: 60_000 });
    await worker.stop(1_000);
    for (const { id, owner } of jobs) {
      const [told] = (await storage.deliveries.listForJob(id, owner)) ?? [];
      expect(told).toMatchObject({ state: "delivered", attempts: [{ status: 200 }] });
    }
  });
  return { over, stored };
}

describe("the end of a report", () => {
  test("attempts of many concurrent deliveries are stored together, and none is lost", async () => {
    let lastAt = 0;
    const { stored } = await deliver(200, 32, async () => {
      // One after the other, as signatures are made.
      lastAt = Math.max(lastAt, performance.now()) + 1;
      await Bun.sleep(lastAt - performance.now());
    });
    const moments = stored.filter((at, index) => at - (stored[index - 1] ?? 0) > 0.9);
    expect(moments.length).toBeLessThan(80);
  });

  test("the attempt of a single delivery is stored at once", async () => {
    const { over, stored } = await deliver(20, 1, () => Bun.sleep(1));
    const waits = stored.map((at, index) => at - (over[index] ?? 0));
    expect(Math.min(...waits)).toBeLessThan(5);
  });
});
