// Reloads of a supervisor whose earlier processes still drain.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { type Supervisor, startSupervisor } from "../../src/supervisor.ts";
import { openReadableLog } from "../support/readable-log.ts";
import { waitFor } from "../support/wait.ts";

const script = join(import.meta.dir, "../support/supervised-process.ts");
// Enough for a process on a busy machine.
const startTimeoutMs = 20_000;
let folder = "";
let file = "";
let supervisor: Supervisor | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-supervisor-"));
  file = join(folder, "starts");
});
afterEach(async () => {
  release();
  await supervisor?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Start {
  /** How the processes end, in the order in which they start (test/support/supervised-process.ts). */
  readonly plan: string;
  readonly startTimeoutMs: number;
  /** Serving processes of the configuration that is read next. */
  readonly count?: () => number;
}

function start({ plan, startTimeoutMs, count = () => 1 }: Start): { supervisor: Supervisor; readLog: () => string } {
  const config = readConfig({
    SWITCHYARD_DATA_DIR: folder,
    SWITCHYARD_CONFIG: "",
    SWITCHYARD_START_TIMEOUT_MS: String(startTimeoutMs),
    // The first process ends when the test says so, and is not killed before.
    SWITCHYARD_DRAIN_DELAY_MS: "600000",
  });
  const { log, readLog } = openReadableLog("info");
  supervisor = startSupervisor({
    config,
    read: () => config,
    command: [process.execPath, script, plan, file],
    count: () => ({ serving: count(), worker: 0 }),
    log,
  });
  return { supervisor, readLog };
}

const release = () => writeFileSync(`${file}.released`, "");
const countStarts = () => readFileSync(file, "utf8").trim().split("\n").length;

test("a reload waits for listeners that close later than a process may take to start", async () => {
  const { supervisor } = start({ plan: "linger", startTimeoutMs });
  expect(await supervisor.ready).toBeNull();
  expect(await supervisor.reload()).toMatchObject({ reloaded: true });
  const second = supervisor.reload();
  await Promise.race([second, Bun.sleep(startTimeoutMs + 2_000)]);
  release();
  expect(await second).toMatchObject({ reloaded: true, reason: null });
  expect(countStarts()).toBe(3);
}, 300_000);

// The counters of a small gateway have room for 64 processes.
const alone = "counts its requests alone";

test("a reload waits for draining processes while the shared counters have no room for all its processes", async () => {
  let serving = 1;
  const { supervisor, readLog } = start({ plan: "drain", startTimeoutMs: 250_000, count: () => serving });
  expect(await supervisor.ready).toBeNull();
  serving = 32;
  expect(await supervisor.reload()).toMatchObject({ reloaded: true });
  expect(readLog().includes(alone)).toBe(false);
  const second = supervisor.reload();
  await waitFor("the reload to wait", () => readLog().includes("the reload waits for requests"));
  expect(countStarts()).toBe(33);
  release();
  expect(await second).toMatchObject({ reloaded: true });
  expect(readLog().includes(alone)).toBe(false);
}, 600_000);

test("a reload to more processes than the shared counters can hold is refused", async () => {
  let serving = 1;
  const { supervisor } = start({ plan: "serve", startTimeoutMs, count: () => serving });
  expect(await supervisor.ready).toBeNull();
  serving = 33;
  const outcome = await supervisor.reload();
  expect(outcome).toMatchObject({ reloaded: false, isConfiguration: true, configuration: { serving_processes: 1 } });
  expect(outcome.reason).toBe(
    "The configuration has 33 processes (SWITCHYARD_WORKERS and SWITCHYARD_JOB_WORKERS). A reload allows at most 32; restart the gateway.",
  );
  expect(countStarts()).toBe(1);
}, 300_000);
