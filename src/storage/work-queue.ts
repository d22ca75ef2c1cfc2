// What statements need of a queue of work. It is part of the handle that they are written against, so that a job and its work
// are stored together or not at all. SQLite keeps it in a table (sqlite-queue.ts), PostgreSQL with pg-boss (boss-queue.ts).

import type { TakeWork, WorkItem, WorkKind } from "./job-records.ts";

export interface NewWork {
  /** A UUID that nothing else has. */
  readonly id: string;
  readonly kind: WorkKind;
  /** The id of the job, or of the delivery. */
  readonly subject: string;
  /** What it shares its places with, such as the host of a receiver; empty: nothing. */
  readonly group: string;
  readonly dueAt: number;
}

export interface WorkCount {
  /** All that nobody holds, due or not. */
  readonly waiting: number;
  readonly due: number;
  readonly held: number;
  readonly oldestDueAt: number | null;
}

export type WorkCounts = Record<WorkKind, WorkCount>;

export const noWork: WorkCount = { waiting: 0, due: 0, held: 0, oldestDueAt: null };

export interface WorkQueue {
  add(work: readonly NewWork[]): Promise<void>;
  take(what: TakeWork): Promise<WorkItem[]>;
  /** The ids of those that are still held by who shows them. */
  extend(items: readonly WorkItem[]): Promise<string[]>;
  /** Takes it away for good. False: it is not the shower's any more. */
  end(item: WorkItem): Promise<boolean>;
  /** Takes it away from whoever holds it. */
  remove(kind: WorkKind, ids: readonly string[]): Promise<void>;
  count(): Promise<WorkCounts>;
}
