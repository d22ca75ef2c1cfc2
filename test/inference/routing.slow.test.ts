// What happens to a request on its way: when a failed call is made again and when not, within which bounds, and what the
// caller is told of it.

import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import { pauseBefore } from "../../src/inference/candidate-loop.ts";
import {
  answer,
  chatChunk,
  down,
  event,
  fin,
  hang,
  type Script,
  streamHead,
  until,
  wait,
  well,
} from "../support/answers.ts";
import { claudeAnswer, claudeMessage } from "../support/anthropic.ts";
import { ask, chatPath, hello, readCompletion, readError } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { type Behaviour, startVendor, type VendorRequest } from "../support/vendor.ts";
import { inParallel, waitFor } from "../support/wait.ts";

let models = 0;

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  config: {
    providers: {
      claude: { dialect: "anthropic", base_url: `http://127.0.0.1:${vendor.port}/claude`, api_key: "sk-claude" },
    },
  },
});
const key = await gateway.createKey();
// Retries are a share of the requests: enough of them first, so that the budget is not what is seen.
await inParallel(200, 40, async () => void (await (await ask(gateway.url, key, hello)).text()));

function newModel(behaviour: Behaviour): string {
  models += 1;
  vendor.on(`m${models}`, behaviour);
  return `m${models}`;
}

/** One script after the other; the last one stays. */
function inTurn(...scripts: readonly Script[]): Behaviour {
  const waiting = [...scripts];
  return () => (waiting.length > 1 ? waiting.shift() : waiting[0]) ?? [];
}

function callsOf(model: string): readonly VendorRequest[] {
  return vendor.requests.filter((request) => request.model === model);
}

function call(model: string, more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  return ask(gateway.url, key, { ...hello, model, ...more }, { signal: AbortSignal.timeout(100_000) });
}

function callTold(model: string, more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  const headers = { "x-switchyard-metadata": "true" };
  return ask(gateway.url, key, { ...hello, model, ...more }, { headers, signal: AbortSignal.timeout(100_000) });
}

/** Milliseconds between the calls of a model, as the vendor saw them. */
function pausesOf(model: string): number[] {
  const times = callsOf(model).map(({ receivedAt }) => receivedAt);
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe("retries", () => {
  test("a call that failed is made again after a pause that grows", async () => {
    const model = newModel(down);
    expect((await call(`mock/${model}`)).status).toBe(502);
    const [first = 0, second = 0, ...others] = pausesOf(model);
    expect(others).toEqual([]);
    // At least half of 100 and 200 ms; the other half is random. Timers may be early by a fraction.
    expect(first).toBeGreaterThan(48);
    expect(second).toBeGreaterThan(98);
  });

  test.each([
    [0, 0, 50],
    [0, 0.5, 75],
    [0, 1, 100],
    [1, 0, 100],
    [1, 1, 200],
    [2, 1, 400],
  ])("after %d retries, dice of %p make the pause %p ms", (retries, random, pauseMs) => {
    expect(pauseBefore(retries, new GatewayError("provider_error", "down"), () => random)).toBe(pauseMs);
  });

  test("a second try that answers is an answer, and the caller is told that there were two", async () => {
    const model = newModel(inTurn(down, well));
    const response = await callTold(`mock/${model}`);
    expect(response.headers.get("x-switchyard-attempts")).toBe("2");
    const { switchyard } = await readCompletion(response);
    expect(switchyard).toMatchObject({
      attempts: [
        { provider: "mock", model, deployment: "mock", reason: "first", outcome: "provider_error" },
        { provider: "mock", model, deployment: "mock", reason: "retry", outcome: "answered" },
      ],
      skipped: [],
    });
  });

  test("nothing is tried again that would be refused again", async () => {
    for (const status of [400, 401, 402, 403, 404, 408, 413, 422]) {
      const model = newModel(answer(status, { error: { message: "no" } }));
      const response = await call(`mock/${model}`);
      expect(response.ok).toBe(false);
      expect(callsOf(model)).toHaveLength(1);
    }
  });

  test("a Retry-After of up to two seconds is waited for, and a longer one is told to the caller at once", async () => {
    const limited = (after: string) => answer(429, { error: { message: "slow down" } }, { "retry-after": after });
    const short = newModel(inTurn(limited("1"), well));
    const long = newModel(inTurn(limited("3"), well));
    const overloaded = newModel(answer(503, { error: { message: "later" } }, { "retry-after": "9" }));
    const dated = newModel(inTurn(limited(new Date(Date.now() + 60_000).toUTCString()), well));
    const [one, other, third, fourth] = await Promise.all(
      [short, long, overloaded, dated].map((model) => call(`mock/${model}`)),
    );
    expect(one?.status).toBe(200);
    expect(pausesOf(short)[0]).toBeGreaterThan(998);
    expect(other?.status).toBe(429);
    expect(other?.headers.get("retry-after")).toBe("3");
    expect(third?.status).toBe(502);
    expect(third?.headers.get("retry-after")).toBe("9");
    expect(fourth?.status).toBe(429);
    expect(Number(fourth?.headers.get("retry-after"))).toBeWithin(50, 61);
    expect([long, overloaded, dated].map((model) => callsOf(model).length)).toEqual([1, 1, 1]);
  });

  test("a caller who leaves during the pause is noticed, and the provider is not called again", async () => {
    const model = newModel(answer(429, { error: { message: "slow down" } }, { "retry-after": "1" }));
    const connection = await openConnection(gateway.url);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ ...hello, model: `mock/${model}` });
    connection.send(requestBytes({ path: chatPath, headers, body }));
    await waitFor("the first call to be answered", () => callsOf(model)[0]?.finishedAt);
    connection.leave();
    // What must not happen would have happened by then.
    const [first] = callsOf(model);
    await waitFor("the pause to be over", () => performance.now() > (first?.receivedAt ?? 0) + 1_500);
    expect(callsOf(model)).toHaveLength(1);
    expect(gateway.log()).not.toContain("unexpected error");
  });

  test("all attempts share one deadline, and no pause begins that would end after it", async () => {
    await using own = await testGateway({ vendor, env: { SWITCHYARD_TOTAL_TIMEOUT_MS: "4500" } });
    const ownKey = await own.createKey();
    const codeOf = async (model: string, more: object = {}) =>
      (await readError(await ask(own.url, ownKey, { ...hello, model: `mock/${model}`, ...more }))).code;
    const patient = newModel(answer(429, { error: { message: "slow down" } }, { "retry-after": "5" }));
    const slow = newModel([wait(2_500), ...down]);
    const silent = newModel([hang]);
    const backup = newModel(well);
    const codes = await Promise.all([codeOf(patient), codeOf(slow), codeOf(silent, { fallbacks: [`mock/${backup}`] })]);
    // The requested pause would end after the deadline, and the second attempt of the second model does.
    expect(codes).toEqual(["provider_rate_limited", "provider_timeout", "provider_timeout"]);
    expect([patient, slow, backup].map((model) => callsOf(model).length)).toEqual([1, 2, 0]);
  });

  test("retries are a fifth of the requests and a small reserve, however many fail", async () => {
    const own = await testGateway({ vendor, env: { SWITCHYARD_BREAKER_FAILURES: "0" } });
    try {
      const ownKey = await own.createKey();
      const model = newModel(down);
      const requests = 300;
      await inParallel(requests, 30, async () => {
        const response = await ask(own.url, ownKey, { ...hello, model: `mock/${model}` });
        expect(response.status).toBe(502);
        await response.arrayBuffer();
      });
      const retries = callsOf(model).length - requests;
      expect(retries).toBeGreaterThanOrEqual(10);
      expect(retries).toBeLessThanOrEqual(10 + requests * 0.2);
    } finally {
      await own.stop();
    }
  });

  test("a failure that opens the circuit is not waited out", async () => {
    const own = await testGateway({ vendor, env: { SWITCHYARD_BREAKER_FAILURES: "1", SWITCHYARD_RETRIES: "10" } });
    try {
      const model = newModel(down);
      const headers = { "x-switchyard-metadata": "true" };
      const response = await ask(own.url, await own.createKey(), { ...hello, model: `mock/${model}` }, { headers });
      expect(response.status).toBe(502);
      // Who waits finds the circuit open afterwards.
      expect(await response.json()).toMatchObject({ switchyard: { attempts: [{ reason: "first" }], skipped: [] } });
      expect(callsOf(model)).toHaveLength(1);
    } finally {
      await own.stop();
    }
  });

  test("SWITCHYARD_RETRIES=0 turns them off", async () => {
    const own = await testGateway({ vendor, env: { SWITCHYARD_RETRIES: "0" } });
    try {
      const model = newModel(down);
      const response = await ask(own.url, await own.createKey(), { ...hello, model: `mock/${model}` });
      expect(response.status).toBe(502);
      expect(response.headers.get("x-switchyard-attempts")).toBe("1");
      expect(callsOf(model)).toHaveLength(1);
    } finally {
      await own.stop();
    }
  });
});

describe("x-switchyard-metadata", () => {
  const failing = () => `mock/${newModel(down)}`;

  test("a whole answer says what was decided, when it was asked to", async () => {
    const claude = newModel(claudeAnswer("well", false));
    for (const answering of [`mock2/${newModel(well)}`, `claude/${claude}`]) {
      const model = failing();
      const told = await readCompletion(await callTold(model, { fallbacks: [answering] }));
      const [provider, name] = answering.split("/");
      expect(told["switchyard"]).toMatchObject({
        request_id: expect.any(String),
        attempts: [
          { provider: "mock", model: model.slice(5), reason: "first", outcome: "provider_error" },
          { provider, model: name, deployment: provider, reason: "fallback", outcome: "answered" },
        ],
        skipped: [],
        session_sticky: false,
        dropped_parameters: [],
      });
      const untold = await readCompletion(await call(answering));
      expect(untold).not.toHaveProperty("switchyard");
    }
  });

  test("a stream says it in a chunk before its end", async () => {
    const claude = newModel(claudeAnswer("well", true));
    for (const answering of ["mock2/echo", `claude/${claude}`]) {
      const response = await callTold(failing(), { fallbacks: [answering], stream: true });
      expect(response.headers.get("x-switchyard-attempts")).toBe("2");
      const { events } = readEvents(await response.text());
      expect(events.at(-1)?.data).toBe("[DONE]");
      const last = JSON.parse(events.at(-2)?.data ?? "") as Record<string, unknown>;
      expect(last).toMatchObject({ object: "chat.completion.chunk", choices: [] });
      expect(last["switchyard"]).toMatchObject({ attempts: [{ outcome: "provider_error" }, { outcome: "answered" }] });
      const untold = await (await call(answering, { stream: true })).text();
      expect(untold).not.toContain("switchyard");
    }
  });

  test("a stream that breaks says it with its error", async () => {
    const begun = [
      streamHead(),
      event(chatChunk({ role: "assistant", content: "" })),
      event(chatChunk({ content: "so far" })),
    ];
    const { promise: hasContent, resolve } = Promise.withResolvers<void>();
    const model = newModel([...begun, until(hasContent), fin]);
    const response = await callTold(failing(), { fallbacks: [`mock2/${model}`], stream: true });
    let text = "";
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.includes("so far")) resolve();
    }
    const last = JSON.parse(readEvents(text).events.at(-1)?.data ?? "") as Record<string, unknown>;
    expect(last).toMatchObject({
      error: { code: "provider_disconnected" },
      switchyard: { attempts: [{ outcome: "provider_error" }, { outcome: "provider_disconnected" }] },
    });
  });

  test("an error says it too", async () => {
    const body = (await (await callTold(failing())).json()) as Record<string, unknown>;
    expect(body["error"]).toMatchObject({ code: "provider_error" });
    expect(body["switchyard"]).toMatchObject({
      attempts: [{ reason: "first" }, { reason: "retry" }, { reason: "retry", outcome: "provider_error" }],
    });
    expect(await (await callTold("nonsense")).json()).toMatchObject({ switchyard: { attempts: [] } });
    expect(await (await call(failing())).json()).not.toHaveProperty("switchyard");
  });
});

test("the other endpoints fall back, try again and tell of it just the same", async () => {
  const claude = newModel(claudeAnswer("well", false));
  const body = {
    model: `mock/${newModel(down)}`,
    max_tokens: 9,
    messages: hello.messages,
    fallbacks: [`claude/${claude}`],
  };
  const message = await ask(gateway.url, key, body, { path: "/v3/v1/messages" });
  expect(message.status).toBe(200);
  expect(message.headers.get("x-switchyard-attempts")).toBe("2");
  expect(await message.json()).toMatchObject({ provider: "claude", content: [{ type: "text", text: "well" }] });

  const vectors = { object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5, 1] }], model: "v" };
  const again = newModel(inTurn(down, answer(200, vectors)));
  const embedded = await ask(gateway.url, key, { model: `mock/${again}`, input: "text" }, { path: "/v3/embeddings" });
  expect(embedded.status).toBe(200);
  expect(embedded.headers.get("x-switchyard-attempts")).toBe("2");
  expect(embedded.headers.get("server-timing")).toContain("provider;dur=");
});

describe("Server-Timing", () => {
  function parse(response: Response): Record<string, number> {
    const header = response.headers.get("server-timing") ?? "none";
    const entries = header.split(", ").map((entry) => /^([a-z]+);dur=(\d+(?:\.\d{1,2})?)$/.exec(entry));
    if (entries.some((entry) => entry === null)) throw new Error(`not a Server-Timing header: ${header}`);
    return Object.fromEntries(entries.map((entry) => [entry?.[1], Number(entry?.[2])]));
  }

  test("an answer says where its time went", async () => {
    const model = newModel([wait(200), ...well]);
    const streamed = newModel([wait(200), ...claudeAnswer("well", true)]);
    for (const response of [await call(`mock/${model}`), await call(`claude/${streamed}`, { stream: true })]) {
      expect(response.status).toBe(200);
      await response.text();
      const timing = parse(response);
      const steps = ["queue", "auth", "read", "route", "connect", "provider", "transform", "total"];
      expect(Object.keys(timing)).toEqual(steps);
      expect(timing["provider"]).toBeGreaterThan(190);
      expect(timing["total"]).toBeGreaterThanOrEqual(timing["provider"] ?? 0);
    }
  });

  test("the provider's time is that of the attempt that answered", async () => {
    const model = newModel(inTurn([wait(300), ...down], well));
    const { provider = 0, total = 0 } = parse(await call(`mock/${model}`));
    // The rest of the time went by during the first attempt and the pause after it.
    expect(total - provider).toBeGreaterThan(340);
  });

  test("every other answer has it as well", async () => {
    const paths = ["/healthz", "/readyz", "/v3/models", "/v3/info", "/v3/openapi.json", "/docs", "/nowhere"];
    for (const path of paths) expect(parse(await fetch(`${gateway.url}${path}`))).toHaveProperty("total");
    const body = JSON.stringify({ ...hello, model: "none" });
    for (const [status, more] of [
      [401, { headers: {} }],
      [405, { method: "PUT" }],
      [422, { headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body }],
    ] as const) {
      const response = await fetch(`${gateway.url}${chatPath}`, { method: "POST", ...more });
      expect(response.status).toBe(status);
      expect(parse(response)).toHaveProperty("queue");
    }
    const failed = await call(`mock/${newModel(down)}`);
    expect(parse(failed)).toHaveProperty("route");
  });
});

describe("parameters that a translated provider has no place for", () => {
  const claude = () => `claude/${newModel(claudeAnswer("well", false))}`;

  test("are dropped and named, each once", async () => {
    const response = await callTold(claude(), {
      seed: 7,
      logit_bias: { "50256": -100 },
      brand_new: true,
      store: false,
    });
    const named = response.headers.get("x-switchyard-dropped-params")?.split(", ").toSorted();
    expect(named).toEqual(["brand_new", "logit_bias", "seed"]);
    const { switchyard } = await readCompletion(response);
    expect((switchyard as { dropped_parameters: string[] }).dropped_parameters.toSorted()).toEqual(named ?? []);
    const clean = await call(claude(), { temperature: 0.5, seed: null });
    expect(clean.headers.has("x-switchyard-dropped-params")).toBe(false);
  });

  test("are a 422 that names each of them when the caller is strict, and the provider is not called", async () => {
    const name = claude();
    const response = await call(name, { seed: 7, brand_new: true, strict_parameters: true });
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { loc: unknown[]; type: string }[] };
    expect(detail.map(({ loc, type }) => [loc, type])).toEqual([
      [["body", "seed"], "unsupported_parameter"],
      [["body", "brand_new"], "unsupported_parameter"],
    ]);
    expect(callsOf(name.slice(7))).toHaveLength(0);
    expect((await call(claude(), { temperature: 0.5, strict_parameters: true })).status).toBe(200);
  });

  test("include patterns of a schema that the gateway cannot apply to the answer", async () => {
    // A model without structured output gets the schema as a tool, and the gateway checks the answer itself.
    const response_format = (pattern: string) => ({
      type: "json_schema",
      json_schema: { name: "plan", schema: { type: "object", properties: { a: { type: "string", pattern } } } },
    });
    vendor.on("claude-3-opus-20240229", () =>
      answer(200, {
        ...claudeMessage(""),
        content: [{ type: "tool_use", id: "toolu_1", name: "structured_answer", input: { a: "ab" } }],
        stop_reason: "tool_use",
      }),
    );
    const model = "claude/claude-3-opus-20240229";
    const headerName = "x-switchyard-dropped-params";
    const checked = await call(model, { response_format: response_format("^ab$") });
    expect([checked.status, checked.headers.get(headerName)]).toEqual([200, null]);
    const refused = await call(model, { response_format: response_format("^b$") });
    expect(refused.status).toBe(502);
    const unchecked = await call(model, { response_format: response_format("^(?=a)b$") });
    expect([unchecked.status, unchecked.headers.get(headerName)]).toEqual([
      200,
      "response_format.json_schema.schema.pattern",
    ]);
    const strict = await call(model, { response_format: response_format("^(?=a)b$"), strict_parameters: true });
    expect(strict.status).toBe(422);
  });

  test("are named only where the answer's provider dropped them", async () => {
    const model = newModel(down);
    const response = await call(`claude/${model}`, { seed: 7, fallbacks: ["mock/echo"] });
    expect(response.status).toBe(200);
    expect(response.headers.has("x-switchyard-dropped-params")).toBe(false);
    expect(JSON.parse(vendor.last().body.toString())).toHaveProperty("seed", 7);
  });

  test("cannot put anything else into the answer's head", async () => {
    const hostile = {
      "a\r\nx-evil: 1": 1,
      "b\nset-cookie: c=1": 1,
      "c\u0000d": 1,
      "ümlaut, x": 1,
      [`long${"x".repeat(200)}`]: 1,
      __proto__: null,
      constructor: 1,
      fine_one: 1,
    };
    for (const more of [hostile, { ...hostile, strict_parameters: true }]) {
      const connection = await openConnection(gateway.url);
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const body = JSON.stringify({ ...hello, model: claude(), ...more });
      connection.send(requestBytes({ path: chatPath, headers, body }));
      const response = await connection.receive();
      connection.leave();
      expect([200, 422]).toContain(response.status);
      expect(response.headers).not.toHaveProperty("x-evil");
      expect(response.headers).not.toHaveProperty("set-cookie");
      if (response.status === 200)
        expect(response.headers["x-switchyard-dropped-params"]).toBe("constructor, fine_one");
    }
  });
});
