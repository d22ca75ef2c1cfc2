// Who does the work that jobs leave: one pump for runs, one for reports.

import type { Log } from "../log.ts";
import type { Storage } from "../storage/storage.ts";
import type { WorkItem, WorkKind } from "../storage/work-queue.ts";
import type { Deliverer } from "./deliverer.ts";
import { groupOf } from "./jobs.ts";
import { type QueueConsumer, startQueueConsumer } from "./queue-consumer.ts";
import { retryWhileStoreDown } from "./retry-while-store-down.ts";

export interface WorkerOptions {
  readonly storage: Pick<Storage, "work" | "deliveries" | "jobs" | "onWork">;
  readonly run: (item: WorkItem, signal: AbortSignal) => Promise<void>;
  readonly deliverer: Deliverer;
  readonly runsAtOnce: number;
  readonly deliveriesAtOnce: number;
  readonly deliveriesPerHost: number;
  readonly log: Log;
}

export interface JobWorker {
  /** Takes no more, and waits for what runs; at the bound it is ended and put back. */
  stop(boundMs: number): Promise<void>;
}

const sweepEveryMs = 60_000;
const sweptAtOnce = 500;
// Of deliveries under way: with fewer the concurrency would be missed.
const crowd = 8;
// Who is killed meanwhile has delivered what will be delivered again; so it is short.
const gatherMs = 20;

export function startJobWorker(options: WorkerOptions): JobWorker {
  const { storage, run, deliverer, log } = options;
  const { work, deliveries } = storage;
  const gathered = createGathering();

  async function deliver(item: WorkItem, signal: AbortSignal): Promise<void> {
    const opened = await deliveries.open(item);
    if (opened === null) return;
    const { attempt, state, nextAt } = await deliverer.attempt(opened.delivery, opened.job, signal);
    const group = groupOf(opened.delivery.receiver);
    await gathered(pumps.deliver.state().running);
    await retryWhileStoreDown(log, () => deliveries.recordAttempt(item, attempt, { state, nextAt, group }));
  }

  const pumps: Record<WorkKind, QueueConsumer> = {
    run: startQueueConsumer({
      kind: "run",
      concurrency: options.runsAtOnce,
      concurrencyPerGroup: options.runsAtOnce,
      work,
      handle: run,
      findWanted: storage.jobs.findUnfinished,
      log,
    }),
    deliver: startQueueConsumer({
      kind: "deliver",
      concurrency: options.deliveriesAtOnce,
      concurrencyPerGroup: options.deliveriesPerHost,
      work,
      handle: deliver,
      log,
    }),
  };
  storage.onWork((kind) => pumps[kind].wake());
  const sweeper = setInterval(() => void sweep(), sweepEveryMs);

  /** What has expired is answered as if it had never been; here its rows go as well. */
  async function sweep(): Promise<void> {
    try {
      while ((await storage.jobs.deleteExpired(Date.now(), sweptAtOnce)) === sweptAtOnce);
    } catch (error) {
      log.warn("expired jobs could not be deleted", { error });
    }
  }

  return {
    async stop(boundMs) {
      clearInterval(sweeper);
      await Promise.all([pumps.run.stop(boundMs), pumps.deliver.stop(boundMs)]);
    },
  };
}

/**
 * Reports leave one by one, as signatures are made. In a crowd those that have ended within a few milliseconds are written down
 * together; one that is nearly alone does not wait.
 */
function createGathering(): (company: number) => Promise<void> | null {
  let turn: Promise<void> | null = null;
  return (company) => {
    if (company < crowd) return null;
    turn ??= Bun.sleep(gatherMs).finally(() => {
      turn = null;
    });
    return turn;
  };
}
