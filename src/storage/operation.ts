// A store is an object of operations: functions over the Sql handle, marked as reading or writing. SQLite runs them in a Worker thread,
// PostgreSQL on a connection pool; callers see async methods.

import { toBatches } from "./batches.ts";
import type { Sql, SqlFragment, SqlRow } from "./sql.ts";
import type { WorkKind } from "./work-queue.ts";

/** Changes that are announced to other processes. Announcements of work may be lost: consumers also poll. */
export type Topic = "keys" | WorkKind;

export interface Operation<Args extends readonly unknown[], Result> {
  readonly mode: "read" | "write";
  /** The topic to announce after a write. */
  readonly changes: Topic | null;
  readonly run: (sql: Sql, ...args: Args) => Promise<Result>;
  /** For operations with large values. Default, and the least: the deadline of the store. */
  readonly deadlineMs?: number;
}

type OperationOptions = Pick<Operation<readonly unknown[], unknown>, "deadlineMs">;

export function read<Args extends readonly unknown[], Result>(
  run: (sql: Sql, ...args: Args) => Promise<Result>,
  options: OperationOptions = {},
): Operation<Args, Result> {
  return { mode: "read", changes: null, run, ...options };
}

/** Runs in a transaction. */
export function write<Args extends readonly unknown[], Result>(
  changes: Topic | null,
  run: (sql: Sql, ...args: Args) => Promise<Result>,
  options: OperationOptions = {},
): Operation<Args, Result> {
  return { mode: "write", changes, run, ...options };
}

// As long as the server allows (postgres.ts): hundreds of rows with large values take seconds, and no client waits.
const sweepDeadlineMs = 5_000;

/** Deletes expired rows in the background, at most `limit` in one call: see `deleteInBatches`. */
export function sweep<Result>(
  run: (sql: Sql, until: number, limit: number) => Promise<Result>,
): Operation<[until: number, limit: number], Result> {
  return write(null, run, { deadlineMs: sweepDeadlineMs });
}

/**
 * An operation whose concurrent calls share a transaction (coalesce-calls.ts): `run` gets the arguments of each call and returns a result
 * for each. The result of a call must not depend on the other calls, because they are repeated one by one if the transaction fails.
 */
export interface CoalescedOperation<Args extends readonly unknown[], Result>
  extends Operation<[calls: readonly Args[], isAlone: boolean], (Result | RunAlone)[]> {
  readonly isCoalesced: true;
  /** Calls that run on their own, because other calls would wait for them. `deadlineMs` applies to these and to those of `runAlone`. */
  readonly runsAlone?: (...args: Args) => boolean;
}

/**
 * Returned by `run` for a call that turns out to be too large to share a transaction, or for the deadline of the store. It is then repeated on
 * its own, with `isAlone` and a new deadline.
 */
export const runAlone = { runAlone: true } as const;
export type RunAlone = typeof runAlone;

type CoalescedOptions<Args extends readonly unknown[]> = Pick<
  CoalescedOperation<Args, unknown>,
  "deadlineMs" | "runsAlone"
>;

export function readCoalesced<Args extends readonly unknown[], Result>(
  run: (sql: Sql, calls: readonly Args[], isAlone: boolean) => Promise<(Result | RunAlone)[]>,
  options: OperationOptions = {},
): CoalescedOperation<Args, Result> {
  return { mode: "read", changes: null, run, isCoalesced: true, ...options };
}

/** For operations with many concurrent calls: they share one transaction and one fsync. */
export function writeCoalesced<Args extends readonly unknown[], Result>(
  changes: Topic | null,
  run: (sql: Sql, calls: readonly Args[]) => Promise<Result[]>,
  options: CoalescedOptions<Args> = {},
): CoalescedOperation<Args, Result> {
  return { mode: "write", changes, run, isCoalesced: true, ...options };
}

/**
 * The next revision of a topic. The row stays locked until the transaction ends, so revisions become visible in order and a reader of
 * "everything after revision N" misses nothing. Take the revision before writing the rows that carry it.
 */
export async function nextRevision(sql: Sql, topic: "keys"): Promise<bigint> {
  const [row] = await sql<{ revision: bigint }>`
    insert into topics (topic, revision) values (${topic}, 1)
    on conflict (topic) do update set revision = topics.revision + 1
    returning revision`;
  if (row === undefined) throw new Error(`The insert returned no revision for ${topic}`);
  return row.revision;
}

export const changesPerPage = 2_000;

export type ChangedRow = SqlRow & { readonly id: string; readonly revision: bigint };

/** A page of the rows that changed after a row, or after all rows of a revision (`id` null), in the order of their revisions. */
export async function readChanges(
  sql: Sql,
  table: "api_keys" | "teams",
  { revision, id }: { readonly revision: bigint; readonly id: string | null },
): Promise<ChangedRow[]> {
  const isAfter = id === null ? sql.part`revision > ${revision}` : sql.part`(revision, id) > (${revision}, ${id})`;
  return await sql<ChangedRow>`
    select * from ${sql.identifier(table)} where ${isAfter} order by revision, id limit ${changesPerPage}`;
}

/** The revision of every topic. It is cheap and therefore also the health check of the store. */
export const readRevisions = read(async (sql) => {
  const rows = await sql<{ topic: Topic; revision: bigint }>`select topic, revision from topics`;
  return new Map(rows.map((row) => [row.topic, row.revision]));
});

/**
 * Runs independent statements concurrently; PostgreSQL receives them in one go. When one fails, the error is thrown only after all of
 * them have ended: none may still run when the transaction is rolled back.
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

/** All rows must have the same columns. */
export async function insertRows(sql: Sql, table: string, rows: readonly SqlRow[]): Promise<void> {
  await together(...toBatches(rows).map((batch) => sql`insert into ${sql.identifier(table)} ${sql.columns(batch)}`));
}

/** A condition for rows with a column `owner`. Null: rows of all owners. */
export function isOwnedBy(sql: Sql, owner: string | null): SqlFragment {
  return owner === null ? sql.part`1 = 1` : sql.part`owner = ${owner}`;
}

/** A condition: one of the texts contains the searched one, or the row has it as its id. `texts`: expressions that are not null. */
export function isFound(sql: Sql, search: string | null, texts: readonly string[]): SqlFragment {
  if (search === null) return sql.part`1 = 1`;
  const pattern = `%${search.replaceAll(/[%_!]/g, "!$&")}%`;
  // A line break, which no search contains, keeps it from matching the end of one text and the beginning of the next.
  const joined = sql.names([texts.join(" || '\n' || ")]);
  // Both sides are lowered by the store: SQLite lowers the letters A to Z only.
  return sql.part`(lower(${joined}) like lower(${pattern}) escape '!' or id = ${search.toLowerCase()})`;
}

/** A page of rows, newest first, with the number of all rows. */
export async function listPage<Item>(
  sql: Sql,
  page: PageRequest,
  fromRow: (row: SqlRow) => Item,
): Promise<{ total: number; items: Item[] }> {
  const [count] = await sql<{ total: bigint }>`select count(*) as total ${page.from}`;
  return { total: Number(count?.total ?? 0), items: await readPage(sql, page, fromRow) };
}

/** A page of rows, newest first. */
export async function readPage<Item>(
  sql: Sql,
  { columns = ["*"], from, limit, offset }: PageRequest,
  fromRow: (row: SqlRow) => Item,
): Promise<Item[]> {
  const rows = await sql`
    select ${sql.names(columns)} ${from} order by created_at desc, id desc limit ${limit} offset ${offset}`;
  return rows.map(fromRow);
}

interface PageRequest {
  readonly columns?: readonly string[];
  /** `from table where …` */
  readonly from: SqlFragment;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Deletes at most `limit` rows whose time is not after `until`, the oldest first, and returns columns of them. Fewer than `limit` come back
 * when none are left, or when another process deletes them at the same moment.
 */
export async function deleteOldest<Row = SqlRow>(
  sql: Sql,
  { from, timeColumn, idColumns = ["id"], until, limit, returning }: Deletion,
): Promise<Row[]> {
  const time = sql.names([timeColumn]);
  const columns = [timeColumn, ...idColumns];
  const key = sql.names(columns);
  const [last] = await sql`
    select ${key} ${from} ${time} <= ${until} order by ${key} limit 1 offset ${limit - 1}`;
  // A range of the index instead of a list of ids: two processes that delete at the same time then lock rows in the same order.
  const range =
    last === undefined
      ? sql.part`${time} <= ${until}`
      : sql.part`(${key}) <= (${columns.map((name) => sql.part`${last[name] ?? null}`).reduce((list, value) => sql.part`${list}, ${value}`)})`;
  return await sql<Row>`delete ${from} ${range} returning ${sql.names(returning)}`;
}

interface Deletion {
  /** `from table where`, or `from table where … and` */
  readonly from: SqlFragment;
  readonly timeColumn: "created_at" | "updated_at" | "expires_at" | "time" | "hour";
  /** They distinguish rows of the same time. Default: `id`. */
  readonly idColumns?: readonly string[];
  readonly until: number;
  readonly limit: number;
  readonly returning: readonly string[];
}
