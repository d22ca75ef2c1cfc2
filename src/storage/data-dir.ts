// The data folder: its permissions, its lock, and a check that SQLite is safe on its file system.

import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SettingError } from "../errors.ts";
import { lookUp } from "../lib/look-up.ts";
import type { Log } from "../log.ts";
import { type FileLock, tryFileLock } from "./file-lock.ts";

// Magic numbers of statfs(2) for file systems where the locks and the shared memory of SQLite are unreliable.
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

const lockName = "switchyard.lock";

export function databaseFile(dataDir: string): string {
  return join(dataDir, "switchyard.sqlite");
}

/** Only this user may read the folder and the database. SQLite gives new side files the mode of the database. */
export function createDataDir(dataDir: string): void {
  explainUnusable(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    createPrivateFile(databaseFile(dataDir));
  });
  for (const path of listSharedFiles(dataDir)) {
    try {
      chmodSync(path, 0o600);
    } catch {
      // It belongs to another user, or SQLite has just deleted it. `switchyard doctor` warns about it.
    }
  }
}

/** Files of the database that other users may read, for example because a backup was restored with the usual permissions. */
export function listSharedFiles(dataDir: string): string[] {
  return ["", "-wal", "-shm"]
    .map((ending) => databaseFile(dataDir) + ending)
    .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "it is a file, not a folder",
  ENOTDIR: "a part of its path is a file, not a folder",
  EACCES: "this user has no permission to write there",
  EPERM: "this user has no permission to write there",
  EROFS: "the file system is read-only",
  ENOENT: "it cannot be created there",
  ENOSPC: "the disk is full",
  EISDIR: "it contains a folder with the name of a file that the gateway needs",
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

/** Prevents a later start with the old copy, which would run the waiting jobs a second time. */
export function markAsMoved(dataDir: string): void {
  writeFileSync(movedFile(dataDir), `Moved to PostgreSQL at ${new Date().toISOString()}.\n`, { mode: 0o600 });
}

export function refuseMoved(dataDir: string): void {
  if (!existsSync(movedFile(dataDir))) return;
  throw new Error(
    `The store in ${dataDir} was moved to PostgreSQL. Set DATABASE_URL to use it there. To use this old copy anyway, delete ${movedFile(dataDir)}.`,
  );
}

function movedFile(dataDir: string): string {
  return join(dataDir, "moved-to-postgres.txt");
}

export function warnAboutNetworkDisk(dataDir: string, log: Log): void {
  const name = findNetworkFileSystem(statfsSync(dataDir).type);
  if (name === null) return;
  log.warn(
    "The data folder is on a network file system, where SQLite can lose or corrupt data. Use PostgreSQL instead.",
    {
      folder: dataDir,
      fileSystem: name,
    },
  );
}

/** Some platforms return the type as a signed number. */
export function findNetworkFileSystem(type: number): string | null {
  return networkFileSystems.get(type >>> 0) ?? null;
}

/** Locks the folder for one gateway. Only the supervisor takes the lock, because the processes of one gateway share the folder. */
export function lockDataDir(dataDir: string): FileLock {
  const lock = explainUnusable(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return tryFileLock(join(dataDir, lockName));
  });
  if (lock !== null) return lock;
  throw new Error(
    `Another gateway is using the data folder ${dataDir}. Stop it or choose another folder with SWITCHYARD_DATA_DIR. To run several gateways together, set DATABASE_URL to a PostgreSQL database.`,
  );
}

/** Whether a gateway holds the lock of the folder. */
export function isGatewayRunning(dataDir: string): boolean {
  const path = join(dataDir, lockName);
  if (!existsSync(path)) return false;
  const lock = tryFileLock(path);
  lock?.release();
  return lock === null;
}

export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}
