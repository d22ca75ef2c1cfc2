// A process that writes to the SQLite file of a folder without a pause until it is ended: `bun run storage-neighbour.ts <folder>`.

import { openStorage } from "../../src/storage/storage.ts";
import { makeJob, quiet } from "../contracts/engines.ts";

const dataDir = process.argv[2] ?? "";
const storage = await openStorage({ databaseUrl: null, dataDir, log: quiet, deadlineMs: 60_000 });
let written = 0;

async function write(): Promise<never> {
  for (;;) {
    await storage.jobs.create(makeJob({ webhookReceiver: null }), null);
    // The parent waits until this process writes at full speed.
    if (++written === 2_000) console.log("writing");
  }
}

await Promise.all(Array.from({ length: 96 }, write));
