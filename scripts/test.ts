// The whole test run: brings the test-only packages and every group of local engines, runs `bun test` over test/ and ends with one line of counts.
// Arguments are passed on: `npm test -- test/http/http-server.test.ts -t keep-alive`.

import { installTools } from "../test/support/tools.ts";
import { installEngines } from "./install-engines.ts";

// The longest single test (a rolling restart under load) takes ten seconds, and many times that on a busy machine.
const testTimeoutMs = 120_000;
const counted = ["pass", "fail", "skip", "todo", "error"] as const;

await installTools();

const patterns = process.argv.slice(2);
const namesFiles = patterns.some((argument) => argument.startsWith("test/") || argument.endsWith(".ts"));
// Whoever runs a few files of another kind need not wait for half a gigabyte.
if (!namesFiles || patterns.some((argument) => argument.includes("engines"))) await installEngines();
/**
 * These wait a lot (for leases, retries, processes that start again), or compute in processes of their own: they run beside the others,
 * so that both cores of a small machine have something to do.
 */
const patientFiles = [
  "test/jobs/async-jobs-crash.test.ts",
  "test/jobs/async-jobs.test.ts",
  "test/jobs/bad-inputs-jobs.test.ts",
  "test/cli/cli.test.ts",
  "test/docs/docs-snippets.test.ts",
  "test/engines/local-documents.test.ts",
  "test/engines/local-offline.test.ts",
  "test/engines/local-pool.test.ts",
  "test/engines/local-speech.test.ts",
  "test/engines/local-text.test.ts",
  "test/engines/local-vision.test.ts",
  "test/docs/examples.test.ts",
  "test/clients/llmprobe.test.ts",
  "test/process/reload.test.ts",
  "test/process/restart.test.ts",
  "test/storage/storage-crash.test.ts",
  "test/storage/storage-jobs.test.ts",
  "test/storage/store-outage.test.ts",
  "test/cli/wrong-configurations.test.ts",
];

const lanes = namesFiles ? [[]] : [await findOtherFiles(), patientFiles];
const runs = lanes.map((files) => start(files));
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    for (const { child } of runs) child.kill(signal);
  });
const outcomes = await Promise.all(runs.map(({ outcome }) => outcome));

const passed = sum((outcome) => outcome.counts.pass);
const failed = sum((outcome) => outcome.failed);
const skipped = sum(({ counts }) => counts.skip + counts.todo);
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
process.exit(failed > 0 || outcomes.some(({ exitCode }) => exitCode !== 0) ? 1 : 0);

type Counts = Record<(typeof counted)[number], number>;

interface Outcome {
  readonly counts: Counts;
  readonly failed: number;
  readonly exitCode: number;
}

async function findOtherFiles(): Promise<string[]> {
  const all = await Array.fromAsync(new Bun.Glob("test/**/*.test.ts").scan({ onlyFiles: true }));
  return all.filter((file) => !patientFiles.includes(file) && !file.includes("node_modules")).sort();
}

function start(files: readonly string[]): { child: Bun.Subprocess; outcome: Promise<Outcome> } {
  const paths = files.map((file) => `./${file}`);
  const command = [process.execPath, "test", `--timeout=${testTimeoutMs}`, ...paths, ...patterns];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "inherit", stderr: "pipe" });
  return { child, outcome: follow(child) };
}

async function follow(child: Bun.Subprocess<"ignore", "inherit", "pipe">): Promise<Outcome> {
  let tail = "";
  const decoder = new TextDecoder();
  for await (const bytes of child.stderr) {
    process.stderr.write(bytes);
    tail = (tail + decoder.decode(bytes, { stream: true })).slice(-4096);
  }
  const exitCode = await child.exited;
  // Colour codes stand around the numbers on a terminal.
  const summary = Bun.stripANSI(tail);
  const counts = readCounts(summary);
  // Without bun's closing line the process died in the middle, whatever its exit code says.
  const isFinished = /^Ran \d+ tests? across \d+ files?\./m.test(summary);
  if (!isFinished) console.error(`bun test ended with ${exitCode} before it had run every test`);
  const ranTests = counts.pass + counts.fail > 0;
  return { counts, failed: counts.fail + counts.error + (isFinished && ranTests ? 0 : 1), exitCode };
}

function readCounts(summary: string): Counts {
  const found = { pass: 0, fail: 0, skip: 0, todo: 0, error: 0 };
  for (const kind of counted) {
    found[kind] = Number(new RegExp(`^ *(\\d+) ${kind}s?$`, "m").exec(summary)?.[1] ?? 0);
  }
  return found;
}

function sum(count: (outcome: Outcome) => number): number {
  return outcomes.reduce((total, outcome) => total + count(outcome), 0);
}
