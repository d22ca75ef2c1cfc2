// Decides whether a request is served, before its body is read. While this process is overloaded, some requests are refused with 503, so that
// the others are served in time. The keys share equally what can be served: a key that asks for less than its share is not refused.

import type { Log } from "../log.ts";
import type { Family } from "../metrics/family.ts";
import { EventLoopLoad, type LoadLimits, watchEventLoop } from "./load-watch.ts";

/** What one key does. The work of a short request is 1. What was done, admitted and asked for decays with time. */
export interface KeyLoad {
  /** Requests whose answer has not begun. The streams that have begun may be idle: only what they send is work. */
  running: number;
  streams: number;
  done: number;
  /** The work that the admitted requests will cause, as far as the requests before them tell. */
  admitted: number;
  /** Like `admitted`, with the requests that were refused. */
  asked: number;
  /** When these three were last reduced, by the clock of `Admission`. */
  at: number;
  /** The work of a request of this key. */
  average: number;
}

export interface AdmissionOptions {
  readonly loadLimits?: Partial<LoadLimits>;
  /** Requests whose answer has not begun, of all keys. */
  readonly maxRunning: number;
  readonly log: Log;
}

// The time constant of the decay: a key that works at a steady rate has done about as much as in this time.
const decayMs = 300;
// A long turn counts at most as much, because all that it does is counted at its end.
const maxTurnMs = 50;
const adjustEveryMs = 50;
const forgetEveryMs = 60_000;
const weightOfRequest = 0.1;
// With fewer requests and streams at once, a process that is late has few but heavy requests, or gets little of the machine's time. None of them
// waits for long, so refusing some of them would not make the others faster.
const minAtOnce = 128;
/** The work of reading and sending a body, and of sending one event of a stream. */
const bytesPerWork = 12_000;
const eventsPerWork = 6;
// How fast the number of requests and streams at once follows the event loop. It changes slowly, because streams that are admitted now are work
// for a while, and it stays close to what there is, so that it can turn around.
const changes = { short: 1.04, right: 1.01, long: 0.97 };
const maxAbove = 1.1;
const minBelow = 0.85;
// While much is refused, less is done than can be done: shares of that would be too small.
const keptWork = 0.98;
/** The part of its share that a key always gets. */
const certainShare = 0.85;
// The load must not come back all at once.
const maxRetryAfter = 3;
const reportAfterMs = 1_000;
// So many refused requests are logged one by one until the next report; the others are only counted, because a line costs more than a refusal.
const maxLogged = 20;

export class Admission {
  readonly #loop: EventLoopLoad;
  readonly #maxRunning: number;
  readonly #log: Log;
  readonly #keys = new Map<string, KeyLoad>();
  #running = 0;
  #streams = 0;
  /** Keys with a running request. */
  #runningKeys = 0;
  #average = 1;
  #tickedAt = 0;
  /** The time by which work decays. */
  #clock = 0;
  #forgottenAt = 0;
  /** How many requests and streams of all keys there may be at once. */
  #maxAtOnce = Number.POSITIVE_INFINITY;
  /** The most work of all keys together, lately. */
  #mostWork = 0;
  /** What one key gets of that, and of the work that is done now, when all keys share it equally. */
  #fullShare = Number.POSITIVE_INFINITY;
  #share = Number.POSITIVE_INFINITY;
  #adjustedAt = 0;
  #refused = 0;
  #refusals = 0;
  #report: ReturnType<typeof setTimeout> | null = null;
  #endWatch = () => {};

  constructor({ loadLimits, maxRunning, log }: AdmissionOptions) {
    this.#loop = new EventLoopLoad(loadLimits);
    this.#maxRunning = maxRunning;
    this.#log = log;
  }

  /** Measures the event loop of this process from now on. */
  start(): this {
    this.#endWatch = watchEventLoop((now, workedMs) => this.tick(now, workedMs));
    return this;
  }

  /** Some requests are refused. */
  get isOverloaded(): boolean {
    return this.#loop.isOverloaded;
  }

  close(): void {
    this.#endWatch();
    if (this.#report !== null) clearTimeout(this.#report);
  }

  tick(now: number, workedMs: number): number {
    const wasOverloaded = this.#loop.isOverloaded;
    const nextMs = this.#loop.tick(now, workedMs);
    this.#clock += wasOverloaded ? Math.min(maxTurnMs, now - this.#tickedAt) : now - this.#tickedAt;
    this.#tickedAt = now;
    if (this.#loop.isOverloaded && (!wasOverloaded || this.#clock - this.#adjustedAt >= adjustEveryMs)) {
      this.#adjustedAt = this.#clock;
      this.#maxAtOnce = this.#adjust(wasOverloaded ? this.#maxAtOnce : this.#running + this.#streams);
      this.#computeShares();
    }
    if (this.#clock - this.#forgottenAt > forgetEveryMs) this.#forgetIdle();
    return nextMs;
  }

  /** Null: the request is refused. Otherwise call `answered` when its answer begins, or when it fails. */
  begin(keyId: string, now: number): KeyLoad | null {
    const load = this.#find(keyId);
    load.asked += load.average;
    this.#loop.countRequest();
    if (this.#mustRefuse(load, now)) {
      this.#loop.countRefusal();
      return null;
    }
    load.admitted += load.average;
    if (load.running === 0) this.#runningKeys += 1;
    load.running += 1;
    this.#running += 1;
    return load;
  }

  /** The answer begins, after a body of this length. From here on, a stream is no longer a running request: pass it to `beginStream`. */
  answered(load: KeyLoad, bodyBytes: number, isStream: boolean): void {
    load.running -= 1;
    this.#running -= 1;
    if (load.running === 0) this.#runningKeys -= 1;
    const work = 1 + bodyBytes / bytesPerWork;
    load.done += work;
    if (!isStream) this.#learn(load, work);
  }

  beginStream(load: KeyLoad): StreamLoad {
    load.streams += 1;
    this.#streams += 1;
    return new StreamLoad(load, (work) => {
      load.streams -= 1;
      this.#streams -= 1;
      this.#learn(load, work);
    });
  }

  /** Counts a request that was refused. False: there are so many that this one should be answered in the cheapest way and not be logged. */
  noteRefusal(): boolean {
    this.#refused += 1;
    if (this.#report === null) {
      this.#report = setTimeout(() => this.#reportRefusals(), reportAfterMs);
      this.#report.unref();
    }
    return this.#refused <= maxLogged;
  }

  /** How long a request that is seen now has waited at most. */
  waitedMs(now: number): number {
    return this.#loop.waitedMs(now);
  }

  state(): AdmissionState {
    return { running: this.#running, streams: this.#streams, isOverloaded: this.#loop.isOverloaded };
  }

  /** Seconds, different from one refusal to the next. */
  chooseRetryAfter(): number {
    this.#refusals += 1;
    return 1 + (this.#refusals % maxRetryAfter);
  }

  #mustRefuse(load: KeyLoad, now: number): boolean {
    const loop = this.#loop;
    if (loop.isPaused(now)) return true;
    const atOnce = this.#running + this.#streams;
    if (loop.isOverloaded && atOnce >= minAtOnce) {
      // The keys that ask for less than their share, or got less, are served in any case.
      const isCause = demandOf(load) >= this.#fullShare && workOf(load) >= this.#share * certainShare;
      if (isCause && (atOnce >= this.#maxAtOnce || loop.isLate(now))) return true;
    }
    if (this.#running < this.#maxRunning / 2) return false;
    const keys = load.running === 0 ? this.#runningKeys + 1 : this.#runningKeys;
    return load.running >= this.#maxRunning / keys || this.#running >= this.#maxRunning * 2;
  }

  #adjust(maxAtOnce: number): number {
    const atOnce = this.#running + this.#streams;
    return Math.min(atOnce * maxAbove, Math.max(atOnce * minBelow, maxAtOnce * changes[this.#loop.pace]));
  }

  #computeShares(): void {
    let work = 0;
    let demand = 0;
    const demands: number[] = [];
    for (const load of this.#keys.values()) {
      reduce(load, this.#clock);
      work += workOf(load);
      demand += demandOf(load);
      demands.push(demandOf(load));
    }
    demands.sort((one, other) => one - other);
    this.#mostWork = Math.max(work, this.#mostWork * keptWork);
    // Whatever could be done before, it is less than is demanded now.
    this.#fullShare = divide(Math.min(this.#mostWork, demand * certainShare), demands);
    this.#share = divide(work, demands);
  }

  #find(keyId: string): KeyLoad {
    let load = this.#keys.get(keyId);
    if (load === undefined) {
      load = { running: 0, streams: 0, done: 0, admitted: 0, asked: 0, at: this.#clock, average: this.#average };
      this.#keys.set(keyId, load);
    }
    reduce(load, this.#clock);
    return load;
  }

  #learn(load: KeyLoad, work: number): void {
    load.average += (work - load.average) * weightOfRequest;
    this.#average += (work - this.#average) * weightOfRequest;
  }

  #forgetIdle(): void {
    this.#forgottenAt = this.#clock;
    for (const [keyId, load] of this.#keys) {
      const isIdle = this.#clock - load.at > forgetEveryMs;
      if (isIdle && load.running === 0 && load.streams === 0) this.#keys.delete(keyId);
    }
  }

  #reportRefusals(): void {
    this.#log.warn("requests were refused because this process is overloaded", {
      refused: this.#refused,
      running: this.#running,
      streams: this.#streams,
      keys: this.#keys.size,
    });
    this.#refused = 0;
    this.#report = null;
  }
}

export interface AdmissionState {
  /** Requests of inference keys whose answer has not begun. */
  readonly running: number;
  readonly streams: number;
  readonly isOverloaded: boolean;
}

/** For the metrics. */
export function describeAdmission({ running, streams, isOverloaded }: AdmissionState): Family[] {
  const gauge = (name: string, help: string, value: number): Family => {
    return { name, help, type: "gauge", merge: "sum", samples: [{ labels: {}, value }] };
  };
  return [
    gauge("running_requests", "Requests of inference keys whose answer has not begun.", running),
    gauge("running_streams", "Streams that are being sent.", streams),
    gauge("overloaded_processes", "Processes that refuse requests because they are overloaded.", Number(isOverloaded)),
  ];
}

/** A stream that has begun. */
export class StreamLoad {
  readonly #load: KeyLoad;
  readonly #onEnd: (work: number) => void;
  #events = 0;
  #hasEnded = false;

  constructor(load: KeyLoad, onEnd: (work: number) => void) {
    this.#load = load;
    this.#onEnd = onEnd;
  }

  count(events: number): void {
    this.#events += events;
    this.#load.done += events / eventsPerWork;
  }

  /** Idempotent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd(1 + this.#events / eventsPerWork);
  }
}

/** Streams that were admitted long ago may be work still, and requests that were admitted now will be. */
function workOf(load: KeyLoad): number {
  return Math.max(load.admitted, load.done);
}

function demandOf(load: KeyLoad): number {
  return Math.max(load.asked, load.done);
}

/** The share of each: a key that demands less gets what it demands, and all others get the same. The demands are in ascending order. */
function divide(work: number, demands: readonly number[]): number {
  let left = work;
  for (const [index, demand] of demands.entries()) {
    const share = left / (demands.length - index);
    if (demand >= share) return share;
    left -= demand;
  }
  return Number.POSITIVE_INFINITY;
}

function reduce(load: KeyLoad, clock: number): void {
  if (load.at === clock) return;
  const kept = Math.exp((load.at - clock) / decayMs);
  load.at = clock;
  load.done *= kept;
  load.admitted *= kept;
  load.asked *= kept;
}
