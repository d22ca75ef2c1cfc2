import { describe, expect, test } from "bun:test";
import { EventLoopLoad } from "../../src/http/load-watch.ts";

const limits = { delayLimitMs: 50, pauseLimitMs: 1_500 };

/** An event loop whose turns take as long as the test says. */
function openLoop() {
  const loop = new EventLoopLoad(limits);
  let now = 0;
  let workedMs = 0;
  let dueMs = loop.tick(0, 0);
  return {
    loop,
    now: () => now,
    /** Turns that work for this long, and sleep for the rest of the time. Returns whether the loop was overloaded after any of them. */
    turn(workMs: number, { times = 1, sleepMs = 0 } = {}): boolean {
      let wasOverloaded = false;
      for (let count = 0; count < times; count++) {
        now += Math.max(dueMs, workMs + sleepMs);
        workedMs += workMs;
        dueMs = loop.tick(now, workedMs);
        wasOverloaded ||= loop.isOverloaded;
      }
      return wasOverloaded;
    },
  };
}

describe("an overload", () => {
  test("is declared when all turns take too long for a while", () => {
    const { loop, turn } = openLoop();
    expect(turn(60)).toBe(false);
    turn(60, { times: 2 });
    expect(loop.isOverloaded).toBe(true);
  });

  test("ends within half a second when the load ends", () => {
    const { loop, turn, now } = openLoop();
    turn(60, { times: 100 });
    const endedAt = now();
    turn(1, { times: 50 });
    expect(loop.isOverloaded).toBe(false);
    expect(now() - endedAt).toBeLessThanOrEqual(500);
  });

  test("does not end and begin again while the turns take about as long as they should", () => {
    const { loop, turn } = openLoop();
    turn(60, { times: 10 });
    for (let count = 0; count < 100; count++) {
      turn(count % 2 === 0 ? 18 : 53);
      expect(loop.isOverloaded).toBe(true);
    }
  });

  test("is not declared for one garbage collection and the backlog after it", () => {
    const { turn } = openLoop();
    turn(5, { times: 20 });
    // At a load of 80 %, each turn has 80 % of the work of the turn before it.
    expect([100, 80, 64, 51, 41, 33, 26, 21, 17].map((workMs) => turn(workMs))).not.toContain(true);
    for (let second = 0; second < 10; second++) {
      expect(turn(5, { times: 100 })).toBe(false);
      expect(turn(100)).toBe(false);
    }
  });

  test("is not declared while the process waits for a slow disk", () => {
    const { turn } = openLoop();
    expect(turn(5, { sleepMs: 500, times: 100 })).toBe(false);
  });

  test("is not declared after a suspension", () => {
    const { loop, turn, now } = openLoop();
    turn(5, { times: 20 });
    expect(turn(5, { sleepMs: 8 * 3_600_000 })).toBe(false);
    expect(turn(20, { times: 100 })).toBe(false);
    expect(loop.isPaused(now())).toBe(false);
  });
});

test("what waited during a single very long turn is refused, and nothing after that", () => {
  const { loop, turn, now } = openLoop();
  turn(1, { times: 5 });
  expect(loop.isPaused(now())).toBe(false);
  expect(loop.isPaused(now() + 2_000)).toBe(true);
  turn(2_000);
  expect(loop.isPaused(now())).toBe(true);
  expect(loop.waitedMs(now())).toBeGreaterThan(1_800);
  turn(1, { times: 12 });
  expect(loop.isPaused(now())).toBe(false);
  expect(loop.waitedMs(now())).toBe(0);
});

test("a turn below a limit that the operator has raised is no pause", () => {
  const loop = new EventLoopLoad({ delayLimitMs: 60_000 });
  loop.tick(0, 0);
  expect(loop.isPaused(2_000)).toBe(false);
  loop.tick(2_000, 2_000);
  expect(loop.isPaused(2_000)).toBe(false);
  expect(loop.isPaused(70_000)).toBe(true);
});

test("an idle process is measured ten times per second, a busy one a hundred times", () => {
  const loop = new EventLoopLoad(limits);
  expect(loop.tick(10, 0.1)).toBe(100);
  expect(loop.tick(110, 1.1)).toBe(100);
  expect(loop.tick(210, 51)).toBe(10);
  expect(loop.isOverloaded).toBe(false);
});
