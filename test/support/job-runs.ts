// A job in a real store that the runner runs with a scripted engine.

import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { type CallLimits, createCallLimits } from "../../src/access/call-limits.ts";
import type { TaskName } from "../../src/contract/tasks.ts";
import { createEgress } from "../../src/egress/egress.ts";
import type { Engine, EngineStep, InputFile, TaskCall, TaskResult } from "../../src/engines/engine.ts";
import { GatewayError } from "../../src/errors.ts";
import { CandidateLoop } from "../../src/inference/candidate-loop.ts";
import { HealthBook } from "../../src/inference/health.ts";
import type { AttemptReport } from "../../src/inference/report.ts";
import { createUniversalAi } from "../../src/inference/universal-ai/universal-ai.ts";
import type { StoredRequest } from "../../src/jobs/job-request.ts";
import { cancelJob } from "../../src/jobs/jobs.ts";
import { createRunner } from "../../src/jobs/runner.ts";
import type { Json } from "../../src/lib/json-schema/schema.ts";
import type { Deployment } from "../../src/providers/deployment.ts";
import { databaseFile } from "../../src/storage/data-dir.ts";
import type { ListedJob } from "../../src/storage/job-records.ts";
import { type JobStore, openStorage } from "../../src/storage/storage.ts";
import type { WorkItem } from "../../src/storage/work-queue.ts";
import { createFolders, quiet } from "../contracts/engines.ts";
import { waitFor, within } from "./wait.ts";

export const detection = "translation/language_detection";

export const output = { items: [{ language: "en", display_name: "English", confidence: 1 }] };

export const good: TaskResult = { output, original: null, units: { request: 1 }, charge: { cost: 0.5, reason: null } };

export const picture: InputFile = {
  name: "page.png",
  mediaType: "image/png",
  size: 4,
  read: async () => new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
};

export const owner = "key:one";

export const hour = 3_600_000;

/** When the store goes away: what was asked for is done all the same, and only its answer is lost; or it is not done. */
export type Window = "before" | "after";

/** The store, away in the chosen windows. Everything else is the real one. */
export function createFlakyJobs(jobs: JobStore) {
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
    settle: wrap("settle", jobs.settle),
  };
  return {
    jobs: flaky,
    called,
    /** So many times, after so many good answers. */
    goAway: (name: keyof JobStore, window: Window, times = 1, skip = 0) =>
      void outages.push({ name, window, left: times, skip }),
  };
}

export function away(): GatewayError {
  return new GatewayError("dependency_unavailable", "The store does not answer.");
}

export interface Scripted {
  readonly name: string;
  readonly isIdempotent?: true;
  readonly announcesSend?: true;
  /** Its provider's circuit is open. */
  readonly isBroken?: true;
  readonly missing?: string | null;
  readonly run?: (call: TaskCall, times: number) => Promise<TaskResult> | TaskResult;
  readonly runStep?: (call: TaskCall, checkpoint: Json | null, times: number) => Promise<EngineStep> | EngineStep;
  readonly abandonStep?: (call: TaskCall, checkpoint: Json) => Promise<void>;
}

export interface Setup {
  /** The first is the requested model, and the others are its fallbacks. */
  readonly engines: readonly Scripted[];
  readonly task?: TaskName;
  readonly input?: Record<string, unknown>;
  readonly timeoutMs?: number;
  readonly lifetimeMs?: number;
  readonly openUpload?: (times: number, signal: AbortSignal) => Promise<InputFile>;
  readonly publish?: (times: number) => Promise<string>;
  readonly callLimits?: CallLimits;
  readonly wantsOriginal?: boolean;
  readonly receiver?: string;
}

/** What the store knows of a job between two runs. */
export interface Between {
  readonly runs: number;
  readonly called: boolean;
  readonly hasStep: boolean;
  /** From now. */
  readonly dueInMs: number;
}

const closing: (() => Promise<void>)[] = [];

/** For `afterEach`: ends the jobs of a test. */
export async function closeJobs(): Promise<void> {
  for (const close of closing.splice(0)) await close();
}

/** A job in a store of its own, whoever runs it, and how often its engines were asked. */
export async function createJob(setup: Setup) {
  const { engines, timeoutMs = hour, lifetimeMs = 24 * hour, input = { text: "Hello" } } = setup;
  const taskName = setup.task ?? detection;
  const folders = createFolders();
  const dataDir = folders.create();
  const egress = createEgress({ allow: [], log: quiet });
  const storage = await openStorage({ databaseUrl: null, dataDir, log: quiet, works: true, deadlineMs: 60_000 });
  const table = new Database(databaseFile(dataDir));
  closing.push(async () => {
    table.close();
    await storage.close();
    egress.close();
    folders.remove();
  });
  const flaky = createFlakyJobs(storage.jobs);
  const asked: string[] = [];
  /** The lines of the ledger that runs have reported. */
  const reports: AttemptReport[] = [];
  /** The checkpoints with which engines were asked for a step. */
  const steps: (Json | null)[] = [];
  let opened = 0;
  let published = 0;

  const health = new HealthBook({ breakerFailures: 1, breakerWindowMs: 60_000, breakerOpenMs: 20_000 });

  function toEngine({ name, run = () => good, runStep, isBroken, missing = null, ...traits }: Scripted): Engine {
    const broken = { code: "provider_error", message: "down", retryAfter: null } as const;
    if (isBroken) health.of(name, taskName).failed(performance.now(), "call", broken, true);
    const count = () => asked.push(name) && asked.filter((one) => one === name).length;
    return {
      provider: name,
      task: taskName,
      models: [],
      acceptsAnyModel: false,
      unavailableReason: missing,
      ...traits,
      ...(isBroken && { deployments: () => [{ name } as Deployment] }),
      run: async (call) => await run(call, count()),
      ...(runStep === undefined
        ? {}
        : {
            runStep: async (call, kept) => {
              steps.push(kept);
              return await runStep(call, kept, count());
            },
          }),
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
      callLimits: createCallLimits(),
      checkLedger: () => {},
    });
    return createRunner({
      jobs: flaky.jobs,
      universalAi,
      publish: async () => (await setup.publish?.(++published)) ?? "https://files.example/one",
      report: (attempt) => void reports.push(attempt),
      callLimits: setup.callLimits ?? createCallLimits(),
      findCaller: async () => null,
      checkLedger: () => {},
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
    reports,
    steps,
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
    cancel: () => cancelJob(storage, { id, owner }),
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

export function refuse(code: GatewayError["code"], retryAfter?: number): never {
  throw new GatewayError(code, `It says ${code}.`, retryAfter === undefined ? {} : { retryAfter });
}

export const success = { status: "success", output };

export const interrupted = { status: "fail", error: { message: expect.stringContaining("interrupted") } };

/** Until it is told to stop. */
export function hang({ signal }: TaskCall): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

export async function begun(asked: readonly string[], times = 1): Promise<void> {
  await waitFor("the engine to begin", () => asked.length >= times);
}
