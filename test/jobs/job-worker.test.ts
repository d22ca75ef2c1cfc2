// The worker with a real store: how attempts of deliveries are stored, and which work it aborts.

import { afterAll, describe, expect, test } from "bun:test";
import type { Deliverer } from "../../src/jobs/deliverer.ts";
import { startJobWorker } from "../../src/jobs/worker.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createFolders, makeJob, makeResult, quiet, withStorage } from "../contracts/engines.ts";
import { waitFor } from "../support/wait.ts";

const folders = createFolders();

afterAll(() => folders.remove());

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Runs `count` jobs and delivers each with `send`. Returns in which turns of the event loop attempts ended, and in which they were stored. */
async function deliver(
  count: number,
  concurrency: number,
  send: () => Promise<void>,
): Promise<{ ended: number[]; stored: number[] }> {
  const ended: number[] = [];
  const stored: number[] = [];
  let turn = 0;
  let isCounting = false;
  const currentTurn = () => {
    if (!isCounting) {
      isCounting = true;
      setImmediate(() => {
        turn += 1;
        isCounting = false;
      });
    }
    return turn;
  };
  const deliverer: Deliverer = {
    attempt: async () => {
      await send();
      ended.push(currentTurn());
      const attempt = { number: 1, startedAt: Date.now(), durationMs: 1, status: 200, error: null, keyId: "key" };
      return { attempt, state: "delivered", nextAt: null };
    },
  };
  await withStorage(
    { databaseUrl: null, dataDir: folders.create(), log: quiet, deadlineMs: 60_000 },
    async (storage: Storage) => {
      const recordAttempt: Storage["deliveries"]["recordAttempt"] = (...call) => {
        stored.push(currentTurn());
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
        deliveriesAtOnce: concurrency,
        deliveriesPerHost: concurrency,
        log: quiet,
      });
      const jobs = Array.from({ length: count }, () => makeJob());
      await Promise.all(jobs.map((job) => storage.jobs.create(job, null)));
      await waitFor("all attempts", () => stored.length === count);
      await worker.stop(60_000);
      for (const { id, owner } of jobs) {
        const [told] = (await storage.deliveries.listForJob(id, owner)) ?? [];
        expect(told).toMatchObject({ state: "delivered", attempts: [{ status: 200 }] });
      }
    },
  );
  return { ended, stored };
}

describe("attempts of deliveries", () => {
  test("many that end one after the other are stored together, and none is lost", async () => {
    let line = Promise.resolve();
    const { ended, stored } = await deliver(200, 32, () => {
      // One after the other, because each is signed.
      line = line.then(nextTurn);
      return line;
    });
    expect(new Set(ended).size).toBeGreaterThan(150);
    expect(new Set(stored).size).toBeLessThan(80);
  });

  test("a single one is stored at once", async () => {
    const { ended, stored } = await deliver(20, 1, nextTurn);
    expect(stored).toEqual(ended);
  });
});

describe("work of a cancelled job", () => {
  test("is aborted, and the work that settles the job is not", async () => {
    await withStorage(
      { databaseUrl: null, dataDir: folders.create(), log: quiet, deadlineMs: 60_000 },
      async (storage: Storage) => {
        let checks = 0;
        const findUnfinished: Storage["jobs"]["findUnfinished"] = async (items) => {
          const found = await storage.jobs.findUnfinished(items);
          checks += 1;
          return found;
        };
        const log: string[] = [];
        const job = makeJob({ webhookReceiver: null });
        const worker = startJobWorker({
          storage: { ...storage, jobs: { ...storage.jobs, findUnfinished } },
          run: async (item, signal) => {
            const begun = await storage.jobs.begin(item, { countRun: true });
            if (begun?.status === "processing") {
              await storage.jobs.saveCheckpoint(item, item.subject, "{}");
              log.push("runs");
              await new Promise((resolve) => signal.addEventListener("abort", resolve));
              log.push("aborted");
              return;
            }
            // Two checks, so that one of them began after this work.
            const before = checks;
            await waitFor("two checks", () => checks >= before + 2);
            log.push(signal.aborted ? "settling aborted" : "settled");
            await storage.jobs.settle(item, item.subject);
          },
          deliverer: { attempt: () => Promise.reject(new Error("There is no delivery.")) },
          runsAtOnce: 2,
          deliveriesAtOnce: 1,
          deliveriesPerHost: 1,
          log: quiet,
        });
        await storage.jobs.create(job, null);
        await waitFor("the run", () => log.length === 1);
        const cancellation = { at: Date.now(), result: "{}", delivery: { id: crypto.randomUUID() } };
        await storage.jobs.cancel(job.id, null, cancellation);
        await waitFor("its end and the settlement", () => log.length === 3);
        await worker.stop(60_000);
        expect(log).toEqual(["runs", "aborted", "settled"]);
      },
    );
  });
});
