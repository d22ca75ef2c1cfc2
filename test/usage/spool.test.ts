// The spool of the ledger, in a folder of its own.

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
