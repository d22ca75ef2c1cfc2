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
  return startSweeper({ name: "Old lines of the ledger", log, ...(everyMs !== undefined && { everyMs }) }, async () => {
    const now = Date.now();
    await store.createPartitions([0, 1, 2].map((months) => toMonth(now) + months));
    await deleteInBatches((limit) => store.deleteBlocks(now - lineDays * dayMs, limit));
    while ((await store.mergeBlocks(now - mergeAfterMs)) > 0);
    while ((await store.deleteTotals(now - totalDays * dayMs)) > 0);
  });
}
