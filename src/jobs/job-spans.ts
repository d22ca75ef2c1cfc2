// The spans of jobs and of webhooks. The webhook of a job belongs, like its runs, to the trace of the request that submitted the job.

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

/** One attempt to deliver a webhook. The address may hold secrets, so only its host and port are recorded. */
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
  // A budget alert has no job, so its webhook starts a trace.
  const parent = job === undefined ? null : findParent(job);
  return tracing.start({ name: "POST webhook", kind: "client", attributes }, parent);
}

/** The span of the run that ended the job; for a cancelled job, the span of the request that submitted it. */
function findParent({ request, result }: JobRecord): TraceHeaders | null {
  try {
    const { trace } = unpackResult(result ?? "{}");
    return trace ?? (JSON.parse(request) as StoredRequest).trace ?? null;
  } catch {
    // The deliverer ends a delivery whose job cannot be read. An error here would make it try for ever.
    return null;
  }
}
