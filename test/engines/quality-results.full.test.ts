// What the engines make of the labelled sets, compared with what they made of them before: a change of a rule shows each field that it changes.
// After a wanted change: node bin/bun.mjs test --update-snapshots test/engines/quality-results.full.test.ts

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { createLog } from "../../src/log.ts";
import type { Split } from "../quality/documents/labelled-document.ts";
import { measureParser } from "../quality/documents/measure-parsers.ts";
import { documentSets, type ParserName } from "../quality/documents/sets.ts";
import { runnerOf } from "../quality/run-task.ts";
import { measureText } from "../quality/text/measure.ts";
import { measurePersonalData } from "../quality/text/measure-personal-data.ts";
import { installTools } from "../support/tools.ts";
import { longTimeLimitsMs } from "./local-call.ts";

const splits: readonly Split[] = ["tune", "test"];
const parsers = Object.keys(documentSets) as ParserName[];

let local: LocalEngines;
beforeAll(async () => {
  // The fonts with which the documents are drawn.
  await installTools();
  const log = createLog({ level: "error", format: "text", secrets: [], write: (text) => process.stderr.write(text) });
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

for (const split of splits) {
  test.each(parsers)(`fields of %s in PDF files of the ${split} split`, async (parser) => {
    const results = await measureParser(local, parser, { split, looks: ["pdf"] });
    expect(results.length).toBe(documentSets[parser].splits[split]().length);
    const lines = results.map(({ document, fields }) => {
      const others = fields.filter(({ verdict }) => verdict !== "right");
      const shown = others.map(({ path, verdict, given }) =>
        verdict === "wrong" ? `${path} ${JSON.stringify(given)}` : path,
      );
      return [`${document.name}: ${fields.length - others.length} of ${fields.length} fields`, ...shown];
    });
    expect(lines.flat()).toMatchSnapshot();
  });

  test(`texts of the ${split} split`, async () => {
    const misses: string[] = [];
    const onMiss = (task: string, text: string, _wanted: unknown, given: unknown) => {
      misses.push(`${task}: ${text.slice(0, 60)}: ${JSON.stringify(given)}`);
    };
    const lines = [
      ...(await measureText(runnerOf(local), split, onMiss)),
      ...(await measurePersonalData(runnerOf(local), split, onMiss)),
    ];
    expect(lines.map(({ task, measure, result }) => `${task}, ${measure}: ${result}`)).toMatchSnapshot();
    expect(misses).toMatchSnapshot();
  });
}
