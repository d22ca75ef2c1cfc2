// Runs jobs. Everything that must survive a crash of this process is stored first: that a provider may have been called, the step that an
// engine wants to continue with, and the result.

import { type Caller, ownerOf } from "../access/caller.ts";
import type { Engine } from "../engines/engine.ts";
import { type ErrorCode, GatewayError, ValidationError } from "../errors.ts";
import { fallbackCodes } from "../inference/candidate-loop.ts";
import { toOutcome } from "../inference/report.ts";
import type { Trace } from "../inference/trace.ts";
import type { RunAccounting } from "../inference/universal-ai/account-run.ts";
import { type OfferRun, runOfferStep, type TaskOffer, type TaskOutcome } from "../inference/universal-ai/run-offer.ts";
import type { TaskPlan } from "../inference/universal-ai/task-planner.ts";
import type { UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import { startDeadline, untilAborted } from "../lib/deadline.ts";
import { picoPerUsd } from "../lib/money.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { JobRecord, JobResult } from "../storage/job-records.ts";
import { isUnavailable } from "../storage/outage.ts";
import type { JobStore } from "../storage/storage.ts";
import type { WorkItem } from "../storage/work-queue.ts";
import type { Span, Tracing } from "../tracing/span.ts";
import { createAbandonedWork } from "./abandoned-work.ts";
import {
  createTrace,
  noProgress,
  type OwnedJob,
  type Progress,
  readProgress,
  targetOf,
  toLostReport,
  uncounted,
} from "./job-progress.ts";
import { callerOf, type StoredRequest, withTrace } from "./job-request.ts";
import { startJobSpan } from "./job-spans.ts";
import { cancelledResult } from "./jobs.ts";
import { retryWhileStoreDown } from "./retry-while-store-down.ts";

export interface RunnerDependencies extends RunAccounting {
  readonly jobs: JobStore;
  readonly universalAi: UniversalAi;
  readonly publish: (binary: Parameters<OfferRun["publish"]>[0], owner: string, baseUrl: string) => Promise<string>;
  /** The key of a job with its present limits; null for a key that is not known. */
  readonly findCaller: (keyId: string) => Promise<Caller | null>;
  /** From the submission of a job to its end. */
  readonly jobTimeoutMs: number;
  /** The time that an engine gets to stop after an abort. */
  readonly stopMs?: number;
  readonly metrics?: Pick<Metrics, "job">;
  /** Absent or null: traces are not exported. */
  readonly tracing?: Tracing | null;
  readonly log: Log;
}

interface Running extends OwnedJob {
  readonly item: WorkItem;
  readonly plan: TaskPlan;
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** Null: traces are not exported. */
  readonly span: Span | null;
}

type EndedJob = Pick<Running, "item" | "job" | "span">;

/** A call to an offer, for the decision after it fails. */
interface Attempt {
  readonly offer: TaskOffer;
  readonly progress: Progress;
  /** Whether the engine may have started. */
  isCalled: boolean;
}

type StepOutcome = Awaited<ReturnType<typeof runOfferStep>>;

const maxRuns = 3;
const pausesMs = [2_000, 10_000];
// The pause after an outage of the store.
const outagePauseMs = 5_000;
const defaultWaitSeconds = 5;
const progressIntervalMs = 1_000;
// Reserved for the webhook of a job that finishes just before it expires.
const reportMs = 300_000;
const defaultStopMs = 10_000;
// Larger than any answer of a vendor with its bytes in base64. The store could not write a larger one within its deadline.
const maxResultBytes = 96 * 1_048_576;

/** After these errors the provider has executed nothing, unless the error says otherwise, so the same engine may be called again. */
const harmlessCodes: ReadonlySet<ErrorCode> = new Set([
  "provider_rate_limited",
  "provider_unreachable",
  "provider_unavailable",
]);

/** The vendor's work has been paid for when its result is fetched, so a limit that is reached meanwhile does not end the job. */
const limitCodes: ReadonlySet<ErrorCode> = new Set(["rate_limit_exceeded", "budget_exceeded", "insufficient_credits"]);

export function createRunner(dependencies: RunnerDependencies): (item: WorkItem, signal: AbortSignal) => Promise<void> {
  const { jobs, universalAi, publish, report, callLimits, checkLedger, findCaller, jobTimeoutMs, log } = dependencies;
  const { stopMs = defaultStopMs, metrics, tracing = null } = dependencies;
  const { reportAbandoned, abandonStep } = createAbandonedWork({ callLimits, checkLedger, report, stopMs, log });

  async function run(item: WorkItem, signal: AbortSignal): Promise<void> {
    const job = await jobs.begin(item, { countRun: true });
    if (job === null) return;
    if (job.status !== "processing") return await settle(item, job);
    const deadline = Math.min(job.createdAt + jobTimeoutMs, job.expiresAt - reportMs);
    const progress = readProgress(job);
    let span: Span | null = null;
    try {
      const stored = JSON.parse(job.request) as StoredRequest;
      span = tracing === null ? null : startJobSpan(tracing, job, stored);
      // Checked again, because the version or the settings may have changed since the submission.
      const caller = callerOf(stored, await findCaller(stored.caller.keyId));
      let plan: TaskPlan;
      try {
        plan = universalAi.check(stored.request, caller, "job");
      } catch (error) {
        reportAbandoned({ job, stored, caller }, progress, toOutcome(error));
        throw error;
      }
      await tryOffers({ item, job, stored, caller, plan, deadline, signal, span }, progress);
      span?.end(null);
    } catch (error) {
      try {
        if (isUnavailable(error) && !mayHaveExecuted(error)) throw error;
        await fail({ item, job, span }, error);
      } finally {
        span?.end(toOutcome(error));
      }
    }
  }

  /** Reports and abandons the work that a cancelled job has started. A crash before its end repeats both, which does no harm. */
  async function settle(item: WorkItem, job: JobRecord): Promise<void> {
    const stored = JSON.parse(job.request) as StoredRequest;
    const caller = callerOf(stored, await findCaller(stored.caller.keyId));
    const progress = readProgress(job);
    reportAbandoned({ job, stored, caller }, progress, "caller_left");
    const plan = planAgain(stored, caller);
    const offer = plan?.offers[progress.offer];
    if (plan !== null && offer !== undefined) await abandonStep({ job, stored, caller, plan }, offer, progress);
    await retryWhileStoreDown(log, () => jobs.settle(item, job.id));
  }

  /** Null: the version or the settings have changed, and the request is refused now. */
  function planAgain({ request }: StoredRequest, caller: Caller): TaskPlan | null {
    try {
      return universalAi.check(request, caller, "job");
    } catch {
      return null;
    }
  }

  /** Reports and abandons the stored step of a job that fails. */
  async function giveUp(running: Running, offer: TaskOffer, progress: Progress, error: GatewayError): Promise<never> {
    reportAbandoned(running, progress, error.code);
    await abandonStep(running, offer, progress);
    throw error;
  }

  async function tryOffers(running: Running, first: Progress): Promise<void> {
    const { job, plan, deadline, signal } = running;
    const [offer, ...fallbacks] = plan.offers.slice(first.offer);
    if (offer === undefined) {
      const error = new GatewayError("provider_not_found", "No configured provider supports this task anymore.");
      reportAbandoned(running, first, error.code);
      throw error;
    }
    if (isLost(first, offer.engine)) {
      const error = interrupted(offer.engine);
      if (first.step === null) report(toLostReport(running, targetOf(offer), first));
      else reportAbandoned(running, first, error.code);
      throw error;
    }
    if (Date.now() >= deadline) return await giveUp(running, offer, first, timedOut());
    if (job.runs - first.runsBefore > maxRuns) {
      const message = `The job was started ${maxRuns} times and interrupted each time.`;
      return await giveUp(running, offer, first, new GatewayError("internal_error", message));
    }
    let attempt: Attempt = { offer, progress: first, isCalled: false };
    const failed = new Map<unknown, Attempt>();
    const trace = createTrace(job, first);
    trace.span = running.span;
    const options = {
      trace,
      signal,
      deadline: toMonotonic(deadline),
      // The queue retries, after longer pauses.
      retries: false,
      continuesFirst: first.step !== null,
    } as const;
    let outcome: StepOutcome;
    try {
      outcome = await universalAi.tryOffers([offer, ...fallbacks], options, async (next, _note, deployment) => {
        if (next !== attempt.offer) {
          // The provider of the step was not called, because it is no longer set up.
          if (failed.size === 0) reportAbandoned(running, first, "provider_not_configured");
          attempt = await beginFallback(running, next);
        }
        try {
          return await callOffer({ ...running, trace }, attempt, deployment);
        } catch (error) {
          failed.set(error, attempt);
          throw error;
        }
      });
    } catch (error) {
      if (error instanceof LeaseLost) return;
      const last = failed.get(error);
      if (last === undefined && isCircuitOpen(error))
        return await retryLater(running, uncounted(first), (error.details.retryAfter ?? defaultWaitSeconds) * 1_000);
      if (last === undefined) {
        reportAbandoned(running, first, toOutcome(error));
        throw error;
      }
      return await postponeOrFail(error, running, last);
    } finally {
      trace.end();
    }
    // Outside of the loop: the engine has done its work, so a failure to store the result is not a failure of the engine.
    await storeOutcome(running, attempt, outcome);
  }

  /** Stores the fallback first: an interruption must not be attributed to the offer before. */
  async function beginFallback(running: Running, offer: TaskOffer): Promise<Attempt> {
    const { job, plan } = running;
    const progress: Progress = { ...noProgress, offer: plan.offers.indexOf(offer), runsBefore: job.runs - 1 };
    await saveCheckpoint(running, progress);
    return { offer, progress, isCalled: false };
  }

  /** Opens the files, stores that the engine is called, and calls it. */
  async function callOffer(
    running: Running & { readonly trace: Trace },
    attempt: Attempt,
    deployment: string | null,
  ): Promise<StepOutcome> {
    const { job, stored, caller, plan, deadline, signal, trace } = running;
    const { offer, progress } = attempt;
    const { engine } = offer;
    const owner = ownerOf(caller);
    // A little later, so that the deadline has passed by any clock.
    using limit = startDeadline({ timeoutMs: deadline - Date.now() + 5, signals: [signal] });
    using opened =
      progress.step === null
        ? await universalAi.openFiles(plan, { caller, signal: limit.signal, timeoutMs: deadline - Date.now() })
        : null;
    const noteCall = async () => {
      if (!mayRepeat(engine) && progress.step === null) await saveCheckpoint(running, { ...progress, called: true });
      attempt.isCalled = true;
    };
    if (engine.announcesSend !== true) await noteCall();
    const step = runOfferStep(
      {
        task: plan.task,
        offer,
        call: {
          input: plan.input,
          files: opened?.files ?? {},
          providerParams: stored.request.provider_params ?? {},
          signal: limit.signal,
          deadline: toMonotonic(deadline),
          requestId: stored.requestId,
          ...(deployment && { deployment }),
          owner,
          jobId: job.id,
          onProgress: createProgressReporter(job),
          ...(engine.announcesSend === true && { beforeSend: noteCall }),
          willRepeat: async () => signal.aborted && mayRepeat(engine) && !(await isCancelled(job)),
          onAttempt: ({ provider, model, reason }) => {
            if (reason !== "first") log.info("A job calls a provider again", { job: job.id, provider, model, reason });
          },
        },
        caller,
        trace,
        callLimits,
        checkLedger,
        publish: (binary) => storeBinary(() => publish(binary, owner, stored.baseUrl)),
        report,
        ...(progress.estimatedPico !== undefined && { estimatedPico: progress.estimatedPico }),
      },
      progress.step,
    );
    return await untilAborted(step, limit.signal, stopMs);
  }

  /** Puts the job back into the queue, or throws the error that it fails with. */
  async function postponeOrFail(error: unknown, running: Running, attempt: Attempt): Promise<void> {
    const { job, deadline, signal } = running;
    const { offer, progress } = attempt;
    if (signal.aborted) return await releaseWork(running, attempt);
    if (Date.now() >= deadline) {
      const late = timedOut(attempt);
      // Unless the poll itself has been reported as the end of the work.
      if (toOutcome(error) !== late.code) reportAbandoned(running, progress, late.code);
      await abandonStep(running, offer, progress);
      throw late;
    }
    // Nothing was executed, or executing it again does no harm.
    const isRepeatable = isUncalled(attempt) || !mayHaveExecuted(error);
    // The store of the files is down: an engine reads its files before it calls a provider.
    if (isUnavailable(error) && isRepeatable) return await retryLater(running, uncounted(progress), outagePauseMs);
    if (!(error instanceof GatewayError)) throw error;
    const { code, details } = error;
    // A step that runs at the vendor is not started again. A limit of the key only delays the question for its result.
    if (progress.step !== null && !limitCodes.has(code)) throw error;
    // A limit of the key is reached, or the queue of the local engines is full: the job waits in the work queue. If an earlier call of the
    // same run was answered, the next run would pay for that call again.
    const isRefused = (code === "overloaded" || code === "rate_limit_exceeded") && isRepeatable;
    if (isRefused || progress.step !== null)
      return await retryLater(running, uncounted(progress), (details.retryAfter ?? defaultWaitSeconds) * 1_000);
    const pauseMs = pausesMs[job.runs - progress.runsBefore - 1];
    if (pauseMs === undefined || details.shouldRetry === false || !mayRunAgain(attempt, error))
      throw notRepeated(offer.engine, error);
    return await retryLater(running, progress, pauseMs);
  }

  async function storeOutcome(running: Running, { offer, progress }: Attempt, outcome: StepOutcome): Promise<void> {
    const { job } = running;
    if ("output" in outcome) return await succeed(running, outcome);
    const { checkpoint: step, estimatedPico } = outcome;
    const next = { ...progress, called: true, step, estimatedPico, target: targetOf(offer), runsBefore: job.runs };
    const isStored = await postpone(running, next, outcome.waitMs);
    // The job was cancelled while the work was being started, so the cancellation knew nothing of it.
    if (!isStored && progress.step === null && (await isCancelled(job))) {
      reportAbandoned(running, next, "caller_left");
      await abandonStep(running, offer, next);
    }
    if (outcome.progress !== undefined) await jobs.setProgress(job.id, job.runs, outcome.progress).catch(() => {});
  }

  /** Stores the progress from before the call, which reverts later checkpoints. */
  async function retryLater(running: Running, progress: Progress, pauseMs: number): Promise<void> {
    await postpone(running, progress, pauseMs * (0.8 + 0.4 * Math.random()));
  }

  /** Never beyond the deadline of the job, so that the timeout is noticed. */
  async function postpone({ item, job, deadline }: Running, progress: Progress, pauseMs: number): Promise<boolean> {
    const dueAt = Math.round(Math.min(Date.now() + pauseMs, deadline));
    const step = { checkpoint: JSON.stringify(progress), dueAt };
    return await retryWhileStoreDown(log, () => jobs.saveStep(item, job.id, step));
  }

  /** Otherwise another worker holds the lease, and ends the job. */
  async function isCancelled({ id }: JobRecord): Promise<boolean> {
    const found = await retryWhileStoreDown(log, () => jobs.find(id, null));
    return found === null || found.result === cancelledResult;
  }

  /** Throws when another worker holds the lease. The outcome of a failed write is unknown, so the (idempotent) write is repeated. */
  async function saveCheckpoint({ item, job }: Running, progress: Progress): Promise<void> {
    if (!(await retryWhileStoreDown(log, () => jobs.saveCheckpoint(item, job.id, JSON.stringify(progress)))))
      throw new LeaseLost();
  }

  /** The result exists and is paid for, so storing it is retried while the file store is down. */
  async function storeBinary(write: () => Promise<string>): Promise<string> {
    try {
      return await retryWhileStoreDown(log, write);
    } catch (cause) {
      // The owner has reached the storage limit: the message says what to do.
      if (cause instanceof GatewayError && cause.code === "payload_too_large") throw cause;
      throw new GatewayError("internal_error", "The result could not be stored in the file store.", { cause });
    }
  }

  function createProgressReporter(job: JobRecord): (share: number) => void {
    let reportedAt = 0;
    return (share) => {
      const now = performance.now();
      if (now - reportedAt < progressIntervalMs) return;
      reportedAt = now;
      // Not awaited: a lost update is replaced by the next one.
      jobs.setProgress(job.id, job.runs, Math.min(1, Math.max(0, share))).catch(() => {});
    };
  }

  /** The gateway is shutting down, or the lease expired. */
  async function releaseWork({ item, job }: Running, { offer, progress, isCalled }: Attempt): Promise<void> {
    if (isCalled && progress.step === null && !mayRepeat(offer.engine)) throw interrupted(offer.engine);
    await retryWhileStoreDown(log, () => jobs.release(item, job.id, { dueAt: Date.now(), uncount: true }));
  }

  async function succeed(running: Running, outcome: TaskOutcome): Promise<void> {
    const { stored } = running;
    const { output, original } = outcome;
    const wantsOriginal = stored.request.show_original_response === true;
    let result = JSON.stringify(wantsOriginal ? { output, original_response: original } : { output });
    if (wantsOriginal && Buffer.byteLength(result) > maxResultBytes) result = JSON.stringify({ output });
    if (Buffer.byteLength(result) > maxResultBytes)
      throw new GatewayError("internal_error", `The result exceeds the limit of ${maxResultBytes} bytes.`);
    await finish(running, {
      status: "success",
      provider: outcome.provider,
      model: outcome.model,
      finishedAt: Date.now(),
      cost: outcome.cost === null ? null : BigInt(Math.round(outcome.cost * picoPerUsd)),
      costReason: outcome.costReason,
      result,
    });
  }

  async function fail(ended: EndedJob, error: unknown): Promise<void> {
    const { job } = ended;
    if (!(error instanceof GatewayError || error instanceof ValidationError))
      log.error("A job failed because of a bug", { job: job.id, error });
    await finish(ended, {
      status: "fail",
      provider: job.provider,
      model: job.model,
      finishedAt: Date.now(),
      cost: null,
      costReason: "not_answered",
      result: JSON.stringify({ error: { message: toMessage(error) } }),
    });
  }

  async function finish({ item, job, span }: EndedJob, ended: JobResult): Promise<void> {
    const delivery = job.webhookReceiver === null ? null : { id: crypto.randomUUID() };
    const result = span === null ? ended : { ...ended, result: withTrace(ended.result, span.headers) };
    span?.set({ "switchyard.job.status": result.status });
    const isFinished = await retryWhileStoreDown(log, () => jobs.finish(item, job.id, result, delivery));
    const { feature, subfeature, createdAt } = job;
    const { status, finishedAt } = result;
    if (isFinished)
      metrics?.job({ task: `${feature}/${subfeature}`, status, durationMs: Math.max(0, finishedAt - createdAt) });
  }

  return run;
}

/** The circuit of every provider is open, so none was called. */
function isCircuitOpen(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === "provider_unavailable";
}

/** Another worker holds the lease of the job. */
class LeaseLost extends Error {}

function toMonotonic(epochMs: number): number {
  return performance.now() + (epochMs - Date.now());
}

function mayRepeat({ isIdempotent }: Engine): boolean {
  return isIdempotent === true;
}

function mayHaveExecuted(error: unknown): boolean {
  return error instanceof GatewayError && error.details.mayHaveExecuted === true;
}

/** Nothing was sent, or sending it again does no harm. */
function isUncalled({ offer, isCalled }: Attempt): boolean {
  return !isCalled || mayRepeat(offer.engine);
}

/** Work that is repeatable runs again after every error that allows a fallback; other work only if nothing was executed. */
function mayRunAgain(attempt: Attempt, error: GatewayError): boolean {
  const { code } = error;
  if (isUncalled(attempt)) return code !== "provider_not_configured" && fallbackCodes.has(code);
  return harmlessCodes.has(code) && !mayHaveExecuted(error);
}

function notRepeated(engine: Engine, error: GatewayError): GatewayError {
  if (mayRepeat(engine) || !mayHaveExecuted(error)) return error;
  const message = `${error.message} The task was not sent again, because it could be executed and billed twice.`;
  return new GatewayError(error.code, message, { ...error.details, cause: error });
}

/** A call was interrupted and its outcome is unknown. Repeating it could execute and bill the task twice. */
function isLost({ called, step }: Progress, engine: Engine): boolean {
  return step === null ? called && !mayRepeat(engine) : engine.runStep === undefined;
}

function interrupted({ provider }: Engine): GatewayError {
  return new GatewayError(
    "provider_disconnected",
    `The gateway was interrupted during the call to '${provider}'. The provider may have executed and billed the task, so it was not repeated.`,
  );
}

function timedOut(attempt?: Attempt): GatewayError {
  const isCalled = attempt?.isCalled === true && !mayRepeat(attempt.offer.engine);
  const more = isCalled ? ` The provider '${attempt.offer.engine.provider}' may have executed the task.` : "";
  return new GatewayError("provider_timeout", `The job did not finish in time.${more}`);
}

function toMessage(error: unknown): string {
  if (error instanceof ValidationError)
    return error.problems.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("; ");
  return error instanceof GatewayError ? error.message : "An internal error occurred.";
}
