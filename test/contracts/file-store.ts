// What every engine of the store and every place for bytes promises about files.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createFileStore,
  type FileAbout,
  type FileStore,
  type FileStoreOptions,
  type StoredFile,
} from "../../src/files/file-store.ts";
import type { FileRecord } from "../../src/storage/files.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { startS3, type TestS3, testBucket } from "../support/s3.ts";
import { isFullRun } from "../support/test-size.ts";
import { inParallel } from "../support/wait.ts";
import { catchError, createFolders, type Engine, quiet, withStorage } from "./engines.ts";

const hour = 3_600_000;
const manyFiles = isFullRun ? 300 : 100;

export function describeFileStore(engine: Engine, place: "folder" | "s3"): void {
  describe.skipIf(engine.whyNot !== null)(`files in ${place} on ${engine.name}`, () => {
    const folders = createFolders();
    let s3: TestS3;
    beforeAll(async () => {
      await engine.start();
      s3 = startS3();
    });
    afterAll(async () => {
      await engine.stop();
      s3.stop();
      folders.remove();
    });

    function createStore(storage: Storage, changes: Partial<FileStoreOptions> = {}): FileStore {
      const prefix = `${crypto.randomUUID()}/`;
      return createFileStore({
        rows: storage.files,
        folder: folders.create(),
        s3: place === "s3" ? s3Settings(s3, prefix) : null,
        storeId: "this database",
        log: quiet,
        reservedBytes: 0,
        ...changes,
      });
    }

    test("a file comes back byte for byte, whole, as a stream and in part, and after a restart", async () => {
      const options = await engine.createStore();
      const folder = folders.create();
      const settings = { folder, s3: place === "s3" ? s3Settings(s3, "kept/") : null };
      const bytes = crypto.getRandomValues(new Uint8Array(50_000));
      const { id } = await withStorage(options, (storage) =>
        createStore(storage, settings).put(bytes, about({ name: "Zoë's \u{1f5bc}.bin" })),
      );
      await withStorage(options, async (storage) => {
        const file = await createStore(storage, settings).open(id, "tenant-a");
        expect(file).toMatchObject({
          id,
          name: "Zoë's \u{1f5bc}.bin",
          size: 50_000,
          mediaType: "application/octet-stream",
        });
        expect(Buffer.from((await file?.read()) ?? []).equals(bytes)).toBe(true);
        expect(Buffer.from(await new Response(await file?.stream()).bytes()).equals(bytes)).toBe(true);
        const part = await new Response(await file?.stream({ start: 10, end: 20 })).bytes();
        expect([...part]).toEqual([...bytes.subarray(10, 20)]);
      });
    });

    test("to anyone but its owner a file is as one that never existed", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const store = createStore(storage);
        const { id } = await store.put(Buffer.from("mine"), about());
        const strangers = ["tenant-b", "", "TENANT-A", "tenant-a ", "%", "' or '1'='1"];
        for (const owner of strangers) {
          expect(await store.open(id, owner)).toBeNull();
          expect(await store.find(id, owner)).toBeNull();
          expect(await store.remove(owner, [id])).toBe(0);
          expect(await store.remove(owner, null)).toBe(0);
          expect((await listAll(store, owner)).total).toBe(0);
        }
        for (const nothing of ["", "../../x", `file_${id}`, crypto.randomUUID(), "%", `${id}\u0000`]) {
          expect(await store.open(nothing, "tenant-a")).toBeNull();
        }
        expect(await text(store, id)).toBe("mine");
        expect(await text(store, id.toUpperCase())).toBe("mine");
      });
    });

    test("a file that is deleted after it was opened is absent; if only its bytes are gone, the store has failed", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const folder = folders.create();
        const store = createStore(storage, { folder });
        const codesOf = async ({ read, stream }: StoredFile) => {
          const errors = [await catchError(read()), await catchError(stream())];
          return errors.map((error) => (error as { code?: string }).code);
        };
        const deleted = await putAndOpen(store);
        await store.remove("tenant-a", [deleted.id]);
        expect(await codesOf(deleted)).toEqual(["file_not_found", "file_not_found"]);

        const lost = await putAndOpen(store);
        if (place === "folder") rmSync(join(folder, lost.id.slice(0, 2), lost.id));
        else s3.objects.clear();
        const failures = ["dependency_unavailable", place === "folder" ? "ENOENT" : "dependency_unavailable"];
        expect(await codesOf(lost)).toEqual(failures);
      });
    });

    test("what a task produced is no upload: it is not listed, not opened as one, not deleted with them", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const store = createStore(storage);
        const { id } = await store.put(Buffer.from("result"), about({ kind: "result" }));
        expect(await store.open(id, "tenant-a")).toBeNull();
        expect((await listAll(store)).total).toBe(0);
        expect(await store.remove("tenant-a", [id])).toBe(0);
        expect(await store.remove("tenant-a", null)).toBe(0);
        // It counts for the limit all the same.
        expect(await storage.files.countBytes("tenant-a")).toBe(6);
        const opened = await store.openResult(id);
        expect(Buffer.from((await opened?.read()) ?? []).toString()).toBe("result");
        const upload = await store.put(Buffer.from("upload"), about());
        expect(await store.openResult(upload.id)).toBeNull();
      });
    });

    test("the newest is listed first, page by page, by purpose", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const store = createStore(storage);
        const ids: string[] = [];
        for (let index = 0; index < 5; index += 1) {
          const { id } = await store.put(Buffer.from("x"), about({ purpose: index < 2 ? "early" : "late" }));
          ids.unshift(id);
          await Bun.sleep(2);
        }
        expect((await listAll(store)).items.map(({ id }) => id)).toEqual(ids);
        const page = await store.list({ owner: "tenant-a", purpose: null, limit: 2, offset: 2 });
        expect([page.total, page.items.map(({ id }) => id)]).toEqual([5, ids.slice(2, 4)]);
        const early = await store.list({ owner: "tenant-a", purpose: "early", limit: 10, offset: 0 });
        expect([early.total, early.items.map(({ id }) => id)]).toEqual([2, ids.slice(3)]);
        expect(await storage.files.countBytes("tenant-a")).toBe(5);
        const other = await store.put(Buffer.from("x"), about({ owner: "tenant-b" }));
        const all = await store.listAll({ owner: null, purpose: null, limit: 2, offset: 0 });
        expect([all.total, all.items.map(({ id }) => id)]).toEqual([6, [other.id, ids[0] ?? ""]]);
        expect((await store.listAll({ owner: "tenant-b", purpose: null, limit: 9, offset: 0 })).total).toBe(1);
        expect(await store.findAny(other.id)).toMatchObject({ owner: "tenant-b" });
        expect(await store.findAny(crypto.randomUUID())).toBeNull();
      });
    });

    test("for the operator, the files of all owners are listed with the sum of their sizes, and opened", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const store = createStore(storage);
        const all = { owner: null, purpose: null, limit: 1, offset: 0 };
        expect(await store.listAll(all)).toEqual({ total: 0, totalBytes: 0, items: [] });
        await store.put(new Uint8Array(100), about({ owner: "owner:red" }));
        const newest = await store.put(new Uint8Array(250), about({ owner: "owner:blue" }));
        const sum = 100 + newest.size;
        expect(await store.listAll(all)).toMatchObject({ total: 2, totalBytes: sum, items: [{ id: newest.id }] });
        expect(await store.listAll({ ...all, owner: "owner:red" })).toMatchObject({ total: 1, totalBytes: 100 });
        const found = (await store.findAny(newest.id)) as FileRecord;
        expect((await store.toStoredFile(found).read()).length).toBe(newest.size);
      });
    });

    test("the files of an owner never exceed their limit together, however many processes write at once", async () => {
      const options = await engine.createStore();
      await withStorage(options, (storage) =>
        withStorage(options, async (other) => {
          const settings = { folder: folders.create(), maxOwnerBytes: 1_000 };
          const stores = [createStore(storage, settings), createStore(other, settings)];
          const ids: string[] = [];
          let refused = 0;
          await inParallel(40, 8, async (at) => {
            const kind = at % 3 === 0 ? "result" : "upload";
            try {
              const { id } = await (stores[at % 2] as FileStore).put(Buffer.alloc(90), about({ kind }));
              if (kind === "upload") ids.push(id);
            } catch (error) {
              expect(error).toMatchObject({ code: "payload_too_large" });
              refused += 1;
            }
          });
          // Eleven of 90 bytes fit.
          expect([refused, await storage.files.countBytes("tenant-a")]).toEqual([29, 990]);
          const [store] = stores as [FileStore, FileStore];
          await store.refuseOverQuota("tenant-a", 10);
          await store.put(Buffer.alloc(10), about());
          expect(String(await catchError(store.refuseOverQuota("tenant-a")))).toContain("1000 bytes");
          await store.refuseOverQuota("tenant-b");
          // Deleted files, and expired ones that were removed, are not counted.
          await store.remove("tenant-a", ids);
          expect(await storage.files.countBytes("tenant-a")).toBe(1_000 - 90 * ids.length);
          await store.put(Buffer.alloc(20), about({ lifetimeMs: 1 }));
          await Bun.sleep(5);
          await store.sweepExpired();
          expect(await storage.files.countBytes("tenant-a")).toBe(1_000 - 90 * ids.length);
        }),
      );
    });

    test("a file that has expired is gone at once, and a sweep takes its bytes", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const folder = folders.create();
        const prefix = `${crypto.randomUUID()}/`;
        const store = createStore(storage, { folder, s3: place === "s3" ? s3Settings(s3, prefix) : null });
        const gone = await store.put(Buffer.from("gone"), about({ lifetimeMs: -1 }));
        const result = await store.put(Buffer.from("gone"), about({ kind: "result", lifetimeMs: -1 }));
        const kept = await store.put(Buffer.from("kept"), about());
        expect(await store.open(gone.id, "tenant-a")).toBeNull();
        expect(await store.openResult(result.id)).toBeNull();
        expect([await store.findAny(gone.id), (await store.findAny(kept.id))?.id]).toEqual([null, kept.id]);
        expect((await listAll(store)).items.map(({ id }) => id)).toEqual([kept.id]);
        expect(await store.remove("tenant-a", [gone.id])).toBe(0);
        expect(await store.sweepExpired()).toBe(1);
        expect(await store.sweepExpired()).toBe(0);
        expect(keptIds(place, folder, s3, prefix)).toEqual([kept.id]);
        expect(await text(store, kept.id)).toBe("kept");
      });
    });

    test(`${manyFiles} files are deleted at once, by two connections that do the same, each counted once`, async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (two) => {
          const settings = { folder: folders.create(), s3: place === "s3" ? s3Settings(s3, "many/") : null };
          const stores = [createStore(one, settings), createStore(two, settings)];
          await inParallel(manyFiles, 20, async (index) => {
            await stores[index % 2]?.put(Buffer.from(`file ${index}`), about());
          });
          const other = await createStore(one, settings).put(Buffer.from("theirs"), about({ owner: "tenant-b" }));
          const counts = await Promise.all(stores.map((store) => store.remove("tenant-a", null)));
          expect(counts.reduce((sum, count) => sum + count, 0)).toBe(manyFiles);
          expect(keptIds(place, settings.folder, s3, "many/")).toEqual([other.id]);
        }),
      );
    });

    test("bytes that no row speaks of are swept when they are old, and nothing else is", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const folder = folders.create();
        const prefix = `${crypto.randomUUID()}/`;
        const settings = { folder, s3: place === "s3" ? s3Settings(s3, prefix) : null, orphanAfterMs: hour };
        const store = createStore(storage, settings);
        const kept = await store.put(Buffer.from("kept"), about());
        const [old, young] = [crypto.randomUUID(), crypto.randomUUID()];
        for (const [id, ageMs] of [
          [old, 2 * hour],
          [young, 60_000],
          [kept.id, 2 * hour],
        ] as const) {
          plant({ place, folder, s3, prefix }, id, ageMs);
        }
        mkdirSync(join(folder, "incoming"), { recursive: true });
        writeAged(join(folder, "incoming", crypto.randomUUID()), 2 * hour);
        writeAged(join(folder, "incoming", "young"), 60_000);
        expect(await store.sweepOrphans()).toBe(2);
        expect(keptIds(place, folder, s3, prefix)).toEqual([kept.id, young].toSorted());
        expect(readdirSync(join(folder, "incoming"))).toEqual(["young"]);
        expect(await store.sweepOrphans()).toBe(0);
        expect(await store.find(kept.id, "tenant-a")).not.toBeNull();
      });
    });

    test("where another database's files are kept, nothing is swept", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const folder = folders.create();
        const prefix = `${crypto.randomUUID()}/`;
        const settings = { folder, s3: place === "s3" ? s3Settings(s3, prefix) : null, orphanAfterMs: hour };
        await createStore(storage, { ...settings, storeId: "another database" }).sweepOrphans();
        const theirs = crypto.randomUUID();
        plant({ place, folder, s3, prefix }, theirs, 2 * hour);
        expect(await createStore(storage, settings).sweepOrphans()).toBe(0);
        expect(keptIds(place, folder, s3, prefix)).toEqual([theirs]);
      });
    });

    const onlyInS3 = place === "s3" ? test : () => {};
    onlyInS3("while the bucket is away nothing is kept, and it is an outage and no mistake", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const store = createStore(storage);
        const { id } = await store.put(Buffer.from("before"), about());
        s3.failWith(503);
        try {
          const outage = { code: "dependency_unavailable" };
          expect(await catchError(store.put(Buffer.from("x"), about()))).toMatchObject(outage);
          expect(await catchError(text(store, id))).toMatchObject(outage);
          expect((await listAll(store)).total).toBe(1);
          // The row goes, so nobody reads it any more; the bytes are an orphan.
          expect(await store.remove("tenant-a", [id])).toBe(1);
        } finally {
          s3.failWith(null);
        }
        expect(await store.open(id, "tenant-a")).toBeNull();
      });
    });

    const onlyInFolder = place === "folder" ? test : () => {};
    onlyInFolder("files from before a bucket was configured are still read and deleted", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const folder = folders.create();
        const { id } = await createStore(storage, { folder }).put(Buffer.from("on disk"), about());
        const moved = createStore(storage, { folder, s3: s3Settings(s3, "later/") });
        expect(await text(moved, id)).toBe("on disk");
        const newer = await moved.put(Buffer.from("in the bucket"), about());
        expect(keptIds("s3", folder, s3, "later/")).toEqual([newer.id]);
        expect(await moved.remove("tenant-a", null)).toBe(2);
        expect(keptIds("folder", folder, s3, "")).toEqual([]);
        expect(keptIds("s3", folder, s3, "later/")).toEqual([]);
      });
    });
  });
}

function about(changes: Partial<FileAbout> = {}): FileAbout {
  return {
    owner: "tenant-a",
    kind: "upload",
    name: "a file",
    mediaType: null,
    purpose: "general",
    metadata: {},
    lifetimeMs: hour,
    ...changes,
  };
}

function listAll(store: FileStore, owner = "tenant-a"): Promise<{ total: number; items: FileRecord[] }> {
  return store.list({ owner, purpose: null, limit: 100, offset: 0 });
}

async function putAndOpen(store: FileStore): Promise<StoredFile> {
  const { id } = await store.put(Buffer.from("x"), about());
  return (await store.open(id, "tenant-a")) as StoredFile;
}

async function text(store: FileStore, id: string): Promise<string> {
  const file = await store.open(id, "tenant-a");
  return Buffer.from((await file?.read()) ?? []).toString();
}

export function s3Settings({ url }: TestS3, prefix: string) {
  return {
    bucket: testBucket,
    endpoint: url,
    region: "us-east-1",
    accessKeyId: "a-key",
    secretAccessKey: "a-secret",
    prefix,
  };
}

interface Place {
  readonly place: "folder" | "s3";
  readonly folder: string;
  readonly s3: TestS3;
  readonly prefix: string;
}

/** Puts bytes there that are so old, over those that may be there. */
function plant({ place, folder, s3, prefix }: Place, id: string, ageMs: number): void {
  if (place === "s3") {
    const bytes = Buffer.from("planted");
    s3.objects.set(`${prefix}${id.slice(0, 2)}/${id}`, { bytes, lastModified: Date.now() - ageMs });
    return;
  }
  mkdirSync(join(folder, id.slice(0, 2)), { recursive: true });
  writeAged(join(folder, id.slice(0, 2), id), ageMs);
}

function writeAged(path: string, ageMs: number): void {
  writeFileSync(path, "planted");
  const at = (Date.now() - ageMs) / 1_000;
  utimesSync(path, at, at);
}

/** The ids whose bytes are there. */
function keptIds(place: "folder" | "s3", folder: string, s3: TestS3, prefix: string): string[] {
  const paths =
    place === "s3"
      ? [...s3.objects.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length))
      : (readdirSync(folder, { recursive: true }) as string[]);
  return paths.flatMap((path) => /^[0-9a-f]{2}\/([0-9a-f-]{36})$/.exec(path)?.[1] ?? []).toSorted();
}
