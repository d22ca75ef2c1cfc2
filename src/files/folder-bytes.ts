// Bytes in a folder: `<folder>/xx/<id>`, where xx are the first digits of the id, so that no folder has too many entries. Names that
// callers choose never reach the disk.

import {
  chmod,
  constants,
  copyFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { type ByteRange, type ByteStore, fileIdPattern, shardOf, shards, toStoredPath } from "./byte-store.ts";
import { toFileError } from "./file-errors.ts";

export type SyncToDisk = (handle: FileHandle) => Promise<void>;

export const syncToDisk: SyncToDisk = (handle) => handle.sync();

export function createFolderBytes(folder: string, sync: SyncToDisk = syncToDisk): ByteStore {
  const pathOf = (id: string) => join(folder, toStoredPath(id));
  const storeIdPath = join(folder, "store-id");

  return {
    async moveIn(path, id) {
      const target = pathOf(id);
      const shard = join(folder, shardOf(id));
      const made = await mkdir(shard, { recursive: true, mode: 0o700 });
      await rename(path, target);
      // A rename is durable once its folder is synced; so is the name of a new folder.
      await syncFolder(shard, sync);
      if (made !== undefined) await syncFolder(folder, sync);
    },
    read: (id) => readFile(pathOf(id)).catch((error) => Promise.reject(toFileError(error))),
    async stream(id, range) {
      // The stream opens the file when it is read, which is too late to reject.
      await stat(pathOf(id));
      return streamFile(pathOf(id), range);
    },
    remove: (id) => rm(pathOf(id), { force: true }),
    async listOld(shard, before) {
      const names = await readdir(join(folder, shard)).catch(noneWhenAbsent);
      const old: string[] = [];
      for (const name of names) {
        if (!fileIdPattern.test(name)) continue;
        const found = await stat(join(folder, shard, name)).catch(noneWhenAbsent);
        if ("mtimeMs" in found && found.mtimeMs < before) old.push(name);
      }
      return old;
    },
    async readStoreId() {
      const text = await readFile(storeIdPath, "utf8").catch(noneWhenAbsent);
      return typeof text === "string" ? text : null;
    },
    async writeStoreId(id) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(storeIdPath, id, { mode: 0o600 });
    },
  };
}

export interface CopiedFiles {
  readonly files: number;
  readonly bytes: number;
}

/** Copies the complete files, while the gateway adds and deletes some. Copy the rows first, so that every row has its bytes. */
export async function copyFolderBytes(
  folder: string,
  target: string,
  onProgress: (copied: CopiedFiles) => void,
): Promise<CopiedFiles> {
  let copied: CopiedFiles = { files: 0, bytes: 0 };
  const copy = async (path: string) => {
    const to = join(target, path);
    await copyFile(join(folder, path), to, constants.COPYFILE_FICLONE);
    await chmod(to, 0o600);
    return (await stat(to)).size;
  };
  await mkdir(target, { mode: 0o700 });
  await copy("store-id").catch(noneWhenAbsent);
  for (const shard of shards) {
    const names = (await readdir(join(folder, shard)).catch(noneWhenAbsent)).filter((name) => fileIdPattern.test(name));
    if (names.length > 0) await mkdir(join(target, shard), { mode: 0o700 });
    for (const name of names) {
      const bytes = await copy(join(shard, name)).catch(noneWhenAbsent);
      if (typeof bytes !== "number") continue; // deleted meanwhile
      copied = { files: copied.files + 1, bytes: copied.bytes + bytes };
      onProgress(copied);
    }
  }
  return copied;
}

async function syncFolder(path: string, sync: SyncToDisk): Promise<void> {
  const handle = await open(path, "r");
  try {
    await sync(handle);
  } finally {
    await handle.close();
  }
}

function streamFile(path: string, range: ByteRange | undefined): ReadableStream<Uint8Array> {
  const file = Bun.file(path);
  return (range === undefined ? file : file.slice(range.start, range.end)).stream();
}

function noneWhenAbsent(error: unknown): never[] {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
  throw error;
}
