// What npm starts, through the shell that it starts things with.

import { afterAll, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../support/wait.ts";

const folder = await mkdtemp(join(tmpdir(), "switchyard-launcher-"));
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers) close();
  await rm(folder, { recursive: true, force: true });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a gateway whose npm was told to end goes down, though npm's shell tells it nothing", async () => {
  const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = String(probe.port);
  await probe.stop(true);
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const shell = Bun.spawn(["sh", "-c", "node bin/switchyard.mjs serve > /dev/null & echo $!; wait"], {
    cwd: join(import.meta.dir, "../.."),
    env: {
      ...{ PATH: process.env["PATH"], npm_command: "start", SWITCHYARD_WORKERS: "1", SWITCHYARD_JOB_WORKERS: "0" },
      ...{ SWITCHYARD_PORT: port, SWITCHYARD_DATA_DIR: folder, SWITCHYARD_DRAIN_DELAY_MS: "0" },
    },
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    await waitFor("the gateway", isReady, { everyMs: 50 });
    shell.kill("SIGTERM");
    const launcher = Number(await new Response(shell.stdout).text());
    closers.push(() => isRunning(launcher) && process.kill(launcher, "SIGKILL"));
    await waitFor("its end", () => !isRunning(launcher), { everyMs: 50 });
  } finally {
    shell.kill("SIGKILL");
  }
});
