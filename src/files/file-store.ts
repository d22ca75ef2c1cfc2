// Uploads of callers and results of tasks: rows in the database, bytes in a folder or in S3.
//
// A file is first written to `incoming/`. Once it is complete and synced, it moves to its backend, and only then gets a row. So every
// listed file can be read, and a crash leaves at most bytes without a row, which the sweeper deletes.

import { mkdir, open, readdir, readFile, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log.ts";
import type { DeletedFile, FileBackend, FileKind, FileRecord } from "../storage/files.ts";
import type { FileRows } from "../storage/stores.ts";
import { deleteInBatches } from "../storage/sweeper.ts";
import { type ByteRange, type ByteStore, fileIdPattern, shards } from "./byte-store.ts";
import { fileNotFound, quotaExceeded, storageFull, toFileError } from "./file-errors.ts";
import { detectFileType, headBytes } from "./file-type.ts";
import { createFolderBytes, type SyncToDisk, syncToDisk } from "./folder-bytes.ts";
import { createS3Bytes, type S3Settings } from "./s3-bytes.ts";

export interface FileStoreOptions {
  readonly rows: FileRows;
  /** `<data folder>/files`. Incomplete files are here even when complete ones are in S3. */
  readonly folder: string;
  /** Null: files are stored in the folder. */
  readonly s3: S3Settings | null;
  /** Identifies the database, so that no gateway sweeps the files of another database. */
  readonly storeId: string;
  readonly log: Log;
  /** Quota of one owner for uploads and results; absent: no limit. */
  readonly maxOwnerBytes?: number;
  /** Disk space that uploads leave free. */
  readonly reservedBytes?: number;
  /** Age after which bytes without a row are deleted. */
  readonly orphanAfterMs?: number;
  /** Writes a file or folder to the disk; tests watch the order. */
  readonly sync?: SyncToDisk;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  /** Detected from the bytes, or stated by the task that produced them. */
  readonly mediaType: string;
  readonly size: number;
  read(): Promise<Uint8Array>;
  stream(range?: ByteRange): Promise<ReadableStream<Uint8Array>>;
}

export interface FileAbout {
  readonly owner: string;
  readonly kind: FileKind;
  readonly name: string;
  /** Null: detected from the bytes. */
  readonly mediaType: string | null;
  readonly purpose: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly lifetimeMs: number;
}

export type FileStore = ReturnType<typeof createFileStore>;
/** A file that is being written. It ends with `commit` or `discard`. */
export type FileDraft = Awaited<ReturnType<FileStore["begin"]>>;

const defaultReservedBytes = 256 * 1_048_576;
// Longer than the idle timeout of an upload, and than a slow disk takes to sync.
const defaultOrphanAfterMs = 3_600_000;
const concurrentRemovals = 8;

export function createFileStore(options: FileStoreOptions) {
  const { rows, folder, s3, storeId, log } = options;
  const { reservedBytes = defaultReservedBytes, orphanAfterMs = defaultOrphanAfterMs, sync = syncToDisk } = options;
  const { maxOwnerBytes = Number.MAX_SAFE_INTEGER } = options;
  const incoming = join(folder, "incoming");
  const backends = new Map<FileBackend, ByteStore>([["folder", createFolderBytes(folder, sync)]]);
  if (s3 !== null) backends.set("s3", createS3Bytes(s3));
  const current: FileBackend = s3 === null ? "folder" : "s3";

  function bytesOf(backend: FileBackend): ByteStore {
    const found = backends.get(backend);
    if (found === undefined)
      throw new Error("The file is in S3, but no bucket is configured. Set SWITCHYARD_FILES_S3_BUCKET.");
    return found;
  }

  function toStoredFile({ id, name, mediaType, size, backend }: FileRecord): StoredFile {
    const bytes = bytesOf(backend);
    return {
      ...{ id, name, mediaType, size },
      read: () => bytes.read(id).catch((error) => rejectRead(id, error)),
      stream: (range) => bytes.stream(id, range).catch((error) => rejectRead(id, error)),
    };
  }

  /** A file that was deleted after it was opened is absent, because its row is deleted before its bytes. Otherwise the backend has failed. */
  async function rejectRead(id: string, error: unknown): Promise<never> {
    throw (await rows.exists(id)) ? error : fileNotFound();
  }

  /** Throws when the disk has less free space than that. */
  async function begin(expectedBytes: number) {
    try {
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(incoming);
      if (bavail * bsize < expectedBytes + reservedBytes) throw storageFull();
      return await createDraft();
    } catch (error) {
      log.error("a file could not be created", { error });
      throw toFileError(error);
    }
  }

  async function createDraft() {
    const id = crypto.randomUUID();
    const path = join(incoming, id);
    const handle = await open(path, "wx", 0o600);
    const head: Buffer[] = [];
    let size = 0;
    let isOpen = true;

    async function close(): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      await handle.close();
    }

    async function discard(): Promise<void> {
      try {
        await close();
        await rm(path, { force: true });
      } catch (error) {
        log.warn("an incomplete file could not be deleted; the sweeper will delete it", { error });
      }
    }

    async function write(bytes: Uint8Array): Promise<void> {
      if (size < headBytes) head.push(Buffer.from(bytes.subarray(0, headBytes - size)));
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, at, bytes.length - at);
        at += bytesWritten;
      }
      size += bytes.length;
    }

    const detect = () => detectFileType(Buffer.concat(head), size <= headBytes);

    async function commit(about: FileAbout): Promise<FileRecord> {
      const createdAt = Date.now();
      const { lifetimeMs, mediaType, ...rest } = about;
      const record: FileRecord = {
        ...rest,
        id,
        size,
        backend: current,
        mediaType: mediaType ?? detect(),
        createdAt,
        expiresAt: createdAt + lifetimeMs,
      };
      await sync(handle);
      await close();
      await bytesOf(current).moveIn(path, id);
      // When this throws, the row may or may not exist, so the bytes stay. Without a row the sweeper deletes them.
      if (await rows.create(record, maxOwnerBytes)) return record;
      await removeBytes([record]);
      throw quotaExceeded(maxOwnerBytes);
    }

    return {
      get size() {
        return size;
      },
      /** Detected from the bytes so far. */
      get mediaType() {
        return detect();
      },
      /** The bytes so far, for a file that is not stored. */
      read: (): Promise<Uint8Array> => readFile(path).catch(explain),
      write: (bytes: Uint8Array) => write(bytes).catch(explain),
      commit: (about: FileAbout) => commit(about).catch(explain),
      discard,
    };
  }

  function explain(error: unknown): never {
    const explained = toFileError(error);
    if (explained !== error) log.error("a file could not be written", { error });
    throw explained;
  }

  /** Called after the rows are gone: bytes that cannot be removed now are orphans, which the next sweep deletes. */
  async function removeBytes(deleted: readonly DeletedFile[]): Promise<void> {
    const waiting = [...deleted];
    const work = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        try {
          await bytesOf(next.backend).remove(next.id);
        } catch (error) {
          log.warn("the bytes of a deleted file could not be removed; the sweeper will remove them", {
            file: next.id,
            error,
          });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrentRemovals, waiting.length) }, work));
  }

  async function removeAll(owner: string, now: number): Promise<number> {
    let count = 0;
    await deleteInBatches(async (limit) => {
      const deleted = await rows.deleteSomeUploads(owner, now, limit);
      await removeBytes(deleted);
      count += deleted.filter(({ expiresAt }) => expiresAt > now).length;
      return deleted.length;
    });
    return count;
  }

  async function sweepIncoming(before: number): Promise<number> {
    let count = 0;
    for (const name of await readdir(incoming).catch(() => [])) {
      const path = join(incoming, name);
      // Another process may have deleted it.
      const found = await stat(path).catch(() => null);
      if (found === null || found.mtimeMs >= before) continue;
      await rm(path, { force: true });
      count += 1;
    }
    return count;
  }

  async function sweepBackend(backend: FileBackend, before: number): Promise<number> {
    const bytes = bytesOf(backend);
    const foundId = await bytes.readStoreId();
    if (foundId === null) await bytes.writeStoreId(storeId);
    else if (foundId !== storeId) {
      log.warn("another database stores its files in the same folder or bucket; orphaned files there are not deleted", {
        backend,
      });
      return 0;
    }
    let count = 0;
    for (const [index, shard] of shards.entries()) {
      const old = await bytes.listOld(shard, before);
      if (old.length === 0) continue;
      const known = new Set(await rows.listIds(backend, shard, shards[index + 1] ?? "g"));
      for (const id of old) {
        if (known.has(id) || (await rows.exists(id))) continue;
        await bytes.remove(id);
        count += 1;
      }
    }
    return count;
  }

  async function find(fileId: string, owner: string): Promise<FileRecord | null> {
    const id = fileId.toLowerCase();
    return fileIdPattern.test(id) ? await rows.findUpload(id, owner) : null;
  }

  return {
    begin,
    find,
    toStoredFile,

    /** An upload of this owner; null for every other id, valid or not. */
    async open(fileId: string, owner: string): Promise<StoredFile | null> {
      const found = await find(fileId, owner);
      return found === null ? null : toStoredFile(found);
    },

    /** A result of a task. Its signed address has been verified. */
    async openResult(fileId: string): Promise<StoredFile | null> {
      const found = fileIdPattern.test(fileId) ? await rows.findResult(fileId) : null;
      return found === null ? null : toStoredFile(found);
    },

    async put(content: Uint8Array, about: FileAbout): Promise<FileRecord> {
      const draft = await begin(content.length);
      try {
        await draft.write(content);
        return await draft.commit(about);
      } catch (error) {
        await draft.discard();
        throw error;
      }
    },

    list: rows.listUploads,

    /** For the operator: uploads of all owners. */
    listAll: rows.listAllUploads,

    /** For the operator: an upload of any owner. */
    findAny: rows.findAnyUpload,

    /** Throws when so many more bytes would exceed the quota of the owner. */
    async refuseOverQuota(owner: string, bytes = 1): Promise<void> {
      if ((await rows.countBytes(owner)) + bytes > maxOwnerBytes) throw quotaExceeded(maxOwnerBytes);
    },

    /** Returns how many existed. Null: all uploads of the owner. */
    async remove(owner: string, fileIds: readonly string[] | null): Promise<number> {
      const now = Date.now();
      if (fileIds === null) return await removeAll(owner, now);
      const deleted = await rows.deleteUploads(owner, fileIds);
      await removeBytes(deleted);
      return deleted.filter(({ expiresAt }) => expiresAt > now).length;
    },

    /** Deletes expired files, rows and bytes. Returns how many. */
    sweepExpired: () =>
      deleteInBatches(async (limit) => {
        const deleted = await rows.deleteExpired(Date.now(), limit);
        await removeBytes(deleted);
        return deleted.length;
      }),

    /** Deletes bytes without a row, left by a crash or by an unavailable backend. Returns how many. */
    async sweepOrphans(): Promise<number> {
      const before = Date.now() - orphanAfterMs;
      let count = await sweepIncoming(before);
      for (const backend of backends.keys()) count += await sweepBackend(backend, before);
      return count;
    },
  };
}
