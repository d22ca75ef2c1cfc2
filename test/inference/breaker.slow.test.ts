// A provider that keeps failing is left alone for a while, and asked once to find out whether it is back.

import { expect, test } from "bun:test";
import { OfferHealth } from "../../src/inference/health.ts";
import { answer, chatChunk, down, event, fin, hang, type Script, streamHead, until, well } from "../support/answers.ts";
import { claudeAnswer } from "../support/anthropic.ts";
import { ask, chatPath, hello, readCompletion, readError } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { readOffer, waitForState } from "../support/provider-states.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const failuresToOpen = 3;
const openMs = 1_000;

let models = 0;

const vendor = await startVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const googleUser = {
  type: "authorized_user",
  client_id: "client",
  client_secret: "hush",
  refresh_token: "1//refresh",
  quota_project_id: "payer",
  token_uri: `${origin}/token`,
};
const gateway = await sharedGateway({
  vendor,
  config: {
    providers: {
      anthropic: { base_url: origin, api_key: "k" },
      vertexai: { base_url: origin, api_key: JSON.stringify(googleUser) },
    },
  },
  env: {
    SWITCHYARD_RETRIES: "0",
    SWITCHYARD_BREAKER_FAILURES: String(failuresToOpen),
    SWITCHYARD_BREAKER_OPEN_MS: String(openMs),
  },
});
const key = await gateway.createKey();

/** A model of its own for each test: circuits are per offer. */
function newModel(script: Script): string {
  models += 1;
  vendor.on(`m${models}`, script);
  return `m${models}`;
}

function call(model: string, more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  const signal = AbortSignal.timeout(60_000);
  return ask(gateway.url, key, { ...hello, model: `mock/${model}`, ...more }, { signal });
}

function callsOf(model: string): number {
  return vendor.requests.filter((request) => request.model === model).length;
}

async function statuses(model: string, times: number): Promise<number[]> {
  const seen: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const response = await call(model);
    await response.text();
    seen.push(response.status);
  }
  return seen;
}

async function openCircuit(model: string): Promise<void> {
  vendor.on(model, down);
  expect(await statuses(model, failuresToOpen)).toEqual([502, 502, 502]);
  expect((await readOffer(gateway, `mock/${model}`)).state).toBe("open");
}

/** A call whose caller can leave. */
async function callAndStay(model: string): Promise<RawConnection> {
  const before = callsOf(model);
  const connection = await openConnection(gateway.url);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ ...hello, model: `mock/${model}` });
  connection.send(requestBytes({ path: chatPath, headers, body }));
  await waitFor("the call at the vendor", () => callsOf(model) === before + 1);
  return connection;
}

test("after so many failures the answer is a quick 503 with Retry-After, and the provider is not called", async () => {
  const model = newModel(down);
  await openCircuit(model);
  for (let count = 0; count < 5; count += 1) {
    const error = await readError(await call(model, { stream: count % 2 === 0 }));
    expect(error).toMatchObject({
      status: 503,
      code: "provider_unavailable",
      type: "service_unavailable",
      param: null,
    });
    expect(error.headers.get("retry-after")).toBe("1");
    expect(error.headers.get("x-switchyard-attempts")).toBeNull();
    expect(error.message).toContain("'mock'");
  }
  expect(callsOf(model)).toBe(failuresToOpen);
});

test("other models of the same provider are answered meanwhile", async () => {
  const model = newModel(down);
  await openCircuit(model);
  expect(await statuses(newModel(well), 1)).toEqual([200]);
});

test("one call among many finds out whether the provider is back, and its answer closes the circuit", async () => {
  const model = newModel(down);
  await openCircuit(model);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  vendor.on(model, [until(released), ...well]);
  await waitForState(gateway, `mock/${model}`, "half_open");
  const answers = Array.from({ length: 20 }, () => call(model));
  const others: number[] = [];
  for (const one of answers) void one.then(async (response) => void others.push(response.status));
  await waitFor("the others to be turned away", () => others.length === 19);
  expect(others.every((status) => status === 503)).toBe(true);
  expect(callsOf(model)).toBe(failuresToOpen + 1);
  release();
  const all = await Promise.all(answers);
  expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await readOffer(gateway, `mock/${model}`)).toMatchObject({ state: "closed", retry_in_ms: 0 });
  expect(await statuses(model, 5)).toEqual([200, 200, 200, 200, 200]);
});

test("each probe that fails doubles the pause", async () => {
  const model = newModel(down);
  await openCircuit(model);
  for (const factor of [2, 4]) {
    await waitForState(gateway, `mock/${model}`, "half_open");
    expect(await statuses(model, 1)).toEqual([502]);
    const { state, retry_in_ms } = await readOffer(gateway, `mock/${model}`);
    expect(state).toBe("open");
    expect(retry_in_ms).toBeLessThanOrEqual(factor * openMs);
    expect((await readError(await call(model))).headers.get("retry-after")).toMatch(/^[1-4]$/);
  }
});

test("calls that were on their way when the circuit opened do not make the pause longer", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const model = newModel([until(released), ...down]);
  const answers = Array.from({ length: 12 }, () => call(model));
  await waitFor("all calls at the vendor", () => callsOf(model) === 12);
  release();
  for (const response of await Promise.all(answers)) expect(response.status).toBe(502);
  const { state, retry_in_ms } = await readOffer(gateway, `mock/${model}`);
  expect(state).toBe("open");
  expect(retry_in_ms).toBeLessThanOrEqual(openMs);
});

test("a probe's failure is the probe's alone: an older call that fails meanwhile lets no second one through", async () => {
  const model = newModel([hang]);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  vendor.on(model, [until(released), ...down]);
  const older = await callAndStay(model);
  await openCircuit(model);
  await waitForState(gateway, `mock/${model}`, "half_open");
  vendor.on(model, [hang]);
  const probe = await callAndStay(model);
  release();
  expect((await older.receive()).status).toBe(502);
  expect(await statuses(model, 2)).toEqual([503, 503]);
  probe.leave();
  older.leave();
});

test("a probe whose caller leaves decides nothing, and the next call is the probe", async () => {
  const model = newModel(down);
  await openCircuit(model);
  vendor.on(model, [hang]);
  await waitForState(gateway, `mock/${model}`, "half_open");
  const probe = await callAndStay(model);
  expect(await statuses(model, 1)).toEqual([503]);
  probe.leave();
  vendor.on(model, well);
  const [status] = await waitFor("another probe", async () => {
    const seen = await statuses(model, 1);
    return seen[0] === 503 ? null : seen;
  });
  expect(status).toBe(200);
  expect((await readOffer(gateway, `mock/${model}`)).state).toBe("closed");
});

test("a caller of an older call who leaves does not let a second probe through", async () => {
  const model = newModel([hang]);
  const older = await callAndStay(model);
  await openCircuit(model);
  vendor.on(model, [hang]);
  await waitForState(gateway, `mock/${model}`, "half_open");
  const probe = await callAndStay(model);
  const calls = callsOf(model);
  older.leave();
  await waitFor("the older call to be let go", () => vendor.requests.some((one) => one.model === model && one.leftAt));
  expect(await statuses(model, 2)).toEqual([503, 503]);
  expect(callsOf(model)).toBe(calls);
  probe.leave();
});

test("a probe that is answered with a refusal shows that the provider is there", async () => {
  const model = newModel(down);
  await openCircuit(model);
  vendor.on(model, answer(400, { error: { message: "no" } }));
  await waitForState(gateway, `mock/${model}`, "half_open");
  expect(await statuses(model, 3)).toEqual([400, 400, 400]);
});

test("a request that is refused before it is sent decides nothing, and is no failure of the provider", async () => {
  const model = newModel(down);
  const offer = `anthropic/${model}`;
  const send = (content: unknown) =>
    ask(gateway.url, key, { model: offer, max_tokens: 5, messages: [{ role: "user", content }] });
  for (let count = 0; count < failuresToOpen; count += 1) expect((await send("hi")).status).toBe(502);
  await waitForState(gateway, offer, "half_open");
  const before = await readOffer(gateway, offer);
  const refused = await readError(await send([{ type: "file", file: { file_id: "unknown" } }]));
  expect(refused).toMatchObject({ status: 404, code: "file_not_found" });
  expect(callsOf(model)).toBe(failuresToOpen);
  const { state, calls, failures, last_error } = before;
  expect(state).toBe("half_open");
  expect(await readOffer(gateway, offer)).toMatchObject({ state, calls, failures, last_error });
  vendor.on(model, claudeAnswer("well", false));
  expect((await send("hi")).status).toBe(200);
  expect((await readOffer(gateway, offer)).state).toBe("closed");
});

test("a provider whose token service fails has failed, although nothing was sent to it", async () => {
  vendor.on("", down);
  for (let count = 0; count < failuresToOpen; count += 1) {
    const error = await readError(await ask(gateway.url, key, { ...hello, model: "vertexai/gemini-2.5-flash" }));
    expect(error).toMatchObject({ status: 502, code: "provider_unreachable" });
  }
  const { state, failures, last_error } = await readOffer(gateway, "vertexai/gemini-2.5-flash");
  expect({ failures, code: last_error?.code }).toEqual({ failures: failuresToOpen, code: "provider_unreachable" });
  expect(state).not.toBe("closed");
});

for (const [status, seen] of [
  [400, 400],
  [401, 502],
  [403, 502],
  [404, 404],
  [413, 400],
  [422, 400],
  [429, 429],
] as const)
  test(`however often a provider says ${status}, its circuit stays closed`, async () => {
    const model = newModel(answer(status, { error: { message: "no" } }));
    expect(await statuses(model, failuresToOpen * 2)).toEqual(Array(failuresToOpen * 2).fill(seen));
    expect(callsOf(model)).toBe(failuresToOpen * 2);
  });

test("a few failures among many good answers leave the circuit closed", async () => {
  const model = newModel(well);
  await statuses(model, 10);
  vendor.on(model, down);
  expect(await statuses(model, failuresToOpen + 2)).toEqual([502, 502, 502, 502, 502]);
  expect(await readOffer(gateway, `mock/${model}`)).toMatchObject({
    state: "closed",
    calls: 15,
    failures: 5,
    last_error: { code: "provider_error" },
  });
});

test("streams that break after they began are remembered, and do not open the circuit", async () => {
  const begun = [
    streamHead(),
    event(chatChunk({ role: "assistant", content: "" })),
    event(chatChunk({ content: "a" })),
  ];
  const model = newModel([...begun, fin]);
  for (let count = 0; count < failuresToOpen * 2; count += 1) {
    const { errors } = readChatStream(await (await call(model, { stream: true })).text());
    expect(errors[0]?.error.code).toBe("provider_disconnected");
  }
  expect(callsOf(model)).toBe(failuresToOpen * 2);
  const offer = await readOffer(gateway, `mock/${model}`);
  expect(offer).toMatchObject({ state: "closed", failures: 6, last_error: { code: "provider_disconnected" } });
});

test("with a fallback an open circuit is passed over, and the metadata names it", async () => {
  const model = newModel(down);
  await openCircuit(model);
  const body = { ...hello, model: `mock/${model}`, fallbacks: ["mock2/echo"] };
  const response = await ask(gateway.url, key, body, { headers: { "x-switchyard-metadata": "true" } });
  expect(response.headers.get("x-switchyard-attempts")).toBe("1");
  const { provider, switchyard } = await readCompletion(response);
  expect(provider).toBe("mock2");
  expect(switchyard).toMatchObject({
    skipped: [{ provider: "mock", model, why: "circuit open" }],
    attempts: [{ provider: "mock2", model: "echo", reason: "fallback", outcome: "answered" }],
  });
  expect(callsOf(model)).toBe(failuresToOpen);
});

test("a probe that takes as long as a long answer does not keep the circuit open for ever", () => {
  const health = new OfferHealth({ breakerFailures: 1, breakerWindowMs: 30_000, breakerOpenMs: 1_000 });
  const down = { code: "provider_error", message: "down", retryAfter: null } as const;
  health.failed(0, "call", down, true);
  expect([health.admit(999), health.admit(1_000), health.admit(1_001)]).toEqual([null, "probe", null]);
  expect([health.admit(10_999), health.admit(11_000)]).toEqual([null, "probe"]);
  // The first of them answers after all.
  health.succeeded(11_500, "probe", 10_500);
  expect(health.admit(11_501)).toBe("call");
});

test("an operator may do without: SWITCHYARD_BREAKER_FAILURES=0", async () => {
  const own = await testGateway({ vendor, env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "0" } });
  try {
    const ownKey = await own.createKey();
    const model = newModel(down);
    for (let count = 0; count < 30; count += 1)
      expect((await ask(own.url, ownKey, { ...hello, model: `mock/${model}` })).status).toBe(502);
    expect(callsOf(model)).toBe(30);
  } finally {
    await own.stop();
  }
});
