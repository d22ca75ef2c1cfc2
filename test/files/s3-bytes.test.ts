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
const settings = {
  ...{ bucket: testBucket, endpoint: s3.url, prefix: "files/" },
  ...{ accessKeyId: "id", secretAccessKey: "secret" },
};
const store = createS3Bytes(settings);
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

test("a download fails when S3 refuses it, before its first byte", async () => {
  s3.failWith(500);
  const opened = await store.stream(crypto.randomUUID()).catch((error: unknown) => error);
  s3.failWith(null);
  expect(opened).toBeInstanceOf(GatewayError);
  expect(opened).toMatchObject({ code: "dependency_unavailable" });
});

test("a download of a file or of a part of it is whole", async () => {
  const id = await moveIn("0123456789");
  expect(await new Response(await store.stream(id)).text()).toBe("0123456789");
  expect(await new Response(await store.stream(id, { start: 2, end: 5 })).text()).toBe("234");
  const empty = await moveIn("");
  expect(await new Response(await store.stream(empty)).text()).toBe("");
});

test("a download fails when S3 stops sending", async () => {
  const id = await moveIn("x".repeat(megabyte));
  s3.stallDownloads();
  const impatient = createS3Bytes(settings, { requestTimeoutMs: 300, transferTimeoutMs: 300 });
  const read = async () => new Response(await impatient.stream(id)).bytes();
  expect(await read().catch((error: unknown) => error)).toMatchObject({ code: "dependency_unavailable" });
});

async function moveIn(content: string): Promise<string> {
  const path = join(folder, "file");
  writeFileSync(path, content);
  const id = crypto.randomUUID();
  await store.moveIn(path, id);
  return id;
}
