// Copies the SQLite database while the gateway uses it.

import { statSync } from "node:fs";
import { createPrivateFile, databaseFile, refuseMoved } from "./data-dir.ts";
import { type PackedError, unpackError } from "./sqlite-messages.ts";

export interface BackupRequest {
  readonly from: string;
  readonly to: string;
}

const reportEveryMs = 500;

/** Copies the state that the database has when the call begins into another folder. Returns the size of the copy. */
export async function backUpDatabase(
  dataDir: string,
  folder: string,
  onProgress: (bytes: number) => void,
): Promise<number> {
  refuseMoved(dataDir);
  const request: BackupRequest = { from: databaseFile(dataDir), to: databaseFile(folder) };
  // SQLite accepts an empty file, and keeps its mode.
  createPrivateFile(request.to);
  const worker = new Worker(new URL("./backup-worker.ts", import.meta.url));
  const done = Promise.withResolvers<void>();
  worker.onmessage = ({ data }: MessageEvent<PackedError | null>) =>
    data === null ? done.resolve() : done.reject(unpackError(data));
  worker.onerror = ({ message }) => done.reject(new Error(message));
  const reporting = setInterval(() => onProgress(statSync(request.to).size), reportEveryMs);
  try {
    worker.postMessage(request);
    await done.promise;
  } finally {
    clearInterval(reporting);
    worker.terminate();
  }
  return statSync(request.to).size;
}
