// Runs the tests on every core and ends with the slowest ones and one line of counts. CONTRIBUTING.md says what each of the three sizes holds.
// Arguments are passed on to `bun test`: `npm test -- test/http/http-server.test.ts -t keep-alive`.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { startSharedServer, whyNoPostgres } from "../test/support/postgres.ts";
import { installTools } from "../test/support/tools.ts";
import { installEngines } from "./install-engines.ts";

// The longest tests take a minute, and several times that beside programs that use every core.
const testTimeoutMs = 300_000;
const shownTests = 20;
/** Characters of the message of a failure, which can hold the logs of many processes. */
const shownMessage = 3_000;
/** Files beyond the number of cores, because a third of the time of a file passes with waiting for processes, timers and databases. */
const waitingFiles = 2;
/** A file that failed beside others, and passes this often in a row on its own, failed because of the load. */
const soloRuns = 3;
/** More files than this do not fail because of the load. */
const maxSoloFiles = 3;
/** How long each file took the last time, so that the slowest start first. Git ignores it. */
const timingsFile = "test/.timings.json";
/** Files that put load on several gateways. They run one at a time after all others: tests beside them would run out of time. */
const loadFiles = "**/*.load.test.ts";
/** The files that each size leaves out. */
const leftOut = {
  quick: ["**/*.slow.test.ts", "**/*.full.test.ts", loadFiles],
  usual: ["**/*.full.test.ts", loadFiles],
  full: [loadFiles],
} as const satisfies Record<string, readonly string[]>;

const [first = "", ...others] = process.argv.slice(2);
const size = first === "--quick" ? "quick" : first === "--full" ? "full" : "usual";
const patterns = size === "usual" ? process.argv.slice(2) : others;
const namesFiles = patterns.some((argument) => argument.startsWith("test/") || argument.endsWith(".ts"));

await installTools();
// A run of a few other files need not wait for half a gigabyte.
if (!namesFiles || patterns.some((argument) => argument.includes("engines"))) await installEngines();

if (!existsSync(timingsFile)) await Bun.write(timingsFile, JSON.stringify({ version: 1, files: await guessTimings() }));
// A few files, and those of the quick run, start a server themselves where they need one.
const isWholeRun = size !== "quick" && !namesFiles;
const needsServer = isWholeRun && !process.env["TEST_DATABASE_URL"] && whyNoPostgres() === null;
const postgres = needsServer ? await startSharedServer() : null;
const folder = mkdtempSync(join(tmpdir(), "switchyard-tests-"));
const signals = ["SIGINT", "SIGTERM"] as const;
const filesAtOnce = availableParallelism() + waitingFiles;
const runs = [
  await runTests(filesAtOnce, [
    `--timings=${timingsFile}`,
    // A part of the tests says nothing about how long its files take.
    ...(patterns.length === 0 ? ["--update-timings"] : []),
    ...(namesFiles
      ? patterns
      : [...leftOut[size].map((glob) => `--path-ignore-patterns=${glob}`), ...patterns, "test"]),
  ]),
];
const isFullRun = size === "full" && patterns.length === 0;
const isStopped = () => runs.some(({ wasStopped }) => wasStopped);
if (isFullRun && !isStopped()) runs.push(await runTests(1, await findFiles(loadFiles)));
const cases = runs.flatMap(({ report }) => readCases(report));
const stableAlone = isFullRun && !isStopped() ? await findStableAlone(cases) : new Set<string>();
rmSync(folder, { recursive: true, force: true });
await postgres?.stop();

const slowest = cases.toSorted((one, another) => another.seconds - one.seconds).slice(0, shownTests);
console.log(`\nThe slowest ${slowest.length} tests:`);
for (const { seconds, file, title } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}: ${title}`);
const isUnstable = ({ file, outcome }: Case) => outcome === "failed" && stableAlone.has(file);
showFailures(`Unstable, failed beside other files and passed ${soloRuns} times alone`, cases.filter(isUnstable));
const failures = cases.filter((one) => one.outcome === "failed" && !isUnstable(one));
showFailures("Failures", failures);
const count = (outcome: Case["outcome"]) => cases.filter((one) => one.outcome === outcome).length;
const passed = count("passed");
// A file that cannot be loaded and a run without a single test are failures too, and no test of the report has failed then.
const isGood = passed > 0 && (stableAlone.size > 0 || runs.every(({ exitCode }) => exitCode === 0));
const failed = Math.max(failures.length, isGood ? 0 : 1);
const skipped = count("skipped");
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
process.exit(failed > 0 ? 1 : 0);

/** Runs `bun test`, at most `filesAtOnce` files at a time. */
async function runTests(filesAtOnce: number, options: readonly string[]) {
  const reportFile = join(folder, `junit-${filesAtOnce}.xml`);
  const tests = Bun.spawn(
    [
      ...[process.execPath, "test", "--no-orphans", `--parallel=${filesAtOnce}`],
      // The files that a process runs share their modules: loading the gateway for each file would take half of the time.
      ...["--no-isolate", `--timeout=${testTimeoutMs}`],
      ...["--reporter=junit", `--reporter-outfile=${reportFile}`],
      ...options,
    ],
    {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      env: { ...process.env, TEST_SIZE: size, ...(postgres !== null && { TEST_DATABASE_URL: postgres.url }) },
    },
  );
  let wasStopped = false;
  const passOn = (signal: NodeJS.Signals) => {
    wasStopped = true;
    tests.kill(signal);
  };
  for (const signal of signals) process.on(signal, passOn);
  const exitCode = await tests.exited;
  for (const signal of signals) process.off(signal, passOn);
  const report = existsSync(reportFile) ? await Bun.file(reportFile).text() : "";
  return { exitCode, report, wasStopped };
}

/**
 * The files with failed tests, if they pass alone. There are none when a file is missing in the report, because it could not be loaded or its
 * process ended: then the whole run has failed.
 */
async function findStableAlone(cases: readonly Case[]): Promise<Set<string>> {
  const failed = new Set(cases.filter(({ outcome }) => outcome === "failed").map(({ file }) => file));
  const reported = new Set(cases.map(({ file }) => file));
  const isWhole = (await findFiles("**/*.test.ts")).every((file) => reported.has(file));
  if (failed.size === 0 || failed.size > maxSoloFiles || !isWhole) return new Set();
  for (const file of failed)
    for (let count = 0; count < soloRuns; count++) if ((await runTests(1, [file])).exitCode !== 0) return new Set();
  return failed;
}

function showFailures(heading: string, failures: readonly Case[]): void {
  if (failures.length > 0) console.log(`\n${heading}:`);
  for (const { file, title, message } of failures)
    console.log(`${file}: ${title}\n${message.slice(0, shownMessage)}\n`);
}

async function findFiles(glob: string): Promise<string[]> {
  const found = await Array.fromAsync(new Bun.Glob(glob).scan("test"));
  return found.filter((file) => !file.includes("node_modules")).map((file) => `test/${file}`);
}

/** The name and the length of a file tell roughly how many milliseconds it takes. The first run in a clone would otherwise begin long files last. */
async function guessTimings(): Promise<Record<string, number>> {
  const guess = (file: string) => {
    const least = file.endsWith(".full.test.ts") ? 40_000 : file.endsWith(".slow.test.ts") ? 10_000 : 1_000;
    return least + Bun.file(file).size;
  };
  return Object.fromEntries((await findFiles("**/*.test.ts")).map((file) => [file, guess(file)]));
}

interface Case {
  readonly file: string;
  readonly title: string;
  readonly seconds: number;
  readonly outcome: "passed" | "failed" | "skipped";
  /** Of a failure. */
  readonly message: string;
}

/** The report is written by the same Bun that runs this script: attributes in double quotes, one element a line. */
function readCases(xml: string): Case[] {
  const testCase = /<testcase ([^>]*?)(?:\/>|>\s*<(failure|skipped)(?:[^>]*>([^<]*)<\/failure>)?)/g;
  return Array.from(xml.matchAll(testCase), ([, attributes = "", child, message = ""]) => {
    const read = (name: string) => unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
    const title = [read("classname"), read("name")].filter(Boolean).join(" > ");
    const outcome = child === "failure" ? "failed" : child === "skipped" ? "skipped" : "passed";
    return { file: read("file"), title, seconds: Number(read("time")), outcome, message: unescapeXml(message) };
  });
}

function unescapeXml(text: string): string {
  const characters: Readonly<Record<string, string>> = {
    ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#10": "\n" },
  };
  return text.replace(/&(amp|lt|gt|quot|apos|#10);/g, (_, name: string) => characters[name] ?? "");
}
