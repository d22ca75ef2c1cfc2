// What has been done must be written down, also when the store is away for a while: it is tried until it is back.

import { GatewayError } from "../errors.ts";
import type { Log } from "../log.ts";

const firstPauseMs = 100;
const longestPauseMs = 2_000;
// Longer than this nobody waits: the work comes up again, and what it did is told from what was written before.
const patienceMs = 300_000;

/** Throws what is no outage at once, and an outage that lasts. */
export async function retryWhileStoreDown<Result>(log: Log, write: () => Promise<Result>): Promise<Result> {
  const since = performance.now();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await write();
    } catch (error) {
      const isOutage = error instanceof GatewayError && error.code === "dependency_unavailable";
      if (!isOutage || performance.now() - since > patienceMs) throw error;
      log.debug("the store is away; what was done is written down when it is back", { error });
      await Bun.sleep(pauseMs);
    }
  }
}
