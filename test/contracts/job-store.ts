// What every engine promises about jobs, and about the work that is left for them.

import { expect, test } from "bun:test";
import type { CreateJobOutcome, IdempotencyKey, JobFilter, ListedJob } from "../../src/storage/job-records.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { WorkItem } from "../../src/storage/work-queue.ts";
import { inParallel, waitFor } from "../support/wait.ts";
import {
  countWork,
  describeOn,
  type Engine,
  expireJobs,
  makeJob,
  makeResult,
  makeWorkDue,
  silenceHolders,
  startJob,
  takeOne,
  useJobStore,
  withStorage,
} from "./engines.ts";

const everything = { status: null, feature: null, subfeature: null, limit: 100, offset: 0 } as const;
const anything = { kind: "run", limit: 1000, ignoreGroups: [] } as const;

export function describeJobStore(engine: Engine): void {
  describeOn(engine, "jobs", () => {
    const withJobs = useJobStore(engine);

    test("a created job is visible only to its owner, and its work is due at once", async () => {
      await withJobs(async (storage, other) => {
        const job = makeJob();
        const { request, ...listed } = job;
        const expected: ListedJob = {
          ...listed,
          status: "processing",
          finishedAt: null,
          runs: 0,
          progress: null,
          cost: null,
          costReason: null,
          result: null,
        };
        expect(await storage.jobs.create(job, null)).toEqual({ outcome: "created", job: expected });
        expect(await other.jobs.find(job.id, job.owner)).toEqual(expected);
        expect(await other.jobs.find(job.id, "tenant-b")).toBeNull();
        const item = await takeOne(other, "run");
        expect(item).toMatchObject({ kind: "run", subject: job.id, group: "" });
        expect(await other.jobs.begin(item, { countRun: true })).toEqual({
          ...expected,
          request,
          checkpoint: null,
          runs: 1,
        });
      });
    });

    test("the work is counted by kind and state, with the age of what waits", async () => {
      await withJobs(async (storage, other) => {
        expect((await storage.work.count()).filter(({ waiting, leased }) => waiting + leased > 0)).toEqual([]);
        for (let count = 0; count < 3; count++) await storage.jobs.create(makeJob(), null);
        await makeWorkDue(storage);
        const [item] = await other.work.take({ ...anything, limit: 1 });
        if (item === undefined) throw new Error("no work is due");
        const [run] = (await storage.work.count()).filter(({ kind }) => kind === "run");
        expect(run).toMatchObject({ waiting: 2, scheduled: 0, leased: 1 });
        expect(run?.oldestWaitingMs).toBeGreaterThanOrEqual(0);
        const job = await other.jobs.begin(item, { countRun: true });
        const step = { checkpoint: "{}", dueAt: Date.now() + 3_600_000 };
        expect(await other.jobs.saveStep(item, job?.id ?? "", step)).toBe(true);
        const [later] = (await storage.work.count()).filter(({ kind }) => kind === "run");
        expect(later).toMatchObject({ waiting: 2, scheduled: 1, leased: 0 });
      });
    });

    test("a job that cannot be stored leaves no work behind", async () => {
      await withJobs(async (storage) => {
        const job = makeJob();
        await storage.jobs.create(job, null);
        // Not `rejects`: it blocks the event loop, so the answer of SQLite's thread would arrive only after the store's deadline.
        const refused = await storage.jobs.create({ ...job, owner: "tenant-b" }, null).catch((error: unknown) => error);
        expect(String(refused)).toMatch(/unique|duplicate/i);
        expect((await countWork(storage)).run.waiting).toBe(1);
        expect((await storage.jobs.list({ ...everything, owner: "tenant-b" })).total).toBe(0);
      });
    });

    test("an idempotency key with the same body returns the same job, with another body a conflict, and for another owner a new job", async () => {
      await withJobs(async (storage, other) => {
        const mark = makeMark();
        const first = makeJob();
        expect(await storage.jobs.create(first, mark)).toMatchObject({ outcome: "created", job: { id: first.id } });
        expect(await other.jobs.create(makeJob(), mark)).toMatchObject({ outcome: "same", job: { id: first.id } });
        expect(await other.jobs.create(makeJob(), { ...mark, bodyHash: "other" })).toEqual({ outcome: "conflict" });
        const theirs = makeJob({ owner: "tenant-b" });
        expect(await other.jobs.create(theirs, mark)).toMatchObject({ outcome: "created", job: { id: theirs.id } });
        expect((await countWork(storage)).run.waiting).toBe(2);
      });
    });

    test("an idempotency key that has expired, or whose job was deleted or has expired, creates a new job", async () => {
      await withJobs(async (storage) => {
        const short = makeMark({ expiresAt: Date.now() + 20 });
        await storage.jobs.create(makeJob(), short);
        await waitFor("the mark to expire", () => Date.now() > short.expiresAt);
        expect(await storage.jobs.create(makeJob(), makeMark({ key: short.key }))).toMatchObject({
          outcome: "created",
        });

        const mark = makeMark();
        const expiring = makeJob({ expiresAt: Date.now() + 20 });
        await storage.jobs.create(expiring, mark);
        await waitFor("the job to expire", () => Date.now() > expiring.expiresAt);
        const next = makeJob();
        expect(await storage.jobs.create(next, mark)).toMatchObject({ outcome: "created", job: { id: next.id } });
        expect(await storage.jobs.create(makeJob(), mark)).toMatchObject({ outcome: "same", job: { id: next.id } });

        await finishAll(storage);
        expect(await storage.jobs.remove(next.id, next.owner)).toBe("deleted");
        expect(await storage.jobs.create(makeJob(), mark)).toMatchObject({ outcome: "created" });
      });
    });

    test("concurrent calls with one idempotency key over two connections create one job, and all return it", async () => {
      await withJobs(async (storage, other) => {
        for (let round = 0; round < 5; round += 1) {
          const mark = makeMark();
          const asked: Promise<CreateJobOutcome>[] = Array.from({ length: 8 }, (_, index) =>
            (index % 2 === 0 ? storage : other).jobs.create(makeJob(), mark),
          );
          const outcomes = await Promise.all(asked);
          expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
          expect(new Set(outcomes.map((given) => ("job" in given ? given.job.id : null))).size).toBe(1);
        }
        expect((await countWork(storage)).run.waiting).toBe(5);
      });
    });

    test("lists are newest first, filtered and paged, and contain only unexpired jobs of the owner", async () => {
      await withJobs(async (storage) => {
        const at = Date.now();
        const jobs = Array.from({ length: 7 }, (_, index) =>
          makeJob({
            id: `00000000-0000-4000-8000-00000000000${index}`,
            createdAt: at + Math.floor(index / 2),
            feature: index < 5 ? "text" : "image",
            subfeature: index % 2 === 0 ? "even" : "odd",
          }),
        );
        for (const job of jobs) await storage.jobs.create(job, null);
        await storage.jobs.create(makeJob({ owner: "tenant-b" }), null);
        await storage.jobs.create(makeJob({ expiresAt: at - 1 }), null);
        const list = async (filter: Partial<JobFilter>) => {
          const { total, items: found } = await storage.jobs.list({ ...everything, owner: "tenant-a", ...filter });
          return [total, found.map(({ id }) => Number(id.at(-1)))];
        };
        expect(await list({})).toEqual([7, [6, 5, 4, 3, 2, 1, 0]]);
        expect(await list({ limit: 2, offset: 3 })).toEqual([7, [3, 2]]);
        expect(await list({ feature: "image" })).toEqual([2, [6, 5]]);
        expect(await list({ feature: "text", subfeature: "odd" })).toEqual([2, [3, 1]]);
        expect(await list({ status: "success" })).toEqual([0, []]);
        const [item] = await storage.work.take({ ...anything, limit: 1 });
        if (item === undefined) throw new Error("No work");
        await storage.jobs.begin(item, { countRun: true });
        await storage.jobs.finish(item, item.subject, makeResult(), null);
        expect((await list({ status: "success" }))[0]).toBe(1);
        expect((await list({ status: "processing" }))[0]).toBe(6);
      });
    });

    test("a list has the sizes of results instead of the results, which are read by the ids of their jobs", async () => {
      await withJobs(async (storage) => {
        const result = JSON.stringify({ output: { text: "Größer" } });
        const { job, item } = await startJob(storage);
        await storage.jobs.finish(item, job.id, makeResult({ result }), null);
        const { job: running } = await startJob(storage, { createdAt: job.createdAt + 1 });
        const { items } = await storage.jobs.list({ ...everything, owner: "tenant-a" });
        expect(items.map(({ id, resultBytes }) => [id, resultBytes])).toEqual([
          [running.id, null],
          [job.id, Buffer.byteLength(result)],
        ]);
        expect(JSON.stringify(items, (_, value) => (typeof value === "bigint" ? "" : value))).not.toContain("Größer");
        const results = await storage.jobs.readResults([job.id, running.id, crypto.randomUUID()]);
        expect(results).toEqual([{ id: job.id, result }]);
      });
    });

    test("owners take turns: a single job does not wait for the many jobs of another owner", async () => {
      await withJobs(async (storage, other) => {
        const created = new Map<string, string>();
        const create = async (owner: string, on = storage) => {
          const job = makeJob({ owner, webhookReceiver: null });
          created.set(job.id, owner);
          await on.jobs.create(job, null);
        };
        const takeOwners = async (limit: number) => {
          const items = await storage.work.take({ ...anything, limit });
          for (const item of items) {
            await storage.jobs.begin(item, { countRun: true });
            await storage.jobs.finish(item, item.subject, makeResult(), null);
          }
          // Of those that are taken together the order is not promised.
          return items.map(({ subject }) => created.get(subject) ?? "").sort();
        };
        await inParallel(100, 50, () => create("many"));
        await create("one", other);
        expect(await takeOwners(2)).toEqual(["many", "one"]);
        for (let index = 0; index < 3; index += 1) await create("three", other);
        // One round for each of the owner's jobs.
        const rounds = [await takeOwners(2), await takeOwners(2), await takeOwners(2)];
        expect(rounds.flat().filter((owner) => owner === "three")).toHaveLength(3);
        // The queue of the first owner goes on: who comes later and later does not hold it up.
        for (let round = 0; round < 8; round += 1) {
          await create("steady", other);
          expect(await takeOwners(2)).toEqual(["many", "steady"]);
        }
      });
    });

    test("an owner cannot exceed its limit of unfinished jobs", async () => {
      await withJobs(async (storage, other) => {
        const create = (on: Storage, owner = "tenant-a") =>
          on.jobs.create(makeJob({ owner, maxUnfinished: 3, webhookReceiver: null }), null);
        for (let index = 0; index < 3; index += 1) expect((await create(storage)).outcome).toBe("created");
        expect((await create(other)).outcome).toBe("full");
        expect((await create(other, "tenant-b")).outcome).toBe("created");
        expect((await countWork(storage)).run.waiting).toBe(4);
        // In one batch with others.
        const together = await Promise.all([create(storage), create(storage, "tenant-c"), create(storage)]);
        expect(together.map(({ outcome }) => outcome)).toEqual(["full", "created", "full"]);
        // With a mark that is not set then.
        const mark = makeMark();
        const full = makeJob({ maxUnfinished: 3 });
        expect(await storage.jobs.create(full, mark)).toEqual({ outcome: "full" });
        await finishAll(storage);
        expect(await storage.jobs.create(full, mark)).toMatchObject({ outcome: "created" });
        expect((await create(other)).outcome).toBe("created");
      });
    });

    test("a cancelled job fails at once, also for the consumer that runs it, and one webhook is delivered", async () => {
      await withJobs(async (storage, other) => {
        const cancel = (job: { id: string }, owner: string | null = "tenant-a") =>
          other.jobs.cancel(job.id, owner, {
            at: 1_000,
            result: '{"cancelled":true}',
            delivery: { id: crypto.randomUUID() },
          });
        const queued = makeJob();
        await storage.jobs.create(queued, null);
        expect(await cancel(queued, "tenant-b")).toEqual({ outcome: "missing" });
        expect(await cancel(queued)).toMatchObject({
          outcome: "cancelled",
          job: { status: "fail", finishedAt: 1_000 },
        });
        expect(await cancel(queued)).toMatchObject({ outcome: "unchanged", job: { status: "fail" } });
        expect((await countWork(storage)).run.waiting).toBe(0);
        expect(await storage.deliveries.listForJob(queued.id, queued.owner)).toHaveLength(1);

        const running = makeJob();
        await storage.jobs.create(running, null);
        const item = await takeOne(storage, "run");
        await storage.jobs.begin(item, { countRun: true });
        const obsolete = { ...item, id: crypto.randomUUID(), subject: queued.id };
        expect(await storage.jobs.findUnfinished([item, obsolete])).toEqual([item.id]);
        // By the operator.
        expect(await cancel(running, null)).toMatchObject({ outcome: "cancelled" });
        expect(await storage.jobs.findUnfinished([item])).toEqual([]);
        expect(await storage.work.extend([item])).toEqual([]);
        expect(await storage.jobs.release(item, running.id, { dueAt: 0, uncount: false })).toBe(false);
        expect(await storage.jobs.finish(item, running.id, makeResult(), { id: crypto.randomUUID() })).toBe(false);
        expect(await storage.jobs.find(running.id, running.owner)).toMatchObject({ status: "fail" });
        expect(await storage.deliveries.listForJob(running.id, running.owner)).toHaveLength(1);

        const finished = makeJob();
        await storage.jobs.create(finished, null);
        await finishAll(storage);
        expect(await cancel(finished)).toEqual({ outcome: "finished" });
      });
    });

    test("a job can be cancelled while it is postponed repeatedly", async () => {
      await withJobs(async (storage, other) => {
        for (let round = 0; round < 5; round += 1) {
          const job = makeJob({ webhookReceiver: null });
          await storage.jobs.create(job, null);
          const item = await takeOne(storage, "run");
          await storage.jobs.begin(item, { countRun: true });
          const [, { outcome }] = await Promise.all([
            storage.jobs.saveStep(item, job.id, { checkpoint: "{}", dueAt: Date.now() + 60_000 }),
            other.jobs.cancel(job.id, null, { at: 1, result: "{}", delivery: { id: crypto.randomUUID() } }),
          ]);
          expect(outcome).toBe("cancelled");
          // The cancellation may have known the step.
          if ((await countWork(storage)).run.waiting > 0)
            await storage.jobs.settle(await takeOne(storage, "run"), job.id);
          expect((await countWork(storage)).run).toMatchObject({ waiting: 0, held: 0 });
        }
      });
    });

    test("a running job cannot be deleted; a finished one is deleted with its deliveries and their work", async () => {
      await withJobs(async (storage) => {
        const job = makeJob();
        await storage.jobs.create(job, null);
        expect(await storage.jobs.remove(job.id, job.owner)).toBe("processing");
        await finishAll(storage);
        expect((await countWork(storage)).deliver.due).toBe(1);
        expect(await storage.jobs.remove(job.id, "tenant-b")).toBe("missing");
        expect(await storage.jobs.remove(job.id, job.owner)).toBe("deleted");
        expect(await storage.jobs.remove(job.id, job.owner)).toBe("missing");
        expect(await storage.jobs.find(job.id, job.owner)).toBeNull();
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toBeNull();
        expect((await countWork(storage)).deliver).toMatchObject({ waiting: 0, held: 0 });
      });
    });

    test("of concurrent calls that finish a job, one succeeds, and one delivery is created", async () => {
      await withJobs(async (storage, other) => {
        for (let round = 0; round < 5; round += 1) {
          const job = makeJob();
          await storage.jobs.create(job, null);
          const item = await takeOne(storage, "run");
          await storage.jobs.begin(item, { countRun: true });
          const finished = await Promise.all(
            Array.from({ length: 6 }, (_, index) =>
              (index % 2 === 0 ? storage : other).jobs.finish(item, job.id, makeResult(), {
                id: crypto.randomUUID(),
              }),
            ),
          );
          expect(finished.filter(Boolean)).toHaveLength(1);
          expect(await storage.deliveries.listForJob(job.id, job.owner)).toHaveLength(1);
        }
        expect((await countWork(storage)).deliver.waiting).toBe(5);
        expect((await countWork(storage)).run).toMatchObject({ waiting: 0, held: 0 });
      });
    });

    test("a finished job has its result, its provider and its exact cost", async () => {
      await withJobs(async (storage) => {
        const { job, item } = await startJob(storage, { webhookReceiver: null });
        await storage.jobs.setProgress(job.id, 1, 0.25);
        expect((await storage.jobs.find(job.id, job.owner))?.progress).toBe(0.25);
        await storage.jobs.setProgress(job.id, 2, 0.75);
        expect((await storage.jobs.find(job.id, job.owner))?.progress).toBe(0.25);
        const result = makeResult({ provider: "another", model: "another/model", costReason: "estimated" });
        expect(await storage.jobs.finish(item, job.id, result, { id: "unused" })).toBe(true);
        expect(await storage.jobs.find(job.id, job.owner)).toMatchObject({ ...result, runs: 1 });
        // Without a receiver nothing is delivered.
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toEqual([]);
      });
    });

    test("a saved step is not taken before its time, and then comes with its checkpoint", async () => {
      await withJobs(async (storage) => {
        const { job, item: first } = await startJob(storage);
        const dueAt = Date.now() + 60_000;
        expect(await storage.jobs.saveStep(first, job.id, { checkpoint: '{"task":"t-1"}', dueAt })).toBe(true);
        expect(await storage.work.take(anything)).toEqual([]);
        expect((await countWork(storage)).run).toMatchObject({ waiting: 1, due: 0, held: 0 });
        await makeWorkDue(storage);
        const again = await takeOne(storage, "run");
        const begun = await storage.jobs.begin(again, { countRun: false });
        expect(begun).toMatchObject({ runs: 1, checkpoint: '{"task":"t-1"}', status: "processing" });
      });
    });

    test("a released run does not count if `uncount` is set", async () => {
      await withJobs(async (storage) => {
        const job = makeJob();
        await storage.jobs.create(job, null);
        for (const [uncount, runs] of [
          [true, 1],
          [false, 1],
          [false, 2],
        ] as const) {
          const item = await takeOne(storage, "run");
          expect((await storage.jobs.begin(item, { countRun: true }))?.runs).toBe(runs);
          expect(await storage.jobs.release(item, job.id, { dueAt: Date.now(), uncount })).toBe(true);
        }
        expect((await storage.jobs.find(job.id, job.owner))?.runs).toBe(2);
      });
    });

    test("work that was just released cannot be started with the old lease, and counts no run", async () => {
      await withJobs(async (storage) => {
        const { job, item } = await startJob(storage);
        await storage.jobs.release(item, job.id, { dueAt: Date.now(), uncount: false });
        expect(await storage.jobs.begin(item, { countRun: true })).toBeNull();
        expect((await storage.jobs.find(job.id, job.owner))?.runs).toBe(1);
        const next = await takeOne(storage, "run");
        expect((await storage.jobs.begin(next, { countRun: true }))?.runs).toBe(2);
      });
    });

    test("the checkpoint before a provider call is available to the consumer that takes over", async () => {
      await withJobs(async (storage) => {
        const { job, item } = await startJob(storage);
        expect(await storage.jobs.saveCheckpoint(item, job.id, '{"called":true}')).toBe(true);
        await storage.jobs.release(item, job.id, { dueAt: Date.now(), uncount: false });
        const next = await takeOne(storage, "run");
        expect((await storage.jobs.begin(next, { countRun: true }))?.checkpoint).toBe('{"called":true}');
      });
    });

    test("concurrent consumers never take the same work", async () => {
      await withJobs(async (storage, other) => {
        const jobs = Array.from({ length: 60 }, () => makeJob());
        await Promise.all(jobs.map((job) => storage.jobs.create(job, null)));
        const taken = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            (index % 2 === 0 ? storage : other).work.take({ kind: "run", limit: 7, ignoreGroups: [] }),
          ),
        );
        const rest = await storage.work.take(anything);
        const subjects = [...taken.flat(), ...rest].map(({ subject }) => subject);
        expect(subjects.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
        expect(taken.every((batch) => batch.length <= 7)).toBe(true);
        expect((await countWork(storage)).run).toMatchObject({ waiting: 0, held: 60 });
        expect(await storage.work.take({ kind: "deliver", limit: 10, ignoreGroups: [] })).toEqual([]);
      });
    });

    test("concurrent runs each get their own job, and only the work of finished jobs is deleted", async () => {
      await withJobs(async (storage) => {
        const jobs = Array.from({ length: 21 }, (_, index) => makeJob({ request: JSON.stringify({ index }) }));
        const [over] = jobs.splice(20);
        if (over === undefined) throw new Error("there is none");
        await Promise.all([...jobs, over].map((job) => storage.jobs.create(job, null)));
        const items = await storage.work.take({ kind: "run", limit: 100, ignoreGroups: [] });
        const ended = items.find(({ subject }) => subject === over.id) as WorkItem;
        await storage.jobs.finish(ended, over.id, makeResult(), null);
        const old = items.map((item, index) => (index % 2 === 0 ? item : { ...item, takenAt: 0 }));
        const begun = await Promise.all(
          old.map((item, index) => storage.jobs.begin(item, { countRun: index % 3 > 0 })),
        );
        for (const [index, item] of items.entries()) {
          const job = jobs.find(({ id }) => id === item.subject);
          if (job === undefined) expect(begun[index]).toBeNull();
          else expect(begun[index]).toMatchObject({ id: job.id, request: job.request, runs: index % 3 > 0 ? 1 : 0 });
        }
        expect((await countWork(storage)).run).toMatchObject({ held: 20, waiting: 0 });
      });
    });

    test("the work that has waited longest is taken first", async () => {
      await withJobs(async (storage) => {
        const jobs = Array.from({ length: 9 }, (_, index) => makeJob({ createdAt: Date.now() - 9 + index }));
        for (const job of jobs) await storage.jobs.create(job, null);
        expect((await countWork(storage)).run).toMatchObject({ waiting: 9, due: 9, held: 0 });
        const order: string[][] = [];
        for (let batch = 0; batch < 3; batch += 1) {
          const items = await storage.work.take({ kind: "run", limit: 3, ignoreGroups: [] });
          order.push(items.map(({ subject }) => subject).toSorted());
        }
        expect(order).toEqual(
          [0, 3, 6].map((start) =>
            jobs
              .slice(start, start + 3)
              .map(({ id }) => id)
              .toSorted(),
          ),
        );
      });
    });

    test("work with an expired lease is taken by another consumer, and the first one can change nothing", async () => {
      const options = { ...(await engine.createStore()), works: true };
      await withStorage(options, async (storage) => {
        const job = makeJob();
        await storage.jobs.create(job, null);
        // A consumer that lost its lease took it long ago.
        const lost = { ...(await takeOne(storage, "run")), takenAt: 0 };
        expect((await storage.jobs.begin(lost, { countRun: true }))?.runs).toBe(1);
        expect(await storage.work.extend([lost])).toEqual([lost.id]);
        await silenceHolders(options);
        const taken = await waitFor("the work to come back", async () => (await storage.work.take(anything))[0]);
        expect(taken.subject).toBe(job.id);
        const [late, begun] = await Promise.all([
          storage.jobs.begin(lost, { countRun: true }),
          storage.jobs.begin(taken, { countRun: true }),
        ]);
        expect(late).toBeNull();
        expect(begun?.runs).toBe(2);

        expect(await storage.work.extend([lost, taken])).toEqual([taken.id]);
        expect(await storage.jobs.begin(lost, { countRun: true })).toBeNull();
        expect(await storage.jobs.saveCheckpoint(lost, job.id, "{}")).toBe(false);
        expect(await storage.jobs.saveStep(lost, job.id, { checkpoint: "{}", dueAt: Date.now() })).toBe(false);
        expect(await storage.jobs.release(lost, job.id, { dueAt: Date.now(), uncount: true })).toBe(false);
        const delivery = { id: crypto.randomUUID() };
        expect(await storage.jobs.finish(lost, job.id, makeResult({ status: "fail" }), delivery)).toBe(false);
        expect(await storage.jobs.find(job.id, job.owner)).toMatchObject({ status: "processing", runs: 2 });
        expect(await countWork(storage)).toMatchObject({ run: { waiting: 0, held: 1 }, deliver: { waiting: 0 } });

        // Both calls share a transaction; the one with the lost lease comes first and has no effect.
        const finished = await Promise.all([
          storage.jobs.finish(lost, job.id, makeResult({ status: "fail" }), { ...delivery, id: crypto.randomUUID() }),
          storage.jobs.finish(taken, job.id, makeResult(), delivery),
        ]);
        expect(finished).toEqual([false, true]);
        expect(await storage.jobs.find(job.id, job.owner)).toMatchObject({ status: "success", runs: 2 });
        expect(await storage.deliveries.listForJob(job.id, job.owner)).toMatchObject([{ id: delivery.id }]);
      });
    });

    test("a lost lease stays invalid after other consumers have taken and postponed the work", async () => {
      const options = { ...(await engine.createStore()), works: true };
      await withStorage(options, async (storage) => {
        const job = makeJob();
        await storage.jobs.create(job, null);
        const lost = await takeOne(storage, "run");
        await silenceHolders(options);
        const second = await waitFor("the work to come back", async () => (await storage.work.take(anything))[0]);
        expect(await storage.jobs.release(second, job.id, { dueAt: Date.now(), uncount: false })).toBe(true);
        const third = await takeOne(storage, "run");
        for (const stale of [lost, second]) {
          expect(await storage.work.extend([stale])).toEqual([]);
          expect(await storage.jobs.finish(stale, job.id, makeResult(), null)).toBe(false);
        }
        expect(await storage.jobs.finish(third, job.id, makeResult(), null)).toBe(true);
      });
    });

    test("the work of a finished or expired job is deleted when it is taken", async () => {
      await withJobs(async (storage) => {
        await storage.jobs.create(makeJob(), null);
        const item = await takeOne(storage, "run");
        await expireJobs(storage);
        expect(await storage.jobs.begin(item, { countRun: true })).toBeNull();
        expect((await countWork(storage)).run).toMatchObject({ waiting: 0, held: 0 });
      });
    });

    test("two connections delete expired jobs in batches, each job once, with everything that belongs to it", async () => {
      await withJobs(async (storage, other) => {
        const gone = Array.from({ length: 130 }, () => makeJob({ expiresAt: Date.now() + 60_000 }));
        const kept = makeJob();
        await Promise.all([...gone, kept].map((job) => storage.jobs.create(job, makeMark())));
        await finishAll(storage, 60);
        const clean = async (by: Storage): Promise<number> => {
          let total = 0;
          for (;;) {
            const count = await by.jobs.deleteExpired(Date.now() + 120_000, 40);
            expect(count).toBeLessThanOrEqual(40);
            total += count;
            if (count === 0) return total;
          }
        };
        const [one, two] = await Promise.all([clean(storage), clean(other)]);
        expect(one + two).toBe(130);
        const left = await countWork(storage);
        expect(left.run.waiting + left.run.held + left.deliver.waiting + left.deliver.held).toBe(1);
        expect((await storage.jobs.list({ ...everything, owner: "tenant-a" })).items.map(({ id }) => id)).toEqual([
          kept.id,
        ]);
      });
    });

    test("listeners in this and in other processes are told about new work", async () => {
      await withJobs(async (storage, other) => {
        const heard = { here: 0, there: 0 };
        let reports = 0;
        storage.onWork((kind) => {
          if (kind === "run") heard.here += 1;
        });
        other.onWork((kind) => {
          if (kind === "run") heard.there += 1;
          else reports += 1;
        });
        // LISTEN is on its way when the store opens.
        await waitFor("the first announcement", async () => {
          await storage.jobs.create(makeJob(), null);
          return heard.here > 0 && heard.there > 0;
        });
        const before = { ...heard };
        await storage.jobs.create(makeJob(), null);
        await waitFor("both announcements", () => heard.here > before.here && heard.there > before.there);
        const reportsBefore = reports;
        await finishAll(storage);
        await waitFor("the announcement of the deliveries", () => reports > reportsBefore);
      });
    });
  });
}

function makeMark(changes: Partial<IdempotencyKey> = {}): IdempotencyKey {
  return { key: crypto.randomUUID(), bodyHash: "hash", expiresAt: Date.now() + 60_000, ...changes };
}

/** Runs what is due, each with a delivery where there is a receiver. */
async function finishAll(storage: Storage, limit = 1000): Promise<void> {
  const items = await storage.work.take({ kind: "run", limit, ignoreGroups: [] });
  for (const item of items) {
    const delivery = { id: crypto.randomUUID() };
    if ((await storage.jobs.begin(item, { countRun: true })) === null) continue;
    await storage.jobs.finish(item, item.subject, makeResult(), delivery);
  }
}
