// Work that a job has started at a provider and that ends without a result: it may be billed, so it has one line and counts for budgets.

import { afterEach, describe, expect, test } from "bun:test";
import { createCallLimits } from "../../src/access/call-limits.ts";
import type { EngineStep, TaskCall } from "../../src/engines/engine.ts";
import type { Json } from "../../src/lib/json-schema/schema.ts";
import { begun, closeJobs, createJob, good, hang, type Scripted, type Setup } from "../support/job-runs.ts";
import { waitFor } from "../support/wait.ts";

afterEach(closeJobs);

const started: EngineStep = { checkpoint: "t-1", waitMs: 0 };
const vendor: Scripted = { name: "vendor", runStep: () => started };
const pico = 7_000_000;

/** Every reservation settles what it is told. */
const callLimits: NonNullable<Setup["callLimits"]> = {
  ...createCallLimits(),
  charge: () => ({
    settle: ({ pico }) => ({ countedPico: pico ?? -1, accounts: ["budget-1"] }),
    release() {},
    postpone() {},
  }),
};

type Job = Awaited<ReturnType<typeof createJob>>;

/** The lines that the ledger keeps of those that were reported. */
function linesOf({ reports }: Job) {
  const byId = new Map(reports.map((report) => [report.line?.id ?? crypto.randomUUID(), report]));
  return [...byId.values()].map(({ outcome, charge, settled }) => [outcome, charge?.reason, settled.countedPico]);
}

async function startWork(setup: Partial<Setup> = {}): Promise<Job> {
  const job = await createJob({ engines: [vendor], callLimits, ...setup });
  await job.work();
  expect([job.between().hasStep, job.reports]).toEqual([true, []]);
  return job;
}

/** As if the start had been expected to cost this much, and time had passed since. */
function checkpointOf(step: Json, more: object = {}): string {
  return JSON.stringify({ offer: 0, called: true, step, runsBefore: 1, estimatedPico: pico, ...more });
}

/** Records the work whose files an engine is told to delete. */
function createAbandoning(fails = false) {
  const abandoned: unknown[] = [];
  const abandonStep: NonNullable<Scripted["abandonStep"]> = async ({ jobId }, step) => {
    abandoned.push([jobId, step]);
    if (fails) throw new Error("The bucket does not answer.");
  };
  return { abandoned, abandonStep };
}

describe("work that a job has started", () => {
  test("has one line when the job is cancelled, whoever cancels it and however often", async () => {
    const job = await createJob({ engines: [vendor], callLimits });
    await job.die(checkpointOf("t-1"));
    await Promise.all([job.cancel(), job.cancel()]);
    expect(await job.result()).toMatchObject({ status: "fail", error: { message: "The job was cancelled." } });
    await job.work();
    expect(linesOf(job)).toEqual([["caller_left", "usage_unknown", pico]]);
    expect(await job.storage.jobs.remove(job.id, "key:one")).toBe("deleted");
    expect(await job.storage.jobs.deleteExpired(Number.MAX_SAFE_INTEGER, 10)).toBe(0);
  });

  for (const how of ["deletes its files", "fails to delete its files"]) {
    test(`is abandoned when the job is cancelled, and the provider ${how}`, async () => {
      const { abandoned, abandonStep } = createAbandoning(how.startsWith("fails"));
      const job = await createJob({ engines: [{ ...vendor, abandonStep }], callLimits });
      await job.die(checkpointOf("t-1"));
      await job.cancel();
      await job.work();
      expect(abandoned).toEqual([[job.id, "t-1"]]);
      expect(linesOf(job)).toContainEqual(["caller_left", "usage_unknown", pico]);
      // The job is settled, so it is deleted and not only hidden.
      expect(await job.storage.jobs.remove(job.id, "key:one")).toBe("deleted");
      expect(await job.storage.jobs.deleteExpired(Number.MAX_SAFE_INTEGER, 10)).toBe(0);
    });
  }

  test("has one line when two workers report it, because the first one lost its lease", async () => {
    const job = await createJob({ engines: [vendor], callLimits });
    await job.die(checkpointOf("t-1"));
    await job.cancel();
    job.flaky.goAway("settle", "before");
    const first = job.work();
    await waitFor("the first report", () => job.flaky.called.includes("settle"));
    await job.work();
    await first;
    expect(job.reports).toHaveLength(2);
    expect(linesOf(job)).toEqual([["caller_left", "usage_unknown", pico]]);
  });

  test("has a line although the cancelled job is deleted at once", async () => {
    const job = await startWork();
    await job.cancel();
    expect(await job.storage.jobs.remove(job.id, "key:one")).toBe("deleted");
    expect(await job.storage.jobs.find(job.id, null)).toBeNull();
    expect(await job.storage.jobs.deleteExpired(Date.now() + 1, 10)).toBe(0);
    await job.work();
    expect(linesOf(job)).toHaveLength(1);
    expect(await job.storage.jobs.deleteExpired(Date.now() + 1, 10)).toBe(1);
  });

  test("has one line when the job is cancelled while it is polled", async () => {
    const runStep = (call: TaskCall, step: Json | null) => (step === null ? started : hang(call));
    const job = await startWork({ engines: [{ name: "vendor", runStep }] });
    const run = job.work();
    await begun(job.asked, 2);
    await job.cancel();
    job.goDown();
    await run;
    await job.work();
    expect(linesOf(job).map(([outcome]) => outcome)).toEqual(["caller_left"]);
  });

  test("has one line when a poll brings the result of a job that is cancelled meanwhile", async () => {
    const answered = Promise.withResolvers<EngineStep>();
    const runStep = (_call: TaskCall, step: Json | null) => (step === null ? started : answered.promise);
    const job = await startWork({ engines: [{ name: "vendor", runStep }] });
    const run = job.work();
    await begun(job.asked, 2);
    await job.cancel();
    answered.resolve({ result: good });
    await run;
    await job.work();
    expect(linesOf(job)).toHaveLength(1);
  });

  test("has one line when the job is cancelled while the work is being started", async () => {
    const answered = Promise.withResolvers<EngineStep>();
    const job = await createJob({ engines: [{ name: "vendor", runStep: () => answered.promise }], callLimits });
    const run = job.work();
    await begun(job.asked);
    await job.cancel();
    answered.resolve(started);
    await run;
    await job.work();
    expect(linesOf(job).map(([outcome]) => outcome)).toEqual(["caller_left"]);
  });

  for (const isIdempotent of [false, true]) {
    const kind = isIdempotent ? "repeatable" : "unrepeatable";

    test(`is abandoned when the job is cancelled while ${kind} work is being started`, async () => {
      const { abandoned, abandonStep } = createAbandoning();
      const answered = Promise.withResolvers<EngineStep>();
      const traits = { abandonStep, ...(isIdempotent && { isIdempotent }) };
      const job = await createJob({ engines: [{ name: "vendor", runStep: () => answered.promise, ...traits }] });
      const run = job.work();
      await begun(job.asked);
      await job.cancel();
      job.goDown();
      answered.resolve(started);
      await run;
      expect(abandoned).toEqual([[job.id, "t-1"]]);
    });

    test(`the start of ${kind} work that is interrupted is repeated only if it is repeatable and not cancelled`, async () => {
      const answers: unknown[] = [];
      const runStep = async (call: TaskCall) => {
        await hang(call).catch(() => {});
        answers.push(await call.willRepeat?.());
        throw call.signal.reason;
      };
      for (const isCancelled of [false, true]) {
        const engine: Scripted = { name: "vendor", runStep, ...(isIdempotent && { isIdempotent }) };
        const job = await createJob({ engines: [engine] });
        const run = job.work();
        await begun(job.asked);
        if (isCancelled) await job.cancel();
        job.goDown();
        await run;
      }
      expect(answers).toEqual([isIdempotent, false]);
    });
  }

  test("is not abandoned when the store loses the answer that the step is stored", async () => {
    const { abandoned, abandonStep } = createAbandoning();
    const job = await createJob({ engines: [{ ...vendor, abandonStep }] });
    job.flaky.goAway("saveStep", "after");
    await job.work();
    expect([job.between().hasStep, abandoned]).toEqual([true, []]);
  });

  test("is abandoned by a worker that is shutting down while it settles the cancelled job", async () => {
    const deleting = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let hasEnded = false;
    const abandonStep = async () => {
      reached.resolve();
      await deleting.promise;
      hasEnded = true;
    };
    const job = await createJob({ engines: [{ ...vendor, abandonStep }] });
    await job.die(checkpointOf("t-1"));
    await job.cancel();
    const run = job.work();
    await reached.promise;
    job.goDown();
    deleting.resolve();
    await run;
    expect(hasEnded).toBe(true);
    expect(await job.storage.jobs.remove(job.id, "key:one")).toBe("deleted");
    expect(await job.storage.jobs.deleteExpired(Number.MAX_SAFE_INTEGER, 10)).toBe(0);
  });

  test("has a line when the time of the job is up", async () => {
    const job = await createJob({ engines: [vendor], callLimits, timeoutMs: -1 });
    await job.die(checkpointOf("t-1"));
    await job.work();
    expect(linesOf(job)).toEqual([["provider_timeout", "usage_unknown", pico]]);
  });

  test("has a line when the time of the job is up during a poll", async () => {
    const runStep = (call: TaskCall, step: Json | null) => (step === null ? started : hang(call));
    const { abandoned, abandonStep } = createAbandoning();
    const job = await startWork({ engines: [{ name: "vendor", runStep, abandonStep }], timeoutMs: 2_000 });
    await job.work();
    expect(abandoned).toEqual([[job.id, "t-1"]]);
    expect(linesOf(job).map(([outcome, reason]) => [outcome, reason])).toEqual([["provider_timeout", "usage_unknown"]]);
  });

  test("has a line when every run of the job was interrupted", async () => {
    const job = await createJob({ engines: [vendor], callLimits });
    await job.die(checkpointOf("t-1", { runsBefore: -5 }));
    await job.work();
    expect(linesOf(job)).toEqual([["internal_error", "usage_unknown", pico]]);
  });

  test("has a line when its provider is no longer set up, also if a fallback answers", async () => {
    for (const spares of [[], [{ name: "spare" }]]) {
      const job = await createJob({ engines: [vendor, ...spares], callLimits });
      await job.die(checkpointOf("t-1"));
      await job.work([{ ...vendor, missing: "There is no key." }, ...spares]);
      expect(linesOf(job)[0]).toEqual(["provider_not_configured", "usage_unknown", pico]);
    }
  });

  test("has no line while an interrupted poll is repeated, and then that of its result", async () => {
    let polls = 0;
    const runStep = (call: TaskCall, step: Json | null) =>
      step === null ? started : ++polls === 1 ? hang(call) : { result: good };
    const job = await startWork({ engines: [{ name: "vendor", runStep }] });
    const run = job.work();
    await begun(job.asked, 2);
    job.goDown();
    await run;
    expect(job.reports).toEqual([]);
    await job.work();
    expect(linesOf(job)).toEqual([["completed", null, 0.5e12]]);
  });
});
