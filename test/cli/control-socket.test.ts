// The control socket of a running gateway.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openControlSocket, reloadGateways } from "../../src/cli/control-socket.ts";
import { createLog } from "../../src/log.ts";
import type { ReloadOutcome } from "../../src/supervisor.ts";

const outcome: ReloadOutcome = {
  reloaded: true,
  reason: null,
  isConfiguration: false,
  configuration: {
    number: 2,
    file: null,
    read_at: "2026-01-01T00:00:00.000Z",
    serving_processes: 1,
    worker_processes: 1,
  },
};

/** A folder for the data and one for temporary files, and what the gateway logs. */
function createPlace() {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-control-"));
  const [dataDir, temporary] = [join(folder, "data"), join(folder, "temporary")];
  for (const one of [dataDir, temporary]) mkdirSync(one);
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "text", secrets: [], write: (line) => void lines.push(line) });
  return {
    dataDir,
    temporary,
    open: (usedDataDir = dataDir) =>
      openControlSocket({ dataDir: usedDataDir, folder: temporary, reload: () => Promise.resolve(outcome), log }),
    log() {
      log.flush();
      return lines.join("");
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function listRun(dataDir: string): string[] {
  return readdirSync(join(dataDir, "run"))
    .map((name) => name.replace(/^.*\./, ""))
    .toSorted();
}

test("commands find every gateway of a data folder, and the socket is in that folder", async () => {
  using place = createPlace();
  {
    using _first = place.open();
    using _second = place.open();
    const answer = { pid: process.pid, ...outcome };
    expect(await reloadGateways(place.dataDir)).toEqual({ answers: [answer, answer], unreachable: [] });
    expect(listRun(place.dataDir)).toEqual(["json", "json", "lock", "lock", "sock", "sock"]);
    expect(readdirSync(place.temporary)).toEqual([]);
  }
  expect(listRun(place.dataDir)).toEqual([]);
  expect(await reloadGateways(place.dataDir)).toEqual({ answers: [], unreachable: [] });
});

test("the socket of a data folder with a long path is in the folder of temporary files", async () => {
  using place = createPlace();
  const long = join(place.dataDir, "a".repeat(90));
  using _control = place.open(long);
  expect(readdirSync(place.temporary)).toEqual(["control.sock"]);
  expect((await reloadGateways(long)).answers).toHaveLength(1);
});

test("a gateway whose socket cannot be opened is named, and is found again later", async () => {
  using place = createPlace();
  using _control = place.open();
  const run = join(place.dataDir, "run");
  const name = readdirSync(run).find((one) => one.endsWith(".sock")) ?? "";
  renameSync(join(run, name), join(place.temporary, name));
  expect(await reloadGateways(place.dataDir)).toEqual({ answers: [], unreachable: [process.pid] });
  renameSync(join(place.temporary, name), join(run, name));
  expect((await reloadGateways(place.dataDir)).answers).toHaveLength(1);
});

test("the files of a gateway that was killed are deleted", async () => {
  using place = createPlace();
  const run = join(place.dataDir, "run");
  mkdirSync(run);
  writeFileSync(join(run, "0a1b2c3d.json"), JSON.stringify({ pid: 1, socket: join(run, "0a1b2c3d.sock") }));
  writeFileSync(join(run, "0a1b2c3d.lock"), "");
  expect(await reloadGateways(place.dataDir)).toEqual({ answers: [], unreachable: [] });
  expect(listRun(place.dataDir)).toEqual([]);
});

test("a folder that cannot be read is named", async () => {
  using place = createPlace();
  writeFileSync(join(place.dataDir, "run"), "a file where the folder should be");
  await expect(reloadGateways(place.dataDir)).rejects.toThrow("Run the command as the user of the gateway");
});

test("a gateway that cannot announce its control socket warns, and closes the socket again", async () => {
  using place = createPlace();
  writeFileSync(join(place.dataDir, "run"), "a file where the folder should be");
  using _control = place.open();
  expect(place.log()).toContain("commands cannot reach this gateway");
  expect(existsSync(join(place.temporary, "control.sock"))).toBe(false);
});
