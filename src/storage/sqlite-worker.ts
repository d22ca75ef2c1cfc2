// The thread that holds the SQLite connection: fsync blocks, and must not block requests. Writes that wait together are
// committed together, each in its own savepoint, so that one that fails does not take the others with it.

import { Database as SqliteFile } from "bun:sqlite";
import { connectSqlite } from "./connect.ts";
import { databaseFile } from "./data-dir.ts";
import { type Operation, readRevisions } from "./operation.ts";
import { toStorageError, toUnavailable } from "./outage.ts";
import type { Database } from "./sql.ts";
import { packError } from "./sqlite-errors.ts";
import { type AnyOperation, findOperation } from "./stores.ts";

export type ToWorker =
  | { readonly type: "open"; readonly dataDir: string }
  | {
      readonly type: "call";
      readonly id: number;
      readonly store: string;
      readonly name: string;
      readonly args: readonly unknown[];
      /** Epoch milliseconds. What has not begun by then is not begun. */
      readonly deadline: number;
    }
  | { readonly type: "probe"; readonly id: number }
  /** From now on every commit is told, whoever made it: work may have come with it. */
  | { readonly type: "watch-work" }
  | { readonly type: "close" };

export type FromWorker =
  | { readonly type: "opened" }
  | { readonly type: "result"; readonly id: number; readonly value: unknown }
  | { readonly type: "error"; readonly id: number; readonly error: ReturnType<typeof packError> }
  | { readonly type: "failed"; readonly error: ReturnType<typeof packError> }
  | { readonly type: "changed"; readonly topic: Announced }
  | { readonly type: "closed" };

/** Changes of keys have revisions; whatever else was committed may be work. */
export type Announced = "keys" | "work";

interface Waiting {
  readonly id: number;
  readonly deadline: number;
  readonly operation: AnyOperation;
  readonly args: readonly unknown[];
}

// A poll costs some 40 microseconds. Keys wait for it: see `othersHearWithinMs` of the keyring.
const pollEveryMs = 40;
// A larger group would make the first of it wait for the last.
const largestGroup = 256;

declare const self: Worker & { postMessage(message: FromWorker): void };

async function serve(dataDir: string): Promise<(message: ToWorker) => void> {
  const database = await connectSqlite(dataDir);
  const waiting: Waiting[] = [];
  let isPumping = false;
  let isClosing = false;
  let isPollDue = false;
  let isWorkWatched = false;
  // A connection of its own, for which every commit is somebody else's: it moves with those of this process too.
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
    if (isPumping) return;
    isPumping = true;
    // One turn later, everything that was sent together has arrived.
    setImmediate(() => {
      pump().catch((error) => post({ type: "failed", error: packError(error) }));
    });
  }

  async function pump(): Promise<void> {
    while (waiting.length > 0 || isPollDue) {
      const group = waiting.splice(0, largestGroup);
      await runWrites(
        database,
        group.filter((item) => item.operation.mode === "write"),
      );
      for (const item of group) if (item.operation.mode === "read") await runRead(database, item);
      if (isPollDue) await noticeChanges();
    }
    isPumping = false;
    if (!isClosing) return;
    clearInterval(poll);
    watcher.close();
    await database.client.close();
    post({ type: "closed" });
  }

  /** Something was committed; the topics say whether it concerns anyone. */
  async function noticeChanges(): Promise<void> {
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
      waiting.push({ id, deadline, args, operation: findOperation(message.store, message.name) });
    }
    if (message.type === "probe") {
      const operation: Operation<readonly unknown[], unknown> = readRevisions;
      waiting.push({ id: message.id, deadline: Number.POSITIVE_INFINITY, args: [], operation });
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
          // Here and not before: waiting for the file's lock may have taken the time that was left.
          if (Date.now() >= deadline) throw toUnavailable();
          const value = await sql.savepoint((inner) => operation.run(inner, ...args));
          answers.push({ type: "result", id, value });
        } catch (error) {
          answers.push({ type: "error", id, error: packError(toStorageError(error)) });
        }
      }
    });
  } catch (error) {
    // Nothing was committed, so nothing that seemed to succeed did.
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
  serve(first.data.dataDir).then(
    (receive) => {
      self.onmessage = (event: MessageEvent<ToWorker>) => receive(event.data);
      post({ type: "opened" });
    },
    (error) => post({ type: "failed", error: packError(error) }),
  );
};
