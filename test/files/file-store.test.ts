// A file's bytes are on the disk before the database says that the file exists: a power cut must not leave a row without bytes.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createFileStore } from "../../src/files/file-store.ts";
import { createLog } from "../../src/log.ts";
import { openStorage } from "../../src/storage/storage.ts";

const dataDir = mkdtempSync(join(tmpdir(), "switchyard-file-store-"));
const folder = join(dataDir, "files");
const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });
const storage = await openStorage({ databaseUrl: null, dataDir, log, deadlineMs: 60_000 });
const steps: string[] = [];

afterAll(async () => {
  await storage.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const files = createFileStore({
  rows: {
    ...storage.files,
    create: (...args) => {
      steps.push("row");
      return storage.files.create(...args);
    },
  },
  folder,
  s3: null,
  storeId: "a-store",
  log,
  sync: async (handle) => {
    await handle.sync();
    steps.push(relative(folder, readlinkSync(`/proc/self/fd/${handle.fd}`)));
  },
});

test("only the owner of the process reads which store the folder belongs to", async () => {
  await files.sweepOrphans();
  expect(statSync(join(folder, "store-id")).mode & 0o777).toBe(0o600);
});

test.skipIf(process.platform !== "linux")("the bytes, then the folder that names them, and then the row", async () => {
  const about = { owner: "key:one", kind: "upload", name: "a.txt", mediaType: null, purpose: "ocr" } as const;
  const { id } = await files.put(Buffer.from("hello"), { ...about, metadata: {}, lifetimeMs: 60_000 });
  const shard = id.slice(0, 2);
  // The first file of a shard also makes the shard's own name safe.
  expect(steps).toEqual([join("incoming", id), shard, "", "row"]);
  expect(Buffer.from((await (await files.open(id, "key:one"))?.read()) ?? []).toString()).toBe("hello");
});
