// The table of counters that the processes of a gateway share, with several of them played in one process: each has its slot.

import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Counter, createCounterFile, emptyTable, running, Table } from "../../src/access/counter-table.ts";
import { openCounters, SharedCounters } from "../../src/access/shared-counters.ts";
import { createFolders } from "../contracts/engines.ts";
import { openReadableLog } from "../support/readable-log.ts";

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
    const processes = [0, 1, 2, 3].map(openProcess);
    const ids = Array.from({ length: 20 }, (_, index) => `key:${index}`);
    /** The process in slot 1 has the first number of requests and streams, and so on. */
    const begun = [
      [1, 0],
      [2, 1],
      [3, 5],
      [4, 7],
    ] as const;
    for (const id of ids)
      for (const [slot, process] of processes.entries())
        for (const what of [running.requests, running.streams])
          for (let count = begun[slot]?.[what] ?? 0; count > 0; count--)
            process.begin(process.entryOf(new Counter(id)), what, 100);
    const readAll = (slot: number) => {
      const process = processes[slot] as SharedCounters;
      return ids.map((id) =>
        [running.requests, running.streams].map((what) => process.countRunning(new Counter(id), what)),
      );
    };
    table.clearSlot(1);
    expect(readAll(0)).toEqual(ids.map(() => [8, 12]));
    table.clearSlot(0);
    expect(readAll(2)).toEqual(ids.map(() => [7, 12]));
    table.clearSlot(3);
    expect(readAll(2)).toEqual(ids.map(() => [3, 5]));
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

  test("keeps windows, grants and running requests apart, and none of them reaches into the next entry", () => {
    const { clock, openProcess, table } = openTable(8);
    const kinds = ["perSecond", "perMinute", "tokens"] as const;
    const processes = Array.from({ length: 8 }, (_, slot) => openProcess(slot));
    const [process] = processes as [SharedCounters];
    const counters = Array.from({ length: 8 }, (_, index) => new Counter(`key:${index}`));
    const numberOf = (index: number, kind: number) => 100 * (index + 1) + kind;
    for (const [index, counter] of counters.entries()) {
      for (const [order, kind] of kinds.entries()) process.add(counter, kind, numberOf(index, order));
      const entry = process.entryOf(counter);
      for (const each of processes) {
        each.begin(entry, running.requests, 1_000);
        each.begin(entry, running.streams, 1_000);
      }
    }
    for (const counter of counters)
      for (const [order, kind] of kinds.entries()) {
        const { step } = process.read(counter, kind);
        process.grant(counter, kind, { step, amount: 10_000 * (order + 1) });
      }
    clock.now += 1;
    for (const [index, counter] of counters.entries()) {
      for (const [order, kind] of kinds.entries()) {
        const counted = numberOf(index, order);
        expect([index, kind, process.read(counter, kind).counts]).toEqual([index, kind, [counted, 0, 0, 0, 0, 0, 0]]);
        const take = (amount: number) => process.take(counter, kind, { limit: 1e9, amount, isShared: true });
        expect([index, kind, take(10_000 * (order + 1) - counted + 1)]).toEqual([index, kind, "shareUsedUp"]);
      }
      expect([index, process.countRunning(counter, running.requests)]).toEqual([index, 8]);
      expect([index, process.countRunning(counter, running.streams)]).toEqual([index, 8]);
    }
    expect(table.buckets * table.bucketSize).toBe(8);
  });

  test("that was unused for three minutes is reused for another key, with all counts at zero", () => {
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

  test.each([
    ["one process", [1]],
    ["one process after another", [1, 2, 3]],
  ] as const)("that %s uses again and again is kept, however long ago it was added", (_title, slots) => {
    const { clock, openProcess, warnings } = openTable(1);
    const users = slots.map((slot) => ({ process: openProcess(slot), counter: new Counter("key:old") }));
    for (let round = 0; round < 12; round++) {
      const { process, counter } = users[round % users.length] as (typeof users)[number];
      process.add(counter, "perMinute", 1);
      clock.now += 100_000;
    }
    countOne(openProcess(4), "key:new");
    expect(warnings).toEqual([4]);
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
  /** It held the lock, and had written the time of the use but not the hash of the key: its own mark is still there. */
  function lockAs(table: Table, slot: number, mark: bigint): void {
    Atomics.store(table.numbers, table.firstLock, slot + 1);
    Atomics.store(table.words, table.firstEntry, mark);
    Atomics.store(table.numbers, table.firstEntry * 2 + 2, startedAt / 1_000);
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

  test("leaves the entries of others as they are", () => {
    const { table, openProcess } = openTable(1);
    const process = openProcess(2);
    const counter = new Counter("key:one");
    process.add(counter, "perMinute", 3);
    Atomics.store(table.numbers, table.firstLock, 2);
    table.clearSlot(1);
    expect(readCount(process, "key:one")).toBe(3);
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

describe("the file of the counters", () => {
  const folders = createFolders();
  afterAll(() => folders.remove());
  const countIn = (counters: SharedCounters) => counters.countRunning(new Counter("key:one"), running.requests);
  const begin = (counters: SharedCounters, id = "key:one") =>
    counters.begin(counters.entryOf(new Counter(id)), running.requests, 9);

  function createFile(entries: number): string {
    const path = join(folders.create(), "counters");
    createCounterFile(path, { entries, slots: 2 });
    return path;
  }

  test("is shared by the processes that open it, each in its slot", () => {
    const path = createFile(64);
    const { log, readLog } = openReadableLog("warn");
    const [one, other] = [openCounters({ path, slot: 0 }, log), openCounters({ path, slot: 0 }, log)];
    begin(one);
    expect([countIn(one), countIn(other)]).toEqual([1, 1]);
    expect(readLog()).toBe("");
  });

  test("is not needed by a process that counts alone", () => {
    const { log, readLog } = openReadableLog("warn");
    const [one, other] = [openCounters(null, log), openCounters(null, log)];
    begin(one);
    expect([countIn(one), countIn(other)]).toEqual([1, 0]);
    expect(readLog()).toBe("");
  });

  test("that cannot be opened is logged, and the process counts alone", () => {
    const { log, readLog } = openReadableLog("warn");
    const counters = openCounters({ path: join(folders.create(), "missing"), slot: 1 }, log);
    begin(counters);
    expect(countIn(counters)).toBe(1);
    expect(readLog()).toContain("the shared counters cannot be opened");
  });

  test("that is full is logged once", () => {
    const { log, readLog } = openReadableLog("warn");
    const counters = openCounters({ path: createFile(1), slot: 0 }, log);
    begin(counters);
    expect(readLog()).toBe("");
    for (const id of ["key:two", "key:three"]) begin(counters, id);
    expect(readLog().match(/too many keys are active at once/g)).toHaveLength(1);
  });
});
