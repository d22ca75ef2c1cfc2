// The runner of jobs with a real store: outages of the store, restarts of the worker, and results.

import { afterEach, describe, expect, test } from "bun:test";
import type { Reservation } from "../../src/access/call-limits.ts";
import type { TaskResult } from "../../src/engines/engine.ts";
import { GatewayError } from "../../src/errors.ts";
import { begun, closeJobs, createJob, good, hang, interrupted, picture, refuse, success } from "../support/job-runs.ts";

afterEach(closeJobs);

const speech: TaskResult = {
  ...good,
  output: { audio_resource_url: "" },
  binaries: [
    { base64Path: null, urlPath: ["audio_resource_url"], bytes: new Uint8Array([1, 2]), mediaType: "audio/wav" },
  ],
};

describe("while the store is down", () => {
  for (const window of ["before", "after"] as const) {
    const how = window === "before" ? "nothing is written" : "what is written is not confirmed";

    test(`before a provider is called (${how}), it is called once, and the job succeeds`, async () => {
      const job = await createJob({ engines: [{ name: "vendor" }] });
      job.flaky.goAway("saveCheckpoint", window, 2);
      await job.work();
      expect(await job.result()).toMatchObject(success);
      expect(job.asked).toEqual(["vendor"]);
    });

    test(`between a provider and its fallback (${how}), the fallback is asked`, async () => {
      const job = await createJob({
        engines: [{ name: "first", run: () => refuse("provider_error") }, { name: "second" }],
      });
      job.flaky.goAway("saveCheckpoint", window, 2, 1);
      await job.work();
      expect(await job.result()).toMatchObject({ ...success, provider: "second" });
      expect(job.asked).toEqual(["first", "second"]);
      // One for the first, three until it is known that the second's turn has come, one for the second.
      expect(job.flaky.called.filter((name) => name === "saveCheckpoint")).toHaveLength(5);
    });

    test(`when there is an answer (${how}), it is stored later, and reported once`, async () => {
      const receiver = "https://hooks.example/hook";
      const job = await createJob({ engines: [{ name: "vendor" }], receiver });
      job.flaky.goAway("finish", window, 2);
      await job.work();
      expect(await job.result()).toMatchObject(success);
      expect(job.asked).toEqual(["vendor"]);
      expect(await job.countDeliveries()).toBe(1);
    });

    test(`when there is a step to be kept (${how}), the work is begun once`, async () => {
      const begunAt = { checkpoint: "t-1", waitMs: 0 };
      const runStep = (_: unknown, step: unknown) => (step === null ? begunAt : { result: good });
      const job = await createJob({ engines: [{ name: "vendor", runStep }] });
      job.flaky.goAway("saveStep", window, 2);
      await job.work();
      await job.work();
      expect(await job.result()).toMatchObject(success);
      expect(job.steps).toEqual([null, "t-1"]);
    });

    test(`when a run is given up (${how}), the next one does it`, async () => {
      const job = await createJob({
        engines: [{ name: "local", isIdempotent: true, run: (call, times) => (times === 1 ? hang(call) : good) }],
      });
      job.flaky.goAway("release", window);
      const run = job.work();
      await begun(job.asked);
      job.goDown();
      await run;
      expect(job.between()).toMatchObject({ runs: 0, called: false });
      await job.work();
      expect(await job.result()).toMatchObject(success);
    });
  }

  test("when a job is begun, the work comes up again", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }] });
    job.flaky.goAway("begin", "after");
    expect(String(await job.work().catch((error) => error))).toContain("does not answer");
    await job.work();
    expect(await job.result()).toMatchObject(success);
    expect(job.asked).toEqual(["vendor"]);
  });

  test("while its files cannot be opened, the job waits, however often, and no provider is called", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, output: { text: "Hello", bounding_boxes: [] } }) }],
      task: "ocr/ocr",
      input: { file: crypto.randomUUID() },
      openUpload: async (times) => (times <= 5 ? refuse("dependency_unavailable") : picture),
    });
    for (let run = 1; run <= 5; run++) {
      await job.work();
      expect(job.between()).toMatchObject({ runs: 0, called: false });
    }
    expect(job.between().dueInMs).toBeLessThan(10_000);
    await job.work();
    expect(await job.result()).toMatchObject({ status: "success" });
    expect(job.asked).toEqual(["vendor"]);
  });

  test("when an engine reads its files, the job waits, and is not taken for one that was interrupted", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: (_call, times) => (times <= 4 ? refuse("dependency_unavailable") : good) }],
    });
    for (let run = 1; run <= 4; run++) {
      await job.work();
      expect(job.between()).toMatchObject({ runs: 0, called: false });
    }
    await job.work();
    expect(await job.result()).toMatchObject(success);
  });

  test("while a binary result cannot be stored, storing it is retried; the provider is not called again", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => speech }],
      task: "audio/tts",
      publish: async (times) => (times <= 2 ? refuse("dependency_unavailable") : "https://files.example/speech"),
    });
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "success",
      output: { audio_resource_url: "https://files.example/speech" },
    });
    expect(job.asked).toEqual(["vendor"]);
  });

  test("a binary result that cannot be stored fails the job with that reason, and the provider is not called again", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => speech }],
      task: "audio/tts",
      publish: () => Promise.reject(new TypeError("no such bucket")),
    });
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("could not be stored") },
    });
    expect(job.asked).toEqual(["vendor"]);
  });
});

describe("when a worker stops or crashes", () => {
  test("a job whose files are still being fetched is released, because no provider was called", async () => {
    const reading = Promise.withResolvers<void>();
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, output: { text: "Hello", bounding_boxes: [] } }) }],
      task: "ocr/ocr",
      input: { file: crypto.randomUUID() },
      openUpload: async (times, signal) => {
        if (times > 1) return picture;
        reading.resolve();
        return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const run = job.work();
    await reading.promise;
    job.goDown();
    await run;
    expect(job.between()).toMatchObject({ runs: 0, called: false });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "success" });
  });

  test("a call that cannot be repeated ends the job, which says so", async () => {
    const job = await createJob({ engines: [{ name: "vendor", run: hang }] });
    const run = job.work();
    await begun(job.asked);
    job.goDown();
    await run;
    expect(await job.result()).toMatchObject(interrupted);
  });

  test("what an engine prepares before it announces its call is repeated", async () => {
    const job = await createJob({
      engines: [
        {
          name: "vendor",
          announcesSend: true,
          async run(call, times) {
            if (times === 1) await hang(call);
            if (times === 2) refuse("provider_error");
            await call.beforeSend?.();
            return good;
          },
        },
      ],
    });
    const run = job.work();
    await begun(job.asked);
    job.goDown();
    await run;
    expect(job.between()).toMatchObject({ runs: 0, called: false });
    await job.work();
    expect(job.between()).toMatchObject({ runs: 1, called: false });
    await job.work();
    expect(await job.result()).toMatchObject(success);
  });

  test("a call that an engine has announced is not repeated", async () => {
    const announced = Promise.withResolvers<void>();
    const job = await createJob({
      engines: [
        {
          name: "vendor",
          announcesSend: true,
          async run(call) {
            await call.beforeSend?.();
            announced.resolve();
            return await hang(call);
          },
        },
      ],
    });
    const run = job.work();
    await announced.promise;
    job.goDown();
    await run;
    expect(await job.result()).toMatchObject(interrupted);
  });

  test("work that continues at a vendor is polled again by the next worker", async () => {
    const job = await createJob({
      engines: [
        {
          name: "vendor",
          runStep: (call, step, times) => {
            if (step === null) return { checkpoint: "t-1", waitMs: 0 };
            return times === 2 ? hang(call) : { result: good };
          },
        },
      ],
    });
    await job.work();
    const run = job.work();
    await begun(job.asked, 2);
    job.goDown();
    await run;
    expect(job.between()).toMatchObject({ hasStep: true });
    await job.work();
    expect(await job.result()).toMatchObject(success);
    expect(job.asked).toHaveLength(3);
  });

  test("a limit that is reached while work continues at a vendor does not lose or delay its result", async () => {
    const counted: string[] = [];
    const note = (what: string): Reservation => {
      counted.push(what);
      const settle = () => {
        counted.push("settled");
        return { countedPico: 0, accounts: [] };
      };
      return { settle, release: () => counted.push("released"), postpone: () => counted.push("postponed") };
    };
    const job = await createJob({
      engines: [
        {
          name: "vendor",
          runStep: (_call, step) =>
            step === "t-1" ? { result: good } : { checkpoint: step === null ? "t-0" : "t-1", waitMs: 0 },
        },
      ],
      callLimits: {
        reserve() {
          if (counted.length > 0) throw new GatewayError("budget_exceeded", "The budget is spent.", { retryAfter: 60 });
          return note("reserved");
        },
        charge: () => note("charged"),
      },
    });
    for (let step = 1; step <= 3; step++) await job.work();
    expect(await job.result()).toMatchObject(success);
    expect(counted).toEqual(["reserved", "postponed", "charged", "postponed", "charged", "settled"]);
  });

  test("a call that may have been made is not made again, and the fallback is not either", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }, { name: "spare" }] });
    await job.die(JSON.stringify({ offer: 0, called: true, step: null, runsBefore: 0 }));
    await job.work();
    expect(await job.result()).toMatchObject(interrupted);
    expect(job.asked).toEqual([]);
  });

  test("a job of an engine that may repeat it is begun three times, and not a fourth time", async () => {
    const job = await createJob({ engines: [{ name: "local", isIdempotent: true }] });
    for (let death = 1; death <= 3; death++) await job.die();
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("3 times") },
    });
    expect(job.asked).toEqual([]);
  });

  test("after two deaths it is still done", async () => {
    const job = await createJob({ engines: [{ name: "local", isIdempotent: true }] });
    for (let death = 1; death <= 2; death++) await job.die();
    await job.work();
    expect(await job.result()).toMatchObject(success);
  });

  test("an answer of the vendor that ends the worker each time ends the job, not all workers for ever", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", runStep: (_call, step) => ({ checkpoint: Number(step ?? 0) + 1, waitMs: 0 }) }],
    });
    // Many steps are no deaths.
    for (let step = 1; step <= 6; step++) await job.work();
    for (let death = 1; death <= 3; death++) await job.die();
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("3 times") },
    });
    expect(job.asked).toHaveLength(6);
  });

  test("a consumer that lost its lease changes nothing: the result of the other consumer stays", async () => {
    const answer = Promise.withResolvers<TaskResult>();
    const job = await createJob({
      engines: [{ name: "local", isIdempotent: true, run: (_call, times) => (times === 1 ? answer.promise : good) }],
      receiver: "https://hooks.example/hook",
    });
    const first = job.work();
    await begun(job.asked);
    await job.work();
    const before = await job.find();
    answer.resolve({ ...good, output: { items: [] } });
    await first;
    expect(await job.find()).toEqual(before);
    expect(await job.countDeliveries()).toBe(1);
  });

  test("a consumer that lost its lease before the call does not call the provider", async () => {
    const job = await createJob({
      engines: [{ name: "vendor" }],
      task: "ocr/ocr",
      input: { file: crypto.randomUUID() },
      openUpload: async () => {
        await job.take();
        return picture;
      },
    });
    await job.work();
    expect(job.asked).toEqual([]);
    expect(await job.find()).toMatchObject({ status: "processing" });
  });

  test("a job that has expired is not begun", async () => {
    const job = await createJob({ engines: [{ name: "vendor" }], lifetimeMs: -1 });
    await job.work();
    expect(job.asked).toEqual([]);
    expect(String(await job.take().catch((error) => error))).toContain("no work");
  });
});

describe("a result", () => {
  test("keeps every character, also lone surrogates", async () => {
    const language = "\u0000 \ud800 \udc00\ud800 \u2028 \ufeff 🌍";
    const odd = { items: [{ language, display_name: language, confidence: 5e-324 }] };
    const job = await createJob({ engines: [{ name: "vendor", run: () => ({ ...good, output: odd }) }] });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "success", output: odd });
  });

  test("is kept without the vendor's own answer when that is too large", async () => {
    const original = { text: "x".repeat(97 * 1_048_576) };
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, original }) }],
      wantsOriginal: true,
    });
    await job.work();
    const result = await job.result();
    expect(result).toMatchObject(success);
    expect(result).not.toHaveProperty("original_response");
  });

  test("that is too large to be kept is said to be the reason", async () => {
    const large = { items: [{ language: "en", display_name: "x".repeat(97 * 1_048_576), confidence: 1 }] };
    const job = await createJob({ engines: [{ name: "vendor", run: () => ({ ...good, output: large }) }] });
    await job.work();
    expect(await job.result()).toMatchObject({ status: "fail", error: { message: expect.stringContaining("bytes") } });
    expect(job.asked).toHaveLength(1);
  });

  test("that is not the task's output is a failure", async () => {
    const job = await createJob({
      engines: [{ name: "vendor", run: () => ({ ...good, output: { page: "It works!" } }) }],
    });
    await job.work();
    expect(await job.result()).toMatchObject({
      status: "fail",
      error: { message: expect.stringContaining("not the output") },
    });
  });
});
