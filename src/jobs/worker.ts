// Consumes the work queue: one consumer for runs, one for webhook deliveries.

import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Storage } from "../storage/storage.ts";
import { deleteInBatches, startSweeper } from "../storage/sweeper.ts";
import type { WorkItem, WorkKind } from "../storage/work-queue.ts";
import type { Deliverer } from "./deliverer.ts";
import { type QueueConsumer, startQueueConsumer } from "./queue-consumer.ts";
import { retryWhileStoreDown } from "./retry-while-store-down.ts";

export interface WorkerOptions {
  readonly storage: Pick<Storage, "work" | "deliveries" | "jobs" | "onWork">;
  readonly run: (item: WorkItem, signal: AbortSignal) => Promise<void>;
  readonly deliverer: Deliverer;
  readonly runsAtOnce: number;
  readonly deliveriesAtOnce: number;
  readonly deliveriesPerHost: number;
  readonly metrics?: Pick<Metrics, "delivery">;
  readonly log: Log;
}

// With fewer running deliveries, the delay would cost throughput.
const minDeliveriesToDelay = 8;
// Short, because a crash in this window redelivers the webhook.
const delayMs = 20;

export function startJobWorker(options: WorkerOptions) {
  const { storage, run, deliverer, log } = options;
  const { work, deliveries } = storage;
  const waitForOthers = createSharedDelay();

  async function deliver(item: WorkItem, signal: AbortSignal): Promise<void> {
    const opened = await deliveries.open(item);
    if (opened === null) return;
    const { attempt, state, nextAt } = await deliverer.attempt(opened, signal);
    options.metrics?.delivery({ outcome: state === "pending" ? "retry" : state, durationMs: attempt.durationMs });
    await waitForOthers(consumers.deliver.state().running);
    await retryWhileStoreDown(log, () => deliveries.recordAttempt(item, attempt, { state, nextAt }));
  }

  const consumers: Record<WorkKind, QueueConsumer> = {
    run: startQueueConsumer({
      kind: "run",
      concurrency: options.runsAtOnce,
      concurrencyPerGroup: options.runsAtOnce,
      work,
      handle: run,
      findUnfinished: storage.jobs.findUnfinished,
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
  storage.onWork((kind) => consumers[kind].wake());
  const sweeper = startSweeper({ name: "Expired jobs", log }, async () => {
    await deleteInBatches((limit) => storage.jobs.deleteExpired(Date.now(), limit));
  });

  return {
    /** Stops leasing work and waits for running handlers. After the timeout it aborts them and releases their leases. */
    async stop(timeoutMs: number): Promise<void> {
      await Promise.all([sweeper.stop(), consumers.run.stop(timeoutMs), consumers.deliver.stop(timeoutMs)]);
    },
  };
}

/**
 * Signing makes deliveries end one after the other. While many are running, those that end within a few milliseconds wait for each other, so
 * that their attempts are stored in one transaction.
 */
function createSharedDelay(): (running: number) => Promise<void> | null {
  let delay: Promise<void> | null = null;
  return (running) => {
    if (running < minDeliveriesToDelay) return null;
    delay ??= Bun.sleep(delayMs).finally(() => {
      delay = null;
    });
    return delay;
  };
}
