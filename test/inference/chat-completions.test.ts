// POST /v3/chat/completions: what reaches the vendor, what comes back, and what every failure looks like.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import {
  answer,
  chatChunk,
  chatChunks,
  completion,
  doneText,
  event,
  eventText,
  fin,
  hang,
  httpChunk,
  lastHttpChunk,
  rst,
  type Script,
  stream,
  streamHead,
  until,
  usualUsage,
  wait,
  write,
} from "../support/answers.ts";
import { ask, chatPath, hello, readCompletion, readError } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { awayFromMinuteEnd, inParallel } from "../support/wait.ts";
import { watchMemory } from "../support/watch.ts";

// Nothing in its form gives it away as a key.
const formlessSecret = "c0ffee7d1f0c9e2b";

let vendor: Vendor;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  vendor = await startVendor();
  gateway = await startGatewayProcess({
    vendor,
    env: {
      SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: "1000",
      SWITCHYARD_IDLE_TIMEOUT_MS: "3000",
      SWITCHYARD_TOTAL_TIMEOUT_MS: "5000",
      SWITCHYARD_HEARTBEAT_MS: "200",
    },
    config: {
      aliases: { fast: "mock/echo", several: ["mock/broken", "mock2/echo"] },
      providers: {
        plain: { dialect: "openai", base_url: vendor.url, api_key: formlessSecret },
        keyless: { dialect: "openai", base_url: vendor.url, api_key: "${A_VARIABLE_THAT_NOBODY_SET}" },
      },
    },
  });
  key = await gateway.createKey();
});

afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

beforeEach(() => vendor.clear());

const streamed = { ...hello, stream: true };

async function askStream(body: object = streamed): Promise<ReturnType<typeof readChatStream>> {
  const response = await ask(gateway.url, key, body);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`expected a stream, got ${response.status}: ${text}`);
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  return readChatStream(text);
}

describe("what reaches the vendor", () => {
  test("the vendor gets the caller's own bytes, but for the model's name", async () => {
    const body = [
      '{ "messages" : [ {"content":"caf\\u00e9 \\ud83d\\ude00 é 😀 \\/ \\u0000","role":"user" , "name":null} ],\r\n\t',
      '"temperature":1e0, "top_p":0.10, "model" :\t"mock/echo","seed":7,"serial":12345678901234567890,',
      '"unknown_member":{"model":"mock/echo","b":1,"a":[null,1.0,-0,1E+2]},"stop":null, "user":"" }',
    ].join("");
    expect((await ask(gateway.url, key, body)).status).toBe(200);
    // Only the first of the two names is the model: the other belongs to the caller.
    expect(vendor.last().body.toString()).toBe(body.replace('"mock/echo","seed"', '"echo","seed"'));
  });

  test("a seed of sixty-four bits is not a wrong number", async () => {
    const body = JSON.stringify({ ...hello, seed: 7 }).replace('"seed":7', '"seed":9223372036854775807');
    expect((await ask(gateway.url, key, body)).status).toBe(200);
    expect(vendor.last().body.toString()).toContain('"seed":9223372036854775807');
  });

  test("the rest of the name after the first slash is the model, whatever it holds", async () => {
    expect((await ask(gateway.url, key, { ...hello, model: "mock/org/model-1.5:free" })).status).toBe(200);
    expect(vendor.last().model).toBe("org/model-1.5:free");
  });

  test("a model member that is written with escapes is found all the same", async () => {
    const body = '{"mod\\u0065l":"mo\\u0063k/echo","messages":[{"role":"user","content":"hi"}]}';
    expect((await ask(gateway.url, key, body)).status).toBe(200);
    expect(JSON.parse(vendor.last().body.toString())).toEqual({ ...hello, model: "echo" });
  });

  test("the gateway's own members stay at the gateway, and the others keep order and spelling", async () => {
    const body =
      '{"tags":{"team":"a"},"model":"mock/echo","session_id":"s-1","temperature":1e0,"strict_parameters":false,' +
      '"messages":[{"role":"user","content":"hi","tags":{"kept":true}}],"routing":{"sort":"order"},"seed":7,"fallbacks":[]}';
    expect((await ask(gateway.url, key, body)).status).toBe(200);
    const received = vendor.last().body.toString();
    const forwarded = JSON.parse(received);
    expect(Object.keys(forwarded)).toEqual(["model", "temperature", "messages", "seed"]);
    expect(forwarded.messages[0].tags).toEqual({ kept: true });
    expect(received).toContain('"temperature":1e0');
  });

  test("the gateway's own members come out cleanly wherever they stand", async () => {
    const kept = { messages: hello.messages, temperature: 1, user: "u" };
    const own = { tags: { a: "b" }, session_id: "s", routing: {}, fallbacks: [], strict_parameters: false };
    const members = Object.entries({ model: "mock/echo", ...kept, ...own });
    for (let round = 0; round < 200; round += 1) {
      const order = shuffle(members, round).slice(round % 5);
      const names = new Set(["model", "messages", ...order.map(([name]) => name)]);
      const chosen = Object.fromEntries(shuffle(members, round).filter(([name]) => names.has(name)));
      const wantsStream = round % 2 === 0 ? {} : { stream: true };
      const response = await ask(gateway.url, key, JSON.stringify({ ...chosen, ...wantsStream }, null, round % 3));
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      const expected = Object.entries({ ...chosen, model: "echo", ...wantsStream }).filter(([name]) => !(name in own));
      const usage = round % 2 === 0 ? [] : [["stream_options", { include_usage: true }]];
      expect(Object.entries(JSON.parse(vendor.last().body.toString()))).toEqual([...expected, ...usage] as never);
    }
  });

  test("the vendor gets its own key and never the caller's", async () => {
    const headers = { cookie: "session=1", "x-api-key": key, "openai-organization": "org-of-the-caller" };
    expect((await ask(gateway.url, key, hello, { headers })).status).toBe(200);
    const received = vendor.last();
    expect(received.headers["authorization"]).toBe(`Bearer ${providerSecret}`);
    expect(JSON.stringify(received.headers)).not.toContain(key);
    expect(received.headers).not.toHaveProperty("cookie");
    expect(received.headers).not.toHaveProperty("openai-organization");
    expect(received.path).toBe("/v1/chat/completions");
  });

  test("each provider is called at its own address", async () => {
    expect((await ask(gateway.url, key, { ...hello, model: "mock2/echo" })).status).toBe(200);
    expect(vendor.last().path).toBe("/mock2/v1/chat/completions");
  });

  test("usage is always asked for in a stream, and the caller's other stream options are kept", async () => {
    await askStream();
    expect(JSON.parse(vendor.last().body.toString()).stream_options).toEqual({ include_usage: true });
    await askStream({ ...streamed, stream_options: { include_obfuscation: false, include_usage: false } });
    const kept = { include_obfuscation: false, include_usage: true };
    expect(JSON.parse(vendor.last().body.toString()).stream_options).toEqual(kept);
  });

  test("a call that is not streamed is forwarded without stream options", async () => {
    await ask(gateway.url, key, { ...hello, stream: false });
    expect(JSON.parse(vendor.last().body.toString())).toEqual({ ...hello, model: "echo", stream: false });
  });

  test("an alias of the operator stands for its model", async () => {
    const body = await readCompletion(await ask(gateway.url, key, { ...hello, model: "fast" }));
    expect(body.provider).toBe("mock");
    expect(vendor.last().model).toBe("echo");
  });

  test("a name without a slash that is no alias is a wrong name", async () => {
    const error = await readError(await ask(gateway.url, key, { ...hello, model: "slow" }));
    expect(error).toMatchObject({ status: 422, code: "string_pattern_mismatch", param: "model" });
  });
});

/** Another order for every seed, and the same one for the same seed. */
function shuffle<Value>(values: readonly Value[], seed: number): Value[] {
  const keyed = values.map((value, index) => ({ value, rank: Bun.hash.xxHash32(`${seed} ${index}`) }));
  return keyed.sort((a, b) => a.rank - b.rank).map(({ value }) => value);
}

describe("an answer that comes in pieces is the same answer", () => {
  const content = "€ one, two and three; ".repeat(40);
  const text = Buffer.from(JSON.stringify(completion(content)));
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
  const chunk = (bytes: Uint8Array) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
  const chunked = (size: number) => {
    const parts: Uint8Array[] = [];
    for (let from = 0; from < text.length; from += size) parts.push(chunk(text.subarray(from, from + size)));
    return Buffer.concat([
      Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n`),
      ...parts,
      Buffer.from("0\r\n\r\n"),
    ]);
  };
  const whole = Buffer.concat([Buffer.from(`${head}content-length: ${text.length}\r\n\r\n`), text]);

  test.each([
    ["chunks of 100 bytes, all at once", chunked(100), []],
    ["two chunks, all at once", chunked(Math.ceil(text.length / 2)), []],
    ["three chunks, cut anywhere", chunked(Math.ceil(text.length / 3)), [60, 300, 301, 700]],
    ["a length, cut behind the head and in the middle", whole, [whole.length - text.length, 400, 900]],
  ])("%s", async (_title, bytes, cuts) => {
    const places = [0, ...cuts, bytes.length];
    vendor.next(places.slice(1).flatMap((end, index) => [write(bytes.subarray(places[index], end)), wait(5)]));
    const response = await ask(gateway.url, key, { ...hello, model: "mock/echo" });
    const answered = (await response.json()) as { choices: { message: { content: string } }[] };
    expect(answered.choices[0]?.message.content).toBe(content);
  });
});

describe("what the caller gets", () => {
  test("a completion says who answered, what it cost and how long it took", async () => {
    vendor.next([wait(120), ...answer(200, completion("hi"))]);
    const response = await ask(gateway.url, key, hello);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-request-id")).toBeTruthy();
    const body = await readCompletion(response);
    expect(body).toMatchObject({ ...completion("hi"), provider: "mock" });
    // The mock's price is not known, and unknown is not free.
    expect(body.cost).toBeNull();
    expect(body.provider_time).toBeNumber();
    expect(body.provider_time).toBeGreaterThan(0.1);
  });

  test("the vendor's own members come back as the vendor wrote them", async () => {
    const raw =
      '{ "id":"x-1", "system_fingerprint":null,"created":1.7e9, "choices":[{"index":0,"message":{"role":"assistant",' +
      '"content":"\\u00e9","annotations":[ ]},"finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":1,' +
      '"completion_tokens":2,"total_tokens":3,"vendor_detail":{"a":0.10}},"serial":12345678901234567890 }';
    vendor.next(answer(200, raw, { "content-type": "application/json" }));
    const text = await (await ask(gateway.url, key, hello)).text();
    for (const spelling of ['"created":1.7e9', '"\\u00e9"', '"a":0.10', '"serial":12345678901234567890']) {
      expect(text).toContain(spelling);
    }
    expect(JSON.parse(text)).toMatchObject(JSON.parse(raw));
  });

  test("an answer that names a provider and a cost of its own is corrected, not doubled", async () => {
    vendor.next(answer(200, { provider: "somebody", cost: 12, provider_time: "long", ...completion("hi") }));
    const text = await (await ask(gateway.url, key, hello)).text();
    expect(JSON.parse(text)).toMatchObject({ provider: "mock", cost: null });
    for (const member of ["provider", "cost", "provider_time"]) {
      expect(text.split(`"${member}":`)).toHaveLength(2);
    }
  });

  test("a total that the vendor left out is the sum", async () => {
    vendor.next(answer(200, completion("hi", { usage: { prompt_tokens: 4, completion_tokens: 6 } })));
    const { usage } = await readCompletion(await ask(gateway.url, key, hello));
    expect(usage).toEqual({ prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 });
  });

  test("an answer without usage is passed on without invented numbers", async () => {
    const { usage: _none, ...without } = completion("hi");
    vendor.next(answer(200, without));
    const body = await readCompletion(await ask(gateway.url, key, hello));
    expect(body.usage ?? null).toBeNull();
    expect(body.cost).toBeNull();
  });

  test("the other path of the same endpoint answers alike", async () => {
    const path = "/v3/llm/chat/completions";
    expect(await readCompletion(await ask(gateway.url, key, hello, { path }))).toMatchObject({ provider: "mock" });
  });

  test("a caller's request id is kept when it is a plain word, and replaced when it is not", async () => {
    async function idFor(sent: string): Promise<string | null> {
      return (await ask(gateway.url, key, hello, { headers: { "x-request-id": sent } })).headers.get("x-request-id");
    }
    expect(await idFor("caller-7_A.b")).toBe("caller-7_A.b");
    for (const bad of ["with space", "a".repeat(129), "<script>", "é"]) {
      const id = await idFor(bad);
      expect(id).not.toBe(bad);
      expect(id).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
    }
    const failed = await ask(gateway.url, "sk-wrong-key-0000", hello, {
      headers: { "x-request-id": "kept-on-errors" },
    });
    expect(failed.headers.get("x-request-id")).toBe("kept-on-errors");
  });

  test("other methods are told which one is allowed", async () => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      const response = await fetch(gateway.url + chatPath, { method, headers: { authorization: `Bearer ${key}` } });
      expect(response.headers.get("allow")).toContain("POST");
      expect(await readError(response)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  });

  test("OPTIONS names the methods, and no other site may call", async () => {
    const origin = { origin: "https://elsewhere.example" };
    const response = await fetch(gateway.url + chatPath, { method: "OPTIONS", headers: origin });
    expect([204, 405]).toContain(response.status);
    expect(response.headers.get("allow")).toContain("POST");
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
  });
});

describe("permissions", () => {
  test("a key over its rate is told how much it may and when again", async () => {
    const limited = await gateway.createKey({ rate_limit: { requests_per_minute: 2 } });
    await awayFromMinuteEnd();
    for (let call = 1; call <= 2; call += 1) expect((await ask(gateway.url, limited, hello)).status).toBe(200);
    const error = await readError(await ask(gateway.url, limited, hello));
    expect(error).toMatchObject({ status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" });
    expect(error.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(error.headers.get("x-ratelimit-limit-requests")).toBe("2");
    expect(error.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(error.headers.get("x-ratelimit-reset-requests")).toBeTruthy();
    expect(vendor.requests).toHaveLength(2);
  });

  test("a key without the scope is told so", async () => {
    const limited = await gateway.createKey({ scopes: ["responses"] });
    const error = await readError(await ask(gateway.url, limited, hello));
    expect(error).toMatchObject({ status: 403, type: "permission_error", code: "insufficient_scope" });
    expect(vendor.requests).toHaveLength(0);
  });

  test("a key opens the models that it names and no others", async () => {
    const limited = await gateway.createKey({ allowed_models: ["mock/echo", "mock2/*"] });
    expect((await ask(gateway.url, limited, hello)).status).toBe(200);
    expect((await ask(gateway.url, limited, { ...hello, model: "mock2/any/thing" })).status).toBe(200);
    for (const model of ["mock/echo2", "mockchat/echo", "mock/echo/x"]) {
      const error = await readError(await ask(gateway.url, limited, { ...hello, model }));
      expect(error).toMatchObject({ status: 403, type: "permission_error", code: "model_not_allowed" });
    }
    expect(vendor.requests).toHaveLength(2);
  });

  test("an alias opens nothing that its model would not", async () => {
    const limited = await gateway.createKey({ allowed_models: ["mock2/*"] });
    expect(await readError(await ask(gateway.url, limited, { ...hello, model: "fast" }))).toMatchObject({
      status: 403,
    });
  });

  test("a sandbox key gets an answer for every model, free and without a vendor", async () => {
    const sandboxKey = await gateway.createKey({ kind: "sandbox" });
    expect(sandboxKey).toStartWith("sk-sy-sandbox-");
    for (const model of ["mock/echo", "openai/gpt-4o", "fast"]) {
      const body = await readCompletion(await ask(gateway.url, sandboxKey, { ...hello, model }));
      expect(body.object).toBe("chat.completion");
      expect(body.choices[0]?.message.content).toBeString();
      expect(body.cost).toBe(0);
    }
    const response = await ask(gateway.url, sandboxKey, { ...streamed, model: "openai/gpt-4o" });
    expect(readChatStream(await response.text())).toMatchObject({ done: true, errors: [] });
    expect(vendor.requests).toHaveLength(0);
  });
});

interface Failure {
  readonly says: Script;
  readonly status: number;
  readonly code: string | readonly string[];
  readonly retryAfter?: string;
}

// To the reader of a stream an answer without an end is a cut one.
const nonsense = ["provider_bad_response", "provider_disconnected"];
const page = "<html><body>Bad gateway</body></html>";
const html = { "content-type": "text/html" };
const failures: Readonly<Record<string, Failure>> = {
  "400": { says: answer(400, errorBody("bad")), status: 400, code: "provider_rejected_request" },
  "401": { says: answer(401, errorBody("who")), status: 502, code: "provider_auth_failed" },
  "403": { says: answer(403, errorBody("no")), status: 502, code: "provider_auth_failed" },
  "404": { says: answer(404, errorBody("no such model")), status: 404, code: "model_not_found" },
  "408": { says: answer(408, errorBody("slow")), status: 504, code: "provider_timeout" },
  "409": { says: answer(409, errorBody("conflict")), status: 502, code: "provider_error" },
  "413": { says: answer(413, errorBody("big")), status: 400, code: "provider_rejected_request" },
  "422": { says: answer(422, errorBody("odd")), status: 400, code: "provider_rejected_request" },
  "429 with a time": {
    says: answer(429, errorBody("later"), { "retry-after": "17" }),
    status: 429,
    code: "provider_rate_limited",
    retryAfter: "17",
  },
  "429 without a time": { says: answer(429, errorBody("later")), status: 429, code: "provider_rate_limited" },
  "500": { says: answer(500, errorBody("oops")), status: 502, code: "provider_error" },
  "503": { says: answer(503, errorBody("busy")), status: 502, code: "provider_error" },
  "529 without a body": { says: answer(529, ""), status: 502, code: "provider_error" },
  "502 as a page": { says: answer(502, page, html), status: 502, code: "provider_error" },
  "a page that claims success": { says: answer(200, page, html), status: 502, code: "provider_bad_response" },
  "an empty success": { says: answer(200, ""), status: 502, code: nonsense },
  "JSON that is no object": { says: answer(200, []), status: 502, code: "provider_bad_response" },
  "broken JSON": { says: answer(200, '{"id":'), status: 502, code: nonsense },
  "an answer without choices": { says: answer(200, { id: "x" }), status: 502, code: "provider_bad_response" },
  "no HTTP at all": { says: [write("SSH-2.0-OpenSSH_9.7\r\n\r\n"), fin], status: 502, code: "provider_bad_response" },
  "a reset before the headers": { says: [rst], status: 502, code: ["provider_unreachable", "provider_disconnected"] },
  "a close before the headers": { says: [fin], status: 502, code: ["provider_unreachable", "provider_disconnected"] },
  "a body that is cut": {
    says: [write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id":'), fin],
    status: 502,
    code: ["provider_disconnected", "provider_bad_response"],
  },
  "a redirect": {
    says: answer(307, "", { location: "/elsewhere" }),
    status: 502,
    code: ["provider_bad_response", "provider_error"],
  },
  silence: { says: [hang], status: 504, code: "provider_timeout" },
};

function errorBody(message: string): object {
  return { error: { message, type: "vendor_type", code: "vendor_code" } };
}

describe("when the vendor fails", () => {
  for (const kind of ["a call", "a stream"] as const) {
    for (const [name, { says, status, code, retryAfter }] of Object.entries(failures)) {
      test(`${kind} that meets ${name} gets ${status}`, async () => {
        vendor.on("echo", says);
        const response = await ask(gateway.url, key, kind === "a stream" ? streamed : hello);
        const error = await readError(response);
        expect(error.status).toBe(status);
        expect([code].flat()).toContain(error.code);
        if (status === 429) expect(error.headers.get("retry-after")).toMatch(retryAfter ?? /^\d+$/);
        if (error.code === "provider_auth_failed") expect(error.headers.get("x-should-retry")).toBe("false");
        expect(vendor.requests.map((request) => request.path)).not.toContain("/elsewhere");
      });
    }

    test(`${kind} to a vendor that refuses connections gets 502`, async () => {
      const error = await vendor.whileRefusing(async () =>
        readError(await ask(gateway.url, key, kind === "a stream" ? streamed : hello)),
      );
      expect(error).toMatchObject({ status: 502, type: "upstream_error", code: "provider_unreachable" });
    });
  }

  test("the vendor's reason is passed on, without any secret in it", async () => {
    const says = `max_tokens is too large. Key ${providerSecret} (Bearer ${providerSecret})`;
    vendor.on("echo", answer(400, errorBody(says)));
    const error = await readError(await ask(gateway.url, key, hello));
    expect(error.message).toContain("max_tokens is too large");
    expect(error.message).not.toContain(providerSecret);
    expect(gateway.log()).not.toContain(providerSecret);
  });

  test("a vendor's key is known by its value, whatever its form", async () => {
    vendor.on("echo", answer(400, errorBody(`no quota for ${formlessSecret} today`)));
    const error = await readError(await ask(gateway.url, key, { ...hello, model: "plain/echo" }));
    expect(error.message).toContain("no quota for");
    expect(error.message).not.toContain(formlessSecret);
    expect(gateway.log()).not.toContain(formlessSecret);
  });

  test("a refusal of our credentials says nothing of them", async () => {
    vendor.on("echo", answer(401, errorBody(`Incorrect API key provided: ${providerSecret.slice(0, 17)}***`)));
    const error = await readError(await ask(gateway.url, key, hello));
    expect(error).toMatchObject({ status: 502, code: "provider_auth_failed" });
    expect(error.message).not.toContain("sk-PROVIDERSECRET");
  });

  test("a provider without a key is not configured, and the answer says which setting is missing", async () => {
    const known = await readError(await ask(gateway.url, key, { ...hello, model: "openai/gpt-4o" }));
    expect(known).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(known.message).toContain("OPENAI_API_KEY");
    expect(known.headers.get("x-should-retry")).toBe("false");
    const declared = await readError(await ask(gateway.url, key, { ...hello, model: "keyless/echo" }));
    expect(declared).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(declared.message).toContain("A_VARIABLE_THAT_NOBODY_SET (providers.keyless.api_key)");
    expect(vendor.requests).toHaveLength(0);
  });

  test("a stream where none was asked for is not passed on as an answer", async () => {
    vendor.on("echo", stream(["hi"]));
    const error = await readError(await ask(gateway.url, key, hello));
    expect(error).toMatchObject({ status: 502, code: "provider_bad_response" });
  });

  test("compressed bytes that nobody asked for are read or refused, never passed on as text", async () => {
    const packed = Bun.gzipSync(Buffer.from(JSON.stringify(completion("hi"))));
    vendor.on("echo", answer(200, packed, { "content-encoding": "gzip", "content-type": "application/json" }));
    const response = await ask(gateway.url, key, hello);
    if (response.status === 200) expect(await readCompletion(response)).toMatchObject(completion("hi"));
    else expect(await readError(response)).toMatchObject({ status: 502, code: "provider_bad_response" });
  });

  test("a provider that nobody knows is not found", async () => {
    const error = await readError(await ask(gateway.url, key, { ...hello, model: "nobody/echo" }));
    expect(error).toMatchObject({ status: 404, code: "provider_not_found", param: "model" });
  });

  test("a connection that was kept and is closed by the vendor costs no request", async () => {
    for (let round = 0; round < 20; round += 1) {
      vendor.next([...answer(200, completion("hi")), fin]);
      expect((await ask(gateway.url, key, hello)).status).toBe(200);
    }
  });
});

describe("fallbacks", () => {
  const asked = { ...hello, model: "mock/broken", fallbacks: ["mockchat/broken", "mock2/echo"] };

  function paths(): string[] {
    return vendor.requests.map((request) => request.path.replace("/chat/completions", ""));
  }

  for (const name of [
    "429 with a time",
    "500",
    "401",
    "404",
    "a page that claims success",
    "a reset before the headers",
  ]) {
    test(`after ${name} the next model is asked, in order`, async () => {
      vendor.on("broken", failures[name]?.says ?? []);
      const body = await readCompletion(await ask(gateway.url, key, asked));
      expect(body.provider).toBe("mock2");
      expect(paths()).toEqual(["/v1", "/mockchat/v1", "/mock2/v1"]);
    });
  }

  test("a request that was rejected as such is not sent elsewhere", async () => {
    vendor.on("broken", answer(400, errorBody("bad")));
    expect(await readError(await ask(gateway.url, key, asked))).toMatchObject({ status: 400 });
    expect(paths()).toEqual(["/v1"]);
  });

  test("when every model fails, the caller is told of the last failure", async () => {
    vendor.on("broken", answer(500, errorBody("oops")));
    const error = await readError(await ask(gateway.url, key, { ...asked, fallbacks: ["mock2/broken"] }));
    expect(error).toMatchObject({ status: 502, code: "provider_error" });
    expect(error.message).toContain("mock2");
  });

  test("a provider that is not set up is passed over", async () => {
    const body = await readCompletion(
      await ask(gateway.url, key, { ...asked, model: "openai/gpt-4o", fallbacks: ["mock/echo"] }),
    );
    expect(body.provider).toBe("mock");
  });

  test("a stream moves on before its first event", async () => {
    vendor.on("broken", [streamHead(), fin]);
    expect(await askStream({ ...asked, stream: true })).toMatchObject({ content: "hi", done: true, errors: [] });
    expect(paths()).toEqual(["/v1", "/mockchat/v1", "/mock2/v1"]);
  });

  test("a stream that has begun is not begun again elsewhere", async () => {
    vendor.on("broken", [streamHead(), event(chatChunk({ content: "half" })), wait(200), fin]);
    const { content, done, errors } = await askStream({ ...asked, stream: true });
    expect({ content, done }).toEqual({ content: "half", done: false });
    expect(errors).toHaveLength(1);
    expect(paths()).toEqual(["/v1"]);
  });

  test("a caller may forbid it, and may name the providers", async () => {
    vendor.on("broken", answer(500, errorBody("oops")));
    const alone = await ask(gateway.url, key, { ...asked, routing: { allow_fallbacks: false } });
    expect(await readError(alone)).toMatchObject({ status: 502 });
    expect(paths()).toEqual(["/v1", "/v1", "/v1"]);
    const named = await ask(gateway.url, key, { ...asked, routing: { allowed_providers: ["mock2"] } });
    expect(await readCompletion(named)).toMatchObject({ provider: "mock2" });
    expect(paths()).toEqual(["/v1", "/v1", "/v1", "/mock2/v1"]);
  });

  test("an alias of several models tries them in order", async () => {
    vendor.on("broken", answer(500, errorBody("oops")));
    const body = await readCompletion(await ask(gateway.url, key, { ...hello, model: "several" }));
    expect(body.provider).toBe("mock2");
    expect(paths()).toEqual(["/v1", "/mock2/v1"]);
  });

  test("a fallback opens nothing that the key does not", async () => {
    const limited = await gateway.createKey({ allowed_models: ["mock/*"] });
    const error = await readError(await ask(gateway.url, limited, asked));
    expect(error).toMatchObject({ status: 403, code: "model_not_allowed" });
    expect(vendor.requests).toHaveLength(0);
  });

  test("there may be three of them", async () => {
    const four = Array.from({ length: 4 }, () => "mock/echo");
    const error = await readError(await ask(gateway.url, key, { ...hello, fallbacks: four }));
    expect(error).toMatchObject({ status: 422, code: "too_long", param: "fallbacks" });
  });

  test("a caller who leaves during the first try is not served by the second", async () => {
    vendor.on("broken", [hang]);
    const abort = new AbortController();
    const call = ask(gateway.url, key, asked, { signal: abort.signal }).catch(() => null);
    await vendor.waitFor("the first try", (requests) => requests.length === 1);
    abort.abort();
    await call;
    await vendor.waitFor("the first try's end", (requests) => requests[0]?.leftAt !== null);
    expect((await ask(gateway.url, key, hello)).status).toBe(200);
    expect(paths()).toEqual(["/v1", "/v1"]);
  });
});

describe("streams", () => {
  test("a stream has one id, the role first, the finish once, and the end mark last", async () => {
    const { chunks, content, done, errors } = await askStream({
      ...streamed,
      messages: [{ role: "user", content: "one two three four" }],
    });
    expect({ content, done, errors }).toEqual({ content: "one two three four", done: true, errors: [] });
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason === "stop")).toHaveLength(1);
    expect(chunks.every((chunk) => chunk.object === "chat.completion.chunk")).toBe(true);
  });

  test("usage is withheld from a caller who did not ask for it", async () => {
    const { chunks } = await askStream();
    expect(chunks.every((chunk) => chunk.choices.length === 1 && !chunk.usage)).toBe(true);
  });

  test("a caller who asks gets one last chunk with usage and cost", async () => {
    const { chunks, done } = await askStream({ ...streamed, stream_options: { include_usage: true } });
    const last = chunks.at(-1);
    expect(last).toMatchObject({ choices: [], usage: usualUsage });
    expect(last).toHaveProperty("cost", null);
    expect(chunks.filter((chunk) => chunk.choices.length === 0)).toHaveLength(1);
    expect(done).toBe(true);
  });

  test("usage that rides on the last content chunk reaches the caller", async () => {
    const last = { ...chatChunk({}, "stop"), usage: usualUsage };
    vendor.next([streamHead(), event(chatChunk({ content: "hi" })), event(last), httpChunk(doneText), lastHttpChunk]);
    const { chunks, content } = await askStream({ ...streamed, stream_options: { include_usage: true } });
    expect(content).toBe("hi");
    expect(chunks.filter((chunk) => chunk.usage)).not.toHaveLength(0);
    expect(chunks.some((chunk) => chunk.choices[0]?.finish_reason === "stop")).toBe(true);
  });

  test("every event is written by itself, at the moment it arrives", async () => {
    vendor.next(stream(["a", "b", "c", "d", "e"], { intervalMs: 40 }));
    const connection = await openConnection(gateway.url);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    connection.send(requestBytes({ path: chatPath, headers, body: JSON.stringify(streamed) }));
    const response = await connection.receive();
    connection.leave();
    const pieces = response.chunks.map((chunk) => chunk.toString());
    expect(pieces.length).toBeGreaterThanOrEqual(8);
    for (const piece of pieces) {
      expect(piece).toEndWith("\n\n");
      expect(piece.split("data: ").length).toBeLessThanOrEqual(2);
    }
  });

  test("the first event does not wait for the second", async () => {
    vendor.next([streamHead(), event(chatChunk({ role: "assistant", content: "now" })), hang]);
    const abort = new AbortController();
    const response = await ask(gateway.url, key, streamed, { signal: abort.signal });
    const reader = response.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first).toContain('"now"');
    expect(vendor.last().leftAt).toBeNull();
    abort.abort();
  });

  test("silence is bridged by comments", async () => {
    vendor.next([streamHead(), event(chatChunk({ content: "a" })), wait(900), ...stream(["b"]).slice(1)]);
    const { comments, content, done } = await askStream();
    expect(comments.length).toBeGreaterThanOrEqual(2);
    expect({ content, done }).toEqual({ content: "ab", done: true });
  });

  test("a vendor's line ends, comments, names and missing spaces do not matter", async () => {
    const [role, first, second, finish] = chatChunks(["one ", "two"]);
    const text = [
      ": a comment\r\n\r\n",
      eventText(role, "\r\n"),
      `event: chunk\nid: 4\nretry: 100\ndata:${JSON.stringify(first)}\n\n`,
      ": keep-alive\n\n\n\n",
      eventText(second, "\n"),
      eventText(finish, "\r\n"),
      "data: [DONE]\r\n\r\n",
    ].join("");
    vendor.next([streamHead(), httpChunk(text), lastHttpChunk]);
    expect(await askStream()).toMatchObject({ content: "one two", done: true, errors: [] });
  });

  for (const lineEnd of ["\n", "\r\n"]) {
    test(`events that arrive byte by byte, ${JSON.stringify(lineEnd)} at the line's end, come out whole`, async () => {
      const text = chatChunks(["é😀", "x"], usualUsage).map((chunk) => eventText(chunk, lineEnd));
      const bytes = Buffer.from(`${text.join("")}data: [DONE]${lineEnd}${lineEnd}`);
      const single = Array.from(bytes, (byte) => httpChunk(Uint8Array.of(byte)));
      // A pause now and then makes separate reads of them.
      const paced = single.flatMap((step, index) => (index % 5 === 0 ? [step, wait(0)] : [step]));
      vendor.next([streamHead(), ...paced, lastHttpChunk]);
      expect(await askStream()).toMatchObject({ content: "é😀x", done: true, errors: [] });
    });
  }

  test("text that looks like an event is only text", async () => {
    vendor.next(stream(["\n\ndata: [DONE]\n\n", "event: x\r\ndata: y\r\n\r\n"]));
    const { content, done } = await askStream();
    expect({ content, done }).toEqual({ content: "\n\ndata: [DONE]\n\nevent: x\r\ndata: y\r\n\r\n", done: true });
  });

  test("tool calls and unknown members of a chunk pass untouched", async () => {
    const call = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: '{"a":' } };
    const odd = { ...chatChunk({ tool_calls: [call], reasoning_content: "hm" }), vendor_member: { deep: [1] } };
    vendor.next([streamHead(), event(odd), event(chatChunk({}, "tool_calls")), httpChunk(doneText), lastHttpChunk]);
    const { chunks } = await askStream();
    expect(chunks[0]).toMatchObject(odd);
  });

  test("the end mark ends the stream, whatever the vendor does with its connection", async () => {
    const events = chatChunks(["hi"]).map(event);
    vendor.next([streamHead(), ...events, httpChunk(`${doneText}data: {"choices":[]}\n\n`), hang]);
    expect(await askStream()).toMatchObject({ content: "hi", done: true, errors: [] });
  });

  test("a thousand streams run at once", async () => {
    const everyone = Promise.withResolvers<void>();
    let arrived = 0;
    vendor.on("together", () => {
      arrived += 1;
      if (arrived === 1_000) everyone.resolve();
      const first = event(chatChunk({ role: "assistant", content: "here" }));
      return [streamHead(), first, until(everyone.promise), ...stream([" all"]).slice(2)];
    });
    const own = await startGatewayProcess({
      vendor,
      env: { SWITCHYARD_IDLE_TIMEOUT_MS: "600000", SWITCHYARD_TOTAL_TIMEOUT_MS: "600000" },
    });
    try {
      const ownKey = await own.createKey();
      const headers = { authorization: `Bearer ${ownKey}`, "content-type": "application/json" };
      const body = JSON.stringify({ ...streamed, model: "mock/together" });
      let whole = 0;
      await inParallel(1_000, 1_000, async () => {
        const connection = await openConnection(own.url);
        connection.send(requestBytes({ path: chatPath, headers, body }));
        const response = await connection.receive();
        connection.leave();
        const { content, done } = readChatStream(response.body.toString());
        if (content === "here all" && done) whole += 1;
      });
      expect(whole).toBe(1_000);
    } finally {
      await own.kill();
    }
  });

  test("a caller who does not read holds the vendor back, and not the gateway's memory", async () => {
    const piece = Buffer.from(eventText(chatChunk({ content: "x".repeat(60_000) })));
    const unit = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
    vendor.next([streamHead(), { do: "flood", unit, times: 4_000 }, httpChunk(doneText), lastHttpChunk]);
    const [serving = 0] = (await gateway.processes()).serving;
    const memory = watchMemory(serving);
    await memory.started;
    const { port } = new URL(gateway.url);
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    socket.write(requestBytes({ path: chatPath, headers, body: JSON.stringify(streamed) }));
    socket.pause();
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    // Long enough for all of it, were nobody to hold it back.
    await Bun.sleep(1_500);
    expect(vendor.last().finishedAt).toBeNull();
    expect(await memory.stop()).toBeLessThan(48);
    socket.destroy();
    await vendor.waitFor("the call's end", (requests) => requests[0]?.leftAt !== null);
  });

  test("a stream that stays silent after its headers times out with a status", async () => {
    vendor.on("echo", [streamHead(), hang]);
    expect(await readError(await ask(gateway.url, key, streamed))).toMatchObject({
      status: 504,
      code: "provider_timeout",
    });
  });

  test("an error that comes instead of the first event keeps its status", async () => {
    vendor.on("echo", [streamHead(), event(errorBody("overloaded")), httpChunk(doneText), lastHttpChunk]);
    expect(await readError(await ask(gateway.url, key, streamed))).toMatchObject({
      status: 502,
      code: "provider_error",
    });
  });
});
