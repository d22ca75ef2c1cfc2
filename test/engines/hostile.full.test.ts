// Local engines on hostile texts: the work must grow with the length of a text, not with its square. Measured as processor time in
// this process, at one length and at four times that length, so that neither a slow nor a busy machine changes the outcome.
// scripts/hostile.ts prints the times at full length.

import { afterAll, describe, expect, test } from "bun:test";
import { readOfficeText } from "../../src/engines/local/documents/office-text.ts";
import { createLocalEngines } from "../../src/engines/local/index.ts";
import { localEngines } from "../../src/engines/local/list.ts";
import type { LocalRun } from "../../src/engines/local/local-engine.ts";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import { splitWindows } from "../../src/engines/local/text/windows.ts";
import { ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { measureGrowth } from "../support/cpu-time.ts";
import { hostileFiles, toZip } from "./hostile/documents.ts";
import { hostileTasks, toHostileInput } from "./hostile/tasks.ts";
import { hostileTexts } from "./hostile/texts.ts";
import { longTimeLimitsMs, runLocal } from "./local-call.ts";

const shortLength = 2_000;
// Linear work takes 4 times as long for 4 times the text, quadratic work 16 times, cubic work 64 times.
const linear = { factor: 4, most: 10, negligibleMs: 150 };
const withinMs = 120_000;

const measured = hostileTasks.filter(({ model, task }) => model === null && task !== "audio/tts");

describe("work grows with the text, and no faster", () => {
  for (const { task } of measured) {
    const engine = localEngines.find((one) => one.task === task && one.models === undefined);
    testInstalled(task, engine, async (run) => {
      await runHostile(run, task, "Dr. Ann Lee of London eats teh bread. ".repeat(100));
      expect(await findGrowth(hostileTexts, (of) => growthOf(run, task, of))).toEqual([]);
    });
  }
});

function testInstalled(
  task: string,
  engine: (typeof localEngines)[number] | undefined,
  check: (run: LocalRun) => Promise<void>,
): void {
  const isInstalled = engine?.packages.every((name) => findPackage(name) !== null) === true;
  test.skipIf(!isInstalled)(
    task,
    async () => {
      const run = await engine?.load();
      if (run === undefined) throw new Error(`no local engine for ${task}`);
      await check(run);
    },
    withinMs,
  );
}

type HostileText = (typeof hostileTexts)[number];

/** The texts for which the time grows too fast. */
async function findGrowth(
  texts: readonly HostileText[],
  measure: (of: HostileText["of"]) => Promise<number>,
): Promise<string[]> {
  const grown: string[] = [];
  for (const { name, of } of texts) {
    const growth = await measure(of);
    if (growth > linear.most) grown.push(`${name}: ${growth.toFixed(1)} times`);
  }
  return grown;
}

function growthOf(run: LocalRun, task: string, of: (length: number) => string): Promise<number> {
  const prepare = (length: number) => {
    const text = of(length);
    return () => runHostile(run, task, text);
  };
  return measureGrowth({ ...linear, prepare, length: shortLength });
}

async function runHostile(run: LocalRun, task: string, text: string): Promise<void> {
  try {
    await run({ model: null, input: toHostileInput(task, text), files: {}, onProgress: () => {} });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
  }
}

describe("parsers of documents take time in proportion to a line", () => {
  for (const task of ["ocr/resume_parser", "ocr/financial_parser", "ocr/identity_parser"]) {
    const engine = localEngines.find((one) => one.task === task);
    testInstalled(task, engine, async (parse) => {
      const run: LocalRun = ({ input, ...call }) => {
        const bytes = Buffer.from(String(input["text"]));
        const files = { file: { name: "a.txt", mediaType: "text/plain", bytes } };
        return parse({ ...call, input: { language: "en", document_type: "auto-detect" }, files });
      };
      await runHostile(run, task, "Dr. Ann Lee of London\n".repeat(100));
      const runs = hostileTexts.filter((text) => text.name.startsWith("a run of"));
      expect(await findGrowth(runs, (of) => growthOf(run, task, (length) => of(4 * length)))).toEqual([]);
    });
  }
});

describe("windows", () => {
  test.each(hostileTexts.map(({ name, of }) => [name, of] as const))("of %s join to the text, bounded", (_name, of) => {
    const text = of(20_000);
    const windows = splitWindows(text);
    expect(windows.map((window) => window.text).join("")).toBe(text);
    expect(windows.every(({ text: part, start }) => text.startsWith(part, start))).toBe(true);
    expect(windows.every(({ text: part }) => part.length > 0 && part.length <= 2_000)).toBe(true);
    if (text.isWellFormed()) expect(windows.every((window) => window.text.isWellFormed())).toBe(true);
    const runs = windows.flatMap((window) => window.text.split(/\s+/));
    expect(Math.max(...runs.map((run) => run.length))).toBeLessThanOrEqual(257);
  });

  test("end at the end of a sentence where there is one", () => {
    const sentence = "The council voted to close the indoor pool because repairs would cost nine million euros. ";
    const windows = splitWindows(sentence.repeat(100));
    expect(windows.length).toBeGreaterThan(1);
    expect(windows.every(({ text }) => text.endsWith("euros. "))).toBe(true);
  });
});

describe("office files", () => {
  const contents: Readonly<Record<string, string>> = {
    "a name without an end": "a",
    "open tags": "<",
    "open tags with names": "<w:t ",
    "text tags": "<w:t>",
    "cells in cells": "<w:tc>",
    "rows without cells": "<w:tr></w:tr>",
    paragraphs: "<w:p><w:t>a</w:t></w:p>",
    entities: "&amp;",
    "open entities": "&",
    spaces: " ",
    "line breaks": "<w:br/>",
  };

  for (const [name, token] of Object.entries(contents)) {
    test(`a packed .docx of ${name} takes time in proportion to what it unpacks to`, async () => {
      const growth = await measureGrowth({
        ...linear,
        prepare: (length) => prepareOffice(token, length),
        length: 400_000,
      });
      expect(growth).toBeLessThanOrEqual(linear.most);
    });
  }

  test("unpacks a part once, however often the directory lists it", () => {
    const xml = "<w:p><w:t>once</w:t></w:p>";
    expect(
      readOfficeText(
        toZip(
          Array.from({ length: 500 }, () => "word/document.xml"),
          xml,
        ),
      ),
    ).toEqual(["once"]);
  });
});

function prepareOffice(token: string, length: number): () => void {
  const file = toZip(["word/document.xml"], `<${token.repeat(Math.ceil(length / token.length))}`);
  return () => readOfficeText(file);
}

describe("hostile files", () => {
  const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
  const local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
  afterAll(() => local.close());

  test.each(hostileFiles.map((file) => [file.name, file] as const))(
    "%s is answered or refused, and the engine goes on",
    async (_name, file) => {
      const { name, mediaType, bytes } = file;
      const read = async () => bytes;
      const files = { file: { name, mediaType, size: bytes.length, read } };
      const outcome = await runLocal(local, "ocr/ocr", { file: "x" }, { files, withinMs: 100_000 }).then(
        () => "answered",
        (error: unknown) => (error instanceof ValidationError ? "refused" : String(error)),
      );
      expect(outcome).toBe(file.outcome);
    },
    withinMs,
  );
});
