// Counters that all processes of a gateway share. A process can be killed at any moment: no other process waits for it, and the supervisor
// clears what it had running.

import type { Log } from "../log.ts";
import {
  type Counter,
  type CounterEntry,
  columnsAt,
  emptyTable,
  openCounterFile,
  type Running,
  sharesAt,
  Table,
  versionAt,
  windowsAt,
} from "./counter-table.ts";
import {
  CellPacker,
  cellAt,
  countIn,
  countOf,
  maxCount,
  pack,
  readWindow,
  type StepAmount,
  sealBefore,
  stepOf,
  subtract,
  summarizeWindow,
  sumSealed,
  type Taken,
  toSteps,
  type WindowKind,
  type WindowState,
  type WindowSummary,
  waitFor,
} from "./window-cells.ts";

// For a process that counts alone.
const privateEntries = 4_096;
const searchAgainAfterMs = 1_000;
const maxClockReads = 3;

/** Where a process finds the counters that it shares with others. */
export interface CounterFile {
  readonly path: string;
  readonly slot: number;
}

/** Counts in this process alone when there is no file, or it cannot be opened. */
export function openCounters(file: CounterFile | null, log: Log): SharedCounters {
  if (file === null) return new SharedCounters();
  const warnings = { isFull: false };
  try {
    const onFull = () => {
      if (!warnings.isFull) log.warn("too many keys are active at once: some limits are counted per process");
      warnings.isFull = true;
    };
    return new SharedCounters({ table: openCounterFile(file.path), slot: file.slot, onFull });
  } catch (error) {
    log.warn("the shared counters cannot be opened: this process counts its requests alone", { error });
    return new SharedCounters();
  }
}

export interface SharedCountersOptions {
  /** Null: this process counts alone. */
  readonly table?: Table | null;
  readonly slot?: number;
  /** Called when the shared table has no free entry, so that this process counts alone. */
  readonly onFull?: () => void;
  readonly now?: () => number;
}

export interface TakeOptions {
  readonly limit: number;
  readonly amount: number;
  /** Only what the store granted for this window may be used. */
  readonly isShared: boolean;
}

/** The counters of one process, over the table that it shares with the others. */
export class SharedCounters {
  readonly #table: Table;
  readonly #slot: number;
  readonly #onFull: () => void;
  readonly #now: () => number;
  readonly #packer = new CellPacker();

  constructor({ table = null, slot = 0, onFull = () => {}, now = Date.now }: SharedCountersOptions = {}) {
    this.#table = table ?? new Table(emptyTable({ entries: privateEntries, slots: 1 }));
    this.#slot = table === null ? 0 : slot;
    this.#onFull = onFull;
    this.#now = now;
  }

  /**
   * Counts `amount` in the current step unless the sum of the window would exceed `limit`.
   *
   * A process seals the steps before the current one. Another process that read the clock before finds its step sealed, and counts in the
   * next one. So what was counted before does not grow while the current step is checked against it.
   */
  take(
    counter: Counter,
    kind: WindowKind,
    options: TakeOptions & { readonly isShared: false },
  ): Exclude<Taken, "shareUsedUp">;
  take(counter: Counter, kind: WindowKind, options: TakeOptions): Taken;
  take(counter: Counter, kind: WindowKind, { limit, amount, isShared }: TakeOptions): Taken {
    let now = this.#now();
    const { table, entry } = this.#locate(counter, now);
    const at = entry + windowsAt[kind];
    let earliest = 0;
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) now = this.#now();
      const time = toSteps(kind, now);
      const step = Math.max(Math.floor(time), earliest);
      const elapsed = Math.max(0, time - step);
      const before = sumSealed(table, at, { step, elapsed });
      // Another process has read the clock later. Steps that stay ahead remain from a clock that was set back.
      if (before === "later" && attempt < maxClockReads) continue;
      const sum = typeof before === "number" ? before : sealBefore(table, at, { step, elapsed });
      if (sum === null) continue;
      const cell = cellAt(at, step);
      // The halves may be those of two moments; then the exchange fails.
      const high = Atomics.load(table.numbers, cell * 2 + 1) >>> 0;
      const count = Atomics.load(table.numbers, cell * 2) >>> 0;
      if (high === step * 2 + 1) {
        earliest = step + 1;
        continue;
      }
      const current = high === step * 2 ? count : 0;
      if (current + sum + amount > limit)
        return { waitMs: waitFor(readWindow(table, at, { step, elapsed }), { kind, limit, amount }) };
      if (isShared && current + amount > countIn(table, entry + sharesAt[kind], step)) return "shareUsedUp";
      const value = this.#packer.pack(high, count);
      const next = this.#packer.pack(step * 2, Math.min(maxCount, current + amount));
      if (Atomics.compareExchange(table.words, cell, value, next) === value) return { step };
    }
  }

  /** Removes an amount from the step in which it was counted, unless that is too long ago to matter. */
  giveBack(counter: Counter, kind: WindowKind, taken: StepAmount): void {
    const { table, entry } = this.#locate(counter, this.#now());
    subtract(table, cellAt(entry + windowsAt[kind], taken.step), taken, this.#packer);
  }

  /** Counts an amount that was used already, whatever the limit. */
  add(counter: Counter, kind: WindowKind, amount: number): void {
    this.take(counter, kind, { limit: Number.POSITIVE_INFINITY, amount, isShared: false });
  }

  read(counter: Counter, kind: WindowKind): WindowState {
    const now = this.#now();
    const { table, entry } = this.#locate(counter, now);
    const time = toSteps(kind, now);
    const step = Math.floor(time);
    return readWindow(table, entry + windowsAt[kind], { step, elapsed: time - step });
  }

  /** What counts towards a limit now, and how long that lasts. */
  summarize(counter: Counter, kind: WindowKind): WindowSummary {
    const now = this.#now();
    const { table, entry } = this.#locate(counter, now);
    const time = toSteps(kind, now);
    const step = Math.floor(time);
    return summarizeWindow(table, entry + windowsAt[kind], kind, { step, elapsed: time - step });
  }

  /** What was counted in one of the last seven steps. */
  countOf(counter: Counter, kind: WindowKind, step: number): number {
    const { table, entry } = this.#locate(counter, this.#now());
    return countIn(table, cellAt(entry + windowsAt[kind], step), step);
  }

  /** What the store granted for a step, all grants together. */
  grant(counter: Counter, kind: WindowKind, { step, amount }: StepAmount): void {
    const { table, entry } = this.#locate(counter, this.#now());
    const cell = entry + sharesAt[kind];
    for (;;) {
      const value = Atomics.load(table.words, cell);
      if (stepOf(value) === step + 1) return;
      // Two processes may have asked the store, and the later grant includes the earlier one.
      const before = stepOf(value) === step ? countOf(value) : 0;
      const next = pack(step, false, Math.min(maxCount, Math.max(before, amount)));
      if (Atomics.compareExchange(table.words, cell, value, next) === value) return;
    }
  }

  /** The entry of a counter in the table, for requests that are running. It stays valid as long as one of them is counted there. */
  entryOf(counter: Counter): CounterEntry {
    const { table, entry } = this.#locate(counter, this.#now());
    return { table, entry };
  }

  /** False when `limit` are running already. */
  begin({ table, entry }: CounterEntry, what: Running, limit: number): boolean {
    const column = this.#columnOf(table, entry, what);
    const version = entry * 2 + versionAt;
    for (;;) {
      const seen = Atomics.load(table.numbers, version);
      if (table.sumRunning(entry, what) >= limit) return false;
      // Counted before it is confirmed, so that the sum of another process contains it. If another process was confirmed meanwhile, the sum
      // is taken again.
      Atomics.add(table.numbers, column, 1);
      if (Atomics.compareExchange(table.numbers, version, seen, (seen + 1) | 0) === seen) return true;
      Atomics.sub(table.numbers, column, 1);
    }
  }

  end({ table, entry }: CounterEntry, what: Running): void {
    Atomics.sub(table.numbers, this.#columnOf(table, entry, what), 1);
  }

  countRunning(counter: Counter, what: Running): number {
    const { table, entry } = this.#locate(counter, this.#now());
    return table.sumRunning(entry, what);
  }

  #columnOf(table: Table, entry: number, what: Running): number {
    return entry * 2 + columnsAt + what + (table === this.#table ? this.#slot * 2 : 0);
  }

  /** Where the counter is now. Notes its use first, so that no other process replaces the entry afterwards. */
  #locate(counter: Counter, now: number): CounterEntry {
    const { table, entry } = counter;
    const seconds = Math.floor(now / 1_000);
    if (table === this.#table) {
      table.noteUse(entry, seconds);
      if (table.holds(entry, counter)) return counter as CounterEntry;
    } else if (table !== null && now < counter.searchAt) return counter as CounterEntry;
    const found = this.#table.find(counter, this.#slot, seconds);
    if (found >= 0) {
      counter.table = this.#table;
      counter.entry = found;
    } else {
      counter.searchAt = now + searchAgainAfterMs;
      this.#onFull();
      if (table === null || table === this.#table) {
        counter.table = new Table(emptyTable({ entries: 1, slots: 1 }));
        counter.entry = counter.table.firstEntry;
      }
    }
    return counter as CounterEntry;
  }
}
