// Outcomes of finished work must be stored, so their writes are retried while the store is down.

import { retryWhile } from "../lib/retry-while.ts";
import type { Log } from "../log.ts";
import { isUnavailable } from "../storage/outage.ts";

// After this time, a job is repeated. The checkpoint that was stored before the call shows whether that is safe.
const giveUpAfterMs = 300_000;

/** Throws an outage after some minutes, and every other error at once. */
export function retryWhileStoreDown<Result>(log: Log, write: () => Promise<Result>): Promise<Result> {
  const onRetry = (error: unknown) => log.debug("The store is down; the write is retried", { error });
  return retryWhile(write, { isPassing: isUnavailable, giveUpAfterMs, onRetry });
}
