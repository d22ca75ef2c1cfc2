// Outcomes of finished work must be stored, so their writes are retried while the store is down.

import { GatewayError } from "../errors.ts";
import type { Log } from "../log.ts";

const firstPauseMs = 100;
const longestPauseMs = 2_000;
// After this time, a job is repeated. The checkpoint that was stored before the call shows whether that is safe.
const defaultGiveUpAfterMs = 300_000;

/** Throws an outage after `giveUpAfterMs`, and every other error at once. */
export async function retryWhileStoreDown<Result>(
  log: Log,
  write: () => Promise<Result>,
  giveUpAfterMs = defaultGiveUpAfterMs,
): Promise<Result> {
  const since = performance.now();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await write();
    } catch (error) {
      const isDown = error instanceof GatewayError && error.code === "dependency_unavailable";
      if (!isDown || performance.now() - since > giveUpAfterMs) throw error;
      log.debug("The store is down; the write is retried", { error });
      await Bun.sleep(pauseMs);
    }
  }
}
