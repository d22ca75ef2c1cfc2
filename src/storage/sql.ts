// The handle that statements are written against: tagged templates, the same on SQLite and PostgreSQL.
// Every integer arrives as a bigint on both engines, so that money and counters are exact; statements turn times and counts
// into numbers themselves.

import { AsyncLocalStorage } from "node:async_hooks";
import { ValidationError } from "../errors.ts";

export type Engine = "sqlite" | "postgres";
export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A piece of a statement that is not a value. */
export interface SqlFragment {
  readonly fragment: unknown;
}

export interface Sql {
  <Row = SqlRow>(text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): Promise<Row[]>;
  /** Columns and values, for `insert into t ${sql.columns(rows)}` and `update t set ${sql.columns(row)}`. */
  columns(rows: SqlRow | readonly SqlRow[]): SqlFragment;
  /** The name of a table or column, quoted. */
  identifier(name: string): SqlFragment;
  /** A string in the engine's own words, without parameters: migrations and pragmas. */
  script(text: string): Promise<SqlRow[]>;
}

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

export function toDatabase(client: Bun.SQL, engine: Engine): Database {
  const inTransaction = new AsyncLocalStorage<true>();

  function refuseInside(): void {
    if (inTransaction.getStore() === undefined) return;
    throw new Error("The base handle was used inside a transaction; use the handle that the transaction passes in");
  }

  function transaction<T>(body: (sql: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    refuseInside();
    const run = (inner: Bun.TransactionSQL) =>
      inTransaction.run(true, async () => {
        const result = await body(toTransactionSql(inner, signal));
        // A caller who was told that the write failed must not find it stored.
        signal?.throwIfAborted();
        // The wrapper keeps an array of promises or rows from being read as a list of queries.
        return { result };
      });
    // A deferred transaction that turns into a writer fails at once when another writer is at work, without waiting.
    const done = engine === "sqlite" ? client.begin("immediate", run) : client.begin(run);
    return done.then((outcome) => (outcome as { result: T }).result);
  }

  return {
    engine,
    client,
    sql: toSql(client, undefined, refuseInside),
    withSignal: (signal) => toSql(client, signal, refuseInside),
    transaction,
  };
}

function toTransactionSql(client: Bun.TransactionSQL, signal: AbortSignal | undefined): TransactionSql {
  const savepoint = async <T>(body: (sql: Sql) => Promise<T>): Promise<T> => {
    const outcome = await client.savepoint(async (inner) => ({ result: await body(toSql(inner, signal)) }));
    return (outcome as { result: T }).result;
  };
  return Object.assign(toSql(client, signal), { savepoint });
}

function toSql(client: Bun.SQL, signal: AbortSignal | undefined, check?: () => void): Sql {
  async function run<Row>(query: Bun.SQL.Query<Row[]>): Promise<Row[]> {
    if (signal === undefined) return await query;
    const cancel = () => {
      query.cancel();
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await query;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async function tag<Row>(text: TemplateStringsArray, ...values: readonly (SqlValue | SqlFragment)[]): Promise<Row[]> {
    check?.();
    signal?.throwIfAborted();
    for (const value of values) if (typeof value === "string") refuseNul(value);
    return await run(client<Row[]>(text, ...values.map((value) => (isFragment(value) ? value.fragment : value))));
  }

  return Object.assign(tag, {
    columns: (rows: SqlRow | readonly SqlRow[]): SqlFragment => {
      for (const row of Array.isArray(rows) ? rows : [rows]) {
        for (const value of Object.values(row)) if (typeof value === "string") refuseNul(value);
      }
      return { fragment: client(rows as SqlRow) };
    },
    identifier: (name: string): SqlFragment => ({ fragment: client(name) }),
    script: async (text: string): Promise<SqlRow[]> => {
      check?.();
      signal?.throwIfAborted();
      return await run(client.unsafe<SqlRow[]>(text));
    },
  });
}

function isFragment(value: SqlValue | SqlFragment): value is SqlFragment {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}

/** PostgreSQL cannot hold NUL in text and SQLite cuts at it: the same answer on both, and it is the caller's mistake. */
function refuseNul(text: string): void {
  if (!text.includes("\u0000")) return;
  throw new ValidationError([{ loc: ["body"], msg: "Text must not contain NUL characters", type: "value_error" }]);
}
