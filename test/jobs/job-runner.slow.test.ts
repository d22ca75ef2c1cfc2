// Runs of jobs over a real store, with engines that do as a test says, and a store that is away in every window.

import { Database } from "bun:sqlite";
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import type { TaskName } from "../../src/contract/tasks.ts";
import { createEgress } from "../../src/egress/egress.ts";
import type { Engine, EngineStep, InputFile, TaskCall, TaskResult } from "../../src/engines/engine.ts";
import { GatewayError } from "../../src/errors.ts";
import { CandidateLoop } from "../../src/inference/candidate-loop.ts";
import { HealthBook } from "../../src/inference/health.ts";
import { createUniversalAi } from "../../src/inference/universal-ai/universal-ai.ts";
import type { StoredRequest } from "../../src/jobs/job-request.ts";
import { createRunner } from "../../src/jobs/runner.ts";
import type { Json } from "../../src/lib/json-schema/schema.ts";
import type { Deployment } from "../../src/providers/deployment.ts";
import { databaseFile } from "../../src/storage/data-dir.ts";
import type { ListedJob } from "../../src/storage/job-records.ts";
import { type JobStore, openStorage } from "../../src/storage/storage.ts";
import type { WorkItem } from "../../src/storage/work-queue.ts";
import { createFolders, quiet } from "../contracts/engines.ts";
import { waitFor, within } from "../support/wait.ts";

const detection = "translation/language_detection";
const output = { items: [{ language: "en", display_name: "English", confidence: 1 }] };
const good: TaskResult = { output, original: null, units: { request: 1 }, charge: { cost: 0.5, reason: null } };
const speech: TaskResult = {
  ...good,
  output: { audio_resource_url: "" },
  binaries: [
    { base64Path: null, urlPath: ["audio_resource_url"], bytes: new Uint8Array([1, 2]), mediaType: "audio/wav" },
  ],
};
const picture: InputFile = {
  name: "page.png",
  mediaType: "image/png",
  size: 4,
  read: async () => new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
};
const owner = "key:one";
const hour = 3_600_000;

/** When the store goes away: what was asked for is done all the same, and only its answer is lost; or it is not done. */
type Window = "before" | "after";

/** The store, away in the chosen windows. Everything else is the real one. */
function createFlakyJobs(jobs: JobStore) {
  const outages: { readonly name: keyof JobStore; readonly window: Window; left: number; skip: number }[] = [];
  const called: string[] = [];

  function wrap<Args extends readonly unknown[], Result>(
    name: keyof JobStore,
    run: (...args: Args) => Promise<Result>,
  ) {
    return async (...args: Args): Promise<Result> => {
      called.push(name);
      const outage = outages.find((one) => one.name === name && one.left > 0);
      if (outage === undefined || outage.skip-- > 0) return await run(...args);
      outage.left--;
      if (outage.window === "after") await run(...args);
      throw away();
    };
  }

  const flaky: JobStore = {
    ...jobs,
    begin: wrap("begin", jobs.begin),
    saveCheckpoint: wrap("saveCheckpoint", jobs.saveCheckpoint),
    saveStep: wrap("saveStep", jobs.saveStep),
    release: wrap("release", jobs.release),
    finish: wrap("finish", jobs.finish),
  };
  return {
    jobs: flaky,
    called,
    /** So many times, after so many good answers. */
    goAway: (name: keyof JobStore, window: Window, times = 1, skip = 0) =>
      void outages.push({ name, window, left: times, skip }),
  };
}

function away(): GatewayError {
  return new GatewayError("dependency_unavailable", "The store does not answer.");
}

interface Scripted {
  readonly name: string;
  readonly isIdempotent?: true;
  /** Its provider's circuit is open. */
  readonly isBroken?: true;
  readonly missing?: string | null;
  readonly run?: (call: TaskCall, times: number) => Promise<TaskResult> | TaskResult;
  readonly runStep?: (call: TaskCall, checkpoint: Json | null, times: number) => Promise<EngineStep> | EngineStep;
}

interface Setup {
  /** The first is asked for, the others are its fallbacks. */
  readonly engines: readonly Scripted[];
  readonly task?: TaskName;
  readonly input?: Record<string, unknown>;
  readonly timeoutMs?: number;
  readonly lifetimeMs?: number;
  readonly openUpload?: (times: number, signal: AbortSignal) => Promise<InputFile>;
  readonly publish?: (times: number) => Promise<string>;
  readonly wantsOriginal?: boolean;
  readonly receiver?: string;
}

/** What the store knows of a job between two runs. */
interface Between {
  readonly runs: number;
  readonly called: boolean;
  readonly hasStep: boolean;
  /** From now. */
  readonly dueInMs: number;
}

const folders = createFolders();
const egress = createEgress({ allow: [], log: quiet });
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

afterAll(() => {
  egress.close();
  folders.remove();
});

/** A job in a store of its own, whoever runs it, and how often its engines were asked. */
async function createJob(setup: Setup) {
  const { engines, timeoutMs = hour, lifetimeMs = 24 * hour, input = { text: "Hello" } } = setup;
  const taskName = setup.task ?? detection;
  const dataDir = folders.create();
  const storage = await openStorage({ databaseUrl: null, dataDir, log: quiet, works: true, deadlineMs: 60_000 });
  const table = new Database(databaseFile(dataDir));
  closing.push(async () => {
    table.close();
    await storage.close();
  });
  const flaky = createFlakyJobs(storage.jobs);
  const asked: string[] = [];
  let opened = 0;
  let published = 0;

  const health = new HealthBook({ breakerFailures: 1, breakerWindowMs: 60_000, breakerOpenMs: 20_000 });

  function toEngine({ name, run = () => good, runStep, isIdempotent, isBroken, missing = null }: Scripted): Engine {
    const broken = { code: "provider_error", message: "down", retryAfter: null } as const;
    if (isBroken) health.of(name, taskName).failed(performance.now(), "call", broken, true);
    const count = () => asked.push(name) && asked.filter((one) => one === name).length;
    return {
      provider: name,
      task: taskName,
      models: [],
      acceptsAnyModel: false,
      unavailableReason: missing,
      ...(isIdempotent === undefined ? {} : { isIdempotent }),
      ...(isBroken && { deployments: () => [{ name } as Deployment] }),
      run: async (call) => await run(call, count()),
      ...(runStep === undefined ? {} : { runStep: async (call, kept) => await runStep(call, kept, count()) }),
    };
  }

  function createRun(offered: readonly Scripted[]) {
    const universalAi = createUniversalAi({
      candidateLoop: new CandidateLoop({ retries: 2 }),
      health,
      engines: offered.map(toEngine),
      files: {
        egress,
        openUpload: async () => (await setup.openUpload?.(++opened, controller.signal)) ?? null,
        maxFileBytes: 1_000,
      },
      publish: async () => "https://unused.example/",
      totalTimeoutMs: hour,
      shutdownSignal: new AbortController().signal,
      report: () => {},
    });
    return createRunner({
      jobs: flaky.jobs,
      universalAi,
      publish: async () => (await setup.publish?.(++published)) ?? "https://files.example/one",
      report: () => {},
      jobTimeoutMs: timeoutMs,
      stopMs: 100,
      log: quiet,
    });
  }

  const [feature = "", subfeature = ""] = taskName.split("/");
  const [model = "", ...fallbacks] = engines.map(({ name }) => `${taskName}/${name}`);
  const id = crypto.randomUUID();
  const createdAt = Date.now();
  await storage.jobs.create(
    {
      id,
      owner,
      keyId: "one",
      feature,
      subfeature,
      provider: engines[0]?.name ?? "",
      model: null,
      createdAt,
      expiresAt: createdAt + lifetimeMs,
      webhookReceiver: setup.receiver ?? null,
      request: JSON.stringify({
        request: { model, fallbacks, input, show_original_response: setup.wantsOriginal ?? false },
        caller: { keyId: "one", kind: "inference", owner: null },
        requestId: "req_1",
        userParameters: null,
        baseUrl: "https://gateway.example",
      } satisfies StoredRequest),
    },
    null,
  );
  let controller = new AbortController();

  /** Its work, as if its time had come. */
  async function take(): Promise<WorkItem> {
    table.run("update work set due_at = 0 where kind = 'run'");
    const [item] = await storage.work.take({ kind: "run", limit: 1, ignoreGroups: [] });
    if (item === undefined) throw new Error("there is no work");
    return item;
  }

  return {
    id,
    storage,
    asked,
    flaky,
    take,
    find: async () => (await storage.jobs.find(id, owner)) as ListedJob,
    async result() {
      const { status, provider, result } = (await storage.jobs.find(id, owner)) as ListedJob;
      return { status, provider, ...JSON.parse(result ?? "{}") };
    },
    /** One run, by a worker that has these engines. */
    async work(offered: readonly Scripted[] = engines): Promise<void> {
      controller = new AbortController();
      await within(60_000, "the run", createRun(offered)(await take(), controller.signal));
    },
    /** The gateway goes down. */
    goDown: () => controller.abort(),
    /** A worker begins it and dies. */
    async die(kept?: string): Promise<void> {
      const item = await take();
      await storage.jobs.begin(item, { countRun: true });
      if (kept !== undefined) await storage.jobs.saveCheckpoint(item, id, kept);
    },
    between(): Between {
      const query = table.query(`
        select jobs.runs, jobs.kept, work.due_at from jobs join work on work.id = jobs.work_id where jobs.id = ?`);
      const row = query.get(id) as { runs: number; kept: string | null; due_at: number };
      const { called = false, step = null, runsBefore = 0 } = JSON.parse(row.kept ?? "{}");
      return { runs: row.runs - runsBefore, called, hasStep: step !== null, dueInMs: row.due_at - Date.now() };
    },
    countDeliveries: async () => (await storage.deliveries.listForJob(id, owner))?.length,
  };
}

function refuse(code: GatewayError["code"], retryAfter?: number): never {
  throw new GatewayError(code, `It says ${code}.`, retryAfter === undefined ? {} : { retryAfter });
}

const success = { status: "success", output };
const interrupted = { status: "fail", error: { message: expect.stringContaining("interrupted") } };
const late = { status: "fail", error: { message: "The job did not finish in time." } };
const lateCall = {
  status: "fail",
  error: { message: "The job did not finish in time. The provider 'vendor' may have executed the task." },
};

describe("while the store is away", () => {
  for (const window of ["before", "after"] as const) {
    const how = window === "before" ? "nothing is written" : "what is written is not confirmed";

    test(`before a provider is called (${how}), it is called once, and the job succeeds`, async () => {
      const job = await createJob({ engines: [{ name: "vendor" }] });
      job.flaky.goAway("saveCheckpoint", window, 2);
      await job.work();
      expect(await job.result()).toMatchObject(success);
      expect(job.asked).toEqual(["vendor"]);
    });

    test(`between a provider and its fallback (${how}), the fallback is asked`, async () => {
      const job = await createJob({
        engines: [{ name: "first", run: () => refuse("provider_error") }, { name: "second" }],
      });
      job.flaky.goAway("saveCheckpoint", window, 2, 1);
      await job.work();
      expect(await job.result()).toMatchObject({ ...success, provider: "second" });
      expect(job.asked).toEqual(["first", "second"]);
      // One for the first, three until it is known that the second's turn has come, one for the second.
      expect(job.flaky.called.filter((name) => name === "saveCheckpoint")).toHaveLength(5);
    });

    test(`when there is an answer (${how}), it is stored later, and reported once`, async () => {
      const receiver = "https://hooks.example/hook";
      const job = await createJob({ engines: [{ name: "vendor" }], receiver });
      job.flaky.goAway("finish", window, 2);
      await job.work();
      expect(await job.result()).toMatchObject(success);
      expect(job.asked).toEqual(["vendor"]);
      expect(await job.countDeliveries()).toBe(1);
    });

    test(`when there is a step to be kept (${how}), the work is begun once`, async () => {
      const kept: (Json | null)[] = [];
      const job = await createJob({
        engines: [
          {
            name: "vendor",
            runStep: (_call, step) => {
              kept.push(step);
              return step === null ? { checkpoint: "t-1", waitMs: 0 } : { result: good };
            },
          },
        ],
      });
      job.flaky.goAway("saveStep", window, 2);
      await job.work();
      await job.work();
      expect(await job.result()).toMatchObject(success);
      expect(kept).toEqual([null, "t-1"]);
    });

    test(`when a run is given up (${how}), the next one does it`, async () => {
      const job = await createJob({
        engines: [{ name: "local", isIdempotent: true, run: (call, times) => (times === 1 ? hang(call) : good) }],
      });
      job.flaky.goAway("release", window);
      const run = job.work();
      await begun(job.asked);
      job.goDown();
      await run;
      expect(job.between()).toMatchObject({ runs: 0, called: false });
      await job.work();
      expect(await job.result()).toMatchObject(success);
    });
  }

  test("when a job is begun, the work comes up again", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }] });
    job.flaky.goAway("begin", "after");
    expect(String(await job.work().catch((error) => error))).toContain("does not answer");
    await job.work();
    expect(await job.result()).toMatchObject(success);
    expect(job.asked).toEqual(["vendor"]);
  });

  test("when its files are opened, the job waits, however often, and nobody was called", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, output: { text: "Hello", bounding_boxes: [] } }) }],
      task: "ocr/ocr",
      input: { file: crypto.randomUUID() },
      openUpload: async (times) => (times <= 5 ? refuse("dependency_unavailable") : picture),
    });
    for (let run = 1; run <= 5; run++) {
      await job.work();
      expect(job.between()).toMatchObject({ runs: 0, called: false });
    }
    expect(job.between().dueInMs).toBeLessThan(10_000);
    await job.work();
    expect(await job.result()).toMatchObject({ status: "success" });
    expect(job.asked).toEqual(["vendor"]);
  });

  test("when an engine reads its files, the job waits, and is not taken for one that was interrupted", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: (_call, times) => (times <= 4 ? refuse("dependency_unavailable") : good) }],
    });
    for (let run = 1; run <= 4; run++) {
      await job.work();
      expect(job.between()).toMatchObject({ runs: 0, called: false });
    }
    await job.work();
    expect(await job.result()).toMatchObject(success);
  });

  test("when a binary result is kept, it is kept later; the provider is not asked again", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => speech }],
      task: "audio/tts",
      publish: async (times) => (times <= 2 ? refuse("dependency_unavailable") : "https://files.example/speech"),
    });
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "success",
      output: { audio_resource_url: "https://files.example/speech" },
    });
    expect(job.asked).toEqual(["vendor"]);
  });

  test("a binary result that nobody takes is said to be the reason, and the provider is not asked again", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => speech }],
      task: "audio/tts",
      publish: () => Promise.reject(new TypeError("no such bucket")),
    });
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("could not be stored") },
    });
    expect(job.asked).toEqual(["vendor"]);
  });
});

describe("when a worker goes down or dies", () => {
  test("a job whose files are still being fetched is put back: nobody was called", async () => {
    const reading = Promise.withResolvers<void>();
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, output: { text: "Hello", bounding_boxes: [] } }) }],
      task: "ocr/ocr",
      input: { file: crypto.randomUUID() },
      openUpload: async (times, signal) => {
        if (times > 1) return picture;
        reading.resolve();
        return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const run = job.work();
    await reading.promise;
    job.goDown();
    await run;
    expect(job.between()).toMatchObject({ runs: 0, called: false });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "success" });
  });

  test("a call that cannot be repeated ends the job, which says so", async () => {
    const job = await createJob({ engines: [{ name: "vendor", run: hang }] });
    const run = job.work();
    await begun(job.asked);
    job.goDown();
    await run;
    expect(await job.result()).toMatchObject(interrupted);
  });

  test("a step of work that goes on elsewhere is asked for again by the next worker", async () => {
    const job = await createJob({
      engines: [
        {
          name: "vendor",
          runStep: (call, step, times) => {
            if (step === null) return { checkpoint: "t-1", waitMs: 0 };
            return times === 2 ? hang(call) : { result: good };
          },
        },
      ],
    });
    await job.work();
    const run = job.work();
    await begun(job.asked, 2);
    job.goDown();
    await run;
    expect(job.between()).toMatchObject({ hasStep: true });
    await job.work();
    expect(await job.result()).toMatchObject(success);
    expect(job.asked).toHaveLength(3);
  });

  test("a call that may have been made is not made again, and the fallback is not either", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }, { name: "spare" }] });
    await job.die(JSON.stringify({ offer: 0, called: true, step: null, runsBefore: 0 }));
    await job.work();
    expect(await job.result()).toMatchObject(interrupted);
    expect(job.asked).toEqual([]);
  });

  test("a job of an engine that may repeat it is begun three times, and not a fourth time", async () => {
    const job = await createJob({ engines: [{ name: "local", isIdempotent: true }] });
    for (let death = 1; death <= 3; death++) await job.die();
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("3 times") },
    });
    expect(job.asked).toEqual([]);
  });

  test("after two deaths it is still done", async () => {
    const job = await createJob({ engines: [{ name: "local", isIdempotent: true }] });
    for (let death = 1; death <= 2; death++) await job.die();
    await job.work();
    expect(await job.result()).toMatchObject(success);
  });

  test("an answer of the vendor that ends the worker each time ends the job, not all workers for ever", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", runStep: (_call, step) => ({ checkpoint: Number(step ?? 0) + 1, waitMs: 0 }) }],
    });
    // Many steps are no deaths.
    for (let step = 1; step <= 6; step++) await job.work();
    for (let death = 1; death <= 3; death++) await job.die();
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("3 times") },
    });
    expect(job.asked).toHaveLength(6);
  });

  test("whoever lost the work changes nothing: the other's result stands", async () => {
    const answer = Promise.withResolvers<TaskResult>();
    const job = await createJob({
      engines: [{ name: "local", isIdempotent: true, run: (_call, times) => (times === 1 ? answer.promise : good) }],
      receiver: "https://hooks.example/hook",
    });
    const first = job.work();
    await begun(job.asked);
    await job.work();
    const before = await job.find();
    answer.resolve({ ...good, output: { items: [] } });
    await first;
    expect(await job.find()).toEqual(before);
    expect(await job.countDeliveries()).toBe(1);
  });

  test("whoever lost the work before the call does not call", async () => {
    const job = await createJob({
      engines: [{ name: "vendor" }],
      task: "ocr/ocr",
      input: { file: crypto.randomUUID() },
      openUpload: async () => {
        await job.take();
        return picture;
      },
    });
    await job.work();
    expect(job.asked).toEqual([]);
    expect(await job.find()).toMatchObject({ status: "processing" });
  });

  test("a job that has expired is not begun", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }], lifetimeMs: -1 });
    await job.work();
    expect(job.asked).toEqual([]);
    expect(String(await job.take().catch((error) => error))).toContain("no work");
  });
});

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
      expect(dueInMs).toBeGreaterThan(23_000);
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
      expect(dueInMs).toBeGreaterThan(0);
    }
    expect(job.asked).toEqual([]);
  });

  test("work that goes on at a provider is asked for, although the circuit is open", async () => {
    const kept = { checkpoint: { id: 1 }, waitMs: 0 };
    const steps = (_call: TaskCall, before: Json | null) => (before === null ? kept : { result: good });
    const job = await createJob({ engines: [{ name: "vendor", runStep: steps }] });
    await job.work();
    await job.work([{ name: "vendor", runStep: steps, isBroken: true }]);
    expect(await job.result()).toMatchObject(success);
  });

  test("one that has no time is asked three times, after about 2 and 10 seconds", async () => {
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

  test("one that cannot repeat it is not asked again after a failure that may have done something", async () => {
    const job = await createJob({ engines: [{ name: "vendor", run: () => refuse("provider_error") }] });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "fail", error: { message: "It says provider_error." } });
  });

  test("one that cannot repeat it is not asked again once its request was sent, whatever the code", async () => {
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

  test("one that can is asked again", async () => {
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

  test("work that goes on at a vendor is not begun a second time when a question for it fails", async () => {
    const steps: (Json | null)[] = [];
    const job = await createJob({
      engines: [
        {
          name: "vendor",
          runStep: (_call, step) => {
            steps.push(step);
            return step === null ? { checkpoint: "t-1", waitMs: 0 } : refuse("provider_unavailable");
          },
        },
      ],
    });
    await job.work();
    await job.work();
    expect(await job.result()).toMatchObject({ status: "fail" });
    expect(steps).toEqual([null, "t-1"]);
  });

  test("work that goes on at a vendor needs its files no more", async () => {
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
  test("who waited for too long is not begun any more, and is reported", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }], timeoutMs: -1, receiver: "https://hooks.example/" });
    await job.work();
    expect(await job.result()).toMatchObject(late);
    expect(job.asked).toEqual([]);
    expect(await job.countDeliveries()).toBe(1);
  });

  test("a call that takes longer is ended, also where another could be asked", async () => {
    const job = await createJob({ engines: [{ name: "vendor", run: hang }, { name: "spare" }], timeoutMs: 300 });
    await job.work();
    expect(await job.result()).toMatchObject(lateCall);
    expect(job.asked).toEqual(["vendor"]);
  });

  test("an engine that does not stop when it is told to is not waited for", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => new Promise<TaskResult>(() => {}) }],
      timeoutMs: 300,
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

describe("a result", () => {
  test("keeps every character, also those that are none", async () => {
    const language = "\u0000 \ud800 \udc00\ud800 \u2028 \ufeff 🌍";
    const odd = { items: [{ language, display_name: language, confidence: 5e-324 }] };
    const job = await createJob({ engines: [{ name: "vendor", run: () => ({ ...good, output: odd }) }] });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "success", output: odd });
  });

  test("is kept without the vendor's own answer when that is too large", async () => {
    const original = { text: "x".repeat(97 * 1_048_576) };
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, original }) }],
      wantsOriginal: true,
    });
    await job.work();
    const result = await job.result();
    expect(result).toMatchObject(success);
    expect(result).not.toHaveProperty("original_response");
  });

  test("that is too large to be kept is said to be the reason", async () => {
    const large = { items: [{ language: "en", display_name: "x".repeat(97 * 1_048_576), confidence: 1 }] };
    const job = await createJob({ engines: [{ name: "vendor", run: () => ({ ...good, output: large }) }] });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "fail", error: { message: expect.stringContaining("bytes") } });
    expect(job.asked).toHaveLength(1);
  });

  test("that is not the task's output is a failure", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, output: { page: "It works!" } }) }],
    });
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("not the output") },
    });
  });
});

/** Until it is told to stop. */
function hang({ signal }: TaskCall): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

async function begun(asked: readonly string[], times = 1): Promise<void> {
  await waitFor("the engine to begin", () => asked.length >= times);
}
