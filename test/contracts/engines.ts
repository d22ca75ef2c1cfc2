// The two engines that every promise about storage is checked on, and small things that those checks share.

import { afterAll, beforeAll, describe } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Budget } from "../../src/contract/limits.ts";
import { createLog } from "../../src/log.ts";
import { connectPostgres, connectSqlite } from "../../src/storage/connect.ts";
import type { JobResult, NewJob } from "../../src/storage/job-records.ts";
import type { KeyRecord } from "../../src/storage/keys.ts";
import type { Database, Sql } from "../../src/storage/sql.ts";
import { openStorage, type ResponseRecord, type Storage, type StorageOptions } from "../../src/storage/storage.ts";
import type { TeamRecord } from "../../src/storage/teams.ts";
import type { WorkItem, WorkKind } from "../../src/storage/work-queue.ts";
import { startPostgres, type TestPostgres, whyNoPostgres } from "../support/postgres.ts";
import { writeStore } from "../support/store-template.ts";

export interface Engine {
  readonly name: string;
  /** Why it cannot be had here, or null. */
  readonly whyNot: string | null;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A new and empty store, with the tables of this version. */
  createStore(): Promise<StorageOptions>;
  /** A store without tables. */
  createEmptyStore(): Promise<StorageOptions>;
}

/** A busy machine must not fail an operation. Tests about the deadline itself use the one of the gateway. */
const deadlineMs = 60_000;

export const quiet = createLog({ level: "error", format: "text", secrets: [], write: () => {} });

export function createEngines(): readonly [Engine, Engine] {
  return [createSqliteEngine(), createPostgresEngine()];
}

function createSqliteEngine(): Engine {
  const folders = createFolders();
  const createEmptyStore = async () => ({ databaseUrl: null, dataDir: folders.create(), log: quiet, deadlineMs });
  return {
    name: "SQLite",
    whyNot: null,
    start: async () => {},
    stop: async () => folders.remove(),
    createStore: async () => {
      const options = await createEmptyStore();
      await writeStore(options.dataDir);
      return options;
    },
    createEmptyStore,
  };
}

function createPostgresEngine(): Engine {
  const folders = createFolders();
  let server: TestPostgres | null = null;
  function requireServer(): TestPostgres {
    if (server === null) throw new Error("The server was not started");
    return server;
  }
  const toOptions = (databaseUrl: string) => ({ databaseUrl, dataDir: folders.create(), log: quiet, deadlineMs });
  return {
    name: "PostgreSQL",
    whyNot: whyNoPostgres(),
    start: async () => {
      server = await startPostgres();
    },
    stop: async () => {
      await server?.stop();
      folders.remove();
    },
    createStore: async () => toOptions(await requireServer().createStore()),
    createEmptyStore: async () => toOptions(await requireServer().createDatabase()),
  };
}

/** A group of tests on one engine; they are skipped where it is not available. */
export function describeOn(engine: Engine, subject: string, body: () => void): void {
  describe.skipIf(engine.whyNot !== null)(`${subject} on ${engine.name}`, () => {
    beforeAll(() => engine.start(), 120_000);
    afterAll(() => engine.stop(), 120_000);
    body();
  });
}

/** A PostgreSQL server for the tests of one group, and folders that are removed after them. */
export function usePostgres() {
  const folders = createFolders();
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 300_000);
  afterAll(async () => {
    await server.stop();
    folders.remove();
  }, 300_000);
  return { folders, createDatabase: () => server.createDatabase(), server: () => server };
}

export function createFolders(): { create(): string; remove(): void } {
  const made: string[] = [];
  return {
    create: () => {
      const folder = mkdtempSync(join(tmpdir(), "switchyard-test-"));
      made.push(folder);
      return folder;
    },
    remove: () => {
      for (const folder of made) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function withStorage<T>(options: StorageOptions, body: (storage: Storage) => Promise<T>): Promise<T> {
  // A busy machine must not fail a test that is not about the deadline.
  const storage = await openStorage({ deadlineMs, ...options });
  optionsOf.set(storage, options);
  try {
    return await body(storage);
  } finally {
    await storage.close();
  }
}

/**
 * Two connections to a store that the tests of a group share, and that is without jobs when a test begins. A store for each test would take
 * longer than most of the tests.
 */
export function useJobStore(
  engine: Engine,
): (body: (storage: Storage, other: Storage) => Promise<void>) => Promise<void> {
  let options: StorageOptions;
  let connections: [Storage, Storage];
  beforeAll(async () => {
    options = { ...(await engine.createStore()), works: true };
    connections = [await openStorage(options), await openStorage(options)];
    for (const storage of connections) optionsOf.set(storage, options);
  }, 300_000);
  afterAll(async () => {
    for (const storage of connections ?? []) await storage.close();
  }, 300_000);
  return async (body) => {
    await deleteJobs(options);
    await body(...connections);
  };
}

async function deleteJobs(options: StorageOptions): Promise<void> {
  await withDatabase(options, async ({ engine, sql }) => {
    await sql`delete from delivery_attempts`;
    await sql`delete from deliveries`;
    await sql`delete from job_marks`;
    await sql`delete from jobs`;
    if (engine === "sqlite") await sql`delete from work`;
    else await sql`delete from switchyard_queue.job`;
  });
}

const optionsOf = new WeakMap<Storage, StorageOptions>();

function requireOptions(storage: Storage): StorageOptions {
  const options = optionsOf.get(storage);
  if (options === undefined) throw new Error("The options of this store are unknown");
  return options;
}

export interface WorkCount {
  /** Without a lease, due or not. */
  readonly waiting: number;
  readonly due: number;
  /** With a lease. */
  readonly held: number;
}

/** What is in the work queue of a store that `withStorage` opened, or of a store with these options. */
export async function countWork(
  storage: Storage,
  options = requireOptions(storage),
): Promise<Record<WorkKind, WorkCount>> {
  const none = { waiting: 0, due: 0, held: 0 };
  const counts: Record<WorkKind, WorkCount> = { run: none, deliver: none };
  await withDatabase(options, async ({ engine, sql }) => {
    const now = Date.now();
    const work =
      engine === "sqlite"
        ? sql.part`(select kind, held = 1 and due_at > ${now} as is_held, due_at <= ${now} as is_due from work)`
        : sql.part`(select name as kind, state = 'active' as is_held, state < 'active' and start_after <= now() as is_due
            from switchyard_queue.job where name in ('run', 'deliver'))`;
    const rows = await sql<{ kind: WorkKind; waiting: bigint; due: bigint; held: bigint }>`
      select kind, sum(case when is_held then 0 else 1 end) as waiting, sum(case when is_due then 1 else 0 end) as due,
        sum(case when is_held then 1 else 0 end) as held
      from ${work} as work group by kind`;
    for (const { kind, waiting, due, held } of rows)
      counts[kind] = { waiting: Number(waiting), due: Number(due), held: Number(held) };
  });
  return counts;
}

/** A holder without limits. */
const unlimited = { allowedModels: null, rateLimit: null, budget: null, modelLimits: [], tags: {}, enabled: true };

export function makeKey(changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: Bun.randomUUIDv7(),
    kind: "inference",
    name: "a key",
    team: null,
    role: null,
    scopes: ["chat"],
    ...unlimited,
    secretHash: Bun.SHA256.hash(crypto.randomUUID(), "hex"),
    secretTail: "tail",
    previousHash: null,
    previousUntil: null,
    createdAt: Date.now(),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...changes,
  };
}

export function makeBudget(amount: number, period: Budget["period"]): Budget {
  return { amount, period, time_zone: "UTC", raise: null };
}

export function makeTeam(name: string, changes: Partial<TeamRecord> = {}): TeamRecord {
  return {
    id: Bun.randomUUIDv7(),
    name,
    displayName: null,
    ...unlimited,
    createdAt: Date.now(),
    ...changes,
  };
}

export function makeResponse(changes: Partial<ResponseRecord> = {}): ResponseRecord {
  return {
    id: `resp_${crypto.getRandomValues(new Uint8Array(24)).toHex()}`,
    owner: "tenant-a",
    keyId: "key",
    provider: "in-house",
    deployment: "in-house",
    providerResponseId: null,
    model: "in-house/model",
    status: "completed",
    previousId: null,
    depth: 1,
    createdAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
    body: crypto.getRandomValues(new Uint8Array(200)),
    input: crypto.getRandomValues(new Uint8Array(100)),
    ...changes,
  };
}

export function makeJob(changes: Partial<NewJob> = {}): NewJob {
  return {
    id: crypto.randomUUID(),
    owner: "tenant-a",
    keyId: "key",
    feature: "text",
    subfeature: "summarize",
    provider: "in-house",
    model: null,
    createdAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
    webhookReceiver: "https://receiver.example/hook",
    request: JSON.stringify({ input: { text: "A text." } }),
    ...changes,
  };
}

export function makeResult(changes: Partial<JobResult> = {}): JobResult {
  return {
    status: "success",
    provider: "in-house",
    model: "in-house/model",
    finishedAt: Date.now(),
    cost: 9_007_199_254_740_993n,
    costReason: null,
    result: JSON.stringify({ output: { text: "Short." } }),
    ...changes,
  };
}

/** The ids of the keys that the store contained after a change was announced. */
export function watchKeys(storage: Storage): ReadonlySet<string> {
  const ids = new Set<string>();
  storage.onKeysChanged(() => {
    // An outage is announced, too, when it is over.
    storage.keys.changedSince(0n).then(
      ({ keys }) => {
        for (const { id } of keys) ids.add(id);
      },
      () => {},
    );
  });
  return ids;
}

/** The one piece of work that is due. */
export async function takeOne(storage: Storage, kind: WorkKind): Promise<WorkItem> {
  const [item, ...others] = await storage.work.take({ kind, limit: 10, ignoreGroups: [] });
  if (item === undefined || others.length > 0) throw new Error(`${others.length + (item ? 1 : 0)} pieces of work`);
  return item;
}

/** As if all postponed work of a store that `withStorage` opened were due. */
export async function makeWorkDue(storage: Storage): Promise<void> {
  await withDatabase(requireOptions(storage), async ({ engine, sql }) => {
    if (engine === "sqlite") await sql`update work set due_at = 1 where held = 0`;
    else await sql`update switchyard_queue.job set start_after = now() where state < 'active'`;
  });
}

/** As if the lifetime of all jobs of a store that `withStorage` opened were over. */
export async function expireJobs(storage: Storage): Promise<void> {
  await withDatabase(requireOptions(storage), async ({ sql }) => void (await sql`update jobs set expires_at = 1`));
}

/** As if no consumer had renewed its leases for a long time. */
export async function silenceHolders(options: StorageOptions): Promise<void> {
  await withDatabase(options, async (database) => {
    if (database.engine === "sqlite") await database.sql`update work set due_at = 1 where held = 1`;
    else
      await database.sql`update switchyard_queue.job set heartbeat_on = now() - interval '1 hour' where state = 'active'`;
  });
}

/** A connection to the database of a store that `withStorage` or `useJobStore` opened. */
export async function withStore(storage: Storage, body: (database: Database) => Promise<void>): Promise<void> {
  await withDatabase(requireOptions(storage), body);
}

export async function withDatabase(
  options: StorageOptions,
  body: (database: Database) => Promise<void>,
): Promise<void> {
  const database =
    options.databaseUrl === null
      ? await connectSqlite(options.dataDir)
      : connectPostgres(options.databaseUrl, { maxConnections: 2 });
  try {
    await body(database);
  } finally {
    await database.client.close({ timeout: 1 });
  }
}

/** A job whose first run has begun, and the work that holds it. */
export async function startJob(storage: Storage, changes: Parameters<typeof makeJob>[0] = {}) {
  const job = makeJob(changes);
  await storage.jobs.create(job, null);
  const item = await takeOne(storage, "run");
  await storage.jobs.begin(item, { countRun: true });
  return { job, item };
}

/** Runs a verb of `storage-child.ts` as a process of its own. */
export function startChild(verb: string, options: StorageOptions, ...rest: string[]) {
  const script = resolve(import.meta.dir, "storage-child.ts");
  return Bun.spawn([process.execPath, script, verb, options.databaseUrl ?? "", options.dataDir, ...rest], {
    stdout: "pipe",
    stderr: "inherit",
    stdin: "ignore",
  });
}

/** What four processes print that run the same verb on one store at the same moment. */
export async function runTogether(verb: string, options: StorageOptions): Promise<string[]> {
  await withStorage(options, async () => {});
  const at = String(Date.now() + 1000);
  const children = Array.from({ length: 4 }, () => startChild(verb, options, at));
  return Promise.all(children.map((child) => new Response(child.stdout).text()));
}

/** What an awaited call threw. */
export async function catchError(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail");
}

/** Copies the only row of a table. The copies have texts of their own where the table has unique ones. */
export async function multiplyRow(sql: Sql, table: "api_keys" | "teams", copies: number): Promise<void> {
  const [row = {}] = await sql.script(`select * from ${table}`);
  const own = table === "teams" ? ["id", "name"] : ["id", "secret_hash"];
  const columns = Object.keys(row);
  const values = columns.map((name) => (own.includes(name) ? `${name} || n` : name));
  await sql.script(`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${copies})
    insert into ${table} (${columns.join(", ")}) select ${values.join(", ")} from ${table}, numbers`);
}
