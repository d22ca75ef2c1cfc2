// The handle that statements are written against: tagged templates, the same on SQLite and PostgreSQL.
// Every integer arrives as a bigint on both engines, so that money and counters are exact; statements turn times and counts
// into numbers themselves.

import { AsyncLocalStorage } from "node:async_hooks";
import { ValidationError } from "../errors.ts";
import { padList } from "./batches.ts";
import type { WorkQueue } from "./work-queue.ts";

export type Engine = "sqlite" | "postgres";
export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

// Below the deadline of an operation, so that a locked file is reported as such and not as a silence.
const lockPatienceMs = 800;

/** A piece of a statement that is not a value. */
export interface SqlFragment {
  readonly fragment: unknown;
}

export interface Statements {
  <Row = SqlRow>(text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): Promise<Row[]>;
  /** Columns and values, for `insert into t ${sql.columns(rows)}` and `update t set ${sql.columns(row)}`. */
  columns(rows: SqlRow | readonly SqlRow[]): SqlFragment;
  /** For `where id in ${sql.list(ids)}`; at least one. */
  list(values: readonly string[]): SqlFragment;
  /** The name of a table or column, quoted. */
  identifier(name: string): SqlFragment;
  /** A string in the engine's own words, without parameters: migrations and pragmas. */
  script(text: string): Promise<SqlRow[]>;
  /** A statement that a library has written, with its values for $1, $2 … */
  execute(text: string, values: readonly unknown[]): Promise<SqlRow[]>;
}

export interface Sql extends Statements {
  /** The queue of work, in the same transaction. */
  readonly work: WorkQueue;
}

export type CreateQueue = (sql: Statements) => WorkQueue;

export interface TransactionSql extends Sql {
  /** What fails inside is undone alone; the transaction goes on. */
  savepoint<T>(body: (sql: Sql) => Promise<T>): Promise<T>;
}

export interface Database {
  readonly engine: Engine;
  readonly client: Bun.SQL;
  /** Outside of transactions only: inside it would wait for itself, so it throws at once there. */
  readonly sql: Sql;
  /** As `sql`, with every statement ended when the signal fires. */
  withSignal(signal: AbortSignal): Sql;
  transaction<T>(body: (sql: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function toDatabase(client: Bun.SQL, engine: Engine, createQueue: CreateQueue): Database {
  const inTransaction = new AsyncLocalStorage<true>();

  function refuseInside(): void {
    if (inTransaction.getStore() === undefined) return;
    throw new Error("The base handle was used inside a transaction; use the handle that the transaction passes in");
  }

  function transaction<T>(body: (sql: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    refuseInside();
    const run = (inner: Bun.TransactionSQL) =>
      inTransaction.run(true, async () => {
        const result = await body(toTransactionSql(inner, createQueue, signal));
        // A caller who was told that the write failed must not find it stored.
        signal?.throwIfAborted();
        // The wrapper keeps an array of promises or rows from being read as a list of queries.
        return { result };
      });
    const done = engine === "sqlite" ? beginAlone(client, run) : client.begin(run);
    return done.then((outcome) => (outcome as { result: T }).result);
  }

  return {
    engine,
    client,
    sql: toSql(client, createQueue, { check: refuseInside }),
    withSignal: (signal) => toSql(client, createQueue, { signal, check: refuseInside }),
    transaction,
  };
}

/**
 * As the one writer of the file. A deferred transaction that turns into a writer fails at once when another is at work; and SQLite's
 * own waiting looks more and more seldom, so that a busy neighbour would starve us. So we ask often.
 */
async function beginAlone<T>(client: Bun.SQL, run: (inner: Bun.TransactionSQL) => Promise<T>): Promise<T> {
  const until = performance.now() + lockPatienceMs;
  let isBegun = false;
  for (;;) {
    try {
      return (await client.begin("immediate", (inner) => {
        isBegun = true;
        return run(inner);
      })) as T;
    } catch (error) {
      const isBusy = error instanceof Error && (error as { code?: unknown }).code === "SQLITE_BUSY";
      if (isBegun || !isBusy || performance.now() > until) throw error;
      await Bun.sleep(1 + Math.random() * 2);
    }
  }
}

function toTransactionSql(
  client: Bun.TransactionSQL,
  createQueue: CreateQueue,
  signal: AbortSignal | undefined,
): TransactionSql {
  const savepoint = async <T>(body: (sql: Sql) => Promise<T>): Promise<T> => {
    const outcome = await client.savepoint(async (inner) => ({
      result: await body(toSql(inner, createQueue, { signal })),
    }));
    return (outcome as { result: T }).result;
  };
  return Object.assign(toSql(client, createQueue, { signal }), { savepoint });
}

interface Handling {
  readonly signal?: AbortSignal | undefined;
  /** Throws where the handle must not be used. */
  readonly check?: () => void;
}

function toSql(client: Bun.SQL, createQueue: CreateQueue, { signal, check }: Handling): Sql {
  // The signal is that of one operation and goes with it: nothing is taken off it again.
  let started: { cancel(): unknown }[] | null = null;

  function run<Row>(query: Bun.SQL.Query<Row[]>): Promise<Row[]> {
    if (signal === undefined) return query;
    if (started === null) {
      const all: { cancel(): unknown }[] = [];
      started = all;
      signal.addEventListener("abort", () => {
        for (const one of all) one.cancel();
      });
    }
    started.push(query);
    return query;
  }

  async function tag<Row>(text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): Promise<Row[]> {
    check?.();
    signal?.throwIfAborted();
    for (const value of values) if (typeof value === "string") refuseNul(value);
    return await run(client<Row[]>(text, ...values.map((value) => (isFragment(value) ? value.fragment : value))));
  }

  const statements = Object.assign(tag, {
    columns: (rows: SqlRow | readonly SqlRow[]): SqlFragment => {
      for (const row of Array.isArray(rows) ? rows : [rows]) {
        for (const value of Object.values(row)) if (typeof value === "string") refuseNul(value);
      }
      return { fragment: client(rows as SqlRow) };
    },
    list: (values: readonly string[]): SqlFragment => {
      for (const value of values) refuseNul(value);
      return { fragment: client(padList(values)) };
    },
    identifier: (name: string): SqlFragment => ({ fragment: client(name) }),
    script: async (text: string): Promise<SqlRow[]> => {
      check?.();
      signal?.throwIfAborted();
      return await run(client.unsafe<SqlRow[]>(text));
    },
    execute: async (text: string, values: readonly unknown[]): Promise<SqlRow[]> => {
      check?.();
      signal?.throwIfAborted();
      return await run(client.unsafe<SqlRow[]>(text, [...values]));
    },
  });
  // Most operations have nothing to do with work.
  let work: WorkQueue | null = null;
  return Object.defineProperty(statements, "work", {
    get: () => {
      work ??= createQueue(statements);
      return work;
    },
  }) as typeof statements & Pick<Sql, "work">;
}

function isFragment(value: SqlValue | SqlFragment): value is SqlFragment {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}

/** PostgreSQL cannot hold NUL in text and SQLite cuts at it: the same answer on both, and it is the caller's mistake. */
function refuseNul(text: string): void {
  if (!text.includes("\u0000")) return;
  throw new ValidationError([{ loc: ["body"], msg: "Text must not contain NUL characters", type: "value_error" }]);
}
