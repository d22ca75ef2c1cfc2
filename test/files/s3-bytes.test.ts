// Moves files to a bucket whose service refuses or loses a part of them.

import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GatewayError } from "../../src/errors.ts";
import { createS3Bytes } from "../../src/files/s3-bytes.ts";
import { startS3, testBucket } from "../support/s3.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-s3-"));
const s3 = startS3();
const store = createS3Bytes({
  ...{ bucket: testBucket, endpoint: s3.url, prefix: "files/" },
  ...{ accessKeyId: "id", secretAccessKey: "secret" },
});
afterAll(() => {
  s3.stop();
  rmSync(folder, { recursive: true, force: true });
});

const megabyte = 1_048_576;

test.each([
  [1, "refused"],
  [2, "refused"],
  [3, "refused"],
  [2, "lost"],
] as const)("when part %d of three is %s, the file stays where it was", async (partNumber, fault) => {
  const path = join(folder, "file");
  writeFileSync(path, Buffer.alloc(12 * megabyte, "x"));
  s3.failPart({ partNumber, fault });
  const moved = await store.moveIn(path, crypto.randomUUID()).catch((error: unknown) => error);
  s3.failPart(null);
  expect(moved).toBeInstanceOf(GatewayError);
  expect(existsSync(path)).toBe(true);
});

test("a file that is accepted is stored whole", async () => {
  const path = join(folder, "file");
  writeFileSync(path, Buffer.alloc(12 * megabyte, "x"));
  const id = crypto.randomUUID();
  await store.moveIn(path, id);
  expect(existsSync(path)).toBe(false);
  expect((await store.read(id)).length).toBe(12 * megabyte);
});
