// A lock that the kernel releases when the process ends, even after a crash: an open transaction on an SQLite file that holds no data.

import { Database as SqliteFile } from "bun:sqlite";
import { closeSync, existsSync, openSync } from "node:fs";

export interface FileLock {
  release(): void;
}

/** Creates the file if it does not exist. Null: another holder has the lock. */
export function tryFileLock(path: string): FileLock | null {
  // Not opened again: closing a second handle of this process would release the lock that the first one holds.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  const lock = new SqliteFile(path);
  try {
    lock.run("pragma busy_timeout = 0");
    // A journal file should not be left behind.
    lock.run("pragma journal_mode = memory");
    lock.run("begin exclusive");
  } catch (cause) {
    lock.close();
    if (isBusy(cause)) return null;
    throw cause;
  }
  return { release: () => lock.close() };
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" && code.startsWith("SQLITE_BUSY");
}
