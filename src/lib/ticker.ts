// Many clocks on one timer. A request has several and a stream starts one anew with every chunk; a timer each would cost
// more than the work that it guards. The price is precision: what is watched is looked at once per tick.

export interface Watched {
  /** The ticker's own note of where it stands among the others; -1 while it is not watched. */
  place: number;
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

export function createTicker(tickMs: number): Ticker {
  // Not a Set: when many come and go, its earlier tables, which are garbage, keep alive what they held until a full collection.
  const all: Watched[] = [];
  let now = performance.now();
  const timer = setInterval(() => {
    now = performance.now();
    // From the end: whoever is forgotten meanwhile is replaced by the last, which has been looked at.
    for (let index = all.length - 1; index >= 0; index--) all[index]?.check(now);
  }, tickMs);

  function watch(watched: Watched): void {
    if (watched.place >= 0) return;
    watched.place = all.length;
    all.push(watched);
  }

  function forget(watched: Watched): void {
    const { place } = watched;
    if (place < 0) return;
    watched.place = -1;
    const last = all.pop();
    if (last === undefined || last === watched) return;
    last.place = place;
    all[place] = last;
  }

  return {
    get now() {
      return now;
    },
    watch,
    forget,
    close() {
      clearInterval(timer);
      for (const watched of all.splice(0)) watched.place = -1;
    },
  };
}
