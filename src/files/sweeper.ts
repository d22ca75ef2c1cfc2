// Deletes expired files, and bytes that a crash left without a row, in the background.

import { minuteMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import { type Sweeper, startSweeper } from "../storage/sweeper.ts";
import type { FileStore } from "./file-store.ts";

export interface FileSweeperOptions {
  readonly store: Pick<FileStore, "sweepExpired" | "sweepOrphans">;
  readonly log: Log;
  readonly everyMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const orphansEveryMs = 3_600_000;

export function startFileSweeper({ store, log, everyMs = minuteMs, now = Date.now }: FileSweeperOptions): Sweeper {
  let orphansAt = now();
  return startSweeper(
    { everyMs, name: "Expired files", log },
    async () => {
      const expired = await store.sweepExpired();
      if (expired > 0) log.debug("expired files were deleted", { files: expired });
    },
    async () => {
      if (now() < orphansAt) return;
      orphansAt = now() + orphansEveryMs;
      const orphans = await store.sweepOrphans();
      if (orphans > 0) log.info("orphaned files were deleted", { files: orphans });
    },
  );
}
