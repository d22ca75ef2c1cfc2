// Work that a job has started at a provider and that ends without a result: it is reported, and its files are deleted.

import { ownerOf } from "../access/caller.ts";
import type { AttemptReport } from "../inference/report.ts";
import { nameOf, type RunAccounting, toWorkLine } from "../inference/universal-ai/account-run.ts";
import { abandonOfferStep, type TaskOffer } from "../inference/universal-ai/run-offer.ts";
import type { TaskPlan } from "../inference/universal-ai/task-planner.ts";
import { startDeadline, untilAborted } from "../lib/deadline.ts";
import type { Log } from "../log.ts";
import { createTrace, noProgress, type OwnedJob, type Progress, toLostReport } from "./job-progress.ts";

export interface AbandonedWorkOptions extends RunAccounting {
  /** The time that an engine gets to delete the files. */
  readonly stopMs: number;
  readonly log: Log;
}

export function createAbandonedWork({ callLimits, checkLedger, report, stopMs, log }: AbandonedWorkOptions) {
  /** Work that was started at a provider ends without a result: its line has no cost, and budgets count what it may cost at most. */
  function reportAbandoned(owned: OwnedJob, progress: Progress, outcome: AttemptReport["outcome"]): void {
    if (progress.step === null) return;
    const { job, caller } = owned;
    const { feature, subfeature, provider, model } = job;
    const target = progress.target ?? { task: `${feature}/${subfeature}`, provider, model };
    const reservation = callLimits.charge(caller, nameOf(target));
    report({
      ...toLostReport(owned, target, progress),
      line: toWorkLine({ ...target, jobId: job.id }),
      settled: reservation.settle({ tokens: 0, pico: progress.estimatedPico ?? null }),
      outcome,
    });
  }

  /**
   * Deletes the files that the work stored at the provider. The outcome of the job does not depend on it. An abort does not end it: the job
   * may have been cancelled, and after a shutdown no other run may know of the files.
   */
  async function abandonStep(
    { job, stored, caller, plan }: OwnedJob & { readonly plan: TaskPlan },
    offer: TaskOffer,
    { step }: Progress,
  ): Promise<void> {
    if (step === null || offer.engine.abandonStep === undefined) return;
    using limit = startDeadline({ timeoutMs: stopMs });
    const call = {
      ...{ input: plan.input, files: {}, providerParams: stored.request.provider_params ?? {} },
      ...{ signal: limit.signal, deadline: performance.now() + stopMs },
      ...{ requestId: stored.requestId, owner: ownerOf(caller), jobId: job.id },
    };
    const run = {
      ...{ task: plan.task, offer, call, caller, trace: createTrace(job, noProgress), callLimits, checkLedger, report },
      publish: () => Promise.reject(new TypeError("An abandoned step has no result")),
    };
    try {
      await untilAborted(abandonOfferStep(run, step), limit.signal);
    } catch (error) {
      const { provider } = offer.engine;
      log.warn("The files of a job could not be deleted at its provider", { job: job.id, provider, error });
    }
  }

  return { reportAbandoned, abandonStep };
}
