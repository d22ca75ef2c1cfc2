// The lines of the ledger that the store refused because of their content, in a file in the folder of the spool.

import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "../storage/file-lock.ts";

const fileName = "refused-lines.jsonl";
// While a process retries the lines, others may add to the file.
const takenName = "refused-lines.retried.jsonl";
// Not the ending of the locks of spools.
const lockName = "refused-lines.locked";

/** Returns the path of the file. */
export function keepRefused(folder: string, line: string): string {
  const path = join(folder, fileName);
  appendFileSync(path, `${line}\n`, { mode: 0o600 });
  return path;
}

/** Removes the lines after `retry` has them. After a crash they are retried again, so `retry` must accept a line twice. */
export function takeRefused(folder: string, retry: (line: string) => void): void {
  const [path, taken] = [join(folder, fileName), join(folder, takenName)];
  if (!existsSync(path) && !existsSync(taken)) return;
  const lock = tryFileLock(join(folder, lockName));
  if (lock === null) return;
  try {
    if (!existsSync(taken)) renameSync(path, taken);
    for (const line of readFileSync(taken, "utf8").split("\n")) if (line !== "") retry(line);
    rmSync(taken);
  } finally {
    lock.release();
  }
}
