// The records of jobs and of their webhook deliveries, and how they map to rows. Times are epoch milliseconds.

import { type Column, integer, mapRecord, nullable, type RecordOf, text } from "./record.ts";
import type { SqlRow } from "./sql.ts";

export type JobStatus = "processing" | "success" | "fail";
/** `blocked`: the gateway may not connect to the receiver's address. */
export type DeliveryState = "pending" | "delivered" | "failed" | "blocked";

/** Calls with a longer text get a transaction of their own, so that no other call waits for it. */
export const largeText = 65_536;
/** Enough to read or write a result of the largest size. */
export const largeTextDeadlineMs = 5_000;

/** Tables hold no fractions. */
export const progressUnit = 1_000_000;

const progress: Column<number> = {
  toSql: (value) => Math.round(value * progressUnit),
  fromSql: (value) => Number(value) / progressUnit,
};

const picoUsd: Column<bigint> = { toSql: (value) => value, fromSql: (value) => value as bigint };

const summaryColumns = {
  /** A UUID in lower case. */
  id: text(),
  owner: text(),
  keyId: text(),
  feature: text(),
  subfeature: text(),
  /** The provider that was requested; once the job is finished, the provider that performed it. */
  provider: text(),
  model: nullable(text()),
  status: text<JobStatus>(),
  createdAt: integer,
  finishedAt: nullable(integer),
  expiresAt: integer,
  /** How often the job was started. It also distinguishes the current run from runs that lost their lease. */
  runs: integer,
  /** 0 to 1, if the engine reports it. */
  progress: nullable(progress),
  cost: nullable(picoUsd),
  costReason: nullable(text()),
  webhookReceiver: nullable(text()),
};
const listedColumns = {
  ...summaryColumns,
  /** `{ output }`, `{ error }` and `{ original_response }`, as JSON text; null until the job is finished. */
  result: nullable(text()),
};
const jobColumns = {
  ...listedColumns,
  /** Everything that is needed to run the job, as JSON text. */
  request: text(),
  /** The progress of the job, as JSON text; null before the first step. */
  checkpoint: nullable(text()),
};
const sizedColumns = {
  ...summaryColumns,
  /** Null until the job is finished. */
  resultBytes: nullable(integer),
};
const sizedJobs = mapRecord(sizedColumns, { cost: "cost_pico_usd" });
const listedJobs = mapRecord(listedColumns, { cost: "cost_pico_usd" });
const jobs = mapRecord(jobColumns, { cost: "cost_pico_usd", checkpoint: "kept" });

export type JobRecord = RecordOf<typeof jobColumns>;
/** A job without the columns that its owner does not see and that may be large. */
export type ListedJob = RecordOf<typeof listedColumns>;
/** A job with the size of its result instead of the result. */
export type SizedJob = RecordOf<typeof sizedColumns>;
export const sizedJobColumns = sizedJobs.names.map((name) =>
  name === "result_bytes" ? "octet_length(result) as result_bytes" : name,
);
export const toSizedJob = sizedJobs.fromRow;
export const listedJobColumns = listedJobs.names;
export const toListedJob = listedJobs.fromRow;
export const toJob = jobs.fromRow;

export interface JobResult extends Pick<JobRecord, "provider" | "model" | "cost" | "costReason"> {
  readonly status: "success" | "fail";
  readonly finishedAt: number;
  readonly result: string;
}

export type NewJob = Omit<JobRecord, keyof typeof newJobState | "result" | "checkpoint"> & {
  /** The runs of one group share a concurrency limit. Absent: no group. */
  readonly group?: string;
  /** The most unfinished jobs that the owner may have, this one included. Absent: no limit. */
  readonly maxUnfinished?: number;
};

const newJobState = {
  status: "processing",
  finishedAt: null,
  runs: 0,
  progress: null,
  cost: null,
  costReason: null,
} as const;

export function toJobRow(job: NewJob): SqlRow & { work_id: string } {
  return { ...jobs.toRow({ ...job, ...newJobState }), work_id: Bun.randomUUIDv7() };
}

const deliveryColumns = {
  id: text(),
  jobId: text(),
  owner: text(),
  receiver: text(),
  state: text<DeliveryState>(),
  createdAt: integer,
  /** Null: no attempt is planned. */
  nextAttemptAt: nullable(integer),
};
const attemptColumns = {
  /** 1, 2, 3 … */
  number: integer,
  startedAt: integer,
  durationMs: integer,
  /** The status of the receiver's answer; null without an answer. */
  status: nullable(integer),
  /** Null: delivered. */
  error: nullable(text()),
  /** `kid` of the key that signed the webhook. */
  keyId: text(),
};
const deliveries = mapRecord(deliveryColumns);
const attempts = mapRecord(attemptColumns);

export type DeliveryAttempt = RecordOf<typeof attemptColumns>;
/** One webhook to a receiver. Each redelivery is a delivery of its own. */
export type DeliveryRecord = RecordOf<typeof deliveryColumns> & { readonly attempts: readonly DeliveryAttempt[] };
export const toAttemptRow = attempts.toRow;

export function toDelivery(row: SqlRow, attemptRows: readonly SqlRow[]): DeliveryRecord {
  return { ...deliveries.fromRow(row), attempts: attemptRows.map(attempts.fromRow) };
}

export interface IdempotencyKey {
  readonly key: string;
  /** SHA-256 of the request, in hexadecimal. */
  readonly bodyHash: string;
  readonly expiresAt: number;
}

/**
 * `same`: the idempotency key was used before with the same body, and created this job. `conflict`: it was used before with another body.
 * `full`: the owner has `maxUnfinished` unfinished jobs.
 */
export type CreateJobOutcome =
  | { readonly outcome: "created" | "same"; readonly job: ListedJob }
  | { readonly outcome: "conflict" | "full" };

/** `unchanged`: the job was cancelled before. `finished`: the job succeeded or failed. */
export type CancelJobOutcome =
  | { readonly outcome: "cancelled" | "unchanged"; readonly job: ListedJob }
  | { readonly outcome: "finished" | "missing" };

export interface JobCancellation {
  readonly at: number;
  /** The result of a cancelled job. Every cancellation has the same, which is how a cancelled job is recognised. */
  readonly result: string;
  readonly delivery: { readonly id: string };
}

export interface JobFilter {
  /** Null: jobs of all owners. */
  readonly owner: string | null;
  readonly status: JobStatus | null;
  readonly feature: string | null;
  readonly subfeature: string | null;
  readonly limit: number;
  readonly offset: number;
}
