// No local engine reaches for the network: each one is run in a place that has none, here or in examples.full.test.ts.

import { describe, expect, test } from "bun:test";
import { runProgram } from "../support/run-program.ts";

const mayUnshare = Bun.spawnSync(["unshare", "-rn", "true"], { stdout: "ignore", stderr: "ignore" }).success;

// Half a minute of work, most of it the loading of models.
const withinMs = 280_000;

describe("without a network", () => {
  // Skipped where a process may not leave its network namespace.
  test.skipIf(!mayUnshare)(
    "every model of a local engine that no example uses answers all the same",
    async () => {
      const command = ["unshare", "-rn", process.execPath, "test/engines/offline-child.ts"];
      const { code, out, errors } = await runProgram(command, { timeoutMs: withinMs });
      if (code !== 0) throw new Error(errors);
      const { interfaces, outcomes } = JSON.parse(out);
      expect(interfaces).toEqual([]);
      const tasks = Object.keys(outcomes);
      expect(tasks).toContain("audio/speech_to_text_async/moonshine-base");
      expect(outcomes).toEqual(Object.fromEntries(tasks.map((task) => [task, "answered"])));
    },
    withinMs + 10_000,
  );
});
