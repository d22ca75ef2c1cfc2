// Measures the local engines: quality on the labelled sets, time, memory. Prints a table, and writes it into docs/local-engines.md
// with `--write`; `--misses` shows every case that went wrong.

import { createLocalEngines } from "../src/engines/local/index.ts";
import { createLog } from "../src/log.ts";
import type { QualityLine, RunTask } from "../test/quality/quality.ts";
import { measureText } from "../test/quality/text/measure.ts";

const page = "docs/local-engines.md";
const [begin, end] = ["<!-- measured: begin -->", "<!-- measured: end -->"];
const nextCalls = 10;
const showsMisses = process.argv.includes("--misses");
const log = createLog({ level: "warn", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });

const samples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = await readSamples();
const quality = await withEngines((run) =>
  measureText(run, (task, text, wanted, given) => {
    if (showsMisses)
      console.error(`${task}: ${text}\n  wanted ${JSON.stringify(wanted)}\n  given  ${JSON.stringify(given)}`);
  }),
);
const speed: string[] = [];
for (const [task, input] of Object.entries(samples)) speed.push(await measureSpeed(task, input));

const tables = `${qualityTable(quality)}\n\n${speedTable(speed)}`;
console.log(tables);
if (process.argv.includes("--write")) {
  const text = await Bun.file(page).text();
  const [head, , tail] = splitAt(text);
  await Bun.write(page, `${head}${begin}\n\n${tables}\n\n${end}${tail}`);
}

/** The samples that the examples show: one for each task. */
async function readSamples(): Promise<Record<string, Record<string, unknown>>> {
  const found: Record<string, Record<string, unknown>> = {};
  const files = await Array.fromAsync(new Bun.Glob("examples/tasks/{text,audio}/*.json").scan("."));
  for (const file of files.sort()) {
    const request = await Bun.file(file).json();
    const task = String(request.model).split("/").slice(0, 2).join("/");
    found[task] ??= request.input;
  }
  return found;
}

async function withEngines<Result>(use: (run: RunTask) => Promise<Result>): Promise<Result> {
  const local = createLocalEngines({ concurrency: 1, log });
  const run: RunTask = async (task, input) => {
    const engine = local.engines.find((one) => one.task === task);
    if (engine === undefined) throw new Error(`no local engine for ${task}`);
    const deadline = performance.now() + 60_000;
    const signal = new AbortController().signal;
    const answer = await engine.run({
      model: null,
      input,
      files: {},
      providerParams: {},
      signal,
      deadline,
      requestId: "quality",
    });
    return answer.output;
  };
  try {
    return await use(run);
  } finally {
    await local.close();
  }
}

/** In workers of their own, so that nothing is warm and the memory is this engine's alone. */
async function measureSpeed(task: string, input: Readonly<Record<string, unknown>>): Promise<string> {
  const local = createLocalEngines({ concurrency: 1, log });
  const engine = local.engines.find((one) => one.task === task);
  if (engine === undefined) throw new Error(`no local engine for ${task}`);
  const call = () =>
    engine.run({
      model: null,
      input,
      files: {},
      providerParams: {},
      signal: new AbortController().signal,
      deadline: performance.now() + 60_000,
      requestId: "quality",
    });
  try {
    const first = await milliseconds(call);
    const next: number[] = [];
    for (let index = 0; index < nextCalls; index++) next.push(await milliseconds(call));
    next.sort((a, b) => a - b);
    const { light, heavy } = local.state();
    const megabytes = Math.round((light.memoryBytes + heavy.memoryBytes) / 1_048_576);
    const characters = String(input["text"]).length;
    const median = next[Math.floor(nextCalls / 2)] ?? 0;
    return `| \`${task}\` | ${characters} | ${first.toFixed(0)} | ${median.toFixed(1)} | ${megabytes} |`;
  } finally {
    await local.close();
  }
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

function speedTable(rows: readonly string[]): string {
  const head =
    "| task | characters | first call, ms | next calls, ms | memory of its worker, MB |\n|---|---|---|---|---|";
  return `${head}\n${rows.join("\n")}`;
}

function splitAt(text: string): [string, string, string] {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < 0) throw new Error(`${page} has no place for the measured part`);
  return [text.slice(0, from), text.slice(from, to), text.slice(to + end.length)];
}
