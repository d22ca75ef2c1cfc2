// The runner of jobs with a real store: engines that fail, and jobs that take too long.

import { afterEach, describe, expect, test } from "bun:test";
import type { TaskCall, TaskResult } from "../../src/engines/engine.ts";
import { GatewayError } from "../../src/errors.ts";
import type { Json } from "../../src/lib/json-schema/schema.ts";
import { closeJobs, createJob, good, hang, hour, interrupted, picture, refuse, success } from "../support/job-runs.ts";

afterEach(closeJobs);

const late = { status: "fail", error: { message: "The job did not finish in time." } };

const lateCall = {
  status: "fail",
  error: { message: "The job did not finish in time. The provider 'vendor' may have executed the task." },
};

describe("an engine that fails", () => {
  test.each([
    "overloaded",
    "rate_limit_exceeded",
  ] as const)("a local engine whose queue is full (%s) is waited for, as long as it says and however often", async (code) => {
    const job = await createJob({
      engines: [{ name: "local", isIdempotent: true, run: (_call, times) => (times <= 8 ? refuse(code, 30) : good) }],
    });
    for (let run = 1; run <= 8; run++) {
      await job.work();
      const { runs, dueInMs } = job.between();
      expect(runs).toBe(0);
      expect(dueInMs).toBeGreaterThan(15_000);
      expect(dueInMs).toBeLessThan(37_000);
    }
    await job.work();
    expect(await job.result()).toMatchObject(success);
  });

  test("one whose circuit is open is waited for without a call, and the run does not count", async () => {
    const job = await createJob({ engines: [{ name: "vendor", isBroken: true }] });
    for (let run = 1; run <= 5; run++) {
      await job.work();
      const { runs, dueInMs } = job.between();
      expect(runs).toBe(0);
      // The circuit opens for 20 seconds.
      expect(dueInMs).toBeWithin(1, 26_000);
    }
    expect(job.asked).toEqual([]);
  });

  test("work that continues at a provider is polled, although the circuit is open", async () => {
    const kept = { checkpoint: { id: 1 }, waitMs: 0 };
    const steps = (_call: TaskCall, before: Json | null) => (before === null ? kept : { result: good });
    const job = await createJob({ engines: [{ name: "vendor", runStep: steps }] });
    await job.work();
    await job.work([{ name: "vendor", runStep: steps, isBroken: true }]);
    expect(await job.result()).toMatchObject(success);
  });

  test("one that names no time is called three times, after about 2 and 10 seconds", async () => {
    const job = await createJob({ engines: [{ name: "vendor", run: () => refuse("provider_rate_limited") }] });
    await job.work();
    expect(job.between()).toMatchObject({ called: false });
    expect(job.between().dueInMs).toBeGreaterThan(1_000);
    expect(job.between().dueInMs).toBeLessThan(2_500);
    await job.work();
    expect(job.between().dueInMs).toBeGreaterThan(7_500);
    expect(job.between().dueInMs).toBeLessThan(12_500);
    await job.work();
    expect(await job.result()).toMatchObject({ status: "fail", error: { message: "It says provider_rate_limited." } });
    expect(job.asked).toHaveLength(3);
  });

  test("one that is not idempotent is not called again after a failure that may have had an effect", async () => {
    const job = await createJob({ engines: [{ name: "vendor", run: () => refuse("provider_error") }] });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "fail", error: { message: "It says provider_error." } });
  });

  test("one that is not idempotent is not called again once its request was sent, whatever the code", async () => {
    const unanswered = (): never => {
      throw new GatewayError("provider_unreachable", "No answer came.", { mayHaveExecuted: true });
    };
    const job = await createJob({ engines: [{ name: "vendor", run: unanswered }] });
    await job.work();
    const message = "No answer came. The task was not sent again, because it could be executed and billed twice.";
    expect(await job.result()).toMatchObject({ status: "fail", error: { message } });
    const spare = await createJob({ engines: [{ name: "vendor", run: unanswered }, { name: "spare" }] });
    await spare.work();
    expect(await spare.result()).toMatchObject({ ...success, provider: "spare" });
    expect([job.asked.length, spare.asked.length]).toEqual([1, 2]);
  });

  test.each([
    "overloaded",
    "rate_limit_exceeded",
    "provider_rate_limited",
    "dependency_unavailable",
  ] as const)("one that is not idempotent is not called again when a later call of the run is refused (%s)", async (code) => {
    const refused = (): never => {
      throw new GatewayError(code, "Not now.", { retryAfter: 1, mayHaveExecuted: true });
    };
    const job = await createJob({ engines: [{ name: "vendor", run: refused }] });
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: "Not now. The task was not sent again, because it could be executed and billed twice." },
    });
    const local = await createJob({ engines: [{ name: "local", isIdempotent: true, run: refused }] });
    await local.work();
    expect(await local.result()).toMatchObject({ status: "processing" });
  });

  test("one that is idempotent is called again", async () => {
    const job = await createJob({
      engines: [
        { name: "local", isIdempotent: true, run: (_call, times) => (times < 3 ? refuse("provider_error") : good) },
      ],
    });
    for (let run = 1; run <= 3; run++) await job.work();
    expect(await job.result()).toMatchObject(success);
  });

  test("one that is not set up is passed over, or said to be the reason", async () => {
    const missing = { name: "vendor", missing: "Set VENDOR_API_KEY." };
    const job = await createJob({ engines: [missing, { name: "spare" }] });
    await job.work();
    expect(await job.result()).toMatchObject({ ...success, provider: "spare" });
    const alone = await createJob({ engines: [missing] });
    await alone.work();
    expect(await alone.result()).toMatchObject({ status: "fail", error: { message: "Set VENDOR_API_KEY." } });
  });

  test("a fallback has runs of its own, also after many steps of the one before", async () => {
    const job = await createJob({
      engines: [
        {
          name: "first",
          runStep: (_call, _step, times) => (times <= 5 ? { checkpoint: times, waitMs: 0 } : refuse("provider_error")),
        },
        { name: "second", run: (_call, times) => (times < 3 ? refuse("provider_rate_limited") : good) },
      ],
    });
    for (let run = 1; run <= 8; run++) await job.work();
    expect(await job.result()).toMatchObject({ ...success, provider: "second" });
    expect(job.asked).toHaveLength(9);
  });

  test("work that continues at a vendor is not started a second time when polling it fails", async () => {
    const begunAt = { checkpoint: "t-1", waitMs: 0 };
    const runStep = (_: unknown, step: unknown) => (step === null ? begunAt : refuse("provider_unavailable"));
    const job = await createJob({ engines: [{ name: "vendor", runStep }] });
    await job.work();
    await job.work();
    expect(await job.result()).toMatchObject({ status: "fail" });
    expect(job.steps).toEqual([null, "t-1"]);
  });

  test("work that continues at a vendor no longer needs its files", async () => {
    let opened = 0;
    const job = await createJob({
      engines: [
        {
          name: "vendor",
          runStep: (_call, step) =>
            step === null
              ? { checkpoint: "t-1", waitMs: 0 }
              : { result: { ...good, output: { text: "", bounding_boxes: [] } } },
        },
      ],
      task: "ocr/ocr",
      input: { file: crypto.randomUUID() },
      openUpload: async (times) => {
        opened = times;
        return picture;
      },
    });
    await job.work();
    await job.work();
    expect(await job.result()).toMatchObject({ status: "success" });
    expect(opened).toBe(1);
  });

  test("one that was taken out of the settings ends the job, which says so", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }] });
    await job.work([{ name: "other" }]);
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("No provider 'vendor'") },
    });
  });

  test("one that has forgotten how to go on does not begin anew", async () => {
    const job = await createJob({ engines: [{ name: "vendor", runStep: () => ({ checkpoint: "t-1", waitMs: 0 }) }] });
    await job.work();
    await job.work([{ name: "vendor" }]);
    expect(await job.result()).toMatchObject(interrupted);
    expect(job.asked).toHaveLength(1);
  });
});

describe("a job's own time", () => {
  test("a job that waited past its deadline is not started, and its failure is reported", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }], timeoutMs: -1, receiver: "https://hooks.example/" });
    await job.work();
    expect(await job.result()).toMatchObject(late);
    expect(job.asked).toEqual([]);
    expect(await job.countDeliveries()).toBe(1);
  });

  for (const how of ["deletes its files", "fails to delete its files", "does not answer"]) {
    test(`work at a provider that continues past the deadline is abandoned, and the provider ${how}`, async () => {
      const abandoned: unknown[] = [];
      const job = await createJob({
        engines: [
          {
            name: "vendor",
            runStep: () => ({ result: good }),
            async abandonStep({ jobId }, checkpoint) {
              abandoned.push([jobId, checkpoint]);
              if (how.startsWith("fails")) refuse("provider_error");
              if (how.startsWith("does not")) await new Promise(() => {});
            },
          },
        ],
        timeoutMs: -1,
      });
      await job.die(JSON.stringify({ offer: 0, called: true, step: "t-1", runsBefore: 1 }));
      await job.work();
      expect(abandoned).toEqual([[job.id, "t-1"]]);
      expect(await job.result()).toMatchObject(late);
      expect(job.asked).toEqual([]);
    });
  }

  test("a call that takes longer is ended, also where another could be asked", async () => {
    const job = await createJob({ engines: [{ name: "vendor", run: hang }, { name: "spare" }], timeoutMs: 3_000 });
    await job.work();
    expect(await job.result()).toMatchObject(lateCall);
    expect(job.asked).toEqual(["vendor"]);
  });

  test("an engine that ignores the abort is not waited for", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => new Promise<TaskResult>(() => {}) }],
      timeoutMs: 3_000,
    });
    await job.work();
    expect(await job.result()).toMatchObject(lateCall);
  });

  test("no pause is longer, whatever an engine asks for, so that it is noticed in time", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", runStep: () => ({ checkpoint: "t-1", waitMs: 400 * 24 * hour }) }],
      timeoutMs: 5_000,
    });
    await job.work();
    expect(job.between().dueInMs).toBeLessThanOrEqual(5_000);
    await Bun.sleep(Math.max(0, job.between().dueInMs + 5));
    await job.work();
    expect(await job.result()).toMatchObject(late);
    expect(job.asked).toHaveLength(1);
  });

  test("it ends before the job expires, so that it can be reported", async () => {
    const job = await createJob({
      engines: [{ name: "vendor" }],
      timeoutMs: 48 * hour,
      lifetimeMs: 60_000,
      receiver: "https://hooks.example/",
    });
    await job.work();
    expect(await job.result()).toMatchObject(late);
    expect(await job.countDeliveries()).toBe(1);
  });
});
