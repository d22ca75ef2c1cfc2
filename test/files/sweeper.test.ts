// When files are swept, at a clock of the test.

import { expect, test } from "bun:test";
import { startFileSweeper } from "../../src/files/sweeper.ts";
import { hourMs } from "../../src/lib/time-units.ts";
import { createLog } from "../../src/log.ts";
import { waitFor } from "../support/wait.ts";

function start(sweepExpired: () => Promise<number> = async () => 0) {
  const clock = { now: 1_000 };
  const counts = { expired: 0, orphans: 0 };
  let logged = "";
  const log = createLog({ level: "info", format: "json", secrets: [], write: (lines) => (logged += lines) });
  const sweeper = startFileSweeper({
    store: {
      sweepExpired: () => {
        counts.expired += 1;
        return sweepExpired();
      },
      sweepOrphans: async () => {
        counts.orphans += 1;
        return 0;
      },
    },
    log,
    everyMs: 2,
    now: () => clock.now,
  });
  const readLog = () => {
    log.flush();
    return logged;
  };
  /** Several more sweeps have ended. */
  const sweeps = async (count = 5) => {
    const target = counts.expired + count;
    await waitFor(`${count} sweeps`, () => counts.expired >= target);
  };
  return { clock, counts, sweeper, sweeps, readLog };
}

test("orphans are looked for at the first sweep, and then once an hour", async () => {
  const { clock, counts, sweeper, sweeps } = start();
  await sweeps();
  expect(counts.orphans).toBe(1);
  clock.now += hourMs - 1;
  await sweeps();
  expect(counts.orphans).toBe(1);
  clock.now += 1;
  await sweeps();
  expect(counts.orphans).toBe(2);
  await sweeper.stop();
});

test("one sweep runs at a time, and stopping waits for it", async () => {
  const held = Promise.withResolvers<number>();
  const { counts, sweeper } = start(() => held.promise);
  await waitFor("a sweep", () => counts.expired === 1);
  // Time for several more, were they not held back.
  await Bun.sleep(30);
  expect(counts.expired).toBe(1);
  let hasStopped = false;
  const stopped = sweeper.stop().then(() => {
    hasStopped = true;
  });
  await Bun.sleep(0);
  expect(hasStopped).toBe(false);
  held.resolve(0);
  await stopped;
});

test("a sweep that fails is logged, and the next one runs", async () => {
  let sweeps = 0;
  const { sweeper, readLog } = start(async () => {
    sweeps += 1;
    if (sweeps === 1) throw new Error("the disk is away");
    return 0;
  });
  await waitFor("another sweep", () => sweeps > 2);
  await sweeper.stop();
  expect(readLog()).toContain("the disk is away");
});
