import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { openStorage, type Storage, type StorageOptions } from "../../src/storage/storage.ts";
import type { WorkKind } from "../../src/storage/work-queue.ts";
import {
  catchError,
  countWork,
  createEngines,
  createFolders,
  describeOn,
  makeJob,
  makeKey,
  makeResult,
  quiet,
  silenceHolders,
  startChild,
  takeOne,
  watchKeys,
  withStorage,
} from "../contracts/engines.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";

const rounds = 10;
const responseRounds = 4;
const jobRounds = 6;
// Short, because it only matters that the process is killed at any moment of a write, and a write takes a few milliseconds.
const longestLifeMs = 100;

for (const engine of createEngines()) {
  describeOn(engine, "kill -9", () => {
    test("every write that was acknowledged is there after the process was killed", async () => {
      const options = await engine.createStore();
      let acknowledged = 0;
      let revision = 0n;
      for (let round = 0; round < rounds; round += 1) {
        const ids = await writeUntilKilled("write", options, Math.random() * longestLifeMs);
        const stored = await withStorage(options, (storage) => storage.keys.changedSince(revision));
        const known = new Set(stored.keys.map((key) => key.id));
        expect(ids.filter((id) => !known.has(id))).toEqual([]);
        acknowledged += ids.length;
        revision = stored.revision;
      }
      // Otherwise it was killed before it did anything, and nothing was tried.
      expect(acknowledged).toBeGreaterThanOrEqual(rounds);
    });

    test("every response whose completion was acknowledged is there with its body after the process was killed", async () => {
      const options = await engine.createStore();
      let acknowledged = 0;
      for (let round = 0; round < responseRounds; round += 1) {
        const ids = await writeUntilKilled("write-responses", options, Math.random() * longestLifeMs);
        await withStorage(options, async (storage) => {
          for (const id of ids) {
            const found = await storage.responses.find(id, "tenant-a");
            expect(found?.status).toBe("completed");
            expect(Buffer.from(found?.body ?? []).toString()).toBe(`the body of ${id}`);
          }
        });
        acknowledged += ids.length;
      }
      expect(acknowledged).toBeGreaterThanOrEqual(responseRounds);
    });

    test("no acknowledged job is lost, and none is finished or delivered twice, whichever process is killed", async () => {
      const options = { ...(await engine.createStore()), works: true };
      const told: string[] = [];
      for (let round = 0; round < jobRounds; round += 1) {
        // Two at once: what one of them holds when it is killed must not be taken for the other's.
        const lives = [1, 2].map(() =>
          writeUntilKilled("work-jobs", options, Math.random() * longestLifeMs, "delivered"),
        );
        for (const lines of await Promise.all(lives)) told.push(...lines);
        await silenceHolders(options);
      }
      const of = (what: string) =>
        told.filter((line) => line.startsWith(what)).map((line) => line.slice(what.length + 1));
      const [created, finished, delivered] = [of("created"), of("finished"), of("delivered")];
      expect(delivered.length).toBeGreaterThan(jobRounds);
      expect(new Set(finished).size).toBe(finished.length);
      expect(new Set(delivered).size).toBe(delivered.length);
      await withStorage(options, async (storage) => {
        await finishWhatIsLeft(storage, options);
        for (const id of created) {
          expect((await storage.jobs.find(id, "tenant-a"))?.status).toBe("success");
          const deliveries = await storage.deliveries.listForJob(id, "tenant-a");
          expect(deliveries).toMatchObject([{ state: "delivered" }]);
        }
        expect(await countWork(storage)).toMatchObject({
          run: { waiting: 0, held: 0 },
          deliver: { waiting: 0, held: 0 },
        });
      });
    }, 300_000);
  });
}

async function finishWhatIsLeft(storage: Storage, options: StorageOptions): Promise<void> {
  const takeAll = async (kind: WorkKind) => await storage.work.take({ kind, limit: 200, ignoreGroups: [] });
  await waitFor(
    "all that was left to be done",
    async () => {
      for (const item of await takeAll("run")) {
        const delivery = { id: crypto.randomUUID() };
        expect(await storage.jobs.begin(item, { countRun: true })).not.toBeNull();
        expect(await storage.jobs.finish(item, item.subject, makeResult(), delivery)).toBe(true);
      }
      for (const item of await takeAll("deliver")) {
        expect(await storage.deliveries.open(item)).not.toBeNull();
        const attempt = { number: 1, startedAt: 1, durationMs: 1, status: 200, error: null, keyId: "kid" };
        const outcome = { state: "delivered", nextAt: null } as const;
        expect(await storage.deliveries.recordAttempt(item, attempt, outcome)).toBe(true);
      }
      await silenceHolders(options);
      const { run, deliver } = await countWork(storage);
      return run.waiting + run.held + deliver.waiting + deliver.held === 0;
    },
    { everyMs: 100 },
  );
}

/** The lines that it wrote. It lives for `lifeMs` after the first one that begins with `first`, however fast the machine is. */
async function writeUntilKilled(verb: string, options: StorageOptions, lifeMs: number, first = ""): Promise<string[]> {
  const child = startChild(verb, options);
  const decoder = new TextDecoder();
  let output = "";
  let isDoomed = false;
  for await (const bytes of child.stdout) {
    output += decoder.decode(bytes, { stream: true });
    if (
      isDoomed ||
      !output
        .split("\n")
        .slice(0, -1)
        .some((line) => line.startsWith(first))
    )
      continue;
    isDoomed = true;
    setTimeout(() => child.kill("SIGKILL"), lifeMs);
  }
  await child.exited;
  // A line that was cut off by the kill is not an acknowledgement that anyone could have read.
  return output.split("\n").slice(0, -1);
}

describe.skipIf(whyNoOwnPostgres() !== null)("PostgreSQL away", () => {
  const folders = createFolders();
  let server: OwnPostgres;
  let storage: Storage;
  beforeAll(async () => {
    server = await startOwnPostgres();
    storage = await openStorage({ databaseUrl: server.url, dataDir: folders.create(), log: quiet });
  });
  afterAll(async () => {
    await storage.close();
    await server.stop();
    folders.remove();
  });

  async function expectOutage(store = storage): Promise<void> {
    const error = await catchError(store.keys.insert(makeKey()));
    expect(error).toMatchObject({ code: "dependency_unavailable", details: { retryAfter: 1 } });
  }

  test("killed and started again, it loses nothing that was acknowledged, and the gateway finds it by itself", async () => {
    const acknowledged: string[] = [];
    let isWriting = true;
    const writers = Array.from({ length: 4 }, async () => {
      while (isWriting) {
        const key = makeKey();
        try {
          await storage.keys.insert(key);
          acknowledged.push(key.id);
        } catch (error) {
          expect(error).toMatchObject({ code: "dependency_unavailable" });
          await Bun.sleep(10);
        }
      }
    });
    for (let round = 0; round < 3; round += 1) {
      const before = acknowledged.length;
      await waitFor("writes", () => acknowledged.length > before + 20);
      await server.kill();
      await waitFor("the outage to be noticed", () => !storage.isHealthy());
      await expectOutage();
      await server.start();
      await waitFor("the server to be found again", () => storage.isHealthy());
    }
    isWriting = false;
    await Promise.all(writers);
    const known = new Set((await storage.keys.changedSince(0n)).keys.map((key) => key.id));
    expect(acknowledged.filter((id) => !known.has(id))).toEqual([]);
  });

  test("while the server hangs, writes fail, and they succeed again when it responds", async () => {
    const network = await startNetwork(server);
    const options = { databaseUrl: network.url, dataDir: folders.create(), log: quiet, deadlineMs: 8_000 };
    await withStorage(options, async (hanging) => {
      await hanging.keys.insert(makeKey());
      const connections = network.count();
      server.freeze();
      try {
        await Promise.all([1, 2, 3].map(() => expectOutage(hanging)));
        await waitFor("the outage to be noticed", () => !hanging.isHealthy());
        await expectOutage(hanging);
        await waitFor("new connections to be tried", () => network.count() > connections + 2);
        expect(hanging.isHealthy()).toBe(false);
      } finally {
        server.thaw();
      }
      await waitFor("the server to be found again", () => hanging.isHealthy());
      await hanging.keys.insert(makeKey());
    });
    network.stop();
  });

  test("a write that was reported as failed is not stored later", async () => {
    const key = makeKey();
    server.freeze();
    try {
      await catchError(storage.keys.insert(key));
    } finally {
      server.thaw();
    }
    await waitFor("the server to be found again", () => storage.isHealthy());
    await storage.keys.insert(makeKey());
    expect(await storage.keys.get(key.id)).toBeNull();
  });

  test("changes are still announced after the server was restarted", async () => {
    await server.kill();
    await server.start();
    await waitFor("the outage to pass", () => storage.isHealthy());
    const announced = watchKeys(storage);
    const options = { databaseUrl: server.url, dataDir: folders.create(), log: quiet };
    const id = (await new Response(startChild("insert", options).stdout).text()).trim();
    await waitFor("the change to be announced", () => announced.has(id));
  });

  test("work goes on after the server was killed, and what was held before is held still", async () => {
    const options = {
      databaseUrl: await server.createDatabase(),
      dataDir: folders.create(),
      log: quiet,
      works: true,
      deadlineMs: 8_000,
    };
    await withStorage(options, async (worker) => {
      const [kept, lost, waiting] = [makeJob(), makeJob(), makeJob()];
      await worker.jobs.create(kept, null);
      const held = await takeOne(worker, "run");
      await worker.jobs.create(lost, null);
      const forgotten = await takeOne(worker, "run");
      await worker.jobs.create(waiting, null);
      let isHeard = false;
      worker.onWork(() => {
        isHeard = true;
      });
      await server.kill();
      await waitFor("the outage to be noticed", () => !worker.isHealthy());
      expect(await catchError(worker.jobs.create(makeJob(), null))).toMatchObject({ code: "dependency_unavailable" });
      await server.start();
      await waitFor("the server to be found again", () => worker.isHealthy());
      await waitFor("a word that there may be work", () => isHeard);
      // As after an hour without the server: who lives is heard before anybody is given up.
      await silenceHolders(options);
      expect((await takeOne(worker, "run")).subject).toBe(waiting.id);
      const graceEndsAt = performance.now() + 5000;
      await waitFor(
        "the end of the grace",
        async () => {
          expect(await worker.work.take({ kind: "run", limit: 10, ignoreGroups: [] })).toEqual([]);
          return performance.now() > graceEndsAt;
        },
        { everyMs: 250 },
      );
      expect(await worker.work.extend([held])).toEqual([held.id]);
      const again = await waitFor(
        "the work of the silent one",
        async () => {
          const items = await worker.work.take({ kind: "run", limit: 10, ignoreGroups: [] });
          return items.length === 0 ? null : items.map(({ subject }) => subject);
        },
        { everyMs: 100 },
      );
      expect(again).not.toContain(held.subject);
      expect(await worker.jobs.finish(forgotten, lost.id, makeResult(), null)).toBe(false);
      expect(await worker.jobs.finish(held, kept.id, makeResult(), null)).toBe(true);
    });
  });

  test("connections that went silent, as behind a broken network, are given up for new ones", async () => {
    const network = await startNetwork(server);
    const options = { databaseUrl: network.url, dataDir: folders.create(), log: quiet, deadlineMs: 8_000 };
    await withStorage(options, async (cutOff) => {
      await cutOff.keys.insert(makeKey());
      network.silenceOpenConnections();
      expect(await catchError(cutOff.keys.insert(makeKey()))).toMatchObject({ code: "dependency_unavailable" });
      await waitFor("the outage to be noticed", () => !cutOff.isHealthy());
      await waitFor("new connections", () => cutOff.isHealthy());
      await cutOff.keys.insert(makeKey());
    });
    network.stop();
  });

  test("a lock that somebody else holds ends a write at its deadline", async () => {
    const other = new Bun.SQL(server.url, { max: 1 });
    try {
      await other.begin(async (tx) => {
        await tx`lock table topics in access exclusive mode`;
        await expectOutage();
      });
      await waitFor("the store", () => storage.isHealthy());
      await storage.keys.insert(makeKey());
    } finally {
      await other.close();
    }
  });
});

/** A way to the server that can lose connections without telling either end. */
async function startNetwork(server: OwnPostgres) {
  const url = new URL(server.url);
  const serverPort = Number(url.port);
  const open = new Set<Socket>();
  let count = 0;
  const gate = createServer((near) => {
    count += 1;
    const far = connect(serverPort, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on("data", (bytes) => open.has(from) && to.write(bytes));
      from.on("error", () => to.destroy());
      from.on("close", () => open.has(from) && to.destroy());
    }
  });
  await new Promise<void>((done) => gate.listen(0, "127.0.0.1", done));
  url.port = String((gate.address() as AddressInfo).port);
  return {
    url: url.href,
    /** How many connections there have been. */
    count: () => count,
    silenceOpenConnections: () => open.clear(),
    stop: () => gate.close(),
  };
}

describe("SQLite away", () => {
  test("a file that another program has locked ends a write at its deadline, and reads go on", async () => {
    const folders = createFolders();
    const options = { databaseUrl: null, dataDir: folders.create(), log: quiet, deadlineMs: 8_000 };
    await withStorage(options, async (storage) => {
      const key = makeKey();
      await storage.keys.insert(key);
      const other = new Bun.SQL({ adapter: "sqlite", filename: `${options.dataDir}/switchyard.sqlite` });
      await other.unsafe("begin immediate");
      const failed = makeKey();
      expect(await catchError(storage.keys.insert(failed))).toMatchObject({ code: "dependency_unavailable" });
      expect(await storage.keys.get(key.id)).toEqual(key);
      await other.unsafe("rollback");
      await other.close();
      await storage.keys.insert(makeKey());
      expect(await storage.keys.get(failed.id)).toBeNull();
    });
    folders.remove();
  });
});
