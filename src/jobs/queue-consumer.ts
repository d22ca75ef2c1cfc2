// Takes work that is due, hands it to whoever does it, and keeps it held until that is over. One for each kind of work.
//
// Work belongs to a group where it can get stuck (a provider, the host of a receiver): a group has so many concurrency and no more, and what
// was taken for a full one waits here, held, while the others go on.

import { endsWithin } from "../lib/deadline.ts";
import type { Log } from "../log.ts";
import type { TakeWork, WorkItem, WorkKind } from "../storage/work-queue.ts";

export interface QueueConsumerOptions {
  readonly kind: WorkKind;
  /** The most at once. */
  readonly concurrency: number;
  readonly concurrencyPerGroup: number;
  readonly work: WorkHolder;
  /** Resolves when it is over, however it ended; what it throws is a bug or an outage, and the work comes up again by itself. */
  readonly handle: (item: WorkItem, signal: AbortSignal) => Promise<void>;
  /** Which subjects are still to be worked on. The work of the others is ended: a job was cancelled, perhaps by another process. */
  readonly findWanted?: (subjects: readonly string[]) => Promise<readonly string[]>;
  readonly log: Log;
  readonly timing?: Partial<typeof usualTiming>;
}

export interface WorkHolder {
  take(what: TakeWork): Promise<WorkItem[]>;
  /** The ids of those that are still held. */
  extend(items: readonly WorkItem[]): Promise<string[]>;
}

export interface QueueConsumer {
  /** There may be something to do. */
  wake(): void;
  /** Takes no more, waits for what runs, and at the bound ends it. What waits here comes up again elsewhere. */
  stop(boundMs: number): Promise<void>;
  state(): { readonly running: number; readonly waiting: number; readonly groups: number };
}

interface Held {
  readonly item: WorkItem;
  readonly controller: AbortController;
  done: Promise<void> | null;
}

const usualTiming = {
  askEveryMs: 500,
  /** While the store is away. */
  slowestAskMs: 2_000,
  extendEveryMs: 5_000,
  checkEveryMs: 500,
  /** A lease lives for longer. After such a silence, of the store or of this whole machine, others may think us dead. */
  longSilenceMs: 10_000,
  /** Work that was ended puts itself back. */
  putBackMs: 1_000,
};
const gatherMs = 10;
// A hint does not name its group. While groups are full most hints are of theirs, and the rest of the queue is looked through in vain.
const gatherFullMs = 100;
const mostTaken = 128;
const extendedAtOnce = 256;
// Of groups that are full. What is above it is left to others, or for later.
const mostWaiting = 2_048;

export function startQueueConsumer(options: QueueConsumerOptions): QueueConsumer {
  const { kind, concurrency, concurrencyPerGroup, work, handle, log } = options;
  const { askEveryMs, slowestAskMs, extendEveryMs, checkEveryMs, longSilenceMs, putBackMs } = {
    ...usualTiming,
    ...options.timing,
  };
  const held = new Map<string, Held>();
  const waiting = new Map<string, Held[]>();
  const running = new Map<string, number>();
  let runningCount = 0;
  let waitingCount = 0;
  let isStopping = false;
  let isAsking = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** The last time there was as much as could be taken. */
  let mayBeMore = false;
  /** Groups that were full the last time. */
  let passedBy: readonly string[] = [];
  /** And nothing was found beside them. */
  let isInVain = false;
  /** By the clock of the wall, which is also the one that leases end by. */
  let contactedAt = Date.now();
  let restsUntil = 0;
  let pauseMs = askEveryMs;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let soon: ReturnType<typeof setTimeout> | null = null;
  let soonAt = 0;
  let isFilling = false;
  const heartbeat = setInterval(() => void renewLeases(), extendEveryMs);
  const { findWanted } = options;
  let isChecking = false;
  const checks = findWanted === undefined ? null : setInterval(() => void dropUnwanted(findWanted), checkEveryMs);

  function wake(): void {
    if (isStopping) return;
    // In a rush there is a hint for everything that is done, and each ask in vain costs as much as one that finds something.
    const waitMs = askedAt + (isInVain ? gatherFullMs : gatherMs) - performance.now();
    if (isAsking || waitMs > 0) wakeSoon(Math.max(waitMs, gatherMs));
    else void ask();
  }

  /** Work is taken many at a time: a moment after a place became free others have, too. */
  function wakeSoon(waitMs = gatherMs): void {
    if (isStopping) return;
    const at = performance.now() + waitMs;
    if (soon !== null) {
      if (soonAt <= at) return;
      clearTimeout(soon);
    }
    soonAt = at;
    soon = setTimeout(() => {
      soon = null;
      if (isAsking) wakeSoon();
      else void ask();
    }, waitMs);
  }

  async function ask(): Promise<void> {
    isAsking = true;
    askedAt = performance.now();
    if (timer !== null) clearTimeout(timer);
    let delayMs = askEveryMs;
    try {
      // Our own work comes first: it would be taken from us, even by us.
      if (isContactLost()) await extend();
      delayMs = Math.max(delayMs, restsUntil - performance.now());
      if (performance.now() >= restsUntil) await take();
      pauseMs = askEveryMs;
    } catch (error) {
      pauseMs = Math.min(pauseMs * 2, slowestAskMs);
      delayMs = pauseMs;
      log.debug("work could not be taken", { kind, error });
    }
    isAsking = false;
    if (!isStopping) timer = setTimeout(() => void ask(), delayMs);
  }

  function isContactLost(): boolean {
    return Math.abs(Date.now() - contactedAt) > longSilenceMs;
  }

  /** After a long silence the others get the time to say that they still hold theirs. */
  function noteContact(): void {
    if (isContactLost()) restsUntil = performance.now() + slowestAskMs;
    contactedAt = Date.now();
  }

  async function take(): Promise<void> {
    do {
      const limit = Math.min(concurrency - runningCount, mostTaken);
      mayBeMore = limit <= 0;
      if (mayBeMore) return;
      passedBy = fullGroups();
      const taken = await work.take({ kind, limit, ignoreGroups: passedBy });
      noteContact();
      // What was taken in the last moment comes up again elsewhere.
      if (isStopping) return;
      for (const item of taken) accept(item);
      isInVain = taken.length === 0 && passedBy.length > 0;
      mayBeMore = taken.length === limit;
    } while (mayBeMore && runningCount < concurrency);
  }

  /** Those of which something waits here are among them: it would have begun else. */
  function fullGroups(): string[] {
    return [...running.keys()].filter((group) => !mayStart(group));
  }

  function accept(item: WorkItem): void {
    // We were silent for so long that it was given away, to ourselves.
    held.get(item.id)?.controller.abort();
    const one: Held = { item, controller: new AbortController(), done: null };
    if (mayStart(item.group)) {
      start(one);
      return;
    }
    if (waitingCount >= mostWaiting) return;
    held.set(item.id, one);
    const queue = waiting.get(item.group);
    if (queue === undefined) waiting.set(item.group, [one]);
    else queue.push(one);
    waitingCount++;
  }

  /** When concurrency become few, who has many gets no more: some are left for the others when several groups are stuck. */
  function mayStart(group: string): boolean {
    const free = concurrency - runningCount;
    if (free <= 0 || group === "") return free > 0;
    const most = free > concurrency / 4 ? concurrencyPerGroup : Math.min(concurrencyPerGroup, Math.ceil(free / 4));
    return (running.get(group) ?? 0) < most;
  }

  function start(one: Held): void {
    const { group, id } = one.item;
    held.set(id, one);
    runningCount++;
    running.set(group, (running.get(group) ?? 0) + 1);
    one.done = handle(one.item, one.controller.signal)
      .catch((error) => log.warn("work was interrupted and comes up again", { kind, subject: one.item.subject, error }))
      .finally(() => {
        if (held.get(id) === one) held.delete(id);
        runningCount--;
        const left = (running.get(group) ?? 1) - 1;
        if (left === 0) running.delete(group);
        else running.set(group, left);
        fillPlaces();
      });
  }

  /** After all that ends in this moment: what begins together asks the store together. */
  function fillPlaces(): void {
    if (isFilling) return;
    isFilling = true;
    setImmediate(() => {
      isFilling = false;
      if (isStopping) return;
      startWaiting();
      if (mayBeMore || passedBy.some((group) => !waiting.has(group) && mayStart(group))) wakeSoon();
    });
  }

  function startWaiting(): void {
    for (const [group, queue] of waiting) {
      while (queue.length > 0 && mayStart(group)) {
        const next = queue.shift();
        waitingCount--;
        if (next !== undefined && held.get(next.item.id) === next) start(next);
      }
      if (queue.length === 0) waiting.delete(group);
    }
  }

  async function renewLeases(): Promise<void> {
    if (held.size === 0) return;
    try {
      await extend();
    } catch (error) {
      log.debug("work could not be held", { kind, error });
    }
  }

  /** Asks the store also when nothing is held: its answer ends a silence. */
  async function extend(): Promise<void> {
    const all = [...held.values()];
    for (let from = 0; from === 0 || from < all.length; from += extendedAtOnce) {
      const some = all.slice(from, from + extendedAtOnce);
      const still = new Set(await work.extend(some.map(({ item }) => item)));
      noteContact();
      for (const one of some) if (!still.has(one.item.id)) dropLease(one);
    }
  }

  async function dropUnwanted(find: NonNullable<QueueConsumerOptions["findWanted"]>): Promise<void> {
    if (held.size === 0 || isChecking) return;
    isChecking = true;
    try {
      const all = [...held.values()];
      const wanted = new Set(await find(all.map(({ item }) => item.subject)));
      for (const one of all) if (!wanted.has(one.item.subject)) dropLease(one);
    } catch (error) {
      log.debug("work could not be checked", { kind, error });
    } finally {
      isChecking = false;
    }
  }

  /** Somebody else has it by now, or the job is gone. */
  function dropLease(one: Held): void {
    if (held.get(one.item.id) !== one) return;
    held.delete(one.item.id);
    one.controller.abort();
  }

  timer = setTimeout(() => void ask(), 0);

  return {
    wake,
    async stop(boundMs) {
      isStopping = true;
      if (timer !== null) clearTimeout(timer);
      if (soon !== null) clearTimeout(soon);
      // Not held any longer, so that the others need not wait for our end.
      for (const { item } of [...waiting.values()].flat()) held.delete(item.id);
      waiting.clear();
      waitingCount = 0;
      const over = Promise.all([...held.values()].map(({ done }) => done));
      if (!(await endsWithin(over, boundMs))) {
        for (const { controller } of held.values()) controller.abort();
        await endsWithin(over, putBackMs);
      }
      clearInterval(heartbeat);
      if (checks !== null) clearInterval(checks);
    },
    state: () => ({ running: runningCount, waiting: waitingCount, groups: running.size }),
  };
}
