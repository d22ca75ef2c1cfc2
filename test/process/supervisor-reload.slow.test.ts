// Reloads of a supervisor whose earlier processes still drain.

import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { type Supervisor, startSupervisor } from "../../src/supervisor.ts";
import { openReadableLog } from "../support/readable-log.ts";

const script = join(import.meta.dir, "../support/supervised-process.ts");
// Enough for a process on a busy machine.
const startTimeoutMs = 20_000;
const folder = mkdtempSync(join(tmpdir(), "switchyard-supervisor-"));
const file = join(folder, "starts");
let supervisor: Supervisor | null = null;

afterEach(async () => {
  writeFileSync(`${file}.released`, "");
  await supervisor?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a reload waits for listeners that close later than a process may take to start", async () => {
  const config = readConfig({
    SWITCHYARD_DATA_DIR: folder,
    SWITCHYARD_CONFIG: "",
    SWITCHYARD_START_TIMEOUT_MS: String(startTimeoutMs),
    // The first process closes its listener when the test says so, and is not killed before.
    SWITCHYARD_DRAIN_DELAY_MS: "600000",
  });
  supervisor = startSupervisor({
    config,
    read: () => config,
    command: [process.execPath, script, "linger", file],
    count: () => ({ serving: 1, worker: 0 }),
    log: openReadableLog("error").log,
  });
  expect(await supervisor.ready).toBeNull();
  expect(await supervisor.reload()).toMatchObject({ reloaded: true });
  const second = supervisor.reload();
  await Promise.race([second, Bun.sleep(startTimeoutMs + 2_000)]);
  writeFileSync(`${file}.released`, "");
  expect(await second).toMatchObject({ reloaded: true, reason: null });
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(3);
}, 300_000);
