// The worker processes of the local engines. They start on demand, run one job at a time, and end when they are idle. They are processes
// instead of threads, because a WebAssembly loop in a thread cannot be stopped and would even keep the gateway from exiting.

import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Deadline, startDeadline, untilAborted } from "../../lib/deadline.ts";
import type { Log } from "../../log.ts";
import type { BinaryResult, TaskCall } from "../engine.ts";
import { type Confinement, grantsFor, unconfined } from "./confinement.ts";
import { fromFailure } from "./failure.ts";
import { FairQueue } from "./fair-queue.ts";
import { type AnswerText, type Lane, type ParsedAnswer, parseAnswer, type TimeLimit } from "./local-engine.ts";
import type { Assignment, CarriedAnswer, CarriedFile, Progress, Ready, Report } from "./messages.ts";
import { carry, receive } from "./messages.ts";
import {
  abortError,
  drainingError,
  exitError,
  ownerQueueFullError,
  queueFullError,
  startError,
  timeLimitError,
} from "./pool-errors.ts";

export interface PoolOptions {
  /** The URL of the module that exports `localEngines`. */
  readonly listModule: string;
  /** The most workers of each lane. */
  readonly workers: Readonly<Record<Lane, number>>;
  /** The most jobs that may wait in a lane. */
  readonly maxWaiting: number;
  /** The most jobs of one owner that may wait in a lane. */
  readonly maxWaitingPerOwner: number;
  /** A worker that was idle for this long ends, to free its memory. */
  readonly idleMs: number;
  /** A worker that uses more memory is killed, and its job fails. */
  readonly maxMemoryBytes: number;
  /** Of the workers of heavy engines, 0 to 19, because serving requests has priority over engines. */
  readonly niceness: number;
  /** Paths that no engine process may read. Null: engine processes are not confined. */
  readonly deniedPaths: readonly string[] | null;
  readonly log: Log;
}

export interface Job
  extends Pick<TaskCall, "owner" | "model" | "input" | "files" | "signal" | "deadline" | "onProgress"> {
  readonly task: string;
  readonly lane: Lane;
  readonly timeLimit: TimeLimit;
}

export interface Pool {
  run(job: Job): Promise<ParsedAnswer>;
  /** For a process that only passes the answer on. */
  runToText(job: Job): Promise<AnswerText>;
  state(): Readonly<Record<Lane, LaneState>>;
  /** The confinement of the latest process; null before the first one. */
  confinement(): Confinement | null;
  close(): Promise<void>;
}

export interface LaneState {
  readonly workers: number;
  readonly busy: number;
  readonly waiting: number;
  /** According to the last reports of the workers. */
  readonly memoryBytes: number;
}

interface LocalWorker {
  readonly process: Bun.Subprocess;
  readonly ready: PromiseWithResolvers<void>;
  /** The tasks whose engines are loaded. */
  readonly tasks: Set<string>;
  job: CurrentJob | null;
  isClaimed: boolean;
  idleTimer: ReturnType<typeof setTimeout> | null;
  memoryBytes: number;
  /** The pool has killed the worker, so its exit is expected. */
  isEnding: boolean;
  errorOutput: string;
  /** Set after the exit: the error of its job. */
  exitError: Error | null;
}

interface CurrentJob {
  readonly id: number;
  readonly task: string;
  readonly report: PromiseWithResolvers<Report>;
  readonly onProgress: Job["onProgress"];
}

interface WaitingJob {
  readonly job: Job;
  give(worker: LocalWorker): void;
  refuse(error: unknown): void;
}

interface WorkerLane {
  readonly name: Lane;
  readonly limit: number;
  readonly workers: Set<LocalWorker>;
  readonly waiting: FairQueue<WaitingJob>;
  averageMs: number;
}

const initialAverageMs: Readonly<Record<Lane, number>> = { light: 50, heavy: 3_000 };
const entry = Bun.fileURLToPath(new URL("./worker.ts", import.meta.url));
const launcher = Bun.fileURLToPath(new URL("./confine.ts", import.meta.url));

// An aborted job may run for this long, because keeping a warm worker is worth half a second.
const abortGraceMs = 500;
// A worker that has reached this share of its memory limit is replaced between two jobs, before the limit kills it during one.
const retireAt = 0.6;
/** How much lower the niceness of light engines is: they have priority over heavy ones. */
const lightAdvantage = 5;
// The weight of the latest job in the moving average of durations, from which Retry-After is computed.
const averageWeight = 0.2;

export function createPool(options: PoolOptions): Pool {
  const { log } = options;
  const lanes: Readonly<Record<Lane, WorkerLane>> = { light: openLane("light"), heavy: openLane("heavy") };
  let scratch: string | null = null;
  let lastId = 0;
  let closing: Promise<void> | null = null;
  let confinement: Confinement | null = null;

  function openLane(name: Lane): WorkerLane {
    return {
      name,
      limit: options.workers[name],
      workers: new Set(),
      waiting: new FairQueue(),
      averageMs: initialAverageMs[name],
    };
  }

  async function runToText(job: Job): Promise<AnswerText> {
    if (closing !== null) throw drainingError();
    if (job.signal.aborted) throw abortError(job.task, job.signal);
    const lane = lanes[job.lane];
    const worker = await claim(lane, job);
    using deadline = startJobDeadline(job);
    const id = ++lastId;
    const carrying = carryFiles(id, job.files);
    try {
      const files = await untilAborted(carrying, deadline.signal);
      const { task, model, input } = job;
      const startedAt = performance.now();
      using limit = startTimeLimit(job, deadline);
      const assigned = assign(lane, worker, { id, task, model, input, files }, job.onProgress);
      const report = await untilAborted(assigned, limit.signal);
      lane.averageMs += (performance.now() - startedAt - lane.averageMs) * averageWeight;
      if ("failure" in report.result) throw fromFailure(report.result.failure, task, log);
      return await receiveAnswer(report.result.answer);
    } finally {
      if (worker.job === null) release(lane, worker);
      void tidy(lane, worker, id, carrying);
    }
  }

  /** Resolves to a worker for the job, at once or when it is the job's turn. */
  async function claim(lane: WorkerLane, job: Job): Promise<LocalWorker> {
    const free = findFree(lane, job.task);
    if (free !== null) return hold(free);
    const { size } = lane.waiting;
    const ownSize = lane.waiting.countOf(job.owner);
    if (ownSize >= options.maxWaitingPerOwner) throw ownerQueueFullError(ownSize, secondsUntilServed(lane, ownSize));
    if (size >= options.maxWaiting) throw queueFullError(secondsUntilServed(lane, size));
    using deadline = startJobDeadline(job);
    const { promise, resolve, reject } = Promise.withResolvers<LocalWorker>();
    const waiting: WaitingJob = { job, give: resolve, refuse: reject };
    lane.waiting.add(job.owner, waiting);
    deadline.signal.addEventListener("abort", () => dequeue(lane, waiting).refuse(deadline.signal.reason));
    return await promise;
  }

  /** Must precede the settling of the wait, because the queue would offer the job again. */
  function dequeue(lane: WorkerLane, waiting: WaitingJob): WaitingJob {
    lane.waiting.delete(waiting.job.owner, waiting);
    return waiting;
  }

  /** An idle worker that has loaded the engine, otherwise any idle worker, otherwise a new one if the limit allows it. */
  function findFree(lane: WorkerLane, task: string): LocalWorker | null {
    let idle: LocalWorker | null = null;
    for (const worker of lane.workers) {
      if (worker.isClaimed) continue;
      if (worker.tasks.has(task)) return worker;
      idle ??= worker;
    }
    if (idle !== null || lane.workers.size >= lane.limit) return idle;
    try {
      return start(lane);
    } catch (error) {
      throw startError(error);
    }
  }

  function hold(worker: LocalWorker): LocalWorker {
    worker.isClaimed = true;
    if (worker.idleTimer !== null) clearTimeout(worker.idleTimer);
    worker.idleTimer = null;
    return worker;
  }

  function release(lane: WorkerLane, worker: LocalWorker): void {
    worker.isClaimed = false;
    if (worker.memoryBytes > options.maxMemoryBytes * retireAt) end(lane, worker);
    if (lane.workers.has(worker)) worker.idleTimer = setTimeout(() => end(lane, worker), options.idleMs);
    serveWaiting(lane);
  }

  function serveWaiting(lane: WorkerLane): void {
    for (let waiting = lane.waiting.next(); waiting !== null; waiting = lane.waiting.next()) {
      try {
        const free = findFree(lane, waiting.job.task);
        if (free === null) return;
        lane.waiting.endTurn(waiting.job.owner);
        dequeue(lane, waiting).give(hold(free));
      } catch (error) {
        dequeue(lane, waiting).refuse(error);
      }
    }
  }

  /** Runs after the caller has its answer. A job that still runs gets some time to end before its worker is killed. */
  async function tidy(lane: WorkerLane, worker: LocalWorker, id: number, carrying: Promise<unknown>): Promise<void> {
    if (worker.job !== null) {
      const timer = setTimeout(() => end(lane, worker), abortGraceMs);
      const ended = await worker.job.report.promise.then(
        () => true,
        () => false,
      );
      clearTimeout(timer);
      if (ended) release(lane, worker);
    }
    await carrying.catch(() => {});
    // It exists only if the files or the results of the job were large.
    if (scratch !== null) await rm(join(scratch, String(id)), { recursive: true, force: true }).catch(() => {});
  }

  function start(lane: WorkerLane): LocalWorker {
    const niceness = String(lane.name === "heavy" ? options.niceness : Math.max(0, options.niceness - lightAdvantage));
    const child = Bun.spawn(
      [
        process.execPath,
        ...entryFor(scratchFolder(), niceness),
        options.listModule,
        String(process.pid),
        String(options.maxMemoryBytes),
        niceness,
      ],
      {
        // A folder without a .env file and without the gateway's variables: engines must not see its keys.
        cwd: scratchFolder(),
        env: { TMPDIR: scratchFolder() },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
        serialization: "advanced",
        ipc: (message) => receiveMessage(worker, message),
        onExit: (child, code) => onExit(lane, worker, child.signalCode ?? code),
      },
    );
    const worker: LocalWorker = {
      process: child,
      ready: Promise.withResolvers(),
      tasks: new Set(),
      job: null,
      isClaimed: false,
      idleTimer: null,
      memoryBytes: 0,
      isEnding: false,
      errorOutput: "",
      exitError: null,
    };
    worker.ready.promise.catch(() => {});
    lane.workers.add(worker);
    listen(worker, child.stderr).catch(() => {});
    log.debug("A worker for local engines was started", { lane: lane.name, pid: child.pid });
    return worker;
  }

  /** The worker, or the launcher that confines it. */
  function entryFor(folder: string, niceness: string): string[] {
    if (options.deniedPaths === null || process.platform !== "linux") return [entry];
    return [launcher, niceness, JSON.stringify(grantsFor(folder, options.deniedPaths)), entry];
  }

  function noteConfinement(now: Confinement): void {
    const isNew = JSON.stringify(now) !== JSON.stringify(confinement);
    confinement = now;
    if (!isNew) return;
    const fields = { network_denied: now.network, files_denied: now.files, problem: now.problem };
    if (now.problem === null)
      log.info("local engines run without network and without access to the data folder", fields);
    else log.warn("local engines are not fully confined", fields);
  }

  function receiveMessage(worker: LocalWorker, message: unknown): void {
    // The cast is safe, because only worker.ts sends messages.
    const report = message as Ready | Report | Progress;
    if ("confinement" in report) {
      noteConfinement(report.confinement ?? unconfined(unconfinedReason(options)));
      worker.ready.resolve();
      return;
    }
    if ("progress" in report) {
      if (worker.job?.id === report.id) worker.job.onProgress?.(report.progress);
      return;
    }
    worker.memoryBytes = report.memoryBytes;
    if (worker.job?.id !== report.id) return;
    worker.job.report.resolve(report);
    worker.job = null;
  }

  async function assign(
    lane: WorkerLane,
    worker: LocalWorker,
    assignment: Assignment,
    onProgress: Job["onProgress"],
  ): Promise<Report> {
    // The worker may have died while the files were read.
    if (worker.exitError !== null) throw worker.exitError;
    const report = Promise.withResolvers<Report>();
    report.promise.catch(() => {});
    worker.job = { id: assignment.id, task: assignment.task, report, onProgress };
    worker.tasks.add(assignment.task);
    await worker.ready.promise;
    try {
      worker.process.send(assignment);
    } catch {
      // The channel closes shortly before the process exits; the exit rejects the report.
      end(lane, worker);
    }
    return report.promise;
  }

  function end(lane: WorkerLane, worker: LocalWorker): void {
    worker.isEnding = true;
    lane.workers.delete(worker);
    if (worker.idleTimer !== null) clearTimeout(worker.idleTimer);
    worker.process.kill("SIGKILL");
  }

  function onExit(lane: WorkerLane, worker: LocalWorker, how: number | string | null): void {
    lane.workers.delete(worker);
    if (worker.idleTimer !== null) clearTimeout(worker.idleTimer);
    let error = drainingError();
    if (!worker.isEnding) {
      const task = worker.job?.task ?? null;
      const fields = { how, task, tasks: [...worker.tasks], errorOutput: worker.errorOutput.trim() };
      log.error("A worker for local engines exited unexpectedly", fields);
      error = exitError(task ?? "this task", how, options.maxMemoryBytes);
    }
    worker.exitError = error;
    worker.ready.reject(error);
    worker.job?.report.reject(error);
    serveWaiting(lane);
  }

  function scratchFolder(): string {
    // Some systems delete old temporary folders.
    if (scratch === null || !existsSync(scratch)) scratch = mkdtempSync(join(tmpdir(), "switchyard-engines-"));
    return scratch;
  }

  /** Large files are passed in a folder whose name is the id. worker.ts uses the same name for results. */
  async function carryFiles(id: number, files: Job["files"]): Promise<Assignment["files"]> {
    const carried: Record<string, CarriedFile> = {};
    const folder = join(scratchFolder(), String(id));
    for (const [index, [member, file]] of Object.entries(files).entries()) {
      const { name, mediaType } = file;
      carried[member] = { name, mediaType, bytes: await carry(await file.read(), folder, `file-${index}`) };
    }
    return carried;
  }

  async function close(): Promise<void> {
    const ended: Promise<unknown>[] = [];
    for (const lane of Object.values(lanes)) {
      for (let waiting = lane.waiting.next(); waiting !== null; waiting = lane.waiting.next())
        dequeue(lane, waiting).refuse(drainingError());
      for (const worker of lane.workers) {
        ended.push(worker.process.exited);
        end(lane, worker);
      }
    }
    await Promise.all(ended);
    if (scratch !== null) await rm(scratch, { recursive: true, force: true });
  }

  return {
    run: async (job) => parseAnswer(await runToText(job)),
    runToText,
    confinement: () => confinement,
    state: () => ({ light: stateOf(lanes.light), heavy: stateOf(lanes.heavy) }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function unconfinedReason({ deniedPaths }: PoolOptions): string {
  return deniedPaths === null ? "confinement is switched off" : `confinement is not supported on ${process.platform}`;
}

/** Its abort reason is the error of the job, or the reason of one of the other signals. */
export function startJobDeadline(job: Job, others: readonly AbortSignal[] = []): Deadline {
  const timeoutMs = job.deadline - performance.now();
  const reason = (fired: AbortSignal | null) =>
    fired === null || fired === job.signal ? abortError(job.task, job.signal) : fired.reason;
  return startDeadline({ timeoutMs, signals: [job.signal, ...others], reason });
}

/** The time limit of the engine, which does not include the time in the queue. */
function startTimeLimit(job: Job, { signal }: Deadline): Deadline {
  const reason = (fired: AbortSignal | null) => fired?.reason ?? timeLimitError(job.task, job.timeLimit);
  return startDeadline({ timeoutMs: job.timeLimit.milliseconds, signals: [signal], reason });
}

async function receiveAnswer({ binaries, ...answer }: CarriedAnswer): Promise<AnswerText> {
  const received: BinaryResult[] = [];
  for (const binary of binaries) received.push({ ...binary, bytes: await receive(binary.bytes) });
  return { ...answer, binaries: received };
}

const maxRetryAfterSeconds = 60;

function secondsUntilServed(lane: WorkerLane, waiting: number): number {
  const seconds = Math.ceil((lane.averageMs * waiting) / lane.limit / 1_000);
  return Math.min(Math.max(1, seconds), maxRetryAfterSeconds);
}

const maxErrorOutput = 2_000;

/** Keeps the last part of the error output of a worker, for the log. */
async function listen(worker: LocalWorker, output: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of output)
    worker.errorOutput = (worker.errorOutput + decoder.decode(bytes, { stream: true })).slice(-maxErrorOutput);
}

function stateOf(lane: WorkerLane): LaneState {
  const workers = [...lane.workers];
  return {
    workers: workers.length,
    busy: workers.filter(({ isClaimed }) => isClaimed).length,
    waiting: lane.waiting.size,
    memoryBytes: workers.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  };
}
