// Measures the local engines: quality on the labelled sets, time, memory. Prints tables, and writes them into docs/local-engines.md
// with `--write`; `--misses` shows every case that went wrong; `--only speech` measures that part alone.

import { createLocalEngines, type LocalEngines } from "../src/engines/local/index.ts";
import { createLog } from "../src/log.ts";
import type { QualityLine, RunTask } from "../test/quality/quality.ts";
import { measureSpeech, speak, transcribe } from "../test/quality/speech/measure.ts";
import { measureText } from "../test/quality/text/measure.ts";
import { measureGrammar, measureMeaning } from "../test/quality/text/measure-groups.ts";
import { callVision, measureVision } from "../test/quality/vision/measure.ts";
import { readFigure } from "../test/quality/vision/pictures.ts";

/** By the name of its part in the page. */
const parts: Readonly<Record<string, () => Promise<string>>> = {
  text: async () => {
    const quality = await withEngines((local) => measureText(runnerOf(local), tellMiss));
    return `${qualityTable(quality)}\n\n${await measureTextSpeed()}`;
  },
  meaning: async () => {
    const quality = await withEngines((local) => measureMeaning(runnerOf(local), tellMiss));
    return `${qualityTable(quality)}\n\n${await measureModelSpeed(meaningSamples)}`;
  },
  grammar: async () => {
    const quality = await withEngines((local) => measureGrammar(runnerOf(local), tellMiss));
    return `${qualityTable(quality)}\n\n${await measureModelSpeed(grammarSamples)}`;
  },
  speech: async () => {
    const quality = await withEngines((local) =>
      measureSpeech(local, (model, wanted, given) => tellMiss(model, "speech", wanted, given)),
    );
    return `${qualityTable(quality)}\n\n${await measureSpeechSpeed()}`;
  },
  vision: async () => {
    const quality = await withEngines(measureVision);
    return `${qualityTable(quality)}\n\n${await measureVisionSpeed()}`;
  },
};

const prose =
  "The council voted to close the indoor pool because repairs would cost nine million euros. It was built in 1971 and leaks. ";
const question = "What does the repair of the pool cost?";
const meaningSamples: readonly Sample[] = [
  { task: "text/embeddings", input: { texts: [prose] } },
  { task: "text/embeddings", input: { texts: [prose.repeat(10)] } },
  { task: "text/search", input: { texts: Array.from({ length: 20 }, () => prose), query: question } },
  { task: "text/question_answer", input: { texts: [prose.repeat(4)], question } },
  {
    task: "text/custom_classification",
    input: { texts: [prose], labels: ["sport", "politics"], examples: [["The striker scored twice.", "sport"]] },
  },
  { task: "text/keyword_extraction", input: { text: prose.repeat(4), language: "en" }, model: "minilm" },
  { task: "text/moderation", input: { text: prose.repeat(4), language: "en" }, model: "minilm" },
  { task: "text/summarize", input: { text: prose.repeat(4), language: "en", output_sentences: 2 }, model: "minilm" },
];
const grammarSamples: readonly Sample[] = [
  { task: "text/spell_check", input: { text: prose.repeat(4), language: "en" }, model: "harper" },
];

const page = "docs/local-engines.md";
const nextCalls = 10;
const showsMisses = process.argv.includes("--misses");
const log = createLog({ level: "warn", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });

const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : undefined;
const wanted = only === undefined ? Object.keys(parts) : [only];
for (const name of wanted) {
  const measure = parts[name];
  if (measure === undefined) throw new Error(`there is no part ${name}; there are ${Object.keys(parts).join(", ")}`);
  const tables = await measure();
  console.log(tables);
  if (process.argv.includes("--write")) await writePart(name, tables);
}

async function writePart(name: string, tables: string): Promise<void> {
  const [begin, end] = [`<!-- measured ${name}: begin -->`, `<!-- measured ${name}: end -->`];
  const text = await Bun.file(page).text();
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < 0) throw new Error(`${page} has no place for what is measured of ${name}`);
  await Bun.write(page, `${text.slice(0, from)}${begin}\n\n${tables}\n\n${text.slice(to)}`);
}

function tellMiss(task: string, text: string, wanted: unknown, given: unknown): void {
  if (!showsMisses) return;
  console.error(`${task}: ${text}\n  wanted ${JSON.stringify(wanted)}\n  given  ${JSON.stringify(given)}`);
}

async function withEngines<Result>(use: (local: LocalEngines) => Promise<Result>): Promise<Result> {
  const local = createLocalEngines({ concurrency: 1, log });
  try {
    return await use(local);
  } finally {
    await local.close();
  }
}

function runnerOf(local: LocalEngines): RunTask {
  return async (task, input, model) => {
    const engines = local.engines.filter((one) => one.task === task);
    const engine = model === undefined ? engines[0] : engines.find((one) => one.models.includes(model));
    if (engine === undefined) throw new Error(`no local engine for ${task}`);
    const deadline = performance.now() + 60_000;
    const signal = new AbortController().signal;
    const answer = await engine.run({
      model: model ?? null,
      input,
      files: {},
      providerParams: {},
      signal,
      deadline,
      requestId: "quality",
      owner: "key:test",
    });
    return answer.output;
  };
}

async function measureTextSpeed(): Promise<string> {
  return measureModelSpeed(Object.entries(await readSamples()).map(([task, input]) => ({ task, input })));
}

interface Sample {
  readonly task: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly model?: string;
}

async function measureModelSpeed(samples: readonly Sample[]): Promise<string> {
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
