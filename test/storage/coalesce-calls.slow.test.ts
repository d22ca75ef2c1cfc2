// Concurrent calls share a transaction, and each keeps its promises.

import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import { coalesceCalls } from "../../src/storage/coalesce-calls.ts";
import type { DeliveryAttempt, JobResult, NewJob } from "../../src/storage/job-records.ts";
import { runAlone, writeCoalesced } from "../../src/storage/operation.ts";
import { toUnavailable } from "../../src/storage/outage.ts";
import type { Storage, StorageOptions } from "../../src/storage/storage.ts";
import type { WorkItem } from "../../src/storage/work-queue.ts";
import {
  catchError,
  countWork,
  createEngines,
  describeOn,
  type Engine,
  makeJob,
  makeResult,
  quiet,
  usePostgres,
  withDatabase,
  withStorage,
} from "../contracts/engines.ts";
import { startOwnPostgres, whyNoOwnPostgres, whyNoPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";

const delivered = { state: "delivered", nextAt: null } as const;
const largeOutput = "x".repeat(1_000_000);
const nul = "\u0000";

describe("calls of one operation", () => {
  interface Batch {
    readonly texts: string[];
    readonly deadlineMs: number;
    readonly isAlone: boolean;
    readonly answer: PromiseWithResolvers<readonly unknown[]>;
  }

  const deadlineMs = 1_000;

  interface CallsTrial {
    readonly maxTransactions?: number;
    readonly runsAlone?: (text: string) => boolean;
    readonly isDown?: () => boolean;
  }

  /** The real function, in front of a store whose answers and whose time the test controls. */
  function startCalls(options: CallsTrial = {}) {
    const batches: Batch[] = [];
    let now = 0;
    const { maxTransactions = 1, runsAlone = () => false, isDown = () => false } = options;
    const operation = writeCoalesced(null, async () => [], {
      runsAlone: (...[text]: readonly unknown[]) => runsAlone(String(text)),
      deadlineMs: 5_000,
    });
    const call = coalesceCalls(
      operation,
      (calls, about) => {
        const answer = Promise.withResolvers<readonly unknown[]>();
        batches.push({ texts: calls.map(([text]) => String(text)), ...about, answer });
        return answer.promise;
      },
      { deadlineMs, maxTransactions, isDown, clock: () => now },
    );
    return {
      batches,
      call: (text: string) => call(text),
      advance(milliseconds: number) {
        now += milliseconds;
      },
      answer: (index: number) => batches[index]?.answer.resolve(batches[index].texts.map((text) => `${text}!`)),
    };
  }

  test("a single call runs at once; calls that arrive meanwhile wait and run together, each with its own result", async () => {
    const { call, batches, answer } = startCalls();
    const first = call("a");
    await pass();
    expect(batches.map(({ texts }) => texts)).toEqual([["a"]]);
    const others = ["b", "c", "d"].map(call);
    await pass();
    expect(batches).toHaveLength(1);
    answer(0);
    expect(await first).toBe("a!");
    await pass();
    expect(batches.map(({ texts }) => texts)).toEqual([["a"], ["b", "c", "d"]]);
    answer(1);
    expect(await Promise.all(others)).toEqual(["b!", "c!", "d!"]);
    const later = call("e");
    await pass();
    answer(2);
    expect(await later).toBe("e!");
  });

  test("neither the number of concurrent transactions nor the calls in one exceed their limit", async () => {
    const { call, batches, answer } = startCalls({ maxTransactions: 2 });
    const all = Array.from({ length: 200 }, (_, index) => call(String(index)));
    await pass();
    expect(batches.map(({ texts }) => texts.length)).toEqual([64, 64]);
    for (let index = 0; index < 4; index += 1) {
      answer(index);
      await pass();
    }
    expect(batches.map(({ texts }) => texts.length)).toEqual([64, 64, 64, 8]);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 200 }, (_, index) => `${index}!`));
  });

  test("when a transaction fails, its calls run one by one, and only the bad one fails", async () => {
    const { call, batches, answer } = startCalls();
    const all = Promise.allSettled(["a", "bad", "c"].map(call));
    await pass();
    batches[0]?.answer.reject(new Error("one of them"));
    await pass();
    expect(batches.slice(1).map(({ texts }) => texts)).toEqual([["a"], ["bad"], ["c"]]);
    answer(1);
    batches[2]?.answer.reject(new Error("this one"));
    answer(3);
    expect(await all).toMatchObject([
      { status: "fulfilled", value: "a!" },
      { status: "rejected", reason: { message: "this one" } },
      { status: "fulfilled", value: "c!" },
    ]);
  });

  test("an outage fails all calls of a transaction, and none is repeated", async () => {
    const { call, batches } = startCalls();
    const all = Promise.allSettled(["a", "b"].map(call));
    await pass();
    batches[0]?.answer.reject(toUnavailable());
    const told = { status: "rejected", reason: { code: "dependency_unavailable" } };
    expect(await all).toMatchObject([told, told]);
    expect(batches).toHaveLength(1);
  });

  test("waiting counts towards the deadline: a call with little time left fails, the others keep their remaining time", async () => {
    const { call, batches, answer, advance } = startCalls();
    const first = call("a");
    await pass();
    const early = catchError(call("b"));
    advance(600);
    const late = call("c");
    advance(200);
    answer(0);
    await first;
    expect(await early).toMatchObject({ code: "dependency_unavailable" });
    await pass();
    expect(batches[1]?.texts).toEqual(["c"]);
    expect(batches[1]?.deadlineMs).toBe(800);
    answer(1);
    expect(await late).toBe("c!");
  });

  test("a large call runs alone and delays no other call, even if its size is only found out while it runs", async () => {
    const { call, batches, answer, advance } = startCalls({ runsAlone: (text) => text === "large" });
    const large = call("large");
    const small = call("a");
    const found = call("larger than it seems");
    await pass();
    expect(batches).toMatchObject([
      { texts: ["large"], deadlineMs: 5_000, isAlone: true },
      { texts: ["a", "larger than it seems"], deadlineMs: 1_000, isAlone: false },
    ]);
    advance(900);
    batches[1]?.answer.resolve(["a!", structuredClone(runAlone)]);
    expect(await small).toBe("a!");
    await pass();
    expect(batches[2]).toMatchObject({ texts: ["larger than it seems"], deadlineMs: 5_000, isAlone: true });
    const next = call("b");
    await pass();
    expect(batches[3]?.texts).toEqual(["b"]);
    for (const index of [0, 2, 3]) answer(index);
    expect(await Promise.all([large, found, next])).toEqual(["large!", "larger than it seems!", "b!"]);
  });

  test("while the store is known to be down, calls do not wait for each other", async () => {
    let isDown = false;
    const { call, batches } = startCalls({ isDown: () => isDown });
    const hanging = catchError(call("a"));
    await pass();
    isDown = true;
    const refused = catchError(call("b"));
    expect(batches.map(({ texts }) => texts)).toEqual([["a"], ["b"]]);
    batches[1]?.answer.reject(toUnavailable());
    expect(await refused).toBeInstanceOf(GatewayError);
    batches[0]?.answer.reject(toUnavailable());
    await hanging;
  });
});

for (const engine of createEngines()) describeJoinedCalls(engine);

function describeJoinedCalls(engine: Engine): void {
  describeOn(engine, "many calls at once", () => {
    async function withJobs(body: (storage: Storage, options: StorageOptions) => Promise<void>): Promise<void> {
      const options = { ...(await engine.createStore()), works: true };
      await withStorage(options, (storage) => body(storage, options));
    }

    test("one job among many that cannot be stored fails alone", async () => {
      await withJobs(async (storage) => {
        const there = makeJob();
        await storage.jobs.create(there, null);
        const good = Array.from({ length: 20 }, () => makeJob());
        const [withNul, taken] = [makeJob({ request: nul }), makeJob({ id: there.id, owner: "tenant-b" })];
        const asked = [...good.slice(0, 7), withNul, ...good.slice(7, 15), taken, ...good.slice(15)];
        const outcomes = await Promise.allSettled(asked.map((job) => storage.jobs.create(job, null)));
        const failed = asked.filter((_, index) => outcomes[index]?.status === "rejected");
        expect(failed).toEqual([withNul, taken]);
        expect(outcomes[7]).toMatchObject({ reason: { name: "ValidationError" } });
        for (const [index, job] of asked.entries()) {
          if (failed.includes(job)) continue;
          expect(outcomes[index]).toMatchObject({ value: { outcome: "created", job: { id: job.id } } });
          expect(await storage.jobs.find(job.id, job.owner)).not.toBeNull();
        }
        expect((await countWork(storage)).run.waiting).toBe(21);
      });
    });

    test("one result among many that cannot be stored fails alone, and its job can still be finished", async () => {
      await withJobs(async (storage) => {
        const items = await begin(storage, 20);
        const outcomes = await Promise.allSettled(
          items.map((item, index) => finish(storage, item, index === 5 ? { result: nul } : {})),
        );
        expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(items.map((_, index) => index !== 5));
        expect(await countWork(storage)).toMatchObject({ run: { held: 1, waiting: 0 }, deliver: { waiting: 19 } });
        expect(await finish(storage, items[5] as WorkItem)).toBe(true);
        expect(await countWork(storage)).toMatchObject({ run: { held: 0, waiting: 0 }, deliver: { waiting: 20 } });
      });
    });

    test("one attempt among many that cannot be stored fails alone, and the others are listed once", async () => {
      await withJobs(async (storage) => {
        const items = await openDeliveries(storage, 20);
        const record = (item: WorkItem, index: number) =>
          storage.deliveries.recordAttempt(item, makeAttempt(index === 5 ? { error: nul } : {}), delivered);
        const outcomes = await Promise.allSettled(items.map(record));
        expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(items.map((_, index) => index !== 5));
        expect((await countWork(storage)).deliver).toMatchObject({ held: 1, waiting: 0 });
        expect(await attemptsOf(storage)).toEqual(Array.from({ length: 20 }, (_, index) => Math.min(index, 1)));
      });
    });

    test("calls that are repeated because their answer was lost have no second effect", async () => {
      await withJobs(async (storage) => {
        const runs = await begin(storage, 20);
        const finishAll = () => Promise.all(runs.map((item) => finish(storage, item)));
        expect(await finishAll()).toEqual(runs.map(() => true));
        expect(await finishAll()).toEqual(runs.map(() => false));
        const items = await storage.work.take({ kind: "deliver", limit: 100, ignoreGroups: [] });
        expect(items).toHaveLength(20);
        const recordAll = () =>
          Promise.all(items.map((item) => storage.deliveries.recordAttempt(item, makeAttempt(), delivered)));
        expect(await recordAll()).toEqual(items.map(() => true));
        expect(await recordAll()).toEqual(items.map(() => false));
        expect(await attemptsOf(storage)).toEqual(items.map(() => 1));
      });
    });

    test("of several calls with the same lease in one transaction, one succeeds and takes effect once", async () => {
      await withJobs(async (storage) => {
        const items = await begin(storage, 5);
        const finished = await Promise.all([...items, ...items, ...items].map((item) => finish(storage, item)));
        expect(finished.filter(Boolean)).toHaveLength(5);
        expect((await countWork(storage)).deliver.waiting).toBe(5);
        const deliveries = await storage.work.take({ kind: "deliver", limit: 100, ignoreGroups: [] });
        const recorded = await Promise.all(
          [...deliveries, ...deliveries].map((item) =>
            storage.deliveries.recordAttempt(item, makeAttempt(), delivered),
          ),
        );
        expect(recorded.filter(Boolean)).toHaveLength(5);
        expect(await attemptsOf(storage)).toEqual([1, 1, 1, 1, 1]);
      });
    });

    test("deleting jobs while their attempts are stored does not deadlock and leaves nothing behind", async () => {
      await withJobs(async (storage, options) => {
        await withStorage({ ...options, works: false }, async (other) => {
          for (let round = 0; round < 3; round += 1) {
            const items = await begin(storage, 60);
            await Promise.all(items.map((item) => finish(storage, item)));
            const deliveries = await takeAll(storage, "deliver", 60);
            const outcomes = await Promise.all([
              Promise.all(items.map(({ subject }) => other.jobs.remove(subject, "tenant-a"))),
              Promise.all(
                deliveries.map((item, index) => {
                  const nextAt = index % 2 === 0 ? null : Date.now();
                  const outcome = { ...delivered, state: nextAt === null ? "delivered" : "pending", nextAt } as const;
                  return storage.deliveries.recordAttempt(item, makeAttempt(), outcome);
                }),
              ),
            ]);
            expect(outcomes[0]).toEqual(items.map(() => "deleted"));
            expect((await countWork(storage)).deliver).toMatchObject({ held: 0, waiting: 0 });
          }
        });
      });
    });

    test("extending leases while work is ended does not deadlock", async () => {
      await withJobs(async (storage, options) => {
        for (let round = 0; round < 4; round += 1) {
          const items = shuffle(await begin(storage, 600));
          // As the server does from time to time: with statistics it finds other ways to the rows.
          await withDatabase(options, async ({ sql }) => {
            await sql.script("analyze");
          });
          let isOver = false;
          const beating = Array.from({ length: 2 }, async () => {
            while (!isOver) await storage.work.extend(shuffle(items).slice(0, 256));
          });
          for (let from = 0; from < items.length; from += 150) {
            const some = items.slice(from, from + 150);
            expect(await Promise.all(some.map((item) => finish(storage, item)))).toEqual(some.map(() => true));
          }
          isOver = true;
          await Promise.all(beating);
        }
      });
    });

    test("deliveries that are opened together each come with their own job, result and attempts, however large", async () => {
      await withJobs(async (storage) => {
        const items = await begin(storage, 40);
        const resultOf = (subject: string, index: number) =>
          JSON.stringify({ output: { job: subject, text: index % 10 === 3 ? largeOutput : "ä short text" } });
        const results = new Map(items.map(({ subject }, index) => [subject, resultOf(subject, index)]));
        const finished = items.map((item) => finish(storage, item, { result: results.get(item.subject) ?? "" }));
        expect(await Promise.all(finished)).toEqual(items.map(() => true));
        const first = await storage.work.take({ kind: "deliver", limit: 100, ignoreGroups: [] });
        const again = { state: "pending", nextAt: Date.now() } as const;
        await Promise.all(
          first.map((item, index) =>
            storage.deliveries.recordAttempt(item, makeAttempt({ status: 500 + (index % 4), error: "away" }), again),
          ),
        );
        const statusOf = new Map(first.map((item, index) => [item.subject, 500 + (index % 4)]));
        const second = await takeAll(storage, "deliver", 40);
        // What was taken first is not the work of these deliveries any more.
        const opened = await Promise.all([...second, ...first].map((item) => storage.deliveries.open(item)));
        expect(opened.slice(40)).toEqual(first.map(() => null));
        for (const [index, item] of second.entries()) {
          const one = opened[index];
          if (!one) throw new Error("It was not opened");
          if (one.job === undefined) throw new Error("It has no job");
          expect(one.delivery).toMatchObject({ id: item.subject, jobId: one.job.id });
          expect(one.delivery.attempts).toMatchObject([{ status: statusOf.get(item.subject) ?? 0, error: "away" }]);
          expect(one.job.result === results.get(one.job.id)).toBe(true);
          expect(one.job.request).toBe(makeJob().request);
        }
        expect((await countWork(storage)).deliver).toMatchObject({ held: 40, waiting: 0 });
      });
    });
  });
}

describe.skipIf(whyNoPostgres() !== null)("transactions on PostgreSQL", () => {
  const { folders, server } = usePostgres();

  async function createStore(): Promise<StorageOptions> {
    const databaseUrl = await server().createStore();
    return { databaseUrl, dataDir: folders.create(), log: quiet, works: true, deadlineMs: 60_000 };
  }

  /** Rows of one transaction have the same `xmin`. */
  async function readTransactions(options: StorageOptions, table: "jobs" | "deliveries"): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    await withDatabase(options, async ({ sql }) => {
      const rows = await sql<{ id: string; transaction: string }>`
        select id, cast(xmin as text) as transaction from ${sql.identifier(table)}`;
      for (const { id, transaction } of rows) found.set(id, transaction);
    });
    return found;
  }

  async function countTransactions(options: StorageOptions, table: "jobs" | "deliveries"): Promise<number> {
    return new Set((await readTransactions(options, table)).values()).size;
  }

  test("many concurrent creations, runs, results and attempts share a few transactions", async () => {
    const options = await createStore();
    await withStorage(options, async (storage) => {
      await Promise.all(Array.from({ length: 128 }, () => storage.jobs.create(makeJob(), null)));
      expect(await countTransactions(options, "jobs")).toBeLessThanOrEqual(4);
      const items = await takeAll(storage, "run", 128);
      await Promise.all(items.map((item) => storage.jobs.begin(item, { countRun: true })));
      expect(await countTransactions(options, "jobs")).toBeLessThanOrEqual(4);
      await Promise.all(items.map((item) => finish(storage, item)));
      expect(await countTransactions(options, "jobs")).toBeLessThanOrEqual(4);
      expect(await countTransactions(options, "deliveries")).toBeLessThanOrEqual(4);
      const deliveries = await takeAll(storage, "deliver", 128);
      await Promise.all(deliveries.map((item) => storage.deliveries.recordAttempt(item, makeAttempt(), delivered)));
      expect(await countTransactions(options, "deliveries")).toBeLessThanOrEqual(4);
    });
  });

  test("ending work does not read the whole queue", async () => {
    const options = await createStore();
    await withStorage(options, async (storage) => {
      // The statements are planned while the queue is short.
      for (let round = 0; round < 8; round++) {
        for (const item of await begin(storage, 8)) await finish(storage, item);
        await takeAll(storage, "deliver", 8);
      }
      await Promise.all(Array.from({ length: 3_000 }, () => storage.jobs.create(makeJob(), null)));
      const items = await storage.work.take({ kind: "run", limit: 64, ignoreGroups: [] });
      const before = await waitForStatistics(
        storage,
        options,
        (found) => found.inserted >= 3_000n && found.updated >= 64n,
      );
      await Promise.all(items.map((item) => finish(storage, item)));
      const after = await waitForStatistics(storage, options, (found) => found.inserted >= before.inserted + 64n);
      expect(Number(after.read - before.read)).toBeLessThan(1_500);
    });
  });

  test("calls with an idempotency key and large calls have their own transaction", async () => {
    const options = await createStore();
    await withStorage(options, async (storage) => {
      const plain = Array.from({ length: 20 }, () => makeJob());
      const marked = Array.from({ length: 5 }, () => makeJob());
      const large = makeJob({ request: largeOutput });
      const mark = () => ({ key: crypto.randomUUID(), bodyHash: "hash", expiresAt: Date.now() + 60_000 });
      await Promise.all([
        ...plain.map((job) => storage.jobs.create(job, null)),
        ...marked.map((job) => storage.jobs.create(job, mark())),
        storage.jobs.create(large, null),
      ]);
      const transactions = await readTransactions(options, "jobs");
      const of = (jobs: NewJob[]) => new Set(jobs.map(({ id }) => transactions.get(id)));
      expect(of([...marked, large]).size).toBe(6);
      expect(of(plain).size).toBeLessThanOrEqual(2);
      expect(of(plain).isDisjointFrom(of([...marked, large]))).toBe(true);
    });
  });

  test.skipIf(whyNoOwnPostgres() !== null)(
    "when the server stops responding, running and waiting calls fail alike, and none of them takes effect later",
    async () => {
      const own = await startOwnPostgres();
      const options = { databaseUrl: own.url, dataDir: folders.create(), log: quiet, works: true, deadlineMs: 12_000 };
      await withStorage(options, async (storage) => {
        const items = await begin(storage, 60);
        const jobs = Array.from({ length: 300 }, () => makeJob());
        const failures: Promise<unknown>[] = [];
        own.freeze();
        try {
          for (const [index, job] of jobs.entries()) {
            failures.push(catchError(storage.jobs.create(job, null)));
            const item = items[index];
            if (item !== undefined) failures.push(catchError(finish(storage, item)));
            // The first transactions have been sent when the later calls arrive.
            if (index % 50 === 49) await pass();
          }
          for (const failure of await Promise.all(failures))
            expect(failure).toMatchObject({ code: "dependency_unavailable" });
        } finally {
          own.thaw();
        }
        await waitFor("the server to be found again", () => storage.isHealthy());
        // A store that waits longer: three seconds can be too short for a server that shares its processor.
        await withStorage({ ...options, deadlineMs: 60_000 }, async (patient) => {
          for (const job of jobs) expect(await patient.jobs.find(job.id, job.owner)).toBeNull();
          expect(await Promise.all(items.map((item) => finish(patient, item)))).toEqual(items.map(() => true));
        });
      });
      await own.stop();
    },
  );
});

/** What PostgreSQL has counted in the work queue. A connection reports its counts after a later query. */
async function waitForStatistics(
  storage: Storage,
  options: StorageOptions,
  isComplete: (found: Statistics) => boolean,
) {
  return await waitFor(
    "the statistics of the queue",
    async () => {
      await Promise.all(Array.from({ length: 20 }, () => storage.jobs.find("no job", "no owner")));
      let found: Statistics = { read: 0n, inserted: 0n, updated: 0n };
      await withDatabase(options, async ({ sql }) => {
        const [row] = await sql<Statistics>`
        select
          (select cast(sum(idx_tup_read) as bigint) from pg_stat_user_indexes where schemaname = 'switchyard_queue') as read,
          cast(sum(n_tup_ins) as bigint) as inserted, cast(sum(n_tup_upd) as bigint) as updated
        from pg_stat_user_tables where schemaname = 'switchyard_queue'`;
        if (row !== undefined) found = row;
      });
      return isComplete(found) ? found : null;
    },
    { everyMs: 250 },
  );
}

interface Statistics {
  readonly read: bigint;
  readonly inserted: bigint;
  readonly updated: bigint;
}

/** Lets everything run that can run without waiting. */
async function pass(): Promise<void> {
  await new Promise<void>((done) => setImmediate(done));
}

function makeAttempt(changes: Partial<DeliveryAttempt> = {}): DeliveryAttempt {
  return { number: 1, startedAt: Date.now(), durationMs: 12, status: 200, error: null, keyId: "kid", ...changes };
}

async function begin(storage: Storage, count: number): Promise<WorkItem[]> {
  await Promise.all(Array.from({ length: count }, () => storage.jobs.create(makeJob(), null)));
  const items = await takeAll(storage, "run", count);
  await Promise.all(items.map((item) => storage.jobs.begin(item, { countRun: true })));
  return items;
}

async function finish(storage: Storage, item: WorkItem, changes: Partial<JobResult> = {}): Promise<boolean> {
  const delivery = { id: crypto.randomUUID() };
  return await storage.jobs.finish(item, item.subject, makeResult(changes), delivery);
}

async function openDeliveries(storage: Storage, count: number): Promise<WorkItem[]> {
  const items = await begin(storage, count);
  await Promise.all(items.map((item) => finish(storage, item)));
  return await takeAll(storage, "deliver", count);
}

async function takeAll(storage: Storage, kind: WorkItem["kind"], count: number): Promise<WorkItem[]> {
  const taken: WorkItem[] = [];
  await waitFor(`${count} pieces of work`, async () => {
    taken.push(...(await storage.work.take({ kind, limit: 1000, ignoreGroups: [] })));
    return taken.length >= count;
  });
  expect(taken).toHaveLength(count);
  return taken;
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** How many attempts each delivery has, the fewest first. */
async function attemptsOf(storage: Storage): Promise<number[]> {
  const filter = { owner: "tenant-a", status: null, feature: null, subfeature: null, limit: 1000, offset: 0 };
  const { items: jobs } = await storage.jobs.list(filter);
  const deliveries = await Promise.all(jobs.map(({ id, owner }) => storage.deliveries.listForJob(id, owner)));
  return deliveries
    .flatMap((some) => some ?? [])
    .map(({ attempts }) => attempts.length)
    .toSorted((a, b) => a - b);
}
