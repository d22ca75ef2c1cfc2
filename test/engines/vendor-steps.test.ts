// Work that goes on at a vendor's, as a job does it: step by step, with nothing in memory between two of them.

import { afterAll, describe, expect, test } from "bun:test";
import type { Engine, EngineStep } from "../../src/engines/engine.ts";
import { createVendorEngines } from "../../src/engines/vendors/vendor-engine.ts";
import { GatewayError, ValidationError } from "../../src/errors.ts";
import type { Json } from "../../src/lib/json-schema/schema.ts";
import type { Clocks } from "../../src/providers/call.ts";
import { configureProviders, type Declared } from "../../src/providers/configure.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { type ProviderTask, TaskFailure } from "../../src/providers/task.ts";
import { answer, hang, headOf, rst, type Script, write } from "../support/answers.ts";
import { guard } from "../support/egress.ts";
import { rejectionOf } from "../support/thrown.ts";
import { callOf, fileOf, openVendorClient } from "./vendor-calls.ts";

const { vendor, ticker, http, log, root } = await openVendorClient();

/** Begun by a file, asked for at the place that the first answer names. */
const work: ProviderTask = {
  task: "text/summarize",
  docs: "",
  toRequest: async ({ files }) => ({
    path: "/jobs",
    body: { kind: "bytes", bytes: (await files["file"]?.read()) ?? new Uint8Array(), mediaType: "text/plain" },
    state: { begun: "with a file" },
  }),
  next: ({ json }, _call, asked) => {
    const { state, id, share } = json as { state: string; id?: string; share?: number };
    if (state === "failed") throw new TaskFailure(502, "it could not be done");
    if (state === "done") return null;
    if (id !== undefined) return { method: "GET", path: `/jobs/${id}`, state: asked.state, waitMs: "growing" };
    return { ...asked, waitMs: "growing", ...(share !== undefined && { progress: share }) };
  },
  fromResponse: (_answer, _call, { state }) => ({
    output: { result: String((state as { begun: string }).begun) },
    units: { request: 1 },
  }),
};

interface Setup {
  readonly task?: Partial<ProviderTask>;
  readonly row?: Partial<ProviderRow>;
  readonly declared?: Readonly<Record<string, Declared>>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly shutdownSignal?: AbortSignal;
  readonly clocks?: Partial<Clocks>;
}

const { egress } = guard();
afterAll(() => egress.close());

function createEngine({ task, row, declared = {}, settings, shutdownSignal, clocks }: Setup = {}): Engine {
  const all: Readonly<Record<string, string>> = { TRYOUT_API_KEY: "key-1", TRYOUT_BASE_URL: root, ...settings };
  const tryout: ProviderRow = {
    name: "tryout",
    title: "Tryout",
    docs: "",
    auth: { kind: "bearer" },
    baseUrl: null,
    tasks: [{ ...work, ...task }],
    ...row,
  };
  const [engine] = createVendorEngines({
    providers: configureProviders([tryout], declared, (name) => all[name] ?? null).values(),
    http,
    ticker,
    egress,
    // Far longer than any answer takes on a busy machine.
    clocks: {
      connectTimeoutMs: 60_000,
      firstByteTimeoutMs: 60_000,
      idleTimeoutMs: 60_000,
      totalTimeoutMs: 60_000,
      ...clocks,
    },
    shutdownSignal: shutdownSignal ?? new AbortController().signal,
    log,
  });
  if (engine === undefined) throw new Error("there is no engine");
  return engine;
}

const file = fileOf(Buffer.from("a text"), "text/plain");

/** What is kept goes through JSON, to an engine that knows nothing of the one before. */
async function step(before: EngineStep | null, setup: Setup = {}): Promise<EngineStep> {
  const engine = createEngine(setup);
  if (engine.runStep === undefined) throw new Error("it has no steps");
  if (before === null) return engine.runStep(callOf({ files: { file } }), null);
  return engine.runStep(callOf(), JSON.parse(JSON.stringify((before as { checkpoint: unknown }).checkpoint)));
}

const failureOf = (attempt: Promise<unknown>) => rejectionOf(attempt, GatewayError);

const waitOf = (one: EngineStep) => (one as { waitMs: number }).waitMs;

describe("work of several requests", () => {
  const accepted = answer(200, { state: "begun", id: "7" });
  const toPoll = { method: "GET", path: "/jobs/7", waitMs: 1 } as const;
  const polled: Partial<ProviderTask> = { next: () => toPoll };
  const unpolled: Partial<ProviderTask> = { next: () => ({ method: "GET", path: "/jobs/7" }) };
  const uploaded: Partial<ProviderTask> = {
    toRequest: () => ({ path: "/upload", isPreparation: true }),
    next: (_answer, _call, { path }) => (path === "/upload" ? { path: "/jobs" } : toPoll),
  };
  const run = (task: Partial<ProviderTask>) => createEngine({ task }).run(callOf({ model: "m", files: { file } }));

  test.each([
    ["429 while it is polled", polled, answer(429, {}, { "retry-after": "0" })],
    ["503 while it is polled", polled, answer(503, {})],
    ["401 while it is polled", polled, answer(401, {})],
    ["429 to its second request", unpolled, answer(429, {})],
  ])("says that it may have been executed after a %s", async (_what, task, refusal) => {
    vendor.next(accepted);
    for (let sends = 0; sends < 4; sends++) vendor.next(refusal);
    const { details } = await failureOf(run(task));
    expect(details.mayHaveExecuted).toBe(true);
  });

  test("says so too when a job's first step fails after its first request, and when the job is polled in vain", async () => {
    vendor.next(accepted);
    vendor.next(answer(429, {}));
    expect((await failureOf(step(null, { task: unpolled }))).details.mayHaveExecuted).toBe(true);
    vendor.next(accepted);
    const begun = await step(null);
    vendor.next(answer(401, {}));
    expect((await failureOf(step(begun))).details.mayHaveExecuted).toBe(true);
  });

  test("may be repeated when a file was uploaded and nothing else was accepted", async () => {
    vendor.next(accepted);
    vendor.next(answer(429, {}));
    const failure = await failureOf(run(uploaded));
    expect([failure.code, failure.details.mayHaveExecuted]).toEqual(["provider_rate_limited", undefined]);
    vendor.next(accepted);
    vendor.next(accepted);
    for (let sends = 0; sends < 4; sends++) vendor.next(answer(503, {}));
    expect((await failureOf(run(uploaded))).details.mayHaveExecuted).toBe(true);
  });

  test("names the model as unknown only for the request that names it", async () => {
    const unknown = answer(404, { error: "no such object" });
    vendor.next(unknown);
    expect((await failureOf(run(polled))).code).toBe("model_not_found");
    vendor.next(accepted);
    vendor.next(unknown);
    expect(await failureOf(run(polled))).toMatchObject({
      code: "provider_rejected_request",
      message: "The provider 'tryout' rejected the request: no such object",
    });
    vendor.next(unknown);
    expect((await failureOf(run(uploaded))).code).toBe("provider_rejected_request");
    vendor.next(accepted);
    vendor.next(unknown);
    expect((await failureOf(run(uploaded))).code).toBe("model_not_found");
  });
});

describe("a job's work at a vendor's", () => {
  test("is begun once and asked for by engines that know only what was kept, without its files", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    vendor.next(answer(200, { state: "running" }));
    vendor.next(answer(200, { state: "done" }));
    const begun = await step(null);
    expect(begun).toMatchObject({ waitMs: 1_000 });
    const asked = await step(begun);
    const done = await step(asked);
    expect("result" in done && done.result.output).toEqual({ result: "with a file" });
    expect(vendor.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /jobs",
      "GET /jobs/7",
      "GET /jobs/7",
    ]);
  });

  test("continues after an upgrade from 0.1, whose checkpoints have other names", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    vendor.next(answer(200, { state: "done" }));
    const { checkpoint } = (await step(null)) as { checkpoint: Record<string, unknown> };
    const { deployment, startedAt, request, ...counts } = checkpoint;
    const { state, ...others } = request as Record<string, unknown>;
    const old = { ...counts, place: deployment, since: startedAt, request: { ...others, note: state } };
    const done = await step({ checkpoint: old, waitMs: 0 } as unknown as EngineStep);
    expect("result" in done && done.result.output).toEqual({ result: "with a file" });
  });

  test("has its result fetched again when a download stalls", async () => {
    const stored: Partial<ProviderTask> = {
      next: (_answer, _call, { url, state }) =>
        url === undefined ? { path: "/", url: `${root}/results/7`, state, waitMs: "growing" } : null,
    };
    vendor.next(answer(200, {}));
    const begun = await step(null, { task: stored });
    vendor.next([write(`${headOf(200, { "content-length": "100" })}half`), hang]);
    const stalled = await step(begun, { task: stored, clocks: { firstByteTimeoutMs: 100, idleTimeoutMs: 100 } });
    expect(stalled).toMatchObject({ checkpoint: { failures: 1 } });
    vendor.next(answer(200, {}));
    const done = await step(stalled, { task: stored });
    expect("result" in done && done.result.output).toEqual({ result: "with a file" });
    expect(vendor.requests.map(({ path }) => path)).toEqual(["/jobs", "/results/7", "/results/7"]);
  });

  test("is polled at growing intervals, up to ten seconds", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    let last = await step(null);
    const waits = [waitOf(last)];
    for (let polls = 0; polls < 14; polls++) {
      vendor.next(answer(200, { state: "running" }));
      last = await step(last);
      waits.push(waitOf(last));
    }
    expect(waits[0]).toBe(1_000);
    expect(waits.every((wait, index) => index === 0 || wait >= (waits[index - 1] ?? 0))).toBe(true);
    expect(waits.at(-1)).toBe(10_000);
  });

  test("waits as long as the vendor says, where it says", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    const task = { next: () => ({ method: "GET" as const, path: "/jobs/7", waitMs: 4_321 }) };
    expect(waitOf(await step(null, { task }))).toBe(4_321);
  });

  test("tells how far it is, where the vendor tells", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    vendor.next(answer(200, { state: "running", share: 0.25 }));
    expect(await step(await step(null))).toMatchObject({ progress: 0.25 });
  });

  test("survives short failures of the question, each asked again later and later", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    let last = await step(null);
    const waits: number[] = [];
    const failures: Script[] = [answer(500, {}), answer(503, {}), [rst]];
    for (const failure of failures) {
      vendor.next(failure);
      last = await step(last);
      waits.push(waitOf(last));
    }
    expect(waits).toEqual([1_000, 2_000, 4_000]);
    vendor.next(answer(429, {}, { "retry-after": "45" }));
    last = await step(last);
    expect(waitOf(last)).toBe(45_000);
    vendor.next(answer(200, { state: "running" }));
    last = await step(last);
    vendor.next(answer(500, {}));
    expect(waitOf(await step(last))).toBe(1_000);
  });

  test("is given up after twenty failures in a row, with the last one", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    let last = await step(null);
    for (let count = 0; count < 20; count++) {
      vendor.next(answer(500, {}));
      last = await step(last);
    }
    expect(waitOf(last)).toBe(30_000);
    vendor.next(answer(500, {}));
    expect((await failureOf(step(last))).code).toBe("provider_error");
  });

  test("fails when the vendor reports a failure, and is not polled again", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    vendor.next(answer(200, { state: "failed" }));
    const failure = await failureOf(step(await step(null)));
    expect([failure.code, failure.message]).toEqual([
      "provider_error",
      "The provider 'tryout' failed with status 502: it could not be done",
    ]);
  });

  test("is not begun again by the engine, whatever became of the beginning", async () => {
    vendor.next(answer(500, {}));
    expect((await failureOf(step(null))).code).toBe("provider_error");
    expect(vendor.requests.length).toBe(1);
  });

  test("that may be begun again says so, because the vendor is given a token", () => {
    expect(createEngine().isIdempotent).toBeUndefined();
    expect(createEngine({ task: { isIdempotent: true } }).isIdempotent).toBe(true);
  });

  test("is given up after a day", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    const begun = (await step(null)) as unknown as { checkpoint: { startedAt: number } };
    const old = { checkpoint: { ...begun.checkpoint, startedAt: Date.now() - 25 * 3_600_000 }, waitMs: 1 };
    expect((await failureOf(step(old as unknown as EngineStep))).code).toBe("provider_timeout");
    expect(vendor.requests.length).toBe(1);
  });

  test("continues at the deployment that started it", async () => {
    const deployments = ["key-a", "key-b", "key-c"].map((api_key) => ({ api_key }));
    const declared = { tryout: { base_url: root, deployments } };
    const engine = createEngine({ declared });
    for (const name of ["key-a", "key-b"]) {
      vendor.clear();
      vendor.next(answer(200, { state: "begun", id: "7" }));
      vendor.next(answer(200, { state: "running" }));
      const begun = await engine.runStep?.(callOf({ files: { file } }), null);
      // In another order, as after a change of the operator's file.
      const changed = { tryout: { base_url: root, deployments: deployments.toReversed() } };
      await step(begun as EngineStep, { declared: changed });
      expect(vendor.requests.map(({ headers }) => headers["authorization"])).toEqual([
        `Bearer ${name}`,
        `Bearer ${name}`,
      ]);
    }
    vendor.next(answer(200, { state: "begun", id: "7" }));
    const begun = await engine.runStep?.(callOf({ files: { file } }), null);
    const gone = { tryout: { base_url: root, deployments: deployments.slice(0, 2) } };
    expect((await failureOf(step(begun as EngineStep, { declared: gone }))).code).toBe("provider_not_configured");
  });

  test("continues with the new key where a vendor's only key was changed", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    vendor.next(answer(200, { state: "done" }));
    const done = await step(await step(null), { settings: { TRYOUT_API_KEY: "key-2" } });
    expect("result" in done).toBe(true);
    expect(vendor.last().headers["authorization"]).toBe("Bearer key-2");
  });

  test("keeps no key", async () => {
    vendor.next(answer(200, { state: "begun", id: "7" }));
    expect(JSON.stringify(await step(null))).not.toContain("key-1");
  });

  test("keeps no bytes: a request that waits and has some is a mistake of ours", async () => {
    const bytes = Buffer.from("x");
    const file = { name: "file", fileName: "x.txt", mediaType: "text/plain", bytes };
    for (const body of [
      { kind: "bytes", bytes, mediaType: "text/plain" },
      { kind: "form", parts: [{ name: "language", value: "en" }, file] },
    ] as const) {
      vendor.next(answer(200, {}));
      const task = { next: () => ({ path: "/", body, waitMs: 1 }) };
      expect(await step(null, { task }).catch((error: Error) => error.message)).toBe(
        "a request that waits must not carry bytes",
      );
    }
  });

  test("takes its files away when it is done, and when it failed, but not before", async () => {
    const task: Partial<ProviderTask> = {
      cleanUpRequests: (_call, { state }) => [
        { method: "DELETE", path: `/files/${(state as { begun: string }).begun.length}` },
      ],
    };
    for (const end of ["done", "failed"]) {
      vendor.clear();
      vendor.next(answer(200, { state: "begun", id: "7" }));
      vendor.next(answer(500, {}));
      vendor.next(answer(200, { state: end }));
      vendor.next(answer(404, {}));
      const asked = await step(await step(null, { task }), { task });
      expect(vendor.requests.some(({ method }) => method === "DELETE")).toBe(false);
      await step(asked, { task }).catch(() => undefined);
      expect(vendor.last()).toMatchObject({ method: "DELETE", path: "/files/11" });
    }
  });

  test("leaves its files where they are when the gateway goes down in the middle, and is gone on with later", async () => {
    const task: Partial<ProviderTask> = { cleanUpRequests: () => [{ method: "DELETE", path: "/files/1" }] };
    vendor.next(answer(200, { state: "begun", id: "7" }));
    const begun = await step(null, { task });
    const shutdownSignal = new AbortController();
    vendor.next([hang]);
    const asked = step(begun, { task, shutdownSignal: shutdownSignal.signal });
    await vendor.waitFor("the question", (requests) => requests.length === 2);
    shutdownSignal.abort();
    expect((await failureOf(asked)).code).toBe("draining");
    vendor.next(answer(200, { state: "done" }));
    vendor.next(answer(200, {}));
    expect("result" in (await step(begun, { task }))).toBe(true);
    expect(vendor.requests.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "DELETE"]);
  });

  for (const how of ["the caller leaves", "the gateway goes down"]) {
    test.each([
      ["takes its files away", undefined],
      ["takes its files away", false],
      ["leaves its files for the run that repeats it", true],
    ])(`${how} while the work is being started: it %s`, async (_what, willRepeat) => {
      const task: Partial<ProviderTask> = { cleanUpRequests: () => [{ method: "DELETE", path: "/files/1" }] };
      vendor.clear();
      vendor.next([hang]);
      vendor.next(answer(200, {}));
      const [left, shutdown] = [new AbortController(), new AbortController()];
      const call = callOf({ files: { file }, signal: left.signal });
      const asked = createEngine({ task, shutdownSignal: shutdown.signal }).runStep?.(
        { ...call, ...(willRepeat !== undefined && { willRepeat: async () => willRepeat }) },
        null,
      );
      await vendor.waitFor("the start", (requests) => requests.length === 1);
      (how === "the caller leaves" ? left : shutdown).abort();
      expect(await asked?.catch((error: Error) => error.name)).toBe(
        how === "the caller leaves" ? "CallerLeft" : "GatewayError",
      );
      expect(vendor.requests.map(({ method }) => method)).toEqual(willRepeat ? ["POST"] : ["POST", "DELETE"]);
    });
  }

  describe("that is not continued", () => {
    const task: Partial<ProviderTask> = {
      cleanUpRequests: (_call, { state }) => [
        { method: "DELETE", path: `/files/${(state as { begun: string }).begun.length}` },
      ],
    };

    test("has its files taken away by an engine that knows only what was kept, also when that fails", async () => {
      for (const status of [200, 500]) {
        vendor.clear();
        vendor.next(answer(200, { state: "begun", id: "7" }));
        vendor.next(answer(status, {}));
        const { checkpoint } = (await step(null, { task })) as { checkpoint: Json };
        await createEngine({ task }).abandonStep?.(callOf(), JSON.parse(JSON.stringify(checkpoint)));
        expect(vendor.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
          "POST /jobs",
          "DELETE /files/11",
        ]);
      }
    });

    test("has nothing to take away where the task stores no files", () => {
      expect(createEngine().abandonStep).toBeUndefined();
    });
  });

  test("that needs a setting of its own says which, and the vendor's other tasks do without", async () => {
    const { toRequest, fromResponse } = work;
    const row: Partial<ProviderRow> = {
      tasks: [
        { ...work, requiredSettings: { bucket: "TRYOUT_BUCKET" } },
        { task: "text/keyword_extraction", docs: "", toRequest, fromResponse },
      ],
    };
    expect(createEngine({ row }).unavailableReason).toBe("The provider 'tryout' is not set up: set TRYOUT_BUCKET.");
    expect((await failureOf(step(null, { row }))).code).toBe("provider_not_configured");
    expect(createEngine({ row, settings: { TRYOUT_BUCKET: "b" } }).unavailableReason).toBeNull();
    const others = createEngine({ row: { ...row, tasks: row.tasks?.slice(1) ?? [] } });
    expect([others.unavailableReason, others.runStep]).toEqual([null, undefined]);
  });

  test("does not begin with a file that the task does not take", async () => {
    const task = { files: { mediaTypes: ["application/pdf"] } };
    expect(await step(null, { task }).catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
    expect(vendor.requests.length).toBe(0);
  });
});
