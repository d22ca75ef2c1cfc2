// npm run bench: the performance targets, each taken in one run beside the peers that can be started on this machine.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Children } from "./children.ts";
import { startVendors } from "./contestants.ts";
import { type Course, type Figure, firstLine } from "./figure.ts";
import { abuse } from "./figures/abuse.ts";
import { addedLatency } from "./figures/added-latency.ts";
import { jobs } from "./figures/jobs.ts";
import { ledgerAndLimits } from "./figures/ledger-and-limits.ts";
import { ocrLoad } from "./figures/ocr-load.ts";
import { openStreams } from "./figures/open-streams.ts";
import { overload } from "./figures/overload.ts";
import { plainCompletion } from "./figures/plain-completion.ts";
import { postgresWrites } from "./figures/postgres-writes.ts";
import { processCounts } from "./figures/process-counts.ts";
import { stalledReaders } from "./figures/stalled-readers.ts";
import { startUp } from "./figures/start-up.ts";
import { streamedChunk } from "./figures/streamed-chunk.ts";
import { translatedChunk } from "./figures/translated-chunk.ts";
import { twoProcesses } from "./figures/two-processes.ts";
import { usageReport } from "./figures/usage-report.ts";
import { peers } from "./peers.ts";
import { describeMachine, isEverythingMet, type Outcome, printMachine, printTable, toJson } from "./report.ts";

const figures: Figure[] = [
  plainCompletion,
  streamedChunk,
  translatedChunk,
  addedLatency,
  stalledReaders,
  twoProcesses,
  ledgerAndLimits,
  jobs,
  ocrLoad,
  startUp,
  usageReport,
  abuse,
  overload,
  postgresWrites,
  openStreams,
  processCounts,
];

// Nothing here takes this long; a bench that hangs would be worse than one that gives up.
const wholeRunMs = 18 * 60_000;

const usage = `npm run bench -- [--only P1,P2] [--quick] [--json] [--project <folder>]

  --only     only these figures: ${figures.map((figure) => figure.id).join(", ")}
  --quick    fewer and shorter rounds: a first look, not a verdict
  --json     the whole result as JSON on standard output
  --project  the checkout to measure, this one by default`;

process.exit(await main());

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      project: { type: "string", default: join(import.meta.dir, "..") },
      help: { type: "boolean", default: false },
    },
  });
  const wanted = options.only?.toUpperCase().split(",");
  const chosen = figures.filter((figure) => wanted?.includes(figure.id) ?? true);
  if (options.help || chosen.length < (wanted?.length ?? 1)) {
    console.error(usage);
    return options.help ? 0 : 2;
  }
  if (!existsSync("/proc/self/stat")) {
    console.error("The bench reads CPU time from /proc and therefore needs Linux.");
    return 2;
  }

  const children = new Children(mkdtempSync(join(tmpdir(), "switchyard-bench-")));
  const giveUp = (reason: string) => {
    console.error(`\n${reason}`);
    children.killAll();
    rmSync(children.folder, { recursive: true, force: true });
    process.exit(1);
  };
  const watchdog = setTimeout(
    giveUp,
    wholeRunMs,
    `The run took more than ${wholeRunMs / 60_000} minutes and was ended.`,
  );
  process.on("SIGINT", () => giveUp("Interrupted."));
  process.on("SIGTERM", () => giveUp("Terminated."));

  const projectFolder = resolve(options.project);
  const machine = describeMachine(projectFolder);
  if (!options.json) printMachine(machine);
  const outcomes: Outcome[] = [];
  try {
    const vendors = await startVendors(children, options.quick ? 100 : 200);
    // Some ten thousand requests pass before the just-in-time compilers of the contestants have come to rest.
    const pace = options.quick
      ? { rounds: 3, loadMs: 1_000, warmUpMs: 2_000 }
      : { rounds: 5, loadMs: 2_000, warmUpMs: 8_000 };
    const prepared = peers.map(async (peer) => ({ peer, absence: await peer.prepare(children) }));
    const course = { children, vendors, projectFolder, peers: await Promise.all(prepared), ...pace };
    for (const figure of chosen) outcomes.push(await take(figure, course));
    await vendors.stop();
  } finally {
    await children.stopAll();
    clearTimeout(watchdog);
    rmSync(children.folder, { recursive: true, force: true });
  }
  if (options.json) console.log(toJson(machine, outcomes));
  else printTable(outcomes);
  return isEverythingMet(outcomes) ? 0 : 1;
}

/** A figure that cannot be taken is a line in the table, and the next figure is taken all the same. */
async function take(figure: Figure, course: Course): Promise<Outcome> {
  const { id, title } = figure;
  const startedAt = performance.now();
  process.stderr.write(`${id} ${title} … `);
  const runningBefore = course.children.listRunning();
  const outcome = await figure.measure(course).then(
    (measured) => ({ measured }),
    (error: Error) => ({ failure: firstLine(error) }),
  );
  await course.children.stopAllBut(runningBefore);
  const tookMs = performance.now() - startedAt;
  process.stderr.write(`${Math.round(tookMs / 1000)} s\n`);
  return { id, title, tookMs, ...outcome };
}
