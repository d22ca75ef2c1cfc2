// Decides whether a request is served, before its body is read. While this process is overloaded, some requests are refused with 503, so that
// the others are served in time. The keys share the capacity equally: a key that requests less than its share is not refused.

import type { Log } from "../log.ts";
import type { Family } from "../metrics/family.ts";
import { EventLoopLoad, type LoadLimits, watchEventLoop } from "./load-watch.ts";

/** The load of one key. The work of a short request is 1. `done`, `admitted` and `asked` decay over time. */
export interface KeyLoad {
  /** Requests whose answer has not begun. Streams do not count, because they may be idle: only the events that they send are work. */
  running: number;
  streams: number;
  done: number;
  /** The work that the admitted requests will cause, estimated from earlier requests. */
  admitted: number;
  /** Like `admitted`, including refused requests. */
  asked: number;
  /** When the three decaying values were last updated, by the clock of `Admission`. */
  at: number;
  /** The average work of one request of this key. */
  average: number;
}

export interface AdmissionOptions {
  readonly loadLimits?: Partial<LoadLimits>;
  /** The target for requests of all keys whose answer has not begun. The hard limit is twice as high. */
  readonly maxRunning: number;
  readonly log: Log;
}

// The time constant of the decay: at a steady rate, `done` is about the work of this time.
const decayMs = 300;
// While overloaded, one turn of the event loop advances the clock of the decay by at most this, because its work is counted when it ends.
const maxTurnMs = 50;
const adjustEveryMs = 50;
const forgetEveryMs = 60_000;
const smoothingFactor = 0.1;
// With fewer concurrent requests and streams than this, the delay comes from heavy requests or from a lack of processor time. Refusing some of
// them would not make the others faster.
const minAtOnce = 128;
/** The work of reading and sending a body, and of sending one event of a stream. */
const bytesPerWork = 12_000;
const eventsPerWork = 6;
// How fast the limit of concurrent requests and streams follows the event loop. It changes slowly, because admitted streams cause work for a
// while, and it stays close to the current number, so that it can change direction soon.
const limitFactorByPace = { short: 1.04, right: 1.01, long: 0.97 };
const maxAbove = 1.1;
const minBelow = 0.85;
// The fraction of `#mostWork` that is kept at each adjustment. Refusals lower the current work, so shares of that alone would be too small.
const mostWorkDecay = 0.98;
/** A key that did less than this fraction of its share is not refused for overload. */
const guaranteedFraction = 0.85;
/** During an overload, the capacity is estimated as at most this fraction of the demand. */
const capacityOfDemand = 0.85;
// Refused clients should not all retry at the same time.
const maxRetryAfterSeconds = 3;
const reportAfterMs = 1_000;
// Between two reports, this many refusals are logged one by one. The others are only counted, because a log line costs more than a refusal.
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
  /** The clock by which work decays. */
  #clock = 0;
  #forgottenAt = 0;
  /** The limit of concurrent requests and streams of all keys. */
  #maxAtOnce = Number.POSITIVE_INFINITY;
  /** The most work that all keys together have done recently. */
  #mostWork = 0;
  /** The fair share of `#mostWork`. */
  #fullShare = Number.POSITIVE_INFINITY;
  /** The fair share of the work that is done now. */
  #share = Number.POSITIVE_INFINITY;
  #adjustedAt = 0;
  #refusedSinceReport = 0;
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

  /** True while the event loop is overloaded, so that requests may be refused. */
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

  /** Call it when the answer to a request with a body of this length begins. A stream then no longer counts as running: pass it to `beginStream`. */
  answered(load: KeyLoad, bodyBytes: number, isStream: boolean): void {
    load.running -= 1;
    this.#running -= 1;
    if (load.running === 0) this.#runningKeys -= 1;
    const work = 1 + bodyBytes / bytesPerWork;
    load.done += work;
    if (!isStream) this.#learn(load, work);
  }

  /** Call it for bytes that `answered` was not told about: those of messages of WebSockets. */
  countBytes(keyId: string, bytes: number): void {
    this.#find(keyId).done += bytes / bytesPerWork;
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

  /** Counts a refused request. False: there are so many that this one should be answered in the cheapest way, without a line in the log. */
  noteRefusal(): boolean {
    this.#refusedSinceReport += 1;
    if (this.#report === null) {
      this.#report = setTimeout(() => this.#reportRefusals(), reportAfterMs);
      this.#report.unref();
    }
    return this.#refusedSinceReport <= maxLogged;
  }

  /** An upper bound of how long a request that is read now has waited. */
  waitedMs(now: number): number {
    return this.#loop.waitedMs(now);
  }

  state(): AdmissionState {
    return { running: this.#running, streams: this.#streams, isOverloaded: this.#loop.isOverloaded };
  }

  /** In seconds. Successive refusals get different values. */
  chooseRetryAfter(): number {
    this.#refusals += 1;
    return 1 + (this.#refusals % maxRetryAfterSeconds);
  }

  #mustRefuse(load: KeyLoad, now: number): boolean {
    const loop = this.#loop;
    if (loop.isPaused(now)) return true;
    const atOnce = this.#running + this.#streams;
    if (loop.isOverloaded && atOnce >= minAtOnce) {
      // A key below its share is not refused for overload.
      const exceedsShare = demandOf(load) >= this.#fullShare && workOf(load) >= this.#share * guaranteedFraction;
      if (exceedsShare && (atOnce >= this.#maxAtOnce || loop.isLate(now))) return true;
    }
    if (this.#running < this.#maxRunning / 2) return false;
    const keys = load.running === 0 ? this.#runningKeys + 1 : this.#runningKeys;
    return load.running >= this.#maxRunning / keys || this.#running >= this.#maxRunning * 2;
  }

  #adjust(maxAtOnce: number): number {
    const atOnce = this.#running + this.#streams;
    return Math.min(atOnce * maxAbove, Math.max(atOnce * minBelow, maxAtOnce * limitFactorByPace[this.#loop.pace]));
  }

  #computeShares(): void {
    let work = 0;
    let demand = 0;
    const demands: number[] = [];
    for (const load of this.#keys.values()) {
      decay(load, this.#clock);
      work += workOf(load);
      demand += demandOf(load);
      demands.push(demandOf(load));
    }
    demands.sort((one, other) => one - other);
    this.#mostWork = Math.max(work, this.#mostWork * mostWorkDecay);
    // Overload means that the capacity is below the current demand, even if `#mostWork` is higher.
    this.#fullShare = computeFairShare(Math.min(this.#mostWork, demand * capacityOfDemand), demands);
    this.#share = computeFairShare(work, demands);
  }

  #find(keyId: string): KeyLoad {
    let load = this.#keys.get(keyId);
    if (load === undefined) {
      load = { running: 0, streams: 0, done: 0, admitted: 0, asked: 0, at: this.#clock, average: this.#average };
      this.#keys.set(keyId, load);
    }
    decay(load, this.#clock);
    return load;
  }

  #learn(load: KeyLoad, work: number): void {
    load.average += (work - load.average) * smoothingFactor;
    this.#average += (work - this.#average) * smoothingFactor;
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
      refused: this.#refusedSinceReport,
      running: this.#running,
      streams: this.#streams,
      keys: this.#keys.size,
    });
    this.#refusedSinceReport = 0;
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

/** The larger of finished and expected work: old streams may still cause work, and new requests will. */
function workOf(load: KeyLoad): number {
  return Math.max(load.admitted, load.done);
}

function demandOf(load: KeyLoad): number {
  return Math.max(load.asked, load.done);
}

/** The max-min fair share of each key: keys that demand less get what they demand, and the others share the rest equally. The demands are in ascending order. */
function computeFairShare(work: number, demands: readonly number[]): number {
  let left = work;
  for (const [index, demand] of demands.entries()) {
    const share = left / (demands.length - index);
    if (demand >= share) return share;
    left -= demand;
  }
  return Number.POSITIVE_INFINITY;
}

function decay(load: KeyLoad, clock: number): void {
  if (load.at === clock) return;
  const kept = Math.exp((load.at - clock) / decayMs);
  load.at = clock;
  load.done *= kept;
  load.admitted *= kept;
  load.asked *= kept;
}
