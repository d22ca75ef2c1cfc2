// The queue of work that jobs leave behind: runs and webhook deliveries. The queue is part of the handle that statements use, so a
// job and its work are committed together. SQLite keeps the queue in a table (sqlite-queue.ts), PostgreSQL in pg-boss (postgres-queue.ts).

export const workKinds = ["run", "deliver"] as const;
export type WorkKind = (typeof workKinds)[number];

export function isWorkKind(text: string): text is WorkKind {
  return (workKinds as readonly string[]).includes(text);
}

/** A piece of work together with the lease of the consumer that took it. */
export interface WorkItem {
  /** Identifies this piece of work. Work that is postponed gets a new id. */
  readonly id: string;
  readonly kind: WorkKind;
  /** The id of the job or of the delivery. */
  readonly subject: string;
  /** Work of one group shares a concurrency limit, such as the host of a receiver. Empty: no group. */
  readonly group: string;
  /** Required to extend or end the work. It changes with every take, so a consumer that lost its lease has an outdated one. */
  readonly lease: string;
  /** When the work was taken, by the clock of the consumer. */
  readonly takenAt?: number;
}

export interface TakeWork {
  readonly kind: WorkKind;
  readonly limit: number;
  /** Groups that have reached their concurrency limit. */
  readonly ignoreGroups: readonly string[];
}

export interface NewWork {
  /** A new UUID. */
  readonly id: string;
  readonly kind: WorkKind;
  readonly subject: string;
  readonly group: string;
  readonly dueAt: number;
  /** Runs with a smaller rank are taken first; see `rankJobs` in jobs.ts. Default: 0. */
  readonly rank?: number;
}

export interface WorkQueue {
  add(work: readonly NewWork[]): Promise<void>;
  take(request: TakeWork): Promise<WorkItem[]>;
  /** Returns the ids whose lease is still valid. */
  extend(items: readonly WorkItem[]): Promise<string[]>;
  /** Deletes the work. Returns the ids whose lease was still valid. */
  end(items: readonly WorkItem[]): Promise<string[]>;
  /** Deletes the work whether or not a consumer holds a lease. */
  remove(kind: WorkKind, ids: readonly string[]): Promise<void>;
  /** The rank of the run that is taken next; 0 when none is due. */
  nextRank(): Promise<number>;
  /** How much work there is, by kind; kinds without work may be missing. */
  count(): Promise<WorkCounts[]>;
}

export interface WorkCounts {
  readonly kind: WorkKind;
  /** Due, and not leased. */
  readonly waiting: number;
  /** Due later: postponed jobs, and repeated deliveries. */
  readonly scheduled: number;
  readonly leased: number;
  /** How long the oldest waiting work has been due; 0 when none waits. */
  readonly oldestWaitingMs: number;
}

/**
 * For each item, whether its lease is valid according to `check` (`extend` or `end`). When several items have the same id, they are checked
 * one after the other: the returned ids could not tell which of them is valid. `isKnownValid` saves the check.
 */
export async function checkLeases(
  items: readonly WorkItem[],
  check: (items: readonly WorkItem[]) => Promise<readonly string[]>,
  isKnownValid: (item: WorkItem) => boolean = () => false,
): Promise<boolean[]> {
  const isValid = items.map(isKnownValid);
  for (let left = [...items.entries()].filter(([index]) => !isValid[index]); left.length > 0; ) {
    const checked = new Map(left.toReversed().map((entry) => [entry[1].id, entry]));
    const ids = new Set(await check([...checked.values()].map(([, item]) => item)));
    for (const [id, [index]] of checked) isValid[index] = ids.has(id);
    left = left.filter((entry) => checked.get(entry[1].id) !== entry);
  }
  return isValid;
}

// Much shorter than any lease.
const freshMs = 5_000;

/** The work was taken so recently that its lease cannot have expired. */
export function isFresh({ takenAt }: WorkItem): boolean {
  return takenAt !== undefined && Math.abs(Date.now() - takenAt) < freshMs;
}
