// Many cheap deadlines on one timer. A request has several clocks and a stream resets one with every chunk; a timer each
// would cost more than the work that it guards. The price is precision: a deadline fires up to one tick late.

export interface Deadline {
  /** Starts again, counting from now. */
  restart(): void;
  stop(): void;
}

export interface Deadlines {
  start(milliseconds: number, onExpired: () => void): Deadline;
  /** Stops the timer; nothing fires afterwards. */
  close(): void;
}

interface Entry extends Deadline {
  at: number;
  readonly milliseconds: number;
  readonly onExpired: () => void;
}

export function createDeadlines(tickMs: number): Deadlines {
  const entries = new Set<Entry>();
  let timer: ReturnType<typeof setInterval> | null = null;

  function tick(): void {
    const now = performance.now();
    for (const entry of entries) {
      if (entry.at > now) continue;
      entries.delete(entry);
      entry.onExpired();
    }
    if (entries.size === 0) pause();
  }

  function pause(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    start(milliseconds, onExpired) {
      if (timer === null) timer = setInterval(tick, tickMs);
      const entry: Entry = {
        at: performance.now() + milliseconds,
        milliseconds,
        onExpired,
        restart() {
          entry.at = performance.now() + milliseconds;
          entries.add(entry);
          if (timer === null) timer = setInterval(tick, tickMs);
        },
        stop() {
          entries.delete(entry);
        },
      };
      entries.add(entry);
      return entry;
    },
    close() {
      entries.clear();
      pause();
    },
  };
}
