// Runs the tests on every core and ends with the slowest ones and one line of counts. CONTRIBUTING.md says what each of the three sizes holds.
// Arguments are passed on to `bun test`: `npm test -- test/http/http-server.test.ts -t keep-alive`.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { startSharedServer, whyNoPostgres } from "../test/support/postgres.ts";
import { installTools } from "../test/support/tools.ts";
import { installEngines } from "./install-engines.ts";

// The longest single test (a rolling restart under load) takes ten seconds, and many times that on a busy machine.
const testTimeoutMs = 120_000;
const shownTests = 20;
/** Files beyond the number of cores, because a third of the time of a file passes with waiting for processes, timers and databases. */
const waitingFiles = 2;
/** How long each file took the last time, so that the slowest start first. Git ignores it. */
const timingsFile = "test/.timings.json";
/** The files that each size leaves out. */
const leftOut = {
  quick: ["**/*.slow.test.ts", "**/*.full.test.ts"],
  usual: ["**/*.full.test.ts"],
  full: [],
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
const reportFile = join(folder, "junit.xml");
const tests = Bun.spawn(
  [
    ...[
      process.execPath,
      "test",
      "--no-orphans",
      `--parallel=${availableParallelism() + waitingFiles}`,
      `--timeout=${testTimeoutMs}`,
    ],
    ...["--reporter=junit", `--reporter-outfile=${reportFile}`, `--timings=${timingsFile}`],
    // A part of the tests says nothing about how long its files take.
    ...(patterns.length === 0 ? ["--update-timings"] : []),
    ...(namesFiles
      ? patterns
      : [...leftOut[size].map((glob) => `--path-ignore-patterns=${glob}`), ...patterns, "test"]),
  ],
  {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    env: { ...process.env, TEST_SIZE: size, ...(postgres !== null && { TEST_DATABASE_URL: postgres.url }) },
  },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
const exitCode = await tests.exited;
const report = await Bun.file(reportFile)
  .text()
  .catch(() => "");
rmSync(folder, { recursive: true, force: true });
await postgres?.stop();

const cases = readCases(report);
const slowest = cases.toSorted((one, another) => another.seconds - one.seconds).slice(0, shownTests);
console.log(`\nThe slowest ${slowest.length} tests:`);
for (const { seconds, file, title } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}: ${title}`);
const count = (outcome: Case["outcome"]) => cases.filter((one) => one.outcome === outcome).length;
const passed = count("passed");
// A file that cannot be loaded and a run without a single test are failures too, and no test of the report has failed then.
const failed = Math.max(count("failed"), exitCode === 0 && passed > 0 ? 0 : 1);
const skipped = count("skipped");
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
process.exit(failed > 0 ? 1 : 0);

/**
 * The name of a file tells roughly how many milliseconds it takes. The first run in a clone would otherwise begin long files last. Files that
 * put load on several gateways come last all the same, because the others would run out of time beside them.
 */
async function guessTimings(): Promise<Record<string, number>> {
  const found = await Array.fromAsync(new Bun.Glob("test/**/*.test.ts").scan("."));
  const files = found.filter((file) => !file.includes("node_modules"));
  const guess = (file: string) => {
    if (/^test\/(?:process|deploy)\/.*\.full\.test\.ts$/.test(file)) return 100;
    return file.endsWith(".full.test.ts") ? 40_000 : file.endsWith(".slow.test.ts") ? 15_000 : 1_000;
  };
  return Object.fromEntries(files.map((file) => [file, guess(file)]));
}

interface Case {
  readonly file: string;
  readonly title: string;
  readonly seconds: number;
  readonly outcome: "passed" | "failed" | "skipped";
}

/** The report is written by the same Bun that runs this script: attributes in double quotes, one element a line. */
function readCases(xml: string): Case[] {
  return Array.from(xml.matchAll(/<testcase ([^>]*?)(\/>|>\s*<(failure|skipped))/g), ([, attributes = "", , child]) => {
    const read = (name: string) => unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
    const title = [read("classname"), read("name")].filter(Boolean).join(" > ");
    const outcome = child === "failure" ? "failed" : child === "skipped" ? "skipped" : "passed";
    return { file: read("file"), title, seconds: Number(read("time")), outcome };
  });
}

function unescapeXml(text: string): string {
  const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => characters[name] ?? "");
}
