// Every known bad input: the bytes that are sent, and the answer that must come back. Those of jobs, and others that need host names to be
// resolved, are in test/jobs/bad-inputs-jobs.slow.test.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { z } from "zod";
import { createLog } from "../../src/log.ts";
import { answer } from "../support/answers.ts";
import {
  type BadInput,
  badInputs,
  type Expectation,
  type Fixtures,
  mockWithTasks,
  needsNames,
  presentedToken,
  taskScripts,
  toBytes,
  toScript,
} from "../support/bad-inputs.ts";
import { type Canary, startCanary } from "../support/canary.ts";
import { checkResponse, checkSuccess } from "../support/expectations.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { openConnection, type RawConnection, type RawResponse } from "../support/raw-http.ts";
import { readFolder } from "../support/read-folder.ts";
import { createClient } from "../support/responses.ts";
import { type ResponsesVendor, startResponsesVendor, toSlowStream } from "../support/responses-vendor.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startTestServer } from "../support/test-server.ts";
import { awayFromMinuteEnd, waitFor } from "../support/wait.ts";
import { watchCpu, watchMemory } from "../support/watch.ts";

/** Cases that this machine cannot run. */
const leftOut: Readonly<Record<string, string>> =
  whyNoOwnPostgres() === null ? {} : { "auth-43": whyNoOwnPostgres() ?? "" };

/** Cases whose expectation was decided otherwise after the file was written. */
const decidedOtherwise: Readonly<Record<string, BadInput["expect"]>> = {
  // `/v1` is a base address like `/v3`, so that every client works with one address.
  "route-04": { status: 200, shape: "ok" },
};

// Times in the file are for a fast processor.
const patience = 5;
const cpuAttempts = 4;
/** Long enough for a healthy vendor beside programs that use every core. */
const idleTimeoutMs = 8_000;

let vendor: ResponsesVendor;
let gateway: GatewayProcess;
/** The process that answers the requests. */
let serving = 0;
let canary: Canary;
let fixtures: Fixtures;

const settings = {
  SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: String(idleTimeoutMs),
  SWITCHYARD_IDLE_TIMEOUT_MS: String(idleTimeoutMs),
  SWITCHYARD_LOG_LEVEL: "debug",
};

beforeAll(async () => {
  vendor = await startResponsesVendor();
  canary = await startCanary();
  gateway = await startGatewayProcess({
    vendor,
    env: settings,
    config: { providers: { mock: mockWithTasks(vendor.url) } },
  });
  serving = (await gateway.processes()).serving[0] ?? 0;
  fixtures = await createFixtures(gateway, canary.port);
});

afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
  canary?.server.close();
});

/** Faults that need a gateway of their own, or another shape of test. */
const faults: Readonly<Record<string, (badInput: BadInput) => Promise<void>>> = {
  db_down: stopKeyStore,
  throw: throwInHandler,
  sigterm_gateway: drainDuringStream,
  event_loop_blocked_2s: blockEventLoop,
  breaker_open: openCircuit,
};

const groups = Map.groupBy(
  badInputs.filter((badInput) => !needsNames(badInput)),
  (badInput) => badInput.group,
);
for (const [group, cases] of groups) {
  describe(group, () => {
    for (const badInput of cases) {
      const title = `${badInput.id}: ${badInput.name}`;
      const reason = leftOut[badInput.id];
      if (reason !== undefined) {
        test.skip(`${title} (${reason})`, () => {});
        continue;
      }
      const fault = badInput.send.fault ?? badInput.send.upstream?.fault ?? "";
      const run = faults[fault] ?? (badInput.id === "auth-44" ? guessKeys : runCase);
      const expected = decidedOtherwise[badInput.id] ?? badInput.expect;
      test(title, () => run({ ...badInput, expect: expected }));
    }
  });
}

test("nothing that was sent as a secret can be read in the log or in the data folder", async () => {
  const log = gateway.log();
  expect(log).not.toBe("");
  const kept = await readFolder(gateway.dataFolder);
  for (const secret of [fixtures["KEY_A"], fixtures["KEY_RATE1"], gateway.adminKey, providerSecret]) {
    expect(log).not.toContain(secret ?? "");
    expect(kept).not.toContain(secret ?? "");
  }
});

class TooMuchCpuTime extends Error {}

/** A busy machine makes the same work take more processor time at times, so the case is repeated before it fails for that. */
async function runCase(badInput: BadInput): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryCase(badInput);
    } catch (error) {
      if (!(error instanceof TooMuchCpuTime) || attempt === cpuAttempts) throw error;
    }
  }
}

async function tryCase(badInput: BadInput): Promise<void> {
  const { send, expect: expected } = badInput;
  vendor.clear();
  for (const [model, script] of taskScripts) vendor.on(model, script);
  const canaryHits = canary.hits();
  const seen = Promise.withResolvers<void>();
  if (send.upstream !== undefined) {
    const intervalMs = send.client === undefined ? 0 : 20;
    const isChat = badInput.path.endsWith("/chat/completions");
    vendor.on(
      "echo",
      isChat
        ? toScript(send.upstream, { intervalMs, seen: seen.promise })
        : toSlowStream(send.upstream.chunks ?? 1, intervalMs),
    );
  }
  const calls = Array.from({ length: send.times ?? 1 }, (_none, index) => toBytes(badInput, fixtures, index + 1));

  if (send.client !== undefined) {
    await leaveAndCheck(badInput, calls[0] ?? Buffer.alloc(0));
    return;
  }
  if (send.times !== undefined) await awayFromMinuteEnd();
  const attempt = () => callAndCheck(expected, calls, seen.resolve);
  await (send.upstream?.refuse === true ? vendor.whileRefusing(attempt) : attempt());

  const { upstream_calls, canary_hits, billed_at } = expected.side_effects ?? {};
  if (upstream_calls !== undefined) expect(vendor.requests).toHaveLength(upstream_calls);
  if (canary_hits !== undefined) expect(canary.hits() - canaryHits).toBe(canary_hits);
  if (billed_at !== undefined) expect(vendor.last().headers["authorization"]).toBe(`Bearer ${providerSecret}`);
  if (expected.after !== undefined) await checkAfter(expected.after);
  if (expected.forbid_in_logs !== undefined) {
    const token = presentedToken(badInput, fixtures);
    if (token !== null) expect(gateway.log()).not.toContain(token);
  }
}

/** What must still be so afterwards. */
async function checkAfter(claim: string): Promise<void> {
  expect(claim).toBe("tenant B can still read it");
  const response = await createClient(gateway, fixtures["KEY_B"] ?? "").get(fixtures["RESP_B"] ?? "");
  expect(response.status).toBe(200);
}

/** Sends the calls one after the other and holds the last one to the expectation. */
async function callAndCheck(expected: Expectation, calls: readonly Uint8Array[], seen: () => void): Promise<void> {
  const memory = expected.max_rss_growth_mb === undefined ? null : watchMemory(serving);
  const cpu = watchCpu(serving);
  await memory?.started;
  await cpu.started;

  let connection: RawConnection | null = null;
  let response: RawResponse | null = null;
  for (const bytes of calls) {
    connection?.leave();
    connection = await openConnection(gateway.url);
    connection.send(bytes);
    if (expected.shape === "sse_error") {
      const opened = connection;
      await waitFor("content", () => opened.text().includes('"content":"w') || opened.text().includes('"content":"a'));
      seen();
    }
    response = await connection.receive();
  }
  const cpuMs = await cpu.stop();
  const grownMegabytes = await memory?.stop();
  if (connection === null || response === null) throw new Error("the case sends nothing");

  await checkResponse(expected, response, connection);
  connection.leave();
  const maxCpuMs = expected.max_loop_block_ms ?? expected.max_ms;
  if (maxCpuMs !== undefined && cpuMs >= maxCpuMs * patience)
    throw new TooMuchCpuTime(`${cpuMs} ms of processor time, and less than ${maxCpuMs * patience} ms are allowed`);
  if (expected.max_rss_growth_mb !== undefined) expect(grownMegabytes).toBeLessThan(expected.max_rss_growth_mb);
}

/** The client goes away, before the first byte or after some events, and the vendor must be let go. */
async function leaveAndCheck({ send, expect: expected }: BadInput, bytes: Uint8Array): Promise<void> {
  const connection = await openConnection(gateway.url);
  connection.send(bytes);
  await vendor.waitFor("the call at the vendor", (requests) => requests.length === 1);
  if (send.client === "closes after 3") {
    await waitFor("three events", () => connection.text().split("data: ").length > 3);
  } else {
    await Bun.sleep(1_000);
  }
  connection.leave();
  await waitFor("the call at the vendor to end", () => vendor.last().leftAt);
  if (expected.side_effects?.usage_recorded !== undefined) {
    await waitFor("the attempt to be recorded", () => gateway.log().includes('"outcome":"caller_left"'));
  }
}

/** auth-43: the store of keys goes away and stays away. */
async function stopKeyStore(badInput: BadInput): Promise<void> {
  const postgres = await startOwnPostgres();
  // A busy machine may need seconds to read the keys, and a gateway whose keys are older than this is not ready.
  const env = { ...settings, DATABASE_URL: await postgres.createStore(), SWITCHYARD_KEYS_STALE_AFTER_MS: "10000" };
  const own = await startGatewayProcess({ vendor, env }).catch(async (error) => {
    await postgres.stop();
    throw error;
  });
  try {
    const keys = { ...fixtures, KEY_A: await own.createKey() };
    const answerNow = async (): Promise<[RawConnection, RawResponse]> => {
      const connection = await openConnection(own.url);
      connection.send(toBytes(badInput, keys));
      return [connection, await connection.receive()];
    };
    expect((await answerNow())[1].status).toBe(200);
    await postgres.kill();
    const [connection, response] = await waitFor(
      "known keys to be believed no longer",
      async () => {
        const [connection, response] = await answerNow();
        return response.status === 200 ? null : ([connection, response] as const);
      },
      { everyMs: 100 },
    );
    await checkResponse(badInput.expect, response, connection);
  } finally {
    await own.kill();
    await postgres.stop();
  }
}

/** stream-26: the server itself, with an endpoint that has a bug. */
async function throwInHandler(badInput: BadInput): Promise<void> {
  let log = "";
  const server = startTestServer(
    [
      {
        method: "POST",
        path: badInput.path,
        key: "none",
        body: { kind: "json", schema: z.unknown() },
        run: () => {
          throw new TypeError(`a bug with ${providerSecret} in its message`);
        },
      },
    ],
    { log: createLog({ level: "info", format: "json", secrets: [providerSecret], write: (lines) => (log += lines) }) },
  );
  try {
    const connection = await openConnection(server.url);
    connection.send(toBytes(badInput, fixtures));
    const response = await connection.receive();
    await checkResponse(badInput.expect, response, connection);
    connection.leave();
    // The operator finds the cause by the request's id.
    expect(log).toContain(response.headers["x-request-id"] ?? "no request id");
    expect(log).toContain("a bug with");
    expect(log).not.toContain(providerSecret);
  } finally {
    server.close();
  }
}

/** stream-24: SIGTERM while a stream runs. */
async function drainDuringStream(badInput: BadInput): Promise<void> {
  const own = await startGatewayProcess({ vendor, env: { ...settings, SWITCHYARD_DRAIN_TIMEOUT_MS: "20000" } });
  try {
    const keys = { ...fixtures, KEY_A: await own.createKey() };
    vendor.clear();
    vendor.on("echo", toScript(badInput.send.upstream ?? {}));
    const connection = await openConnection(own.url);
    connection.send(toBytes(badInput, keys));
    await waitFor("the first events", () => connection.text().includes("word "));
    own.signal("SIGTERM");
    const response = await connection.receive();
    expect(response.status).toBe(200);
    checkSuccess(response, response.body.toString());
    expect(await own.exited()).toBe(0);
  } finally {
    await own.kill();
  }
}

/** stream-07: on a gateway of its own, whose provider has failed before. */
async function openCircuit(badInput: BadInput): Promise<void> {
  await using own = await testGateway({ vendor, env: { ...settings, SWITCHYARD_BREAKER_FAILURES: "1" } });
  const keys = { ...fixtures, KEY_A: await own.createKey() };
  vendor.clear();
  vendor.on("echo", answer(500, { error: { message: "down" } }));
  const answerNow = async (): Promise<[RawConnection, RawResponse]> => {
    const connection = await openConnection(own.url);
    connection.send(toBytes(badInput, keys));
    return [connection, await connection.receive()];
  };
  expect((await answerNow())[1].status).toBe(502);
  const [connection, response] = await answerNow();
  await checkResponse(badInput.expect, response, connection);
  connection.leave();
  expect(vendor.requests).toHaveLength(1);
}

/** stream-25: a request that had to wait two seconds for a busy process is shed, not queued up further. */
async function blockEventLoop(badInput: BadInput): Promise<void> {
  vendor.clear();
  // The other cases must not be refused because the machine is busy.
  const own = await startGatewayProcess({ vendor, env: { ...settings, SWITCHYARD_OVERLOAD_DELAY_MS: "1000" } });
  try {
    const keys = { ...fixtures, KEY_A: await own.createKey() };
    const [serving = 0] = (await own.processes()).serving;
    const open = async () => {
      const connection = await openConnection(own.url);
      connection.send(toBytes(badInput, keys));
      return connection;
    };
    process.kill(serving, "SIGSTOP");
    const connection = await open();
    await Bun.sleep(2_000);
    process.kill(serving, "SIGCONT");
    const response = await connection.receive();
    await checkResponse(badInput.expect, response, connection);
    // And it is told how long it had to wait.
    expect(Number(/queue;dur=(\d+)/.exec(response.headers["server-timing"] ?? "")?.[1])).toBeGreaterThan(1_000);
    connection.leave();
    // It has caught up when it no longer refuses requests.
    await waitFor("the gateway to have caught up", async () => {
      const next = await open();
      const { status } = await next.receive();
      next.leave();
      return status === 200;
    });
  } finally {
    await own.kill();
  }
}

/** auth-44: on a gateway of its own, because wrong keys are counted by address. */
async function guessKeys(badInput: BadInput): Promise<void> {
  await using own = await testGateway({ vendor, env: settings });
  const key = await own.createKey();
  const connection = await openConnection(own.url);
  let response: RawResponse | null = null;
  for (let call = 1; call <= (badInput.send.times ?? 1); call += 1) {
    connection.send(toBytes(badInput, fixtures, call));
    response = await connection.receive();
  }
  if (response === null) throw new Error("the case sends nothing");
  await checkResponse(badInput.expect, response, connection);
  connection.leave();
  const honest = await fetch(`${own.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(badInput.send.json),
  });
  expect(honest.status).toBe(200);
  expect(own.log()).not.toContain("sk-guess-");
}

async function createFixtures(of: GatewayProcess, canaryPort: number): Promise<Fixtures> {
  const key = await of.createKey({ name: "A" });
  const expiresAt = Date.now() + 5_000;
  const expiring = await of.createKey({ expires_at: new Date(expiresAt).toISOString() });
  const created = {
    KEY_B: await of.createKey({ name: "B" }),
    KEY_DISABLED_TENANT: await of.createKey({ enabled: false }),
    KEY_CHAT_ONLY: await of.createKey({ scopes: ["chat"] }),
    KEY_MODEL_LIMITED: await of.createKey({ allowed_models: ["mock/echo"] }),
    KEY_NO_CREDIT: await of.createKey({ budget: { amount: 0, period: "none" } }),
    KEY_RATE1: await of.createKey({ rate_limit: { requests_per_minute: 1 } }),
  };
  await waitFor("the key to expire", () => Date.now() > expiresAt);
  return {
    ...created,
    KEY_A: key,
    KEY_A_LAST_CHAR_FLIPPED: `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`,
    KEY_A_FIRST_20: key.slice(0, 20),
    KEY_A_UPPER: key.toUpperCase(),
    SHA256_HEX_OF_KEY_A: createHash("sha256").update(key).digest("hex"),
    KEY_EXPIRED: expiring,
    PROVIDER_SECRET: providerSecret,
    CANARY_PORT: String(canaryPort),
    ...(await createResponses(of, key, created.KEY_B)),
    FILE_B: await upload(of, created.KEY_B),
    JOB_A: crypto.randomUUID(),
  };
}

async function upload(to: GatewayProcess, key: string): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob(["a file of tenant B"]), "b.txt");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${to.url}/v3/upload`, { method: "POST", headers, body: form });
  if (response.status !== 200) throw new Error(`the upload was answered with ${response.status}`);
  return ((await response.json()) as { file_id: string }).file_id;
}

const longestChain = 1_000;

async function createResponses(of: GatewayProcess, key: string, otherKey: string): Promise<Fixtures> {
  const [own, other] = [createClient(of, key), createClient(of, otherKey)];
  const create = async (body: Record<string, unknown> = {}) => (await own.create({ input: "hi", ...body })).id;
  const known = new Set(vendor.stored.keys());
  const ofOther = (await other.create({ input: "hi" })).id;
  const deleted = await create();
  await own.remove(deleted);
  let last = await create();
  for (let turn = 2; turn <= longestChain; turn += 1) last = (await own.create({ previous_response_id: last })).id;
  return {
    RESP_A: await create(),
    RESP_B: ofOther,
    UPSTREAM_ID_OF_RESP_B: [...vendor.stored.keys()].find((id) => !known.has(id)) ?? "",
    RESP_A_DELETED: deleted,
    RESP_A_NOSTORE: await create({ store: false }),
    RESP_A_NONNATIVE: await create({ model: "mockchat/echo" }),
    RESP_A_DEPTH_1000: last,
  };
}
