import { describe, expect, test } from "bun:test";
import { LongBodies, longBodyBytes } from "../../src/access/long-bodies.ts";

const megabytes = (count: number) => count * longBodyBytes;

function withTwoActiveKeys(): LongBodies {
  const bodies = new LongBodies();
  bodies.noteRequest("two", 0);
  bodies.noteRequest("one", 10);
  return bodies;
}

describe("long bodies of one key", () => {
  test("do not wait while no other key is active", () => {
    const bodies = new LongBodies();
    bodies.noteRequest("one", 0);
    expect([1, 2, 3].map(() => bodies.reserve("one", megabytes(19), 10))).toEqual([0, 0, 0]);
  });

  test("are read one after the other, with pauses in proportion to their length, while another key is active", () => {
    const bodies = withTwoActiveKeys();
    const waits = [1, 2, 3].map(() => bodies.reserve("one", megabytes(10), 10));
    expect(waits[0]).toBe(0);
    expect(waits[1]).toBeGreaterThan(500);
    expect(waits[2]).toBeCloseTo(2 * (waits[1] ?? 0));
    const short = bodies.reserve("one", longBodyBytes - 1, 10);
    expect(short).toBe(0);
    expect(bodies.reserve("two", megabytes(10), 10)).toBe(0);
  });

  test("stop waiting a second after the last request of another key", () => {
    const bodies = withTwoActiveKeys();
    bodies.reserve("one", megabytes(19), 20);
    expect(bodies.reserve("one", megabytes(19), 900)).toBeGreaterThan(0);
    expect(bodies.reserve("one", megabytes(19), 1_001)).toBe(0);
  });

  test("make the next ones wait in the same way when their length became known only at the end", () => {
    const [declared, undeclared] = [withTwoActiveKeys(), withTwoActiveKeys()];
    expect(declared.reserve("one", megabytes(10), 10)).toBe(0);
    expect(undeclared.reserve("one", null, 10)).toBe(0);
    undeclared.settle("one", megabytes(10), 10);
    const waitMs = undeclared.reserve("one", megabytes(1), 10);
    expect(waitMs).toBeGreaterThan(500);
    expect(waitMs).toBeCloseTo(declared.reserve("one", megabytes(1), 10));
  });

  test("do not wait for short ones of undeclared length, and such short ones that follow each other do not wait", () => {
    const bodies = withTwoActiveKeys();
    for (const now of [10, 20, 30]) {
      expect(bodies.reserve("one", null, now)).toBe(0);
      bodies.settle("one", 200, now + 1);
    }
    expect(bodies.reserve("one", megabytes(1), 40)).toBe(0);
  });

  test("are refused when they would wait for more than half a minute", () => {
    const bodies = withTwoActiveKeys();
    const reserveMany = () => {
      for (let count = 0; count < 100; count++) bodies.reserve("one", megabytes(19), 10);
    };
    expect(reserveMany).toThrow(expect.objectContaining({ code: "rate_limit_exceeded" }));
  });
});
