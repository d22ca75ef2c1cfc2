// The harness that measures the parsers, with the real engines.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { createLog } from "../../src/log.ts";
import { countFields, measureParser } from "../quality/documents/measure-parsers.ts";
import { longTimeLimitsMs } from "./local-call.ts";

describe("the harness", () => {
  let local: LocalEngines;
  beforeAll(() => {
    const log = createLog({ level: "error", format: "text", secrets: [], write: (text) => process.stderr.write(text) });
    local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
  });
  afterAll(() => local.close());

  test("runs a parser over the chosen documents and reports every field", async () => {
    const results = await measureParser(local, "invoices", { split: "tune", looks: ["pdf"], name: "classic-en" });
    expect(results.map(({ document }) => document.layout)).toEqual(["classic", "classic"]);
    const { fields, right } = countFields(results);
    expect(fields).toBeGreaterThan(30);
    expect(right).toBeGreaterThan(fields / 2);
  });
});
