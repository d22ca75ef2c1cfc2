// Decides whether a request is served, before its body is read. While this process is overloaded, some requests are refused with 503, so that
// the others are served in time. The keys share equally what can be served: a key that asks for less than its share is not refused.

import type { Log } from "../log.ts";
import type { EventLoopLoad, LoadWatch } from "./load-watch.ts";

/** What one key uses. The work of a short request is 1; `used` and `asked` decay with time. */
export interface KeyLoad {
  /** Requests whose answer has not begun. The streams that have begun may be idle: only what they send is work. */
  running: number;
  streams: number;
  used: number;
  /** Like `used`, with the requests that were refused. */
  asked: number;
  /** When `used` and `asked` were last reduced. */
  at: number;
}

export interface AdmissionOptions {
  readonly loadWatch: LoadWatch;
  /** Requests whose answer has not begun, of all keys. */
  readonly maxRunning: number;
  readonly log: Log;
}

// The time constant of the decay: a key that works at a steady rate has used about as much as in this time.
const decayMs = 300;
const shareEveryMs = 50;
const forgetEveryMs = 60_000;
// With fewer requests and streams at once, a process that is busy has few but heavy requests, and refusing some of them helps nobody.
const minAtOnce = 32;
/** The work of reading and sending a body, and of sending one event of a stream, in short requests. */
const bytesPerWork = 12_000;
const eventsPerWork = 6;
// What can be served is estimated by what is served, with a little more, so that the estimate can rise. Streams that have begun may take more
// than there is: what is left for each key must not become nothing then.
const maxHeadroom = 1.15;
const minHeadroom = 0.7;
/** The part of its share that a key always gets. */
const certainShare = 0.75;
// The load must not come back all at once.
const maxRetryAfter = 3;
const reportAfterMs = 1_000;
// So many refused requests are logged one by one until the next report; the others are only counted, because a line costs more than a refusal.
const maxLogged = 20;

export class Admission {
  readonly #loadWatch: LoadWatch;
  readonly #loop: EventLoopLoad;
  readonly #maxRunning: number;
  readonly #log: Log;
  readonly #keys = new Map<string, KeyLoad>();
  #running = 0;
  #streams = 0;
  /** Keys with a running request. */
  #runningKeys = 0;
  #forgottenAt = 0;
  /** The work of all keys that can be served, and how much of it each key gets. */
  #capacity = 0;
  #share = Number.POSITIVE_INFINITY;
  #sharedAt = Number.NEGATIVE_INFINITY;
  #refused = 0;
  #refusals = 0;
  #report: ReturnType<typeof setTimeout> | null = null;

  constructor({ loadWatch, maxRunning, log }: AdmissionOptions) {
    this.#loadWatch = loadWatch;
    this.#loop = loadWatch.load;
    this.#maxRunning = maxRunning;
    this.#log = log;
  }

  /** Null: the request is refused. Otherwise call `end` when its answer begins, or when it fails. */
  begin(keyId: string, now: number): KeyLoad | null {
    const load = this.#find(keyId, now);
    load.asked += 1;
    this.#loop.countRequest();
    if (this.#mustRefuse(load, now)) {
      this.#loop.countRefusal();
      return null;
    }
    load.used += 1;
    if (load.running === 0) this.#runningKeys += 1;
    load.running += 1;
    this.#running += 1;
    return load;
  }

  end(load: KeyLoad): void {
    load.running -= 1;
    this.#running -= 1;
    if (load.running === 0) this.#runningKeys -= 1;
  }

  /** Counts a stream until `endStream`. It is no running request any more. */
  beginStream(load: KeyLoad): void {
    load.streams += 1;
    this.#streams += 1;
  }

  endStream(load: KeyLoad): void {
    load.streams -= 1;
    this.#streams -= 1;
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

  close(): void {
    if (this.#report !== null) clearTimeout(this.#report);
    this.#loadWatch.close();
  }

  /** Seconds, different from one refusal to the next. */
  chooseRetryAfter(): number {
    this.#refusals += 1;
    return 1 + (this.#refusals % maxRetryAfter);
  }

  #mustRefuse(load: KeyLoad, now: number): boolean {
    const loop = this.#loop;
    if (loop.isPaused(now)) return true;
    if (loop.isOverloaded && this.#running + this.#streams >= minAtOnce) {
      if (now - this.#sharedAt >= shareEveryMs) this.#computeShare(now);
      if (load.used >= this.#share) return true;
      // Late in a turn, the keys that use less than the others are still served, because they are not the cause.
      if (load.used >= this.#share * certainShare && loop.isLate(now)) return true;
    }
    if (this.#running < this.#maxRunning / 2) return false;
    const keys = load.running === 0 ? this.#runningKeys + 1 : this.#runningKeys;
    return load.running >= this.#maxRunning / keys || this.#running >= this.#maxRunning * 2;
  }

  /** The work up to which every key is served, so that all keys together get what can be served. */
  #computeShare(now: number): void {
    const isFirst = now - this.#sharedAt > decayMs;
    this.#sharedAt = now;
    let used = 0;
    const asked: number[] = [];
    for (const load of this.#keys.values()) {
      reduce(load, now);
      used += load.used;
      asked.push(load.asked);
    }
    const grown = isFirst ? used : this.#capacity * this.#loop.growth;
    this.#capacity = Math.min(used * maxHeadroom, Math.max(used * minHeadroom, grown));
    asked.sort((one, other) => one - other);
    let left = this.#capacity;
    for (const [index, work] of asked.entries()) {
      const share = left / (asked.length - index);
      if (work >= share) {
        this.#share = share;
        return;
      }
      left -= work;
    }
    this.#share = Number.POSITIVE_INFINITY;
  }

  #find(keyId: string, now: number): KeyLoad {
    if (now - this.#forgottenAt > forgetEveryMs) this.#forgetIdle(now);
    let load = this.#keys.get(keyId);
    if (load === undefined) {
      load = { running: 0, streams: 0, used: 0, asked: 0, at: now };
      this.#keys.set(keyId, load);
    }
    reduce(load, now);
    return load;
  }

  #forgetIdle(now: number): void {
    this.#forgottenAt = now;
    for (const [keyId, load] of this.#keys) {
      const isIdle = now - load.at > forgetEveryMs;
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

function reduce(load: KeyLoad, now: number): void {
  const elapsedMs = now - load.at;
  if (elapsedMs <= 0) return;
  const kept = Math.exp(-elapsedMs / decayMs);
  load.at = now;
  load.used *= kept;
  load.asked *= kept;
}

/** Adds the work of a body that was read. */
export function countBody(load: KeyLoad, bytes: number): void {
  load.used += bytes / bytesPerWork;
  load.asked += bytes / bytesPerWork;
}

/** Adds the work of events that were sent to a stream. */
export function countEvents(load: KeyLoad, events: number): void {
  load.used += events / eventsPerWork;
  load.asked += events / eventsPerWork;
}
