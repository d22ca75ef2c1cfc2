// Jobs as rows of their table, and back.

import type { JobRecord, JobStatus, ListedJob, NewJob } from "./job-records.ts";
import type { SqlRow } from "./sql.ts";

/** Progress is kept in millionths, since there are no fractions in our tables. */
export const progressUnit = 1_000_000;

/** Texts of more characters do not share a transaction with those of others, who would wait for them. */
export const largeText = 65_536;

export function toJobRow(job: NewJob): SqlRow & { work_id: string } {
  return {
    id: job.id,
    owner: job.owner,
    key_id: job.keyId,
    feature: job.feature,
    subfeature: job.subfeature,
    provider: job.provider,
    model: job.model,
    status: "processing",
    created_at: job.createdAt,
    finished_at: null,
    expires_at: job.expiresAt,
    runs: 0,
    progress: null,
    cost_pico_usd: null,
    cost_reason: null,
    webhook_receiver: job.webhookReceiver,
    work_id: Bun.randomUUIDv7(),
    request: job.request,
  };
}

/** The casts say what was written: these columns have no other writer. */
export function toListedJob(row: SqlRow): ListedJob {
  return {
    id: row["id"] as string,
    owner: row["owner"] as string,
    keyId: row["key_id"] as string,
    feature: row["feature"] as string,
    subfeature: row["subfeature"] as string,
    provider: row["provider"] as string,
    model: row["model"] as string | null,
    status: row["status"] as JobStatus,
    createdAt: Number(row["created_at"]),
    finishedAt: row["finished_at"] === null ? null : Number(row["finished_at"]),
    expiresAt: Number(row["expires_at"]),
    runs: Number(row["runs"]),
    progress: row["progress"] === null ? null : Number(row["progress"]) / progressUnit,
    cost: row["cost_pico_usd"] as bigint | null,
    costReason: row["cost_reason"] as string | null,
    webhookReceiver: row["webhook_receiver"] as string | null,
    result: row["result"] as string | null,
  };
}

export function toJob(row: SqlRow): JobRecord {
  return { ...toListedJob(row), request: row["request"] as string, kept: row["kept"] as string | null };
}
