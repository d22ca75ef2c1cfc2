// The backup of a store in SQLite: the database, the lines of the ledger that wait on disk, and the files of callers.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { copyFolderBytes } from "../files/folder-bytes.ts";
import { backUpDatabase } from "../storage/storage.ts";
import { copySpool } from "../usage/spool.ts";
import { megabytes } from "./command-line.ts";

export interface BackupOptions {
  readonly dataDir: string;
  /** Must not exist. */
  readonly folder: string;
  readonly onProgress: (text: string) => void;
}

export interface Backup {
  readonly folder: string;
  readonly database_bytes: number;
  /** Lines that were not known to be in the database. */
  readonly ledger_lines: number;
  readonly files: number;
  readonly file_bytes: number;
}

/**
 * The order matters while the gateway runs. Lines of the ledger move from the disk to the database, so they are copied before it: a line that is
 * in both copies counts once. Files are complete before they have a row in the database, so they are copied after it.
 */
export async function backUp({ dataDir, folder: name, onProgress }: BackupOptions): Promise<Backup> {
  const folder = resolve(name);
  refuseExisting(folder);
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  // A backup that was interrupted must not look like a complete one.
  const incomplete = mkdtempSync(join(dirname(folder), `${basename(folder)}.incomplete-`));
  const remove = () => rmSync(incomplete, { recursive: true, force: true });
  const endings = { SIGINT: 130, SIGTERM: 1 } as const;
  const listeners = Object.entries(endings).map(([signal, code]) => {
    const listener = () => {
      remove();
      process.exit(code);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  try {
    const ledger_lines = copySpool(join(dataDir, "ledger"), join(incomplete, "ledger"));
    const database_bytes = await backUpDatabase(dataDir, incomplete, (bytes) =>
      onProgress(`copying the database: ${megabytes(bytes)}`),
    );
    const { files, bytes } = await copyFolderBytes(join(dataDir, "files"), join(incomplete, "files"), (copied) =>
      onProgress(`copying files: ${copied.files}, ${megabytes(copied.bytes)}`),
    );
    refuseExisting(folder);
    renameSync(incomplete, folder);
    return { folder, database_bytes, ledger_lines, files, file_bytes: bytes };
  } catch (error) {
    remove();
    throw error;
  } finally {
    for (const stop of listeners) stop();
  }
}

function refuseExisting(folder: string): void {
  if (existsSync(folder))
    throw new Error(`${folder} exists, and a backup replaces nothing. Name a folder that does not exist.`);
}
