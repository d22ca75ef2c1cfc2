// The consumer of the work queue, with a queue in memory and handlers that end when the test says so.

import { afterEach, describe, expect, test } from "bun:test";
import {
  type QueueConsumer,
  type QueueConsumerOptions,
  startQueueConsumer,
  type WorkSource,
} from "../../src/jobs/queue-consumer.ts";
import { createLog } from "../../src/log.ts";
import type { WorkItem } from "../../src/storage/work-queue.ts";
import { Doers, MemoryQueue, type Row } from "../support/memory-queue.ts";
import { waitFor, within } from "../support/wait.ts";

const quiet = createLog({ level: "error", format: "text", secrets: [], write: () => {} });

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("the queue consumer", () => {
  let consumer: QueueConsumer | null = null;

  afterEach(async () => {
    await consumer?.stop(0);
    consumer = null;
  });

  function start(
    queue: WorkSource,
    handle: QueueConsumerOptions["handle"],
    more: Partial<QueueConsumerOptions> = {},
  ): QueueConsumer {
    consumer = startQueueConsumer({
      kind: "deliver",
      concurrency: 8,
      concurrencyPerGroup: 4,
      work: queue,
      handle,
      log: quiet,
      ...more,
      timing: { releaseMs: 50, ...more.timing },
    });
    return consumer;
  }

  test("work that is due at the start is handled at once, the longest due first", async () => {
    const queue = new MemoryQueue();
    const now = Date.now();
    const [third, first, second] = [queue.add("", now - 1), queue.add("", now - 3), queue.add("", now - 2)];
    const doers = new Doers(queue);
    start(queue, doers.handle);
    await waitFor("all of it", () => doers.started.length === 3);
    expect(doers.started).toEqual([first, second, third] as string[]);
  });

  test("the concurrency limits how much work runs, and the consumer takes only work that it can run", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 30; index++) queue.add();
    const doers = new Doers(queue);
    start(queue, doers.handle);
    await waitFor("full places", () => doers.open.size === 8);
    for (let done = 1; done <= 30; done++) {
      doers.endOne();
      const left = Math.min(8, 30 - done);
      await waitFor("the next", () => doers.open.size === left, { everyMs: 1 });
    }
    expect(doers.most).toBe(8);
    expect(queue.takes.every(({ limit }) => limit >= 1 && limit <= 8)).toBe(true);
    expect(queue.rows.size).toBe(0);
  });

  test("a free slot is filled without waiting for the next poll", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 9; index++) queue.add();
    const doers = new Doers(queue);
    start(queue, doers.handle, { timing: { pollEveryMs: 600_000 } });
    await waitFor("full places", () => doers.open.size === 8);
    doers.endOne();
    await waitFor("the ninth", () => doers.started.length === 9);
  });

  test("a slot that becomes free during a poll is filled, too", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 7; index++) queue.add();
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { timing: { pollEveryMs: 600_000 } });
    await waitFor("seven", () => doers.open.size === 7);
    for (let index = 0; index < 3; index++) queue.add();
    const gate = Promise.withResolvers<void>();
    queue.delay = () => gate.promise;
    running.wake();
    await waitFor("the question", () => queue.takes.at(-1)?.limit === 1);
    doers.endOne();
    doers.endOne();
    await waitFor("five", () => doers.open.size === 5);
    queue.delay = async () => {};
    gate.resolve();
    await waitFor("all of it", () => doers.started.length === 10);
  });

  test("a wake-up takes new work, even if it arrives during a poll", async () => {
    const queue = new MemoryQueue();
    const doers = new Doers(queue);
    const gate = Promise.withResolvers<void>();
    queue.delay = () => gate.promise;
    const running = start(queue, doers.handle, { timing: { pollEveryMs: 600_000 } });
    await waitFor("the first question", () => queue.takes.length === 1);
    queue.add();
    running.wake();
    queue.delay = async () => {};
    gate.resolve();
    await waitFor("it to begin", () => doers.started.length === 1);
    queue.add();
    running.wake();
    await waitFor("the second", () => doers.started.length === 2);
  });

  test("a thousand hints at once cause a few polls, and the last hint is not lost", async () => {
    const queue = new MemoryQueue();
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { timing: { pollEveryMs: 600_000, hintDelayMs: 1_000 } });
    await waitFor("the first question", () => queue.takes.length === 1);
    for (let index = 0; index < 1_000; index++) {
      running.wake();
      if (index % 10 === 0) await nextTurn();
    }
    queue.add();
    running.wake();
    await waitFor("it to begin", () => doers.started.length === 1);
    expect(queue.takes.length).toBeLessThan(30);
  });

  test("hints cause few polls while a group is at its limit, and a free slot of the group is filled at once", async () => {
    const queue = new MemoryQueue();
    const doers = new Doers(queue);
    const timing = { pollEveryMs: 600_000, hintDelayWhileFullMs: 600_000 };
    const running = start(queue, doers.handle, { concurrency: 16, timing });
    for (let index = 0; index < 4; index++) queue.add("host");
    running.wake();
    await waitFor("a full group", () => doers.open.size === 4);
    const polls = queue.takes.length;
    for (let round = 0; round < 4; round++) {
      const id = queue.add("host");
      for (let index = 0; index < 40; index++) {
        running.wake();
        await nextTurn();
      }
      doers.endOne();
      await waitFor("the next", () => doers.started.includes(id));
    }
    expect(queue.takes.length - polls).toBeLessThan(20);
  });

  test("work is found without a hint", async () => {
    const queue = new MemoryQueue();
    const doers = new Doers(queue);
    start(queue, doers.handle, { timing: { pollEveryMs: 20 } });
    await waitFor("a question in vain", () => queue.takes.length > 0);
    queue.add();
    await waitFor("it to begin", () => doers.started.length === 1);
  });

  test("a group never exceeds its concurrency; its other work waits while other groups continue", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 20; index++) queue.add("stuck", Date.now() - 1_000);
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { concurrency: 16 });
    await waitFor("the stuck ones", () => doers.open.size === 4);
    expect(running.state()).toMatchObject({ running: 4, waiting: 12 });
    for (let index = 0; index < 50; index++) {
      queue.add("lively");
      running.wake();
      await waitFor("the lively one", () => doers.openOf("lively").length === 1, { everyMs: 1 });
      doers.endOne("lively");
      await waitFor("its end", () => doers.openOf("lively").length === 0, { everyMs: 1 });
    }
    expect(doers.mostOf("stuck")).toBe(4);
    expect(queue.takes.slice(1).every(({ ignoreGroups }) => ignoreGroups.includes("stuck"))).toBe(true);
  });

  test("waiting work of a group starts in order, once each, as soon as a slot of the group is free", async () => {
    const queue = new MemoryQueue();
    const ids = Array.from({ length: 12 }, (_, index) => queue.add("host", Date.now() - 100 + index));
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { concurrency: 32, timing: { pollEveryMs: 600_000 } });
    await waitFor("the first four", () => doers.open.size === 4);
    for (let begun = 5; begun <= 12; begun++) {
      doers.endOne();
      await waitFor("the next", () => doers.started.length === begun, { everyMs: 1 });
    }
    expect(doers.started).toEqual(ids);
    expect(running.state()).toMatchObject({ running: 4, waiting: 0 });
  });

  test("work of an ignored group is taken as soon as the group has a free slot", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 4; index++) queue.add("host");
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { timing: { pollEveryMs: 600_000 } });
    await waitFor("a full group", () => doers.open.size === 4 || doers.open.size + running.state().waiting === 4);
    queue.add("host");
    running.wake();
    await waitFor("the question", () => queue.takes.at(-1)?.ignoreGroups.includes("host") === true);
    while (doers.started.length < 5) {
      doers.endAll();
      await waitFor("another", () => doers.open.size > 0);
    }
  });

  test("when stuck groups could fill every slot, some slots remain for other groups", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 60; index++) queue.add(`stuck-${index % 6}`, Date.now() - 1_000);
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, {
      concurrency: 32,
      concurrencyPerGroup: 8,
      timing: { pollEveryMs: 10 },
    });
    const stuckGroups = () => new Set([...doers.open.values()].map(({ item }) => item.group)).size;
    await waitFor("the stuck ones", () => stuckGroups() === 6);
    for (let index = 0; index < 20; index++) {
      queue.add("lively");
      running.wake();
      await waitFor("the lively one", () => doers.openOf("lively").length > 0, { everyMs: 1 });
      doers.endOne("lively");
    }
    expect(doers.most).toBeLessThanOrEqual(32);
    // Each of the stuck ones goes on, too.
    for (let round = 0; round < 60; round++) {
      doers.endAll();
      await Bun.sleep(1);
    }
    await waitFor("all of it", () => queue.rows.size === 0);
  });

  test("hundreds of groups leave no state behind, and each is served", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 3_000; index++) queue.add(`host-${index % 1_000}`);
    const doers = new Doers(queue);
    const handle: QueueConsumerOptions["handle"] = async (item, signal) => {
      const done = doers.handle(item, signal);
      setTimeout(() => doers.endAll(), 1);
      await done;
    };
    const running = start(queue, handle, { concurrency: 64 });
    await waitFor("all of it", () => queue.rows.size === 0);
    await waitFor("an idle consumer", () => running.state().running === 0 && running.state().waiting === 0);
    expect(new Set(doers.started).size).toBe(3_000);
    expect(doers.started).toHaveLength(3_000);
    expect(running.state().groups).toBe(0);
    running.wake();
    const asked = queue.takes.length;
    await waitFor("one more question", () => queue.takes.length > asked);
    expect(queue.takes.at(-1)?.ignoreGroups).toEqual([]);
  });

  test("the number of waiting items is bounded; further work is taken later", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 10_000; index++)
      queue.add(`host-${Math.floor(index / 100)}`, Date.now() - 10_000 + index);
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { concurrency: 100, concurrencyPerGroup: 1 });
    await waitFor("full places", () => running.state().running === 100);
    expect(running.state().waiting).toBe(2_048);
    doers.endAll();
    await waitFor("more", () => doers.started.length > 100);
    expect(running.state().waiting).toBeLessThanOrEqual(2_048);
  });

  test("leases of running and waiting work are extended, those of finished work are not", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 8; index++) queue.add("host");
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { timing: { pollEveryMs: 20, extendEveryMs: 20 } });
    await waitFor("leases of all", () => [...queue.rows.values()].every(({ leasedUntil }) => leasedUntil > 0));
    const firstLeases = [...queue.rows.values()].map(({ leasedUntil }) => leasedUntil);
    await waitFor("many extensions", () => queue.extensions > 20);
    for (const [index, { leasedUntil }] of [...queue.rows.values()].entries())
      expect(leasedUntil).toBeGreaterThan(firstLeases[index] ?? 0);
    expect(running.state().running + running.state().waiting).toBe(8);
    expect([...queue.rows.values()].every(({ takes }) => takes === 1)).toBe(true);
    expect(doers.aborted).toEqual([]);
    while (queue.rows.size > 0) {
      doers.endAll();
      await Bun.sleep(1);
    }
    await waitFor("an idle consumer", () => running.state().running === 0);
    const extensions = queue.extensions;
    await Bun.sleep(60);
    expect(queue.extensions).toBe(extensions);
  });

  test("work whose lease was lost is aborted, and waiting work whose lease was lost never starts", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 8; index++) queue.add("host");
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, {
      concurrency: 16,
      timing: { pollEveryMs: 600_000, extendEveryMs: 20 },
    });
    await waitFor("four of them", () => running.state().running === 4 && running.state().waiting === 4);
    const [lost = "", kept = ""] = doers.started;
    const waiting = [...queue.rows.keys()].filter((id) => !doers.started.includes(id));
    queue.giveAway(lost);
    for (const id of waiting.slice(0, 3)) queue.giveAway(id);
    await waitFor("its end", () => doers.aborted.length === 1);
    expect(doers.aborted[0]?.id).toBe(lost);
    await waitFor("the one that is left", () => doers.started.includes(waiting[3] as string));
    expect(doers.started).toContain(kept);
    expect(doers.started).not.toContain(waiting[0]);
    expect(running.state()).toMatchObject({ running: 4, waiting: 0 });
  });

  test("losing one of many leases does not affect the others", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 600; index++) queue.add();
    const doers = new Doers(queue);
    start(queue, doers.handle, { concurrency: 600, timing: { pollEveryMs: 10, extendEveryMs: 20 } });
    await waitFor("all of them", () => doers.open.size === 600);
    const lost = doers.started.at(-1) as string;
    queue.giveAway(lost);
    await waitFor("its end", () => doers.aborted.length > 0);
    expect(doers.aborted.map(({ id }) => id)).toEqual([lost]);
    const extensions = queue.extensions;
    await waitFor("more extensions", () => queue.extensions > extensions + 6);
    expect(doers.aborted).toHaveLength(1);
  });

  test("after an outage longer than a lease, running work is not started a second time", async () => {
    const queue = new MemoryQueue();
    queue.leaseMs = 100;
    for (let index = 0; index < 3; index++) queue.add();
    const doers = new Doers(queue);
    const timing = { pollEveryMs: 10, slowestPollMs: 20, extendEveryMs: 40, contactLostMs: 80 };
    start(queue, doers.handle, { timing });
    await waitFor("all of it", () => doers.open.size === 3);
    for (let round = 0; round < 5; round++) {
      queue.isAway = true;
      await waitFor("ended leases", () => [...queue.rows.values()].every((row) => row.leasedUntil < Date.now() - 50));
      const takes = queue.takes.length;
      queue.isAway = false;
      await waitFor("questions", () => queue.takes.length > takes + 3);
    }
    expect(doers.started).toHaveLength(3);
    expect(doers.aborted).toEqual([]);
  });

  test("after a lost contact, other consumers get time to extend their leases", async () => {
    const queue = new MemoryQueue();
    const doers = new Doers(queue);
    const timing = { pollEveryMs: 10, slowestPollMs: 200, contactLostMs: 300 };
    start(queue, doers.handle, { timing });
    await waitFor("a question", () => queue.takes.length > 0);
    queue.isAway = true;
    const awaySince = performance.now();
    await waitFor("the contact to count as lost", () => performance.now() > awaySince + timing.contactLostMs + 50);
    // Work of another consumer, whose lease ended during the outage.
    const id = queue.add();
    const takes = queue.takes.length;
    queue.isAway = false;
    await waitFor("it to start", () => doers.started.includes(id));
    expect((queue.takenAt[takes] ?? 0) - (queue.extendedAt[0] ?? 0)).toBeGreaterThan(timing.slowestPollMs - 2);
  });

  test("work that the same consumer takes again aborts the earlier run, and its lease lasts as long as the new run", async () => {
    const queue = new MemoryQueue();
    const id = queue.add();
    const doers = new Doers(queue);
    doers.endsWhenAborted = false;
    const running = start(queue, doers.handle, { timing: { pollEveryMs: 10, extendEveryMs: 60_000 } });
    await waitFor("it to begin", () => doers.open.size === 1);
    const row = queue.rows.get(id) as Row;
    row.leasedUntil = 0;
    running.wake();
    await waitFor("it to begin again", () => doers.open.size === 2);
    expect(doers.aborted.map(({ lease }) => lease)).toEqual(["1"]);
    doers.endOne();
    await waitFor("the end of the first", () => running.state().running === 1);
    await consumer?.stop(0);
    expect(doers.aborted.map(({ lease }) => lease)).toEqual(["1", "2"]);
  });

  test("the store is polled less and less often while it is down, and normally afterwards", async () => {
    const queue = new MemoryQueue();
    queue.isAway = true;
    const polledAt: number[] = [];
    const { take } = MemoryQueue.prototype;
    queue.take = async (what) => {
      polledAt.push(performance.now());
      return await take.call(queue, what);
    };
    const doers = new Doers(queue);
    start(queue, doers.handle, { timing: { pollEveryMs: 20, slowestPollMs: 160 } });
    await waitFor("some polls", () => polledAt.length === 6);
    // Timers may be early by a fraction of a millisecond.
    for (const [index, pauseMs] of [40, 80, 160, 160, 160].entries())
      expect((polledAt[index + 1] ?? 0) - (polledAt[index] ?? 0)).toBeGreaterThan(pauseMs - 2);
    queue.isAway = false;
    queue.add();
    await waitFor("it to begin", () => doers.started.length === 1);
  });

  test("work that fails is repeated later, and its slot is free", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 20; index++) queue.add();
    let failed = 0;
    const running = start(queue, async () => {
      failed++;
      throw new Error("the store went away in the middle of it");
    });
    await waitFor("all of it", () => failed === 20);
    await waitFor("free places", () => running.state().running === 0);
    expect(queue.rows.size).toBe(20);
  });

  test("a shutdown starts no work and waits for running work", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 6; index++) queue.add("host");
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { concurrency: 16 });
    await waitFor("a full group", () => running.state().running === 4 && running.state().waiting === 2);
    const waiting = [...queue.rows.values()].filter(({ id }) => !doers.started.includes(id));
    let isDown = false;
    const down = running.stop(60_000).then(() => {
      isDown = true;
    });
    expect(running.state()).toMatchObject({ running: 4, waiting: 0 });
    queue.add("other");
    running.wake();
    for (let left = 3; left >= 0; left--) {
      expect(isDown).toBe(false);
      doers.endOne();
      await waitFor("its end", () => doers.open.size === left);
    }
    await within(60_000, "the way down", down);
    expect(doers.started).toHaveLength(4);
    expect(doers.aborted).toEqual([]);
    expect(queue.rows.size).toBe(waiting.length + 1);
  });

  test("a shutdown extends the leases of running work, not those of waiting work", async () => {
    const queue = new MemoryQueue();
    for (let index = 0; index < 6; index++) queue.add("host");
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { concurrency: 16, timing: { extendEveryMs: 20 } });
    await waitFor("a full group", () => running.state().running === 4 && running.state().waiting === 2);
    const extended: (readonly WorkItem[])[] = [];
    const { extend } = MemoryQueue.prototype;
    const down = running.stop(60_000);
    queue.extend = async (items) => {
      extended.push(items);
      return await extend.call(queue, items);
    };
    await waitFor("extensions", () => extended.length > 1);
    expect(extended.at(-1)?.map(({ id }) => id)).toEqual(doers.started);
    doers.endAll();
    await within(60_000, "the way down", down);
    const { length } = extended;
    await Bun.sleep(60);
    expect(extended).toHaveLength(length);
  });

  test("work that is taken during a shutdown does not start", async () => {
    const queue = new MemoryQueue();
    const gate = Promise.withResolvers<void>();
    queue.delay = () => gate.promise;
    queue.add();
    const doers = new Doers(queue);
    const running = start(queue, doers.handle);
    await waitFor("the question", () => queue.takes.length === 1);
    const down = running.stop(600_000);
    gate.resolve();
    await within(60_000, "the way down", down);
    await Bun.sleep(20);
    expect(doers.started).toEqual([]);
  });

  test("work that runs at the timeout is aborted, and a handler that ignores the abort is not waited for", async () => {
    const queue = new MemoryQueue();
    queue.add();
    queue.add();
    const doers = new Doers(queue);
    doers.endsWhenAborted = false;
    const running = start(queue, doers.handle, { timing: { releaseMs: 100, extendEveryMs: 20 } });
    await waitFor("both", () => doers.open.size === 2);
    const startedAt = performance.now();
    await within(60_000, "the way down", running.stop(100));
    const tookMs = performance.now() - startedAt;
    expect(doers.aborted).toHaveLength(2);
    expect(tookMs).toBeGreaterThan(198);
    // Now other consumers may take the work.
    const { extensions } = queue;
    await Bun.sleep(80);
    expect(queue.extensions).toBe(extensions);
    doers.endAll();
  });

  test("the shutdown ends as soon as aborted work was released", async () => {
    const queue = new MemoryQueue();
    queue.add();
    const doers = new Doers(queue);
    const running = start(queue, doers.handle, { timing: { releaseMs: 10_000 } });
    await waitFor("it to begin", () => doers.open.size === 1);
    await within(60_000, "the way down", running.stop(10));
    expect(doers.aborted).toHaveLength(1);
  });
});
