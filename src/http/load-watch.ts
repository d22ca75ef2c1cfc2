// Measures how long the turns of the event loop take: a request waits about as long before it is seen. Tells a lasting overload from a pause
// (garbage collection, a slow disk, a suspended machine), which has passed by the time that it can be noticed.

import { closeSync, openSync, readSync } from "node:fs";

export interface LoadLimits {
  /** Turns that take longer, one after the other, are an overload. */
  readonly delayLimitMs: number;
  /** What waited during a single turn that took longer is refused. */
  readonly pauseLimitMs: number;
}

const defaultLoadLimits: LoadLimits = { delayLimitMs: 30, pauseLimitMs: 1_500 };

/** The longest time between two measurements of a busy process. A turn that takes longer ends with a measurement. */
const tickMs = 10;
const idleTickMs = 100;
// Below this share of its time, a process is measured at the longer interval.
const idleShare = 0.2;
// A process that slept for most of a turn waited for a disk, or was stopped: refusing requests would not make it faster.
const workingShare = 0.7;
// One turn counts at most this much, so that a single pause is never an overload.
const maxCountedMs = 100;
// Turns that become shorter, one after the other, work off the backlog of a pause.
const shorteningShare = 0.9;
const declaredAfterMs = 200;
// Bun sees at most 1,024 sockets in one turn. With nearly as many requests in it, more are waiting, however short the turn was.
const fullTurn = 900;
const maxPressureMs = 400;
// An overload ends this much faster than it is declared: in about 0.1 s.
const recoveryFactor = 4;
// During an overload, a turn is full at this share of the limit. Turns that take less than the lower share, without refusals, end it.
const fullShare = 1 / 2;
const recoveredShare = 1 / 2;
const weightOfTurn = 0.25;
const minGrowth = 0.8;
const maxGrowth = 1.1;
// The requests that arrived during a long turn are seen in the turns after it.
const shedMs = 100;

/** The state of the event loop. All times are in milliseconds, as in `performance.now()`. */
export class EventLoopLoad {
  readonly #limits: LoadLimits;
  #dueAt: number;
  #workedMs: number;
  #lateMs = 0;
  #turnMs = 0;
  #averageMs = 0;
  #requests = 0;
  #refusals = 0;
  #isFull = false;
  #pressureMs = 0;
  #shedUntil = 0;
  isOverloaded = false;

  constructor(limits: LoadLimits, now: number, workedMs: number) {
    this.#limits = limits;
    this.#dueAt = now + tickMs;
    this.#workedMs = workedMs;
  }

  /** Call it after each turn, or when the returned time has passed. `workedMs`: what the process has worked so far, or waited for a core. */
  tick(now: number, workedMs: number): number {
    const { delayLimitMs, pauseLimitMs } = this.#limits;
    const worked = workedMs - this.#workedMs;
    const turnMs = this.#occupiedMs(now);
    this.#lateMs = Math.max(0, now - this.#dueAt);
    // A pause must not look like turns that are all long.
    this.#averageMs += (Math.min(turnMs, maxCountedMs) - this.#averageMs) * weightOfTurn;
    this.#workedMs = workedMs;
    this.#isFull = this.#requests >= fullTurn;
    // While requests are refused, short turns do not show that the load has ended.
    const isCalm = turnMs < delayLimitMs * recoveredShare && this.#refusals === 0;
    this.#requests = 0;
    this.#refusals = 0;
    if (turnMs > pauseLimitMs) this.#shedUntil = now + shedMs;
    if (turnMs > delayLimitMs) {
      if (worked > turnMs * workingShare && turnMs > this.#turnMs * shorteningShare)
        this.#pressureMs = Math.min(maxPressureMs, this.#pressureMs + Math.min(maxCountedMs, turnMs));
    } else if (isCalm) {
      this.#pressureMs = Math.max(0, this.#pressureMs - turnMs * recoveryFactor);
    }
    this.#turnMs = turnMs;
    this.isOverloaded = this.#pressureMs >= declaredAfterMs || (this.isOverloaded && this.#pressureMs > 0);
    const nextMs = this.#pressureMs > 0 || worked > turnMs * idleShare ? tickMs : idleTickMs;
    this.#dueAt = now + nextMs;
    return nextMs;
  }

  countRequest(): void {
    this.#requests += 1;
  }

  countRefusal(): void {
    this.#refusals += 1;
  }

  /** How long a request that is seen now has waited at most. */
  waitedMs(now: number): number {
    return Math.max(this.#lateMs, now - this.#dueAt);
  }

  /** Whether this turn has taken too long already, or more requests are waiting than a turn can see. */
  isLate(now: number): boolean {
    return this.#isFull || this.#occupiedMs(now) > this.#limits.delayLimitMs * fullShare;
  }

  /** By which factor the admitted work may grow, or has to shrink, so that turns stay below the limit. */
  get growth(): number {
    if (this.#isFull) return minGrowth;
    return Math.min(maxGrowth, Math.max(minGrowth, this.#limits.delayLimitMs / this.#averageMs));
  }

  /** Whether requests have waited for very long because of a single turn. */
  isPaused(now: number): boolean {
    return now < this.#shedUntil || this.#occupiedMs(now) > this.#limits.pauseLimitMs;
  }

  #occupiedMs(now: number): number {
    return now - this.#dueAt + tickMs;
  }
}

export type LoadWatch = ReturnType<typeof createLoadWatch>;

/** Measures the event loop of this process. */
export function createLoadWatch(limits: Partial<LoadLimits> = {}) {
  const work = openWorkMeter();
  const load = new EventLoopLoad({ ...defaultLoadLimits, ...limits }, performance.now(), work.readMs());
  let timer = setTimeout(tick, tickMs);
  timer.unref();

  function tick(): void {
    timer = setTimeout(tick, load.tick(performance.now(), work.readMs()));
    timer.unref();
  }

  return {
    load,
    close() {
      clearTimeout(timer);
      work.close();
    },
  };
}

interface WorkMeter {
  readMs(): number;
  close(): void;
}

/** The time in which the main thread ran, or was ready to run on a core that others used. */
function openWorkMeter(): WorkMeter {
  const file = openSchedulerFile();
  if (file === null)
    return {
      readMs() {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1_000;
      },
      close() {},
    };
  const bytes = Buffer.alloc(128);
  return {
    readMs() {
      const length = readSync(file, bytes, 0, bytes.length, 0);
      const [ranNs, waitedNs] = bytes.toString("latin1", 0, length).split(" ");
      return (Number(ranNs) + Number(waitedNs)) / 1e6;
    },
    close: () => closeSync(file),
  };
}

/** Null on systems without it. */
function openSchedulerFile(): number | null {
  try {
    return openSync("/proc/self/schedstat", "r");
  } catch {
    return null;
  }
}
