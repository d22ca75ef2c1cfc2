// PostgreSQL as a store: operations run on a pool, a second small client listens for changes and asks whether the server answers.

import type { Log } from "../log.ts";
import { connectPostgres } from "./connect.ts";
import { readRevisions } from "./operation.ts";
import { toStorageError, toUnavailable } from "./outage.ts";
import type { Database } from "./sql.ts";
import { type AnyOperation, buildStores, findOperation, type Storage } from "./stores.ts";

/** Replaced as a whole when the server stops answering without closing its connections. */
interface Link {
  readonly pool: Database;
  readonly watcher: Database;
  isListening: boolean;
}

const channel = "switchyard_changes";
const operationDeadlineMs = 1000;
const probeEveryMs = 500;
const probeDeadlineMs = 1000;
const firstProbes = 3;
// One late answer can be a busy machine; the connections are given up at the second.
const lateProbesBeforeReplacing = 2;
// Few, since every serving process of every replica has them and PostgreSQL allows 100 by default. `?max=` in the address wins.
const defaultPoolSize = 4;
// The server's own limit, for a gateway that froze or was cut off in the middle of a transaction and would keep its locks.
const serverLimitMs = 5000;

export async function openPostgres(options: { readonly databaseUrl: string; readonly log: Log }): Promise<Storage> {
  const { databaseUrl, log } = options;
  const listeners: (() => void)[] = [];
  let link = openLink(databaseUrl);
  let isHealthy = false;
  let isClosed = false;
  let lateProbes = 0;
  let keyRevision: bigint | undefined;
  let timer: ReturnType<typeof setTimeout> | null = null;

  for (let attempt = 1; attempt <= firstProbes && !isHealthy; attempt += 1) await probe();
  if (!isHealthy) {
    closeLink(link);
    throw toUnavailable();
  }
  watch();

  function announce(): void {
    for (const listener of listeners) listener();
  }

  /** Asks for the revisions: the answer proves that the server is there, and shows changes that a lost LISTEN would miss. */
  async function probe(): Promise<void> {
    const asked = link;
    try {
      const revisions = await withDeadline(probeDeadlineMs, (signal) =>
        readRevisions.run(asked.watcher.withSignal(signal)),
      );
      if (isClosed) return;
      if (!isHealthy && keyRevision !== undefined) log.info("PostgreSQL answers again");
      isHealthy = true;
      lateProbes = 0;
      const before = keyRevision;
      keyRevision = revisions.get("keys") ?? 0n;
      if (before !== keyRevision) announce();
      listen(asked);
    } catch (error) {
      if (isClosed) return;
      if (isHealthy) log.error("PostgreSQL does not answer", { error });
      isHealthy = false;
      lateProbes += 1;
      if (lateProbes >= lateProbesBeforeReplacing) replaceLink();
    }
  }

  function watch(): void {
    timer = setTimeout(async () => {
      await probe();
      if (!isClosed) watch();
    }, probeEveryMs);
    timer.unref();
  }

  function listen(target: Link): void {
    if (target.isListening) return;
    target.isListening = true;
    // After a reconnect too: what was sent in between is lost, so everything may have changed.
    target.watcher.client.listen(channel, announce, announce).catch((error) => {
      target.isListening = false;
      if (!isClosed && target === link) log.debug("LISTEN failed; changes are seen by asking", { error });
    });
  }

  function replaceLink(): void {
    lateProbes = 0;
    closeLink(link);
    link = openLink(databaseUrl);
  }

  async function run(operation: AnyOperation, args: readonly unknown[]): Promise<unknown> {
    // Waiting would only pile up callers behind a server that is known to be away.
    if (!isHealthy) throw toUnavailable();
    const { pool } = link;
    try {
      return await withDeadline(operationDeadlineMs, (signal) =>
        operation.mode === "read"
          ? operation.run(pool.withSignal(signal), ...args)
          : runWrite(pool, operation, args, signal),
      );
    } catch (error) {
      throw toStorageError(error);
    }
  }

  return {
    ...buildStores((store, name, args) => run(findOperation(store, name), args)),
    onKeysChanged: (listener) => {
      listeners.push(listener);
    },
    isHealthy: () => isHealthy,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      isHealthy = false;
      if (timer !== null) clearTimeout(timer);
      await Promise.all([link.pool.client.close({ timeout: 1 }), link.watcher.client.close({ timeout: 0 })]);
    },
  };
}

async function runWrite(
  pool: Database,
  operation: AnyOperation,
  args: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  return await pool.transaction(async (sql) => {
    // For this transaction only: settings of the session do not survive a connection pooler in front of the server.
    await sql`
      select set_config('statement_timeout', ${String(serverLimitMs)}, true),
             set_config('idle_in_transaction_session_timeout', ${String(serverLimitMs)}, true)`;
    const result = await operation.run(sql, ...args);
    if (operation.changes !== null) await sql`select pg_notify(${channel}, ${operation.changes})`;
    return result;
  }, signal);
}

function openLink(databaseUrl: string): Link {
  const maxConnections = Number(new URL(databaseUrl).searchParams.get("max")) || defaultPoolSize;
  return {
    pool: connectPostgres(databaseUrl, { maxConnections, connectTimeoutSeconds: 5 }),
    watcher: connectPostgres(databaseUrl, { maxConnections: 1, connectTimeoutSeconds: 1 }),
    isListening: false,
  };
}

/** At once: the queries that still wait on it were answered with an outage already. */
function closeLink(link: Link): void {
  for (const { client } of [link.pool, link.watcher]) client.close({ timeout: 0 }).catch(() => {});
}

/** Ends the wait at the deadline even when the work itself cannot be ended. */
async function withDeadline<T>(deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = toUnavailable();
    controller.abort(error);
    late.reject(error);
  }, deadlineMs);
  const working = work(controller.signal);
  // Once the deadline has answered, nobody waits for it any more.
  working.catch(() => {});
  try {
    return await Promise.race([working, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
