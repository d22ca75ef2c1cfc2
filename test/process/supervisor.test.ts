import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { type Supervisor, startSupervisor } from "../../src/supervisor.ts";
import { isAlive } from "../support/processes.ts";
import { waitFor } from "../support/wait.ts";

const script = join(import.meta.dir, "../support/supervised-process.ts");
let folder = "";
let supervisor: Supervisor | null = null;

afterEach(async () => {
  await supervisor?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** `plan`: how the processes end, in the order in which they start (test/support/supervised-process.ts). */
function start(plan: string): { ready: Supervisor["ready"]; countStarts: () => number; logged: () => string } {
  folder = mkdtempSync(join(tmpdir(), "switchyard-supervisor-"));
  const file = join(folder, "starts");
  const config = readConfig({
    SWITCHYARD_DATA_DIR: folder,
    SWITCHYARD_CONFIG: "",
    SWITCHYARD_DRAIN_DELAY_MS: "0",
    SWITCHYARD_DRAIN_TIMEOUT_MS: "100",
  });
  let logged = "";
  const log = createLog({
    level: "error",
    format: "json",
    secrets: [],
    write: (lines) => {
      logged += lines;
    },
  });
  const started = startSupervisor({
    config,
    read: () => config,
    command: [process.execPath, script, plan, file],
    count: () => ({ serving: 1, worker: 0 }),
    log,
  });
  supervisor = started;
  return {
    ready: started.ready,
    countStarts: () => readFileSync(file, "utf8").trim().split("\n").length,
    logged() {
      log.flush();
      return logged;
    },
  };
}

describe("the start of a gateway", () => {
  test("continues when a process is killed while it is starting", async () => {
    const { ready, countStarts } = start("die,die,serve");
    expect(await ready).toBeNull();
    expect(countStarts()).toBe(3);
  });

  test("fails when a process says why it cannot start, and does not start it again", async () => {
    const { ready, countStarts } = start("refuse");
    expect(await ready).toEqual({ message: "The port is taken.", isConfiguration: false });
    expect(countStarts()).toBe(1);
  });

  test("fails after three processes were killed", async () => {
    const { ready, countStarts } = start("die,die,die,serve");
    expect(await ready).toMatchObject({ isConfiguration: false });
    expect(countStarts()).toBe(3);
  });

  test("is followed by restarts of processes that die later", async () => {
    const { ready, countStarts } = start("serve");
    expect(await ready).toBeNull();
    const [pid = ""] = readFileSync(join(folder, "starts"), "utf8").split("\n");
    process.kill(Number(pid), "SIGKILL");
    await waitFor("a second process", () => countStarts() === 2);
  });

  test("restarts of processes that die again and again take longer and longer", async () => {
    const { ready, logged } = start("serve,die,die,die");
    expect(await ready).toBeNull();
    const [pid = ""] = readFileSync(join(folder, "starts"), "utf8").split("\n");
    process.kill(Number(pid), "SIGKILL");
    const delays = () => Array.from(logged().matchAll(/"restart_in_ms":(\d+)/g), ([, ms]) => Number(ms));
    await waitFor("four deaths", () => delays().length >= 4);
    const [first = 0, ...others] = delays().slice(0, 4);
    expect(others).toEqual([2 * first, 4 * first, 8 * first]);
  });
});

describe("the end of a gateway", () => {
  const pidOf = () => Number(readFileSync(join(folder, "starts"), "utf8").split("\n")[0]);

  test("comes also when a serving process hangs: it is killed when its time is over", async () => {
    const { ready } = start("hang");
    await ready;
    const pid = pidOf();
    await supervisor?.stop();
    expect(await isAlive(pid)).toBe(false);
  });

  test("leaves a process that ends by itself the time that it needs", async () => {
    const { ready, countStarts } = start("serve");
    await ready;
    const pid = pidOf();
    await supervisor?.stop();
    expect(await isAlive(pid)).toBe(false);
    expect(countStarts()).toBe(1);
  });
});
