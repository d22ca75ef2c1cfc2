// Jobs as their owners see them: submit, find, list, cancel and delete jobs, list deliveries and redeliver webhooks.

import { type Caller, ownerOf } from "../access/caller.ts";
import type { AsyncJobRequest, DeliveryObject, JobObject, UnfinishedJobObject } from "../contract/async-jobs.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import type { UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import { toUsd } from "../lib/money.ts";
import type { CreateJobOutcome, DeliveryRecord, JobStatus, ListedJob } from "../storage/job-records.ts";
import type { DeliveryStore, JobStore } from "../storage/storage.ts";
import { packRequest, type StoredRequest, unpackResult } from "./job-request.ts";

export interface Jobs {
  submit(submission: Submission): Promise<JobObject>;
  find(id: string, caller: Caller): Promise<JobObject>;
  list(caller: Caller, filter: ListFilter): Promise<{ total: number; items: JobObject[] }>;
  remove(id: string, caller: Caller): Promise<void>;
  /** Cancels a queued or running job. `caller` null: the operator, who may cancel jobs of all owners. */
  cancel(id: string, caller: Caller | null): Promise<JobObject>;
  /** For the operator: queued and running jobs, the oldest first. `owner` null: of all owners. */
  listUnfinished(owner: string | null, page: { limit: number; offset: number }): Promise<UnfinishedJobObject[]>;
  listDeliveries(id: string, caller: Caller): Promise<DeliveryObject[]>;
  redeliver(id: string, caller: Caller): Promise<DeliveryObject>;
}

export interface Submission {
  readonly request: AsyncJobRequest;
  /** `user_webhook_parameters` as JSON text, exactly as the caller wrote them. */
  readonly userParameters: string | null;
  readonly caller: Caller;
  readonly requestId: string;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** The address of the gateway, for links to binary results. */
  readonly baseUrl: string;
}

export interface ListFilter {
  readonly status: JobStatus | null;
  readonly feature: string | null;
  readonly subfeature: string | null;
  readonly limit: number;
  readonly offset: number;
}

export interface JobsDependencies {
  readonly jobs: JobStore;
  readonly deliveries: DeliveryStore;
  readonly universalAi: UniversalAi;
  /** Throws a ValidationError if webhooks may not be sent to the address. */
  readonly checkReceiver: (url: string, ownHost: string) => Promise<void>;
  readonly lifetimeMs: number;
  /** The most unfinished jobs that one owner may have. */
  readonly maxUnfinished: number;
}

const cancelledResult = JSON.stringify({ error: { message: "The job was cancelled." }, cancelled: true });
// The time at which a job ends is unknown; with this delay a client rarely polls without success.
const fullRetrySeconds = 10;
const idempotencyKeyLifetimeMs = 24 * 3_600_000;

export function createJobs(dependencies: JobsDependencies): Jobs {
  const { jobs, deliveries, universalAi, checkReceiver, lifetimeMs, maxUnfinished } = dependencies;

  async function submit({
    request,
    userParameters,
    caller,
    requestId,
    idempotency,
    baseUrl,
  }: Submission): Promise<JobObject> {
    const plan = universalAi.check(request, caller, "job");
    const [offer] = plan.offers;
    if (offer === undefined) throw new TypeError("The plan has no offer");
    const owner = ownerOf(caller);
    const receiver = request.webhook_receiver ?? null;
    // A repeated request succeeds even if its file or receiver no longer exists.
    const known = idempotency === null ? null : await jobs.findByIdempotencyKey(owner, idempotency);
    if (known !== null) return toAnswer(known);
    await Promise.all([
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
        request: packRequest(stored),
        // A slow or overloaded provider must not delay the jobs of other providers.
        group: offer.engine.provider,
        maxUnfinished,
      },
      idempotency === null ? null : { ...idempotency, expiresAt: now + idempotencyKeyLifetimeMs },
    );
    return toAnswer(outcome);
  }

  function toAnswer(outcome: CreateJobOutcome): JobObject {
    if (outcome.outcome === "full")
      throw new GatewayError(
        "rate_limit_exceeded",
        `This key has reached its limit of ${maxUnfinished} queued or running jobs. Wait until some have finished, or cancel some.`,
        { retryAfter: fullRetrySeconds },
      );
    if (outcome.outcome !== "conflict") return toJobObject(outcome.job);
    throw new ValidationError([
      {
        loc: ["header", "idempotency-key"],
        msg: "This idempotency key was already used with another body",
        type: "idempotency_key_reused",
      },
    ]);
  }

  async function find(id: string, caller: Caller): Promise<JobObject> {
    const job = await jobs.find(id, ownerOf(caller));
    if (job === null) throw jobNotFound();
    return toJobObject(job);
  }

  async function list(caller: Caller, filter: ListFilter): Promise<{ total: number; items: JobObject[] }> {
    const { total, jobs: found } = await jobs.list({ owner: ownerOf(caller), ...filter });
    return { total, items: found.map(toJobObject) };
  }

  async function remove(id: string, caller: Caller): Promise<void> {
    const outcome = await jobs.remove(id, ownerOf(caller));
    if (outcome === "missing") throw jobNotFound();
    if (outcome === "processing")
      throw new GatewayError(
        "job_processing",
        "The job is still running. Delete it when it has finished, or cancel it first.",
        {
          param: "job_id",
        },
      );
  }

  async function cancel(id: string, caller: Caller | null): Promise<JobObject> {
    const outcome = await jobs.cancel(id, caller === null ? null : ownerOf(caller), {
      at: Date.now(),
      result: cancelledResult,
      delivery: { id: crypto.randomUUID() },
    });
    if (outcome.outcome === "missing") throw jobNotFound();
    if (outcome.outcome === "finished")
      throw new GatewayError("job_finished", "The job has already finished, so it cannot be cancelled.", {
        param: "job_id",
      });
    return toJobObject(outcome.job);
  }

  async function listUnfinished(owner: string | null, page: { limit: number; offset: number }) {
    const found = await jobs.listUnfinished(owner, page.limit, page.offset);
    return found.map((job) => ({ ...toJobObject(job), owner: job.owner, key_id: job.keyId, runs: job.runs }));
  }

  async function listDeliveries(id: string, caller: Caller): Promise<DeliveryObject[]> {
    const found = await deliveries.listForJob(id, ownerOf(caller));
    if (found === null) throw jobNotFound();
    return found.map(toDeliveryObject);
  }

  async function redeliver(id: string, caller: Caller): Promise<DeliveryObject> {
    const owner = ownerOf(caller);
    const job = await jobs.find(id, owner);
    if (job === null) throw jobNotFound();
    if (job.status === "processing")
      throw new GatewayError("job_processing", "The job is still running, so there is no webhook to deliver yet.", {
        param: "job_id",
      });
    if (job.webhookReceiver === null)
      throw new GatewayError("no_webhook_receiver", "The job was submitted without a webhook_receiver.", {
        param: "job_id",
      });
    const made = await deliveries.redeliver(id, owner, {
      id: crypto.randomUUID(),
      group: groupOf(job.webhookReceiver),
      now: Date.now(),
    });
    if (made === null) throw jobNotFound();
    return toDeliveryObject(made);
  }

  return { submit, find, list, remove, cancel, listUnfinished, listDeliveries, redeliver };
}

/** Webhooks to one host form a group, so that a slow host does not delay the webhooks to others. */
export function groupOf(receiver: string): string {
  return URL.parse(receiver)?.host ?? "";
}

function jobNotFound(): GatewayError {
  return new GatewayError("job_not_found", "There is no such job.", { param: "job_id" });
}

function toJobObject(job: ListedJob): JobObject {
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

function toDeliveryObject(delivery: DeliveryRecord): DeliveryObject {
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
