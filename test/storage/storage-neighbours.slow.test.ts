// Several processes share one SQLite file, and only one of them can write at a time.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStorage } from "../../src/storage/storage.ts";
import { quiet } from "../contracts/engines.ts";

test("a neighbour that writes without a pause does not keep others from writing", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-neighbours-"));
  const storage = await openStorage({ databaseUrl: null, dataDir, log: quiet, deadlineMs: 60_000 });
  const script = join(import.meta.dir, "../support/storage-neighbour.ts");
  const neighbour = Bun.spawn([process.execPath, "run", script, dataDir], { stdin: "ignore", stdout: "pipe" });
  const file = new Database(join(dataDir, "switchyard.sqlite"), { readonly: true });
  const countRows = () => Number(file.query<{ count: number }, []>("select count(*) as count from jobs").get()?.count);
  try {
    await neighbour.stdout.getReader().read();
    const overtakingRows: number[] = [];
    for (let count = 0; count < 80; count++) {
      const before = countRows();
      await storage.secrets.getOrCreate(`secret ${count}`, 32);
      overtakingRows.push(countRows() - before);
      // The neighbour takes the lock again before the next write.
      await Bun.sleep(5);
    }
    // About 200 rows of the neighbour overtake one write in ten. With the busy handler of SQLite it would be 2,500 rows.
    expect(overtakingRows.toSorted((one, other) => one - other)[72]).toBeLessThan(1_000);
  } finally {
    file.close();
    neighbour.kill("SIGKILL");
    await neighbour.exited;
    await storage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
