// Waits that end: at a deadline, or when a signal fires. No function here leaves a timer or a listener behind.

export interface DeadlineOptions {
  /** Without it the signals alone end the work. */
  readonly timeoutMs?: number;
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** The abort reason. `fired` is the signal that fired, null at the timeout. By default that signal's reason, or a `TimeoutError`. */
  readonly reason?: (fired: AbortSignal | null) => unknown;
}

/** Dispose of it (`using`) when the work is over. */
export interface Deadline extends Disposable {
  /** Fires at the timeout, or with the first of the outer signals. */
  readonly signal: AbortSignal;
}

// A longer delay overflows the timer, which would fire at once.
const longestTimerMs = 2 ** 31 - 1;

/** Unlike `AbortSignal.any`, leaves no dependent signal on an outer signal that lives as long as the process. */
export function startDeadline({ timeoutMs, signals = [], reason = defaultReason }: DeadlineOptions): Deadline {
  const controller = new AbortController();
  const outer = signals.filter((signal) => signal !== undefined);
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, toDelay(timeoutMs), null);
  const onAbort = ({ target }: Event) => end(target as AbortSignal);

  function end(fired: AbortSignal | null): void {
    stop();
    controller.abort(reason(fired));
  }
  function stop(): void {
    clearTimeout(timer);
    for (const signal of outer) signal.removeEventListener("abort", onAbort);
  }

  for (const signal of outer) signal.addEventListener("abort", onAbort);
  const fired = outer.find(({ aborted }) => aborted);
  if (fired !== undefined) end(fired);
  return { signal: controller.signal, [Symbol.dispose]: stop };
}

function defaultReason(fired: AbortSignal | null): unknown {
  return fired === null ? new DOMException("The operation timed out.", "TimeoutError") : fired.reason;
}

/** Runs `work` with the deadline's signal and waits until the work itself has ended: a result that comes late is not lost. */
export async function withDeadline<Value>(
  options: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  using deadline = startDeadline(options);
  return await work(deadline.signal);
}

/** The promise's result, or the signal's reason when the promise is still pending `graceMs` after the signal fired. */
export async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal, graceMs = 0): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reject = () => aborted.reject(signal.reason);
  const abort = () => {
    if (graceMs === 0) reject();
    else timer = setTimeout(reject, toDelay(graceMs));
  };
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    // `race` also handles a rejection that comes after it has settled.
    return await Promise.race([promise, aborted.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Resolves to whether the promise was fulfilled in time; rejects when the promise is rejected in time. */
export async function endsWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timeout = Promise.withResolvers<false>();
  const timer = setTimeout(timeout.resolve, toDelay(timeoutMs), false);
  try {
    return await Promise.race([promise.then(() => true), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves to true after the delay, or to false as soon as the signal fires. `null` waits for the signal alone. */
export function pause(delayMs: number | null, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = delayMs === null ? undefined : setTimeout(settle, toDelay(delayMs), true);
  const abort = () => settle(false);
  signal.addEventListener("abort", abort);

  function settle(isOver: boolean): void {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    resolve(isOver);
  }
  return promise;
}

function toDelay(milliseconds: number): number {
  return Math.min(Math.max(0, milliseconds), longestTimerMs);
}
