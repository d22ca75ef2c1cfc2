// Many clocks on one timer. A request has several and a stream starts one anew with every chunk; a timer each would cost
// more than the work that it guards. The price is precision: what is watched is looked at once per tick.

import { SlotList, type Slotted } from "./slot-list.ts";

export interface Watched extends Slotted {
  /** Looks at its own clocks. `now` is the ticker's. */
  check(now: number): void;
}

export interface Ticker {
  /** The time of the last tick, in the milliseconds of `performance.now()`: to read it costs nothing. */
  readonly now: number;
  watch(watched: Watched): void;
  forget(watched: Watched): void;
  close(): void;
}

/** `report` hears of a check that threw; by default the error reaches the process as an unhandled rejection, which is logged. */
export function createTicker(tickMs: number, report: (error: unknown) => void = rejectUnhandled): Ticker {
  const all = new SlotList<Watched>();
  let now = performance.now();
  // One check that throws must not keep the timeouts of all other requests from being looked at.
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
