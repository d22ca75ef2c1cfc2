// Every call that reaches a provider has exactly one line in the ledger, whatever its format and however it ends. The vendor's answers are
// invented, in documented shapes.

import { beforeEach, expect, test } from "bun:test";
import { picoPerUsd } from "../../src/lib/money.ts";
import { answer, completion, event, rst, streamHead } from "../support/answers.ts";
import { claudeMessage } from "../support/anthropic.ts";
import { ask, hello } from "../support/chat.ts";
import { linesOf, type StoredLine } from "../support/ledger.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const declared = { dialect: "openai", base_url: vendor.url, api_key: "k" };
const price = { input: 1.5, output: 7.25 };
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_BREAKER_FAILURES: "0", SWITCHYARD_LOCAL_WORKERS: "1", SWITCHYARD_RETRIES: "2" },
  config: {
    providers: {
      openai: declared,
      anthropic: { base_url: origin, api_key: "k" },
      inhouse: { ...declared, tasks: ["text/moderation"] },
    },
    prices: { "mock/*": price, "mockchat/*": price, "mock2/*": price },
  },
});
const key = await gateway.createKey({ name: "shop", tags: { app: "shop" } });
const keys = (await gateway.manage("GET", "/keys")) as { items: { id: string; name: string }[] };
const keyId = keys.items.find(({ name }) => name === "shop")?.id ?? "";

beforeEach(() => vendor.clear());

let requests = 0;

/** The answer, and the lines of the request: exactly `count`. */
async function call(path: string, body: unknown, count = 1, more: { signal?: AbortSignal; as?: string } = {}) {
  const requestId = `call-${++requests}`;
  const options = { path, headers: { "x-request-id": requestId }, ...(more.signal && { signal: more.signal }) };
  const answered = await ask(gateway.url, more.as ?? key, body, options)
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch(() => ({ status: 0, text: "" }));
  const lines = await linesOf({ gateway }, requestId, count);
  expect(lines).toHaveLength(count);
  return { ...answered, lines, requestId };
}

function costOf(text: string): bigint {
  const { cost } = JSON.parse(text) as { cost: number };
  return BigInt(Math.round(cost * picoPerUsd));
}

function only(lines: readonly StoredLine[]): StoredLine {
  const [line] = lines;
  if (line === undefined) throw new Error("there is no line");
  return line;
}

test("a completion has one line with its tokens, its exact cost, and what the cost was computed from", async () => {
  const usage = {
    ...{ prompt_tokens: 1_000, completion_tokens: 37, total_tokens: 1_037 },
    ...{ prompt_tokens_details: { cached_tokens: 200 }, completion_tokens_details: { reasoning_tokens: 12 } },
  };
  vendor.next(answer(200, completion("hi", { usage })));
  const before = Date.now();
  const { text, lines } = await call("/v3/chat/completions", hello);
  const line = only(lines);
  expect(line).toMatchObject({
    ...{ key_id: keyId, tags: '{"app":"shop"}', endpoint: "/v3/chat/completions", provider: "mock", model: "echo" },
    ...{ task: null, attempt: 1n, outcome: "completed", status: 200n, price_version: "operator", is_stream: 0n },
    ...{ input_tokens: 1_000n, output_tokens: 37n, cached_tokens: 200n, reasoning_tokens: 12n, is_cached: 1n },
    ...{ first_token_ms: null, job_id: null, count: 1n, reason: null, cost_reason: null, units: null },
  });
  expect(line["cost_pico"]).toBe(costOf(text));
  expect(JSON.parse(String(line["tokens"]))).toEqual({ input: 800, cacheRead: 200, output: 25, reasoning: 12 });
  expect(JSON.parse(String(line["usage"]))).toMatchObject({ usage });
  expect(Number(line["time"])).toBeGreaterThanOrEqual(before - 1);
  expect(Number(line["time"])).toBeLessThanOrEqual(Date.now());
});

test("a stream has one line, with the time to its first token", async () => {
  const { text, lines } = await call("/v3/chat/completions", {
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
  });
  const told = text.split("\n\n").find((frame) => frame.includes('"cost"')) ?? "";
  expect(only(lines)).toMatchObject({ outcome: "completed", is_stream: 1n, cost_pico: costOf(told.slice(6)) });
  expect(only(lines)["first_token_ms"]).not.toBeNull();
});

test("a stream that breaks, and one whose caller leaves, have one line each", async () => {
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const first = event({ ...chunk, choices: [{ index: 0, delta: { content: "h" }, finish_reason: null }] });
  vendor.next([streamHead(), first, rst]);
  const broken = await call("/v3/chat/completions", { ...hello, stream: true });
  expect(only(broken.lines)).toMatchObject({ outcome: "provider_disconnected", is_stream: 1n, cost_pico: null });

  const controller = new AbortController();
  vendor.next([streamHead(), first, { do: "hang" }]);
  const left = call("/v3/chat/completions", { ...hello, stream: true }, 1, { signal: controller.signal });
  await vendor.waitFor("the request", (received) => received.length === 2);
  controller.abort();
  expect(only((await left).lines)).toMatchObject({
    outcome: "caller_left",
    status: 499n,
    cost_reason: "usage_unknown",
  });
});

test("every retry and every fallback is a line with its number", async () => {
  vendor.next(answer(500, { error: { message: "down" } }));
  vendor.next(answer(500, { error: { message: "down" } }));
  const retried = await call("/v3/chat/completions", hello, 3);
  expect(retried.lines.map((line) => [line["attempt"], line["outcome"], line["cost_reason"]])).toEqual([
    [1n, "provider_error", "not_answered"],
    [2n, "provider_error", "not_answered"],
    [3n, "completed", null],
  ]);
  vendor.on("broken", answer(500, { error: { message: "down" } }));
  const fallen = await call("/v3/chat/completions", { ...hello, model: "mock/broken", fallbacks: ["mock2/echo"] }, 2);
  expect(fallen.lines.map((line) => [line["attempt"], line["provider"], line["outcome"]])).toEqual([
    [1n, "mock", "provider_error"],
    [2n, "mock2", "completed"],
  ]);
});

test("several choices that need several calls are one attempt and one line", async () => {
  vendor.on("claude-x", answer(200, claudeMessage("hi")));
  const { text, lines } = await call("/v3/chat/completions", { ...hello, model: "anthropic/claude-x", n: 3 });
  expect(JSON.parse(text).choices).toHaveLength(3);
  expect(vendor.requests).toHaveLength(3);
  const usage = JSON.parse(text).usage as { prompt_tokens: number; completion_tokens: number };
  expect(only(lines)).toMatchObject({
    ...{ input_tokens: BigInt(usage.prompt_tokens), output_tokens: BigInt(usage.completion_tokens), attempt: 1n },
  });
});

test("a task of a declared provider, of the sandbox and of a local engine has one line", async () => {
  const output = { nsfw_likelihood: 1, nsfw_likelihood_score: 0.1, items: [] };
  vendor.next(answer(200, { status: "success", cost: 0.000_123_456_789, output }));
  const moderation = (provider: string) => ({ model: `text/moderation/${provider}`, input: { text: "hello" } });
  const task = "text/moderation";
  const inhouse = await call("/v3/universal-ai", moderation("inhouse"));
  expect(only(inhouse.lines)).toMatchObject({
    task,
    provider: "inhouse",
    model: null,
    cost_pico: 123_456_789n,
    attempt: 1n,
  });
  const sandbox = await call("/v3/universal-ai", moderation("sandbox"));
  expect(only(sandbox.lines)).toMatchObject({ task, provider: "sandbox", cost_pico: 0n, price_version: "free" });
  const local = await call("/v3/universal-ai", moderation("local"));
  expect(only(local.lines)).toMatchObject({ task, provider: "local", cost_pico: 0n, endpoint: "/v3/universal-ai" });
});

test("a task that a chat model performs has a line for each of its calls, and none of its own", async () => {
  const good = '{"general_sentiment":"Positive","general_sentiment_rate":0.9,"items":[]}';
  vendor.next(answer(200, completion("this is no JSON")));
  vendor.next(answer(200, completion(good)));
  const model = "text/sentiment_analysis/mockchat/some-model";
  const { text, status, lines } = await call("/v3/universal-ai", { model, input: { text: "fine", language: "en" } }, 2);
  expect({ status, requests: vendor.requests.length }).toEqual({ status: 200, requests: 2 });
  const line = { task: "text/sentiment_analysis", provider: "mockchat", model: "some-model", key_id: keyId };
  expect(lines).toMatchObject([
    { ...line, attempt: 1n, outcome: "completed", endpoint: "/v3/universal-ai" },
    { ...line, attempt: 2n, outcome: "completed", tags: '{"app":"shop"}' },
  ]);
  expect(lines.reduce((sum, { cost_pico }) => sum + (cost_pico as bigint), 0n)).toBe(costOf(text));
});

test("embeddings, messages and responses have one line each", async () => {
  vendor.next(
    answer(200, {
      ...{ object: "list", model: "e", data: [{ object: "embedding", index: 0, embedding: [0.5] }] },
      usage: { prompt_tokens: 5, total_tokens: 5 },
    }),
  );
  const embedded = await call("/v3/embeddings", { model: "mock/e", input: "hi" });
  expect(only(embedded.lines)).toMatchObject({ endpoint: "/v3/embeddings", input_tokens: 5n, output_tokens: 0n });
  vendor.next(answer(200, claudeMessage("hi")));
  const message = { model: "anthropic/claude-x", max_tokens: 5, messages: hello.messages };
  expect(only((await call("/v3/messages", message)).lines)).toMatchObject({
    provider: "anthropic",
    endpoint: "/v3/messages",
  });
  vendor.next(
    answer(200, {
      ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m", output: [], tools: [] },
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    }),
  );
  const native = await call("/v3/responses", { model: "openai/m", input: "hi" });
  expect(only(native.lines)).toMatchObject({ endpoint: "/v3/responses", provider: "openai", input_tokens: 3n });
  const translated = await call("/v3/responses", { model: "mockchat/echo", input: "hi" });
  expect(only(translated.lines)).toMatchObject({
    endpoint: "/v3/responses",
    provider: "mockchat",
    outcome: "completed",
  });
  // A lookup reaches the provider, and costs nothing: the response was paid for when it was created.
  vendor.next(answer(200, { input_tokens: 17 }));
  const counted = await call("/v3/messages/count_tokens", { model: "anthropic/claude-x", messages: hello.messages });
  expect(only(counted.lines)).toMatchObject({
    endpoint: "/v3/messages/count_tokens",
    cost_pico: 0n,
    input_tokens: null,
  });
});

test("a refused request has a line with the reason, and no provider was called", async () => {
  const unknown = await call("/v3/chat/completions", hello, 1, { as: "sk-sy-unknown" });
  expect(only(unknown.lines)).toMatchObject({
    ...{ key_id: null, outcome: "invalid_api_key", status: 401n, attempt: 0n, provider: null, cost_reason: null },
    reason: "This API key is not known.",
  });
  const invalid = await call("/v3/chat/completions", { model: "mock/echo" });
  expect(only(invalid.lines)).toMatchObject({ key_id: keyId, outcome: "invalid_request", status: 422n });
  expect(only(invalid.lines)["reason"]).toContain("body.messages");
  const nobody = await call("/v3/chat/completions", { ...hello, model: "nobody/nothing" });
  expect(only(nobody.lines)).toMatchObject({ outcome: "provider_not_found", status: 404n });
  const limited = await gateway.createKey({ name: "limited", allowed_models: ["mock/other"] });
  const forbidden = await call("/v3/chat/completions", hello, 1, { as: limited });
  expect(only(forbidden.lines)).toMatchObject({ outcome: "model_not_allowed", status: 403n });
  // The format of the provider cannot express the request, so nothing was sent.
  const strict = { ...hello, model: "anthropic/claude-x", logit_bias: { 5: 1 }, strict_parameters: true };
  expect(only((await call("/v3/chat/completions", strict)).lines)).toMatchObject({ attempt: 0n, status: 422n });
  expect(vendor.requests).toHaveLength(0);
});
