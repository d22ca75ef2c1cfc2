// Takes due work from the queue, passes it to a handler, and extends its lease until the handler is done. There is one consumer per kind of work.
//
// Work of one group (a provider, the host of a receiver) can get stuck together, so each group has a concurrency limit. Work that was taken for
// a group at its limit waits here with its lease, while other groups continue.

import { endsWithin } from "../lib/deadline.ts";
import type { Log } from "../log.ts";
import type { TakeWork, WorkItem, WorkKind } from "../storage/work-queue.ts";

export interface QueueConsumerOptions {
  readonly kind: WorkKind;
  readonly concurrency: number;
  readonly concurrencyPerGroup: number;
  readonly work: WorkSource;
  /** Resolves when the work is done, successfully or not. If it throws, because of a bug or an outage, the lease expires and the work is repeated. */
  readonly handle: (item: WorkItem, signal: AbortSignal) => Promise<void>;
  /** The ids of those items that are unfinished. The handlers of the others are aborted: any process may have cancelled the job. */
  readonly findUnfinished?: (items: readonly WorkItem[]) => Promise<readonly string[]>;
  readonly log: Log;
  readonly timing?: Partial<typeof defaultTiming>;
}

export interface WorkSource {
  take(request: TakeWork): Promise<WorkItem[]>;
  /** Returns the ids whose lease is still valid. */
  extend(items: readonly WorkItem[]): Promise<string[]>;
}

export type QueueConsumer = ReturnType<typeof startQueueConsumer>;

interface HeldWork {
  readonly item: WorkItem;
  readonly controller: AbortController;
  done: Promise<void> | null;
}

const defaultTiming = {
  pollEveryMs: 500,
  /** The longest interval while the store is down. */
  slowestPollMs: 2_000,
  extendEveryMs: 5_000,
  checkEveryMs: 500,
  /** Shorter than a lease. After such a time without contact to the store, other consumers may have taken our work. */
  contactLostMs: 10_000,
  /** The time that aborted handlers get to release their work. */
  releaseMs: 1_000,
  /** The shortest time between two polls that hints cause. */
  hintDelayMs: 10,
  /** A hint does not name a group. While groups are at their limit, most hints are about them, and polling finds nothing. */
  hintDelayWhileFullMs: 100,
};
const maxTaken = 128;
const maxExtended = 256;
// Work of groups at their limit. More than this is left to other consumers, or for later.
const maxWaiting = 2_048;

export function startQueueConsumer(options: QueueConsumerOptions) {
  const { kind, concurrency, concurrencyPerGroup, work, handle, log } = options;
  const {
    pollEveryMs,
    slowestPollMs,
    extendEveryMs,
    checkEveryMs,
    contactLostMs,
    releaseMs,
    hintDelayMs,
    hintDelayWhileFullMs,
  } = {
    ...defaultTiming,
    ...options.timing,
  };
  const held = new Map<string, HeldWork>();
  const waiting = new Map<string, HeldWork[]>();
  const running = new Map<string, number>();
  let runningCount = 0;
  let waitingCount = 0;
  let isStopping = false;
  let isPolling = false;
  let polledAt = Number.NEGATIVE_INFINITY;
  /** Whether the last poll returned as much as it asked for. */
  let mayBeMore = false;
  /** The groups that were at their limit in the last poll. */
  let ignoredGroups: readonly string[] = [];
  /** Whether the last poll ignored groups and found no other work. */
  let foundNothing = false;
  /** Wall-clock time, because leases expire by it, too. */
  let contactedAt = Date.now();
  let pausedUntil = 0;
  let pauseMs = pollEveryMs;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let soon: ReturnType<typeof setTimeout> | null = null;
  let soonAt = 0;
  let isStartScheduled = false;
  const heartbeat = setInterval(() => void renewLeases(), extendEveryMs);
  const { findUnfinished } = options;
  let isChecking = false;
  const checks =
    findUnfinished === undefined ? null : setInterval(() => void dropFinished(findUnfinished), checkEveryMs);

  /** Call it when there may be new work. */
  function wake(): void {
    if (isStopping) return;
    // Under load there is a hint for every job, and a poll that finds nothing costs as much as any other.
    const waitMs = polledAt + (foundNothing ? hintDelayWhileFullMs : hintDelayMs) - performance.now();
    if (isPolling || waitMs > 0) wakeSoon(Math.max(waitMs, hintDelayMs));
    else void poll();
  }

  /** Waits a moment, so that one poll serves several slots that become free at nearly the same time. */
  function wakeSoon(waitMs = hintDelayMs): void {
    if (isStopping) return;
    const at = performance.now() + waitMs;
    if (soon !== null) {
      if (soonAt <= at) return;
      clearTimeout(soon);
    }
    soonAt = at;
    soon = setTimeout(() => {
      soon = null;
      if (isPolling) wakeSoon();
      else void poll();
    }, waitMs);
  }

  async function poll(): Promise<void> {
    isPolling = true;
    polledAt = performance.now();
    if (timer !== null) clearTimeout(timer);
    let delayMs = pollEveryMs;
    try {
      // Extend our own leases first. Otherwise the work could be taken again, even by this consumer.
      if (isContactLost()) await extend();
      delayMs = Math.max(delayMs, pausedUntil - performance.now());
      if (performance.now() >= pausedUntil) await take();
      pauseMs = pollEveryMs;
    } catch (error) {
      pauseMs = Math.min(pauseMs * 2, slowestPollMs);
      delayMs = pauseMs;
      log.debug("Work could not be taken", { kind, error });
    }
    isPolling = false;
    if (!isStopping) timer = setTimeout(() => void poll(), delayMs);
  }

  function isContactLost(): boolean {
    return Math.abs(Date.now() - contactedAt) > contactLostMs;
  }

  /** After a lost contact, other consumers get time to extend their leases before we take work. */
  function noteContact(): void {
    if (isContactLost()) pausedUntil = performance.now() + slowestPollMs;
    contactedAt = Date.now();
  }

  async function take(): Promise<void> {
    do {
      const limit = Math.min(concurrency - runningCount, maxTaken);
      mayBeMore = limit <= 0;
      if (mayBeMore) return;
      ignoredGroups = fullGroups();
      const taken = await work.take({ kind, limit, ignoreGroups: ignoredGroups });
      noteContact();
      // The leases of work that was taken during shutdown expire.
      if (isStopping) return;
      for (const item of taken) accept(item);
      foundNothing = taken.length === 0 && ignoredGroups.length > 0;
      mayBeMore = taken.length === limit;
    } while (mayBeMore && runningCount < concurrency);
  }

  /** Includes every group with waiting work, which would have started otherwise. */
  function fullGroups(): string[] {
    return [...running.keys()].filter((group) => !mayStart(group));
  }

  function accept(item: WorkItem): void {
    // The lease expired and we acquired it again.
    held.get(item.id)?.controller.abort();
    const one: HeldWork = { item, controller: new AbortController(), done: null };
    if (mayStart(item.group)) {
      start(one);
      return;
    }
    if (waitingCount >= maxWaiting) return;
    held.set(item.id, one);
    const queue = waiting.get(item.group);
    if (queue === undefined) waiting.set(item.group, [one]);
    else queue.push(one);
    waitingCount++;
  }

  /** When few slots are free, each group gets a smaller share, so that several stuck groups cannot use up all slots. */
  function mayStart(group: string): boolean {
    const free = concurrency - runningCount;
    if (free <= 0 || group === "") return free > 0;
    const most = free > concurrency / 4 ? concurrencyPerGroup : Math.min(concurrencyPerGroup, Math.ceil(free / 4));
    return (running.get(group) ?? 0) < most;
  }

  function start(one: HeldWork): void {
    const { group, id } = one.item;
    held.set(id, one);
    runningCount++;
    running.set(group, (running.get(group) ?? 0) + 1);
    one.done = handle(one.item, one.controller.signal)
      .catch((error) =>
        log.warn("Work was interrupted and will be repeated", { kind, subject: one.item.subject, error }),
      )
      .finally(() => {
        if (held.get(id) === one) held.delete(id);
        runningCount--;
        const left = (running.get(group) ?? 1) - 1;
        if (left === 0) running.delete(group);
        else running.set(group, left);
        startNext();
      });
  }

  /** Runs after all handlers that end in this turn, so that the calls of new handlers to the store are coalesced. */
  function startNext(): void {
    if (isStartScheduled) return;
    isStartScheduled = true;
    setImmediate(() => {
      isStartScheduled = false;
      if (isStopping) return;
      startWaiting();
      if (mayBeMore || ignoredGroups.some((group) => !waiting.has(group) && mayStart(group))) wakeSoon();
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
      log.debug("Leases could not be extended", { kind, error });
    }
  }

  /** Calls the store even if no lease is held, to restore the contact. */
  async function extend(): Promise<void> {
    const all = [...held.values()];
    for (let from = 0; from === 0 || from < all.length; from += maxExtended) {
      const some = all.slice(from, from + maxExtended);
      const still = new Set(await work.extend(some.map(({ item }) => item)));
      noteContact();
      for (const one of some) if (!still.has(one.item.id)) dropLease(one);
    }
  }

  async function dropFinished(find: NonNullable<QueueConsumerOptions["findUnfinished"]>): Promise<void> {
    if (held.size === 0 || isChecking) return;
    isChecking = true;
    try {
      const all = [...held.values()];
      const unfinished = new Set(await find(all.map(({ item }) => item)));
      for (const one of all) if (!unfinished.has(one.item.id)) dropLease(one);
    } catch (error) {
      log.debug("Held work could not be checked", { kind, error });
    } finally {
      isChecking = false;
    }
  }

  /** The lease expired, or the job is finished. */
  function dropLease(one: HeldWork): void {
    if (held.get(one.item.id) !== one) return;
    held.delete(one.item.id);
    one.controller.abort();
  }

  timer = setTimeout(() => void poll(), 0);

  return {
    wake,
    /** Stops leasing work, releases waiting items, and waits for running handlers. After the timeout it aborts them. */
    async stop(timeoutMs: number): Promise<void> {
      isStopping = true;
      if (timer !== null) clearTimeout(timer);
      if (soon !== null) clearTimeout(soon);
      // Stop extending these leases, so that other consumers need not wait until this one has stopped.
      for (const { item } of [...waiting.values()].flat()) held.delete(item.id);
      waiting.clear();
      waitingCount = 0;
      const allDone = Promise.all([...held.values()].map(({ done }) => done));
      if (!(await endsWithin(allDone, timeoutMs))) {
        for (const { controller } of held.values()) controller.abort();
        await endsWithin(allDone, releaseMs);
      }
      clearInterval(heartbeat);
      if (checks !== null) clearInterval(checks);
    },
    state: () => ({ running: runningCount, waiting: waitingCount, groups: running.size }),
  };
}
