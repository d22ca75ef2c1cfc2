// What every engine promises about deliveries and their attempts.

import { expect, test } from "bun:test";
import { maxDeliveriesPerJob } from "../../src/storage/deliveries.ts";
import type { DeliveryAttempt, NewJob } from "../../src/storage/job-records.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { WorkItem } from "../../src/storage/work-queue.ts";
import { waitFor } from "../support/wait.ts";
import {
  countWork,
  describeOn,
  type Engine,
  expireJobs,
  makeJob,
  makeResult,
  makeWorkDue,
  silenceHolders,
  takeOne,
  useJobStore,
  withStorage,
  withStore,
} from "./engines.ts";

const anything = { kind: "deliver", limit: 1000, ignoreGroups: [] } as const;
const delivered = { state: "delivered", nextAt: null } as const;

export function describeDeliveryStore(engine: Engine): void {
  describeOn(engine, "deliveries", () => {
    const withDeliveries = useJobStore(engine);

    test("a delivery contains the finished job, and every attempt is listed", async () => {
      await withDeliveries(async (storage) => {
        const { job, deliveryId } = await finishJob(storage, "receiver.example");
        const item = await takeOne(storage, "deliver");
        expect(item).toMatchObject({ kind: "deliver", subject: deliveryId, group: "receiver.example" });
        const opened = await storage.deliveries.open(item);
        expect(opened?.job).toMatchObject({ id: job.id, request: job.request, status: "success" });
        expect(opened?.delivery).toMatchObject({
          id: deliveryId,
          jobId: job.id,
          owner: job.owner,
          receiver: "https://receiver.example/hook",
          state: "pending",
          attempts: [],
        });
        const failed = makeAttempt({ status: 503, error: "503" });
        const nextAt = Date.now() + 60_000;
        expect(await storage.deliveries.recordAttempt(item, failed, { state: "pending", nextAt })).toBe(true);
        expect(await storage.work.take(anything)).toEqual([]);
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toMatchObject([
          { state: "pending", nextAttemptAt: nextAt, attempts: [failed] },
        ]);

        await makeWorkDue(storage);
        const again = await takeOne(storage, "deliver");
        expect(again.group).toBe("receiver.example");
        expect((await storage.deliveries.open(again))?.delivery.attempts).toEqual([failed]);
        const good = makeAttempt({ number: 2 });
        expect(await storage.deliveries.recordAttempt(again, good, delivered)).toBe(true);
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toMatchObject([
          { state: "delivered", nextAttemptAt: null, attempts: [failed, good] },
        ]);
        expect((await countWork(storage)).deliver).toMatchObject({ waiting: 0, held: 0 });
        expect(await storage.deliveries.listForJob(job.id, "tenant-b")).toBeNull();
      });
    });

    test("an attempt that is stored twice is listed once and ends the delivery once", async () => {
      await withDeliveries(async (storage) => {
        const { job } = await finishJob(storage, "receiver.example");
        const item = await takeOne(storage, "deliver");
        const attempt = makeAttempt();
        expect(await storage.deliveries.recordAttempt(item, attempt, delivered)).toBe(true);
        expect(await storage.deliveries.recordAttempt(item, attempt, delivered)).toBe(false);
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toMatchObject([{ attempts: [attempt] }]);
      });
    });

    test("a consumer that lost its lease changes nothing, but its attempt is listed", async () => {
      const options = { ...(await engine.createStore()), works: true };
      await withStorage(options, async (storage) => {
        const { job } = await finishJob(storage, "receiver.example");
        const lost = await takeOne(storage, "deliver");
        await silenceHolders(options);
        const taken = await waitFor("the work to come back", async () => (await storage.work.take(anything))[0]);
        const late = makeAttempt({ error: "late", status: null });
        const blocked = { state: "blocked", nextAt: null } as const;
        expect(await storage.deliveries.recordAttempt(lost, late, blocked)).toBe(false);
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toMatchObject([
          { state: "pending", attempts: [late] },
        ]);
        // Both calls share a transaction; the late attempt is already listed.
        const recorded = await Promise.all([
          storage.deliveries.recordAttempt(lost, late, blocked),
          storage.deliveries.recordAttempt(taken, makeAttempt(), delivered),
        ]);
        expect(recorded).toEqual([false, true]);
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toMatchObject([
          {
            state: "delivered",
            attempts: [
              { number: 1, error: "late" },
              { number: 2, error: null },
            ],
          },
        ]);
      });
    });

    test("a job with tens of thousands of deliveries is deleted with all of them", async () => {
      await withDeliveries(async (storage) => {
        const { job } = await finishJob(storage, "receiver.example");
        await addManyDeliveries(storage, job, 40_000);
        await expireJobs(storage);
        expect(await storage.jobs.deleteExpired(Date.now(), 500)).toBe(1);
        expect(await countRows(storage)).toEqual({ deliveries: 0n, attempts: 0n });
        expect((await countWork(storage)).deliver).toMatchObject({ waiting: 0, held: 0 });
      });
    });

    test("a job gets another delivery until it has the most that a job may have", async () => {
      await withDeliveries(async (storage) => {
        const { job } = await finishJob(storage, "receiver.example");
        await addManyDeliveries(storage, job, maxDeliveriesPerJob - 2);
        const wish = () => ({ id: crypto.randomUUID(), now: Date.now() });
        const last = wish();
        expect(await storage.deliveries.redeliver(job.id, job.owner, last)).toMatchObject({ id: last.id });
        expect(await storage.deliveries.redeliver(job.id, job.owner, wish())).toBe("full");
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toHaveLength(maxDeliveriesPerJob);
        const { job: other } = await finishJob(storage, "receiver.example");
        expect(await storage.deliveries.redeliver(other.id, other.owner, wish())).not.toBe("full");
      });
    });

    test("the owner of a finished job can redeliver it several times", async () => {
      await withDeliveries(async (storage) => {
        const running = makeJob();
        await storage.jobs.create(running, null);
        const wish = () => ({ id: crypto.randomUUID(), now: Date.now() });
        expect(await storage.deliveries.redeliver(running.id, running.owner, wish())).toBeNull();
        const run = await takeOne(storage, "run");
        await storage.jobs.begin(run, { countRun: true });
        await storage.jobs.finish(run, running.id, makeResult(), wish());
        const first = await takeOne(storage, "deliver");
        await storage.deliveries.recordAttempt(first, makeAttempt(), delivered);

        expect(await storage.deliveries.redeliver(running.id, "tenant-b", wish())).toBeNull();
        const asked = wish();
        const again = await storage.deliveries.redeliver(running.id, running.owner, asked);
        expect(again).toMatchObject({ id: asked.id, state: "pending", attempts: [], nextAttemptAt: asked.now });
        expect((await storage.deliveries.listForJob(running.id, running.owner))?.map(({ id }) => id)).toEqual([
          first.subject,
          asked.id,
        ]);
        expect((await takeOne(storage, "deliver")).subject).toBe(asked.id);

        const silent = makeJob({ webhookReceiver: null });
        await storage.jobs.create(silent, null);
        const item = await takeOne(storage, "run");
        await storage.jobs.finish(item, silent.id, makeResult(), null);
        expect(await storage.deliveries.redeliver(silent.id, silent.owner, wish())).toBeNull();
      });
    });

    test("work of ignored groups is skipped, and taken later", async () => {
      await withDeliveries(async (storage) => {
        const odd = `d'; --"\\,{}.example`;
        const hosts = ["a.example", "b.example", "c.example", "d.example"];
        for (const host of [...hosts, ...hosts]) await finishJob(storage, host);
        const take = async (ignoreGroups: string[], limit = 100): Promise<WorkItem[]> =>
          await storage.work.take({ kind: "deliver", limit, ignoreGroups });
        const first = await take(["a.example", "d.example", odd]);
        expect(first.map(({ group }) => group).toSorted()).toEqual([
          "b.example",
          "b.example",
          "c.example",
          "c.example",
        ]);
        expect(await take(["a.example", "d.example"])).toEqual([]);
        expect((await take(["d.example"], 1)).map(({ group }) => group)).toEqual(["a.example"]);
        expect(await take([])).toHaveLength(3);

        for (const group of [odd, "b"]) await storage.jobs.create(makeJob({ group }), null);
        const takeRuns = async (ignoreGroups: string[]) =>
          (await storage.work.take({ kind: "run", limit: 100, ignoreGroups })).map(({ group }) => group);
        expect(await takeRuns([odd])).toEqual(["b"]);
        expect(await takeRuns([])).toEqual([odd]);
      });
    });

    test("a delivery whose job was deleted is not opened, and its work is deleted", async () => {
      await withDeliveries(async (storage) => {
        const { job } = await finishJob(storage, "receiver.example");
        const item = await takeOne(storage, "deliver");
        expect(await storage.jobs.remove(job.id, job.owner)).toBe("deleted");
        expect(await storage.deliveries.open(item)).toBeNull();
        expect(await storage.deliveries.recordAttempt(item, makeAttempt(), delivered)).toBe(false);
        expect((await countWork(storage)).deliver).toMatchObject({ waiting: 0, held: 0 });
      });
    });
  });
}

function makeAttempt(changes: Partial<DeliveryAttempt> = {}): DeliveryAttempt {
  return { number: 1, startedAt: Date.now(), durationMs: 12, status: 200, error: null, keyId: "kid", ...changes };
}

/** Deliveries that were attempted once and wait for the next attempt, as far as their rows tell. */
async function addManyDeliveries(storage: Storage, job: NewJob, count: number): Promise<void> {
  await withStore(storage, async ({ sql }) => {
    await sql`
      insert into deliveries (id, job_id, owner, receiver, state, created_at, attempts, next_attempt_at, work_id)
      with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${count})
      select 'delivery-' || number, ${job.id}, ${job.owner}, ${job.webhookReceiver}, 'pending', number, 1, 1,
        '00000000-0000-4000-8000-' || (100000000000 + number)
      from numbers`;
    await sql`
      insert into delivery_attempts (delivery_id, number, claim, started_at, duration_ms, status, error, key_id)
      select id, 1, id, 1, 1, 503, '503', 'kid' from deliveries where attempts = 1`;
  });
}

async function countRows(storage: Storage): Promise<{ deliveries: bigint; attempts: bigint } | undefined> {
  const found: { deliveries: bigint; attempts: bigint }[] = [];
  await withStore(storage, async ({ sql }) => {
    found.push(
      ...(await sql<{ deliveries: bigint; attempts: bigint }>`
        select (select count(*) from deliveries) as deliveries, (select count(*) from delivery_attempts) as attempts`),
    );
  });
  return found[0];
}

async function finishJob(storage: Storage, host: string): Promise<{ job: NewJob; deliveryId: string }> {
  const job = makeJob({ webhookReceiver: `https://${host}/hook` });
  await storage.jobs.create(job, null);
  const item = await takeOne(storage, "run");
  await storage.jobs.begin(item, { countRun: true });
  const deliveryId = crypto.randomUUID();
  expect(await storage.jobs.finish(item, job.id, makeResult(), { id: deliveryId })).toBe(true);
  return { job, deliveryId };
}
