// SQLite as a store: sends every call to the thread that holds the connection (sqlite-worker.ts).

import { endsWithin, untilAborted, withDeadline } from "../lib/deadline.ts";
import { warnAboutNetworkDisk } from "./data-dir.ts";
import { toUnavailable } from "./outage.ts";
import { type AnnouncedTopic, type FromWorker, type ToWorker, unpackError } from "./sqlite-messages.ts";
import { buildStores, defaultDeadlineMs, type Storage, type StorageOptions } from "./stores.ts";
import { workKinds } from "./work-queue.ts";

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

// One transaction is written while the next one is on its way to the thread.
const maxTransactions = 2;
const probeEveryMs = 1000;
const openDeadlineMs = 10_000;
const restartAfterMs = 250;

export async function openSqlite(options: StorageOptions): Promise<Storage> {
  const { dataDir, log, metrics, deadlineMs = defaultDeadlineMs } = options;
  const pending = new Map<number, Pending>();
  const listeners: Record<AnnouncedTopic, (() => void)[]> = { keys: [], work: [] };
  let nextId = 1;
  let isHealthy = false;
  let isClosed = false;
  let worker: Worker | null = null;

  warnAboutNetworkDisk(dataDir, log);
  worker = await start();
  const probe = setInterval(() => {
    ask((id) => ({ type: "probe", id })).then(
      () => {
        isHealthy = true;
      },
      () => {
        isHealthy = false;
      },
    );
  }, probeEveryMs);
  probe.unref();

  async function start(): Promise<Worker> {
    const started = new Worker(new URL("./sqlite-worker.ts", import.meta.url));
    const opened = Promise.withResolvers<void>();
    started.onmessage = (event: MessageEvent<FromWorker>) => {
      const message = event.data;
      if (message.type === "opened") return opened.resolve();
      if (message.type === "failed") {
        opened.reject(unpackError(message.error));
        return restart(started, unpackError(message.error));
      }
      receive(message);
    };
    started.onerror = (event) => {
      opened.reject(new Error(event.message));
      restart(started, new Error(event.message));
    };
    // Shorter than the deadline of an operation, so that a locked file is reported as such and not as a timeout.
    send(started, { type: "open", dataDir, lockTimeoutMs: deadlineMs * 0.8 });
    const reason = () => new Error(`SQLite did not open the database within ${openDeadlineMs / 1000} seconds`);
    try {
      await withDeadline({ timeoutMs: openDeadlineMs, reason }, (signal) => untilAborted(opened.promise, signal));
      isHealthy = true;
      return started;
    } catch (error) {
      started.terminate();
      throw error;
    }
  }

  /** Replaces a thread that failed. The file is intact; the waiting calls fail with a 503 and may be repeated. */
  function restart(broken: Worker, error: Error): void {
    if (broken !== worker || isClosed) return;
    log.error("The storage thread failed; starting a new one", { error });
    worker = null;
    isHealthy = false;
    broken.terminate();
    for (const id of pending.keys()) settle(id)?.reject(toUnavailable(error));
    const retry = () => {
      if (isClosed) return;
      start().then(
        (started) => {
          worker = started;
          if (isClosed) return started.terminate();
          if (listeners.work.length > 0) send(started, { type: "watch-work" });
          for (const listener of [...listeners.keys, ...listeners.work]) listener();
        },
        (cause) => {
          log.error("The storage thread could not be started", { error: cause });
          setTimeout(retry, restartAfterMs).unref();
        },
      );
    };
    setTimeout(retry, restartAfterMs).unref();
  }

  function receive(message: FromWorker): void {
    if (message.type === "result") settle(message.id)?.resolve(message.value);
    if (message.type === "error") settle(message.id)?.reject(unpackError(message.error));
    if (message.type === "changed") for (const listener of listeners[message.topic]) listener();
  }

  function settle(id: number): Pending | undefined {
    const found = pending.get(id);
    pending.delete(id);
    clearTimeout(found?.timer);
    return found;
  }

  function ask(toMessage: (id: number) => ToWorker, timeoutMs = deadlineMs): Promise<unknown> {
    const target = worker;
    if (target === null || isClosed) return Promise.reject(toUnavailable());
    const id = nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(id)?.reject(toUnavailable()), timeoutMs);
      pending.set(id, { resolve, reject, timer });
      send(target, toMessage(id));
    });
  }

  const stores = buildStores(
    ({ store, name, args, deadlineMs: timeoutMs }) => {
      // The thread's deadline is a little earlier, so that it does not start a call that is reported as failed here.
      const deadline = Date.now() + timeoutMs - 100;
      return ask((id) => ({ type: "call", id, store, name, args, deadline }), timeoutMs);
    },
    { maxTransactions, isDown: () => false, deadlineMs, metrics },
  );

  return {
    ...stores,
    onKeysChanged: (listener) => {
      listeners.keys.push(listener);
    },
    onWork: (listener) => {
      // A commit does not show which kind of work it added.
      for (const kind of workKinds) listeners.work.push(() => listener(kind));
      if (worker !== null) send(worker, { type: "watch-work" });
    },
    isHealthy: () => isHealthy,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      isHealthy = false;
      clearInterval(probe);
      if (worker !== null) await closeWorker(worker);
      for (const id of pending.keys()) settle(id)?.reject(toUnavailable());
    },
  };

  /** Waits for the calls that were sent, within the deadline of an operation. */
  async function closeWorker(target: Worker): Promise<void> {
    const closed = Promise.withResolvers<void>();
    const forward = target.onmessage;
    target.onmessage = (event: MessageEvent<FromWorker>) => {
      if (event.data.type === "closed") return closed.resolve();
      forward?.call(target, event);
    };
    send(target, { type: "close" });
    await endsWithin(closed.promise, deadlineMs);
    target.terminate();
  }
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}
