// How much work clients without a key can cause, at a clock of the test.

import { expect, test } from "bun:test";
import { KeylessBudget } from "../../src/http/keyless-budget.ts";

const maxPerTurn = 16;
const maxPerSecond = 1_000;

/** Lets the event loop turn once, as it does between two readable sockets. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test("more requests than fit into one turn of the event loop wait for the next one", async () => {
  const budget = new KeylessBudget(() => 0);
  const waits = Array.from({ length: maxPerTurn + 2 }, () => budget.spend());
  expect(waits.map((wait) => wait !== undefined)).toEqual([...Array(maxPerTurn).fill(false), true, true]);
  await Promise.all(waits);
  await nextTurn();
  expect(budget.spend()).toBeUndefined();
});

test("requests beyond those of a second wait, and the next second starts anew", async () => {
  const clock = { now: 5_000 };
  const budget = new KeylessBudget(() => clock.now);
  for (let sent = 0; sent < maxPerSecond; sent++) {
    if (sent % maxPerTurn === 0) await nextTurn();
    expect(budget.spend()).toBeUndefined();
  }
  await nextTurn();
  clock.now += 999;
  expect(budget.spend()).toBeInstanceOf(Promise);
  clock.now += 1;
  expect(budget.spend()).toBeUndefined();
});

test("a refused long body counts as 20 requests", async () => {
  const budget = new KeylessBudget(() => 0);
  for (let sent = 0; sent < maxPerSecond / 20; sent++) {
    if (sent % maxPerTurn === 0) await nextTurn();
    expect(budget.spend(true)).toBeUndefined();
  }
  await nextTurn();
  expect(budget.spend()).toBeInstanceOf(Promise);
});

test("health checks are answered during a flood", async () => {
  const budget = new KeylessBudget(() => 0);
  for (let sent = 0; sent <= maxPerSecond; sent++) void budget.spend();
  await nextTurn();
  expect(budget.spend()).toBeInstanceOf(Promise);
  expect(budget.spendInTurn()).toBeUndefined();
});
