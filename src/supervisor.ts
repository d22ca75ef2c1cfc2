// The parent of the serving processes, one per core, sharing the port, and of the working ones, which run jobs. It restarts one
// that died, replaces them one by one on SIGHUP, and drains them on SIGTERM. It serves nothing itself, so that nothing a request
// does can end it.

import { type Config, childEnvironment } from "./config.ts";
import type { Log } from "./log.ts";

export type ProcessKind = "serving" | "working";

interface Child {
  readonly kind: ProcessKind;
  readonly process: Bun.Subprocess;
  readonly startedAt: number;
  readonly ready: Promise<boolean>;
  /** It was told to go: its end is no accident. */
  leaving: boolean;
}

export interface Supervisor {
  /** Resolves when the first processes are ready; false when one of them could not start. */
  readonly ready: Promise<boolean>;
  /** Replaces every process, each only after its successor is ready. */
  replaceAll(): Promise<void>;
  stop(): Promise<void>;
}

const readyWithinMs = 15_000;
const slowestRestartMs = 5_000;
const firstRestartMs = 100;
// A process that lived this long did not die of its own start.
const healthyAfterMs = 10_000;
// On top of the drain's own bounds, before a process that does not end is ended.
const stopMarginMs = 2_000;

export interface SupervisorOptions {
  readonly config: Config;
  /** Starts one process: the name of its command is added. */
  readonly command: readonly string[];
  readonly counts: Readonly<Record<ProcessKind, number>>;
  readonly log: Log;
}

export function startSupervisor({ config, command, counts, log }: SupervisorOptions): Supervisor {
  const children = new Set<Child>();
  let stopping = false;
  let failures = 0;
  let replacing: Promise<void> | null = null;

  function spawn(kind: ProcessKind): Child {
    const ready = Promise.withResolvers<boolean>();
    const process = Bun.spawn([...command, `${kind}-process`], {
      env: childEnvironment(),
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      ipc: (message) => {
        if (message === "ready") ready.resolve(true);
      },
      onExit: (_, code, signal) => {
        ready.resolve(false);
        onExit(child, code, signal);
      },
    });
    const child: Child = { kind, process, startedAt: performance.now(), ready: ready.promise, leaving: false };
    children.add(child);
    return child;
  }

  function onExit(child: Child, code: number | null, signal: unknown): void {
    children.delete(child);
    if (child.leaving || stopping) return;
    failures = performance.now() - child.startedAt > healthyAfterMs ? 0 : failures + 1;
    const delayMs = Math.min(firstRestartMs * 2 ** Math.max(0, failures - 1), slowestRestartMs);
    log.error(`a ${child.kind} process ended`, { pid: child.process.pid, code, signal, restart_in_ms: delayMs });
    setTimeout(() => {
      if (!stopping) spawn(child.kind);
    }, delayMs);
  }

  async function retire(child: Child): Promise<void> {
    child.leaving = true;
    child.process.kill("SIGTERM");
    const boundMs = config.drainDelayMs + config.drainTimeoutMs + stopMarginMs;
    const timer = setTimeout(() => child.process.kill("SIGKILL"), boundMs);
    await child.process.exited;
    clearTimeout(timer);
  }

  async function replaceAll(): Promise<void> {
    const olds = [...children];
    for (const old of olds) {
      if (stopping) return;
      const successor = spawn(old.kind);
      const isReady = await Promise.race([successor.ready, Bun.sleep(readyWithinMs).then(() => false)]);
      if (!isReady) {
        log.error(`a new ${old.kind} process did not start; the old ones go on`, { pid: successor.process.pid });
        successor.leaving = true;
        successor.process.kill("SIGKILL");
        return;
      }
      void retire(old);
    }
    log.info("processes were replaced", { count: olds.length });
  }

  const begin = (kind: ProcessKind) => {
    const started = Array.from({ length: counts[kind] }, () => spawn(kind));
    return Promise.all(started.map((child) => child.ready)).then((all) => all.every(Boolean));
  };
  // Whoever calls waits for nothing but the door: what works behind it starts when that is open.
  const open = begin("serving");
  const working = open.then((isOpen) => (isOpen && !stopping ? begin("working") : isOpen));
  return {
    ready: counts.serving > 0 ? open : working,
    replaceAll() {
      replacing ??= replaceAll().finally(() => {
        replacing = null;
      });
      return replacing;
    },
    async stop() {
      stopping = true;
      await Promise.all([...children].map(retire));
    },
  };
}
