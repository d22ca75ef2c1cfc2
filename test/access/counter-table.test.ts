// The table of counters that the processes of a gateway share, with several of them played in one process: each has its slot.

import { describe, expect, test } from "bun:test";
import { Counter, emptyTable, running, Table } from "../../src/access/counter-table.ts";
import { SharedCounters } from "../../src/access/shared-counters.ts";

const startedAt = 60_000_000;

/** A table, and the counters of processes on it. All processes have the same clock. */
function openTable(entries = 64) {
  const clock = { now: startedAt };
  const table = new Table(emptyTable({ entries, slots: 8 }));
  const warnings: number[] = [];
  const openProcess = (slot: number) => {
    table.useSlot(slot);
    return new SharedCounters({ table, slot, now: () => clock.now, onFull: () => warnings.push(slot) });
  };
  return { clock, table, openProcess, warnings };
}

/** Counts one request, as each process does that sees the id for the first time. */
function countOne(counters: SharedCounters, id: string): void {
  counters.add(new Counter(id), "perMinute", 1);
}

const readCount = (counters: SharedCounters, id: string) => counters.read(new Counter(id), "perMinute").counts[0];

describe("running requests", () => {
  test("are those of all processes, also of the one that came last", () => {
    const { openProcess } = openTable();
    const first = openProcess(0);
    const counter = new Counter("key:one");
    for (const slot of [1, 2, 3]) {
      const process = openProcess(slot);
      const entry = process.entryOf(new Counter("key:one"));
      expect(process.begin(entry, running.requests, 100)).toBe(true);
      expect(process.begin(entry, running.streams, 100)).toBe(true);
      expect([slot, first.countRunning(counter, running.requests)]).toEqual([slot, slot]);
      expect([slot, first.countRunning(counter, running.streams)]).toEqual([slot, slot]);
    }
    // A process that starts again with a low slot does not hide the others.
    openProcess(1);
    expect(first.countRunning(counter, running.requests)).toBe(3);
  });

  test("up to the limit begin, whichever process they are in, and one that ends makes way for another", () => {
    const { openProcess } = openTable();
    const [one, other] = [openProcess(1), openProcess(2)];
    const entry = one.entryOf(new Counter("key:one"));
    expect([one, other, one].map((process) => process.begin(entry, running.requests, 2))).toEqual([true, true, false]);
    other.end(entry, running.requests);
    expect(one.begin(entry, running.requests, 2)).toBe(true);
    expect(other.begin(entry, running.requests, 2)).toBe(false);
  });

  test("of a process that has ended are cleared, for every key and also its streams, and those of others are not", () => {
    const { table, openProcess } = openTable();
    const [one, other] = [openProcess(1), openProcess(2)];
    const ids = Array.from({ length: 20 }, (_, index) => `key:${index}`);
    for (const id of ids)
      for (const process of [one, other])
        for (const what of [running.requests, running.streams])
          process.begin(process.entryOf(new Counter(id)), what, 9);
    table.clearSlot(1);
    for (const id of ids)
      for (const what of [running.requests, running.streams])
        expect([id, what, other.countRunning(new Counter(id), what)]).toEqual([id, what, 1]);
  });
});

describe("an entry", () => {
  test("that is new or known is the same for every process, and two keys never share one", () => {
    const { openProcess, warnings } = openTable(1_024);
    const [one, other] = [openProcess(1), openProcess(2)];
    const ids = Array.from({ length: 200 }, (_, index) => `key:${index}`);
    for (const id of ids) countOne(one, id);
    for (const id of ids) countOne(other, id);
    for (const id of ids) expect([id, readCount(one, id)]).toEqual([id, 2]);
    expect(warnings).toEqual([]);
  });

  test("that nobody used for three minutes is given to another key, and begins empty", () => {
    const { clock, openProcess, warnings } = openTable(1);
    const process = openProcess(1);
    countOne(process, "key:old");
    clock.now += 181_000;
    countOne(process, "key:new");
    expect(warnings).toEqual([]);
    expect(process.read(new Counter("key:new"), "perMinute").counts).toEqual([1, 0, 0, 0, 0, 0, 0]);
  });

  test("that was used within three minutes is kept: other keys are counted by each process alone, with a warning", () => {
    const { clock, openProcess, warnings } = openTable(1);
    const [one, other] = [openProcess(1), openProcess(2)];
    countOne(one, "key:old");
    clock.now += 180_000;
    countOne(one, "key:new");
    expect(warnings).toEqual([1]);
    expect(readCount(other, "key:new")).toBe(0);
    expect(warnings).toEqual([1, 2]);
  });

  test("that a process uses again and again is kept, however long ago it was added", () => {
    const { clock, openProcess } = openTable(1);
    const process = openProcess(1);
    const counter = new Counter("key:old");
    for (let minute = 0; minute < 10; minute++) {
      process.add(counter, "perMinute", 1);
      clock.now += 100_000;
    }
    countOne(process, "key:new");
    clock.now -= 100_000;
    expect(process.read(counter, "perMinute").counts[0]).toBe(1);
  });

  test.each([
    ["requests", running.requests] as const,
    ["streams", running.streams] as const,
  ])("with running %s is kept, however long they run", (_title, what) => {
    const { clock, openProcess, warnings } = openTable(1);
    const process = openProcess(1);
    const counter = new Counter("key:old");
    const entry = process.entryOf(counter);
    process.begin(entry, what, 1);
    clock.now += 3_600_000;
    countOne(process, "key:new");
    expect(warnings).toEqual([1]);
    expect(process.countRunning(counter, what)).toBe(1);
    process.end(entry, what);
    clock.now += 3_600_000;
    countOne(process, "key:newer");
    expect(warnings).toEqual([1]);
  });

  test("that is replaced is noticed by the process that remembers it", () => {
    const { clock, openProcess, warnings } = openTable(1);
    const [one, other] = [openProcess(1), openProcess(2)];
    const counter = new Counter("key:old");
    one.add(counter, "perMinute", 5);
    clock.now += 200_000;
    countOne(other, "key:new");
    expect(one.read(counter, "perMinute").counts[0]).toBe(0);
    one.add(counter, "perMinute", 5);
    expect(readCount(other, "key:new")).toBe(1);
    expect(warnings).toEqual([1]);
  });
});

describe("a key that found no entry", () => {
  test("is counted alone for a second, and then moves to the table when an entry is free", () => {
    const { clock, openProcess, warnings } = openTable(1);
    const [one, other] = [openProcess(1), openProcess(2)];
    countOne(one, "key:old");
    clock.now += 180_000;
    const counter = new Counter("key:new");
    one.add(counter, "perMinute", 3);
    const entry = one.entryOf(counter);
    expect(one.begin(entry, running.requests, 1)).toBe(true);
    expect(one.begin(entry, running.requests, 1)).toBe(false);
    clock.now += 999;
    expect(one.read(counter, "perMinute").counts[0]).toBe(3);
    clock.now += 1;
    one.add(counter, "perMinute", 1);
    expect(readCount(other, "key:new")).toBe(1);
    // The request that began outside of the table also ends there.
    one.end(entry, running.requests);
    expect(other.countRunning(new Counter("key:new"), running.requests)).toBe(0);
    expect(warnings).toEqual([1]);
  });

  test("keeps its count when there is still no entry", () => {
    const { clock, openProcess, warnings } = openTable(1);
    const process = openProcess(1);
    const old = new Counter("key:old");
    const counter = new Counter("key:new");
    for (let second = 0; second < 3; second++) {
      process.add(old, "perMinute", 1);
      process.add(counter, "perMinute", 1);
      clock.now += 1_000;
    }
    expect(process.read(counter, "perMinute").counts[0]).toBe(3);
    expect(warnings).toHaveLength(4);
  });
});

describe("a process that ended while it added an entry", () => {
  /** The positions that the layout of the table gives to the lock and to the hash of the only entry. */
  function lockAs(table: Table, slot: number, hash: bigint): void {
    Atomics.store(table.numbers, table.firstLock, slot + 1);
    Atomics.store(table.words, table.firstEntry, hash);
  }

  test("leaves a lock that is released with its slot, and its half-written entry is free again", () => {
    const { table, openProcess, warnings } = openTable(1);
    lockAs(table, 1, 2n);
    table.clearSlot(1);
    const process = openProcess(2);
    expect(readCount(process, "key:new")).toBe(0);
    countOne(process, "key:new");
    expect(readCount(process, "key:new")).toBe(1);
    expect(warnings).toEqual([]);
  });

  test("stops no other: without the lock, they count alone", () => {
    const { table, openProcess, warnings } = openTable(1);
    lockAs(table, 1, 2n);
    table.clearSlot(3);
    const process = openProcess(2);
    countOne(process, "key:new");
    expect(warnings).toEqual([2]);
  });
});

test("a file of another layout is not a table of counters", () => {
  expect(() => new Table(new Uint8Array(1_024))).toThrow("The file is not a table of counters.");
});
