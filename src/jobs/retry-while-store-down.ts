// Outcomes of finished work must be stored, so their writes are retried while the store is down.

import type { Log } from "../log.ts";
import { isUnavailable } from "../storage/outage.ts";

const firstPauseMs = 100;
const longestPauseMs = 2_000;
// After this time, the work is repeated. The checkpoint that was stored before the call shows whether that is safe.
const giveUpAfterMs = 300_000;

/** Throws an outage after `giveUpAfterMs`, and every other error at once. */
export async function retryWhileStoreDown<Result>(log: Log, write: () => Promise<Result>): Promise<Result> {
  const since = performance.now();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() - since > giveUpAfterMs) throw error;
      log.debug("The store is down; the write is retried", { error });
      await Bun.sleep(pauseMs);
    }
  }
}
