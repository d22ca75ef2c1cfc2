// The parent of the serving processes, one per core, which share the port, of the worker processes, which run jobs, and of the engine process,
// which runs local engines for both. It reads the configuration and sends it to every process that it starts. It restarts a process that died, reloads on SIGHUP, and drains all
// processes on SIGTERM. It serves no request itself, so that no request can crash it.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Config, childEnvironment, toSnapshot } from "./config.ts";
import type { Degradation, GatewayStatus, ServedConfiguration } from "./contract/health.ts";
import { messageOf } from "./errors.ts";
import { endsWithin, untilAborted, withDeadline } from "./lib/deadline.ts";
import type { HandoverMessage } from "./lib/handover.ts";
import { ActiveGeneration, generationFolder } from "./lib/handover.ts";
import type { Log } from "./log.ts";
import { createMetricsCollector } from "./metrics/metrics-link.ts";
import { forwardLines } from "./supervisor/forward-lines.ts";
import type {
  ProcessCounts,
  ProcessKind,
  ProcessMessage,
  ProcessReport,
  StartFailure,
  StartSummary,
} from "./supervisor/messages.ts";
import { createRunFolder } from "./supervisor/run-folder.ts";
import { openSlots } from "./supervisor/slots.ts";

export interface ReloadOutcome {
  readonly reloaded: boolean;
  /** Why the configuration was not changed. */
  readonly reason: string | null;
  /** A setting is wrong. */
  readonly isConfiguration: boolean;
  readonly configuration: ServedConfiguration;
}

/** The processes that run one configuration. */
interface Generation {
  readonly number: number;
  readonly config: Config;
  readonly counts: ProcessCounts;
  readonly engineSocket: string;
  readonly readAt: Date;
}

interface Child {
  readonly kind: ProcessKind | "engine";
  readonly generation: Generation;
  /** Its number among the processes of its kind and configuration. */
  readonly index: number;
  readonly process: Bun.Subprocess;
  readonly startedAt: number;
  /** False when the process ended first. */
  readonly prepared: Promise<boolean>;
  readonly ready: Promise<boolean>;
  /** It takes no further jobs, or accepts no further connections. Also when it has ended. */
  readonly closed: Promise<void>;
  /** The process has ended, and is no longer among the children. */
  readonly ended: Promise<void>;
  /** Called when the process has answered `steer`. */
  onSteered: () => void;
  isReady: boolean;
  failure: StartFailure | null;
  /** How the process ended, such as "exit code 1"; null while it runs. */
  ending: string | null;
  /** The supervisor has stopped it: its exit is expected. */
  isStopping: boolean;
}

type Steering = Extract<HandoverMessage, { readonly handover: "steer" }>["to"];

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

// Steering only avoids detours of new connections, so a process that does not answer does not hold up a reload.
const steerTimeoutMs = 1_000;
const endAtOnceMs = 1_000;
const maxStartAttempts = 3;
const restartDelayMs = { first: 100, longest: 5_000 };
// A process that ran for this long started correctly, so its exit does not count as a failed start.
const healthyAfterMs = 10_000;
// Added to the drain timeouts, before a process that does not end is killed.
const stopMarginMs = 2_000;
const engineFailureShownMs = 60_000;
const engineFailure = "The process of the local engines ended unexpectedly within the last minute.";
// Bounds the memory of reloads that follow each other while long requests of older configurations run.
const maxDrainingGenerations = 4;

export function startSupervisor({ config, read, command, count, log }: SupervisorOptions) {
  const children = new Set<Child>();
  const metrics = createMetricsCollector(() =>
    [...children].filter(({ isReady }) => isReady).map((child) => child.process),
  );
  const runFolder = createRunFolder({ log });
  const socketFolder = runFolder.path;
  // At most one configuration less than the limit drains while another one starts, beside the current one.
  const slots = openSlots(join(socketFolder, "counters"), totalOf(count(config)) * (maxDrainingGenerations + 1));
  // The processes of two configurations run during a reload.
  const maxProcesses = Math.floor(slots.size / 2);
  const active = ActiveGeneration.create(socketFolder);
  const gatewayId = crypto.randomUUID();
  let generations = 0;
  let current = createGeneration(config);
  active.set(current.number, current.counts.serving);
  /** As a serving process reported it; null until one has reported. */
  let summary: StartSummary | null = null;
  let hasStarted = false;
  let stopping = false;
  let failures = 0;
  let enginesFailedAt = Number.NEGATIVE_INFINITY;
  let reloading: Promise<ReloadOutcome> | null = null;
  let nextReload: Promise<ReloadOutcome> | null = null;
  /** The listeners of processes that were replaced, or that failed in a reload, are closed. */
  let listenersClosed: Promise<unknown> = Promise.resolve();
  /** No process of an earlier configuration takes jobs. */
  let mayWork: Promise<unknown> = Promise.resolve();

  function createGeneration(config: Config): Generation {
    const number = ++generations;
    const folder = generationFolder(socketFolder, number);
    mkdirSync(folder);
    return { number, config, counts: count(config), engineSocket: join(folder, "engines.sock"), readAt: new Date() };
  }

  /** Throws when the system refuses the process, for example because its memory is used up or the executable is being replaced. */
  function spawn(kind: Child["kind"], generation: Generation, index: number): Child {
    const slot = kind === "engine" ? null : slots.take();
    if (slot === null && kind !== "engine")
      log.warn("too many processes run at the same time: one of them counts its requests alone");
    try {
      return spawnWith(slot, { kind, generation, index });
    } catch (error) {
      if (slot !== null) slots.release(slot);
      throw error;
    }
  }

  function spawnWith(
    slot: number | null,
    { kind, generation, index }: Pick<Child, "kind" | "generation" | "index">,
  ): Child {
    const prepared = Promise.withResolvers<boolean>();
    const ready = Promise.withResolvers<boolean>();
    const closed = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const process = Bun.spawn([...command, `${kind}-process`], {
      env: childEnvironment(),
      stdin: "ignore",
      stdout: "inherit",
      stderr: "pipe",
      ipc: (report: ProcessReport) => {
        if (report.state === "prepared") prepared.resolve(true);
        else if (report.state === "ready") {
          child.isReady = true;
          summary = report.summary ?? summary;
          ready.resolve(true);
        } else if (report.state === "needs-engines") startEngines(generation);
        else if (report.state === "wants-status") trySend(child, { status: readStatus(), id: report.id });
        else if (report.state === "steered") child.onSteered();
        else if (report.state === "closed" || report.state === "stopping") closed.resolve();
        else if (report.state === "metrics" || report.state === "wants-metrics") metrics.receive(process, report);
        else {
          const { message, isConfiguration, isTemporary = false } = report;
          child.failure = { message, isConfiguration, isTemporary };
        }
      },
      onExit: (_, code, signal) => {
        prepared.resolve(false);
        ready.resolve(false);
        closed.resolve();
        if (slot !== null) slots.release(slot);
        metrics.forget(process);
        onExit(child, code, signal);
        ended.resolve();
      },
    });
    const child: Child = {
      kind,
      generation,
      index,
      process,
      startedAt: performance.now(),
      prepared: prepared.promise,
      ready: ready.promise,
      closed: closed.promise,
      ended: ended.promise,
      onSteered: () => {},
      isReady: false,
      failure: null,
      ending: null,
      isStopping: false,
    };
    children.add(child);
    const { engineSocket } = generation;
    const counters = slot === null ? null : { path: slots.path, slot };
    const gateway = { id: gatewayId, serves: generation.counts.serving > 0 };
    const handover = { folder: socketFolder, generation: generation.number, index };
    const settings = toSnapshot(generation.config);
    trySend(child, { config: settings, engineSocket, counters, gateway, handover });
    void forwardLines(process.stderr, (line) => log.warn("output of a process", { pid: process.pid, output: line }));
    return child;
  }

  /** The process serves as soon as it is prepared. */
  function launch(kind: Child["kind"], index: number, generation = current): Child {
    const child = spawn(kind, generation, index);
    void child.prepared.then(async (isPrepared) => {
      if (kind === "worker") await mayWork;
      if (isPrepared) permit(child);
    });
    return child;
  }

  /** Each configuration has an engine process of its own. */
  function startEngines(generation: Generation): void {
    const isRunning = [...children].some((child) => child.kind === "engine" && child.generation === generation);
    if (isRunning || stopping) return;
    try {
      launch("engine", 0, generation);
    } catch (error) {
      // A task that waits asks again every moment, so only the first refusal is logged.
      if (performance.now() - enginesFailedAt > restartDelayMs.longest) logRefused("engine", error);
      enginesFailedAt = performance.now();
    }
  }

  function logRefused(kind: Child["kind"], error: unknown, fields = {}): void {
    log.error(`${kind === "engine" ? "the" : "a"} ${kind} process could not be started`, {
      error: messageOf(error),
      ...fields,
    });
  }

  function onExit(child: Child, code: number | null, signal: unknown): void {
    children.delete(child);
    child.ending = code === null ? `signal ${String(signal)}` : `exit code ${code}`;
    if (child.isStopping || stopping || child.generation !== current) return;
    const { pid } = child.process;
    const { kind, index } = child;
    if (kind === "engine") {
      // The next local task starts another one.
      if (code !== 0) enginesFailedAt = performance.now();
      if (code !== 0) log.error("the engine process ended", { pid, code, signal, error: child.failure?.message });
      return;
    }
    // During the start, `startOne` handles a process that ended before it was ready.
    if (!hasStarted && !child.isReady) return;
    failures = performance.now() - child.startedAt > healthyAfterMs ? 0 : failures + 1;
    const error = child.failure?.message;
    const restart_in_ms = launchLater(kind, index);
    log.error(`a ${kind} process ended`, {
      pid,
      code,
      signal,
      restart_in_ms,
      ...(error === undefined ? {} : { error }),
    });
  }

  /** Starts a process of the current configuration, now or as soon as the system allows it. */
  function launchSurely(kind: ProcessKind, index: number): void {
    try {
      launch(kind, index);
    } catch (error) {
      failures += 1;
      logRefused(kind, error, { restart_in_ms: launchLater(kind, index) });
    }
  }

  /** Returns the delay, which grows with the number of failures. */
  function launchLater(kind: ProcessKind, index: number): number {
    const generation = current;
    const delayMs = Math.min(restartDelayMs.first * 2 ** Math.max(0, failures - 1), restartDelayMs.longest);
    setTimeout(() => {
      if (!stopping && generation === current) launchSurely(kind, index);
    }, delayMs);
    return delayMs;
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

  function describe(): ServedConfiguration {
    const { number, config, counts, readAt } = current;
    return {
      number,
      file: config.file,
      read_at: readAt.toISOString(),
      serving_processes: counts.serving,
      worker_processes: counts.worker,
    };
  }

  function readStatus(): GatewayStatus {
    const degraded: Degradation[] = [];
    for (const kind of ["serving", "worker"] as const) {
      const ready = [...children].filter(
        (one) => one.kind === kind && one.generation === current && one.isReady,
      ).length;
      if (ready >= current.counts[kind]) continue;
      const reason = `${ready} of ${current.counts[kind]} ${kind} processes run. The others are being restarted.`;
      degraded.push({ component: kind === "worker" ? "jobs" : "processes", name: kind, reason });
    }
    if (performance.now() - enginesFailedAt < engineFailureShownMs)
      degraded.push({ component: "engines", name: "engine process", reason: engineFailure });
    return { configuration: describe(), degraded };
  }

  function keep(message: string, { message: reason, isConfiguration }: StartFailure): ReloadOutcome {
    log.error(`${message}; all processes keep the current one`, { error: reason });
    return { reloaded: false, reason, isConfiguration, configuration: describe() };
  }

  async function reload(): Promise<ReloadOutcome> {
    await started;
    await waitForDrains((old) => new Set(old.map(({ generation }) => generation)).size < maxDrainingGenerations);
    let next: Generation;
    try {
      const config = read(current.config);
      refuseTooManyProcesses(config);
      next = createGeneration(config);
    } catch (error) {
      return keep("the new configuration is invalid", { message: messageOf(error), isConfiguration: true });
    }
    // Processes without a slot would count their requests alone, for as long as they run.
    const slotsNeeded = totalOf(current.counts) + totalOf(next.counts);
    await waitForDrains((old) => old.filter(({ kind }) => kind !== "engine").length + slotsNeeded <= slots.size);
    const successors: Child[] = [];
    const failure = await prepare(next, successors);
    if (failure !== null) {
      discard(successors);
      return keep("the new configuration could not be started", failure);
    }
    replace(next, successors);
    log.info("the configuration was reloaded", { file: next.config.file, processes: successors.length });
    return { reloaded: true, reason: null, isConfiguration: false, configuration: describe() };
  }

  function refuseTooManyProcesses(config: Config): void {
    const total = totalOf(count(config));
    if (total > maxProcesses)
      throw new Error(
        `The configuration has ${total} processes (SWITCHYARD_WORKERS and SWITCHYARD_JOB_WORKERS). A reload allows at most ${maxProcesses}; restart the gateway.`,
      );
  }

  /** `mayGoOn`: whether these processes of earlier configurations may still run. It must accept an empty list. */
  async function waitForDrains(mayGoOn: (old: readonly Child[]) => boolean): Promise<void> {
    for (let waits = 0; ; waits++) {
      const old = [...children].filter(({ generation }) => generation !== current);
      if (stopping || mayGoOn(old)) return;
      if (waits === 0) log.info("the reload waits for requests of earlier configurations");
      // Not `process.exited`: it may resolve while the process is still among the children, and this loop would block the event loop.
      await Promise.race(old.map(({ ended }) => ended));
    }
  }

  /** Starts the successors. Null when all are complete and the serving ones listen. Their requests wait until their configuration is active. */
  async function prepare(next: Generation, successors: Child[]): Promise<StartFailure | null> {
    const timeoutMs = next.config.startTimeoutMs;
    const findFailure = (): StartFailure => {
      const failed = successors.find(({ failure }) => failure !== null);
      if (failed?.failure) return failed.failure;
      const ended = successors.find(({ ending }) => ending !== null);
      const message = stopping
        ? "The gateway is shutting down."
        : `A ${ended?.kind ?? ""} process ended while it was starting (${ended?.ending ?? "unknown"}).`;
      return { message, isConfiguration: false };
    };
    try {
      // Before the deadline starts: processes of the reload before listen for their drain delay, which may be longer than a start takes.
      await listenersClosed;
      if (stopping) return findFailure();
      for (const kind of ["serving", "worker"] as const)
        for (let index = 0; index < next.counts[kind]; index++) successors.push(spawn(kind, next, index));
      return await withDeadline({ timeoutMs }, async (signal) => {
        const all = (states: readonly Promise<boolean>[]) => untilAborted(allTrue(states), signal);
        if (!(await all(successors.map(({ prepared }) => prepared))) || stopping) return findFailure();
        await steer(current, "present");
        const serving = successors.filter(({ kind }) => kind === "serving");
        for (const successor of serving) permit(successor);
        const areReady = await all(serving.map(({ ready }) => ready));
        return areReady && !stopping && successors.every((one) => children.has(one)) ? null : findFailure();
      });
    } catch (error) {
      const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
      const late = `A process did not start within ${timeoutMs} ms (SWITCHYARD_START_TIMEOUT_MS).`;
      return { message: isTimeout ? late : messageOf(error), isConfiguration: false };
    }
  }

  /** From the assignment of the shared number on, every request is answered by the new processes, whichever process receives it. */
  function replace(next: Generation, successors: readonly Child[]): void {
    // The successors of a later reload may run by the time that the last of these processes is told to end.
    const isOld = ({ generation }: Child) => generation.number < next.number;
    const old = [...children].filter(isOld);
    current = next;
    active.set(next.number, next.counts.serving);
    for (const successor of successors) trySend(successor, { handover: "active" });

    const workers = old.filter(({ kind }) => kind === "worker");
    for (const worker of workers) void retire(worker);
    mayWork = Promise.all(workers.map(({ closed }) => closed));
    void mayWork.then(() => {
      for (const successor of successors) if (successor.kind === "worker") permit(successor);
    });

    const serving = old.filter(({ kind }) => kind === "serving");
    listenersClosed = (async () => {
      await steer(next, { last: next.counts.serving });
      void retireAll(isOld).then(() => removeFolders(old));
      await Promise.all(serving.map(({ closed }) => closed));
      await steer(next, "all");
    })();
  }

  /** Ends the processes of a configuration that does not become active. Requests that reached them are answered by the active one. */
  function discard(successors: readonly Child[]): void {
    const ended = successors.map((child) => (child.isReady ? retire(child) : endAtOnce(child)));
    void Promise.all(ended).then(() => removeFolders(successors));
    listenersClosed = (async () => {
      await Promise.all([listenersClosed, ...successors.map(({ closed }) => closed)]);
      await steer(current, "all");
    })();
  }

  async function endAtOnce(child: Child): Promise<void> {
    child.isStopping = true;
    child.process.kill("SIGTERM");
    if (!(await endsWithin(child.process.exited, endAtOnceMs))) child.process.kill("SIGKILL");
    await child.process.exited;
  }

  /** One process sets for all that share its addresses which of them get new connections. */
  async function steer(generation: Generation, to: Steering): Promise<void> {
    const child = [...children].find(
      (one) => one.kind === "serving" && one.generation === generation && one.isReady && !one.isStopping,
    );
    if (child === undefined) return;
    const steered = new Promise<void>((resolve) => {
      child.onSteered = resolve;
    });
    trySend(child, { handover: "steer", to });
    await endsWithin(Promise.race([steered, child.process.exited]), steerTimeoutMs);
  }

  function removeFolders(ended: readonly Child[]): void {
    for (const { number } of new Set(ended.map(({ generation }) => generation)))
      rmSync(generationFolder(socketFolder, number), { recursive: true, force: true });
  }

  async function begin(kind: ProcessKind): Promise<StartFailure | null> {
    const outcomes = await Promise.all(
      Array.from({ length: current.counts[kind] }, (_, index) => startOne(kind, index)),
    );
    return outcomes.find((failure) => failure !== null) ?? null;
  }

  /** A process that the system refused, that was killed during its start, or whose store did not answer in time is started again. */
  async function startOne(kind: ProcessKind, index: number): Promise<StartFailure | null> {
    for (let attempt = 1; ; attempt++) {
      const failure = await tryToStart(kind, index);
      if (failure === null || stopping) return null;
      const { message, isTemporary } = failure;
      if (isTemporary !== true) return failure;
      if (attempt === maxStartAttempts) return { message, isConfiguration: false };
      log.error(`a ${kind} process did not start`, { attempt, reason: message });
      await Bun.sleep(restartDelayMs.first * 2 ** attempt);
    }
  }

  async function tryToStart(kind: ProcessKind, index: number): Promise<StartFailure | null> {
    try {
      const child = launch(kind, index);
      if (await child.ready) return null;
      const message = `A ${kind} process ended while it was starting (process ${child.process.pid}, ${child.ending}).`;
      return child.failure ?? { message, isConfiguration: false, isTemporary: true };
    } catch (error) {
      return { message: messageOf(error), isConfiguration: false, isTemporary: true };
    }
  }

  async function start(): Promise<StartFailure | null> {
    const first = current.counts.serving > 0 ? "serving" : "worker";
    const failure = await begin(first);
    hasStarted = failure === null;
    // The first request does not wait for the worker processes.
    if (hasStarted && !stopping && first === "serving")
      for (let index = 0; index < current.counts.worker; index++) launchSurely("worker", index);
    return failure;
  }

  function beginReload(): Promise<ReloadOutcome> {
    reloading = reload().finally(() => {
      reloading = null;
    });
    return reloading;
  }

  const started = start();
  return {
    /** Resolves when the first processes are ready: with null, or with the reason why one of them could not start. */
    ready: started,
    summary: () => summary,
    /** Only the user of the gateway can enter it. It exists until `stop`. */
    folder: socketFolder,
    describe,
    /**
     * Either all processes change to the configuration that `read` returns, or none does. A call during a reload may announce a newer
     * file, so the file is read again afterwards, once for all of these calls.
     */
    reload(): Promise<ReloadOutcome> {
      if (reloading === null) return nextReload ?? beginReload();
      const begin = () => {
        nextReload = null;
        return beginReload();
      };
      nextReload ??= reloading.then(begin, begin);
      return nextReload;
    },
    async stop(): Promise<void> {
      stopping = true;
      await retireAll(() => true);
      runFolder.remove();
    },
  };
}

function totalOf({ serving, worker }: ProcessCounts): number {
  return serving + worker;
}

function permit(child: Child): void {
  trySend(child, "serve");
}

function trySend({ process }: Child, message: ProcessMessage): void {
  try {
    process.send(message);
  } catch {
    // The process has ended; its exit is handled elsewhere.
  }
}

/** False as soon as one of them is. */
async function allTrue(promises: readonly Promise<boolean>[]): Promise<boolean> {
  const failed = Promise.withResolvers<boolean>();
  for (const promise of promises) void promise.then((value) => value || failed.resolve(false));
  return await Promise.race([failed.promise, Promise.all(promises).then((values) => values.every(Boolean))]);
}
