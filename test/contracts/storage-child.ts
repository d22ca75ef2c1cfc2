// What tests run as a second process: `storage-child.ts <verb> <database url or empty> <data folder> [...]`.

import { writeSync } from "node:fs";
import { createFirstKeys } from "../../src/access/first-keys.ts";
import { lockDataDir, migrateStorage, openStorage } from "../../src/storage/storage.ts";
import { makeJob, makeKey, makeResponse, makeResult, quiet } from "./engines.ts";

const [verb, databaseUrl, dataDir = "", ...rest] = process.argv.slice(2);
const options = { databaseUrl: databaseUrl || null, dataDir, log: quiet, deadlineMs: 60_000 };

const verbs: Record<string, () => Promise<void>> = {
  /** Writes keys until it is killed. A line is an id that was acknowledged, written before anything else happens. */
  write: async () => {
    const storage = await openStorage(options);
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (;;) {
          const key = makeKey();
          await storage.keys.insert(key);
          writeSync(1, `${key.id}\n`);
        }
      }),
    );
  },

  /** The same with responses, each of which is created and then completed. */
  "write-responses": async () => {
    const storage = await openStorage(options);
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (;;) {
          const response = makeResponse({ status: "in_progress", body: null });
          await storage.responses.create(response);
          const body = Buffer.from(`the body of ${response.id}`);
          await storage.responses.update(response.id, response.owner, { status: "completed", body });
          writeSync(1, `${response.id}\n`);
        }
      }),
    );
  },

  /** Makes jobs, runs them and delivers them, until it is killed. A line is something that was acknowledged. */
  "work-jobs": async () => {
    const storage = await openStorage({ ...options, works: true });
    const tell = (what: string, id: string) => writeSync(1, `${what} ${id}\n`);
    const create = async () => {
      for (;;) {
        const job = makeJob();
        await storage.jobs.create(job, null);
        tell("created", job.id);
      }
    };
    const run = async () => {
      for (;;) {
        for (const item of await storage.work.take({ kind: "run", limit: 4, ignoreGroups: [] })) {
          if ((await storage.jobs.begin(item, { countRun: true })) === null) continue;
          const delivery = { id: crypto.randomUUID(), group: "receiver.example" };
          if (await storage.jobs.finish(item, item.subject, makeResult(), delivery)) tell("finished", item.subject);
        }
      }
    };
    const deliver = async () => {
      for (;;) {
        for (const item of await storage.work.take({ kind: "deliver", limit: 4, ignoreGroups: [] })) {
          if ((await storage.deliveries.open(item)) === null) continue;
          const attempt = { number: 1, startedAt: 1, durationMs: 1, status: 200, error: null, keyId: "kid" };
          const outcome = { state: "delivered", nextAt: null, group: "receiver.example" } as const;
          if (await storage.deliveries.recordAttempt(item, attempt, outcome)) tell("delivered", item.subject);
        }
      }
    };
    await Promise.all([create(), create(), run(), run(), deliver(), deliver()]);
  },

  /** Takes what is due, says so, and keeps it until it is killed. */
  hold: async () => {
    const storage = await openStorage({ ...options, works: true });
    const items = await storage.work.take({ kind: "run", limit: 100, ignoreGroups: [] });
    writeSync(1, `${items.length}\n`);
    setInterval(() => void storage.work.extend(items), 1000);
  },

  /** Makes a secret at the moment that the parent has chosen, and prints it. */
  secret: async () => {
    const storage = await openStorage(options);
    await Bun.sleep(Math.max(0, Number(rest[0]) - Date.now()));
    writeSync(1, (await storage.secrets.getOrCreate("shared", 32)).toHex());
    await storage.close();
  },

  migrate: async () => {
    // All at the same moment, which the parent has chosen.
    await Bun.sleep(Math.max(0, Number(rest[0]) - Date.now()));
    await migrateStorage(options);
  },

  first: async () => {
    const storage = await openStorage(options);
    await Bun.sleep(Math.max(0, Number(rest[0]) - Date.now()));
    const made = await createFirstKeys(storage);
    if (made !== null) writeSync(1, `${made.inference}\n`);
    await storage.close();
  },

  insert: async () => {
    const storage = await openStorage(options);
    const key = makeKey();
    await storage.keys.insert(key);
    writeSync(1, key.id);
    await storage.close();
  },

  lock: async () => {
    lockDataDir(dataDir);
    writeSync(1, "locked\n");
    await Bun.sleep(60_000);
  },
};

await verbs[verb ?? ""]?.();
