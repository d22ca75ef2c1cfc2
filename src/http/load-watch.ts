// Measures how long the turns of the event loop take: a request waits about as long before it is seen. Tells a lasting overload from a pause
// (garbage collection, a slow disk, a suspended machine), which has passed by the time that it can be noticed.

import { closeSync, openSync, readSync } from "node:fs";

export interface LoadLimits {
  /** Turns that take longer, one after the other, are an overload. */
  readonly delayLimitMs: number;
  /** What waited during a single turn that took longer is refused. */
  readonly pauseLimitMs: number;
}

const defaultLoadLimits: LoadLimits = { delayLimitMs: 50, pauseLimitMs: 1_500 };

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
const declaredAfterMs = 120;
// Bun sees at most 1,024 sockets in one turn. With nearly as many requests in it, more are waiting, however short the turn was.
const fullTurn = 900;
const maxPressureMs = 500;
// Parts of the limit. During an overload, a turn should take less than it takes to be one, so that refusals are fast: less is admitted when turns
// take longer than `targetShare`, and a turn that takes longer than `fullShare` is full. The overload ends when there were short turns, and no
// refusals, for half a second.
const targetShare = 0.4;
const fullShare = 0.3;
const recoveredShare = 0.3;
const weightOfTurn = 0.25;
// The requests that arrived during a long turn are seen in the turns after it.
const shedMs = 100;

/** The state of the event loop. All times are in milliseconds, as in `performance.now()`. */
export class EventLoopLoad {
  readonly #limits: LoadLimits;
  #dueAt = Number.NaN;
  #workedMs = 0;
  #lateMs = 0;
  #turnMs = 0;
  #averageMs = 0;
  #requests = 0;
  #refusals = 0;
  #isFull = false;
  #pressureMs = 0;
  #shedUntil = 0;
  isOverloaded = false;

  constructor(limits: Partial<LoadLimits> = {}) {
    const { delayLimitMs = defaultLoadLimits.delayLimitMs, pauseLimitMs } = limits;
    // A turn that is short enough to be no overload is no pause either.
    this.#limits = {
      delayLimitMs,
      pauseLimitMs: pauseLimitMs ?? Math.max(defaultLoadLimits.pauseLimitMs, delayLimitMs),
    };
  }

  /** Call it after each turn, or when the returned time has passed. `workedMs`: what the process has worked so far, or waited for a core. */
  tick(now: number, workedMs: number): number {
    const { delayLimitMs, pauseLimitMs } = this.#limits;
    if (Number.isNaN(this.#dueAt)) {
      this.#dueAt = now;
      this.#workedMs = workedMs;
    }
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
      this.#pressureMs = Math.max(0, this.#pressureMs - turnMs);
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

  /** How long turns take, against what they should take during an overload. */
  get pace(): "short" | "right" | "long" {
    const share = this.#averageMs / this.#limits.delayLimitMs;
    return this.#isFull || share > targetShare ? "long" : share > recoveredShare ? "right" : "short";
  }

  /** Whether requests have waited for very long because of a single turn. */
  isPaused(now: number): boolean {
    return now < this.#shedUntil || this.#occupiedMs(now) > this.#limits.pauseLimitMs;
  }

  #occupiedMs(now: number): number {
    return now - this.#dueAt + tickMs;
  }
}

/** Calls `tick` after each turn of the event loop, or when the time has passed that it returned. The result ends it. */
export function watchEventLoop(tick: EventLoopLoad["tick"]): () => void {
  const work = openWorkMeter();
  let timer = setTimeout(measure, 0);
  timer.unref();

  function measure(): void {
    timer = setTimeout(measure, tick(performance.now(), work.readMs()));
    timer.unref();
  }

  return () => {
    clearTimeout(timer);
    work.close();
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
