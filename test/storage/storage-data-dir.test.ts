import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findNetworkFileSystem } from "../../src/storage/data-dir.ts";
import { listSharedFiles, lockDataDir } from "../../src/storage/storage.ts";
import { createFolders, makeKey, quiet, startChild, withStorage } from "../contracts/engines.ts";

const folders = createFolders();
const listFiles = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => name.startsWith("switchyard.sqlite"))
    .map((name) => join(dataDir, name))
    .toSorted();
afterAll(() => folders.remove());

describe("the data folder", () => {
  test("a second gateway on the same folder is refused, and told what to do", () => {
    const dataDir = join(folders.create(), "data");
    const lock = lockDataDir(dataDir);
    expect(() => lockDataDir(dataDir)).toThrow(/Another gateway is using the data folder .*DATABASE_URL.*PostgreSQL/);
    lock.release();
    lockDataDir(dataDir).release();
  });

  test("the lock is free again after the gateway that held it was killed", async () => {
    const dataDir = folders.create();
    const child = startChild("lock", { databaseUrl: null, dataDir, log: quiet });
    for await (const _ of child.stdout) break;
    expect(() => lockDataDir(dataDir)).toThrow("Another gateway");
    child.kill("SIGKILL");
    await child.exited;
    lockDataDir(dataDir).release();
  });

  test("commands work beside a gateway that holds the lock", async () => {
    const dataDir = folders.create();
    const lock = lockDataDir(dataDir);
    await withStorage({ databaseUrl: null, dataDir, log: quiet }, (storage) => storage.keys.insert(makeKey()));
    lock.release();
  });

  test("the folder and the files in it are for this user alone", async () => {
    const dataDir = join(folders.create(), "deep", "data");
    const lock = lockDataDir(dataDir);
    await withStorage({ databaseUrl: null, dataDir, log: quiet }, async (storage) => {
      await storage.keys.insert(makeKey());
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
      const files = readdirSync(dataDir);
      expect(files).toContain("switchyard.sqlite-wal");
      for (const file of files) expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    });
    lock.release();
  });

  test("a database that other users may read, as after a restore, is for this user alone from the next start on", async () => {
    const dataDir = folders.create();
    const options = { databaseUrl: null, dataDir, log: quiet };
    await withStorage(options, async (storage) => {
      await storage.keys.insert(makeKey());
      const files = listFiles(dataDir);
      expect(files).toHaveLength(3);
      for (const file of files) chmodSync(file, 0o644);
      expect(listSharedFiles(dataDir).toSorted()).toEqual(files);
      await withStorage(options, () => Promise.resolve());
      expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
      expect(listSharedFiles(dataDir)).toEqual([]);
    });
  });

  test("a network file system is known by its number, signed or not", () => {
    expect(findNetworkFileSystem(0x6969)).toBe("NFS");
    expect(findNetworkFileSystem(0xff534d42 | 0)).toBe("CIFS");
    expect(findNetworkFileSystem(0xef53)).toBeNull();
  });
});
