// The spans of jobs and of their webhooks. Both belong to the trace of the request that submitted the job.

import type { OpenedDelivery } from "../storage/deliveries.ts";
import type { JobRecord } from "../storage/job-records.ts";
import { type Span, type TraceHeaders, type Tracing, toServerAddress } from "../tracing/span.ts";
import { type StoredRequest, unpackResult } from "./job-request.ts";

/** One run of a job. */
export function startJobSpan(tracing: Tracing, job: JobRecord, { trace, requestId }: StoredRequest): Span {
  const task = `${job.feature}/${job.subfeature}`;
  const attributes = {
    "messaging.system": "switchyard",
    "messaging.operation.type": "process",
    "messaging.operation.name": "run",
    "messaging.destination.name": "jobs",
    "messaging.message.id": job.id,
    "switchyard.job.id": job.id,
    "switchyard.job.run": job.runs,
    "switchyard.task": task,
    "switchyard.key.id": job.keyId,
    "switchyard.request.id": requestId,
  };
  return tracing.start({ name: `job ${task}`, kind: "consumer", attributes }, trace ?? null);
}

/** One attempt to deliver a webhook, below the run that ended the job. The address may hold secrets, so only its host is recorded. */
export function startDeliverySpan(tracing: Tracing, { delivery, job }: OpenedDelivery): Span {
  const receiver = URL.parse(delivery.receiver);
  const attributes = {
    "http.request.method": "POST",
    "http.request.resend_count": delivery.attempts.length === 0 ? undefined : delivery.attempts.length,
    "server.address": receiver === null ? undefined : toServerAddress(receiver),
    "server.port": Number(receiver?.port) || 443,
    "url.scheme": "https",
    "switchyard.delivery.id": delivery.id,
    "switchyard.job.id": job?.id,
  };
  const parent = job === undefined ? null : findTrace(job);
  return tracing.start({ name: "POST webhook", kind: "client", attributes }, parent);
}

/** The run that ended the job, or, for a job that was cancelled, the request that submitted it. */
function findTrace({ request, result }: JobRecord): TraceHeaders | null {
  const { trace } = unpackResult(result ?? "{}");
  return trace ?? (JSON.parse(request) as Partial<StoredRequest>).trace ?? null;
}
