// Many timeouts on one timer. A request has several timeouts, and a stream restarts one with every chunk; separate timers would cost more
// than the work that they guard. The price is precision: timeouts are checked once per tick.

import { SlotList, type Slotted } from "./slot-list.ts";

export interface Watched extends Slotted {
  /** Checks the item's own timeouts. `now` is the ticker's time. */
  check(now: number): void;
}

export interface Ticker {
  /** The time of the last tick, as in `performance.now()`, without the cost of that call. */
  readonly now: number;
  watch(watched: Watched): void;
  forget(watched: Watched): void;
  close(): void;
}

/** `report` gets the error of a check that threw; by default it becomes an unhandled rejection, which is logged. */
export function createTicker(tickMs: number, report: (error: unknown) => void = rejectUnhandled): Ticker {
  const all = new SlotList<Watched>();
  let now = performance.now();
  // A check that throws must not prevent the checks of other requests.
  const check = (watched: Watched) => {
    try {
      watched.check(now);
    } catch (error) {
      report(error);
    }
  };
  const timer = setInterval(() => {
    now = performance.now();
    all.forEach(check);
  }, tickMs);

  return {
    get now() {
      return now;
    },
    watch: (watched) => all.add(watched),
    forget: (watched) => all.remove(watched),
    close() {
      clearInterval(timer);
      all.clear();
    },
  };
}

function rejectUnhandled(error: unknown): void {
  void Promise.reject(error);
}
