// The folder that the processes of a gateway share: it outlives the cleaning of temporary files, and does not outlive the gateway.

import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRunFolder } from "../../src/supervisor/run-folder.ts";
import { createFolders, quiet } from "../contracts/engines.ts";
import { openReadableLog } from "../support/readable-log.ts";
import { waitFor } from "../support/wait.ts";

const folders = createFolders();
afterAll(() => folders.remove());

const longAgo = new Date(Date.now() - 11 * 86_400_000);
const everything = (folder: string) => [
  folder,
  ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
];
function age(folder: string): void {
  for (const path of everything(folder)) utimesSync(path, longAgo, longAgo);
}

test("nothing in the folder becomes old enough to be deleted as a temporary file", async () => {
  const folder = createRunFolder({ log: quiet, parent: folders.create(), touchEveryMs: 5 });
  mkdirSync(join(folder.path, "1"));
  const socket = Bun.listen({ unix: join(folder.path, "1", "engines.sock"), socket: { data() {} } });
  writeFileSync(join(folder.path, "active"), "");
  expect(everything(folder.path)).toHaveLength(5);
  age(folder.path);
  const isRecent = (path: string) =>
    Math.min(statSync(path).mtimeMs, statSync(path).atimeMs) > longAgo.getTime() + 1_000;
  await waitFor("new times", () => everything(folder.path).every(isRecent));
  socket.stop(true);
  folder.remove();
  expect(existsSync(folder.path)).toBeFalse();
});

test("a folder that was deleted all the same is logged, with what to do", async () => {
  const { log, readLog } = openReadableLog("error");
  const folder = createRunFolder({ log, parent: folders.create(), touchEveryMs: 5 });
  rmSync(folder.path, { recursive: true });
  await waitFor("an error", () => readLog().includes("restart the gateway"));
  folder.remove();
});

test("the folder of a gateway that was killed is removed by the next start, and no other one is", async () => {
  const parent = folders.create();
  const script = `const { createRunFolder } = await import(${JSON.stringify(join(import.meta.dir, "../../src/supervisor/run-folder.ts"))});
    console.log(createRunFolder({ log: console, parent: ${JSON.stringify(parent)} }).path);
    setInterval(() => {}, 1000);`;
  const killed = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  for await (const _ of killed.stdout) break;
  const [abandoned = ""] = readdirSync(parent);
  killed.kill("SIGKILL");
  await killed.exited;
  // Younger than a minute, it may belong to a gateway that is starting.
  const running = createRunFolder({ log: quiet, parent });
  expect(existsSync(join(parent, abandoned))).toBeTrue();
  mkdirSync(join(parent, "switchyard-run-of-another-program"));
  for (const name of readdirSync(parent)) age(join(parent, name));
  createRunFolder({ log: quiet, parent }).remove();
  expect(readdirSync(parent).toSorted()).toEqual(
    [running.path.slice(parent.length + 1), "switchyard-run-of-another-program"].toSorted(),
  );
  running.remove();
}, 60_000);
