// What is kept of jobs, of the reports about them, and of the work that is still to be done for both.

/** Times are epoch milliseconds. */
export interface JobRecord {
  /** A UUID in lower case. */
  readonly id: string;
  readonly owner: string;
  readonly keyId: string;
  readonly feature: string;
  readonly subfeature: string;
  /** Who was asked for; who did it, once it is done. */
  readonly provider: string;
  readonly model: string | null;
  readonly status: JobStatus;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly expiresAt: number;
  /** How often it was begun. It is also what tells the one who works on it now from one that was given up. */
  readonly runs: number;
  /** 0..1, where the engine tells it. */
  readonly progress: number | null;
  /** In whole pico-dollars. */
  readonly cost: bigint | null;
  readonly costReason: string | null;
  readonly webhookReceiver: string | null;
  /** All that is needed to run it, as JSON text. */
  readonly request: string;
  /** What an engine wants to find again when it goes on, as JSON text; null before its first word. */
  readonly kept: string | null;
  /** `{ output }`, `{ error }` and `{ original_response }`, as JSON text; null while it runs. */
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
  /** What its runs share their places with; absent: nothing. */
  readonly group?: string;
  /** The most jobs that its owner may have that are not over, this one included; absent: any number. */
  readonly maxUnfinished?: number;
};

/** Without what is large: for lists the result is read, the request is not. */
export type ListedJob = Omit<JobRecord, "request" | "kept">;

export interface IdempotencyMark {
  readonly key: string;
  /** SHA-256 of what was asked for, in hex. */
  readonly bodyHash: string;
  readonly expiresAt: number;
}

export type CreateJobOutcome =
  | { readonly outcome: "created"; readonly job: ListedJob }
  /** The same key with the same body: the job that it made. */
  | { readonly outcome: "same"; readonly job: ListedJob }
  /** The same key with another body. */
  | { readonly outcome: "conflict" }
  /** The owner has as many unfinished jobs as it may have. */
  | { readonly outcome: "full" };

/** `unchanged`: it was cancelled before. `finished`: it has ended otherwise. */
export type CancelJobOutcome =
  | { readonly outcome: "cancelled" | "unchanged"; readonly job: ListedJob }
  | { readonly outcome: "finished" }
  | { readonly outcome: "missing" };

export interface JobCancellation {
  /** Epoch milliseconds. */
  readonly at: number;
  /** What the job then has as its result. Another cancellation of the same job leaves the same text. */
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

/** One report of a job to its receiver, with as many attempts as it takes. Redelivery makes another one. */
export interface DeliveryRecord {
  readonly id: string;
  readonly jobId: string;
  readonly owner: string;
  readonly receiver: string;
  readonly state: DeliveryState;
  readonly createdAt: number;
  readonly attempts: readonly DeliveryAttempt[];
  /** Null: there will be none. */
  readonly nextAttemptAt: number | null;
}

/** `blocked`: its address may not be dialled. */
export type DeliveryState = "pending" | "delivered" | "failed" | "blocked";

export interface DeliveryAttempt {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Null: there was no answer. */
  readonly status: number | null;
  /** Null: it was delivered. */
  readonly error: string | null;
  /** `kid` of the key that signed it. */
  readonly keyId: string;
}

export const workKinds = ["run", "deliver"] as const;
export type WorkKind = (typeof workKinds)[number];

export function isWorkKind(text: string): text is WorkKind {
  return (workKinds as readonly string[]).includes(text);
}

/** Something to be done, held by who took it until the lease ends. */
export interface WorkItem {
  /** Of this piece of work; another one after each postponement is fine. */
  readonly id: string;
  readonly kind: WorkKind;
  /** The id of the job, or of the delivery. */
  readonly subject: string;
  /** What it shares its places with; empty: nothing. */
  readonly group: string;
  /** What must be shown to extend, finish or postpone it: whoever lost the lease has an old one. */
  readonly lease: string;
  /** When it was asked for, by the clock of who took it. */
  readonly takenAt?: number;
}

export interface TakeWork {
  readonly kind: WorkKind;
  readonly limit: number;
  /** Work of these groups is left for later: hosts that have as many calls open as they may. */
  readonly ignoreGroups: readonly string[];
}
