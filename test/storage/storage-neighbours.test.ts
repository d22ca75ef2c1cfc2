// Several processes share one SQLite file, and only one of them can write at a time.

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/log.ts";
import { openStorage } from "../../src/storage/storage.ts";

test("a neighbour that writes without a pause does not keep others from writing", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-neighbours-"));
  const log = createLog({ level: "error", format: "text", secrets: [], write: () => {} });
  const storage = await openStorage({ databaseUrl: null, dataDir, log });
  const neighbour = Bun.spawn(
    [process.execPath, "run", join(import.meta.dir, "../support/storage-neighbour.ts"), dataDir],
    {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  try {
    await neighbour.stdout.getReader().read();
    const tookMs: number[] = [];
    for (let count = 0; count < 80; count++) {
      const startedAt = performance.now();
      await storage.secrets.getOrCreate(`secret ${count}`, 32);
      tookMs.push(performance.now() - startedAt);
      // So that each of them meets the neighbour at work.
      await Bun.sleep(5);
    }
    // SQLite's own way of waiting misses the second's deadline of an operation within these eighty.
    expect(tookMs).toHaveLength(80);
    expect(Math.max(...tookMs)).toBeLessThan(700);
  } finally {
    neighbour.kill("SIGKILL");
    await neighbour.exited;
    await storage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
