// The parent of the serving processes, one per core, which share the port, of the worker processes, which run jobs, and of the engine process,
// which runs local engines for both. It reads the configuration and sends it to every process that it starts. It restarts a process that died, reloads on SIGHUP, and drains all
// processes on SIGTERM. It serves no request itself, so that no request can crash it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCounterFile, openCounterFile, sharedEntries } from "./access/counter-table.ts";
import type { GatewayIdentity } from "./access/rate-shares.ts";
import type { CounterPlace } from "./access/shared-counters.ts";
import { type Config, type ConfigSnapshot, childEnvironment, toSnapshot } from "./config.ts";
import { messageOf } from "./errors.ts";
import { endsWithin, untilAborted, withDeadline } from "./lib/deadline.ts";
import type { Log } from "./log.ts";
import { createMetricsCollector, type MetricsMessage, type MetricsReport } from "./metrics/metrics-link.ts";

export type ProcessKind = "serving" | "worker";
export type ProcessCounts = Readonly<Record<ProcessKind, number>>;

/** The first message to a process. */
export interface ProcessOrder {
  readonly config: ConfigSnapshot;
  /** Where the engine process listens. */
  readonly engineSocket: string;
  /** The counters that all processes share; null when there is no room for this process. */
  readonly counters: CounterPlace | null;
  /** How other gateways on the same database know this one. */
  readonly gateway: GatewayIdentity;
}

/** What a process receives from its supervisor, the order first. `serve`: it may listen, or take jobs. */
export type ProcessMessage = ProcessOrder | "serve" | MetricsMessage;

/** What a process reports to its supervisor. */
export type ProcessReport =
  | MetricsReport
  /** The process is complete and waits for permission to listen or to take jobs. */
  | { readonly state: "prepared" }
  | { readonly state: "ready" }
  | ({ readonly state: "failed" } & StartFailure)
  /** The engine process does not run. It is started on demand, because many gateways never need it. */
  | { readonly state: "needs-engines" };

export interface StartFailure {
  readonly message: string;
  /** A setting is wrong. */
  readonly isConfiguration: boolean;
}

/** The processes that run one configuration. */
interface Generation {
  readonly config: Config;
  readonly counts: ProcessCounts;
  readonly engineSocket: string;
}

interface Child {
  readonly kind: ProcessKind | "engine";
  readonly generation: Generation;
  readonly process: Bun.Subprocess;
  readonly startedAt: number;
  /** False when the process ended first. */
  readonly prepared: Promise<boolean>;
  readonly ready: Promise<boolean>;
  isReady: boolean;
  failure: StartFailure | null;
  /** The supervisor has stopped it: its exit is expected. */
  isStopping: boolean;
}

const startTimeoutMs = 30_000;
const maxStartAttempts = 3;
const firstRestartDelayMs = 100;
const maxRestartDelayMs = 5_000;
// A process that ran for this long started correctly, so its exit does not count as a failed start.
const healthyAfterMs = 10_000;
// Added to the drain timeouts, before a process that does not end is killed.
const stopMarginMs = 2_000;
// Processes of several configurations run at the same time, as long as older ones drain.
const minSlots = 32;
const slotsPerProcess = 4;
// Limits the buffer for a line without an end.
const maxLineLength = 8_192;

export interface SupervisorOptions {
  readonly config: Config;
  /** Reads and checks the configuration again. Throws when it is invalid. */
  readonly read: (current: Config) => Config;
  /** Starts a process; the name of the process is appended. */
  readonly command: readonly string[];
  readonly count: (config: Config) => ProcessCounts;
  readonly log: Log;
}

export type Supervisor = ReturnType<typeof startSupervisor>;

export function startSupervisor({ config, read, command, count, log }: SupervisorOptions) {
  const children = new Set<Child>();
  const metrics = createMetricsCollector(() =>
    [...children].filter(({ kind, isReady }) => kind !== "engine" && isReady).map((child) => child.process),
  );
  // Only this user can enter the folder.
  const socketFolder = mkdtempSync(join(tmpdir(), "switchyard-"));
  const slots = openSlots(join(socketFolder, "counters"), count(config));
  const gatewayId = crypto.randomUUID();
  let generations = 0;
  let current = createGeneration(config);
  let hasStarted = false;
  let stopping = false;
  let failures = 0;
  let reloading: Promise<void> | null = null;
  let reloadAgain = false;

  function createGeneration(config: Config): Generation {
    const engineSocket = join(socketFolder, `engines-${++generations}.sock`);
    return { config, counts: count(config), engineSocket };
  }

  function spawn(kind: Child["kind"], generation: Generation): Child {
    const slot = kind === "engine" ? null : slots.take();
    if (slot === null && kind !== "engine")
      log.warn("too many processes run at the same time: one of them counts its requests alone");
    const prepared = Promise.withResolvers<boolean>();
    const ready = Promise.withResolvers<boolean>();
    const process = Bun.spawn([...command, `${kind}-process`], {
      env: childEnvironment(),
      stdin: "ignore",
      stdout: "inherit",
      stderr: "pipe",
      ipc: (report: ProcessReport) => {
        if (report.state === "prepared") prepared.resolve(true);
        else if (report.state === "ready") {
          child.isReady = true;
          ready.resolve(true);
        } else if (report.state === "needs-engines") startEngines(generation);
        else if (report.state === "metrics" || report.state === "wants-metrics") metrics.receive(process, report);
        else child.failure = { message: report.message, isConfiguration: report.isConfiguration };
      },
      onExit: (_, code, signal) => {
        prepared.resolve(false);
        ready.resolve(false);
        if (slot !== null) slots.release(slot);
        metrics.forget(process);
        onExit(child, code, signal);
      },
    });
    const child: Child = {
      kind,
      generation,
      process,
      startedAt: performance.now(),
      prepared: prepared.promise,
      ready: ready.promise,
      isReady: false,
      failure: null,
      isStopping: false,
    };
    children.add(child);
    const { engineSocket } = generation;
    const counters = slot === null ? null : { path: slots.path, slot };
    const gateway = { id: gatewayId, serves: generation.counts.serving > 0 };
    process.send({ config: toSnapshot(generation.config), engineSocket, counters, gateway } satisfies ProcessOrder);
    void forwardLines(process.stderr, (line) => log.warn("output of a process", { pid: process.pid, output: line }));
    return child;
  }

  /** The process serves as soon as it is prepared. */
  function launch(kind: Child["kind"], generation = current): Child {
    const child = spawn(kind, generation);
    void child.prepared.then((isPrepared) => isPrepared && permit(child));
    return child;
  }

  /** Each configuration has an engine process of its own. */
  function startEngines(generation: Generation): void {
    const isRunning = [...children].some((child) => child.kind === "engine" && child.generation === generation);
    if (!isRunning && !stopping) launch("engine", generation);
  }

  function onExit(child: Child, code: number | null, signal: unknown): void {
    children.delete(child);
    if (child.isStopping || stopping || child.generation !== current) return;
    const { pid } = child.process;
    const { kind } = child;
    if (kind === "engine") {
      // The next local task starts another one.
      if (code !== 0) log.error("the engine process ended", { pid, code, signal, error: child.failure?.message });
      return;
    }
    // During the start, `startOne` handles a process that ended before it was ready.
    if (!hasStarted && !child.isReady) return;
    failures = performance.now() - child.startedAt > healthyAfterMs ? 0 : failures + 1;
    const delayMs = Math.min(firstRestartDelayMs * 2 ** Math.max(0, failures - 1), maxRestartDelayMs);
    const error = child.failure?.message;
    const fields = { pid, code, signal, restart_in_ms: delayMs, ...(error === undefined ? {} : { error }) };
    log.error(`a ${kind} process ended`, fields);
    setTimeout(() => {
      if (!stopping && child.generation === current) launch(kind);
    }, delayMs);
  }

  async function retire(child: Child): Promise<void> {
    if (!child.isStopping) child.process.kill("SIGTERM");
    child.isStopping = true;
    const { drainDelayMs, drainTimeoutMs } = child.generation.config;
    const { process } = child;
    if (!(await endsWithin(process.exited, drainDelayMs + drainTimeoutMs + stopMarginMs))) process.kill("SIGKILL");
    await process.exited;
  }

  /** The engine process last, because the others may still be running tasks. */
  async function retireAll(isOld: (child: Child) => boolean): Promise<void> {
    const retireKind = (isEngine: boolean) =>
      Promise.all([...children].filter((child) => isOld(child) && (child.kind === "engine") === isEngine).map(retire));
    await retireKind(false);
    await retireKind(true);
  }

  async function reload(): Promise<void> {
    let next: Generation;
    try {
      next = createGeneration(read(current.config));
    } catch (error) {
      log.error("the new configuration is invalid; all processes keep the current one", { error: messageOf(error) });
      return;
    }
    const successors = (["serving", "worker"] as const).flatMap((kind) =>
      Array.from({ length: next.counts[kind] }, () => spawn(kind, next)),
    );
    const isActive = await activate(successors);
    if (stopping) return;
    if (!isActive) {
      const error = successors.find(({ failure }) => failure !== null)?.failure?.message ?? "a process did not start";
      log.error("the new configuration could not be started; all processes keep the current one", { error });
      await Promise.all(successors.map(retire));
      return;
    }
    current = next;
    void retireAll(({ generation }) => generation !== next);
    log.info("the configuration was reloaded", { file: next.config.file, processes: successors.length });
  }

  /** No process listens before all are prepared, so that two configurations never serve side by side after a failure. */
  async function activate(successors: readonly Child[]): Promise<boolean> {
    return await withDeadline({ timeoutMs: startTimeoutMs }, async (signal) => {
      const all = async (states: readonly Promise<boolean>[]) =>
        (await untilAborted(Promise.all(states), signal)).every(Boolean);
      if (!(await all(successors.map(({ prepared }) => prepared))) || stopping) return false;
      for (const successor of successors) permit(successor);
      return (await all(successors.map(({ ready }) => ready))) && successors.every((one) => children.has(one));
    }).catch(() => false);
  }

  async function begin(kind: ProcessKind): Promise<StartFailure | null> {
    const outcomes = await Promise.all(Array.from({ length: current.counts[kind] }, () => startOne(kind)));
    return outcomes.find((failure) => failure !== null) ?? null;
  }

  /** A process that reports why it cannot start is not started again. A process that was killed during its start is. */
  async function startOne(kind: ProcessKind): Promise<StartFailure | null> {
    for (let attempt = 1; attempt <= maxStartAttempts; attempt++) {
      const child = launch(kind);
      if ((await child.ready) || stopping) return null;
      if (child.failure !== null) return child.failure;
      log.error(`a ${kind} process ended while it was starting`, { pid: child.process.pid, attempt });
    }
    return { message: `A ${kind} process ended while it was starting.`, isConfiguration: false };
  }

  async function start(): Promise<StartFailure | null> {
    const first = current.counts.serving > 0 ? "serving" : "worker";
    const failure = await begin(first);
    hasStarted = failure === null;
    // The first request does not wait for the worker processes.
    if (hasStarted && !stopping && first === "serving")
      for (let started = 0; started < current.counts.worker; started++) launch("worker");
    return failure;
  }

  return {
    /** Resolves when the first processes are ready: with null, or with the reason why one of them could not start. */
    ready: start(),
    /** Either all processes change to the configuration that `read` returns now, or none does. */
    reload(): Promise<void> {
      // A signal during a reload may announce a newer file, so the file is read again afterwards.
      reloadAgain = reloading !== null;
      reloading ??= (async () => {
        do {
          reloadAgain = false;
          await reload();
        } while (reloadAgain && !stopping);
      })().finally(() => {
        reloading = null;
      });
      return reloading;
    },
    async stop(): Promise<void> {
      stopping = true;
      await retireAll(() => true);
      rmSync(socketFolder, { recursive: true, force: true });
    },
  };
}

/** The table of counters, and which of its columns are free. It lives as long as the gateway, so reloads and restarts lose no count. */
function openSlots(path: string, counts: ProcessCounts) {
  const size = Math.max(minSlots, slotsPerProcess * (counts.serving + counts.worker));
  createCounterFile(path, { entries: sharedEntries, slots: size });
  const table = openCounterFile(path);
  const taken = new Set<number>();
  return {
    path,
    take(): number | null {
      const slot = Array.from({ length: size }, (_, index) => index).find((index) => !taken.has(index));
      if (slot === undefined) return null;
      taken.add(slot);
      table.useSlot(slot);
      return slot;
    },
    /** Call it after the process has ended: clears its counts of running requests. */
    release(slot: number): void {
      table.clearSlot(slot);
      taken.delete(slot);
    },
  };
}

function permit({ process }: Child): void {
  try {
    process.send("serve");
  } catch {
    // The process has ended; its exit is handled elsewhere.
  }
}

/** Forwards standard error line by line: plain text of a driver or of the runtime would break a log of JSON lines. */
async function forwardLines(output: ReadableStream<Uint8Array>, report: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of output) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, maxLineLength);
    for (const line of lines) if (line.trim() !== "") report(line);
  }
  if (rest.trim() !== "") report(rest);
}
