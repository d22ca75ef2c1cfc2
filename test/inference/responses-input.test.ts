// POST /v3/responses/input_tokens and /v3/responses/compact: passed to providers that have them; elsewhere the count is an estimate
// that says so, and compaction is refused. The shapes are those of the types in npm's openai 7.53.0; the contents are invented.

import { beforeEach, expect, test } from "bun:test";
import { answer } from "../support/answers.ts";
import { readError } from "../support/chat.ts";
import { createClient } from "../support/responses.ts";
import { startResponsesVendor } from "../support/responses-vendor.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import OpenAI from "../tools/agents/node_modules/openai/index.mjs";

const vendor = await startResponsesVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0" },
  config: {
    providers: {
      // The row of this name declares both paths.
      openai: { base_url: `${origin}/v1`, api_key: "k" },
      gemini: { base_url: `${origin}/gemini`, api_key: "k" },
    },
  },
});
const client = createClient(gateway, await gateway.createKey());
const openai = new OpenAI({ baseURL: `${gateway.url}/v3`, apiKey: client.key, maxRetries: 0 });
beforeEach(() => vendor.clear());

const sentBody = () => JSON.parse(vendor.last().body.toString()) as Record<string, unknown>;
const tools = [{ type: "function" as const, name: "look", parameters: { type: "object" }, strict: false }];

test("a provider that counts is asked, with the members that its counter knows", async () => {
  vendor.next(answer(200, { object: "response.input_tokens", input_tokens: 42 }));
  const body = { model: "openai/gpt-5", input: "hello", instructions: "Be brief.", tools };
  const counted = await client.post({ ...body, temperature: 1, store: true, tags: { a: "b" } }, "/input_tokens");
  expect(await counted.json()).toEqual({ object: "response.input_tokens", input_tokens: 42, provider: "openai" });
  expect(vendor.last().path).toBe("/v1/responses/input_tokens");
  expect(sentBody()).toEqual({ ...body, model: "gpt-5" });
  vendor.next(answer(200, { object: "response.input_tokens", input_tokens: 7 }));
  expect(await openai.responses.inputTokens.count(body)).toMatchObject({ input_tokens: 7 });
});

test("an answer without a count is the provider's mistake", async () => {
  vendor.next(answer(200, { object: "response.input_tokens", input_tokens: "42" }));
  const refused = await readError(await client.post({ model: "openai/gpt-5", input: "hello" }, "/input_tokens"));
  expect(refused).toMatchObject({ status: 502, code: "provider_bad_response" });
});

test("an earlier response is named by the id of the provider that issued it", async () => {
  const first = await client.create({ model: "openai/gpt-5", input: "one" });
  vendor.next(answer(200, { object: "response.input_tokens", input_tokens: 9 }));
  const body = { model: "openai/gpt-5", input: "two", previous_response_id: first.id };
  expect((await client.post(body, "/input_tokens")).status).toBe(200);
  expect(sentBody()["previous_response_id"]).toMatch(/^resp_vendor/);
  const stranger = createClient(gateway, await gateway.createKey());
  vendor.clear();
  expect(await readError(await stranger.post(body, "/input_tokens"))).toMatchObject({
    status: 400,
    code: "previous_response_not_found",
  });
  expect(vendor.requests).toBeEmpty();
});

test("a provider of another format counts by its own counter", async () => {
  vendor.next(answer(200, { totalTokens: 31 }));
  const counted = await client.post({ model: "gemini/gemini-3.8-flash", input: "hello" }, "/input_tokens");
  expect(await counted.json()).toEqual({ object: "response.input_tokens", input_tokens: 31, provider: "google" });
  expect(vendor.last().path).toEndWith(":countTokens");
});

test("for other providers the count is an estimate and says so, and they are not called", async () => {
  for (const model of ["mockchat/echo", "mock/echo", "sandbox/echo"]) {
    const count = async (input: unknown) =>
      (await (await client.post({ model, input }, "/input_tokens")).json()) as Record<string, unknown>;
    const short = await count("hello there");
    expect(short).toMatchObject({ object: "response.input_tokens", estimated: true, provider: model.split("/")[0] });
    expect(short["input_tokens"]).toBeWithin(3, 30);
    const long = await count([{ role: "user", content: "many words follow each other here ".repeat(100) }]);
    expect(long["input_tokens"]).toBeGreaterThan(400);
  }
  expect(vendor.requests).toBeEmpty();
});

test("a conversation that only the provider has is not estimated without it", async () => {
  const { id } = await client.create({ model: "mock/echo", input: "one" });
  const body = { model: "mock/echo", input: "two", previous_response_id: id };
  expect(await readError(await client.post(body, "/input_tokens"))).toMatchObject({
    status: 400,
    code: "stateful_not_supported",
    param: "previous_response_id",
  });
});

test("a compacted conversation has the gateway's ids, a cost, and can be sent back", async () => {
  const compacted = {
    id: "cmp_vendor_0123456789",
    object: "response.compaction",
    created_at: 1_700_000_000,
    output: [{ id: "cmpi_vendor_0123456789", type: "compaction", encrypted_content: "sealed-by-the-vendor" }],
    usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
  };
  vendor.next(answer(200, compacted));
  const body = { model: "openai/gpt-5", input: [{ role: "user" as const, content: "long" }] };
  const made = await openai.responses.compact(body);
  expect(vendor.last().path).toBe("/v1/responses/compact");
  expect(made).toMatchObject({ object: "response.compaction", provider: "openai", provider_time: expect.any(Number) });
  expect(JSON.stringify(made)).not.toMatch(/"cmpi?_vendor_0123456789"/);
  await client.create({ model: "openai/gpt-5", input: [...made.output, { role: "user", content: "next" }] });
  expect((sentBody()["input"] as unknown[])[0]).toEqual(compacted.output[0]);
});

test("a provider without compaction is refused by name", async () => {
  for (const model of ["mockchat/echo", "mock/echo", "sandbox/echo"]) {
    const error = await readError(await client.post({ model, input: "hello" }, "/compact"));
    expect(error).toMatchObject({ status: 400, code: "compaction_not_supported", param: "model" });
  }
  expect(vendor.requests).toBeEmpty();
});

test("both check the request as the response itself does", async () => {
  for (const path of ["/input_tokens", "/compact"]) {
    expect(await readError(await client.post({ model: "mock/echo", input: 5 }, path))).toMatchObject({ status: 422 });
    const unable = createClient(gateway, await gateway.createKey({ scopes: ["chat"] }));
    expect(await readError(await unable.post({ model: "mock/echo", input: "x" }, path))).toMatchObject({
      status: 403,
      code: "insufficient_scope",
    });
  }
});
