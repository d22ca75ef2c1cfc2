// A large result takes longer to read from PostgreSQL than other operations may take. A proxy stands in for the size.

import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { isUnavailable } from "../../src/storage/outage.ts";
import type { Storage, StorageOptions } from "../../src/storage/storage.ts";
import { makeJob, makeResult, quiet, takeOne, usePostgres, withStorage } from "../contracts/engines.ts";
import { createListeners } from "../support/listeners.ts";
import { whyNoPostgres } from "../support/postgres.ts";

const deadlineMs = 1_500;
const delayMs = 2_000;
const largeBytes = 1_000_000;
const key = { key: "a key", bodyHash: "a hash", expiresAt: Date.now() + 3_600_000 };

describe.skipIf(whyNoPostgres() !== null)("a large result on PostgreSQL", () => {
  const { folders, server } = usePostgres();
  const { listen, closeAll } = createListeners();
  afterAll(closeAll);

  async function createStore(): Promise<StorageOptions> {
    const databaseUrl = await server().createStore();
    return { databaseUrl, dataDir: folders.create(), log: quiet, works: true, deadlineMs: 60_000 };
  }

  /** The address of the database behind a proxy that holds back the second half of every large answer for a while. */
  async function slowDown(databaseUrl: string): Promise<string> {
    const url = new URL(databaseUrl);
    const address = { host: url.hostname, port: Number(url.port) };
    const { port } = await listen((socket) => {
      const database = connect(address);
      let answered = 0;
      socket.on("data", (bytes) => {
        answered = 0;
        database.write(bytes);
      });
      database.on("data", (bytes) => {
        const before = answered;
        answered += bytes.length;
        socket.write(bytes);
        if (before > largeBytes / 2 || answered <= largeBytes / 2) return;
        database.pause();
        setTimeout(() => database.resume(), delayMs);
      });
      database.on("error", () => socket.destroy());
      database.on("close", () => socket.destroy());
      socket.on("close", () => database.destroy());
    });
    url.port = String(port);
    return url.href;
  }

  test("is read for its webhook and for its caller although that takes longer than the deadline of the store", async () => {
    const options = await createStore();
    const result = JSON.stringify({ output: "x".repeat(largeBytes) });
    const { job, item } = await withStorage(options, (storage) => finishJob(storage, result));
    const slow = { ...options, databaseUrl: await slowDown(options.databaseUrl ?? ""), deadlineMs };
    await withStorage(slow, async ({ deliveries, jobs }) => {
      const opened = await insist(() => deliveries.open(item));
      expect(opened?.job?.result === result).toBe(true);
      expect((await insist(() => jobs.find(job.id, job.owner)))?.result === result).toBe(true);
      expect((await insist(() => jobs.readResults([job.id])))[0]?.result === result).toBe(true);
      expect((await insist(() => jobs.findByIdempotencyKey(job.owner, key)))?.outcome).toBe("same");
      expect((await insist(() => jobs.create(makeJob(), key))).outcome).toBe("same");
      const cancellation = { at: Date.now(), result: "{}", delivery: { id: crypto.randomUUID() } };
      expect((await insist(() => jobs.cancel(job.id, job.owner, cancellation))).outcome).toBe("finished");
    });
  });
});

async function finishJob(storage: Storage, result: string) {
  const job = makeJob();
  await storage.jobs.create(job, key);
  const run = await takeOne(storage, "run");
  await storage.jobs.begin(run, { countRun: true });
  await storage.jobs.finish(run, job.id, makeResult({ result }), { id: crypto.randomUUID() });
  return { job, item: await takeOne(storage, "deliver") };
}

/** A busy machine may use up the deadline; a delayed answer uses it up every time. */
async function insist<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt === 3 || !isUnavailable(error)) throw error;
    }
  }
}
