// The pool of the local engines, with engines that behave badly on purpose. Its workers are real processes.

import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool, type Job, type Pool, type PoolOptions } from "../../src/engines/local/pool.ts";
import { GatewayError, ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { CallerLeft } from "../../src/providers/call.ts";
import { rejectionOf } from "../support/thrown.ts";
import { waitFor, within } from "../support/wait.ts";
import { poolJob as job } from "./pool-job.ts";

const listModule = new URL("./local-test-engines.ts", import.meta.url).href;
const pools: Pool[] = [];
let logged = "";

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  logged = "";
});

function open(options: Partial<PoolOptions> = {}): Pool {
  const log = createLog({ level: "debug", format: "json", secrets: [], write: (lines) => (logged += lines) });
  const pool = createPool({
    listModule,
    workers: { light: 1, heavy: 1 },
    maxWaiting: 4,
    maxWaitingPerOwner: 4,
    idleMs: 60_000,
    maxMemoryBytes: 1_024 * 1_048_576,
    niceness: 0,
    deniedPaths: [],
    log,
    ...options,
  });
  pools.push(pool);
  return pool;
}

async function pidOf(pool: Pool, more: Partial<Job> = {}): Promise<number> {
  return Number((await pool.run(job("test/echo", more))).output["pid"]);
}

const refusalOf = (answer: Promise<unknown>) => rejectionOf(answer, Error);

/** The code of the error that a caller would see. */
async function codeOf(answer: Promise<unknown>): Promise<string> {
  const error = await refusalOf(answer);
  return error instanceof GatewayError ? error.code : error.name;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("work", () => {
  test("the input reaches the engine, and its answer the caller", async () => {
    const { output } = await open().run(job("test/echo", { input: { text: "Grüße 👋", list: [1, null, "x"] } }));
    expect(output["result"]).toEqual({ text: "Grüße 👋", list: [1, null, "x"] });
  });

  test("workers start with the first job and are reused", async () => {
    const pool = open();
    expect(pool.state().light.workers).toBe(0);
    const first = await pidOf(pool);
    expect(first).not.toBe(process.pid);
    expect(await pidOf(pool)).toBe(first);
    expect(pool.state().light).toMatchObject({ workers: 1, busy: 0, waiting: 0 });
    expect(pool.state().light.memoryBytes).toBeGreaterThan(1_048_576);
  });

  test("parallel calls use as many workers as are allowed, and all are answered", async () => {
    const pool = open({ workers: { light: 2, heavy: 1 }, maxWaiting: 20, maxWaitingPerOwner: 20 });
    const jobs = Array.from({ length: 12 }, () => pool.run(job("test/compute", { input: { milliseconds: 20 } })));
    expect(pool.state().light).toMatchObject({ workers: 2, busy: 2, waiting: 10 });
    const pids = (await Promise.all(jobs)).map(({ output }) => output["pid"]);
    expect(new Set(pids).size).toBe(2);
  });

  test("a light job does not wait for a heavy one", async () => {
    const pool = open();
    let isHeavyDone = false;
    const heavy = pool.run(job("test/heavy_compute", { lane: "heavy", input: { milliseconds: 3_000 } }));
    void heavy.then(() => (isHeavyDone = true));
    await pool.run(job("test/echo"));
    expect(isHeavyDone).toBe(false);
    await heavy;
  });

  test("the thread of the gateway is never blocked", async () => {
    const pool = open();
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    const bytes = new Uint8Array(30 * 1_048_576).fill(3);
    const file = {
      name: "big.bin",
      mediaType: "application/octet-stream",
      size: bytes.length,
      read: async () => bytes,
    };
    await Promise.all([
      pool.run(job("test/heavy_compute", { lane: "heavy", input: { milliseconds: 1_500 } })),
      pool.run(job("test/double", { files: { file } })),
    ]);
    clearInterval(timer);
    // About 300 on a quiet machine; none, if the work were done on this thread.
    expect(turns).toBeGreaterThan(10);
  });

  test("large files and results arrive complete, and are deleted from the disk", async () => {
    const pool = open();
    const folder = String(((await pool.run(job("test/environment"))).output["result"] as { folder: string }).folder);
    for (const size of [0, 1, 262_144, 262_145, 5_000_000]) {
      const bytes = new Uint8Array(size);
      for (let index = 0; index < size; index += 97) bytes[index] = index % 251;
      const file = { name: "a.bin", mediaType: "image/png", size, read: async () => bytes };
      const { output, binaries } = await pool.run(job("test/double", { files: { file } }));
      expect(output).toEqual({ size, name: "a.bin", type: "image/png" });
      const twice = Buffer.from(binaries?.[0]?.bytes ?? []);
      expect(Bun.hash(twice)).toBe(Bun.hash(Buffer.concat([bytes, bytes])));
    }
    await waitFor("an empty folder", async () => (await readdir(folder)).length === 0);
    await pool.close();
    expect(await Bun.file(folder).exists()).toBe(false);
  });

  test("the worker checks the output of a known task, and that of others is not called checked", async () => {
    const pool = open();
    const items = [{ keyword: "pool", importance: 0.5 }];
    const answer = await pool.run(job("text/keyword_extraction", { input: { items } }));
    expect(answer).toMatchObject({ output: { items }, isChecked: true });
    const wrong = await pool.run(job("text/keyword_extraction", { input: { items: [{ keyword: 5 }] } }));
    expect(wrong).toMatchObject({ isChecked: false });
    expect(await pool.run(job("test/echo"))).toMatchObject({ isChecked: false });
  });

  test.skipIf(process.platform !== "linux")(
    "every thread of a worker of heavy engines has the low priority, and light engines have a higher one",
    async () => {
      const pool = open({ niceness: 15 });
      const nicenessOf = async (pid: number) => {
        const threads = await readdir(`/proc/${pid}/task`);
        // The fields after the name, which may have spaces: the priority is the 16th and the niceness the 17th.
        const read = async (id: string) =>
          (await readFile(`/proc/${pid}/task/${id}/stat`, "utf8")).replace(/^.*\) /s, "").split(" ")[16];
        return new Set(await Promise.all(threads.map(read)));
      };
      expect(await nicenessOf(await pidOf(pool, { lane: "heavy" }))).toEqual(new Set(["15"]));
      expect(await nicenessOf(await pidOf(pool, { lane: "light" }))).toEqual(new Set(["10"]));
    },
  );

  test("an engine sees none of the gateway's settings and keys", async () => {
    const { output } = await open().run(job("test/environment"));
    const seen = output["result"] as Record<string, string>;
    const { folder, TMPDIR, ...rest } = seen;
    expect(folder).toContain("switchyard-engines-");
    expect(TMPDIR).toBe(folder ?? "");
    expect(Object.keys(rest).filter((name) => name in process.env)).toEqual([]);
  });
});

describe("progress", () => {
  test("progress is reported while the engine computes, in order and in few messages", async () => {
    const shares: number[] = [];
    const first = Promise.withResolvers<string>();
    const onProgress = (share: number) => {
      shares.push(share);
      first.resolve("progress");
    };
    const run = open().run(job("test/progress", { onProgress }));
    expect(await Promise.race([first.promise, run.then(() => "end")])).toBe("progress");
    await run;
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.length).toBeGreaterThan(50);
    expect(shares.length).toBeLessThanOrEqual(100);
    expect(shares.at(-1)).toBe(1);
  });

  test("progress may be ignored", async () => {
    await open().run(job("test/progress"));
  });
});

describe("limits", () => {
  test("an endless loop is killed at the deadline, and the next call is served", async () => {
    const pool = open();
    const pid = await pidOf(pool);
    const endless = pool.run(job("test/endless", { deadline: performance.now() + 300 }));
    expect(await within(60_000, "the refusal", codeOf(endless))).toBe("provider_timeout");
    await waitFor("the end of the worker", () => !isRunning(pid));
    expect(await pidOf(pool)).not.toBe(pid);
  });

  test("a task that exceeds its time limit is killed, and the error says so", async () => {
    const pool = open();
    const pid = await pidOf(pool);
    const timeLimit = { milliseconds: 1_500, setting: "SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS" };
    const error = await within(60_000, "the refusal", refusalOf(pool.run(job("test/endless", { timeLimit }))));
    expect(error).toMatchObject({ code: "provider_timeout", details: { shouldRetry: false } });
    expect(error.message).toBe(
      "The local engine for test/endless exceeded its time limit of 1.5 s. Send a smaller input, or ask the operator to raise SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS.",
    );
    await waitFor("the end of the process", () => !isRunning(pid));
    expect(await pidOf(pool)).not.toBe(pid);
  });

  test("the time limit counts the work of a task, not its wait in the queue", async () => {
    const pool = open();
    const first = pool.run(job("test/compute", { input: { milliseconds: 2_500 } }));
    const timeLimit = { milliseconds: 2_000, setting: "SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS" };
    const second = pool.run(job("test/echo", { timeLimit }));
    await Promise.all([first, second]);
  });

  test("a caller that disconnects frees the worker, even during an endless loop", async () => {
    const pool = open();
    const pid = await pidOf(pool);
    const caller = new AbortController();
    const endless = pool.run(job("test/endless", { signal: caller.signal }));
    caller.abort();
    expect(await within(60_000, "the refusal", refusalOf(endless))).toBeInstanceOf(CallerLeft);
    expect(await pidOf(pool)).not.toBe(pid);
    await waitFor("the end of the worker", () => !isRunning(pid));
  });

  test("a worker survives if the caller of a short job disconnects", async () => {
    const pool = open();
    const pid = await pidOf(pool);
    const caller = new AbortController();
    const short = pool.run(job("test/compute", { input: { milliseconds: 100 }, signal: caller.signal }));
    caller.abort();
    expect(await refusalOf(short)).toBeInstanceOf(CallerLeft);
    expect(await pidOf(pool)).toBe(pid);
  });

  test("the gateway's reason for an abort is passed on", async () => {
    const caller = new AbortController();
    const endless = open().run(job("test/endless", { signal: caller.signal }));
    caller.abort(new GatewayError("draining", "The gateway is going down."));
    expect(await codeOf(endless)).toBe("draining");
  });

  test("jobs beyond a full queue are refused with Retry-After", async () => {
    const pool = open({ maxWaiting: 2 });
    const jobs = [1, 2, 3].map(() => pool.run(job("test/compute", { input: { milliseconds: 200 } })));
    const error = await refusalOf(pool.run(job("test/echo")));
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).code).toBe("overloaded");
    expect((error as GatewayError).details.retryAfter).toBeGreaterThanOrEqual(1);
    await Promise.all(jobs);
    await pool.run(job("test/echo"));
  });

  test("a waiting job leaves the queue at its deadline or when its caller disconnects", async () => {
    const pool = open();
    const running = pool.run(job("test/compute", { input: { milliseconds: 1_000 } }));
    const caller = new AbortController();
    const waiting = [
      codeOf(pool.run(job("test/echo", { deadline: performance.now() + 50 }))),
      codeOf(pool.run(job("test/echo", { signal: caller.signal }))),
    ];
    expect(pool.state().light.waiting).toBe(2);
    caller.abort();
    expect(await Promise.all(waiting)).toEqual(["provider_timeout", "CallerLeft"]);
    expect(pool.state().light.waiting).toBe(0);
    await running;
  });

  test("a worker that exceeds its memory limit is killed, and the error says so", async () => {
    const pool = open({ maxMemoryBytes: 300 * 1_048_576 });
    const error = await within(60_000, "the refusal", refusalOf(pool.run(job("test/fill_memory"))));
    expect(error.message).toContain("more than its 300 MB of memory");
    await pool.run(job("test/echo"));
  });

  test("a worker that holds more than its share of the limit is replaced between two jobs, before it reaches the limit", async () => {
    const limitMegabytes = 1_000;
    const pool = open({ maxMemoryBytes: limitMegabytes * 1_048_576 });
    const hold = async (megabytes: number) =>
      Number((await pool.run(job("test/hold_memory", { input: { megabytes } }))).output["pid"]);
    const first = await hold(1);
    expect(await hold(1)).toBe(first);
    // With what a worker needs itself this is between the share (60 %) and the limit.
    expect(await hold(650)).toBe(first);
    expect(await hold(1)).not.toBe(first);
  });

  test("an idle worker ends", async () => {
    const pool = open({ idleMs: 50 });
    const pid = await pidOf(pool);
    await waitFor("the end of the worker", () => !isRunning(pid));
    expect(pool.state().light.workers).toBe(0);
    expect(await pidOf(pool)).not.toBe(pid);
  });
});

describe("fairness between owners", () => {
  /** Occupies the only process until the returned function is called. */
  async function occupy(pool: Pool): Promise<() => void> {
    const caller = new AbortController();
    await pidOf(pool);
    pool.run(job("test/compute", { signal: caller.signal, input: { milliseconds: 300 } })).catch(() => {});
    return () => caller.abort();
  }

  test("owners are served in turn, however many tasks one of them has queued", async () => {
    const pool = open({ maxWaiting: 20, maxWaitingPerOwner: 10 });
    const release = await occupy(pool);
    const served: string[] = [];
    const queue = (owner: string) => pool.run(job("test/echo", { owner })).then(() => served.push(owner));
    const all = [..."aaaaaa", ..."bb", "c"].map(queue);
    release();
    await Promise.all(all);
    expect(served.join("")).toBe("abcabaaaa");
  });

  test("an owner whose part of the queue is full gets 429, and other owners are still accepted", async () => {
    const pool = open({ maxWaiting: 5, maxWaitingPerOwner: 2 });
    const release = await occupy(pool);
    const waiting = [1, 2].map(() => pool.run(job("test/echo", { owner: "a" })));
    const error = await refusalOf(pool.run(job("test/echo", { owner: "a" })));
    expect(error).toMatchObject({ code: "rate_limit_exceeded" });
    expect(error.message).toContain("2 waiting local tasks");
    expect((error as GatewayError).details.retryAfter).toBeGreaterThanOrEqual(1);
    waiting.push(pool.run(job("test/echo", { owner: "b" })));
    release();
    await Promise.all(waiting);
    await pool.run(job("test/echo", { owner: "a" }));
  });

  test("an owner without waiting jobs has no turn in the queue", async () => {
    const pool = open({ maxWaitingPerOwner: 1 });
    const release = await occupy(pool);
    const caller = new AbortController();
    const left = refusalOf(pool.run(job("test/echo", { owner: "a", signal: caller.signal })));
    caller.abort();
    await left;
    const next = pool.run(job("test/echo", { owner: "a" }));
    release();
    await next;
    expect(pool.state().light.waiting).toBe(0);
  });
});

describe("failures", () => {
  for (const task of ["test/exit", "test/crash"]) {
    test(`a worker that dies (${task}) fails its own job only, and is replaced`, async () => {
      const pool = open();
      const dying = codeOf(pool.run(job(task)));
      const next = pool.run(job("test/echo"));
      expect(await within(60_000, "the refusal", dying)).toBe("provider_error");
      await next;
      await waitFor("the log", () => logged.includes("exited unexpectedly"));
    });
  }

  test("a crash names the task that ran, not the one whose engine was loaded last", async () => {
    const pool = open();
    await pool.run(job("test/exit", { input: { stays: true } }));
    await pool.run(job("test/echo"));
    const { message } = await refusalOf(pool.run(job("test/exit")));
    expect(message).toBe("The local engine for test/exit crashed while processing this input.");
  });

  test("WebAssembly that aborts fails its job only", async () => {
    const pool = open();
    expect(await codeOf(pool.run(job("test/abort")))).toBe("provider_error");
    await pool.run(job("test/echo"));
  });

  test("an engine's refusal reaches the caller unchanged", async () => {
    const pool = open();
    const invalid = await refusalOf(pool.run(job("test/refuse")));
    expect(invalid).toBeInstanceOf(ValidationError);
    expect((invalid as ValidationError).problems).toEqual([
      { loc: ["body", "input", "text"], msg: "not this one", type: "value_error" },
    ]);
    const unavailable = await refusalOf(pool.run(job("test/too_slow_today")));
    expect(unavailable).toMatchObject({
      code: "provider_unavailable",
      message: "come back tomorrow",
      details: { param: "text" },
    });
  });

  test("a bug of an engine is logged, and not reported to the caller", async () => {
    const error = await refusalOf(open().run(job("test/bug")));
    expect(error).toMatchObject({ code: "provider_error" });
    expect(error.message).not.toContain("secret detail");
    await waitFor("the log", () => logged.includes("secret detail of a bug"));
  });

  test("an engine that could not be loaded is loaded again by the next call", async () => {
    const pool = open();
    expect(await codeOf(pool.run(job("test/loads_at_second_try")))).toBe("provider_error");
    expect((await pool.run(job("test/loads_at_second_try"))).output).toEqual({ loads: 2 });
  });

  test("a file that cannot be read fails the job, and the worker stays", async () => {
    const pool = open();
    const pid = await pidOf(pool);
    const read = async () => {
      throw new GatewayError("dependency_unavailable", "the disk is away");
    };
    const file = { name: "a", mediaType: "text/plain", size: 1, read };
    expect(await codeOf(pool.run(job("test/double", { files: { file } })))).toBe("dependency_unavailable");
    expect(await pidOf(pool)).toBe(pid);
  });
});

describe("shutdown", () => {
  test("close ends running and waiting jobs, and refuses new ones", async () => {
    const pool = open();
    const pid = await pidOf(pool);
    const ending = [codeOf(pool.run(job("test/endless"))), codeOf(pool.run(job("test/echo")))];
    await within(60_000, "the close", pool.close());
    expect(await Promise.all(ending)).toEqual(["draining", "draining"]);
    expect(isRunning(pid)).toBe(false);
    expect(await codeOf(pool.run(job("test/echo")))).toBe("draining");
    await pool.close();
  });

  test("a worker does not outlive a gateway that was killed, even in a loop that never ends", async () => {
    const folder = await mkdtemp(join(tmpdir(), "switchyard-test-"));
    const script = join(folder, "gateway.ts");
    await Bun.write(
      script,
      `import { createPool } from ${JSON.stringify(new URL("../../src/engines/local/pool.ts", import.meta.url).href)};
const none = () => {};
const log = { debug: none, info: none, warn: none, error: none, hide: none, redact: String, flush: none };
const pool = createPool({ listModule: ${JSON.stringify(listModule)}, workers: { light: 1, heavy: 1 }, maxWaiting: 1, maxWaitingPerOwner: 1, idleMs: 60000, maxMemoryBytes: 1e9, niceness: 0, deniedPaths: [], log });
const job = (task) => ({ task, lane: "light", owner: "key:test", timeLimit: { milliseconds: 30000, setting: "" }, model: null, input: {}, files: {}, signal: new AbortController().signal, deadline: performance.now() + 60000 });
const { output } = await pool.run(job("test/echo"));
void pool.run(job("test/endless"));
console.log(output.pid);
`,
    );
    const gateway = Bun.spawn([process.execPath, script], { stdout: "pipe", env: { TMPDIR: folder } });
    const reader = gateway.stdout.getReader();
    const { value } = await within(60_000, "the first answer", reader.read());
    const worker = Number(new TextDecoder().decode(value));
    expect(isRunning(worker)).toBe(true);
    gateway.kill("SIGKILL");
    await waitFor("the end of the worker", async () => !(await isAlive(worker)));
    await rm(folder, { recursive: true, force: true });
  });
});

test("a worker ends when its gateway was gone before the worker had started", async () => {
  const entry = Bun.fileURLToPath(new URL("../../src/engines/local/worker.ts", import.meta.url));
  // This process is the worker's parent, so any other id is the one of a gateway that has exited.
  const exitedGateway = String(process.ppid);
  const worker = Bun.spawn([process.execPath, entry, listModule, exitedGateway, "1000000000", "0"], {
    stdio: ["ignore", "ignore", "ignore"],
    serialization: "advanced",
    ipc() {},
  });
  await within(60_000, "the end of the worker", worker.exited);
  expect(worker.signalCode).toBe("SIGKILL");
});

/** Unlike a signal, it tells a process that only waits to be buried from one that runs. */
async function isAlive(pid: number): Promise<boolean> {
  if (!isRunning(pid)) return false;
  if (process.platform !== "linux") return true;
  try {
    return !/^State:\s+Z/m.test(await Bun.file(`/proc/${pid}/status`).text());
  } catch {
    return false; // it has ended meanwhile
  }
}
