// Deletes expired data in the background.

import { minuteMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";

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

/** One sweep runs at a time: a slow one delays the next. */
export function startSweeper({ everyMs = minuteMs, name, log }: SweeperOptions, sweep: () => Promise<void>): Sweeper {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= sweep()
      .catch((error) => log.warn(`${name} could not be deleted`, { error }))
      .finally(() => {
        running = null;
      });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** Repeats the deletion until a batch is not full, so that no transaction becomes large. Returns how many rows were deleted. */
export async function deleteInBatches(deleteSome: (limit: number) => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await deleteSome(rowsPerBatch);
    total += deleted;
    if (deleted < rowsPerBatch) return total;
  }
}
