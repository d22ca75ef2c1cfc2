// Runs jobs. Everything that must survive the end of this process is written down before it is relied upon:
// that a provider may have been called, what an engine wants to find again, and the result.

import { ownerOf } from "../access/caller.ts";
import type { Engine, EngineFile } from "../engines/engine.ts";
import { type ErrorCode, GatewayError, ValidationError } from "../errors.ts";
import type { AttemptReport } from "../inference/report.ts";
import { type OfferRun, runOfferStep, type TaskOffer, type TaskOutcome } from "../inference/universal-ai/run-offer.ts";
import { engineFallbackCodes, type Plan, type UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import type { Json } from "../lib/json-schema/schema.ts";
import { picoPerUsd } from "../lib/money.ts";
import type { Log } from "../log.ts";
import type { JobRecord, JobResult, WorkItem } from "../storage/job-records.ts";
import type { JobStore } from "../storage/storage.ts";
import { callerOf, type KeptRequest, unpackRequest } from "./job-request.ts";
import { groupOf } from "./jobs.ts";
import { untilStored } from "./until-stored.ts";

export interface RunnerDependencies {
  readonly jobs: JobStore;
  readonly universalAi: UniversalAi;
  readonly publish: (binary: Parameters<OfferRun["publish"]>[0], owner: string, baseUrl: string) => Promise<string>;
  readonly report: (attempt: AttemptReport) => void;
  /** From its acceptance to its end. */
  readonly jobTimeoutMs: number;
  readonly log: Log;
}

/** How far a job has come, as it is kept between runs. */
interface Progress {
  /** Which of the offers is being tried. */
  readonly offer: number;
  /** A provider may have been called for it. */
  readonly called: boolean;
  /** What its engine wants to find again. */
  readonly step: Json | null;
  /** Runs that were counted before this offer's first. */
  readonly runsBefore: number;
}

interface Running {
  readonly item: WorkItem;
  readonly job: JobRecord;
  readonly kept: KeptRequest;
  readonly plan: Plan;
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

const mostRuns = 3;
const pausesMs = [2_000, 10_000];
const leastProgressMs = 1_000;
const begun: Progress = { offer: 0, called: false, step: null, runsBefore: 0 };

/** After these nothing was done elsewhere: the same engine may be asked once more. */
const harmlessCodes: ReadonlySet<ErrorCode> = new Set([
  "provider_rate_limited",
  "provider_unreachable",
  "provider_unavailable",
  "overloaded",
]);

export function createRunner(dependencies: RunnerDependencies): (item: WorkItem, signal: AbortSignal) => Promise<void> {
  const { jobs, universalAi, publish, report, jobTimeoutMs, log } = dependencies;

  async function run(item: WorkItem, signal: AbortSignal): Promise<void> {
    const job = await jobs.begin(item, { countRun: true });
    if (job === null) return;
    const deadline = Math.min(job.createdAt + jobTimeoutMs, job.expiresAt);
    try {
      const kept = unpackRequest(job.request);
      // Again, since it may be another version, or other settings, by now.
      const plan = universalAi.check(kept.request, callerOf(kept), "job");
      await tryOffers({ item, job, kept, plan, deadline, signal }, readProgress(job.kept));
    } catch (error) {
      if (isOutage(error)) throw error;
      await fail(item, job, error);
    }
  }

  async function tryOffers(running: Running, first: Progress): Promise<void> {
    const { item, job, plan, signal } = running;
    for (let progress = first; ; ) {
      const offer = plan.offers[progress.offer];
      if (offer === undefined) throw new GatewayError("provider_not_found", "Nobody serves this task any more.");
      refuseLost(progress, offer.engine);
      if (Date.now() >= running.deadline) throw timedOut();
      if (progress.step === null && job.runs - progress.runsBefore > mostRuns)
        throw new GatewayError("internal_error", `The job was begun ${mostRuns} times and interrupted each time.`);
      try {
        await runOffer(running, offer, progress);
        return;
      } catch (error) {
        if (isOutage(error)) throw error;
        if (signal.aborted) return await giveUp(running, offer, progress);
        if (Date.now() >= running.deadline) throw timedOut();
        const code = error instanceof GatewayError ? error.code : null;
        if (code !== null && engineFallbackCodes.has(code) && plan.offers[progress.offer + 1] !== undefined) {
          progress = { ...begun, offer: progress.offer + 1, runsBefore: job.runs - 1 };
          // Else an interruption would be laid at the door of the one before.
          if (!(await jobs.noteCalled(item, job.id, JSON.stringify(progress)))) return;
          continue;
        }
        const pauseMs = pausesMs[job.runs - progress.runsBefore - 1];
        if (code === null || pauseMs === undefined || !mayRunAgain(offer.engine, code)) throw error;
        // What was noted as called was not: it may be called again.
        const next: Progress = { ...progress, called: false, step: null };
        const dueAt = Date.now() + pauseMs * (0.8 + 0.4 * Math.random());
        await untilStored(log, () =>
          jobs.keepStep(item, job.id, { kept: JSON.stringify(next), dueAt: Math.round(dueAt) }),
        );
        return;
      }
    }
  }

  /** Everything about one offer: its files, the note that it is called, the call, and what came of it. */
  async function runOffer(running: Running, offer: TaskOffer, progress: Progress): Promise<void> {
    const { item, job, kept, plan, deadline, signal } = running;
    const { engine } = offer;
    const owner = ownerOf(callerOf(kept));
    const limits = startLimit(deadline, signal);
    try {
      const files: Record<string, EngineFile> =
        progress.step === null
          ? await universalAi.openFiles(plan, { owner, signal: limits.signal, timeoutMs: deadline - Date.now() })
          : {};
      if (engine.missing === null && !mayRepeat(engine) && progress.step === null) {
        const note: Progress = { ...progress, called: true };
        if (!(await jobs.noteCalled(item, job.id, JSON.stringify(note)))) return;
      }
      const outcome = await runOfferStep(
        {
          task: plan.task,
          offer,
          call: {
            input: plan.input,
            files,
            providerParams: kept.request.provider_params ?? {},
            signal: limits.signal,
            deadline: performance.now() + (deadline - Date.now()),
            requestId: kept.requestId,
            jobId: job.id,
            tellProgress: createProgressTeller(job),
          },
          keyId: job.keyId,
          publish: (binary) => publish(binary, owner, kept.baseUrl),
          report,
          endedBy: () => null,
        },
        progress.step,
      );
      if ("output" in outcome) return await succeed(item, job, kept, outcome);
      const next: Progress = { ...progress, called: true, step: outcome.kept };
      const dueAt = Math.round(Date.now() + outcome.waitMs);
      await untilStored(log, () => jobs.keepStep(item, job.id, { kept: JSON.stringify(next), dueAt }));
      if (outcome.progress !== undefined) await jobs.tellProgress(job.id, job.runs, outcome.progress).catch(() => {});
    } finally {
      limits.clear();
    }
  }

  function createProgressTeller(job: JobRecord): (share: number) => void {
    let toldAt = 0;
    return (share) => {
      const now = performance.now();
      if (now - toldAt < leastProgressMs) return;
      toldAt = now;
      // Nobody waits for it, and the next one says more.
      jobs.tellProgress(job.id, job.runs, Math.min(1, Math.max(0, share))).catch(() => {});
    };
  }

  /** The gateway goes down, or somebody else has the work by now. */
  async function giveUp({ item, job }: Running, { engine }: TaskOffer, progress: Progress): Promise<void> {
    if (progress.step === null && !mayRepeat(engine)) return await fail(item, job, interrupted(engine));
    await untilStored(log, () => jobs.putBack(item, job.id, { dueAt: Date.now(), uncount: true }));
  }

  async function succeed(item: WorkItem, job: JobRecord, kept: KeptRequest, outcome: TaskOutcome): Promise<void> {
    const { output, original } = outcome;
    await finish(item, job, {
      status: "success",
      provider: outcome.provider,
      model: outcome.model,
      finishedAt: Date.now(),
      cost: outcome.cost === null ? null : BigInt(Math.round(outcome.cost * picoPerUsd)),
      costReason: outcome.costReason,
      result: JSON.stringify(
        kept.request.show_original_response === true ? { output, original_response: original } : { output },
      ),
    });
  }

  async function fail(item: WorkItem, job: JobRecord, error: unknown): Promise<void> {
    if (!(error instanceof GatewayError || error instanceof ValidationError))
      log.error("a job failed by a mistake of ours", { job: job.id, error });
    await finish(item, job, {
      status: "fail",
      provider: job.provider,
      model: job.model,
      finishedAt: Date.now(),
      cost: null,
      costReason: "not_answered",
      result: JSON.stringify({ error: { message: toMessage(error) } }),
    });
  }

  async function finish(item: WorkItem, job: JobRecord, result: JobResult): Promise<void> {
    const { webhookReceiver } = job;
    const delivery = webhookReceiver === null ? null : { id: crypto.randomUUID(), group: groupOf(webhookReceiver) };
    await untilStored(log, () => jobs.finish(item, job.id, result, delivery));
  }

  return run;
}

function readProgress(text: string | null): Progress {
  return text === null ? begun : (JSON.parse(text) as Progress);
}

function mayRepeat({ isRepeatable }: Engine): boolean {
  return isRepeatable === true;
}

/** One that may be repeated after any failure that another engine would be asked after; else only when nothing was done. */
function mayRunAgain(engine: Engine, code: ErrorCode): boolean {
  return (
    harmlessCodes.has(code) ||
    (mayRepeat(engine) && code !== "provider_not_configured" && engineFallbackCodes.has(code))
  );
}

/** A call was begun and nobody knows what became of it: doing it again could do it, and bill it, twice. */
function refuseLost({ called, step }: Progress, engine: Engine): void {
  if (called && step === null && !mayRepeat(engine)) throw interrupted(engine);
}

function interrupted({ provider }: Engine): GatewayError {
  return new GatewayError(
    "provider_disconnected",
    `The gateway was interrupted while '${provider}' was at work. Whether the task was done, and billed, is not known; it was not begun again.`,
  );
}

function timedOut(): GatewayError {
  return new GatewayError("provider_timeout", "The job did not finish in time.");
}

/** The store is away: the work comes up again when it is back. */
function isOutage(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "dependency_unavailable";
}

function toMessage(error: unknown): string {
  if (error instanceof ValidationError)
    return error.problems.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("; ");
  return error instanceof GatewayError ? error.message : "An internal error occurred.";
}

/** Ends a run that goes beyond the job's own time. */
function startLimit(deadline: number, outer: AbortSignal): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, Math.min(Math.max(0, deadline - Date.now()), 2 ** 31 - 1));
  outer.addEventListener("abort", abort, { once: true });
  if (outer.aborted) abort();
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      outer.removeEventListener("abort", abort);
    },
  };
}
