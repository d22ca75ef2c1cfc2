// The folder of the sockets and the shared memory of a gateway's processes. Processes that start later open the files in it by path, so they must
// exist for as long as the gateway runs.

import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hourMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import { tryFileLock } from "../storage/file-lock.ts";

const prefix = "switchyard-run-";
// The lock of a younger folder may belong to a gateway that is about to take it.
const newFolderMs = 60_000;

export interface RunFolder {
  readonly path: string;
  remove(): void;
}

interface RunFolderOptions {
  readonly log: Log;
  /** Default: the folder for temporary files. */
  readonly parent?: string;
  readonly touchEveryMs?: number;
}

/** Only this user can enter the folder. */
export function createRunFolder({ log, parent = tmpdir(), touchEveryMs = hourMs }: RunFolderOptions): RunFolder {
  removeAbandoned(parent);
  const path = mkdtempSync(join(parent, prefix));
  const lock = tryFileLock(lockIn(path));
  // Many systems delete temporary files that have not changed for some days; systemd-tmpfiles does after ten.
  const touching = setInterval(() => {
    try {
      touchAll(path);
    } catch (error) {
      log.error("the folder that the processes share is damaged, so none can be started; restart the gateway", {
        folder: path,
        error,
      });
    }
  }, touchEveryMs);
  touching.unref();
  return {
    path,
    remove() {
      clearInterval(touching);
      rmSync(path, { recursive: true, force: true });
      lock?.release();
    },
  };
}

function touchAll(folder: string): void {
  const now = new Date();
  utimesSync(folder, now, now);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    // Sockets of a configuration that was replaced are deleted meanwhile.
    if (existsSync(path)) utimesSync(path, now, now);
  }
}

/** A gateway that was killed could not delete its folder, but its lock is free. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    try {
      removeIfAbandoned(join(parent, name));
    } catch {
      // Another gateway that starts removes the same folder.
    }
  }
}

function removeIfAbandoned(folder: string): void {
  // Other users may write to the parent folder.
  if (lstatSync(folder).uid !== process.getuid?.()) return;
  if (Date.now() - statSync(lockIn(folder)).mtimeMs < newFolderMs) return;
  const lock = tryFileLock(lockIn(folder));
  if (lock === null) return;
  rmSync(folder, { recursive: true, force: true });
  lock.release();
}

function lockIn(folder: string): string {
  return join(folder, "lock");
}
