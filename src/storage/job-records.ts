// What the store holds about jobs and their webhook deliveries, and how these records map to rows. Times are epoch milliseconds.

import { type Column, integer, mapRecord, nullable, text } from "./record.ts";
import type { SqlRow } from "./sql.ts";

export interface JobRecord extends ListedJob {
  /** Everything that is needed to run the job, as JSON text. */
  readonly request: string;
  /** How far the job has come, as JSON text; null before the first step. */
  readonly checkpoint: string | null;
}

/** A job without the columns that lists do not show and that may be large. */
export interface ListedJob {
  /** A UUID in lower case. */
  readonly id: string;
  readonly owner: string;
  readonly keyId: string;
  readonly feature: string;
  readonly subfeature: string;
  /** The provider that was requested; once the job is finished, the provider that performed it. */
  readonly provider: string;
  readonly model: string | null;
  readonly status: JobStatus;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly expiresAt: number;
  /** How often the job was started. It also distinguishes the current run from runs that lost their lease. */
  readonly runs: number;
  /** 0 to 1, if the engine reports it. */
  readonly progress: number | null;
  /** In whole pico-dollars. */
  readonly cost: bigint | null;
  readonly costReason: string | null;
  readonly webhookReceiver: string | null;
  /** `{ output }`, `{ error }` and `{ original_response }`, as JSON text; null until the job is finished. */
  readonly result: string | null;
}

export type JobStatus = "processing" | "success" | "fail";

export type NewJob = Pick<
  JobRecord,
  | "id"
  | "owner"
  | "keyId"
  | "feature"
  | "subfeature"
  | "provider"
  | "model"
  | "createdAt"
  | "expiresAt"
  | "webhookReceiver"
  | "request"
> & {
  /** The runs of one group share a concurrency limit. Absent: no group. */
  readonly group?: string;
  /** The most unfinished jobs that the owner may have, this one included. Absent: no limit. */
  readonly maxUnfinished?: number;
};

export interface IdempotencyKey {
  readonly key: string;
  /** SHA-256 of the request, in hexadecimal. */
  readonly bodyHash: string;
  readonly expiresAt: number;
}

export type CreateJobOutcome =
  | { readonly outcome: "created"; readonly job: ListedJob }
  /** The idempotency key was used before with the same body: the job that it created. */
  | { readonly outcome: "same"; readonly job: ListedJob }
  /** The idempotency key was used before with another body. */
  | { readonly outcome: "conflict" }
  /** The owner has `maxUnfinished` unfinished jobs. */
  | { readonly outcome: "full" };

/** `unchanged`: the job was cancelled before. `finished`: the job succeeded or failed. */
export type CancelJobOutcome =
  | { readonly outcome: "cancelled" | "unchanged"; readonly job: ListedJob }
  | { readonly outcome: "finished" }
  | { readonly outcome: "missing" };

export interface JobCancellation {
  readonly at: number;
  /** The result of a cancelled job. Every cancellation has the same, which is how a cancelled job is recognised. */
  readonly result: string;
  readonly delivery: { readonly id: string };
}

export interface JobFilter {
  readonly owner: string;
  readonly status: JobStatus | null;
  readonly feature: string | null;
  readonly subfeature: string | null;
  readonly limit: number;
  readonly offset: number;
}

export interface JobResult {
  readonly status: "success" | "fail";
  readonly provider: string;
  readonly model: string | null;
  readonly finishedAt: number;
  readonly cost: bigint | null;
  readonly costReason: string | null;
  readonly result: string;
}

/** One webhook to a receiver, with all of its attempts. Each redelivery is a delivery of its own. */
export interface DeliveryRecord {
  readonly id: string;
  readonly jobId: string;
  readonly owner: string;
  readonly receiver: string;
  readonly state: DeliveryState;
  readonly createdAt: number;
  readonly attempts: readonly DeliveryAttempt[];
  /** Null: no attempt is planned. */
  readonly nextAttemptAt: number | null;
}

/** `blocked`: the gateway may not connect to the receiver's address. */
export type DeliveryState = "pending" | "delivered" | "failed" | "blocked";

export interface DeliveryAttempt {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** The status of the receiver's answer; null without an answer. */
  readonly status: number | null;
  /** Null: delivered. */
  readonly error: string | null;
  /** `kid` of the key that signed the webhook. */
  readonly keyId: string;
}

/** Calls with a longer text get a transaction of their own, so that no other call waits for it. */
export const largeText = 65_536;

/** Tables hold no fractions. */
export const progressUnit = 1_000_000;

const progress: Column<number> = {
  toSql: (value) => Math.round(value * progressUnit),
  fromSql: (value) => Number(value) / progressUnit,
};

const picoUsd: Column<bigint> = { toSql: (value) => value, fromSql: (value) => value as bigint };

const listedColumns = {
  id: text(),
  owner: text(),
  keyId: text(),
  feature: text(),
  subfeature: text(),
  provider: text(),
  model: nullable(text()),
  status: text<JobStatus>(),
  createdAt: integer,
  finishedAt: nullable(integer),
  expiresAt: integer,
  runs: integer,
  progress: nullable(progress),
  cost: nullable(picoUsd),
  costReason: nullable(text()),
  webhookReceiver: nullable(text()),
  result: nullable(text()),
};

const listedJobs = mapRecord<ListedJob>(listedColumns, { cost: "cost_pico_usd" });
const jobs = mapRecord<JobRecord>(
  { ...listedColumns, request: text(), checkpoint: nullable(text()) },
  { cost: "cost_pico_usd", checkpoint: "kept" },
);
const deliveries = mapRecord<Omit<DeliveryRecord, "attempts">>({
  id: text(),
  jobId: text(),
  owner: text(),
  receiver: text(),
  state: text<DeliveryState>(),
  createdAt: integer,
  nextAttemptAt: nullable(integer),
});
const attempts = mapRecord<DeliveryAttempt>({
  number: integer,
  startedAt: integer,
  durationMs: integer,
  status: nullable(integer),
  error: nullable(text()),
  keyId: text(),
});

export const listedJobColumns = listedJobs.columns;
export const toListedJob = listedJobs.fromRow;
export const toJob = jobs.fromRow;
export const toAttemptRow = attempts.toRow;

export function toJobRow(job: NewJob): SqlRow & { work_id: string } {
  const start = {
    status: "processing",
    finishedAt: null,
    runs: 0,
    progress: null,
    cost: null,
    costReason: null,
  } as const;
  return { ...jobs.toRow({ ...job, ...start }), work_id: Bun.randomUUIDv7() };
}

export function toDelivery(row: SqlRow, attemptRows: readonly SqlRow[]): DeliveryRecord {
  return { ...deliveries.fromRow(row), attempts: attemptRows.map(attempts.fromRow) };
}
