// What errors of vendors mean where their status alone would mislead: a quota that is used up lets a fallback run, a content that is refused
// is the caller's affair and not one of the gateway's credentials. Each answer is documented by its vendor unless marked as invented.

import { beforeEach, describe, expect, test } from "bun:test";
import { answer } from "../support/answers.ts";
import { ask, readError } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

type Members = Record<string, unknown>;

const vendor = await startVendor();
const at = { base_url: vendor.url, api_key: "k" };
const names = ["deepl", "modernmt", "tavily", "linkup", "elevenlabs", "stabilityai", "sightengine"];
const others = ["firecrawl", "deepgram", "google", "microsoft", "affinda", "tabscanner"];
const chat = ["openrouter", "xai", "groq", "together", "novita", "fireworks", "cohere", "minimax"];
const gateway = await sharedGateway({
  vendor,
  config: { providers: Object.fromEntries([...names, ...others, ...chat].map((name) => [name, at])) },
  env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "0", SIGHTENGINE_API_USER: "u" },
});
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

const limited = { status: 429, code: "provider_rate_limited" };
const rejected = { status: 400, code: "provider_rejected_request" };
const credentials = { status: 502, code: "provider_auth_failed" };

describe("a task", () => {
  const translation = { text: "Hello", source_language: "en", target_language: "de" };
  const run = (model: string, input: Members, more: Members = {}) =>
    ask(gateway.url, key, { model, input, ...more }, { path: "/v3/universal-ai" });

  test.each([
    [
      "DeepL: quota",
      "translation/automatic_translation/deepl",
      translation,
      456,
      { message: "Quota Exceeded" },
      limited,
    ],
    [
      "Tavily: plan",
      "web/search/tavily",
      { query: "x" },
      432,
      { detail: { error: "This request exceeds your plan's set usage limit." } },
      limited,
    ],
    [
      "Tavily: paid use",
      "web/search/tavily",
      { query: "x" },
      433,
      { detail: { error: "This request exceeds the pay-as-you-go limit." } },
      limited,
    ],
    [
      "ElevenLabs: credits",
      "audio/tts/elevenlabs",
      { text: "Hi" },
      401,
      { detail: { status: "quota_exceeded", message: "This request exceeds your quota." } },
      limited,
    ],
    [
      "ElevenLabs: key",
      "audio/tts/elevenlabs",
      { text: "Hi" },
      401,
      { detail: { status: "invalid_api_key", message: "Invalid API key" } },
      credentials,
    ],
    [
      "Stability: moderation",
      "image/generation/stabilityai/core",
      { text: "x", resolution: "1024x1024" },
      403,
      { id: "1", name: "content_moderation", errors: ["Your request was flagged by our content moderation system."] },
      rejected,
    ],
    [
      "Firecrawl: credits",
      "web/search/firecrawl",
      { query: "x" },
      402,
      { success: false, error: "Payment Required: Insufficient credits" },
      limited,
    ],
    [
      "Firecrawl: key",
      "web/search/firecrawl",
      { query: "x" },
      401,
      { success: false, error: "Unauthorized: Invalid token" },
      credentials,
    ],
    [
      "Deepgram: credits",
      "audio/tts/deepgram",
      { text: "Hi" },
      402,
      { err_code: "ASR_PAYMENT_REQUIRED", err_msg: "Project does not have enough credits." },
      limited,
    ],
    [
      "Google: characters of the day",
      "translation/automatic_translation/google",
      translation,
      403,
      {
        error: {
          code: 403,
          message: "Daily Limit Exceeded",
          errors: [{ message: "Daily Limit Exceeded", domain: "usageLimits", reason: "dailyLimitExceeded" }],
        },
      },
      limited,
    ],
    [
      "Google: service that is switched off",
      "translation/automatic_translation/google",
      translation,
      403,
      { error: { code: 403, message: "The API is not enabled.", errors: [{ reason: "accessNotConfigured" }] } },
      credentials,
    ],
    [
      "Microsoft: free quota",
      "translation/automatic_translation/microsoft",
      translation,
      403,
      {
        error: {
          code: 403001,
          message: "The operation is not allowed because the subscription has exceeded its free quota.",
        },
      },
      limited,
    ],
    [
      "Microsoft: resource",
      "translation/automatic_translation/microsoft",
      translation,
      403,
      { error: { code: 403000, message: "The operation is not allowed." } },
      credentials,
    ],
  ])("%s", async (_, model, input, status, body, expected) => {
    vendor.next(answer(status, body));
    expect(await readError(await run(model, input))).toMatchObject(expected);
  });

  test("a quota that is used up lets the fallback run", async () => {
    vendor.next(answer(456, { message: "Quota Exceeded" }));
    vendor.next(answer(200, { data: { translation: "Hallo", billedCharacters: 5 } }));
    const fallbacks = ["translation/automatic_translation/modernmt"];
    const response = await run("translation/automatic_translation/deepl", translation, { fallbacks });
    expect(await response.json()).toMatchObject({ provider: "modernmt", output: { text: "Hallo" } });
    expect(vendor.requests).toHaveLength(2);
  });

  test("a content that is refused is not asked of another", async () => {
    vendor.next(answer(403, { name: "content_moderation", errors: ["flagged"] }));
    const input = { text: "x", resolution: "1024x1024" };
    await readError(
      await run("image/generation/stabilityai/core", input, { fallbacks: ["image/generation/openai/gpt-image-1"] }),
    );
    expect(vendor.requests).toHaveLength(1);
  });
});

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function uploadImage(): Promise<string> {
  const form = new FormData();
  form.set("file", new Blob([png], { type: "image/png" }), "a.png");
  const headers = { authorization: `Bearer ${key}` };
  const upload = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
  return ((await upload.json()) as { file_id: string }).file_id;
}

describe("a task with a file", () => {
  const noCredits = { errors: [{ code: "no_parsing_credits", detail: "No parsing credits left" }] };
  const failed = { meta: { failed: true }, error: { errorCode: "no_parsing_credits", errorDetail: "No credits" } };
  const unreadable = { meta: { failed: true }, error: { errorCode: "file_corrupted", errorDetail: "Corrupted" } };

  test.each([
    ["Affinda: credits", "affinda", 403, noCredits, limited],
    ["Affinda: credits, told in a good answer", "affinda", 201, failed, limited],
    ["Affinda: file", "affinda", 201, unreadable, rejected],
    ["Affinda: key", "affinda", 401, { errors: [{ code: "not_authenticated" }] }, credentials],
    ["Tabscanner: key", "tabscanner", 400, { message: "ERROR_CLIENT: API key not found", code: 400 }, credentials],
    ["Tabscanner: file", "tabscanner", 400, { message: "ERROR_CLIENT: No file detected", code: 403 }, rejected],
  ])("%s", async (_, provider, status, body, expected) => {
    const asked = {
      model: `ocr/financial_parser/${provider}`,
      input: { file: await uploadImage() },
      provider_params: { workspace: "w" },
    };
    vendor.next(answer(status, body));
    expect(await readError(await ask(gateway.url, key, asked, { path: "/v3/universal-ai" }))).toMatchObject(expected);
  });
});

describe("Sightengine", () => {
  const failure = (type: string, message: string) => ({ status: "failure", error: { type, code: 32, message } });

  // Its errors come with a status of their own; that they may come inside of a good answer is older, and recorded.
  test.each([
    [200, failure("usage_limit", "Daily usage limit reached"), limited],
    [429, failure("usage_limit", "Daily usage limit reached"), limited],
    [403, failure("usage_limit", "Monthly usage limit reached"), limited],
    [400, failure("argument_error", "Incorrect API user or API secret"), credentials],
    [400, failure("media_error", "Could not read the image"), rejected],
  ])("%d %j", async (status, body, expected) => {
    const asked = { model: "image/ai_detection/sightengine", input: { file: await uploadImage() } };
    vendor.next(answer(status, body));
    expect(await readError(await ask(gateway.url, key, asked, { path: "/v3/universal-ai" }))).toMatchObject(expected);
  });
});

describe("a chat model", () => {
  const messages = [{ role: "user", content: "hi" }];
  const moderated = {
    code: 403,
    message: "Your chosen model requires moderation and your input was flagged",
    metadata: { reasons: ["x"] },
  };

  test.each([
    ["openrouter/openai/gpt-5", 403, { error: moderated }, rejected],
    ["openrouter/openai/gpt-5", 403, { error: { code: 403, message: "Key disabled" } }, credentials],
    [
      "xai/grok-4.3",
      403,
      {
        code: "The caller does not have permission",
        error: "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
      },
      rejected,
    ],
    [
      "xai/grok-4.3",
      403,
      { code: "The caller does not have permission", error: "Your team has no access." },
      credentials,
    ],
    [
      "groq/openai/gpt-oss-120b",
      498,
      { error: { message: "Flex tier capacity exceeded", code: "capacity_exceeded" } },
      limited,
    ],
    [
      "together/Qwen/Qwen3.5-9B",
      403,
      { error: { message: "Input token count + max_tokens must be less than the context length" } },
      rejected,
    ],
    [
      "novita/deepseek/deepseek-v3.2",
      400,
      { reason: "BALANCE_NOT_ENOUGH", message: "not enough balance" },
      credentials,
    ],
    ["fireworks/accounts/fireworks/models/kimi-k3", 412, { error: "Account is suspended" }, credentials],
    ["cohere/command-a-03-2025", 499, { message: "request cancelled" }, { status: 502, code: "provider_error" }],
    ["minimax/MiniMax-M3", 200, { choices: null, base_resp: { status_code: 1002, status_msg: "rate limit" } }, limited],
    [
      "minimax/MiniMax-M3",
      200,
      { choices: null, base_resp: { status_code: 1008, status_msg: "balance" } },
      credentials,
    ],
    ["minimax/MiniMax-M3", 200, { base_resp: { status_code: 1026, status_msg: "new_sensitive" } }, rejected],
    ["minimax/MiniMax-M3", 200, { base_resp: { status_code: 1000 } }, { status: 502, code: "provider_bad_response" }],
    // Invented: a provider of the operator's own that speaks of content in the chat format's words.
    [
      "mock/echo",
      403,
      { error: { message: "No.", type: "invalid_request_error", code: "content_policy_violation" } },
      rejected,
    ],
    ["mock/echo", 403, { error: { message: "No.", type: "permission_error", code: "forbidden" } }, credentials],
  ] as const)("%s %d %j", async (model, status, body, expected) => {
    vendor.next(answer(status, body));
    expect(await readError(await ask(gateway.url, key, { model, messages }))).toMatchObject(expected);
  });

  test("no capacity at one vendor lets the fallback run, a refused content does not", async () => {
    vendor.next(answer(498, { error: { message: "Flex tier capacity exceeded" } }));
    const first = await ask(gateway.url, key, {
      model: "groq/openai/gpt-oss-120b",
      messages,
      fallbacks: ["mock/echo"],
    });
    expect(first.status).toBe(200);
    vendor.clear();
    vendor.next(answer(403, { error: moderated }));
    const second = await ask(gateway.url, key, {
      model: "openrouter/openai/gpt-5",
      messages,
      fallbacks: ["mock/echo"],
    });
    expect(await readError(second)).toMatchObject(rejected);
    expect(vendor.requests).toHaveLength(1);
  });
});
