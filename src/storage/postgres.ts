// PostgreSQL as a store: operations run on a connection pool. A second client listens for changes and probes whether the server answers.

import { connectPostgres, describePostgres } from "./connect.ts";
import { readRevisions, type Topic, together } from "./operation.ts";
import { isOutage, toStorageError, toUnavailable, withStoreDeadline } from "./outage.ts";
import type { CreateQueue, Database } from "./sql.ts";
import {
  type AnyOperation,
  buildStores,
  defaultDeadlineMs,
  findOperation,
  isCoalesced,
  type OperationCall,
  type Storage,
  type StorageOptions,
} from "./stores.ts";
import { isWorkKind, type WorkKind, workKinds } from "./work-queue.ts";

/** Replaced as a whole when the server stops answering without closing its connections. */
interface Clients {
  readonly pool: Database;
  readonly watcher: Database;
  isListening: boolean;
}

const channel = "switchyard_changes";
const probeEveryMs = 500;
const firstProbes = 3;
// One late answer may come from a busy machine; after the second, the clients are replaced.
const lateProbesBeforeReplacing = 2;
// Small, because every serving process of every replica has a pool and PostgreSQL allows 100 connections by default. `?max=` in the
// address overrides it.
const defaultPoolSize = 4;
// Larger, because transactions of jobs wait for the disk of the server most of the time.
const workingPoolSize = 10;
// One transaction executes statements while another one waits for the disk. More would make the transactions smaller.
const maxTransactions = 2;
// Enforced by the server, so that a gateway that hangs or is cut off in the middle of a transaction does not keep its locks.
const serverTimeoutMs = 5000;
// New work is announced in batches: NOTIFY inside the transactions would serialise their commits.
const announceWorkEveryMs = 20;
const superviseEveryMs = 3000;
// After an outage, the heartbeats of all consumers are missing. Live consumers send one within this time.
const superviseAfterOutageMs = 8000;

export async function openPostgres(options: StorageOptions & { readonly databaseUrl: string }): Promise<Storage> {
  const { databaseUrl, log, metrics, deadlineMs = defaultDeadlineMs } = options;
  const { openPostgresQueue } = await import("./postgres-queue.ts");
  const queue = openPostgresQueue(() => clients.pool);
  const listeners: Record<Topic, (() => void)[]> = { keys: [], run: [], deliver: [] };
  const poolSize = options.works === true ? workingPoolSize : defaultPoolSize;
  let clients = openClients(databaseUrl, poolSize, queue.createQueue);
  let isHealthy = false;
  let healthySince = 0;
  let isClosed = false;
  let lateProbes = 0;
  let keyRevision: bigint | undefined;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let announceTimer: ReturnType<typeof setTimeout> | null = null;
  let announcedWorkAt = 0;
  const unannounced = new Set<WorkKind>();
  let isSupervising = false;
  let superviseError: unknown = null;

  for (let attempt = 1; attempt <= firstProbes && !isHealthy; attempt += 1) await probe();
  if (!isHealthy) {
    closeClients(clients);
    throw new Error(`${describePostgres(databaseUrl)} does not answer. Check that the server is running.`);
  }
  try {
    await queue.prepare();
  } catch (error) {
    closeClients(clients);
    throw toStorageError(error);
  }
  watch();
  const supervision = options.works === true ? setInterval(supervise, superviseEveryMs) : null;
  supervision?.unref();

  function notifyListeners(topic: Topic): void {
    for (const listener of listeners[topic]) listener();
  }

  /** Also after a reconnect: notifications that were sent in between are lost, so everything may have changed. */
  function notifyAllListeners(): void {
    notifyListeners("keys");
    for (const kind of workKinds) notifyListeners(kind);
  }

  /** Tells listeners of this process at once, and other processes with the next NOTIFY. */
  function announceWork(kind: WorkKind): void {
    notifyListeners(kind);
    unannounced.add(kind);
    if (announceTimer !== null) return;
    const delayMs = Math.max(0, announcedWorkAt + announceWorkEveryMs - Date.now());
    announceTimer = setTimeout(() => {
      announceTimer = null;
      announcedWorkAt = Date.now();
      for (const kind of unannounced) {
        // A lost notification does no harm: consumers also poll.
        if (isHealthy) clients.pool.sql`select pg_notify(${channel}, ${kind})`.catch(() => {});
      }
      unannounced.clear();
    }, delayMs);
    announceTimer.unref();
  }

  async function supervise(): Promise<void> {
    if (isSupervising || !isHealthy || Date.now() - healthySince < superviseAfterOutageMs) return;
    isSupervising = true;
    try {
      await queue.supervise();
      superviseError = null;
    } catch (error) {
      // The probe logs outages. Other errors are logged once.
      const isNew = superviseError === null && isHealthy && !isClosed && !isOutage(error);
      superviseError = error;
      if (isNew) log.error("The work of consumers that died cannot be released", { error });
    } finally {
      isSupervising = false;
    }
  }

  /** Reads the revisions: this proves that the server answers, and shows changes that a lost LISTEN would miss. */
  async function probe(): Promise<void> {
    const probed = clients;
    try {
      const revisions = await withStoreDeadline(deadlineMs, (signal) =>
        readRevisions.run(probed.watcher.withSignal(signal)),
      );
      if (isClosed) return;
      if (!isHealthy && keyRevision !== undefined) log.info("PostgreSQL answers again");
      if (!isHealthy) healthySince = Date.now();
      isHealthy = true;
      lateProbes = 0;
      const before = keyRevision;
      keyRevision = revisions.get("keys") ?? 0n;
      if (before !== keyRevision) notifyListeners("keys");
      listen(probed);
    } catch (error) {
      if (isClosed) return;
      if (isHealthy) log.error("PostgreSQL does not answer", { error });
      isHealthy = false;
      lateProbes += 1;
      if (lateProbes >= lateProbesBeforeReplacing) replaceClients();
    }
  }

  function watch(): void {
    timer = setTimeout(async () => {
      await probe();
      if (!isClosed) watch();
    }, probeEveryMs);
    timer.unref();
  }

  function listen(target: Clients): void {
    if (target.isListening) return;
    target.isListening = true;
    const receive = (topic: string) => notifyListeners(isWorkKind(topic) ? topic : "keys");
    target.watcher.client.listen(channel, receive, notifyAllListeners).catch((error) => {
      target.isListening = false;
      if (!isClosed && target === clients) log.debug("LISTEN failed; changes are found by polling", { error });
    });
  }

  function replaceClients(): void {
    lateProbes = 0;
    closeClients(clients);
    clients = openClients(databaseUrl, poolSize, queue.createQueue);
  }

  async function run({ store, name, args, deadlineMs: timeoutMs }: OperationCall): Promise<unknown> {
    // Fail at once while the server is known to be down, so that waiting calls do not accumulate.
    if (!isHealthy) throw toUnavailable();
    const { pool } = clients;
    const operation = findOperation(store, name);
    try {
      const result = await withStoreDeadline(timeoutMs, (signal) =>
        // Coalesced reads look up lists, which needs the planner settings of a transaction.
        operation.mode === "write" || isCoalesced(operation)
          ? runTransaction(pool, operation, args, signal)
          : operation.run(pool.withSignal(signal), ...args),
      );
      if (operation.changes !== null && operation.changes !== "keys") announceWork(operation.changes);
      return result;
    } catch (error) {
      throw toStorageError(error);
    }
  }

  return {
    ...buildStores(run, { maxTransactions, isDown: () => !isHealthy, deadlineMs, metrics }),
    onKeysChanged: (listener) => {
      listeners.keys.push(listener);
    },
    onWork: (listener) => {
      for (const kind of workKinds) listeners[kind].push(() => listener(kind));
    },
    isHealthy: () => isHealthy,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      isHealthy = false;
      if (timer !== null) clearTimeout(timer);
      if (announceTimer !== null) clearTimeout(announceTimer);
      if (supervision !== null) clearInterval(supervision);
      await Promise.all([clients.pool.client.close({ timeout: 1 }), clients.watcher.client.close({ timeout: 0 })]);
    },
  };
}

async function runTransaction(
  pool: Database,
  operation: AnyOperation,
  args: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  return await pool.transaction(async (sql) => {
    // Set per transaction, because settings of the session do not survive a connection pooler in front of the server.
    //
    // The planner may only use index scans. PostgreSQL caches plans, and a plan made while a table was short would read the whole table
    // after it has grown. Index scans also make all transactions lock rows in the same order, so they cannot deadlock. A plan that cannot do
    // without the others gets a huge cost estimate, for which PostgreSQL would compile it: that takes seconds.
    const settings = sql`
      select set_config('statement_timeout', ${String(serverTimeoutMs)}, true),
             set_config('idle_in_transaction_session_timeout', ${String(serverTimeoutMs)}, true),
             set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
             set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`;
    // Sent together with the first statement of the operation, to save a round trip.
    const [, result] = await together(settings, operation.run(sql, ...args));
    if (operation.changes === "keys") await sql`select pg_notify(${channel}, ${operation.changes})`;
    return result;
  }, signal);
}

function openClients(databaseUrl: string, poolSize: number, createQueue: CreateQueue): Clients {
  const maxConnections = Number(new URL(databaseUrl).searchParams.get("max")) || poolSize;
  return {
    pool: connectPostgres(databaseUrl, { maxConnections, createQueue }),
    watcher: connectPostgres(databaseUrl, { maxConnections: 1, connectTimeoutSeconds: 1 }),
    isListening: false,
  };
}

/** Without waiting: the pending queries have already failed with a 503. */
function closeClients(clients: Clients): void {
  for (const { client } of [clients.pool, clients.watcher]) client.close({ timeout: 0 }).catch(() => {});
}
