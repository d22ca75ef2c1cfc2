// Deletes in the background what has expired, and what a crash has left behind.

import type { Log } from "../log.ts";
import type { FileStore } from "./file-store.ts";

export interface SweeperOptions {
  readonly store: FileStore;
  readonly log: Log;
  readonly expiredEveryMs?: number;
  readonly orphansEveryMs?: number;
}

export interface Sweeper {
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

export function startFileSweeper(options: SweeperOptions): Sweeper {
  const { store, log, expiredEveryMs = minuteMs, orphansEveryMs = hourMs } = options;
  let orphansAt = Date.now();
  let running: Promise<void> | null = null;

  async function sweep(): Promise<void> {
    try {
      const expired = await store.sweepExpired();
      if (expired > 0) log.debug("expired files were deleted", { files: expired });
      if (Date.now() < orphansAt) return;
      orphansAt = Date.now() + orphansEveryMs;
      const orphans = await store.sweepOrphans();
      if (orphans > 0) log.info("files that nobody knows of were deleted", { files: orphans });
    } catch (error) {
      log.warn("files could not be swept", { error });
    }
  }

  const timer = setInterval(() => {
    // One at a time: a sweep that takes long is not joined by the next.
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
