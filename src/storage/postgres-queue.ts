// The work queue on PostgreSQL: pg-boss, in a schema of its own in the same database. The module is loaded on PostgreSQL only.
//
// The gateway adds, fetches, touches and deletes; pg-boss starts no workers of its own. Finished work is deleted at once, and postponed work
// is deleted and added again. pg-boss never gives up on work: the gateway counts the tries. Three statements here, those of `end`,
// `nextRank` and `count`, use the table of pg-boss directly; docs/decisions/0030-pg-boss-tables.md has the measurements behind that.

import { fromBunSql, PgBoss } from "pg-boss";
import { toBatches } from "./batches.ts";
import { together } from "./operation.ts";
import { withStoreDeadline } from "./outage.ts";
import type { CreateQueue, Database, Statements } from "./sql.ts";
import {
  isWorkKind,
  type NewWork,
  type TakeWork,
  type WorkItem,
  type WorkKind,
  type WorkQueue,
  workKinds,
} from "./work-queue.ts";

export interface PostgresQueue {
  readonly createQueue: CreateQueue;
  /** Call it before the first use. */
  prepare(): Promise<void>;
  /** Releases the work of consumers whose heartbeat is missing, and maintains the tables. */
  supervise(): Promise<void>;
}

type BossDatabase = ReturnType<typeof fromBunSql>;

const schema = "switchyard_queue";
// A lease expires after this time without a heartbeat. With the interval of the checks, work is released within half a minute.
const heartbeatSeconds = 15;
const monitorIntervalSeconds = 4;
// Effectively never: a 32-bit number of seconds that can still be added to a date. Runs and deliveries have limits of their own.
const neverSeconds = 10 * 365 * 86_400;
// Longer than the deadline of an operation, because supervision counts all waiting work.
const statementDeadlineMs = 10_000;
const unlimitedRetries = 2_147_483_647;
// PostgreSQL takes longer to plan a larger statement than the larger statement saves.
const maxDeletions = 8;

/** `findPool` returns the current pool, which is replaced when the server stops answering. */
export function openPostgresQueue(findPool: () => Database): PostgresQueue {
  // The statements of `supervise` run outside of our transactions.
  const boss = createBoss({
    executeSql: (text, values) =>
      withStoreDeadline(statementDeadlineMs, () => fromBunSql(findPool().client).executeSql(text, values)),
  });
  return {
    createQueue: (sql) => createBossQueue(boss, sql),
    prepare: async () => {
      // pg-boss looks up a queue on first use, on another connection. Inside our transactions, which may hold all connections of the
      // pool, that lookup could wait for ever.
      for (const kind of workKinds) await boss.findJobs(kind, { id: crypto.randomUUID() });
    },
    supervise: () => boss.supervise(),
  };
}

/** Creates the missing tables and queues. The caller holds the lock of the migrations. */
export async function installPostgresQueue(database: Database): Promise<void> {
  const boss = createBoss(fromBunSql(database.client));
  await boss.start();
  try {
    const present = new Set((await boss.getQueues()).map((queue) => queue.name));
    for (const kind of workKinds) if (!present.has(kind)) await boss.createQueue(kind);
  } finally {
    await boss.stop({ close: false, graceful: false });
  }
}

function createBoss(db: BossDatabase): PgBoss {
  const boss = new PgBoss({
    db,
    schema,
    supervise: false,
    schedule: false,
    monitorIntervalSeconds,
    monitorVacuum: false,
  });
  // An error event without a listener would end the process. The error is thrown to the caller as well.
  boss.on("error", () => {});
  return boss;
}

function createBossQueue(boss: PgBoss, sql: Statements): WorkQueue {
  const bound = fromBunSql({
    unsafe: (text, values) => sql.execute(text, values ?? []),
    reserve: () => Promise.reject(new Error("A transaction already has a connection")),
  });
  // Passes a list as one array parameter. The adapter would make a parameter of each element, and PostgreSQL would then prepare a
  // statement for each length of a list.
  const db: BossDatabase = {
    executeSql: (text, values) =>
      bound.executeSql(
        text,
        values?.map((value) => (Array.isArray(value) ? toArrayLiteral(value) : value)),
      ),
  };

  async function addOfKind(kind: WorkKind, work: readonly NewWork[]): Promise<void> {
    if (work.length === 0) return;
    const now = Date.now();
    const jobs = work.map(({ id, subject, group, dueAt, rank = 0 }) => ({
      id,
      data: { subject },
      // pg-boss fetches the highest priority first, then the oldest.
      priority: -rank,
      // Due work gets no time from this process, because the clock of the server decides what is due.
      ...(dueAt > now ? { startAfter: new Date(dueAt) } : {}),
      ...(group === "" ? {} : { group: { id: group } }),
      retryLimit: unlimitedRetries,
      retryDelay: 0,
      heartbeatSeconds,
      expireInSeconds: neverSeconds,
      retentionSeconds: neverSeconds,
    }));
    const added = await boss.insert(kind, jobs, { db, returnId: true });
    // pg-boss skips jobs that it cannot insert, without an error.
    if (added?.length !== work.length) throw new Error(`pg-boss inserted ${added?.length ?? 0} of ${work.length} jobs`);
  }

  return {
    add: async (work) => {
      const byKind = Map.groupBy(work, ({ kind }) => kind);
      for (const kind of workKinds) await addOfKind(kind, byKind.get(kind) ?? []);
    },

    take: async ({ kind, limit, ignoreGroups }: TakeWork): Promise<WorkItem[]> => {
      const jobs = await boss.fetch<{ subject: string }>(kind, {
        db,
        batchSize: limit,
        ...(ignoreGroups.length > 0 ? { ignoreGroups: [...ignoreGroups] } : {}),
      });
      return jobs.map((job) => ({
        id: job.id,
        kind,
        subject: job.data.subject,
        group: job.groupId ?? "",
        // pg-boss increments it with every fetch, so it distinguishes one lease from the next.
        lease: String(job.retryCount),
      }));
    },

    extend: async (items) => {
      const extended: string[] = [];
      for (const [kind, some] of Map.groupBy(items, (item) => item.kind)) {
        const attempts = some.map((item) => ({ id: item.id, retryCount: Number(item.lease) }));
        extended.push(...readSettledIds(await boss.touch(kind, attempts, { db })));
      }
      return extended;
    },

    end: async (items) => {
      const ended: string[] = [];
      for (const kind of workKinds) {
        // In the order of the index, like every statement that locks several rows.
        const some = items.filter((item) => item.kind === kind).sort((one, other) => (one.id < other.id ? -1 : 1));
        const deletions = toBatches(some, maxDeletions).map((batch) =>
          sql.execute(
            toDeletion(kind, batch.length),
            batch.flatMap((item) => [item.id, Number(item.lease)]),
          ),
        );
        for (const rows of await together(...deletions)) ended.push(...rows.map((row) => row["id"] as string));
      }
      return ended;
    },

    remove: async (kind, ids) => {
      if (ids.length > 0) await boss.deleteJob(kind, [...ids], { db });
    },

    nextRank: async () => {
      const [next] = await sql<{ priority: number }>`
        select priority from switchyard_queue.job
        where name = 'run' and state < 'active' and not blocked and start_after <= now()
        order by priority desc limit 1`;
      return -Number(next?.priority ?? 0);
    },

    count: async () => {
      const rows = await sql<CountRow>`
        select name, count(*) filter (where state < 'active' and start_after <= now()) as waiting,
          count(*) filter (where state < 'active' and start_after > now()) as scheduled,
          count(*) filter (where state = 'active') as leased,
          coalesce(extract(epoch from now() - min(start_after) filter (where state < 'active'))::float8, 0) as oldest
        from switchyard_queue.job group by name`;
      return rows.flatMap((row) =>
        isWorkKind(row.name)
          ? {
              kind: row.name,
              waiting: Number(row.waiting),
              scheduled: Number(row.scheduled),
              leased: Number(row.leased),
              oldestWaitingMs: Math.max(0, Number(row.oldest) * 1_000),
            }
          : [],
      );
    },
  };
}

interface CountRow {
  readonly name: string;
  readonly waiting: bigint;
  readonly scheduled: bigint;
  readonly leased: bigint;
  /** Seconds. */
  readonly oldest: number;
}

/**
 * The same as `deleteJob` of pg-boss, with one index lookup per job. For a list of ids, PostgreSQL reads the whole queue while its
 * statistics say that the queue is short, and keeps that plan when the queue has become long.
 */
function toDeletion(kind: WorkKind, count: number): string {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const deletions = indexes.map(
    (index) => `ended_${index} as (
      delete from ${schema}.job where name = '${kind}' and id = $${2 * index + 1} and retry_count = $${2 * index + 2} and state = 'active'
      returning id)`,
  );
  return `with ${deletions.join(", ")} ${indexes.map((index) => `select id from ended_${index}`).join(" union all ")}`;
}

function toArrayLiteral(values: readonly unknown[]): string {
  return `{${values.map((value) => `"${String(value).replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

/** The ids of the jobs that a command has changed. The types of pg-boss do not declare them. */
function readSettledIds(response: object): readonly string[] {
  const { settled } = response as { settled?: unknown };
  if (!Array.isArray(settled)) throw new Error("pg-boss did not return the ids of the changed jobs");
  return settled;
}
