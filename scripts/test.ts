// The whole test run: brings the test-only packages, runs `bun test` over test/ and ends with one line of counts.
// Arguments are passed on: `npm test -- test/door.test.ts -t keep-alive`.

import { installTools } from "../test/support/tools.ts";

// The longest single test (a rolling restart under load) takes ten seconds, and many times that on a busy machine.
const testTimeoutMs = 120_000;
const counted = ["pass", "fail", "skip", "todo", "error"] as const;

await installTools();

const patterns = process.argv.slice(2);
const namesFiles = patterns.some((argument) => argument.startsWith("test/") || argument.endsWith(".ts"));
const command = [
  process.execPath,
  "test",
  `--timeout=${testTimeoutMs}`,
  ...(namesFiles ? [] : ["./test"]),
  ...patterns,
];
const run = Bun.spawn(command, { stdin: "ignore", stdout: "inherit", stderr: "pipe" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => run.kill(signal));

let tail = "";
const decoder = new TextDecoder();
for await (const bytes of run.stderr) {
  process.stderr.write(bytes);
  tail = (tail + decoder.decode(bytes, { stream: true })).slice(-4096);
}
const exitCode = await run.exited;

// Colour codes stand around the numbers on a terminal.
const summary = Bun.stripANSI(tail);
const counts = readCounts();
// Without bun's closing line the process died in the middle, whatever its exit code says.
const finished = /^Ran \d+ tests? across \d+ files?\./m.test(summary);
const ranTests = counts.pass + counts.fail > 0;
const failed = counts.fail + counts.error + (finished && ranTests ? 0 : 1);
const skipped = counts.skip + counts.todo;

if (!finished) console.error(`bun test ended with ${exitCode} before it had run every test`);
console.log(`${counts.pass} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
process.exit(failed > 0 || exitCode !== 0 ? 1 : 0);

function readCounts(): Record<(typeof counted)[number], number> {
  const found = { pass: 0, fail: 0, skip: 0, todo: 0, error: 0 };
  for (const kind of counted) {
    found[kind] = Number(new RegExp(`^ *(\\d+) ${kind}s?$`, "m").exec(summary)?.[1] ?? 0);
  }
  return found;
}
