// The health of each offer: a circuit breaker that opens when most calls fail, admits a probe after a while, and closes with the first
// good answer; and the figures that operators see. In memory, per process.

import type { ErrorCode } from "../errors.ts";

export interface BreakerSettings {
  /** Failures within the window that open the circuit, when they are at least half of the calls. 0: never. */
  readonly breakerFailures: number;
  readonly breakerWindowMs: number;
  /** How long it stays open the first time; it doubles with every probe that fails, up to eight times this. */
  readonly breakerOpenMs: number;
}

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter: number | null;
}

type LastError = Pick<Failure, "code" | "message"> & { readonly at: Date };

/** Failures of the provider itself. A refusal of one request, or of our credentials, does not open a circuit. */
const breakingCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_timeout",
]);
/** After these, other offers of a pool go first for a while; the circuit stays closed. */
const coolingCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["provider_rate_limited", "provider_auth_failed"]);

/** A failure of the provider itself, or of its credentials. Other codes refuse one request. */
export function isProviderFailure(code: ErrorCode): boolean {
  return breakingCodes.has(code) || coolingCodes.has(code);
}

const maxOpenFactor = 8;
// A probe may take as long as an answer does; after this long another probe is admitted.
const probeMs = 10_000;
const minOutlierFailures = 5;
const coolMs = 5_000;
const maxCoolMs = 60_000;
// The share of a new measurement in the running mean.
const newShare = 0.2;

/** How a call was admitted. Only a probe decides about an open circuit. */
export type Admission = "call" | "probe";

export class OfferHealth {
  readonly #settings: BreakerSettings;
  // Two halves of the window: the older one is dropped as a whole.
  #windowStart = 0;
  #recent = { good: 0, bad: 0 };
  #older = { good: 0, bad: 0 };
  #openUntil = 0;
  #openMs = 0;
  #isOpen = false;
  /** 0 while no probe runs. */
  #probeUntil = 0;
  #coolUntil = 0;
  calls = 0;
  failures = 0;
  /** Milliseconds until the first byte of an answer, as a running mean; null before the first. */
  latencyMs: number | null = null;
  lastError: LastError | null = null;

  constructor(settings: BreakerSettings) {
    this.#settings = settings;
  }

  /** Null: the call is refused. An admitted call has to end with `succeeded`, `failed` or `cancelled`. */
  admit(now: number): Admission | null {
    if (!this.#isOpen) return "call";
    if (!this.wouldAdmit(now)) return null;
    this.#probeUntil = now + probeMs;
    return "probe";
  }

  /** Whether `admit` would admit a call at this time. */
  wouldAdmit(now: number): boolean {
    return !this.#isOpen || (now >= this.#openUntil && now >= this.#probeUntil);
  }

  state(now: number): "closed" | "open" | "half_open" {
    if (!this.#isOpen) return "closed";
    return now < this.#openUntil ? "open" : "half_open";
  }

  opensInMs(now: number): number {
    return this.#isOpen ? Math.max(0, this.#openUntil - now) : 0;
  }

  /** The provider limits its rate, or at least half of the recent calls failed: other offers of a pool go first. */
  isOutlier(now: number): boolean {
    if (now < this.#coolUntil) return true;
    this.#turnWindow(now);
    return this.#mostFail(minOutlierFailures);
  }

  succeeded(now: number, admission: Admission, firstByteMs: number): void {
    this.#turnWindow(now);
    this.calls++;
    this.#recent.good++;
    this.latencyMs = this.latencyMs === null ? firstByteMs : this.latencyMs + newShare * (firstByteMs - this.latencyMs);
    if (admission === "probe") this.#close();
  }

  /** `isFirst`: a request that is retried at the same offer counts once. */
  failed(now: number, admission: Admission, error: Failure, isFirst: boolean): void {
    this.#turnWindow(now);
    this.calls++;
    this.broke(error);
    if (coolingCodes.has(error.code)) {
      const requestedMs = error.retryAfter === null ? coolMs : error.retryAfter * 1_000;
      this.#coolUntil = now + Math.min(requestedMs, maxCoolMs);
    }
    const { breakerFailures, breakerOpenMs } = this.#settings;
    const breaks = breakingCodes.has(error.code);
    if (breaks && isFirst) this.#recent.bad++;
    if (admission === "probe") {
      // Any answer, even a refusal, shows that the provider is available.
      if (!breaks) this.#close();
      else this.#open(now, Math.min(this.#openMs * 2, breakerOpenMs * maxOpenFactor));
    } else if (breaks && !this.#isOpen && breakerFailures > 0 && this.#mostFail(breakerFailures))
      this.#open(now, breakerOpenMs);
  }

  /** A stream that broke after its first event: it is listed, and does not count towards the circuit. */
  broke({ code, message }: Pick<Failure, "code" | "message">): void {
    this.failures++;
    this.lastError = { code, message, at: new Date() };
  }

  /** The caller left, or nothing was sent, so the call says nothing about the provider. */
  cancelled(admission: Admission): void {
    if (admission === "probe") this.#probeUntil = 0;
  }

  /** At least this many calls, and at least half of all calls, failed. */
  #mostFail(minFailures: number): boolean {
    const bad = this.#recent.bad + this.#older.bad;
    return bad >= minFailures && bad >= this.#recent.good + this.#older.good;
  }

  #open(now: number, openMs: number): void {
    this.#isOpen = true;
    this.#openMs = openMs;
    this.#openUntil = now + openMs;
    this.#probeUntil = 0;
  }

  #close(): void {
    this.#isOpen = false;
    this.#probeUntil = 0;
    this.#recent = { good: 0, bad: 0 };
    this.#older = { good: 0, bad: 0 };
  }

  #turnWindow(now: number): void {
    const halfMs = this.#settings.breakerWindowMs / 2;
    if (now - this.#windowStart < halfMs) return;
    const isNext = now - this.#windowStart < 2 * halfMs;
    this.#older = isNext ? this.#recent : { good: 0, bad: 0 };
    this.#recent = { good: 0, bad: 0 };
    this.#windowStart = now;
  }
}

// Callers choose model names freely, so the number of records is bounded.
const mostOffers = 10_000;

/** The health of every offer that was called, by deployment and model. */
export class HealthBook {
  readonly #settings: BreakerSettings;
  readonly #offers = new Map<string, OfferHealth>();

  constructor(settings: BreakerSettings) {
    this.#settings = settings;
  }

  of(deployment: string, model: string): OfferHealth {
    const name = `${deployment} ${model}`;
    const found = this.#offers.get(name);
    if (found !== undefined) return found;
    if (this.#offers.size >= mostOffers) this.#forgetOne();
    const health = new OfferHealth(this.#settings);
    this.#offers.set(name, health);
    return health;
  }

  /** Drops the oldest record whose circuit is closed: naming many models must not close an open circuit. */
  #forgetOne(): void {
    const now = performance.now();
    for (const [name, health] of this.#offers)
      if (health.state(now) === "closed") {
        this.#offers.delete(name);
        return;
      }
    this.#offers.clear();
  }

  /** A deployment has other credentials, so what is known about it no longer applies. Running calls end in the old records. */
  forgetDeployment(deployment: string): void {
    for (const name of this.#offers.keys()) if (name.startsWith(`${deployment} `)) this.#offers.delete(name);
  }

  /** The offers of a deployment that were called, by model or task. A plan has records of offers that were not. */
  *ofDeployment(deployment: string): Generator<[model: string, health: OfferHealth]> {
    const prefix = `${deployment} `;
    for (const [name, health] of this.#offers)
      if (health.calls > 0 && name.startsWith(prefix)) yield [name.slice(prefix.length), health];
  }
}
