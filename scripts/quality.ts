// Measures the local engines: quality on the labelled sets, time, memory. Prints tables, and writes them into docs/local-engines.md
// with `--write`; `--misses` shows every case that went wrong; `--only speech` measures that part alone. Most sets have two splits: `--split tune` is the one
// that rules may be tuned on. `--no-speed` measures the quality alone, and `--write` then keeps the times of the page, which need a quiet machine.
// `--looks pdf,scan`, `--name de-` and `--save folder` choose and keep the files of documents.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createLocalEngines, type LocalEngines } from "../src/engines/local/index.ts";
import { createLog } from "../src/log.ts";
import { longTimeLimitsMs } from "../test/engines/local-call.ts";
import type { Split } from "../test/quality/documents/labelled-document.ts";
import { allLooks, type Look } from "../test/quality/documents/looks.ts";
import {
  countRead,
  measureParser,
  tableOfFields,
  tableOfGroups,
  tableOfLooks,
} from "../test/quality/documents/measure-parsers.ts";
import type { ParserName } from "../test/quality/documents/sets.ts";
import { measurePages, medianMilliseconds, tableOfPages } from "../test/quality/ocr/pages/measure-pages.ts";
import { measurePdfText } from "../test/quality/ocr/pages/measure-pdf-text.ts";
import type { QualityLine } from "../test/quality/quality.ts";
import { runnerOf } from "../test/quality/run-task.ts";
import { measureSpeech, speak, transcribe } from "../test/quality/speech/measure.ts";
import { measureText } from "../test/quality/text/measure.ts";
import { measureGrammar, measureMeaning } from "../test/quality/text/measure-groups.ts";
import { measurePersonalData } from "../test/quality/text/measure-personal-data.ts";
import { measureTextReferences } from "../test/quality/text/reference.ts";
import { grammarSamples, meaningSamples, type SpeedSample } from "../test/quality/text/speed-samples.ts";
import { callVision, measureVision } from "../test/quality/vision/measure.ts";
import { readFigure } from "../test/quality/vision/pictures.ts";

const { values: options } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: "string" },
    split: { type: "string", default: "test" },
    looks: { type: "string", default: allLooks.join(",") },
    name: { type: "string", default: "" },
    save: { type: "string" },
    misses: { type: "boolean", default: false },
    speed: { type: "boolean", default: true },
    write: { type: "boolean", default: false },
  },
});
const split = choose("split", options.split, ["tune", "test"] as const) satisfies Split;
const looks: Look[] = options.looks.split(",").map((look) => choose("looks", look, allLooks));

/** By the name of its part in the page. */
const parts: Readonly<Record<string, () => Promise<string>>> = {
  text: async () => {
    const quality = await withEngines(async (local) => [
      ...(await measureText(runnerOf(local), split, tellMiss)),
      ...(await measurePersonalData(runnerOf(local), split, tellMiss)),
      ...(split === "test" ? await measureTextReferences((line) => console.error(line)) : []),
    ]);
    return withSpeed(quality, measureTextSpeed);
  },
  meaning: async () => {
    const quality = await withEngines((local) => measureMeaning(runnerOf(local), split, tellMiss));
    return withSpeed(quality, () => measureModelSpeed(meaningSamples));
  },
  grammar: async () => {
    const quality = await withEngines((local) => measureGrammar(runnerOf(local), tellMiss));
    return withSpeed(quality, () => measureModelSpeed(grammarSamples));
  },
  speech: async () => {
    const quality = await withEngines((local) =>
      measureSpeech(local, (model, wanted, given) => tellMiss(model, "speech", wanted, given)),
    );
    return withSpeed(quality, measureSpeechSpeed);
  },
  vision: async () => {
    const quality = await withEngines(measureVision);
    return withSpeed(quality, measureVisionSpeed);
  },
  ocr: measureRecognition,
  invoices: () => measureDocuments("invoices"),
  identity: () => measureDocuments("identity"),
  cv: () => measureDocuments("cv"),
};

const page = "docs/local-engines.md";
const nextCalls = 10;
const betweenTables = "\n\n";
const log = createLog({ level: "warn", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });

const partNames = Object.keys(parts);
if (options.write && split === "tune")
  throw new Error("The page shows the test split only: --write needs --split test.");
for (const name of options.only?.split(",").map((one) => choose("only", one, partNames)) ?? partNames) {
  const tables = (await parts[name]?.()) ?? "";
  console.log(tables);
  if (options.write) await writePart(name, tables);
}

function choose<const Choice extends string>(option: string, value: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((one) => one === value);
  if (choice === undefined) throw new Error(`--${option} ${value} is unknown; choose one of ${choices.join(", ")}.`);
  return choice;
}

async function measureRecognition(): Promise<string> {
  const log = (line: string) => console.error(line);
  return withEngines(async (local) => {
    const results = await measurePages(local, {
      split,
      name: options.name,
      onPage: ({ name, truth }, { recall, errorRate }, text, cells) => {
        if (!options.misses) return;
        const found = cells === null ? "" : `, ${cells.found} of ${cells.all} cells`;
        console.error(`${name}: word recall ${recall.toFixed(3)}, wrong characters ${errorRate.toFixed(3)}${found}`);
        if (errorRate > 0.02) console.error(`  printed ${JSON.stringify(truth)}\n  read    ${JSON.stringify(text)}`);
      },
      onFile: saveFile,
      log,
    });
    const pages = [
      tableOfPages(results),
      ...(options.speed ? [`A page takes ${medianMilliseconds(results)} ms (median).`] : []),
    ];
    // A choice of pages is for tuning the recognition.
    if (options.name === "") pages.push(qualityTable(await measurePdfText(local, split, log)));
    return pages.join(betweenTables);
  });
}

async function saveFile({ name, bytes }: { readonly name: string; readonly bytes: Uint8Array }): Promise<void> {
  if (options.save === undefined) return;
  mkdirSync(options.save, { recursive: true });
  await Bun.write(join(options.save, name), bytes);
}

async function measureDocuments(parser: ParserName): Promise<string> {
  const results = await withEngines((local) =>
    measureParser(local, parser, {
      split,
      looks,
      name: options.name,
      onMiss: (document, look, { path, expected, given, verdict }) => {
        if (!options.misses) return;
        const found = verdict === "missing" ? "nothing" : JSON.stringify(given);
        console.error(`${verdict}  ${document} ${look} ${path}: ${found} instead of ${JSON.stringify(expected)}`);
      },
      onFile: saveFile,
      log: (line) => console.error(line),
    }),
  );
  if (options.misses) {
    console.error(tableOfGroups(results, ({ layout }) => layout));
    console.error(tableOfGroups(results, ({ language }) => language));
  }
  const { read, all } = countRead(results);
  const whole =
    all === 0 ? "" : `\n\nFiles with a machine-readable zone whose fields are all right: ${read} of ${all}.`;
  return `${tableOfLooks(results, parser === "invoices")}${whole}\n\n${tableOfFields(results)}`;
}

async function withSpeed(quality: readonly QualityLine[], measureSpeed: () => Promise<string>): Promise<string> {
  return options.speed ? `${qualityTable(quality)}${betweenTables}${await measureSpeed()}` : qualityTable(quality);
}

async function writePart(name: string, tables: string): Promise<void> {
  const [begin, end] = [`<!-- measured ${name}: begin -->`, `<!-- measured ${name}: end -->`];
  const text = await Bun.file(page).text();
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < 0) throw new Error(`${page} has no place for what is measured of ${name}`);
  const before = text
    .slice(from + begin.length, to)
    .trim()
    .split(betweenTables);
  const all = options.speed ? tables : keepOthers(before, tables.split(betweenTables)).join(betweenTables);
  await Bun.write(page, `${text.slice(0, from)}${begin}\n\n${all}\n\n${text.slice(to)}`);
}

/** The tables of the page, each replaced by the measured one with the same head. Those of times were not measured and stay. */
function keepOthers(before: readonly string[], measured: readonly string[]): string[] {
  const headOf = (table: string) => table.split("\n", 1)[0]?.replace(/\d+/g, "");
  const isNew = (table: string) => before.every((one) => headOf(one) !== headOf(table));
  const replaced = before.map((one) => measured.find((table) => headOf(table) === headOf(one)) ?? one);
  return [...measured.filter(isNew), ...replaced];
}

function tellMiss(task: string, text: string, wanted: unknown, given: unknown): void {
  if (!options.misses) return;
  console.error(`${task}: ${text}\n  wanted ${JSON.stringify(wanted)}\n  given  ${JSON.stringify(given)}`);
}

async function withEngines<Result>(use: (local: LocalEngines) => Promise<Result>): Promise<Result> {
  const local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
  try {
    return await use(local);
  } finally {
    await local.close();
  }
}

async function measureTextSpeed(): Promise<string> {
  return measureModelSpeed(Object.entries(await readSamples()).map(([task, input]) => ({ task, input })));
}

async function measureModelSpeed(samples: readonly SpeedSample[]): Promise<string> {
  const rows: string[] = [];
  for (const { task, input, model } of samples) {
    const { first, next, megabytes } = await measureSpeed((local) => runnerOf(local)(task, input, model));
    const name = model === undefined ? task : `${task}/local/${model}`;
    const characters = [input["text"] ?? input["texts"]].flat().join("").length;
    rows.push(`| \`${name}\` | ${characters} | ${first.toFixed(0)} | ${next.toFixed(1)} | ${megabytes} |`);
  }
  const head =
    "| task | characters | first call, ms | next calls, ms | memory of its worker, MB |\n|---|---|---|---|---|";
  return `${head}\n${rows.join("\n")}`;
}

async function measureSpeechSpeed(): Promise<string> {
  const text = "The committee will meet again on Thursday to discuss the new budget for the public library. ".repeat(3);
  const wave = await withEngines((local) => speak(local, text, "slt"));
  const seconds = (wave.length - 44) / 2 / 16_000;
  const rows: string[] = [];
  for (const model of ["moonshine-base", "moonshine-tiny"]) {
    const { first, next, megabytes } = await measureSpeed((local) => transcribe(local, wave, model));
    rows.push(`| \`${model}\` | ${seconds.toFixed(1)} | ${first.toFixed(0)} | ${next.toFixed(0)} | ${megabytes} |`);
  }
  const head =
    "| model | seconds of speech | first call, ms | next calls, ms | memory of its worker, MB |\n|---|---|---|---|---|";
  return `${head}\n${rows.join("\n")}`;
}

async function measureVisionSpeed(): Promise<string> {
  const picture = await readFigure("body");
  const names = (await withEngines(async (local) => local.engines)).filter(({ task }) => task.startsWith("image/"));
  const rows: string[] = [];
  for (const { task, models } of names)
    for (const model of models.length === 0 ? [null] : models) {
      const { first, next, megabytes } = await measureSpeed((local) => callVision(local, task, [picture], model));
      const name = model === null ? task : `${task}/local/${model}`;
      rows.push(`| \`${name}\` | ${first.toFixed(0)} | ${next.toFixed(0)} | ${megabytes} |`);
    }
  const head =
    "| task, 1200 × 1200 pixels | first call, ms | next calls, ms | memory of its worker, MB |\n|---|---|---|---|";
  return `${head}\n${rows.join("\n")}`;
}

/** The samples that the examples show: one for each task. Engines of a name of their own are measured in other parts. */
async function readSamples(): Promise<Record<string, Record<string, unknown>>> {
  const found: Record<string, Record<string, unknown>> = {};
  const files = await Array.fromAsync(new Bun.Glob("examples/tasks/{text,audio}/*.json").scan("."));
  for (const file of files.sort()) {
    const request = await Bun.file(file).json();
    if (typeof request.input.text !== "string") continue;
    const [feature, subfeature, , model] = String(request.model).split("/");
    if (model === undefined) found[`${feature}/${subfeature}`] ??= request.input;
  }
  return found;
}

interface Speed {
  readonly first: number;
  /** The median. */
  readonly next: number;
  readonly megabytes: number;
}

/** In workers of their own, so that nothing is warm and the memory is this engine's alone. */
function measureSpeed(call: (local: LocalEngines) => Promise<unknown>): Promise<Speed> {
  return withEngines(async (local) => {
    const first = await milliseconds(() => call(local));
    const next: number[] = [];
    for (let index = 0; index < nextCalls; index++) next.push(await milliseconds(() => call(local)));
    next.sort((a, b) => a - b);
    const { light, heavy } = local.state();
    const megabytes = Math.round((light.memoryBytes + heavy.memoryBytes) / 1_048_576);
    return { first, next: next[Math.floor(nextCalls / 2)] ?? 0, megabytes };
  });
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function qualityTable(lines: readonly QualityLine[]): string {
  const rows = lines.map(({ task, measure, result, cases }) => `| \`${task}\` | ${measure} | ${result} | ${cases} |`);
  return `| task | measure | result | cases |\n|---|---|---|---|\n${rows.join("\n")}`;
}
