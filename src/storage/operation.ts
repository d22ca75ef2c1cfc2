// A store is an object of operations: functions over the Sql handle, marked as reading or writing.
// The engines run them (in a Worker thread for SQLite, on the pool for PostgreSQL); callers see plain async methods.

import { toBatches } from "./batches.ts";
import type { WorkKind } from "./job-records.ts";
import type { Sql, SqlRow } from "./sql.ts";

/** What other processes are told about when it changes. Work has no revisions: who missed it asks for it anyway. */
export type Topic = "keys" | WorkKind;

/** Within this time a caller is told, whatever has become of the store. */
export const operationDeadlineMs = 1000;

export interface Operation<Args extends readonly unknown[], Result> {
  readonly mode: "read" | "write";
  /** The topic that a write changes. */
  readonly changes: Topic | null;
  readonly run: (sql: Sql, ...args: Args) => Promise<Result>;
  /** Instead of the second that every other operation has: for what may be large, and has nobody waiting. */
  readonly deadlineMs?: number;
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
  options: Pick<Operation<Args, Result>, "deadlineMs"> = {},
): Operation<Args, Result> {
  return { mode: "write", changes, run, ...options };
}

/**
 * Calls that come together are run as one: `run` is given the arguments of each, and answers for each. What fails for one of them is
 * undone for all, and each is run by itself then (see join.ts). `run` must do for one call what it does for it among others.
 */
export interface JoinedOperation<Args extends readonly unknown[], Result>
  extends Operation<[calls: readonly Args[]], (Result | GoesAlone)[]> {
  readonly isJoined: true;
  /** Calls that are not to be joined: those that would keep the others waiting. `deadlineMs` is then theirs. */
  readonly isAlone?: (...args: Args) => boolean;
}

/** The answer of `run` for one call among others that turns out to be too large: it is run once more, by itself. */
export const goesAlone = { goesAlone: true } as const;
export type GoesAlone = typeof goesAlone;

type JoinedOptions<Args extends readonly unknown[]> = Pick<JoinedOperation<Args, unknown>, "deadlineMs" | "isAlone">;

export function readJoined<Args extends readonly unknown[], Result>(
  run: (sql: Sql, calls: readonly Args[]) => Promise<(Result | GoesAlone)[]>,
  options: JoinedOptions<Args> = {},
): JoinedOperation<Args, Result> {
  return { mode: "read", changes: null, run, isJoined: true, ...options };
}

/** For what is called many times at once: one transaction, and one way to the disk, is then enough for all. */
export function writeJoined<Args extends readonly unknown[], Result>(
  changes: Topic | null,
  run: (sql: Sql, calls: readonly Args[]) => Promise<Result[]>,
  options: JoinedOptions<Args> = {},
): JoinedOperation<Args, Result> {
  return { mode: "write", changes, run, isJoined: true, ...options };
}

/**
 * The next revision of a topic. The row stays locked until the transaction ends, so revisions become visible in their order and
 * "everything after revision N" misses nothing. Take it before the rows that it belongs to.
 */
export async function nextRevision(sql: Sql, topic: "keys"): Promise<bigint> {
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

/**
 * Statements that need nothing of each other's answers: PostgreSQL is sent them together. When it throws, all of them have ended,
 * so that none is left over for a transaction that was rolled back.
 */
export async function together<const Statements extends readonly (Promise<unknown> | null)[]>(
  ...statements: Statements
): Promise<{ -readonly [Index in keyof Statements]: Awaited<Statements[Index]> }> {
  const settled = await Promise.allSettled(statements);
  const values = settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
  return values as { -readonly [Index in keyof Statements]: Awaited<Statements[Index]> };
}

/** Rows that have the same columns. */
export async function insertRows(sql: Sql, table: string, rows: readonly SqlRow[]): Promise<void> {
  await together(...toBatches(rows).map((lot) => sql`insert into ${sql.identifier(table)} ${sql.columns(lot)}`));
}
