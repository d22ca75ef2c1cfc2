// Deletes expired files, and bytes that a crash left without a row, in the background.

import type { Log } from "../log.ts";
import type { FileStore } from "./file-store.ts";

export interface SweeperOptions {
  readonly store: Pick<FileStore, "sweepExpired" | "sweepOrphans">;
  readonly log: Log;
  readonly expiredEveryMs?: number;
  readonly orphansEveryMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface Sweeper {
  /** Resolves when no sweep is running. */
  stop(): Promise<void>;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

export function startFileSweeper(options: SweeperOptions): Sweeper {
  const { store, log, expiredEveryMs = minuteMs, orphansEveryMs = hourMs, now = Date.now } = options;
  let orphansAt = now();
  let running: Promise<void> | null = null;

  async function sweep(): Promise<void> {
    try {
      const expired = await store.sweepExpired();
      if (expired > 0) log.debug("expired files were deleted", { files: expired });
      if (now() < orphansAt) return;
      orphansAt = now() + orphansEveryMs;
      const orphans = await store.sweepOrphans();
      if (orphans > 0) log.info("orphaned files were deleted", { files: orphans });
    } catch (error) {
      log.warn("files could not be swept", { error });
    }
  }

  const timer = setInterval(() => {
    // One sweep at a time: a slow one delays the next.
    running ??= sweep().finally(() => {
      running = null;
    });
  }, expiredEveryMs);

  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
