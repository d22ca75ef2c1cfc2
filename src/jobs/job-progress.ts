// How far a job has come, and the lines of the ledger that follow from it.

import type { Caller } from "../access/caller.ts";
import type { AttemptReport } from "../inference/report.ts";
import { Trace } from "../inference/trace.ts";
import { toLineId } from "../inference/universal-ai/account-run.ts";
import type { TaskOffer } from "../inference/universal-ai/run-offer.ts";
import { unknownUsage } from "../lib/charge.ts";
import type { Json } from "../lib/json-schema/schema.ts";
import type { JobRecord } from "../storage/job-records.ts";
import type { StoredRequest } from "./job-request.ts";

/** How far a job has come, as it is stored between runs. */
export interface Progress {
  /** The index of the current offer. */
  readonly offer: number;
  /** Whether a provider may have been called. */
  readonly called: boolean;
  /** The step that the engine continues with. */
  readonly step: Json | null;
  /** The offer of the step, which a later version or other settings may not have. Absent in checkpoints of version 0.1. */
  readonly target?: Target;
  /** What the step may cost at most, in pico-dollars; null when that is unknown. Absent in checkpoints of version 0.1. */
  readonly estimatedPico?: number | null;
  /** Runs that do not count: those before this offer or its last stored step, and those that failed because of an outage or overload. */
  readonly runsBefore: number;
}

export interface Target {
  readonly task: string;
  readonly provider: string;
  readonly model: string | null;
}

export interface OwnedJob {
  readonly job: JobRecord;
  readonly stored: StoredRequest;
  readonly caller: Caller;
}

/** The route by which jobs are submitted. */
const submissionPath = "/v3/universal-ai/async";
export const noProgress: Progress = { offer: 0, called: false, step: null, runsBefore: 0 };

export function readProgress({ checkpoint }: JobRecord): Progress {
  return checkpoint === null ? noProgress : JSON.parse(checkpoint);
}

/** Continues the numbers of attempts from earlier runs. */
export function createTrace(job: JobRecord, { offer, runsBefore }: Progress): Trace {
  const trace = new Trace(performance.now(), 0);
  trace.path = submissionPath;
  trace.calls = offer + Math.max(0, job.runs - runsBefore - 1);
  return trace;
}

/** The process that called the provider was killed before it could report the call. Its line is the same however often it is reported. */
export function toLostReport(
  { job, stored, caller }: OwnedJob,
  { task, provider, model }: Target,
  progress: Progress,
): AttemptReport {
  return {
    line: { id: toLineId(`${job.id} ${progress.offer} ${progress.runsBefore}`), time: job.createdAt },
    requestId: stored.requestId,
    caller,
    endpoint: submissionPath,
    ...{ provider, model, task },
    jobId: job.id,
    deployment: null,
    // The number that the run before had.
    attempt: Math.max(1, createTrace(job, progress).calls),
    attemptReason: "first",
    isStream: false,
    durationMs: 0,
    firstTokenMs: null,
    usage: null,
    charge: unknownUsage,
    settled: { countedPico: 0, accounts: [] },
    outcome: "provider_disconnected",
  };
}

export function targetOf({ engine: { task, provider }, model }: TaskOffer): Target {
  return { task, provider, model };
}

export function uncounted(progress: Progress): Progress {
  return { ...progress, runsBefore: progress.runsBefore + 1 };
}
