// The parent of the serving processes, one per core, which share the port, and of the working ones, which run jobs. It reads the
// configuration and hands exactly that to every process that it starts. It restarts a process that died, reloads on SIGHUP, and
// drains all processes on SIGTERM. It serves no request itself, so that no request can end it.

import { type Config, childEnvironment, toSnapshot } from "./config.ts";
import { messageOf } from "./errors.ts";
import type { Log } from "./log.ts";

export type ProcessKind = "serving" | "working";
export type ProcessCounts = Readonly<Record<ProcessKind, number>>;

/** What a process reports to its supervisor. */
export type ProcessReport =
  /** Everything is built; it waits for permission to listen or to take jobs. */
  { readonly state: "prepared" } | { readonly state: "ready" } | ({ readonly state: "failed" } & StartFailure);

export interface StartFailure {
  readonly message: string;
  /** The operator has to correct a setting. */
  readonly isConfiguration: boolean;
}

/** The processes that run one configuration. */
interface Generation {
  readonly config: Config;
  readonly counts: ProcessCounts;
}

interface Child {
  readonly kind: ProcessKind;
  readonly generation: Generation;
  readonly process: Bun.Subprocess;
  readonly startedAt: number;
  /** False when the process ended first. */
  readonly prepared: Promise<boolean>;
  readonly ready: Promise<boolean>;
  isReady: boolean;
  failure: StartFailure | null;
  /** It was told to end: its exit is no accident. */
  leaving: boolean;
}

export interface Supervisor {
  /** Resolves when the first processes are ready: null, or why one of them could not start. */
  readonly ready: Promise<StartFailure | null>;
  /** Every process takes the configuration that `read` returns now, or all of them keep the present one. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

const startWithinMs = 30_000;
const mostStartAttempts = 3;
const slowestRestartMs = 5_000;
const firstRestartMs = 100;
// A process that lived this long did not die because of its start.
const healthyAfterMs = 10_000;
// On top of the drain's own limits, before a process that does not end is killed.
const stopMarginMs = 2_000;
// A process may write without end: what is kept of a line that does not end is limited.
const longestLine = 8_192;

export interface SupervisorOptions {
  readonly config: Config;
  /** Reads and checks the configuration anew. Throws when it cannot be taken. */
  readonly read: (present: Config) => Config;
  /** Starts one process: the name of its command is added. */
  readonly command: readonly string[];
  readonly count: (config: Config) => ProcessCounts;
  readonly log: Log;
}

export function startSupervisor({ config, read, command, count, log }: SupervisorOptions): Supervisor {
  const children = new Set<Child>();
  let present: Generation = { config, counts: count(config) };
  let hasStarted = false;
  let stopping = false;
  let failures = 0;
  let reloading: Promise<void> | null = null;
  let reloadAgain = false;

  function spawn(kind: ProcessKind, generation: Generation): Child {
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
        } else child.failure = { message: report.message, isConfiguration: report.isConfiguration };
      },
      onExit: (_, code, signal) => {
        prepared.resolve(false);
        ready.resolve(false);
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
      leaving: false,
    };
    children.add(child);
    process.send({ config: toSnapshot(generation.config) });
    void passOn(process.stderr, (line) => log.warn("output of a process", { pid: process.pid, output: line }));
    return child;
  }

  /** A process of the present configuration serves as soon as it is prepared. */
  function launch(kind: ProcessKind): Child {
    const child = spawn(kind, present);
    void child.prepared.then((isPrepared) => isPrepared && permit(child));
    return child;
  }

  function onExit(child: Child, code: number | null, signal: unknown): void {
    children.delete(child);
    if (child.leaving || stopping || child.generation !== present) return;
    // During the start, `begin` decides about a process that ended before it was ready.
    if (!hasStarted && !child.isReady) return;
    failures = performance.now() - child.startedAt > healthyAfterMs ? 0 : failures + 1;
    const delayMs = Math.min(firstRestartMs * 2 ** Math.max(0, failures - 1), slowestRestartMs);
    const error = child.failure?.message;
    const { pid } = child.process;
    const fields = { pid, code, signal, restart_in_ms: delayMs, ...(error === undefined ? {} : { error }) };
    log.error(`a ${child.kind} process ended`, fields);
    setTimeout(() => {
      if (!stopping && child.generation === present) launch(child.kind);
    }, delayMs);
  }

  async function retire(child: Child): Promise<void> {
    if (!child.leaving) child.process.kill("SIGTERM");
    child.leaving = true;
    const { drainDelayMs, drainTimeoutMs } = child.generation.config;
    const timer = setTimeout(() => child.process.kill("SIGKILL"), drainDelayMs + drainTimeoutMs + stopMarginMs);
    await child.process.exited;
    clearTimeout(timer);
  }

  async function reload(): Promise<void> {
    let next: Generation;
    try {
      const config = read(present.config);
      next = { config, counts: count(config) };
    } catch (error) {
      log.error("the new configuration was refused; all processes keep the present one", { error: messageOf(error) });
      return;
    }
    const successors = (["serving", "working"] as const).flatMap((kind) =>
      Array.from({ length: next.counts[kind] }, () => spawn(kind, next)),
    );
    const isTaken = await take(successors);
    if (stopping) return;
    if (!isTaken) {
      const error = successors.find(({ failure }) => failure !== null)?.failure?.message ?? "a process did not start";
      log.error("the new configuration could not be started; all processes keep the present one", { error });
      await Promise.all(successors.map(retire));
      return;
    }
    present = next;
    const olds = [...children].filter(({ generation }) => generation !== present);
    for (const old of olds) void retire(old);
    log.info("the configuration was reloaded", { file: next.config.file, processes: successors.length });
  }

  /** None of them listens before all of them are prepared: two configurations must not serve because one of them failed. */
  async function take(successors: readonly Child[]): Promise<boolean> {
    const timeout = Bun.sleep(startWithinMs).then(() => false);
    const all = (states: readonly Promise<boolean>[]) =>
      Promise.race([Promise.all(states).then((each) => each.every(Boolean)), timeout]);
    if (!(await all(successors.map(({ prepared }) => prepared))) || stopping) return false;
    for (const successor of successors) permit(successor);
    return (await all(successors.map(({ ready }) => ready))) && successors.every((one) => children.has(one));
  }

  async function begin(kind: ProcessKind): Promise<StartFailure | null> {
    const outcomes = await Promise.all(Array.from({ length: present.counts[kind] }, () => startOne(kind)));
    return outcomes.find((failure) => failure !== null) ?? null;
  }

  /** A process that says why it cannot start is not started again. One that was killed while it was starting is. */
  async function startOne(kind: ProcessKind): Promise<StartFailure | null> {
    for (let attempt = 1; attempt <= mostStartAttempts; attempt++) {
      const child = launch(kind);
      if ((await child.ready) || stopping) return null;
      if (child.failure !== null) return child.failure;
      log.error(`a ${kind} process ended while it was starting`, { pid: child.process.pid, attempt });
    }
    return { message: `A ${kind} process ended while it was starting.`, isConfiguration: false };
  }

  async function start(): Promise<StartFailure | null> {
    const first = present.counts.serving > 0 ? "serving" : "working";
    const failure = await begin(first);
    hasStarted = failure === null;
    // The first request does not wait for the processes that run jobs.
    if (hasStarted && !stopping && first === "serving")
      for (let started = 0; started < present.counts.working; started++) launch("working");
    return failure;
  }

  return {
    ready: start(),
    reload() {
      // A signal that arrives during a reload may be about a newer file: it is read once more afterwards.
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
    async stop() {
      stopping = true;
      await Promise.all([...children].map(retire));
    },
  };
}

function permit({ process }: Child): void {
  try {
    process.send("serve");
  } catch {
    // It ended in the meantime: its exit says so.
  }
}

/** Line by line: a driver or the runtime writes plain text there, which would break a log of JSON lines. */
async function passOn(output: ReadableStream<Uint8Array>, tell: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of output) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, longestLine);
    for (const line of lines) if (line.trim() !== "") tell(line);
  }
  if (rest.trim() !== "") tell(rest);
}
