// The state of the store and of its work queue, for the metrics.

import type { Family, Sample } from "../metrics/family.ts";
import type { Storage } from "./stores.ts";
import { type WorkCounts, workKinds } from "./work-queue.ts";

// Counting a long queue takes a moment, and a port without a key may be asked at any rate.
const countEveryMs = 1_000;

export function describeHealth({ isHealthy }: Pick<Storage, "isHealthy">): Family {
  return {
    name: "store_up",
    help: "Whether the store answers every process.",
    type: "gauge",
    merge: "min",
    samples: [{ labels: {}, value: Number(isHealthy()) }],
  };
}

/** Reads how much work is queued, at most once a second. */
export function createQueueGauges({ work }: Pick<Storage, "work">): () => Promise<Family[]> {
  let counted: Promise<Family[]> | null = null;
  let countedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (counted === null || now - countedAt >= countEveryMs) {
      countedAt = now;
      counted = work.count().then(describeQueue);
    }
    return counted;
  };
}

/** Gateways that share a database report the same figures. */
function describeQueue(counts: readonly WorkCounts[]): Family[] {
  const found = workKinds.map((kind) => counts.find((one) => one.kind === kind) ?? { ...none, kind });
  const items = found.flatMap(({ kind, waiting, scheduled, leased }): Sample[] => [
    { labels: { kind, state: "waiting" }, value: waiting },
    { labels: { kind, state: "scheduled" }, value: scheduled },
    { labels: { kind, state: "running" }, value: leased },
  ]);
  const ages = found.map(({ kind, oldestWaitingMs }) => ({ labels: { kind }, value: oldestWaitingMs / 1_000 }));
  const gauge = { type: "gauge", merge: "max" } as const;
  return [
    {
      ...gauge,
      name: "queue_items",
      help: "Jobs (run) and webhooks (deliver) that wait, are due later, or run.",
      samples: items,
    },
    {
      ...gauge,
      name: "queue_oldest_waiting_seconds",
      help: "How long the oldest waiting job or webhook has been due.",
      samples: ages,
    },
  ];
}

const none = { waiting: 0, scheduled: 0, leased: 0, oldestWaitingMs: 0 };
