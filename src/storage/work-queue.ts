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
  /** Runs with a smaller one are taken first; see `findTurns` in jobs.ts. Absent: 0. */
  readonly rank?: number;
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
  /** Takes them away for good. The ids of those that were still held by who shows them. */
  end(items: readonly WorkItem[]): Promise<string[]>;
  /** Takes it away from whoever holds it. */
  remove(kind: WorkKind, ids: readonly string[]): Promise<void>;
  /** The rank of the run that is taken next; 0 when none is due. */
  nextRank(): Promise<number>;
  count(): Promise<WorkCounts>;
}

/**
 * For each item whether it is still held, by what `extend` or `end` says of it. Claims of the same work are shown one after the other: an
 * id that comes back would not tell who lost it from who has it, nor the first that ends it from the second. Of those that are
 * known to be held the store is not asked.
 */
export async function findHeld(
  items: readonly WorkItem[],
  show: (items: readonly WorkItem[]) => Promise<readonly string[]>,
  isKnown: (item: WorkItem) => boolean = () => false,
): Promise<boolean[]> {
  const isHeld = items.map(isKnown);
  for (let left = [...items.entries()].filter(([index]) => !isHeld[index]); left.length > 0; ) {
    const shown = new Map(left.toReversed().map((entry) => [entry[1].id, entry]));
    const ids = new Set(await show([...shown.values()].map(([, item]) => item)));
    for (const [id, [index]] of shown) isHeld[index] = ids.has(id);
    left = left.filter((entry) => shown.get(entry[1].id) !== entry);
  }
  return isHeld;
}

// Much less than a holder may be silent for.
const freshMs = 5_000;

/** It was taken so shortly before that nobody else can have been given it. */
export function isFresh({ takenAt }: WorkItem): boolean {
  return takenAt !== undefined && Math.abs(Date.now() - takenAt) < freshMs;
}
