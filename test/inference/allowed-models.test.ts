// The allowed models of a key against the names that a provider has.

import { describe, expect, test } from "bun:test";
import { ask, chatPath, readError } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const base_url = `http://127.0.0.1:${vendor.port}/v1`;
const access = { base_url, api_key: "sk-of-a-test" };
// Not in the form of a key for Gemini: the chat models of `google` are those of Vertex AI.
const cloudAccess = { base_url, api_key: "ya29.token+1" };
const env = { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "0" };
const aliases = { fast: "gemini/gemini-3.8-flash", "fast-summary": "text/summarize/gemini/gemini-3.8-flash" };

const company = await sharedGateway({
  vendor,
  env,
  config: {
    aliases,
    providers: {
      ...{ gemini: access, azure: access, bedrock: access, vertexai: cloudAccess },
      openai: { ...access, default_model: "small" },
      cohere: access,
    },
  },
});
const cloud = await sharedGateway({
  vendor,
  env,
  config: { providers: { google: cloudAccess, vertexai: cloudAccess } },
});

const toBody = {
  chat: { path: chatPath, body: { messages: [{ role: "user", content: "hi" }] } },
  embeddings: { path: "/v3/embeddings", body: { input: "hi" } },
  task: { path: "/v3/universal-ai", body: { input: { text: "hi" } } },
  moderations: { path: "/v3/moderations", body: { input: "hi" } },
} as const;

/** `sent` when a provider received the request, whatever it answered; otherwise the refusal. */
async function outcomeOf(
  gateway: typeof company,
  route: keyof typeof toBody,
  { model, allowed }: { readonly model: string; readonly allowed: readonly string[] },
): Promise<string> {
  const key = await gateway.createKey({ allowed_models: allowed });
  const { path, body } = toBody[route];
  vendor.clear();
  const response = await ask(gateway.url, key, { ...body, model }, { path });
  if (vendor.requests.length > 0) {
    await response.text();
    return "sent";
  }
  const { status, code } = await readError(response);
  return `${status} ${code}`;
}

const forbidden = "403 model_not_allowed";

describe("the names of a provider are equivalent", () => {
  test.each([
    ["chat", "google/*", "gemini/gemini-3.8-flash", "sent"],
    ["chat", "gemini/*", "google/gemini-3.8-flash", "sent"],
    ["chat", "google/gemini-3.8-flash", "gemini/gemini-3.8-flash", "sent"],
    ["chat", "google/gemini-3.8-flash", "gemini/gemini-3.7-flash", forbidden],
    ["chat", "amazon/*", "bedrock/us.amazon.nova-2-lite-v1:0", "sent"],
    ["chat", "bedrock/*", "amazon/us.amazon.nova-2-lite-v1:0", "sent"],
    ["chat", "microsoft/*", "azure/gpt-5", "sent"],
    ["chat", "azure/*", "microsoft/gpt-5", "sent"],
    ["chat", "vertex/*", "vertexai/gemini-3.8-flash", "sent"],
    ["chat", "google/*", "fast", "sent"],
    ["chat", "gemini/*", "fast", "sent"],
    ["embeddings", "google/*", "gemini/gemini-embedding-001", "sent"],
    ["embeddings", "gemini/*", "google/gemini-embedding-001", "sent"],
    ["task", "text/summarize/google/*", "text/summarize/gemini/gemini-3.8-flash", "sent"],
    ["task", "text/summarize/gemini/*", "text/summarize/google/gemini-3.8-flash", "sent"],
    ["task", "text/summarize/google/*", "text/summarize/gemini", "sent"],
    ["task", "text/summarize/google/*", "fast-summary", "sent"],
    ["moderations", "google/*", "gemini/gemini-3.8-flash", "sent"],
    ["moderations", "text/moderation/google/*", "gemini/gemini-3.8-flash", "sent"],
    ["moderations", "gemini/*", "google/gemini-3.8-flash", "sent"],
  ] as const)("%s: %s and %s: %s", async (route, pattern, model, outcome) => {
    expect(await outcomeOf(company, route, { model, allowed: [pattern] })).toBe(outcome);
  });

  test("also when the key and its team use different ones", async () => {
    await company.manage("POST", "/teams", { name: "research", allowed_models: ["google/*"] });
    const created = await company.manage("POST", "/keys", {
      ...{ name: "notebook", team: "research", allowed_models: ["gemini/*"] },
    });
    const { key } = created as { key: string };
    vendor.clear();
    await ask(company.url, key, { ...toBody.chat.body, model: "google/gemini-3.8-flash" });
    expect(vendor.requests).toHaveLength(1);
  });
});

describe("a provider that would not be called under the name stays refused", () => {
  test.each([
    // With a key for Gemini, `google` is not Vertex AI.
    ["chat", "google/*", "vertexai/gemini-3.8-flash"],
    ["chat", "gemini/*", "vertexai/gemini-3.8-flash"],
    ["chat", "vertexai/*", "google/gemini-3.8-flash"],
    ["chat", "vertex/*", "fast"],
    ["chat", "google/*", "openai/gpt-5"],
    ["chat", "google/*", "openai/google/gemini-3.8-flash"],
    ["chat", "microsoft/*", "openai/gpt-5"],
    ["chat", "google/*", "nobody/gemini-3.8-flash"],
    ["chat", "google/*", "text/summarize/google"],
    ["embeddings", "google/*", "cohere/embed-v4.0"],
    ["embeddings", "google/*", "vertexai/gemini-embedding-001"],
    ["task", "google/*", "text/summarize/gemini/gemini-3.8-flash"],
    ["task", "text/summarize/google/*", "text/summarize/vertexai/gemini-3.8-flash"],
    ["task", "text/summarize/google/*", "text/summarize/nobody"],
    ["task", "text/summarize/google/*", "text/moderation/gemini/gemini-3.8-flash"],
    ["moderations", "google/*", "openai/omni-moderation-latest"],
    ["moderations", "google/*", "nobody/model"],
  ] as const)("%s: %s and %s", async (route, pattern, model) => {
    expect(await outcomeOf(company, route, { model, allowed: [pattern] })).toBe(forbidden);
  });

  test.each([
    ["chat", "vertexai/*", "google/gemini-3.8-flash", "sent"],
    ["chat", "google/*", "vertexai/gemini-3.8-flash", "sent"],
    ["chat", "gemini/*", "google/gemini-3.8-flash", forbidden],
    ["chat", "google/*", "gemini/gemini-3.8-flash", forbidden],
    // The tasks of the company are not those of its cloud.
    ["task", "translation/language_detection/vertexai*", "translation/language_detection/google", forbidden],
  ] as const)("without a key for Gemini, %s: %s and %s: %s", async (route, pattern, model, outcome) => {
    expect(await outcomeOf(cloud, route, { model, allowed: [pattern] })).toBe(outcome);
  });

  test("an allowed name that no provider has is 404", async () => {
    const outcome = await outcomeOf(company, "chat", { model: "nobody/model", allowed: ["nobody/*"] });
    expect(outcome).toBe("404 provider_not_found");
  });
});

describe("a task without a model is that of its default model", () => {
  test.each([
    ["text/summarize/openai/small", "text/summarize/openai", "sent"],
    ["*/small", "text/summarize/openai", "sent"],
    ["text/summarize/openai/large", "text/summarize/openai", forbidden],
    ["text/summarize/openai/small", "text/summarize/openai/large", forbidden],
    ["text/moderation/openai/small", "text/summarize/openai", forbidden],
    ["text/summarize/openai", "text/summarize/openai/small", forbidden],
  ] as const)("%s and %s: %s", async (pattern, model, outcome) => {
    expect(await outcomeOf(company, "task", { model, allowed: [pattern] })).toBe(outcome);
  });
});
