// Keeps the process below its limit of open files. A connection that cannot be accepted stays in the queue of its listening socket, and
// wakes the event loop endlessly. So while few file descriptors are left, the kernel drops requests for new connections, and connections
// that still wait are closed. The remaining descriptors serve connected clients and their provider calls.

import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import type { Ticker, Watched } from "../lib/ticker.ts";
import type { Log } from "../log.ts";
import type { ListenerControl } from "./listener-control.ts";

const checkEveryMs = 100;
// Handshakes that the kernel has already answered complete within about this many checks.
const quietChecks = 12;
const maxReserved = 64;
const maxDroppedAtOnce = 10_000;

/** Null if the number of open files cannot be read: not Linux, or a kernel before 6.2. */
export function startDescriptorGuard(listeners: ListenerControl, ticker: Ticker, log: Log) {
  const limit = readLimit();
  if (limit === null || countDescriptors() === 0) return null;
  // Reserved from the start, because many new connections take every free descriptor before the next check. Released for the provider
  // calls, the store and the files of running requests.
  const reservedCount = Math.min(maxReserved, Math.floor(limit / 4));
  const reserved: number[] = [];
  // Accepting a connection in order to close it needs a free descriptor: this one is closed for it.
  let spare: number | null = openSync("/dev/null", "r");
  let isRefusing = false;
  let quiet = 0;
  let checkAt = 0;

  const watched: Watched = {
    index: -1,
    check(now) {
      if (now < checkAt) return;
      checkAt = now + checkEveryMs;
      const used = countDescriptors();
      if (!isRefusing && used >= limit - reservedCount) refuse(used);
      if (!isRefusing) return;
      if (used < limit - 2 * reservedCount) admit(used);
      else settle();
    },
  };

  function refuse(used: number): void {
    isRefusing = listeners.refuse();
    quiet = 0;
    log.warn("new connections are refused until open files are closed; raise `ulimit -n`", { open_files: used, limit });
  }

  /** Closes waiting connections for which no descriptor is left, and releases the reserve when the last one is closed. */
  function settle(): void {
    closeSpare();
    const dropped = listeners.dropWaiting(maxDroppedAtOnce);
    spare = openSync("/dev/null", "r");
    quiet = dropped === 0 ? quiet + 1 : 0;
    if (quiet === quietChecks) release();
  }

  /** Set to null at once: if it cannot be reopened, its number may belong to another file. */
  function closeSpare(): void {
    if (spare !== null) closeSync(spare);
    spare = null;
  }

  function admit(used: number): void {
    reserve();
    isRefusing = false;
    listeners.admit();
    log.info("new connections are accepted again", { open_files: used, limit });
  }

  function reserve(): void {
    while (reserved.length < reservedCount) reserved.push(openSync("/dev/null", "r"));
  }

  function release(): void {
    for (const descriptor of reserved.splice(0)) closeSync(descriptor);
  }

  reserve();
  ticker.watch(watched);
  return {
    get isRefusing(): boolean {
      return isRefusing;
    },
    close(): void {
      ticker.forget(watched);
      closeSpare();
      release();
    },
  };
}

const folder = "/proc/self/fd";

/** The kernel reports the number of entries as the folder's size. */
function countDescriptors(): number {
  try {
    return statSync(folder).size;
  } catch {
    return 0;
  }
}

function readLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
