// The workers of the local engines: processes that are started when there is work, do one job at a time, and are let go when idle.
// Processes and not threads, because nothing stops a WebAssembly loop in a thread: not even the gateway could end then.

import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GatewayError } from "../../errors.ts";
import { type Deadline, startDeadline, untilAborted } from "../../lib/deadline.ts";
import type { Log } from "../../log.ts";
import { CallerLeft } from "../../providers/call.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { BinaryResult, EngineFile } from "../engine.ts";
import { type Confinement, grantsFor, unconfined } from "./confinement.ts";
import { fromFailure } from "./failure.ts";
import { FairQueue } from "./fair-queue.ts";
import type { Lane, LocalAnswer } from "./local-engine.ts";
import {
  type Assignment,
  type CarriedAnswer,
  longestInlineBytes,
  memorySignal,
  type Progress,
  type Ready,
  type Report,
} from "./messages.ts";

export interface PoolOptions {
  /** The module that exports `localEngines`, as an address. */
  readonly listModule: string;
  /** The most workers of each lane. */
  readonly workers: Readonly<Record<Lane, number>>;
  /** The most jobs that wait in a lane; one more is refused. */
  readonly maxWaiting: number;
  /** The most jobs of one owner that wait in a lane. */
  readonly maxWaitingPerOwner: number;
  /** A worker without a job for so long is let go, and its memory with it. */
  readonly idleMs: number;
  /** A worker above this is ended, its job fails. */
  readonly maxMemoryBytes: number;
  /** Paths that no engine process may read. Null: engine processes are not confined. */
  readonly deniedPaths: readonly string[] | null;
  readonly log: Log;
}

export interface Job {
  readonly task: string;
  readonly lane: Lane;
  /** Owners take turns in the queue. */
  readonly owner: string;
  readonly timeLimit: TimeLimit;
  readonly model: string | null;
  readonly input: JsonObject;
  readonly files: Readonly<Record<string, EngineFile>>;
  readonly signal: AbortSignal;
  /** In the milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Absent: nobody listens. */
  readonly tellProgress?: ((share: number) => void) | undefined;
}

/** How long an engine process may work on one task, and the setting that says so. */
export interface TimeLimit {
  readonly milliseconds: number;
  readonly setting: string;
}

export interface Pool {
  run(job: Job): Promise<LocalAnswer>;
  state(): Readonly<Record<Lane, LaneState>>;
  /** Of the process that was started last; null: none was. */
  confinement(): Confinement | null;
  close(): Promise<void>;
}

export interface LaneState {
  readonly workers: number;
  readonly busy: number;
  readonly waiting: number;
  /** As the workers last reported. */
  readonly memoryBytes: number;
}

interface LocalWorker {
  readonly process: Bun.Subprocess;
  readonly ready: PromiseWithResolvers<void>;
  /** The engines it has been asked for. */
  readonly tasks: Set<string>;
  job: CurrentJob | null;
  isClaimed: boolean;
  idleTimer: ReturnType<typeof setTimeout> | null;
  memoryBytes: number;
  /** It was ended by us: its end is no accident. */
  leaving: boolean;
  lastWords: string;
  /** Set when it has ended: what its job fails with. */
  goneWith: Error | null;
}

interface CurrentJob {
  readonly id: number;
  readonly report: PromiseWithResolvers<Report>;
  readonly tellProgress: Job["tellProgress"];
}

interface Place {
  readonly job: Job;
  give(worker: LocalWorker): void;
  refuse(error: Error): void;
}

interface LaneOfWorkers {
  readonly name: Lane;
  readonly limit: number;
  readonly workers: Set<LocalWorker>;
  readonly waiting: FairQueue<Place>;
  averageMs: number;
}

// What a job may still take once nobody waits for it: a warm worker is worth more than half a second.
const graceMs = 500;
// A worker that has grown to this part of its limit is replaced between two jobs, before it is ended within one.
const retireAt = 0.6;
// The gateway's own work goes first, whatever the heavy engines do.
const niceness: Readonly<Record<Lane, number>> = { light: 0, heavy: 10 };
const longestRetryAfterSeconds = 60;
// A moving average of how long jobs take, for the advice when to come back.
const weightOfLast = 0.2;
const firstGuessMs: Readonly<Record<Lane, number>> = { light: 50, heavy: 3_000 };
const keptWords = 2_000;
const entry = Bun.fileURLToPath(new URL("./worker.ts", import.meta.url));
const launcher = Bun.fileURLToPath(new URL("./confine.ts", import.meta.url));

export function createPool(options: PoolOptions): Pool {
  const { log } = options;
  const lanes: Readonly<Record<Lane, LaneOfWorkers>> = { light: openLane("light"), heavy: openLane("heavy") };
  const foldersInUse = new Set<number>();
  let scratch: string | null = null;
  let lastId = 0;
  let closing: Promise<void> | null = null;
  let confinement: Confinement | null = null;

  function openLane(name: Lane): LaneOfWorkers {
    return {
      name,
      limit: options.workers[name],
      workers: new Set(),
      waiting: new FairQueue(),
      averageMs: firstGuessMs[name],
    };
  }

  async function run(job: Job): Promise<LocalAnswer> {
    if (closing !== null) throw draining();
    if (job.signal.aborted) throw reasonOf(job);
    const lane = lanes[job.lane];
    const worker = await claim(lane, job);
    using deadline = startJobDeadline(job);
    const id = ++lastId;
    const carrying = carry(id, job.files);
    try {
      const files = await untilAborted(carrying, deadline.signal);
      const { task, model, input } = job;
      const startedAt = performance.now();
      using limit = startTimeLimit(job, deadline);
      const assigned = assign(lane, worker, { id, task, model, input, files }, job.tellProgress);
      const report = await untilAborted(assigned, limit.signal);
      lane.averageMs += (performance.now() - startedAt - lane.averageMs) * weightOfLast;
      if ("failure" in report.result) throw fromFailure(report.result.failure, task, log);
      return await receive(report.result.answer);
    } finally {
      if (worker.job === null) release(lane, worker);
      void tidy(lane, worker, id, carrying);
    }
  }

  /** The worker of this job, at once or when its turn comes. */
  function claim(lane: LaneOfWorkers, job: Job): Promise<LocalWorker> {
    let free: LocalWorker | null;
    try {
      free = findFree(lane, job.task);
    } catch (error) {
      return Promise.reject(notStarted(error));
    }
    if (free !== null) return Promise.resolve(hold(free));
    const { owner } = job;
    if (lane.waiting.countOf(owner) >= options.maxWaitingPerOwner)
      return Promise.reject(ownerQueueFull(lane, lane.waiting.countOf(owner)));
    if (lane.waiting.size >= options.maxWaiting) return Promise.reject(overloaded(lane));
    const { promise, resolve, reject } = Promise.withResolvers<LocalWorker>();
    const deadline = startJobDeadline(job);
    const place: Place = {
      job,
      give: (worker) => {
        leave();
        resolve(worker);
      },
      refuse: (error) => {
        leave();
        reject(error);
      },
    };
    const leave = () => {
      deadline[Symbol.dispose]();
      lane.waiting.delete(owner, place);
    };
    lane.waiting.add(owner, place);
    deadline.signal.addEventListener("abort", () => place.refuse(deadline.signal.reason));
    return promise;
  }

  /** One that has the engine loaded, else any that is idle, else a new one while there is room. */
  function findFree(lane: LaneOfWorkers, task: string): LocalWorker | null {
    let idle: LocalWorker | null = null;
    for (const worker of lane.workers) {
      if (worker.isClaimed) continue;
      if (worker.tasks.has(task)) return worker;
      idle ??= worker;
    }
    return idle ?? (lane.workers.size < lane.limit ? start(lane) : null);
  }

  function hold(worker: LocalWorker): LocalWorker {
    worker.isClaimed = true;
    if (worker.idleTimer !== null) clearTimeout(worker.idleTimer);
    worker.idleTimer = null;
    return worker;
  }

  function release(lane: LaneOfWorkers, worker: LocalWorker): void {
    worker.isClaimed = false;
    if (worker.memoryBytes > options.maxMemoryBytes * retireAt) end(lane, worker);
    if (lane.workers.has(worker)) worker.idleTimer = setTimeout(() => end(lane, worker), options.idleMs);
    serveWaiting(lane);
  }

  function serveWaiting(lane: LaneOfWorkers): void {
    for (let place = lane.waiting.next(); place !== null; place = lane.waiting.next()) {
      try {
        const free = findFree(lane, place.job.task);
        if (free === null) return;
        lane.waiting.endTurn(place.job.owner);
        place.give(hold(free));
      } catch (error) {
        place.refuse(notStarted(error));
      }
    }
  }

  /** What is left to do when nobody waits any more. A job that still runs may end soon, or its worker is ended. */
  async function tidy(lane: LaneOfWorkers, worker: LocalWorker, id: number, carrying: Promise<unknown>): Promise<void> {
    if (worker.job !== null) {
      const timer = setTimeout(() => end(lane, worker), graceMs);
      const ended = await worker.job.report.promise.then(
        () => true,
        () => false,
      );
      clearTimeout(timer);
      if (ended) release(lane, worker);
    }
    await carrying.catch(() => {});
    if (foldersInUse.delete(id)) await rm(folderOf(id), { recursive: true, force: true }).catch(() => {});
  }

  function start(lane: LaneOfWorkers): LocalWorker {
    const child = Bun.spawn(
      [
        process.execPath,
        ...entryFor(scratchFolder()),
        options.listModule,
        String(options.maxMemoryBytes),
        String(niceness[lane.name]),
      ],
      {
        // A folder without a .env, and none of the gateway's variables: an engine has no business with its keys.
        cwd: scratchFolder(),
        env: { TMPDIR: scratchFolder() },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
        serialization: "advanced",
        ipc: (message) => hear(worker, message),
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
      leaving: false,
      lastWords: "",
      goneWith: null,
    };
    worker.ready.promise.catch(() => {});
    lane.workers.add(worker);
    // The output ends with the process, whichever way that goes.
    listen(worker, child.stderr).catch(() => {});
    log.debug("a worker for local engines started", { lane: lane.name, pid: child.pid });
    return worker;
  }

  /** The engine process itself, or the launcher that confines it. */
  function entryFor(folder: string): string[] {
    if (options.deniedPaths === null || process.platform !== "linux") return [entry];
    return [launcher, JSON.stringify(grantsFor(folder, options.deniedPaths)), entry];
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

  function hear(worker: LocalWorker, message: unknown): void {
    // Only our worker.ts is at the other end.
    const report = message as Ready | Report | Progress;
    if ("confinement" in report) {
      noteConfinement(report.confinement ?? unconfined(whyUnconfined(options)));
      worker.ready.resolve();
      return;
    }
    if ("progress" in report) {
      if (worker.job?.id === report.id) worker.job.tellProgress?.(report.progress);
      return;
    }
    worker.memoryBytes = report.memoryBytes;
    if (worker.job?.id !== report.id) return;
    worker.job.report.resolve(report);
    worker.job = null;
    if ("answer" in report.result && report.result.answer.binaries.some(({ bytes }) => typeof bytes === "string")) {
      foldersInUse.add(report.id);
    }
  }

  async function assign(
    lane: LaneOfWorkers,
    worker: LocalWorker,
    assignment: Assignment,
    tellProgress: Job["tellProgress"],
  ): Promise<Report> {
    // It may have died while the files were read.
    if (worker.goneWith !== null) throw worker.goneWith;
    const report = Promise.withResolvers<Report>();
    report.promise.catch(() => {});
    worker.job = { id: assignment.id, report, tellProgress };
    worker.tasks.add(assignment.task);
    await worker.ready.promise;
    try {
      worker.process.send(assignment);
    } catch {
      // The channel closes a moment before the process does; its end rejects the report.
      end(lane, worker);
    }
    return report.promise;
  }

  function end(lane: LaneOfWorkers, worker: LocalWorker): void {
    worker.leaving = true;
    lane.workers.delete(worker);
    if (worker.idleTimer !== null) clearTimeout(worker.idleTimer);
    worker.process.kill("SIGKILL");
  }

  function onExit(lane: LaneOfWorkers, worker: LocalWorker, how: number | string | null): void {
    lane.workers.delete(worker);
    if (worker.idleTimer !== null) clearTimeout(worker.idleTimer);
    const tasks = [...worker.tasks];
    if (!worker.leaving) {
      log.error("a worker for local engines ended by itself", { how, tasks, lastWords: worker.lastWords.trim() });
    }
    const error = endOf(worker, how, options.maxMemoryBytes);
    worker.goneWith = error;
    worker.ready.reject(error);
    worker.job?.report.reject(error);
    serveWaiting(lane);
  }

  function scratchFolder(): string {
    // Some systems clear their temporary folder now and then.
    if (scratch === null || !existsSync(scratch)) scratch = mkdtempSync(join(tmpdir(), "switchyard-engines-"));
    return scratch;
  }

  /** Of one job, with the same name in worker.ts. */
  function folderOf(id: number): string {
    return join(scratchFolder(), String(id));
  }

  async function carry(id: number, files: Job["files"]): Promise<Assignment["files"]> {
    const carried: Record<string, Assignment["files"][string]> = {};
    for (const [member, file] of Object.entries(files)) {
      const bytes = await file.read();
      const { name, mediaType } = file;
      if (bytes.length <= longestInlineBytes) {
        carried[member] = { name, mediaType, bytes };
        continue;
      }
      foldersInUse.add(id);
      await mkdir(folderOf(id), { recursive: true });
      const path = join(folderOf(id), `file-${Object.keys(carried).length}`);
      await writeFile(path, bytes);
      carried[member] = { name, mediaType, bytes: path };
    }
    return carried;
  }

  async function close(): Promise<void> {
    const ended: Promise<unknown>[] = [];
    for (const lane of Object.values(lanes)) {
      for (let place = lane.waiting.next(); place !== null; place = lane.waiting.next()) place.refuse(draining());
      for (const worker of lane.workers) {
        ended.push(worker.process.exited);
        end(lane, worker);
      }
    }
    await Promise.all(ended);
    if (scratch !== null) await rm(scratch, { recursive: true, force: true });
  }

  return {
    run,
    confinement: () => confinement,
    state: () => ({ light: stateOf(lanes.light), heavy: stateOf(lanes.heavy) }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function whyUnconfined({ deniedPaths }: PoolOptions): string {
  return deniedPaths === null ? "confinement is switched off" : `confinement is not supported on ${process.platform}`;
}

/** Fires with the error that the job fails with. */
function startJobDeadline(job: Job): Deadline {
  const timeoutMs = job.deadline - performance.now();
  return startDeadline({ timeoutMs, signals: [job.signal], reason: () => reasonOf(job) });
}

/** The engine's own limit, which does not count the time in the queue. */
function startTimeLimit(job: Job, { signal }: Deadline): Deadline {
  const reason = (fired: AbortSignal | null) => fired?.reason ?? overTimeLimit(job);
  return startDeadline({ timeoutMs: job.timeLimit.milliseconds, signals: [signal], reason });
}

function reasonOf(job: Job): Error {
  const reason: unknown = job.signal.reason;
  if (reason instanceof GatewayError) return reason;
  if (job.signal.aborted) return new CallerLeft();
  return new GatewayError("provider_timeout", `The local engine for ${job.task} did not finish in time.`);
}

function overTimeLimit({ task, timeLimit: { milliseconds, setting } }: Job): GatewayError {
  return new GatewayError(
    "provider_timeout",
    `The local engine for ${task} exceeded its time limit of ${milliseconds / 1_000} s. Send a smaller input, or ask the operator to raise ${setting}.`,
    // The same input would take as long again.
    { shouldRetry: false },
  );
}

function endOf(worker: LocalWorker, how: number | string | null, maxMemoryBytes: number): Error {
  if (worker.leaving) return draining();
  const task = [...worker.tasks].at(-1) ?? "this task";
  if (how !== memorySignal) {
    return new GatewayError("provider_error", `The local engine for ${task} broke down over this input.`);
  }
  const limit = Math.round(maxMemoryBytes / 1_048_576);
  return new GatewayError(
    "provider_error",
    `The local engine for ${task} needed more than its ${limit} MB of memory for this input. Send a smaller input.`,
    { shouldRetry: false },
  );
}

async function receive({ binaries, outputJson, ...answer }: CarriedAnswer): Promise<LocalAnswer> {
  const received: BinaryResult[] = [];
  for (const binary of binaries) {
    const bytes = typeof binary.bytes === "string" ? await readFile(binary.bytes) : binary.bytes;
    received.push({ ...binary, bytes });
  }
  return { ...answer, output: JSON.parse(outputJson), binaries: received };
}

function overloaded(lane: LaneOfWorkers): GatewayError {
  return new GatewayError("overloaded", "Too many tasks wait for the local engines. Try again later.", {
    retryAfter: secondsUntilServed(lane, lane.waiting.size),
  });
}

function ownerQueueFull(lane: LaneOfWorkers, count: number): GatewayError {
  return new GatewayError(
    "rate_limit_exceeded",
    `${count} local tasks of this key's owner are waiting already, which is the most for one owner. Try again when one of them is done.`,
    { retryAfter: secondsUntilServed(lane, count) },
  );
}

function secondsUntilServed(lane: LaneOfWorkers, waiting: number): number {
  const seconds = Math.ceil((lane.averageMs * waiting) / lane.limit / 1_000);
  return Math.min(Math.max(1, seconds), longestRetryAfterSeconds);
}

function notStarted(cause: unknown): GatewayError {
  return new GatewayError("provider_unavailable", "No worker for the local engines could be started.", { cause });
}

function draining(): GatewayError {
  return new GatewayError("draining", "The gateway is going down.");
}

/** Keeps the end of what a worker wrote to its error output, for the log. */
async function listen(worker: LocalWorker, output: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of output) {
    worker.lastWords = (worker.lastWords + decoder.decode(bytes, { stream: true })).slice(-keptWords);
  }
}

function stateOf(lane: LaneOfWorkers): LaneState {
  const workers = [...lane.workers];
  return {
    workers: workers.length,
    busy: workers.filter(({ isClaimed }) => isClaimed).length,
    waiting: lane.waiting.size,
    memoryBytes: workers.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  };
}
