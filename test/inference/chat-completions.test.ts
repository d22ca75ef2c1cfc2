// POST /v3/chat/completions: what reaches the vendor, what the caller gets, and what keys may do.

import { describe, expect, test } from "bun:test";
import { answer, completion, wait, write } from "../support/answers.ts";
import { ask, chatPath, hello, readCompletion, readError } from "../support/chat.ts";
import { openChatGateway, streamed } from "../support/chat-gateway.ts";
import { readChatStream } from "../support/events.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { awayFromMinuteEnd } from "../support/wait.ts";

const { vendor, gateway, key, askStream } = await openChatGateway();

/** Another order for every seed, and the same one for the same seed. */
function shuffle<Value>(values: readonly Value[], seed: number): Value[] {
  const keyed = values.map((value, index) => ({ value, rank: Bun.hash.xxHash32(`${seed} ${index}`) }));
  return keyed.sort((a, b) => a.rank - b.rank).map(({ value }) => value);
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

  test("a model member that is written with escapes is found as well", async () => {
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

  test("an alias of the operator resolves to its model", async () => {
    const body = await readCompletion(await ask(gateway.url, key, { ...hello, model: "fast" }));
    expect(body.provider).toBe("mock");
    expect(vendor.last().model).toBe("echo");
  });

  test("a name without a slash that is no alias is a wrong name", async () => {
    const error = await readError(await ask(gateway.url, key, { ...hello, model: "slow" }));
    expect(error).toMatchObject({ status: 422, code: "string_pattern_mismatch", param: "model" });
  });
});

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
