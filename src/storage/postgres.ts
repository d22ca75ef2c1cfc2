// PostgreSQL as a store: operations run on a pool, a second small client listens for changes and asks whether the server answers.

import type { Log } from "../log.ts";
import { connectPostgres, describePostgres } from "./connect.ts";
import { isWorkKind, type WorkKind, workKinds } from "./job-records.ts";
import { readRevisions, type Topic, together } from "./operation.ts";
import { isOutage, toStorageError, toUnavailable, withStoreDeadline } from "./outage.ts";
import type { CreateQueue, Database } from "./sql.ts";
import { type AnyOperation, buildStores, findOperation, isJoined, type OperationCall, type Storage } from "./stores.ts";

/** Replaced as a whole when the server stops answering without closing its connections. */
interface Link {
  readonly pool: Database;
  readonly watcher: Database;
  isListening: boolean;
}

const channel = "switchyard_changes";
const probeEveryMs = 500;
const probeDeadlineMs = 1000;
const firstProbes = 3;
// One late answer can be a busy machine; the connections are given up at the second.
const lateProbesBeforeReplacing = 2;
// Few, since every serving process of every replica has them and PostgreSQL allows 100 by default. `?max=` in the address wins.
const defaultPoolSize = 4;
// Those that work wait for the disk of the server most of the time, each for a job of its own.
const workingPoolSize = 10;
// While one waits for the disk another one gets its statements done; with more the batches become smaller.
const joinedAtOnce = 2;
// The server's own limit, for a gateway that froze or was cut off in the middle of a transaction and would keep its locks.
const serverLimitMs = 5000;
// Creations of jobs are told together: NOTIFY inside their transactions would make those commit one after the other.
const tellWorkEveryMs = 20;
const superviseEveryMs = 3000;
// After an outage all holders seem to be silent. Those that live speak up within this time.
const superviseAfterOutageMs = 8000;

export interface PostgresStorageOptions {
  readonly databaseUrl: string;
  readonly log: Log;
  /** Whether work is taken here: then this process also looks after work whose holder died. */
  readonly works?: boolean;
}

export async function openPostgres(options: PostgresStorageOptions): Promise<Storage> {
  const { databaseUrl, log } = options;
  const { openBoss } = await import("./boss-queue.ts");
  const boss = openBoss(() => link.pool);
  const listeners: Record<Topic, (() => void)[]> = { keys: [], run: [], deliver: [] };
  const poolSize = options.works === true ? workingPoolSize : defaultPoolSize;
  let link = openLink(databaseUrl, poolSize, boss.createQueue);
  let isHealthy = false;
  let healthySince = 0;
  let isClosed = false;
  let lateProbes = 0;
  let keyRevision: bigint | undefined;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let tellTimer: ReturnType<typeof setTimeout> | null = null;
  let toldWorkAt = 0;
  const untold = new Set<WorkKind>();
  let isSupervising = false;
  let superviseError: unknown = null;

  for (let attempt = 1; attempt <= firstProbes && !isHealthy; attempt += 1) await probe();
  if (!isHealthy) {
    closeLink(link);
    throw new Error(`${describePostgres(databaseUrl)} does not answer. Check that the server runs.`);
  }
  try {
    await boss.prepare();
  } catch (error) {
    closeLink(link);
    throw toStorageError(error);
  }
  watch();
  const supervision = options.works === true ? setInterval(supervise, superviseEveryMs) : null;
  supervision?.unref();

  function announce(topic: Topic): void {
    for (const listener of listeners[topic]) listener();
  }

  /** After a reconnect too: what was sent in between is lost, so everything may have changed. */
  function announceAll(): void {
    announce("keys");
    for (const kind of workKinds) announce(kind);
  }

  /** To this process at once, to the others with the next notification. */
  function tellWork(kind: WorkKind): void {
    announce(kind);
    untold.add(kind);
    if (tellTimer !== null) return;
    const waitMs = Math.max(0, toldWorkAt + tellWorkEveryMs - Date.now());
    tellTimer = setTimeout(() => {
      tellTimer = null;
      toldWorkAt = Date.now();
      // Whoever misses it asks for work before long.
      for (const one of untold) if (isHealthy) link.pool.sql`select pg_notify(${channel}, ${one})`.catch(() => {});
      untold.clear();
    }, waitMs);
    tellTimer.unref();
  }

  async function supervise(): Promise<void> {
    if (isSupervising || !isHealthy || Date.now() - healthySince < superviseAfterOutageMs) return;
    isSupervising = true;
    try {
      await boss.supervise();
      superviseError = null;
    } catch (error) {
      // An outage is reported where it is noticed. What is wrong here otherwise is said once.
      const isNews = superviseError === null && isHealthy && !isClosed && !isOutage(error);
      superviseError = error;
      if (isNews) log.error("Work of workers that died cannot be given to others", { error });
    } finally {
      isSupervising = false;
    }
  }

  /** Asks for the revisions: the answer proves that the server is there, and shows changes that a lost LISTEN would miss. */
  async function probe(): Promise<void> {
    const asked = link;
    try {
      const revisions = await withStoreDeadline(probeDeadlineMs, (signal) =>
        readRevisions.run(asked.watcher.withSignal(signal)),
      );
      if (isClosed) return;
      if (!isHealthy && keyRevision !== undefined) log.info("PostgreSQL answers again");
      if (!isHealthy) healthySince = Date.now();
      isHealthy = true;
      lateProbes = 0;
      const before = keyRevision;
      keyRevision = revisions.get("keys") ?? 0n;
      if (before !== keyRevision) announce("keys");
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
    const receive = (topic: string) => announce(isWorkKind(topic) ? topic : "keys");
    target.watcher.client.listen(channel, receive, announceAll).catch((error) => {
      target.isListening = false;
      if (!isClosed && target === link) log.debug("LISTEN failed; changes are seen by asking", { error });
    });
  }

  function replaceLink(): void {
    lateProbes = 0;
    closeLink(link);
    link = openLink(databaseUrl, poolSize, boss.createQueue);
  }

  async function run({ store, name, args, deadlineMs }: OperationCall): Promise<unknown> {
    // Waiting would only pile up callers behind a server that is known to be away.
    if (!isHealthy) throw toUnavailable();
    const { pool } = link;
    const operation = findOperation(store, name);
    try {
      const result = await withStoreDeadline(deadlineMs, (signal) =>
        // What is joined looks up lists: a transaction has the settings for that.
        operation.mode === "write" || isJoined(operation)
          ? runTransaction(pool, operation, args, signal)
          : operation.run(pool.withSignal(signal), ...args),
      );
      if (operation.changes !== null && operation.changes !== "keys") tellWork(operation.changes);
      return result;
    } catch (error) {
      throw toStorageError(error);
    }
  }

  return {
    ...buildStores(run, { atOnce: joinedAtOnce, isAway: () => !isHealthy }),
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
      if (tellTimer !== null) clearTimeout(tellTimer);
      if (supervision !== null) clearInterval(supervision);
      await Promise.all([link.pool.client.close({ timeout: 1 }), link.watcher.client.close({ timeout: 0 })]);
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
    // For this transaction only: settings of the session do not survive a connection pooler in front of the server.
    //
    // Nothing but indexes is considered. A plan is kept, and tables that were short when it was made, or are short most of the time as
    // a queue is, would be read through from then on. And rows are locked in the order of the index by all that lock several: they
    // never wait for each other.
    const settings = sql`
      select set_config('statement_timeout', ${String(serverLimitMs)}, true),
             set_config('idle_in_transaction_session_timeout', ${String(serverLimitMs)}, true),
             set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
             set_config('enable_sort', 'off', true)`;
    // Sent together with the first statement of the operation.
    const [, result] = await together(settings, operation.run(sql, ...args));
    if (operation.changes === "keys") await sql`select pg_notify(${channel}, ${operation.changes})`;
    return result;
  }, signal);
}

function openLink(databaseUrl: string, poolSize: number, createQueue: CreateQueue): Link {
  const maxConnections = Number(new URL(databaseUrl).searchParams.get("max")) || poolSize;
  return {
    pool: connectPostgres(databaseUrl, { maxConnections, connectTimeoutSeconds: 5, createQueue }),
    watcher: connectPostgres(databaseUrl, { maxConnections: 1, connectTimeoutSeconds: 1 }),
    isListening: false,
  };
}

/** At once: the queries that still wait on it were answered with an outage already. */
function closeLink(link: Link): void {
  for (const { client } of [link.pool, link.watcher]) client.close({ timeout: 0 }).catch(() => {});
}
