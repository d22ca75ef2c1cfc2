// The pool of the engine process, used over its socket. The workers are real processes; the server runs in this one.

import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool } from "../../src/engines/local/pool.ts";
import { createRemotePool } from "../../src/engines/local/remote-pool.ts";
import { type PoolServer, servePools } from "../../src/engines/local/serve-pools.ts";
import { GatewayError, ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { CallerLeft } from "../../src/providers/call.ts";
import { waitFor } from "../support/wait.ts";
import { poolJob as job } from "./pool-job.ts";

const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });
const listModule = new URL("./local-test-engines.ts", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "switchyard-socket-"));
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the server of the pools at the first request, as the supervisor starts the engine process. */
function openEngines({ idleMs = 60_000 } = {}) {
  const pool = createPool({
    listModule,
    workers: { light: 1, heavy: 1 },
    maxWaiting: 2,
    maxWaitingPerOwner: 2,
    idleMs,
    maxMemoryBytes: 1_024 * 1_048_576,
    niceness: 0,
    deniedPaths: [],
    log,
  });
  opened.push(pool);
  const engines = {
    socketPath: join(folder, "engines.sock"),
    starts: 0,
    pool,
    server: null as PoolServer | null,
    start() {
      engines.starts++;
      if (engines.starts === 1) void engines.listen();
    },
    async listen() {
      engines.server = await servePools({ requests: pool, jobs: pool }, { socketPath: engines.socketPath, idleMs });
    },
  };
  return engines;
}

async function errorOf(answer: Promise<unknown>): Promise<unknown> {
  return await answer.then(
    () => null,
    (error: unknown) => error,
  );
}

test("the first job starts the process, and two processes share its workers", async () => {
  const engines = openEngines();
  const [one, another] = [createRemotePool(engines, "requests", log), createRemotePool(engines, "jobs", log)];
  const first = await one.run(job("test/echo", { input: { text: "é 語" } }));
  const second = await another.run(job("test/echo"));
  expect(engines.starts).toBeGreaterThan(0);
  expect(first.output["result"]).toEqual({ text: "é 語" });
  const items = [{ keyword: "pool", importance: 0.5 }];
  const checked = await one.run(job("text/keyword_extraction", { input: { items } }));
  expect(checked).toMatchObject({ output: { items }, isChecked: true });
  expect(second.output["pid"]).toBe(first.output["pid"]);
});

test("files of every size arrive", async () => {
  const remote = createRemotePool(openEngines(), "requests", log);
  for (const size of [0, 1, 70_000, 5_000_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, index) => index % 251);
    const file = { name: "a.bin", mediaType: "image/png", size, read: async () => bytes };
    const { output, binaries, units } = await remote.run(job("test/double", { files: { file } }));
    expect([output, units]).toEqual([{ size, name: "a.bin", type: "image/png" }, { file: 1 }]);
    expect(Buffer.concat([bytes, bytes]).equals(binaries?.[0]?.bytes ?? new Uint8Array())).toBe(true);
  }
});

test("the files of a waiting job are not read before a worker is free", async () => {
  const engines = openEngines();
  const remote = createRemotePool(engines, "requests", log);
  const leaving = new AbortController();
  const endless = errorOf(remote.run(job("test/endless", { signal: leaving.signal })));
  await waitFor("a busy worker", () => engines.pool.state().light.busy === 1);
  let reads = 0;
  const read = async () => {
    reads++;
    return new Uint8Array(1);
  };
  const waiting = remote.run(
    job("test/double", { files: { file: { name: "a", mediaType: "image/png", size: 1, read } } }),
  );
  await waitFor("a waiting job", () => engines.pool.state().light.waiting === 1);
  expect(reads).toBe(0);
  leaving.abort();
  await Promise.all([endless, waiting]);
  expect(reads).toBe(1);
});

test("progress is reported in order", async () => {
  const remote = createRemotePool(openEngines(), "jobs", log);
  const seen: number[] = [];
  await remote.run(job("test/progress", { onProgress: (share) => void seen.push(share) }));
  expect(seen.length).toBeGreaterThan(10);
  expect(seen).toEqual(seen.toSorted((one, another) => one - another));
});

test("a refusal of an engine reaches the caller unchanged", async () => {
  const remote = createRemotePool(openEngines(), "requests", log);
  const refusal = await errorOf(remote.run(job("test/refuse")));
  expect(refusal).toBeInstanceOf(ValidationError);
  expect((refusal as ValidationError).problems).toEqual([
    { loc: ["body", "input", "text"], msg: "not this one", type: "value_error" },
  ]);
  const unavailable = await errorOf(remote.run(job("test/too_slow_today")));
  expect(unavailable).toMatchObject({ code: "provider_unavailable", details: { param: "text" } });
});

test("a full queue is refused with Retry-After, and a time limit is not worth a retry", async () => {
  const engines = openEngines();
  const remote = createRemotePool(engines, "requests", log);
  const limit = { milliseconds: 1_000, setting: "SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS" };
  const slow = Array.from({ length: 3 }, (_, index) =>
    errorOf(remote.run(job("test/endless", { owner: `key:${index}`, timeLimit: limit }))),
  );
  await waitFor("a full queue", () => engines.pool.state().light.waiting === 2);
  const refused = await errorOf(remote.run(job("test/echo", { owner: "key:late" })));
  expect(refused).toMatchObject({ code: "overloaded", details: { retryAfter: expect.any(Number) } });
  expect(await slow[0]).toMatchObject({ code: "provider_timeout", details: { shouldRetry: false } });
  await Promise.all(slow);
});

test("a full queue of the owner is a limit of the owner, so that a fallback is tried", async () => {
  const engines = openEngines();
  const remote = createRemotePool(engines, "requests", log);
  const leaving = new AbortController();
  const own = Array.from({ length: 3 }, () => errorOf(remote.run(job("test/endless", { signal: leaving.signal }))));
  await waitFor("a full queue of the owner", () => engines.pool.state().light.waiting === 2);
  const details = { isOwnLimit: true, retryAfter: expect.any(Number) };
  expect(await errorOf(remote.run(job("test/echo")))).toMatchObject({ code: "rate_limit_exceeded", details });
  leaving.abort();
  await Promise.all(own);
});

test("a caller that disconnects ends its job, even in an endless loop", async () => {
  const engines = openEngines();
  const remote = createRemotePool(engines, "requests", log);
  const leaving = new AbortController();
  // Longer than the test waits, so that only the disconnection can end the job.
  const timeLimit = { milliseconds: 600_000, setting: "SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS" };
  const left = errorOf(remote.run(job("test/endless", { signal: leaving.signal, timeLimit })));
  await waitFor("a busy worker", () => engines.pool.state().light.busy === 1);
  leaving.abort();
  expect(await left).toBeInstanceOf(CallerLeft);
  await waitFor("a free worker", () => engines.pool.state().light.busy === 0);
  expect((await remote.run(job("test/echo", { input: { a: 1 } }))).output["result"]).toEqual({ a: 1 });
});

test("a file that cannot be read fails its job with its own error", async () => {
  const remote = createRemotePool(openEngines(), "requests", log);
  const broken = new GatewayError("dependency_unavailable", "the bucket is away");
  const file = { name: "a", mediaType: "image/png", size: 1, read: () => Promise.reject(broken) };
  expect(await errorOf(remote.run(job("test/double", { files: { file } })))).toBe(broken);
  expect((await remote.run(job("test/echo", { input: { a: 1 } }))).output["result"]).toEqual({ a: 1 });
});

test("close ends running jobs with the reason, and refuses new ones", async () => {
  const engines = openEngines();
  const remote = createRemotePool(engines, "requests", log);
  const running = errorOf(remote.run(job("test/endless")));
  await waitFor("a busy worker", () => engines.pool.state().light.busy === 1);
  await remote.close();
  expect(await running).toMatchObject({ code: "draining" });
  expect(await errorOf(remote.run(job("test/echo")))).toMatchObject({ code: "draining" });
});

test("the server ends after some time without a job, and when its socket was deleted", async () => {
  const short = openEngines({ idleMs: 50 });
  await createRemotePool(short, "requests", log).run(job("test/echo"));
  await short.server?.idle;
  await short.server?.close();
  const deleted = openEngines();
  await createRemotePool(deleted, "requests", log).run(job("test/echo"));
  rmSync(deleted.socketPath);
  await deleted.server?.idle;
  await deleted.server?.close();
});
