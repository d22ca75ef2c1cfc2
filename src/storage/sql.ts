// The handle that statements are written with: tagged templates, the same on SQLite and PostgreSQL. Both engines return every integer
// as a bigint, so that amounts of money stay exact; statements convert times and counts to numbers.

import { AsyncLocalStorage } from "node:async_hooks";
import { ValidationError } from "../errors.ts";
import { padList } from "./batches.ts";
import type { WorkQueue } from "./work-queue.ts";

export type Engine = "sqlite" | "postgres";
export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Part of a statement that is not a value. */
export interface SqlFragment {
  readonly fragment: unknown;
}

export interface Statements {
  /** For the few statements that differ between the engines. */
  readonly engine: Engine;
  <Row = SqlRow>(text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): Promise<Row[]>;
  /** Columns and values, for `insert into t ${sql.columns(rows)}` and `update t set ${sql.columns(row)}`. */
  columns(rows: SqlRow | readonly SqlRow[]): SqlFragment;
  /** For `where id in ${sql.list(ids)}`; at least one value. Split a list that may be long: see `maxListLength`. */
  list(values: readonly string[]): SqlFragment;
  /** The quoted name of a table or column. */
  identifier(name: string): SqlFragment;
  /** A list of columns or expressions, as in `select` and `order by`. As with `raw`, never pass text from outside. */
  names(columns: readonly string[]): SqlFragment;
  /** SQL text that cannot be a parameter, such as `for update`. Never pass text from outside: it is not escaped. */
  raw(text: string): SqlFragment;
  /** A part of a statement that several statements share, such as a condition. */
  part(text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): SqlFragment;
  /** A statement without parameters, for migrations and pragmas. */
  script(text: string): Promise<SqlRow[]>;
  /** A statement as text with placeholders $1, $2 …, such as those of pg-boss. */
  execute(text: string, values: readonly unknown[]): Promise<SqlRow[]>;
}

export interface Sql extends Statements {
  /** The work queue, in the same transaction. */
  readonly work: WorkQueue;
}

export type CreateQueue = (sql: Statements) => WorkQueue;

export interface TransactionSql extends Sql {
  /** A failure inside rolls back to the savepoint; the transaction continues. */
  savepoint<T>(body: (sql: Sql) => Promise<T>): Promise<T>;
}

export interface Database {
  readonly engine: Engine;
  readonly client: Bun.SQL;
  /** Throws inside a transaction, where it would wait for the connection that the transaction holds. */
  readonly sql: Sql;
  /** Like `sql`, but cancels its statements when the signal is aborted. */
  withSignal(signal: AbortSignal): Sql;
  transaction<T>(body: (sql: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface DatabaseOptions {
  readonly engine: Engine;
  readonly createQueue: CreateQueue;
  /** On SQLite: how long a transaction waits for the lock of the file. Default: 0. */
  readonly lockTimeoutMs?: number;
}

export function toDatabase(client: Bun.SQL, { engine, createQueue, lockTimeoutMs = 0 }: DatabaseOptions): Database {
  const inTransaction = new AsyncLocalStorage<true>();

  function refuseInTransaction(): void {
    if (inTransaction.getStore() === undefined) return;
    throw new Error("The base handle was used inside a transaction; use the handle that the transaction passes in");
  }

  async function transaction<T>(body: (sql: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    refuseInTransaction();
    const run = (inner: Bun.TransactionSQL) =>
      inTransaction.run(true, async () => {
        const result = await body(toTransactionSql(inner, { engine, createQueue, signal }));
        // A write that was reported as failed must not be committed.
        signal?.throwIfAborted();
        // Bun would treat an array as a list of queries, so the result is wrapped.
        return { result };
      });
    const { result } = await (engine === "sqlite" ? beginImmediate(client, lockTimeoutMs, run) : client.begin(run));
    return result;
  }

  return {
    engine,
    client,
    sql: toSql(client, { engine, createQueue, check: refuseInTransaction }),
    withSignal: (signal) => toSql(client, { engine, createQueue, signal, check: refuseInTransaction }),
    transaction,
  };
}

/**
 * Begins as the only writer of the file: a deferred transaction that later becomes a writer fails at once while another one writes. SQLite's
 * own busy handler waits longer with every try, so a busy process would starve this one; therefore we poll at short intervals.
 */
async function beginImmediate<T>(
  client: Bun.SQL,
  lockTimeoutMs: number,
  run: (inner: Bun.TransactionSQL) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + lockTimeoutMs;
  let hasBegun = false;
  for (;;) {
    try {
      return await client.begin("immediate", (inner) => {
        hasBegun = true;
        return run(inner);
      });
    } catch (error) {
      const isBusy = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
      if (hasBegun || !isBusy || performance.now() > deadline) throw error;
      await Bun.sleep(1 + Math.random() * 2);
    }
  }
}

interface HandleOptions {
  readonly engine: Engine;
  readonly createQueue: CreateQueue;
  readonly signal?: AbortSignal | undefined;
  /** Throws if the handle must not be used now. */
  readonly check?: () => void;
}

function toTransactionSql(client: Bun.TransactionSQL, options: HandleOptions): TransactionSql {
  const savepoint = async <T>(body: (sql: Sql) => Promise<T>): Promise<T> => {
    const { result } = await client.savepoint(async (inner) => ({ result: await body(toSql(inner, options)) }));
    return result;
  };
  return Object.assign(toSql(client, options), { savepoint });
}

function toSql(client: Bun.SQL, { engine, createQueue, signal, check }: HandleOptions): Sql {
  const started: { cancel(): unknown }[] = [];
  // The signal belongs to one operation, so its listener need not be removed.
  signal?.addEventListener("abort", () => {
    for (const query of started) query.cancel();
  });

  function run<Row>(query: Bun.SQL.Query<Row[]>): Promise<Row[]> {
    if (signal !== undefined) started.push(query);
    return query;
  }

  function build<Row>(text: TemplateStringsArray, values: readonly (SqlValue | SqlFragment)[]): Bun.SQL.Query<Row[]> {
    for (const value of values) if (typeof value === "string") refuseNul(value);
    return client<Row[]>(text, ...values.map((value) => (isFragment(value) ? value.fragment : value)));
  }

  async function tag<Row>(text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): Promise<Row[]> {
    check?.();
    signal?.throwIfAborted();
    return await run(build<Row>(text, values));
  }

  async function execute(text: string, values: readonly unknown[] = []): Promise<SqlRow[]> {
    check?.();
    signal?.throwIfAborted();
    // Without values, Bun uses the simple protocol, which accepts several statements.
    return await run(values.length === 0 ? client.unsafe<SqlRow[]>(text) : client.unsafe<SqlRow[]>(text, [...values]));
  }

  const statements = Object.assign(tag, {
    engine,
    columns: (rows: SqlRow | readonly SqlRow[]): SqlFragment => {
      for (const row of Array.isArray(rows) ? rows : [rows]) {
        for (const value of Object.values(row)) if (typeof value === "string") refuseNul(value);
      }
      return { fragment: client(rows) };
    },
    list: (values: readonly string[]): SqlFragment => {
      for (const value of values) refuseNul(value);
      return { fragment: client(padList(values)) };
    },
    identifier: (name: string): SqlFragment => ({ fragment: client(name) }),
    names: (columns: readonly string[]): SqlFragment => ({ fragment: client.unsafe(columns.join(", ")) }),
    raw: (text: string): SqlFragment => ({ fragment: client.unsafe(text) }),
    part: (text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): SqlFragment => ({
      fragment: build(text, values),
    }),
    execute,
    script: (text: string) => execute(text),
  });
  // Created on first use, because most operations do not touch the queue.
  let work: WorkQueue | null = null;
  // The cast adds the new property, which the type of `defineProperty` leaves out.
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

/** PostgreSQL rejects text with a NUL character, and text functions of SQLite stop at it. On both, the caller gets a 422. */
function refuseNul(text: string): void {
  if (!text.includes("\u0000")) return;
  throw new ValidationError([{ loc: ["body"], msg: "Text must not contain NUL characters", type: "value_error" }]);
}
