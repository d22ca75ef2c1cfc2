// The work queue on SQLite: a table of leases in the same file. Taking work moves its `due_at` to the end of the lease, and extending the
// lease moves it further; when a consumer dies, its work becomes due again by itself. `takes` distinguishes one lease from the next.

import type { Statements } from "./sql.ts";
import type { TakeWork, WorkItem, WorkKind, WorkQueue } from "./work-queue.ts";

interface TakenRow {
  readonly id: string;
  readonly kind: WorkKind;
  readonly subject: string;
  readonly group_name: string;
  readonly takes: bigint;
}

interface CountRow {
  readonly kind: WorkKind;
  readonly waiting: bigint;
  readonly scheduled: bigint;
  readonly leased: bigint;
  readonly oldest: bigint;
}

// Consumers extend their leases every few seconds. A slow consumer keeps them; the work of a dead one is released within half a minute.
const leaseMs = 20_000;

export function createSqliteQueue(sql: Statements): WorkQueue {
  return {
    add: async (work) => {
      for (const { id, kind, subject, group, dueAt, rank = 0 } of work) {
        await sql`
          insert into work (id, kind, subject, group_name, due_at, takes, held, rank)
          values (${id}, ${kind}, ${subject}, ${group}, ${dueAt}, 0, 0, ${rank})`;
      }
    },

    take: async ({ kind, limit, ignoreGroups }: TakeWork): Promise<WorkItem[]> => {
      const now = Date.now();
      // JSON instead of a list, so that the statement does not depend on the number of groups.
      const ignored = JSON.stringify(ignoreGroups);
      // Runs have an index of their own, which SQLite only uses when the statement contains `kind = 'run'` literally.
      const isRun = kind === "run";
      const condition = isRun ? sql.part`kind = 'run'` : sql.part`kind = ${kind}`;
      const order = sql.names(isRun ? ["rank", "due_at"] : ["due_at"]);
      const rows = await sql<TakenRow>`
        update work set due_at = ${now + leaseMs}, takes = takes + 1, held = 1
        where id in (
          select id from work
          where ${condition} and due_at <= ${now} and group_name not in (select value from json_each(${ignored}))
          order by ${order} limit ${limit}
        )
        returning id, kind, subject, group_name, takes`;
      return rows.map((row) => ({
        id: row.id,
        kind: row.kind,
        subject: row.subject,
        group: row.group_name,
        lease: String(row.takes),
      }));
    },

    extend: async (items) => {
      const extended: string[] = [];
      for (const item of items) {
        const rows = await sql<{ id: string }>`
          update work set due_at = ${Date.now() + leaseMs}
          where id = ${item.id} and takes = ${BigInt(item.lease)} and held = 1 returning id`;
        if (rows.length > 0) extended.push(item.id);
      }
      return extended;
    },

    end: async (items) => {
      const ended: string[] = [];
      for (const item of items) {
        const rows = await sql`
          delete from work where id = ${item.id} and takes = ${BigInt(item.lease)} and held = 1 returning id`;
        if (rows.length > 0) ended.push(item.id);
      }
      return ended;
    },

    remove: async (_kind, ids) => {
      if (ids.length > 0) await sql`delete from work where id in ${sql.list(ids)}`;
    },

    nextRank: async () => {
      const [next] = await sql<{ rank: bigint }>`
        select rank from work where kind = 'run' and held = 0 and due_at <= ${Date.now()} order by rank limit 1`;
      return Number(next?.rank ?? 0);
    },

    count: async () => {
      const now = Date.now();
      const rows = await sql<CountRow>`
        select kind, sum(due_at <= ${now}) as waiting, sum(due_at > ${now} and held = 0) as scheduled,
          sum(due_at > ${now} and held = 1) as leased, min(due_at) as oldest
        from work group by kind`;
      return rows.map((row) => ({
        kind: row.kind,
        waiting: Number(row.waiting),
        scheduled: Number(row.scheduled),
        leased: Number(row.leased),
        oldestWaitingMs: Math.max(0, now - Number(row.oldest)),
      }));
    },
  };
}
