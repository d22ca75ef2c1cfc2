// A store is an object of operations: functions over the Sql handle, marked as reading or writing.
// The engines run them (in a Worker thread for SQLite, on the pool for PostgreSQL); callers see plain async methods.

import type { Sql } from "./sql.ts";

/** What other processes are told about when it changes. */
export type Topic = "keys";

export interface Operation<Args extends readonly unknown[], Result> {
  readonly mode: "read" | "write";
  /** The topic that a write changes. */
  readonly changes: Topic | null;
  readonly run: (sql: Sql, ...args: Args) => Promise<Result>;
}

export function read<Args extends readonly unknown[], Result>(
  run: (sql: Sql, ...args: Args) => Promise<Result>,
): Operation<Args, Result> {
  return { mode: "read", changes: null, run };
}

/** Runs in a transaction. Give a topic when other processes must hear of it. */
export function write<Args extends readonly unknown[], Result>(
  changes: Topic | null,
  run: (sql: Sql, ...args: Args) => Promise<Result>,
): Operation<Args, Result> {
  return { mode: "write", changes, run };
}

/**
 * The next revision of a topic. The row stays locked until the transaction ends, so revisions become visible in their order and
 * "everything after revision N" misses nothing. Take it before the rows that it belongs to.
 */
export async function nextRevision(sql: Sql, topic: Topic): Promise<bigint> {
  const [row] = await sql<{ revision: bigint }>`
    insert into topics (topic, revision) values (${topic}, 1)
    on conflict (topic) do update set revision = topics.revision + 1
    returning revision`;
  if (row === undefined) throw new Error(`No revision came back for ${topic}`);
  return row.revision;
}

/** The revision of every topic: cheap, so it is also the probe that tells whether the store answers. */
export const readRevisions = read(async (sql) => {
  const rows = await sql<{ topic: Topic; revision: bigint }>`select topic, revision from topics`;
  return new Map(rows.map((row) => [row.topic, row.revision]));
});
