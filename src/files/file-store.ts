// Files of callers and of tasks: the rows say what there is, the bytes are in a folder or in S3.
//
// A file is written to `incoming/` first. When all of it is there and safe it goes to its place, and only then does a row say
// that it exists: whatever is listed can be read, and a crash leaves at most bytes that nobody knows of, which are swept.

import { mkdir, open, readdir, readFile, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log.ts";
import type { DeletedFile, FileKind, FilePlace, FileRecord } from "../storage/files.ts";
import type { FileRows } from "../storage/stores.ts";
import { type ByteRange, type ByteStore, fileIdPattern, shards } from "./byte-store.ts";
import { noOwnerRoom, noRoom, toFileError } from "./file-errors.ts";
import { detectFileType, headBytes } from "./file-type.ts";
import { createFolderBytes } from "./folder-bytes.ts";
import { createS3Bytes, type S3Settings } from "./s3-bytes.ts";

export interface FileStoreOptions {
  readonly rows: FileRows;
  /** `<data folder>/files`. Unfinished files are here also when the finished ones are in S3. */
  readonly folder: string;
  /** Null: the folder keeps them. */
  readonly s3: S3Settings | null;
  /** The same for every process on one database and for no other: nobody sweeps what a stranger wrote. */
  readonly storeId: string;
  readonly log: Log;
  /** Of one owner's files together, uploads and results; absent: any number. */
  readonly maxOwnerBytes?: number;
  /** So much of the disk stays free for everything else that is on it. */
  readonly reservedBytes?: number;
  /** Bytes without a row are given up after this time without a change. */
  readonly orphanAfterMs?: number;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  /** Detected from the bytes, or what the task said that produced them. */
  readonly mediaType: string;
  readonly size: number;
  read(): Promise<Uint8Array>;
  stream(range?: ByteRange): ReadableStream<Uint8Array>;
}

export interface FileAbout {
  readonly owner: string;
  readonly kind: FileKind;
  readonly name: string;
  /** Null: told from the bytes. */
  readonly mediaType: string | null;
  readonly purpose: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly lifetimeMs: number;
}

/** A file that is being written. One of `keep` and `discard` ends it. */
export interface FileDraft {
  readonly size: number;
  /** Told from the bytes that have come. */
  readonly mediaType: string;
  write(bytes: Uint8Array): Promise<void>;
  /** What was written, for whoever needs the file only now. */
  read(): Promise<Uint8Array>;
  keep(about: FileAbout): Promise<FileRecord>;
  discard(): Promise<void>;
}

export interface FileStore {
  /** An upload of this owner; null for every other id, whatever it looks like. */
  open(fileId: string, owner: string): Promise<StoredFile | null>;
  /** What a task produced. The caller has proved that it may be read. */
  openResult(fileId: string): Promise<StoredFile | null>;
  put(content: Uint8Array | AsyncIterable<Uint8Array>, about: FileAbout): Promise<FileRecord>;
  /** Throws when the disk has no room for so many bytes. */
  begin(expectedBytes: number): Promise<FileDraft>;
  find(fileId: string, owner: string): Promise<FileRecord | null>;
  list(filter: ListFilter): Promise<{ total: number; files: FileRecord[] }>;
  /** Throws when the files of this owner may not have so many more bytes, at this moment. One when absent. */
  refuseFull(owner: string, bytes?: number): Promise<void>;
  /** How many were there. Null: all of this owner's. */
  remove(owner: string, fileIds: readonly string[] | null): Promise<number>;
  /** Deletes what has expired: rows and bytes. Returns how many. */
  sweepExpired(): Promise<number>;
  /** Deletes bytes that no row speaks of: left behind by a crash, or by a place that was away. Returns how many. */
  sweepOrphans(): Promise<number>;
}

interface ListFilter {
  readonly owner: string;
  readonly purpose: string | null;
  readonly limit: number;
  readonly offset: number;
}

const defaultReservedBytes = 256 * 1_048_576;
// Longer than the longest silence of an upload, and than it takes a slow disk to make its bytes safe.
const defaultOrphanAfterMs = 3_600_000;
const deletedAtOnce = 500;
const removedAtOnce = 8;

export function createFileStore(options: FileStoreOptions): FileStore {
  const { rows, folder, s3, storeId, log } = options;
  const { reservedBytes = defaultReservedBytes, orphanAfterMs = defaultOrphanAfterMs } = options;
  const { maxOwnerBytes = Number.MAX_SAFE_INTEGER } = options;
  const incoming = join(folder, "incoming");
  const places = new Map<FilePlace, ByteStore>([["folder", createFolderBytes(folder)]]);
  if (s3 !== null) places.set("s3", createS3Bytes(s3));
  const current: FilePlace = s3 === null ? "folder" : "s3";

  function bytesOf(place: FilePlace): ByteStore {
    const found = places.get(place);
    if (found === undefined) throw new Error("The file is in S3, and no bucket is configured");
    return found;
  }

  function toStoredFile({ id, name, mediaType, size, place }: FileRecord): StoredFile {
    const bytes = bytesOf(place);
    return { id, name, mediaType, size, read: () => bytes.read(id), stream: (range) => bytes.stream(id, range) };
  }

  async function begin(expectedBytes: number): Promise<FileDraft> {
    try {
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(incoming);
      if (bavail * bsize < expectedBytes + reservedBytes) throw noRoom();
      return await createDraft();
    } catch (error) {
      log.error("a file could not be begun", { error });
      throw toFileError(error);
    }
  }

  async function createDraft(): Promise<FileDraft> {
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
        log.warn("an unfinished file could not be deleted; it will be swept", { error });
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

    async function keep(about: FileAbout): Promise<FileRecord> {
      const createdAt = Date.now();
      const { lifetimeMs, mediaType, ...rest } = about;
      const record: FileRecord = {
        ...rest,
        id,
        size,
        place: current,
        mediaType: mediaType ?? detect(),
        createdAt,
        expiresAt: createdAt + lifetimeMs,
      };
      await handle.sync();
      await close();
      await bytesOf(current).take(path, id);
      // When this fails nobody can say whether the row is there, so the bytes stay; without a row they are swept.
      if (await rows.create(record, maxOwnerBytes)) return record;
      await removeBytes([record]);
      throw noOwnerRoom(maxOwnerBytes);
    }

    return {
      get size() {
        return size;
      },
      get mediaType() {
        return detect();
      },
      read: () => readFile(path).catch(explain),
      write: (bytes) => write(bytes).catch(explain),
      keep: (about) => keep(about).catch(explain),
      discard,
    };
  }

  function explain(error: unknown): never {
    const told = toFileError(error);
    if (told !== error) log.error("a file could not be written", { error });
    throw told;
  }

  /** After their rows: what cannot be deleted now is an orphan, and goes with the next sweep. */
  async function removeBytes(deleted: readonly DeletedFile[]): Promise<void> {
    const waiting = [...deleted];
    const work = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        try {
          await bytesOf(next.place).remove(next.id);
        } catch (error) {
          log.warn("the bytes of a deleted file could not be removed; they will be swept", { file: next.id, error });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(removedAtOnce, waiting.length) }, work));
  }

  async function removeAll(owner: string, now: number): Promise<number> {
    let count = 0;
    for (;;) {
      const deleted = await rows.deleteSomeUploads(owner, now, deletedAtOnce);
      await removeBytes(deleted);
      count += deleted.filter(({ expiresAt }) => expiresAt > now).length;
      if (deleted.length < deletedAtOnce) return count;
    }
  }

  async function sweepIncoming(before: number): Promise<number> {
    let count = 0;
    for (const name of await readdir(incoming).catch(() => [])) {
      const path = join(incoming, name);
      // Somebody else may have been quicker.
      const found = await stat(path).catch(() => null);
      if (found === null || found.mtimeMs >= before) continue;
      await rm(path, { force: true });
      count += 1;
    }
    return count;
  }

  async function sweepPlace(place: FilePlace, before: number): Promise<number> {
    const bytes = bytesOf(place);
    const mark = await bytes.readMark();
    if (mark === null) await bytes.writeMark(storeId);
    else if (mark !== storeId) {
      log.warn("files are kept where those of another database are; what is left over there is not swept", { place });
      return 0;
    }
    let count = 0;
    for (const [index, shard] of shards.entries()) {
      const old = await bytes.listOld(shard, before);
      if (old.length === 0) continue;
      const known = new Set(await rows.listIds(place, shard, shards[index + 1] ?? "g"));
      for (const id of old) {
        if (known.has(id) || (await rows.exists(id))) continue;
        await bytes.remove(id);
        count += 1;
      }
    }
    return count;
  }

  const find = async (fileId: string, owner: string) => {
    const id = fileId.toLowerCase();
    return fileIdPattern.test(id) ? await rows.findUpload(id, owner) : null;
  };

  return {
    begin,
    find,
    async open(fileId, owner) {
      const found = await find(fileId, owner);
      return found === null ? null : toStoredFile(found);
    },
    async openResult(fileId) {
      const found = fileIdPattern.test(fileId) ? await rows.findResult(fileId) : null;
      return found === null ? null : toStoredFile(found);
    },
    async put(content, about) {
      const draft = await begin(content instanceof Uint8Array ? content.length : 0);
      try {
        if (content instanceof Uint8Array) await draft.write(content);
        else for await (const piece of content) await draft.write(piece);
        return await draft.keep(about);
      } catch (error) {
        await draft.discard();
        throw error;
      }
    },
    list: (filter) => rows.listUploads(filter),
    async refuseFull(owner, bytes = 1) {
      if ((await rows.countBytes(owner)) + bytes > maxOwnerBytes) throw noOwnerRoom(maxOwnerBytes);
    },
    async remove(owner, fileIds) {
      const now = Date.now();
      if (fileIds === null) return await removeAll(owner, now);
      const deleted = await rows.deleteUploads(owner, fileIds);
      await removeBytes(deleted);
      return deleted.filter(({ expiresAt }) => expiresAt > now).length;
    },
    async sweepExpired() {
      let count = 0;
      for (;;) {
        const deleted = await rows.deleteExpired(Date.now(), deletedAtOnce);
        await removeBytes(deleted);
        count += deleted.length;
        if (deleted.length < deletedAtOnce) return count;
      }
    },
    async sweepOrphans() {
      const before = Date.now() - orphanAfterMs;
      let count = await sweepIncoming(before);
      for (const place of places.keys()) count += await sweepPlace(place, before);
      return count;
    },
  };
}
