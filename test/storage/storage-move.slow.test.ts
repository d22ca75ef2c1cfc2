import { describe, expect, test } from "bun:test";
import { createFirstKeys } from "../../src/access/first-keys.ts";
import { createStorageCommand } from "../../src/cli/storage.ts";
import type { NewJob } from "../../src/storage/job-records.ts";
import { lockDataDir, moveStorage } from "../../src/storage/storage.ts";
import {
  catchError,
  countWork,
  makeBudget,
  makeJob,
  makeKey,
  makeResponse,
  makeResult,
  makeTeam,
  quiet,
  takeOne,
  usePostgres,
  withStorage,
} from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";
import { whyNoPostgres } from "../support/postgres.ts";
import { runCommand } from "../support/run-command.ts";

describe.skipIf(whyNoPostgres() !== null)("moving from SQLite to PostgreSQL", () => {
  const { folders, server } = usePostgres();

  async function fill(keys: number): Promise<string> {
    const dataDir = folders.create();
    await withStorage({ databaseUrl: null, dataDir, log: quiet }, async (storage) => {
      await Promise.all(
        Array.from({ length: keys }, (_, index) =>
          storage.keys.insert(makeKey({ name: `key ${index} \u{1f511}`, budget: makeBudget(index / 1e6, "daily") })),
        ),
      );
    });
    return dataDir;
  }

  test("every key arrives as it was, and the store goes on from there", async () => {
    const dataDir = await fill(1234);
    const to = await server().createDatabase();
    const before = await withStorage({ databaseUrl: null, dataDir, log: quiet }, (storage) =>
      storage.keys.changedSince(0n),
    );
    const moved = await moveStorage({ dataDir, to, log: quiet });
    expect(moved).toContainEqual({ table: "api_keys", rows: 1234 });
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, async (storage) => {
      const after = await storage.keys.changedSince(0n);
      const sort = (keys: typeof after.keys) => keys.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(sort(after.keys)).toEqual(sort(before.keys));
      expect(after.revision).toBe(before.revision);
      expect(await createFirstKeys(storage)).toBeNull();
      await storage.keys.insert(makeKey());
    });
  });

  test("teams arrive as they were, with their keys", async () => {
    const dataDir = await fill(1);
    const to = await server().createDatabase();
    const modelLimits = [{ model: "openai/*", rate_limit: null, budget: makeBudget(0.000001, "weekly") }];
    const team = makeTeam("Zoë's team", {
      budget: makeBudget(8_999_999.123456, "monthly"),
      modelLimits,
      tags: { a: "b" },
    });
    const key = makeKey({ team: team.name, modelLimits });
    await withStorage({ databaseUrl: null, dataDir, log: quiet }, (storage) => storage.keys.insert(key, team));
    expect(await moveStorage({ dataDir, to, log: quiet })).toContainEqual({ table: "teams", rows: 1 });
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, async (storage) => {
      expect(await storage.teams.find(team.id)).toEqual(team);
      expect(await storage.keys.get(key.id)).toEqual(key);
    });
  });

  test("responses and secrets arrive byte for byte, also those that are too large to be read together", async () => {
    const dataDir = await fill(1);
    const to = await server().createDatabase();
    const sizes = [0, 1, 1_000, 5_000_000, 5_000_000, 9_000_000, 20];
    const responses = [
      makeResponse({ body: null, input: null, providerResponseId: "resp_theirs", expiresAt: null }),
      ...sizes.map((size) => makeResponse({ body: new Uint8Array(Buffer.alloc(size, Bun.randomUUIDv7())) })),
      ...Array.from({ length: 1100 }, () => makeResponse()),
    ];
    const secret = await withStorage({ databaseUrl: null, dataDir, log: quiet }, async (storage) => {
      for (const response of responses) await storage.responses.create(response);
      return await storage.secrets.getOrCreate("a secret", 48);
    });
    const moved = await moveStorage({ dataDir, to, log: quiet });
    expect(moved).toContainEqual({ table: "responses", rows: responses.length });
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, async (storage) => {
      expect(await storage.secrets.getOrCreate("a secret", 48)).toEqual(secret);
      for (const response of responses)
        expect(await storage.responses.find(response.id, response.owner)).toEqual(response);
    });
  });

  test("work that was left goes on: what is due, what was held, what is due later, and what is to be delivered", async () => {
    const dataDir = folders.create();
    const [due, held, later, done] = Array.from({ length: 4 }, () => makeJob()) as [NewJob, NewJob, NewJob, NewJob];
    const dueAt = Date.now() + 60_000;
    await withStorage({ databaseUrl: null, dataDir, log: quiet }, async (storage) => {
      for (const job of [later, done, held]) {
        await storage.jobs.create(job, null);
        const item = await takeOne(storage, "run");
        await storage.jobs.begin(item, { countRun: true });
        if (job === later) await storage.jobs.saveStep(item, job.id, { checkpoint: "{}", dueAt });
        if (job === done) await storage.jobs.finish(item, job.id, makeResult(), { id: "delivery" });
      }
      await storage.jobs.create(due, { key: "mark", bodyHash: "hash", expiresAt: Date.now() + 60_000 });
    });
    const to = await server().createDatabase();
    const moved = await moveStorage({ dataDir, to, log: quiet });
    expect(moved).toContainEqual({ table: "work", rows: 4 });
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, async (storage) => {
      expect(await countWork(storage)).toMatchObject({
        run: { waiting: 3, due: 2, held: 0 },
        deliver: { waiting: 1, due: 1, held: 0 },
      });
      const runs = await storage.work.take({ kind: "run", limit: 10, ignoreGroups: [] });
      expect(runs.map(({ subject }) => subject).toSorted()).toEqual([due.id, held.id].toSorted());
      for (const item of runs) {
        expect(await storage.jobs.begin(item, { countRun: true })).toMatchObject({
          runs: item.subject === due.id ? 1 : 2,
        });
        expect(await storage.jobs.finish(item, item.subject, makeResult(), null)).toBe(true);
      }
      const delivery = await takeOne(storage, "deliver");
      expect(delivery).toMatchObject({ subject: "delivery", group: "receiver.example" });
      expect((await storage.deliveries.open(delivery))?.job?.id).toBe(done.id);
      expect(await storage.jobs.create(makeJob(), { key: "mark", bodyHash: "other", expiresAt: 1 })).toEqual({
        outcome: "conflict",
      });
    });
  });

  test("lines of the ledger arrive in the partitions of their months, with their totals", async () => {
    const dataDir = folders.create();
    const to = await server().createDatabase();
    const times = [Date.UTC(2025, 11, 31), Date.UTC(2026, 0, 1) - 1, Date.UTC(2026, 0, 1), Date.UTC(2026, 3, 2)];
    const lines = Array.from({ length: 700 }, (_, index) =>
      makeLine({ n: index + 1, time: times[Math.floor(index / 175)] ?? 0 }),
    );
    const batches = times.map((time) => lines.filter((line) => line.time === time));
    await withStorage({ databaseUrl: null, dataDir, log: quiet }, async (storage) => {
      for (const batch of batches)
        expect(await storage.ledger.append({ lines: JSON.stringify(batch), processId: "process" })).toMatchObject({
          lines: 175,
        });
    });
    const moved = await moveStorage({ dataDir, to, log: quiet });
    expect(moved).toContainEqual({ table: "ledger_blocks", rows: 4 });
    expect(moved).toContainEqual({ table: "usage_dimensions", rows: 1 });
    expect(moved).toContainEqual({ table: "usage_sums", rows: 4 });
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, async (storage) => {
      expect(await storage.ledger.count()).toMatchObject({ lines: 700, costPico: 863_800n });
      expect(await storage.ledger.append({ lines: JSON.stringify(lines), processId: "process" })).toMatchObject({
        lines: 0,
      });
    });
  });

  test("a database that holds data already is refused and left alone", async () => {
    const dataDir = await fill(3);
    const to = await server().createDatabase();
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, (storage) => storage.keys.insert(makeKey()));
    expect(String(await catchError(moveStorage({ dataDir, to, log: quiet })))).toContain("is not empty");
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, async (storage) => {
      expect((await storage.keys.changedSince(0n)).keys).toHaveLength(1);
    });
  });

  test("a folder that a gateway uses is not moved", async () => {
    const dataDir = await fill(1);
    const lock = lockDataDir(dataDir);
    const to = await server().createDatabase();
    expect(String(await catchError(moveStorage({ dataDir, to, log: quiet })))).toContain("Another gateway");
    lock.release();
  });

  test("the command moves, says how much, and refuses what it does not understand with 2", async () => {
    const dataDir = await fill(2);
    const to = await server().createDatabase();
    const printed: string[] = [];
    const errors: string[] = [];
    const print = (line: string) => void printed.push(line);
    const settings = () => ({ dataDir, databaseUrl: null, filesS3Bucket: null, log: quiet });
    const context = { settings, print, printError: (line: string) => void errors.push(line) };
    expect(await runCommand(createStorageCommand, ["move"], context)).toBe(2);
    expect(await runCommand(createStorageCommand, ["copy", "--to", to], context)).toBe(2);
    expect(await runCommand(createStorageCommand, ["move", "--to", "mysql://secret@x/y"], context)).toBe(2);
    expect(printed).toEqual([]);
    expect(errors.join("\n")).not.toContain("secret");
    expect(await runCommand(createStorageCommand, ["move", "--to", to, "--json"], context)).toBe(0);
    expect(JSON.parse(printed.join(""))).toMatchObject({
      moved: [
        { table: "api_keys", rows: 2 },
        { table: "audit" },
        { table: "budget_accounts" },
        { table: "budget_leases" },
        { table: "captures" },
        { table: "collection_faces" },
        { table: "collections" },
        { table: "deliveries" },
        { table: "delivery_attempts" },
        { table: "file_bytes" },
        { table: "files" },
        { table: "gateways" },
        { table: "job_marks" },
        { table: "jobs" },
        { table: "latency_hourly" },
        { table: "ledger_blocks" },
        { table: "ledger_once" },
        { table: "ledger_positions" },
        { table: "rate_shares" },
        { table: "responses" },
        { table: "secrets" },
        { table: "sessions" },
        { table: "teams" },
        { table: "topics" },
        { table: "usage_dimensions" },
        { table: "usage_sums" },
        { table: "work" },
      ],
    });
    await withStorage({ databaseUrl: to, dataDir, log: quiet }, async (storage) => {
      const filter = { from: null, to: null, team: null, actor: null, action: "storage.move", target: null };
      const records = await storage.audit.list({ ...filter, outcome: null, after: null, limit: 10 });
      expect(records).toMatchObject([{ actorKind: "command", stateAfter: { engine: "postgres" } }]);
    });
    expect(await runCommand(createStorageCommand, ["move", "--to", to], context)).toBe(1);
    expect(errors.at(-1)).toContain("was moved to PostgreSQL");
    // Two stores would both do the jobs that waited.
    const reopened = withStorage({ databaseUrl: null, dataDir, log: quiet }, async () => {});
    expect(String(await catchError(reopened))).toContain("was moved to PostgreSQL. Set DATABASE_URL");
    expect(errors.join("\n")).not.toContain("secret");
  });
});
