// The thread that holds the SQLite connection, because fsync blocks and must not block requests. Waiting writes are committed together,
// each in its own savepoint, so that a failing write does not roll back the others.

import { Database as SqliteFile } from "bun:sqlite";
import { connectSqlite } from "./connect.ts";
import { databaseFile } from "./data-dir.ts";
import { type Operation, readRevisions } from "./operation.ts";
import { toStorageError, toUnavailable } from "./outage.ts";
import type { Database } from "./sql.ts";
import { type FromWorker, packError, type ToWorker } from "./sqlite-messages.ts";
import { type AnyOperation, findOperation } from "./stores.ts";

interface Waiting {
  readonly id: number;
  readonly deadline: number;
  readonly operation: AnyOperation;
  readonly args: readonly unknown[];
}

// A poll takes about 40 µs. Changes of keys wait for it: see `propagationMs` in access/keys.ts.
const pollEveryMs = 40;
// A larger transaction would delay its first calls.
const maxCalls = 256;

declare const self: Worker & { postMessage(message: FromWorker): void };

async function serve(dataDir: string, lockTimeoutMs: number): Promise<(message: ToWorker) => void> {
  const database = await connectSqlite(dataDir, lockTimeoutMs);
  // Reads need no lock. With a connection of their own, they do not wait for writes that do.
  const reader = await connectSqlite(dataDir, lockTimeoutMs);
  let reading = 0;
  const waiting: Waiting[] = [];
  let isRunning = false;
  let isClosing = false;
  let isPollDue = false;
  let isWorkWatched = false;
  // `data_version` only changes with commits of other connections, so watching the commits of this process needs a second connection.
  const watcher = new SqliteFile(databaseFile(dataDir), { readonly: true });
  const dataVersion = watcher.query<{ data_version: number }, []>("pragma data_version");
  let seenVersion = dataVersion.get()?.data_version;
  let revisions = await readRevisions.run(database.sql);
  const poll = setInterval(() => {
    const version = dataVersion.get()?.data_version;
    if (version === seenVersion) return;
    seenVersion = version;
    if (isWorkWatched) post({ type: "changed", topic: "work" });
    isPollDue = true;
    wake();
  }, pollEveryMs);

  function wake(): void {
    if (isRunning) return;
    isRunning = true;
    // In the next turn of the event loop, all messages that were sent together have arrived.
    setImmediate(() => {
      runWaiting().catch((error) => post({ type: "failed", error: packError(error) }));
    });
  }

  async function runWaiting(): Promise<void> {
    while (waiting.length > 0 || isPollDue) {
      await runWrites(database, waiting.splice(0, maxCalls));
      if (isPollDue) await announceChanges();
    }
    isRunning = false;
    if (isClosing) await close();
  }

  async function read(item: Waiting): Promise<void> {
    reading += 1;
    await runRead(reader, item);
    reading -= 1;
    if (isClosing) wake();
  }

  async function close(): Promise<void> {
    if (reading > 0) return;
    clearInterval(poll);
    watcher.close();
    await Promise.all([database.client.close(), reader.client.close()]);
    post({ type: "closed" });
  }

  /** After a commit, the revisions of the topics show what has changed. */
  async function announceChanges(): Promise<void> {
    isPollDue = false;
    const current = await readRevisions.run(database.sql);
    for (const [topic, revision] of current) {
      if (topic === "keys" && revisions.get(topic) !== revision) post({ type: "changed", topic });
    }
    revisions = current;
  }

  return (message) => {
    if (message.type === "close") isClosing = true;
    if (message.type === "watch-work") isWorkWatched = true;
    if (message.type === "call") {
      const { id, deadline, args } = message;
      const item = { id, deadline, args, operation: findOperation(message.store, message.name) };
      if (item.operation.mode === "read") void read(item);
      else waiting.push(item);
    }
    if (message.type === "probe") {
      const operation: Operation<readonly unknown[], unknown> = readRevisions;
      void read({ id: message.id, deadline: Number.POSITIVE_INFINITY, args: [], operation });
    }
    wake();
  };
}

async function runWrites(database: Database, group: readonly Waiting[]): Promise<void> {
  const answers: FromWorker[] = [];
  if (group.length === 0) return;
  try {
    await database.transaction(async (sql) => {
      for (const { id, operation, args, deadline } of group) {
        try {
          // Checked here, because waiting for the lock of the file may have used up the time.
          if (Date.now() >= deadline) throw toUnavailable();
          const value = await sql.savepoint((inner) => operation.run(inner, ...args));
          answers.push({ type: "result", id, value });
        } catch (error) {
          answers.push({ type: "error", id, error: packError(toStorageError(error)) });
        }
      }
    });
  } catch (error) {
    // Nothing was committed, so the writes that seemed to succeed have failed, too.
    for (const { id } of group) post({ type: "error", id, error: packError(toStorageError(error)) });
    return;
  }
  for (const answer of answers) post(answer);
}

async function runRead(database: Database, item: Waiting): Promise<void> {
  try {
    if (Date.now() >= item.deadline) throw toUnavailable();
    post({ type: "result", id: item.id, value: await item.operation.run(database.sql, ...item.args) });
  } catch (error) {
    post({ type: "error", id: item.id, error: packError(toStorageError(error)) });
  }
}

function post(message: FromWorker): void {
  self.postMessage(message);
}

self.onmessage = (first: MessageEvent<ToWorker>) => {
  if (first.data.type !== "open") return;
  serve(first.data.dataDir, first.data.lockTimeoutMs).then(
    (receive) => {
      self.onmessage = (event: MessageEvent<ToWorker>) => receive(event.data);
      post({ type: "opened" });
    },
    (error) => post({ type: "failed", error: packError(error) }),
  );
};
