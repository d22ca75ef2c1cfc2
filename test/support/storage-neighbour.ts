// A process that writes to the SQLite file of a folder without a pause until it is ended: `bun run storage-neighbour.ts <folder>`.

import { createLog } from "../../src/log.ts";
import { openStorage } from "../../src/storage/storage.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: () => {} });
const storage = await openStorage({ databaseUrl: null, dataDir: process.argv[2] ?? "", log });
let written = 0;

async function write(): Promise<never> {
  for (;;) {
    const now = Date.now();
    const job = {
      id: crypto.randomUUID(),
      owner: "neighbour",
      keyId: "key",
      feature: "text",
      subfeature: "moderation",
      provider: "sandbox",
      model: null,
      createdAt: now,
      expiresAt: now + 60_000,
      webhookReceiver: null,
      request: "{}",
    };
    await storage.jobs.create(job, null).catch(() => {});
    // Whoever started it waits until it is at full speed.
    if (++written === 2_000) console.log("writing");
  }
}

await Promise.all(Array.from({ length: 96 }, write));
