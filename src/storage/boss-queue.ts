// The queue of work on PostgreSQL: pg-boss, in a schema of its own in the same database. Loaded only where it is needed.
//
// We add, fetch, touch and delete; pg-boss runs nothing by itself. What is done is deleted at once, what is postponed is deleted
// and added anew, and how often something is tried is ours to count: pg-boss is told never to give up. What is fetched and touched is
// found by indexes alone, which the settings of our transactions see to (postgres.ts).

import { fromBunSql, PgBoss } from "pg-boss";
import { toBatches } from "./batches.ts";
import { type TakeWork, type WorkItem, type WorkKind, workKinds } from "./job-records.ts";
import { together } from "./operation.ts";
import { withStoreDeadline } from "./outage.ts";
import type { CreateQueue, Database, Statements } from "./sql.ts";
import { type NewWork, noWork, type WorkCounts, type WorkQueue } from "./work-queue.ts";

export interface Boss {
  readonly createQueue: CreateQueue;
  /** To be awaited before the first use. */
  prepare(): Promise<void>;
  /** Gives the work of holders that were not heard of for a while to others, and keeps the tables in order. */
  supervise(): Promise<void>;
}

type BossDatabase = ReturnType<typeof fromBunSql>;

const schema = "switchyard_queue";
// A holder is given up when it was silent for this long, and that is looked for every few seconds: half a minute is not reached.
const heartbeatSeconds = 15;
const monitorIntervalSeconds = 4;
// As good as never, in what a 32-bit number of seconds holds together with a date: who works has its own limits.
const neverSeconds = 10 * 365 * 86_400;
// Longer than that of an operation: it counts all that waits.
const statementDeadlineMs = 10_000;
const unlimited = 2_147_483_647;
// To plan a larger one takes the server longer than it saves.
const largestDeletion = 8;

/** `findPool` gives the pool of the moment: it is replaced when the server stops answering. */
export function openBoss(findPool: () => Database): Boss {
  // Its own statements, which are those of `supervise`, run outside of our transactions.
  const boss = createBoss({
    executeSql: (text, values) =>
      withStoreDeadline(statementDeadlineMs, () => toDb(findPool()).executeSql(text, values)),
  });
  return {
    createQueue: (sql) => createBossQueue(boss, sql),
    prepare: async () => {
      // pg-boss looks a queue up when it first meets it, on a connection of its own choice. In the middle of our transactions
      // that could wait for a connection which these hold.
      for (const kind of workKinds) await boss.findJobs(kind, { id: crypto.randomUUID() });
    },
    supervise: () => boss.supervise(),
  };
}

/** Its tables and queues, where they are not there yet. The lock of our own migrations is held meanwhile. */
export async function installBoss(database: Database): Promise<void> {
  const boss = createBoss(toDb(database));
  await boss.start();
  try {
    const present = new Set((await boss.getQueues()).map((queue) => queue.name));
    for (const kind of workKinds) if (!present.has(kind)) await boss.createQueue(kind);
  } finally {
    await boss.stop({ close: false, graceful: false });
  }
}

function toDb(database: Database): BossDatabase {
  return fromBunSql(database.client);
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
  // An emitted error without a listener would end the process; what fails is thrown to the caller as well.
  boss.on("error", () => {});
  return boss;
}

function createBossQueue(boss: PgBoss, sql: Statements): WorkQueue {
  const bound = fromBunSql({
    unsafe: (text, values) => sql.execute(text, values ?? []),
    reserve: () => Promise.reject(new Error("A transaction has its connection already")),
  });
  // A list goes as one value. The adapter would make a parameter of each element, and for each length of a list the server would
  // have another statement to read and to plan.
  const db: BossDatabase = {
    executeSql: (text, values) =>
      bound.executeSql(
        text,
        values?.map((value) => (Array.isArray(value) ? toArray(value) : value)),
      ),
  };

  async function addOfKind(kind: WorkKind, work: readonly NewWork[]): Promise<void> {
    if (work.length === 0) return;
    const now = Date.now();
    const jobs = work.map(({ id, subject, group, dueAt, rank = 0 }) => ({
      id,
      data: { subject },
      // pg-boss takes what has the highest priority, and of equal ones the oldest.
      priority: -rank,
      // The server's clock decides what is due, so what is due at once is not given a time of ours.
      ...(dueAt > now ? { startAfter: new Date(dueAt) } : {}),
      ...(group === "" ? {} : { group: { id: group } }),
      retryLimit: unlimited,
      retryDelay: 0,
      heartbeatSeconds,
      expireInSeconds: neverSeconds,
      retentionSeconds: neverSeconds,
    }));
    const added = await boss.insert(kind, jobs, { db, returnId: true });
    // It passes over what it cannot add without an error.
    if (added?.length !== work.length)
      throw new Error(`Of ${work.length} pieces of work ${added?.length ?? 0} were added`);
  }

  /** The ids of the rows that a command has met. */
  async function show(
    items: readonly WorkItem[],
    command: (kind: WorkKind, claims: Claim[]) => Promise<object>,
  ): Promise<string[]> {
    const met: string[] = [];
    for (const kind of workKinds) {
      const claims = items.filter((item) => item.kind === kind).map(toClaim);
      if (claims.length === 0) continue;
      met.push(...findTouched(await command(kind, claims)));
    }
    return met;
  }

  return {
    add: async (work) => {
      for (const kind of workKinds) {
        await addOfKind(
          kind,
          work.filter((one) => one.kind === kind),
        );
      }
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
        lease: String(job.retryCount),
      }));
    },

    extend: (items) => show(items, (kind, claims) => boss.touch(kind, claims, { db })),

    end: async (items) => {
      const ended: string[] = [];
      for (const kind of workKinds) {
        // In the order of the index, as everybody that locks several.
        const claims = items.filter((item) => item.kind === kind).sort((one, other) => (one.id < other.id ? -1 : 1));
        const deletions = toBatches(claims, largestDeletion).map((lot) =>
          sql.execute(
            toDeletion(kind, lot.length),
            lot.flatMap((item) => [item.id, Number(item.lease)]),
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
      const rows = await sql<{
        kind: WorkKind;
        waiting: bigint;
        due: bigint;
        held: bigint;
        oldest_due_at: bigint | null;
      }>`
        select name as kind,
          count(*) filter (where state < 'active') as waiting,
          count(*) filter (where state < 'active' and start_after <= now()) as due,
          count(*) filter (where state = 'active') as held,
          cast(extract(epoch from min(start_after) filter (where state < 'active' and start_after <= now())) * 1000 as bigint)
            as oldest_due_at
        from switchyard_queue.job where name in ('run', 'deliver') group by name`;
      const counts: WorkCounts = { run: noWork, deliver: noWork };
      for (const row of rows) {
        counts[row.kind] = {
          waiting: Number(row.waiting),
          due: Number(row.due),
          held: Number(row.held),
          oldestDueAt: row.oldest_due_at === null ? null : Number(row.oldest_due_at),
        };
      }
      return counts;
    },
  };
}

/**
 * What deleteJob of pg-boss does, with each piece of work looked up by itself. For a list the server prefers to read through the whole
 * queue while it takes it for short, and goes on so when it has become long.
 */
function toDeletion(kind: WorkKind, count: number): string {
  const places = Array.from({ length: count }, (_, place) => place);
  const deletions = places.map(
    (place) => `ended_${place} as (
      delete from ${schema}.job where name = '${kind}' and id = $${2 * place + 1} and retry_count = $${2 * place + 2} and state = 'active'
      returning id)`,
  );
  return `with ${deletions.join(", ")} ${places.map((place) => `select id from ended_${place}`).join(" union all ")}`;
}

/** As PostgreSQL writes an array. */
function toArray(values: readonly unknown[]): string {
  return `{${values.map((value) => `"${String(value).replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

interface Claim {
  readonly id: string;
  readonly retryCount: number;
}

/** Each taking counts one further, so that the count tells one holder from the next. */
function toClaim(item: WorkItem): Claim {
  return { id: item.id, retryCount: Number(item.lease) };
}

/** Its types do not name what its commands answer with: the ids of the rows that a command has met. */
function findTouched(response: object): readonly string[] {
  const { settled } = response as { settled?: unknown };
  if (!Array.isArray(settled)) throw new Error("pg-boss did not say which work it has met");
  return settled;
}
