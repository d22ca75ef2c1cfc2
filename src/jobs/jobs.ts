// Jobs as their owners see them: submit, find, list, cancel and delete jobs, list deliveries and redeliver webhooks.

import type { BudgetCheck, Demand } from "../access/call-limits.ts";
import { type Caller, ownerOf } from "../access/caller.ts";
import type { AsyncJobRequest, DeliveryObject, JobObject } from "../contract/async-jobs.ts";
import { type ErrorCode, GatewayError, ValidationError } from "../errors.ts";
import { estimateTask } from "../inference/estimate.ts";
import type { TaskOffer } from "../inference/universal-ai/run-offer.ts";
import type { TaskPlan } from "../inference/universal-ai/task-planner.ts";
import type { UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import { toUsd } from "../lib/money.ts";
import type { Actor } from "../storage/audit.ts";
import { maxDeliveriesPerJob } from "../storage/deliveries.ts";
import type { CreateJobOutcome, DeliveryRecord, JobFilter, ListedJob, SizedJob } from "../storage/job-records.ts";
import type { DeliveryStore, JobStore } from "../storage/storage.ts";
import type { TraceHeaders } from "../tracing/span.ts";
import { type StoredRequest, unpackResult } from "./job-request.ts";

export interface Submission {
  readonly request: AsyncJobRequest;
  /** `user_webhook_parameters` as JSON text, exactly as the caller wrote them. */
  readonly userParameters: string | null;
  readonly caller: Caller;
  readonly requestId: string;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** The address of the gateway, for links to binary results. */
  readonly baseUrl: string;
  /** The trace of the request; null when traces are not exported. */
  readonly trace?: TraceHeaders | null;
}

export interface JobsDependencies {
  readonly jobs: JobStore;
  readonly deliveries: DeliveryStore;
  readonly universalAi: UniversalAi;
  readonly budgets: BudgetCheck;
  /** Throws a ValidationError if webhooks may not be sent to the address. */
  readonly checkReceiver: (url: string, ownHost: string) => Promise<void>;
  readonly lifetimeMs: number;
  /** The most unfinished jobs that one owner may have. */
  readonly maxUnfinished: number;
}

export const cancelledResult = JSON.stringify({ error: { message: "The job was cancelled." }, cancelled: true });
// The time at which a job ends is unknown; with this delay a client rarely polls without success.
const fullRetrySeconds = 10;
// The list is built in memory, with each result as text, as an object and as part of the answer.
const maxListedBytes = 32 * 1_048_576;
const idempotencyKeyLifetimeMs = 24 * 3_600_000;

export type Jobs = ReturnType<typeof createJobs>;

export function createJobs(dependencies: JobsDependencies) {
  const { jobs, deliveries, universalAi, budgets, checkReceiver, lifetimeMs, maxUnfinished } = dependencies;

  function toAnswer(outcome: CreateJobOutcome): JobObject {
    if ("job" in outcome) return toJobObject(outcome.job);
    if (outcome.outcome === "full")
      throw new GatewayError(
        "rate_limit_exceeded",
        `This key has reached its limit of ${maxUnfinished} queued or running jobs. Wait until some have finished, or cancel some.`,
        { retryAfter: fullRetrySeconds },
      );
    const msg = "This idempotency key was already used with another body";
    throw new ValidationError([{ loc: ["header", "idempotency-key"], msg, type: "idempotency_key_reused" }]);
  }

  return {
    async submit(submission: Submission): Promise<JobObject> {
      const { request, userParameters, caller, requestId, idempotency, baseUrl, trace = null } = submission;
      const plan = universalAi.check(request, caller, "job");
      const [offer] = plan.offers;
      if (offer === undefined) throw new TypeError("The plan has no offer");
      const owner = ownerOf(caller);
      const receiver = request.webhook_receiver ?? null;
      // A repeated request succeeds even if its file or receiver no longer exists.
      const known = idempotency === null ? null : await jobs.findByIdempotencyKey(owner, idempotency);
      if (known !== null) return toAnswer(known);
      await Promise.all([
        budgets.checkBudgets(caller, nameOf(offer), () => estimateSubmission(plan)),
        universalAi.checkFiles(plan, owner),
        receiver === null ? null : checkReceiver(receiver, new URL(baseUrl).hostname),
      ]);
      const now = Date.now();
      const { user_webhook_parameters: _, ...requestWithout } = request;
      const stored: StoredRequest = {
        request: requestWithout,
        userParameters,
        caller: { keyId: caller.keyId, kind: caller.kind, owner: caller.owner },
        requestId,
        baseUrl,
        ...(trace !== null && { trace }),
      };
      const outcome = await jobs.create(
        {
          id: crypto.randomUUID(),
          owner,
          keyId: caller.keyId,
          feature: plan.task.feature,
          subfeature: plan.task.subfeature,
          provider: offer.engine.provider,
          model: offer.model,
          createdAt: now,
          expiresAt: now + lifetimeMs,
          webhookReceiver: receiver,
          request: JSON.stringify(stored),
          // A slow or overloaded provider must not delay the jobs of other providers.
          group: offer.engine.provider,
          maxUnfinished,
        },
        idempotency === null ? null : { ...idempotency, expiresAt: now + idempotencyKeyLifetimeMs },
      );
      return toAnswer(outcome);
    },

    ...createStoredJobs({ jobs, deliveries }),
  };
}

/** What needs nothing but the store. */
function createStoredJobs(stores: Pick<JobsDependencies, "jobs" | "deliveries">) {
  const { jobs, deliveries } = stores;
  return {
    async find(id: string, caller: Caller): Promise<JobObject> {
      return toJobObject((await jobs.find(id, ownerOf(caller))) ?? refuseJob("job_not_found"));
    },

    async list(caller: Caller, filter: Omit<JobFilter, "owner">): Promise<{ total: number; items: JobObject[] }> {
      const { total, items } = await jobs.list({ owner: ownerOf(caller), ...filter });
      refuseLargeList(items);
      const finished = items.flatMap(({ id, resultBytes }) => (resultBytes === null ? [] : id));
      const results = finished.length === 0 ? [] : await jobs.readResults(finished);
      const resultOf = new Map(results.map(({ id, result }) => [id, result]));
      // A finished job without a result was deleted in the meantime.
      const found = items.filter(({ id, resultBytes }) => resultBytes === null || resultOf.has(id));
      return { total, items: found.map((job) => toJobObject({ ...job, result: resultOf.get(job.id) ?? null })) };
    },

    async remove(id: string, caller: Caller): Promise<void> {
      const outcome = await jobs.remove(id, ownerOf(caller));
      if (outcome === "missing") refuseJob("job_not_found");
      if (outcome === "processing")
        refuseJob("job_processing", "The job is still running. Delete it when it has finished, or cancel it first.");
    },

    cancel: (id: string, caller: Caller): Promise<JobObject> => cancelJob(stores, { id, owner: ownerOf(caller) }),

    async listDeliveries(id: string, caller: Caller): Promise<DeliveryObject[]> {
      const found = (await deliveries.listForJob(id, ownerOf(caller))) ?? refuseJob("job_not_found");
      return found.map(toDeliveryObject);
    },

    redeliver: (id: string, caller: Caller): Promise<DeliveryObject> =>
      redeliverJob(stores, { id, owner: ownerOf(caller) }),
  };
}

/** A single job is always listed: its result is as large as the answer for the job itself. */
function refuseLargeList(jobs: readonly SizedJob[]): void {
  const bytes = jobs.reduce((sum, { resultBytes }) => sum + (resultBytes ?? 0), 0);
  if (bytes <= maxListedBytes || jobs.length <= 1) return;
  const msg = `The results of these ${jobs.length} jobs have ${bytes} bytes, and a list may have ${maxListedBytes}: ask for a smaller limit`;
  throw new ValidationError([{ loc: ["query", "limit"], msg, type: "too_large" }]);
}

interface JobChange {
  readonly id: string;
  /** Null: of any owner. */
  readonly owner: string | null;
  /** Absent: the owner of the job, whose changes are not recorded. */
  readonly actor?: Actor;
}

/** Cancels a queued or running job. */
export async function cancelJob(
  { jobs }: Pick<JobsDependencies, "jobs">,
  { id, owner, actor }: JobChange,
): Promise<JobObject> {
  const delivery = { id: crypto.randomUUID() };
  const outcome = await jobs.cancel(id, owner, { at: Date.now(), result: cancelledResult, delivery }, actor ?? null);
  if ("job" in outcome) return toJobObject(outcome.job);
  if (outcome.outcome === "missing") refuseJob("job_not_found");
  refuseJob("job_finished", "The job has already finished, so it cannot be cancelled.");
}

/** Queues another delivery of the webhook of a finished job. */
export async function redeliverJob(
  { jobs, deliveries }: Pick<JobsDependencies, "jobs" | "deliveries">,
  { id, owner, actor }: JobChange,
): Promise<DeliveryObject> {
  const job = (await jobs.find(id, owner)) ?? refuseJob("job_not_found");
  if (job.status === "processing")
    refuseJob("job_processing", "The job is still running, so there is no webhook to deliver yet.");
  if (job.webhookReceiver === null)
    refuseJob("no_webhook_receiver", "The job was submitted without a webhook_receiver.");
  const delivery = { id: crypto.randomUUID(), now: Date.now() };
  const added = await deliveries.redeliver(id, owner, delivery, actor ?? null);
  if (added === "full")
    refuseJob(
      "too_many_deliveries",
      `The job has ${maxDeliveriesPerJob} deliveries, so its webhook is not sent again.`,
    );
  return toDeliveryObject(added ?? refuseJob("job_not_found"));
}

function nameOf({ engine: { task, provider }, model }: TaskOffer): string {
  return model === null ? `${task}/${provider}` : `${task}/${provider}/${model}`;
}

/** The files have not been fetched yet. A task whose cost is not known in advance needs a budget that is not spent. */
function estimateSubmission({ task, input, offers: [offer] }: TaskPlan): Demand {
  if (offer === undefined) throw new TypeError("The plan has no offer");
  const { engine } = offer;
  const demand = estimateTask(task, offer, { input, files: {} });
  const isFree = engine.isFree === true || engine.isSandbox === true;
  return demand.pico === null || isFree ? demand : { ...demand, pico: Math.max(1, demand.pico) };
}

export function refuseJob(code: ErrorCode, message = "There is no such job."): never {
  throw new GatewayError(code, message, { param: "job_id" });
}

export function toJobObject(job: ListedJob): JobObject {
  const { status, progress, costReason, finishedAt } = job;
  const result = job.result === null ? {} : unpackResult(job.result);
  return {
    job_id: job.id,
    public_id: job.id,
    status,
    feature: job.feature,
    subfeature: job.subfeature,
    provider: job.provider,
    model: job.model,
    created_at: new Date(job.createdAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    cost: job.cost === null ? null : toUsd(job.cost),
    ...(costReason === null ? {} : { cost_reason: costReason }),
    ...(status === "processing" && progress !== null ? { progress } : {}),
    output: result.output ?? null,
    error: result.error ?? null,
    ...("original_response" in result ? { original_response: result.original_response } : {}),
  };
}

export function toDeliveryObject(delivery: DeliveryRecord): DeliveryObject {
  const { nextAttemptAt } = delivery;
  return {
    id: delivery.id,
    state: delivery.state,
    receiver: delivery.receiver,
    created_at: new Date(delivery.createdAt).toISOString(),
    next_attempt_at: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
    attempts: delivery.attempts.map((attempt) => ({
      number: attempt.number,
      started_at: new Date(attempt.startedAt).toISOString(),
      duration_ms: attempt.durationMs,
      status: attempt.status,
      error: attempt.error,
      key_id: attempt.keyId,
    })),
  };
}
