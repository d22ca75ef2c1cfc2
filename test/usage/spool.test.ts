// The spool of the ledger, in a folder of its own.

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Spool, takeAbandoned } from "../../src/usage/spool.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-spool-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("lines that no segment can hold do not create further files, and are read in order", () => {
  const spool = new Spool({ folder, maxBytes: 1_000_000, segmentBytes: 1_000 });
  const lines = ["x".repeat(2_000), "second", "third"].map((text, index) => JSON.stringify({ n: index + 1, text }));
  for (const line of lines) spool.append(line);
  for (let times = 0; times < 5; times++) spool.maintain();
  expect(readdirSync(folder).filter((name) => name.endsWith(".spool"))).toHaveLength(2);
  const batch = spool.readBatch(10_000);
  expect(batch?.lines).toBe(`[${lines.join("\n,")}]`);
  expect(batch?.lastLineNumber).toBe(3);
  batch?.remove();
  spool.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("files that cannot be read are taken over later, when they can be", () => {
  const processId = crypto.randomUUID();
  const unreadable = join(folder, `${processId}.1.spool`);
  mkdirSync(unreadable);
  expect(() => [...takeAbandoned(folder, "another")]).toThrow("EISDIR");
  rmSync(unreadable, { recursive: true });
  writeFileSync(unreadable, ',{"n":1}\n');
  const [abandoned] = takeAbandoned(folder, "another");
  expect(abandoned?.files).toEqual([['{"n":1}']]);
  abandoned?.delete();
  expect(readdirSync(folder)).toEqual([]);
});

/** The lines of all batches, each of which is read and removed. */
function drain(spool: Spool, maxBytes: number): { readonly lines: string[]; readonly sizes: number[] } {
  const lines: string[] = [];
  const sizes: number[] = [];
  for (let batch = spool.readBatch(maxBytes); batch !== null; batch = spool.readBatch(maxBytes)) {
    const read = (JSON.parse(batch.lines) as { n: number }[]).map((line) => JSON.stringify(line));
    expect(batch.lastLineNumber).toBe((JSON.parse(read.at(-1) ?? "{}") as { n: number }).n);
    lines.push(...read);
    sizes.push(read.length);
    batch.remove();
  }
  return { lines, sizes };
}

const countSegments = () => readdirSync(folder).filter((name) => name.endsWith(".spool")).length;
/** Each of them has 38 bytes, and 40 in a file. */
const createLines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const n = from + index;
    return JSON.stringify({ n, text: "é€😀".padEnd(17 - String(n).length, ".") });
  });

test("lines of many segments are read in order, as many at once as fit, and their files are used again", () => {
  const spool = new Spool({ folder, maxBytes: 1_000_000, segmentBytes: 200 });
  expect(spool.isEmpty).toBe(true);
  expect(spool.readBatch(1_000)).toBeNull();
  for (let round = 0; round < 3; round++) {
    const lines = createLines(round * 50 + 1, 50);
    for (const line of lines) spool.append(line);
    expect(spool.isEmpty).toBe(false);
    const { lines: read, sizes } = drain(spool, 85);
    expect(read).toEqual(lines);
    expect(Math.max(...sizes)).toBe(2);
    expect(spool.isEmpty).toBe(true);
    expect(countSegments()).toBeLessThanOrEqual(2);
  }
  expect(spool.isFull).toBe(false);
  spool.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("a batch has at least one line, however long it is", () => {
  const spool = new Spool({ folder, maxBytes: 1_000_000 });
  const lines = createLines(1, 3);
  for (const line of lines) spool.append(line);
  expect(drain(spool, 1)).toEqual({ lines, sizes: [1, 1, 1] });
  spool.close();
});

test.each([
  ["exactly fills a segment is written", 0, false],
  ["is a byte longer than a segment is in memory only, and no new call is accepted", 1, true],
])("a line that %s", (_title, tooLong, isFull) => {
  const [line = ""] = createLines(1, 1);
  const segmentBytes = Buffer.byteLength(line) + 2 - tooLong;
  const spool = new Spool({ folder, maxBytes: 1_000_000, segmentBytes });
  spool.append(line);
  expect(spool.isFull).toBe(isFull);
  expect(spool.isEmpty).toBe(false);
  expect(drain(spool, 1_000).lines).toEqual([line]);
  spool.maintain();
  expect(spool.isFull).toBe(false);
  spool.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("the spool is full while its files are larger than the limit, and no longer when they have been emptied", () => {
  const spool = new Spool({ folder, maxBytes: 500, segmentBytes: 200 });
  const lines = createLines(1, 11);
  for (const line of lines.slice(0, 10)) spool.append(line);
  expect([countSegments(), spool.isFull]).toEqual([2, false]);
  spool.append(lines[10] ?? "");
  expect([countSegments(), spool.isFull]).toEqual([3, true]);
  spool.maintain();
  expect(spool.isFull).toBe(true);
  expect(drain(spool, 1_000).lines).toEqual(lines);
  spool.maintain();
  expect([countSegments(), spool.isFull]).toEqual([2, false]);
  spool.close();
});

test("the next segment is created before it is needed, when more than half of the current one is used", () => {
  const spool = new Spool({ folder, maxBytes: 1_000_000, segmentBytes: 160 });
  const lines = createLines(1, 3);
  for (const line of lines.slice(0, 2)) spool.append(line);
  spool.maintain();
  expect(countSegments()).toBe(1);
  spool.append(lines[2] ?? "");
  spool.maintain();
  spool.maintain();
  expect(countSegments()).toBe(2);
  drain(spool, 1_000);
  spool.close();
});

test("what a process left is taken over in the order of its lines, whatever the order of its files", () => {
  const spool = new Spool({ folder, maxBytes: 1_000_000, segmentBytes: 200 });
  const lines = createLines(1, 30);
  for (const line of lines.slice(0, 10)) spool.append(line);
  // The first segment is emptied, and used again for later lines.
  spool.readBatch(1_000)?.remove();
  for (const line of lines.slice(10)) spool.append(line);
  const take = () => [...takeAbandoned(folder, "another")];
  expect(take()).toEqual([]);
  spool.close();
  expect([...takeAbandoned(folder, spool.processId)]).toEqual([]);
  const [found] = take();
  expect(found?.processId).toBe(spool.processId);
  expect(found?.files.flat()).toEqual(lines.slice(5));
  // One process at a time.
  expect(take()).toEqual([]);
  found?.release();
  const [again] = take();
  expect(again?.files.flat()).toEqual(lines.slice(5));
  again?.delete();
  expect(readdirSync(folder)).toEqual([]);
});

test("a line that a crash cut off is left out, and so is a file of which the first byte was cleared", () => {
  const processId = crypto.randomUUID();
  const write = (number: number, bytes: string) => writeFileSync(join(folder, `${processId}.${number}.spool`), bytes);
  write(1, ',{"n":3}\n,{"n":4}\n,{"n":5\0\0\0');
  write(2, '\0{"n":1}\n,{"n":2}\n');
  write(3, ',{"n":1}\n,{"n":2}\n');
  const [found] = takeAbandoned(folder, "another");
  expect(found?.files.flat()).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']);
  found?.delete();
});

test("a lock without files is removed when it is older than a minute: a younger one may be of a process that starts", () => {
  const [young, old] = [`${crypto.randomUUID()}.lock`, `${crypto.randomUUID()}.lock`];
  const setAge = (name: string, ageMs: number) => {
    writeFileSync(join(folder, name), "");
    const time = new Date(Date.now() - ageMs);
    utimesSync(join(folder, name), time, time);
  };
  setAge(young, 30_000);
  setAge(old, 61_000);
  for (const { files, delete: remove } of takeAbandoned(folder, "another")) {
    expect(files).toEqual([]);
    remove();
  }
  expect(readdirSync(folder)).toEqual([young]);
  rmSync(join(folder, young));
  expect([...takeAbandoned(join(folder, "none"), "another")]).toEqual([]);
});
