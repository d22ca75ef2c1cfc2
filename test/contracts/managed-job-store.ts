// What every engine promises about the jobs that operators see, and about the records of what operators change.

import { expect, test } from "bun:test";
import { gatewayActor } from "../../src/access/roles.ts";
import type { ManagedJobFilter } from "../../src/storage/managed-jobs.ts";
import type { Storage } from "../../src/storage/storage.ts";
import {
  countWork,
  describeOn,
  type Engine,
  makeJob,
  makeKey,
  makeResult,
  takeOne,
  useJobStore,
  withStorage,
} from "./engines.ts";

const everything: ManagedJobFilter = {
  ...{ owner: null, keyId: null, status: null, feature: null, subfeature: null, provider: null },
  ...{ from: null, to: null, after: null, limit: 100 },
};
const actor = { ...gatewayActor, kind: "user", id: "ada", name: "Ada", address: "::1", requestId: "r" } as const;

async function finish(storage: Storage, id: string, result = makeResult()): Promise<void> {
  const item = await takeOne(storage, "run");
  expect(item.subject).toBe(id);
  await storage.jobs.begin(item, { countRun: true });
  expect(await storage.jobs.finish(item, id, result, { id: crypto.randomUUID() })).toBe(true);
}

export function describeManagedJobStore(engine: Engine): void {
  describeOn(engine, "jobs of all owners", () => {
    const withTwo = useJobStore(engine);

    async function withJobs(body: (storage: Storage) => Promise<void>): Promise<void> {
      await withStorage({ ...(await engine.createStore()), works: true }, body);
    }

    test("a cancelled job with a checkpoint is settled by one more item of work, also when it is deleted", async () => {
      await withTwo(async (storage, other) => {
        const job = makeJob({ webhookReceiver: null });
        await storage.jobs.create(job, null);
        const item = await takeOne(storage, "run");
        await storage.jobs.begin(item, { countRun: true });
        await storage.jobs.saveStep(item, job.id, { checkpoint: '{"step":1}', dueAt: Date.now() + 60_000 });
        const cancel = (by: typeof storage) =>
          by.jobs.cancel(job.id, null, { at: 1, result: "{}", delivery: { id: crypto.randomUUID() } });
        const outcomes = await Promise.all([cancel(storage), cancel(other)]);
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["cancelled", "unchanged"]);
        expect((await countWork(storage)).run.waiting).toBe(1);
        expect(await other.jobs.remove(job.id, job.owner)).toBe("deleted");
        expect(await other.jobs.remove(job.id, job.owner)).toBe("missing");
        expect(await other.jobs.find(job.id, null)).toBeNull();
        const settling = await takeOne(storage, "run");
        const begun = await storage.jobs.begin(settling, { countRun: true });
        expect(begun).toMatchObject({ id: job.id, status: "fail", checkpoint: '{"step":1}' });
        expect(await other.jobs.findUnfinished([item, settling])).toEqual([settling.id]);
        await storage.jobs.settle(settling, job.id);
        expect(await other.jobs.findUnfinished([settling])).toEqual([]);
        await other.jobs.settle(settling, job.id);
        expect((await countWork(storage)).run).toMatchObject({ waiting: 0, held: 0 });
        expect(await storage.jobs.deleteExpired(Date.now() + 1, 10)).toBe(1);
      });
    });

    test("jobs are listed newest first, page by page, with the names of their keys, and without results", async () => {
      await withJobs(async (storage) => {
        const key = makeKey({ name: "scanner" });
        await storage.keys.insert(key);
        const now = Date.now();
        const ids: string[] = [];
        // Two of the same time: the id decides.
        for (const age of [4_000, 3_000, 3_000, 2_000, 1_000]) {
          const job = makeJob({
            keyId: key.id,
            createdAt: now - age,
            owner: age === 1_000 ? "owner:blue" : "owner:red",
          });
          await storage.jobs.create(job, null);
          ids.push(job.id);
        }
        const all = await storage.managedJobs.list(everything);
        expect(all.map(({ job }) => job.id).toSorted()).toEqual(ids.toSorted());
        const seen: string[] = [];
        for (let after: ManagedJobFilter["after"] = null; ; ) {
          const page = await storage.managedJobs.list({ ...everything, after, limit: 2 });
          const last = page.at(-1);
          if (last === undefined) break;
          seen.push(...page.map(({ job }) => job.id));
          after = { time: last.job.createdAt, id: last.job.id };
        }
        expect(seen).toEqual(all.map(({ job }) => job.id));
        expect(all[0]).toMatchObject({
          keyName: "scanner",
          deliveryState: null,
          job: { owner: "owner:blue", result: null },
        });
        const blue = await storage.managedJobs.list({ ...everything, owner: "owner:blue" });
        expect(blue.map(({ job }) => job.id)).toEqual([ids[4] ?? ""]);
      });
    });

    test("every filter selects", async () => {
      await withJobs(async (storage) => {
        const createdAt = Date.now() - 5_000;
        const job = makeJob({ keyId: "one", provider: "p", feature: "ocr", subfeature: "ocr_async", createdAt });
        await storage.jobs.create(job, null);
        await storage.jobs.create(makeJob({ createdAt: createdAt + 1_000 }), null);
        const filters: readonly Partial<ManagedJobFilter>[] = [
          { keyId: "one" },
          { provider: "p" },
          { feature: "ocr" },
          { feature: "ocr", subfeature: "ocr_async" },
          { to: createdAt + 1 },
        ];
        for (const filter of filters) {
          const found = await storage.managedJobs.list({ ...everything, ...filter });
          expect(
            found.map((one) => one.job.id),
            JSON.stringify(filter),
          ).toEqual([job.id]);
        }
        for (const filter of [{ keyId: "two" }, { status: "fail" as const }, { from: Date.now() + 1_000 }])
          expect(await storage.managedJobs.list({ ...everything, ...filter })).toEqual([]);
      });
    });

    test("a detail has the request, the size of the result, the error of a failed job, and the state of the last delivery", async () => {
      await withJobs(async (storage) => {
        const good = makeJob();
        await storage.jobs.create(good, null);
        await finish(storage, good.id);
        const size = Buffer.byteLength(makeResult().result);
        expect(await storage.managedJobs.find(good.id, null)).toMatchObject({
          ...{ request: good.request, resultBytes: size, deliveryState: "pending", keyName: null },
          job: { status: "success", result: null },
        });
        const bad = makeJob({ webhookReceiver: null });
        await storage.jobs.create(bad, null);
        const error = JSON.stringify({ error: { message: "It broke." } });
        await finish(storage, bad.id, makeResult({ status: "fail", result: error }));
        expect(await storage.managedJobs.find(bad.id, bad.owner)).toMatchObject({ job: { result: error } });
        expect(await storage.managedJobs.find(bad.id, "tenant-b")).toBeNull();
        expect(await storage.managedJobs.find(crypto.randomUUID(), null)).toBeNull();
        // Of several deliveries, the last one counts.
        const item = await takeOne(storage, "deliver");
        const attempt = { number: 1, startedAt: 1, durationMs: 1, status: 204, error: null, keyId: "k" };
        await storage.deliveries.recordAttempt(item, attempt, { state: "delivered", nextAt: null });
        expect((await storage.managedJobs.find(good.id, null))?.deliveryState).toBe("delivered");
        await storage.deliveries.redeliver(good.id, null, { id: crypto.randomUUID(), now: Date.now() + 1 });
        expect((await storage.managedJobs.find(good.id, null))?.deliveryState).toBe("pending");
      });
    });

    test("what an operator cancels or delivers again is recorded with the team of the job, and nothing else is", async () => {
      await withJobs(async (storage) => {
        const [job, own] = [makeJob({ owner: "owner:red" }), makeJob({ owner: "owner:red" })];
        for (const one of [job, own]) await storage.jobs.create(one, null);
        const cancel = (id: string, by: typeof actor | null) => {
          const cancellation = { at: 1_000, result: '{"cancelled":true}', delivery: { id: crypto.randomUUID() } };
          return storage.jobs.cancel(id, null, cancellation, by);
        };
        await cancel(job.id, actor);
        // Again, which changes nothing; and by its owner.
        await cancel(job.id, actor);
        await cancel(own.id, null);
        await storage.deliveries.redeliver(job.id, "owner:red", { id: "d", now: Date.now() }, actor);
        expect(
          await storage.deliveries.redeliver(job.id, "owner:blue", { id: "e", now: Date.now() }, actor),
        ).toBeNull();
        const filter = { from: null, to: null, team: "red", actor: null, action: null, target: null, outcome: null };
        const records = await storage.audit.list({ ...filter, after: null, limit: 10 });
        expect(records).toMatchObject([
          {
            ...{ action: "job.redeliver", targetId: job.id, team: "red", actorName: "Ada" },
            stateAfter: { delivery_id: "d", receiver_host: "receiver.example" },
          },
          {
            action: "job.cancel",
            targetId: job.id,
            stateBefore: { status: "processing" },
            stateAfter: { status: "fail" },
          },
        ]);
      });
    });
  });
}
