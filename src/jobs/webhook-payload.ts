// The body of a webhook. A member that does not apply is absent. The exception is `model`, which is null for a task without a model.

import type { WebhookPayload } from "../contract/async-jobs.ts";
import { parseExactJson } from "../lib/exact-json.ts";
import type { JobRecord } from "../storage/job-records.ts";
import { toCanonicalJson } from "./canonical-json.ts";
import { unpackResult } from "./job-request.ts";

/** The members of the stored request that the webhook needs. */
interface StoredParameters {
  readonly request?: {
    readonly show_original_response?: boolean | null;
    readonly user_webhook_parameters?: unknown;
  };
  /** JSON text, exactly as the caller wrote it. */
  readonly userParameters?: string | null;
}

type PayloadJob = Pick<
  JobRecord,
  "id" | "status" | "feature" | "subfeature" | "provider" | "model" | "createdAt" | "finishedAt" | "request" | "result"
>;

/** The bytes that are signed and sent. */
export function toWebhookBody(job: PayloadJob): Buffer {
  return Buffer.from(toCanonicalJson(toWebhookPayload(job)));
}

export function toWebhookPayload(job: PayloadJob): WebhookPayload {
  if (job.status === "processing") throw new Error(`Job ${job.id} is unfinished, so it has no webhook`);
  const { request, userParameters: written } = JSON.parse(job.request) as StoredParameters;
  const result = unpackResult(job.result ?? "{}");
  const userParameters =
    (typeof written === "string" ? parseExactJson(written) : request?.user_webhook_parameters) ?? undefined;
  const isOriginalWanted = request?.show_original_response === true && result.original_response !== undefined;
  return {
    event: "async_job_completed",
    job_id: job.id,
    status: job.status,
    feature: job.feature,
    subfeature: job.subfeature,
    provider: job.provider,
    model: job.model,
    created_at: toIsoTime(job.createdAt),
    finished_at: toIsoTime(job.finishedAt ?? job.createdAt),
    ...(job.status === "success" ? { output: result.output ?? {} } : {}),
    ...(job.status === "fail" ? { error: { message: result.error?.message ?? "The job failed" } } : {}),
    ...(isOriginalWanted ? { original_response: result.original_response } : {}),
    ...(userParameters === undefined ? {} : { user_parameters: userParameters }),
  };
}

/** The format of Python's `datetime.isoformat`: an offset instead of `Z`, and milliseconds only if they are not zero. */
function toIsoTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/(?:\.000)?Z$/, "+00:00");
}
