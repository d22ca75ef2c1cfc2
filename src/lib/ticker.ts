// Many timeouts on one timer. A request has several timeouts, and a stream restarts one with every chunk; separate timers would cost more
// than the work that they guard. The price is precision: timeouts are checked once per tick.

export interface Watched {
  /** Set by the ticker; -1 while the item is not watched. */
  index: number;
  /** Checks the item's own timeouts. `now` is the ticker's time. */
  check(now: number): void;
}

export type Ticker = ReturnType<typeof createTicker>;

/** `report` gets the error of a check that threw; by default it becomes an unhandled rejection, which is logged. */
export function createTicker(tickMs: number, report: (error: unknown) => void = rejectUnhandled) {
  // Not a Set: when many items are added and removed, the old tables of a Set keep removed items alive until a full garbage collection
  // (docs/decisions/0014-short-lives.md).
  const all: Watched[] = [];
  let now = performance.now();
  const timer = setInterval(() => {
    now = performance.now();
    // From the end: an item that is removed meanwhile is replaced by the last one, which has already been visited.
    for (let index = all.length - 1; index >= 0; index--) {
      // A check that throws must not prevent the checks of other requests.
      try {
        all[index]?.check(now);
      } catch (error) {
        report(error);
      }
    }
  }, tickMs);

  return {
    /** The time of the last tick, as in `performance.now()`, without the cost of that call. */
    get now(): number {
      return now;
    },
    watch(watched: Watched): void {
      if (watched.index < 0) watched.index = all.push(watched) - 1;
    },
    forget(watched: Watched): void {
      const { index } = watched;
      if (index < 0) return;
      watched.index = -1;
      const last = all.pop();
      if (last === undefined || last === watched) return;
      last.index = index;
      all[index] = last;
    },
    close(): void {
      clearInterval(timer);
      for (const watched of all.splice(0)) watched.index = -1;
    },
  };
}

function rejectUnhandled(error: unknown): void {
  void Promise.reject(error);
}
