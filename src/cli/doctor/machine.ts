// Checks of the machine: disk, open files, memory, clock. Each takes what was measured, so that it can be tested without such a machine.

import { readFileSync, statfsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { type Finding, report } from "./finding.ts";

const megabyte = 1_048_576;
const gigabyte = 1_024 * megabyte;
// A serving process and its share of the database, measured with a few hundred streams.
const bytesPerProcess = 150 * megabyte;

export interface Disk {
  readonly folder: string;
  readonly freeBytes: number;
  /** Null: the file system has no such limit. */
  readonly freeFiles: number | null;
}

export function checkDisk({ folder, freeBytes, freeFiles }: Disk): Finding {
  const { ok, warning, problem } = report("disk");
  const free = `${Math.floor(freeBytes / megabyte)} MB are free on the disk of ${folder}`;
  const remedy = "Delete files, enlarge the disk, or move the data folder (SWITCHYARD_DATA_DIR).";
  if (freeFiles !== null && freeFiles < 1_000)
    return problem(`The disk of ${folder} has room for only ${freeFiles} more files.`, remedy);
  if (freeBytes < 100 * megabyte) return problem(`Only ${free}.`, remedy);
  if (freeBytes < gigabyte) return warning(`Only ${free}.`, remedy);
  return ok(`${free}.`);
}

export function measureDisk(folder: string): Disk {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  return { folder, freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree };
}

/** Every client and every provider connection is an open file. Null: not known on this system. */
export function checkOpenFiles(limit: number | null): Finding {
  const { ok, warning, problem } = report("open files");
  const remedy =
    "Raise the limit: `ulimit -n 65536` in the shell, `LimitNOFILE=65536` in a systemd unit, `--ulimit nofile=65536` for a container.";
  if (limit === null) return ok("The limit of open files is not known on this system.");
  if (limit < 1_024)
    return problem(`A process may have only ${limit} open files, fewer than 500 streams need.`, remedy);
  if (limit < 16_384)
    return warning(
      `A process may have ${limit} open files, enough for about ${Math.floor(limit / 2)} streams.`,
      remedy,
    );
  return ok(`A process may have ${limit} open files.`);
}

/** The limit of this process, which those that it starts have as well. */
export function measureOpenFiles(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (soft === undefined) return null;
    return soft === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(soft);
  } catch {
    return null;
  }
}

export interface Memory {
  readonly totalBytes: number;
  /** Serving and worker processes. */
  readonly processes: number;
}

export function checkMemory({ totalBytes, processes }: Memory): Finding {
  const { ok, warning, problem } = report("memory");
  const needed = processes * bytesPerProcess;
  const total = `${Math.floor(totalBytes / megabyte)} MB of memory`;
  const remedy = "Set SWITCHYARD_WORKERS to fewer serving processes, or use a machine or container with more memory.";
  if (totalBytes < 256 * megabyte) return problem(`This machine or container has only ${total}.`, remedy);
  if (totalBytes < needed)
    return warning(
      `${processes} processes may need ${Math.ceil(needed / megabyte)} MB, and there are ${total}.`,
      remedy,
    );
  return ok(`${total} for ${processes} processes on ${availableParallelism()} cores.`);
}

/** The memory of the machine, or of the container if it has a limit. */
export function measureMemory(): number {
  for (const file of ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]) {
    try {
      const limit = Number(readFileSync(file, "utf8"));
      if (Number.isFinite(limit) && limit > 0) return Math.min(limit, totalmem());
    } catch {
      // This system has no such file.
    }
  }
  return totalmem();
}

export interface ClockReading {
  /** Whose clock was compared. */
  readonly source: string;
  readonly aheadMs: number;
}

// Signed requests of cloud providers are refused after five minutes, and rate limits and budgets of several gateways compare times.
const maxSkewMs = 60_000;
const noticedSkewMs = 5_000;

/** `readings`: other clocks, relative to this machine's. `storedAt`: times in the store, which cannot be in the future. */
export function checkClock(readings: readonly ClockReading[], storedAt: readonly number[], now: number): Finding {
  const { ok, note, warning, problem } = report("clock");
  const remedy = "Synchronise the clock of this machine: `timedatectl set-ntp true`, or chrony.";
  const future = Math.max(0, ...storedAt.map((time) => time - now));
  if (future > maxSkewMs)
    return problem(`The clock is ${seconds(future)} behind the time at which the store was written.`, remedy);
  const [worst] = readings.toSorted((one, other) => Math.abs(other.aheadMs) - Math.abs(one.aheadMs));
  if (worst === undefined)
    return note(
      "The clock was compared with the store alone.",
      "Run `switchyard doctor --call` with at least one configured provider to compare it with the provider's clock.",
    );
  const skew = Math.abs(worst.aheadMs);
  const says = `The clock is ${seconds(skew)} ${worst.aheadMs > 0 ? "behind" : "ahead of"} that of ${worst.source}.`;
  if (skew > maxSkewMs) return problem(says, remedy);
  if (skew > noticedSkewMs) return warning(says, remedy);
  return ok(`The clock agrees with ${readings.map(({ source }) => source).join(", ")}.`);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
