import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { type Supervisor, startSupervisor } from "../../src/supervisor.ts";
import { isAlive } from "../support/processes.ts";
import { openReadableLog } from "../support/readable-log.ts";
import { waitFor } from "../support/wait.ts";

const script = join(import.meta.dir, "../support/supervised-process.ts");
let folder = "";
let supervisor: Supervisor | null = null;

afterEach(async () => {
  await supervisor?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const executable = () => join(folder, "bun");
const putExecutable = () => symlinkSync(process.execPath, executable());

/** `plan`: how the processes end, in the order in which they start (test/support/supervised-process.ts). */
function start(
  plan: string,
  { hasExecutable = true } = {},
): { ready: Supervisor["ready"]; countStarts: () => number; logged: () => string } {
  folder = mkdtempSync(join(tmpdir(), "switchyard-supervisor-"));
  if (hasExecutable) putExecutable();
  const file = join(folder, "starts");
  const config = readConfig({
    SWITCHYARD_DATA_DIR: folder,
    SWITCHYARD_CONFIG: "",
    SWITCHYARD_DRAIN_DELAY_MS: "0",
    SWITCHYARD_DRAIN_TIMEOUT_MS: "100",
  });
  const { log, readLog } = openReadableLog("warn");
  const started = startSupervisor({
    config,
    read: () => config,
    command: [executable(), script, plan, file],
    count: () => ({ serving: 1, worker: 0 }),
    log,
  });
  supervisor = started;
  return {
    ready: started.ready,
    countStarts: () => readFileSync(file, "utf8").trim().split("\n").length,
    logged: readLog,
  };
}

describe("the start of a gateway", () => {
  const refused = { message: "The port is taken.", isConfiguration: false, isTemporary: false };
  const unanswered = { message: "The store does not answer.", isConfiguration: false };
  const killed = expect.objectContaining({ isConfiguration: false });

  test.each([
    ["continues when a process is killed while it is starting", "die,die,serve", null, 3],
    ["fails when a process says why it cannot start, and does not start it again", "refuse", refused, 1],
    ["continues when the store of a process did not answer in time", "wait,serve", null, 2],
    ["fails when the store did not answer three times, and says so", "wait,wait,wait,serve", unanswered, 3],
    ["fails after three processes were killed", "die,die,die,serve", killed, 3],
  ] as const)("%s", async (_title, plan, failure, starts) => {
    const { ready, countStarts } = start(plan);
    expect(await ready).toEqual(failure);
    expect(countStarts()).toBe(starts);
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

  test("tries a restart again that the system refuses, for example while the executable is being replaced", async () => {
    const { ready, countStarts, logged } = start("serve");
    expect(await ready).toBeNull();
    rmSync(executable());
    const [pid = ""] = readFileSync(join(folder, "starts"), "utf8").split("\n");
    process.kill(Number(pid), "SIGKILL");
    const refused = () => logged().match(/a serving process could not be started/g) ?? [];
    await waitFor("three refused restarts", () => refused().length >= 3);
    putExecutable();
    await waitFor("a second process", () => countStarts() === 2);
    expect(logged()).toContain("ENOENT");
  });

  test("starts that the system refuses use up no room in the shared counters", async () => {
    const { ready, logged } = start("serve");
    expect(await ready).toBeNull();
    rmSync(executable());
    for (let count = 0; count < 100; count++) expect(await supervisor?.reload()).toMatchObject({ reloaded: false });
    putExecutable();
    expect(await supervisor?.reload()).toMatchObject({ reloaded: true });
    expect(logged().includes("counts its requests alone")).toBe(false);
  });

  test("tries again when the system refuses the first process, and says why if it always does", async () => {
    const { ready } = start("serve", { hasExecutable: false });
    expect(await ready).toMatchObject({ message: expect.stringContaining("ENOENT"), isConfiguration: false });
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
