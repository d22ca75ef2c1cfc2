// A process that counts in a shared table as fast as it can: `bun counter-child.ts <file> <slot> <work as JSON>`. It prints "ready", starts when
// it reads a line, and prints what it did as JSON.

import { Counter, openCounterFile, running } from "../../src/access/counter-table.ts";
import { SharedCounters } from "../../src/access/shared-counters.ts";

export type Work =
  /** Takes from many counters, each of which has its limit, until all refuse. */
  | { readonly kind: "take"; readonly ids: readonly string[]; readonly limit: number; readonly amount: number }
  /** Takes and gives back; what is left at the end is `times`. */
  | { readonly kind: "correct"; readonly id: string; readonly times: number }
  /** Begins and ends requests; `most` is the largest number that the process saw running. */
  | { readonly kind: "run"; readonly id: string; readonly times: number; readonly limit: number }
  /** Begins this many requests and never ends them. */
  | { readonly kind: "hold"; readonly id: string; readonly times: number }
  /** Begins requests until the limit, and never ends them. */
  | { readonly kind: "fill"; readonly ids: readonly string[]; readonly limit: number };

const [path = "", slot = "0", text = "{}"] = process.argv.slice(2);
const work = JSON.parse(text) as Work;
// All processes are in the same window, however long the test takes.
const now = () => 60_000_000;
const table = openCounterFile(path);
table.useSlot(Number(slot));
const counters = new SharedCounters({ table, slot: Number(slot), now });

console.log("ready");
for await (const _line of console) break;
console.log(JSON.stringify(run(work)));
if (work.kind === "hold" || work.kind === "fill") for await (const _line of console) break;

function run(work: Work): unknown {
  if (work.kind === "take") return take(work.ids, work.limit, work.amount);
  if (work.kind === "correct") return correct(new Counter(work.id), work.times);
  if (work.kind === "hold") return hold(new Counter(work.id), work.times);
  if (work.kind === "fill") return fill(work.ids, work.limit);
  return beginAndEnd(new Counter(work.id), work.times, work.limit);
}

function take(ids: readonly string[], limit: number, amount: number): Record<string, number> {
  const taken: Record<string, number> = {};
  for (const id of ids) taken[id] = 0;
  const open = new Map(ids.map((id) => [id, new Counter(id)]));
  while (open.size > 0)
    for (const [id, counter] of open) {
      const outcome = counters.take(counter, "perMinute", { limit, amount, isShared: false });
      if ("step" in outcome) taken[id] = (taken[id] ?? 0) + amount;
      else open.delete(id);
    }
  return taken;
}

function correct(counter: Counter, times: number): number {
  for (let index = 0; index < times; index++) {
    const outcome = counters.take(counter, "tokens", { limit: 2 ** 31, amount: 7, isShared: false });
    if (!("step" in outcome)) throw new Error("refused");
    counters.giveBack(counter, "tokens", { step: outcome.step, amount: 6 });
  }
  return times;
}

function hold(counter: Counter, times: number): number {
  const place = counters.entryOf(counter);
  for (let index = 0; index < times; index++) counters.begin(place, running.requests, Number.POSITIVE_INFINITY);
  return times;
}

function fill(ids: readonly string[], limit: number): Record<string, number> {
  const begun: Record<string, number> = {};
  for (const id of ids) {
    const place = counters.entryOf(new Counter(id));
    let count = 0;
    while (counters.begin(place, running.requests, limit)) count += 1;
    begun[id] = count;
  }
  return begun;
}

function beginAndEnd(
  counter: Counter,
  times: number,
  limit: number,
): { passed: number; refused: number; most: number } {
  let [passed, refused, most] = [0, 0, 0];
  const place = counters.entryOf(counter);
  for (let index = 0; index < times; index++) {
    if (!counters.begin(place, running.requests, limit)) {
      refused += 1;
      continue;
    }
    passed += 1;
    most = Math.max(most, counters.countRunning(counter, running.requests));
    counters.end(place, running.requests);
  }
  return { passed, refused, most };
}
