// Many clocks on one timer: who is watched is looked at, whoever else comes and goes meanwhile.

import { afterEach, expect, test } from "bun:test";
import { createTicker, type Ticker, type Watched } from "../../src/lib/ticker.ts";
import { waitFor } from "../support/wait.ts";

let ticker: Ticker | null = null;

afterEach(() => ticker?.close());

class Counter implements Watched {
  index = -1;
  looks = 0;
  onLook: (() => void) | null = null;

  check(): void {
    this.looks++;
    this.onLook?.();
  }
}

function start(count: number): { ticker: Ticker; counters: Counter[] } {
  const made = createTicker(5);
  ticker = made;
  const counters = Array.from({ length: count }, () => new Counter());
  for (const counter of counters) made.watch(counter);
  return { ticker: made, counters };
}

async function nextTick(of: Counter): Promise<void> {
  const before = of.looks;
  await waitFor("a tick", () => of.looks > before);
}

test("everyone is looked at with every tick, once, also when it was given twice", async () => {
  const { ticker, counters } = start(3);
  const [first] = counters as [Counter];
  ticker.watch(first);
  await nextTick(first);
  const looks = first.looks;
  expect(counters.map((counter) => counter.looks)).toEqual([looks, looks, looks]);
});

test("who was forgotten is not looked at any more, and the others are; it may come back", async () => {
  const { ticker, counters } = start(4);
  const [first, second, third, last] = counters as [Counter, Counter, Counter, Counter];
  ticker.forget(second);
  ticker.forget(second);
  ticker.forget(last);
  await nextTick(first);
  expect([second.looks, last.looks]).toEqual([0, 0]);
  expect(third.looks).toBe(first.looks);
  ticker.watch(second);
  await nextTick(second);
  expect(last.looks).toBe(0);
});

test("the first one and the only one can be forgotten, and come back", async () => {
  const { ticker, counters } = start(2);
  const [first, second] = counters as [Counter, Counter];
  ticker.forget(first);
  await nextTick(second);
  expect(first.looks).toBe(0);
  ticker.forget(second);
  const { looks } = second;
  ticker.watch(first);
  await nextTick(first);
  expect(second.looks).toBe(looks);
});

test("nobody is watched any more after the ticker was closed", () => {
  const { ticker, counters } = start(3);
  ticker.close();
  expect(counters.map((counter) => counter.index)).toEqual([-1, -1, -1]);
});

test.each([
  0, 1, 2, 3, 4,
])("when number %i forgets someone in the middle of a tick, nobody else is passed over", async (who) => {
  for (let whom = 0; whom < 5; whom++) {
    const { ticker, counters } = start(6);
    // The first to be watched is the last to be looked at.
    const [witness, ...others] = counters as [Counter, ...Counter[]];
    const [forgetful, left] = [others[who] as Counter, others[whom] as Counter];
    let looks: number[] = [];
    forgetful.onLook = () => ticker.forget(left);
    witness.onLook = () => {
      witness.onLook = null;
      looks = others.filter((other) => other !== left).map((other) => other.looks);
    };
    await nextTick(witness);
    ticker.close();
    expect(looks.map((count) => count > 0)).toEqual([true, true, true, true]);
  }
});

test("a check that throws keeps no other check from being made", async () => {
  const errors: unknown[] = [];
  const ticker = createTicker(5, (error) => void errors.push(error));
  let checks = 0;
  const failure = new Error("broken check");
  ticker.watch({
    index: -1,
    check() {
      throw failure;
    },
  });
  ticker.watch({
    index: -1,
    check() {
      checks += 1;
    },
  });
  await waitFor("several checks", () => checks >= 3);
  ticker.close();
  expect(errors.length).toBeGreaterThanOrEqual(3);
  expect(errors[0]).toBe(failure);
});
