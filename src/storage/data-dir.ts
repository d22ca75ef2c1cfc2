// The data folder: who may read it, who may use it, and whether SQLite is safe on its disk.

import { Database as SqliteFile } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SettingError } from "../errors.ts";
import { lookUp } from "../lib/look-up.ts";
import type { Log } from "../log.ts";

// Magic numbers of statfs(2) for file systems whose locks and shared memory reach across machines, or do not work at all.
const networkFileSystems = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x5346414f, "AFS"],
  [0x65735546, "FUSE"],
]);

export function databaseFile(dataDir: string): string {
  return join(dataDir, "switchyard.sqlite");
}

/** Creates the folder and the files in it for this user alone. SQLite gives its side files the mode of the main file. */
export function createDataDir(dataDir: string): void {
  explainUnusable(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    createPrivateFile(databaseFile(dataDir));
  });
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "it is a file, not a folder",
  ENOTDIR: "a part of its path is a file, not a folder",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOENT: "it cannot be created there",
  ENOSPC: "the disk is full",
  EISDIR: "a folder has the name of a file that the gateway needs in it",
};

function explainUnusable<T>(dataDir: string, use: () => T): T {
  try {
    return use();
  } catch (cause) {
    const { code = "" } = cause as { readonly code?: string };
    const reason = lookUp(reasons, code);
    if (reason === undefined) throw cause;
    throw new SettingError(
      "SWITCHYARD_DATA_DIR",
      `the data folder ${dataDir} cannot be used: ${reason} (${code}); name a folder that this user can write to`,
      { cause },
    );
  }
}

/** Left behind where everything was copied to PostgreSQL: two stores would both do the jobs that waited here. */
export function markAsMoved(dataDir: string): void {
  writeFileSync(movedFile(dataDir), `Moved to PostgreSQL at ${new Date().toISOString()}.\n`, { mode: 0o600 });
}

export function refuseMoved(dataDir: string): void {
  if (!existsSync(movedFile(dataDir))) return;
  throw new Error(
    `What is in ${dataDir} was moved to PostgreSQL: set DATABASE_URL to go on there. To use this old copy all the same, delete ${movedFile(dataDir)}.`,
  );
}

function movedFile(dataDir: string): string {
  return join(dataDir, "moved-to-postgres.txt");
}

export function warnAboutNetworkDisk(dataDir: string, log: Log): void {
  const name = findNetworkFileSystem(statfsSync(dataDir).type);
  if (name === null) return;
  log.warn("The data folder is on a network file system, where SQLite can lose or damage data: use PostgreSQL", {
    folder: dataDir,
    fileSystem: name,
  });
}

/** The type is a signed number on some machines. */
export function findNetworkFileSystem(type: number): string | null {
  return networkFileSystems.get(type >>> 0) ?? null;
}

/**
 * Holds the folder for one gateway. The lock is an open transaction on a file of its own, so the kernel frees it when the process
 * ends, however it ends. The serving processes of one gateway share the folder: only the first process takes it.
 */
export function lockDataDir(dataDir: string): { release(): void } {
  const file = join(dataDir, "switchyard.lock");
  explainUnusable(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    createPrivateFile(file);
  });
  const lock = new SqliteFile(file);
  try {
    // A lock file has nothing to lose, and no journal file should be left behind.
    lock.run("pragma busy_timeout = 0");
    lock.run("pragma journal_mode = memory");
    lock.run("begin exclusive");
  } catch (cause) {
    lock.close();
    if (!isBusy(cause)) throw cause;
    throw new Error(
      `Another gateway uses the data folder ${dataDir}. Stop it or choose another folder with SWITCHYARD_DATA_DIR; to run several gateways together, set DATABASE_URL to a PostgreSQL database.`,
      { cause },
    );
  }
  return { release: () => lock.close() };
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" && code.startsWith("SQLITE_BUSY");
}

function createPrivateFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}
