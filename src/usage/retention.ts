// Deletes old lines and totals of the ledger, merges small blocks of lines, and creates the partitions of the next months.

import { dayMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import { toMonth } from "../storage/ledger.ts";
import type { LedgerStore } from "../storage/storage.ts";
import { deleteInBatches, type Sweeper, startSweeper } from "../storage/sweeper.ts";

export interface RetentionOptions {
  readonly store: LedgerStore;
  readonly lineDays: number;
  readonly totalDays: number;
  readonly log: Log;
  readonly everyMs?: number;
}

// Recent blocks are left alone, because reports read them most.
const mergeAfterMs = 60_000;

export function startLedgerRetention({ store, lineDays, totalDays, log, everyMs }: RetentionOptions): Sweeper {
  return startSweeper(
    { name: "Old lines of the ledger", log, ...(everyMs !== undefined && { everyMs }) },
    () => store.createPartitions([0, 1, 2].map((months) => toMonth(Date.now()) + months)),
    () => deleteBefore(lineDays, store.deleteBlocks),
    () => deleteBefore(lineDays, store.deleteMarks),
    () => mergeBlocks(store),
    () => deleteBefore(totalDays, store.deleteTotals),
    () => deleteBefore(totalDays, store.deleteLatencies),
  );
}

async function deleteBefore(days: number, deleteSome: LedgerStore["deleteBlocks"]): Promise<void> {
  const before = Date.now() - days * dayMs;
  await deleteInBatches((limit) => deleteSome(before, limit));
}

async function mergeBlocks(store: LedgerStore): Promise<void> {
  const before = Date.now() - mergeAfterMs;
  while ((await store.mergeBlocks(before)) > 0);
}
