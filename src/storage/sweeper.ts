// Deletes expired data in the background.

import { minuteMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import { isUnavailable } from "./outage.ts";

export interface Sweeper {
  /** Resolves when no sweep is running. */
  stop(): Promise<void>;
}

export interface SweeperOptions {
  readonly everyMs?: number;
  /** In the log message of a failure: "Expired jobs". */
  readonly name: string;
  readonly log: Log;
}

const rowsPerBatch = 500;

/**
 * One sweep runs at a time: a slow one delays the next. A step that fails is logged, and the steps after it run all the same: one that fails in
 * every sweep must not keep the data of the others for ever.
 */
export function startSweeper(
  { everyMs = minuteMs, name, log }: SweeperOptions,
  ...steps: readonly (() => Promise<unknown>)[]
): Sweeper {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= sweep().finally(() => {
      running = null;
    });
  }, everyMs);

  async function sweep(): Promise<void> {
    for (const step of steps) await step().catch((error) => log.warn(`${name} could not be deleted`, { error }));
  }

  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Repeats the deletion until a batch is not full, so that no transaction becomes large. Rows with large values may exceed the deadline of the
 * store: then the batch shrinks, because the same batch would fail every time. It grows again when the large rows are gone. Returns how
 * many rows were deleted.
 */
export async function deleteInBatches(deleteSome: (limit: number) => Promise<number>): Promise<number> {
  let limit = rowsPerBatch;
  for (let total = 0; ; ) {
    let deleted: number;
    try {
      deleted = await deleteSome(limit);
    } catch (error) {
      if (limit === 1 || !isUnavailable(error)) throw error;
      limit = Math.max(1, Math.floor(limit / 10));
      continue;
    }
    total += deleted;
    if (deleted < limit) return total;
    limit = Math.min(rowsPerBatch, limit * 2);
  }
}
