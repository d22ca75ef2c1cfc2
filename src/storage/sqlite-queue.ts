// The queue of work on SQLite: a table in the same file. Whoever takes a piece becomes its holder until `due_at`, which moves on as
// long as the holder extends it; a holder that died leaves it due again. `takes` tells one holder from the next.

import type { TakeWork, WorkItem, WorkKind } from "./job-records.ts";
import type { Statements } from "./sql.ts";
import { noWork, type WorkCounts, type WorkQueue } from "./work-queue.ts";

interface TakenRow {
  readonly id: string;
  readonly kind: WorkKind;
  readonly subject: string;
  readonly group_name: string;
  readonly takes: bigint;
}

// A holder extends it every few seconds; one that is slow for a while keeps it, one that died is replaced within half a minute.
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
      // As JSON, so that the statement stays the same however many there are.
      const ignored = JSON.stringify(ignoreGroups);
      // Two statements, each with the index that has its order.
      const rows =
        kind === "run"
          ? await sql<TakenRow>`
              update work set due_at = ${now + leaseMs}, takes = takes + 1, held = 1
              where id in (
                select id from work
                where kind = 'run' and due_at <= ${now} and group_name not in (select value from json_each(${ignored}))
                order by rank, due_at limit ${limit}
              )
              returning id, kind, subject, group_name, takes`
          : await sql<TakenRow>`
              update work set due_at = ${now + leaseMs}, takes = takes + 1, held = 1
              where id in (
                select id from work
                where kind = ${kind} and due_at <= ${now} and group_name not in (select value from json_each(${ignored}))
                order by due_at limit ${limit}
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
      const held: string[] = [];
      for (const item of items) {
        const rows = await sql<{ id: string }>`
          update work set due_at = ${Date.now() + leaseMs}
          where id = ${item.id} and takes = ${BigInt(item.lease)} and held = 1 returning id`;
        if (rows.length > 0) held.push(item.id);
      }
      return held;
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
      const rows = await sql<{
        kind: WorkKind;
        waiting: bigint;
        due: bigint;
        held: bigint;
        oldest_due_at: bigint | null;
      }>`
        select kind,
          sum(case when held = 0 or due_at <= ${now} then 1 else 0 end) as waiting,
          sum(case when due_at <= ${now} then 1 else 0 end) as due,
          sum(case when held = 1 and due_at > ${now} then 1 else 0 end) as held,
          min(case when due_at <= ${now} then due_at end) as oldest_due_at
        from work group by kind`;
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
