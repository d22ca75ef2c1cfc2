// No local engine reaches for the network: each one is run in a place that has none.

import { describe, expect, test } from "bun:test";

const mayUnshare = Bun.spawnSync(["unshare", "-rn", "true"], { stdout: "ignore", stderr: "ignore" }).success;

// Half a minute of work, most of it the loading of models.
const withinMs = 280_000;

describe("without a network", () => {
  // Skipped where a process may not leave its network namespace.
  test.skipIf(!mayUnshare)(
    "every local engine of every group answers all the same",
    async () => {
      const child = Bun.spawn(["unshare", "-rn", process.execPath, "test/engines/offline-child.ts"], {
        stdout: "pipe",
        stderr: "pipe",
        timeout: withinMs,
      });
      const [printed, said] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      if ((await child.exited) !== 0) throw new Error(said);
      const { interfaces, outcomes } = JSON.parse(printed);
      expect(interfaces).toEqual([]);
      const tasks = Object.keys(outcomes);
      expect(tasks).toContain("audio/speech_to_text_async/moonshine-base");
      expect(outcomes).toEqual(Object.fromEntries(tasks.map((task) => [task, "answered"])));
    },
    withinMs + 10_000,
  );
});
