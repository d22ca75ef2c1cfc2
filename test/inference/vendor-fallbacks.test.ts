// Anthropic's own `fallbacks` in the Messages format: https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback

import { beforeEach, describe, expect, test } from "bun:test";
import { answer } from "../support/answers.ts";
import { claudeMessage } from "../support/anthropic.ts";
import { ask } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const at = { base_url: vendor.url, api_key: "k" };
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "0" },
  config: { providers: { anthropic: { ...at, base_url: vendor.url.replace(/\/v1$/, "") }, openai: at, groq: at } },
});
const key = await gateway.createKey();
const fable = "anthropic/claude-fable-5";
const named = [{ model: "claude-opus-4-8", max_tokens: 8192, speed: "fast" }];

beforeEach(() => vendor.clear());

function send(members: object, { own = key, path = "/v3/v1/messages", beta = "" } = {}): Promise<Response> {
  const body = { model: fable, max_tokens: 10, messages: [{ role: "user", content: "hi" }], ...members };
  return ask(gateway.url, own, body, { path, ...(beta !== "" && { headers: { "anthropic-beta": beta } }) });
}

function sent(): Record<string, unknown> {
  return JSON.parse(vendor.last().body.toString()) as Record<string, unknown>;
}

async function refusalOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { message: string } };
  return `${response.status} ${error.message}`;
}

describe("a provider of the format receives them", () => {
  test.each([
    ["default", "server-side-fallback-2026-07-01"],
    [named, "server-side-fallback-2026-06-01"],
  ] as const)("%j", async (fallbacks, beta) => {
    vendor.next(answer(200, claudeMessage("Hi")));
    const response = await send({ fallbacks, tags: { a: "b" } }, { beta });
    await response.text();
    expect(response.status).toBe(200);
    expect(sent()).toMatchObject({ model: "claude-fable-5", fallbacks });
    expect(sent()).not.toHaveProperty("tags");
    expect(vendor.last().headers["anthropic-beta"]).toBe(beta);
    vendor.next(answer(200, '{"input_tokens":3}'));
    const counted = await send({ fallbacks }, { path: "/v3/v1/messages/count_tokens", beta });
    expect(await counted.json()).toEqual({ input_tokens: 3 });
    expect(sent()).toMatchObject({ fallbacks });
  });

  test("and the cost is that of the model that answered", async () => {
    const refused = { type: "message", model: "claude-fable-5", input_tokens: 408, output_tokens: 0 };
    const served = { type: "fallback_message", model: "claude-opus-4-8", input_tokens: 412, output_tokens: 264 };
    const usage = { input_tokens: 412, output_tokens: 264, iterations: [refused, served] };
    const content = [
      { type: "fallback", from: { model: "claude-fable-5" }, to: { model: "claude-opus-4-8" } },
      { type: "text", text: "Hi" },
    ];
    vendor.next(answer(200, { ...claudeMessage(""), model: "claude-opus-4-8", content, usage }));
    const answered = (await (await send({ fallbacks: named })).json()) as { cost: number; content: unknown };
    // 412 × 5 + 264 × 25 in USD per million.
    expect(answered).toMatchObject({ cost: 0.00866, content });
  });
});

describe("another provider", () => {
  test.each([["default"], [named]] as const)("does not receive %j, and the answer names it", async (fallbacks) => {
    const response = await send({ model: "groq/openai/gpt-oss-20b", fallbacks });
    await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get("x-switchyard-dropped-params")).toBe("fallbacks");
    expect(sent()).not.toHaveProperty("fallbacks");
    const strict = await send({ model: "groq/openai/gpt-oss-20b", fallbacks, strict_parameters: true });
    expect(await refusalOf(strict)).toStartWith("400");
  });

  test("is still reached by a list of the gateway's own fallbacks", async () => {
    vendor.next(answer(500, "{}"));
    const response = await send({ fallbacks: ["groq/openai/gpt-oss-20b"] });
    expect(await response.json()).toMatchObject({ provider: "groq" });
    expect(vendor.requests).toHaveLength(2);
    for (const { body } of vendor.requests) expect(JSON.parse(body.toString())).not.toHaveProperty("fallbacks");
  });
});

describe("of a key with allowed models", () => {
  test("all must be allowed", async () => {
    const own = await gateway.createKey({ allowed_models: [fable] });
    expect(await refusalOf(await send({ fallbacks: named }, { own }))).toBe(
      "403 This key may not use the model 'anthropic/claude-opus-4-8'.",
    );
    expect(await refusalOf(await send({ fallbacks: "default" }, { own }))).toBe(
      "403 This key may not use the model 'anthropic/*': with 'fallbacks' the provider chooses the model, so name it instead.",
    );
    expect(vendor.requests).toHaveLength(0);
  });

  test.each([
    [[fable, "anthropic/claude-opus-4-8"], named],
    [["anthropic/*"], "default"],
  ] as const)("%j allow %j", async (allowed_models, fallbacks) => {
    const own = await gateway.createKey({ allowed_models });
    vendor.next(answer(200, claudeMessage("Hi")));
    expect((await send({ fallbacks }, { own })).status).toBe(200);
  });
});
