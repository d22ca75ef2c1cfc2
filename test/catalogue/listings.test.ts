// What a gateway says that it can do, and the names by which its models are called, against a loopback vendor that answers in the
// formats of Gemini, Bedrock and Azure. The shapes are documented by these vendors, the contents are invented.

import { afterAll, describe, expect, test } from "bun:test";
import type { FeatureList, SubfeatureDetail } from "../../src/contract/info.ts";
import type { ModelList } from "../../src/contract/models.ts";
import { completion } from "../support/answers.ts";
import { ask } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const sentiment = { general_sentiment: "Positive", general_sentiment_rate: 0.9, items: [] };
const seen: string[] = [];
const companies = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const path = decodeURIComponent(new URL(request.url).pathname);
    const text = (await request.text()).includes("entiment") ? JSON.stringify(sentiment) : "hello";
    seen.push(path);
    if (path.endsWith(":generateContent"))
      return Response.json({
        candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      });
    if (path.endsWith("/converse"))
      return Response.json({
        output: { message: { role: "assistant", content: [{ text }] } },
        stopReason: "end_turn",
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      });
    return Response.json(completion(text));
  },
});

const vendor = await startVendor();
const address = `http://127.0.0.1:${companies.port}`;
const gateway = await sharedGateway({
  vendor,
  env: {
    ...{ GEMINI_BASE_URL: address, GEMINI_API_KEY: "k-gemini", OPENAI_BASE_URL: address, OPENAI_API_KEY: "k-openai" },
    ...{ BEDROCK_BASE_URL: address, BEDROCK_API_KEY: "k-bedrock", AWS_REGION: "eu-central-1" },
    ...{ AZURE_BASE_URL: address, AZURE_API_KEY: "k-azure" },
  },
  config: { providers: { mockchat: { base_url: `${address}/v1`, default_model: "tiny" } } },
});
const [key, sandboxKey] = await Promise.all([gateway.createKey(), gateway.createKey({ kind: "sandbox" })]);
afterAll(() => companies.stop(true));

async function read<Body>(path: string, secret = key): Promise<Body> {
  const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Body;
}

describe("the sandbox", () => {
  const owners = async (path: string, secret?: string) =>
    new Set((await read<ModelList>(path, secret)).data.map(({ owned_by }) => owned_by));

  test("is in no list of models unless a sandbox key or the query asks for it", async () => {
    expect((await owners("/v3/models")).has("sandbox")).toBe(false);
    expect((await owners("/v3/models?include=sandbox")).has("sandbox")).toBe(true);
    expect((await owners("/v3/models", sandboxKey)).has("sandbox")).toBe(true);
    expect([...(await owners("/v3/models?provider=sandbox"))]).toEqual(["sandbox"]);
  });

  test("makes no task look configured", async () => {
    const detail = await read<SubfeatureDetail>("/v3/info/video/generation_async");
    expect([detail.configured, detail.models]).toEqual([false, []]);
    const asked = await read<SubfeatureDetail>("/v3/info/video/generation_async?include=sandbox");
    expect(asked.configured).toBe(false);
    expect(asked.models.map(({ model }) => model)).toEqual([
      "video/generation_async/sandbox",
      "video/generation_async/sandbox/ok",
    ]);
    const { features } = await read<FeatureList>("/v3/info");
    expect(features.flatMap(({ subfeatures }) => subfeatures).every(({ configured }) => configured)).toBe(true);
  });

  test("lists no model that breaks its answer", async () => {
    const { data } = await read<ModelList>("/v3/models?include=sandbox&include=unconfigured");
    expect(data.map(({ id }) => id).filter((id) => /\/(?:hang|cut|stall|garbage|error|slow)/.test(id))).toEqual([]);
  });
});

describe("names", () => {
  const chat = async (model: string) => {
    seen.length = 0;
    const response = await ask(gateway.url, key, { model, messages: [{ role: "user", content: "hi" }] });
    const body = (await response.json()) as { provider?: string; error?: { message: string; code: string } };
    return { status: response.status, provider: body.provider, error: body.error, path: seen[0] };
  };

  test.each([
    ["google/gemini-3.8-flash", "google", "/models/gemini-3.8-flash:generateContent"],
    ["gemini/gemini-3.8-flash", "google", "/models/gemini-3.8-flash:generateContent"],
    ["amazon/global.amazon.nova-2-lite-v1:0", "amazon", "/model/global.amazon.nova-2-lite-v1:0/converse"],
    ["bedrock/global.amazon.nova-2-lite-v1:0", "amazon", "/model/global.amazon.nova-2-lite-v1:0/converse"],
    ["microsoft/my-deployment", "microsoft", "/openai/v1/chat/completions"],
    ["azure/my-deployment", "microsoft", "/openai/v1/chat/completions"],
  ])("%s is answered by %s", async (model, provider, path) => {
    const answered = await chat(model);
    expect([answered.status, answered.provider]).toEqual([200, provider]);
    expect(answered.path).toEndWith(path);
  });

  test("one provider has one health record and one line, whatever it is called", async () => {
    await chat("google/gemini-one");
    await chat("gemini/gemini-one");
    const { items: providers } = (await gateway.manage("GET", "/providers")) as {
      items: { name: string; deployments: { offers: { model: string; calls: number }[] }[] }[];
    };
    expect(providers.filter(({ name }) => name === "gemini")).toEqual([]);
    const offers = providers.find(({ name }) => name === "google")?.deployments[0]?.offers;
    expect(offers?.find(({ model }) => model === "gemini-one")?.calls).toBe(2);
    const models = (await read<ModelList>("/v3/models")).data.map(({ id }) => id);
    expect(models.filter((id) => id.startsWith("gemini/"))).toEqual([]);
    expect(await read<{ id: string }>("/v3/models/gemini/gemini-3.8-flash")).toMatchObject({
      id: "google/gemini-3.8-flash",
    });
  });

  test("an unknown provider, model, feature or task is answered with the nearest name", async () => {
    expect((await chat("opnai/gpt-5")).error?.message).toContain("did you mean 'openai'?");
    const missing = async (path: string) => {
      const response = await fetch(`${gateway.url}${path}`);
      expect(response.status).toBe(404);
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    expect(await missing("/v3/models/openai/gpt-6-lunar")).toContain("did you mean 'openai/gpt-6-luna'?");
    expect(await missing("/v3/models/opnai/gpt-6-luna")).toContain("did you mean 'openai/gpt-6-luna'?");
    expect(await missing("/v3/info/txt")).toContain("did you mean 'text'?");
    expect(await missing("/v3/info/text/moderatoin")).toContain("did you mean 'moderation'?");
  });
});

describe("a task without a model", () => {
  const run = async (model: string) => {
    const body = { model, input: { text: "What a sentiment" } };
    const response = await ask(gateway.url, key, body, { path: "/v3/universal-ai" });
    return (await response.json()) as { status?: string; provider: string; model: string; detail?: unknown };
  };
  const task = "text/sentiment_analysis";

  test("is done by the provider's default model, which the listing names", async () => {
    const { models } = await read<SubfeatureDetail>(`/v3/info/${task}`);
    const listed = models.find(({ model }) => model === `${task}/openai`);
    expect(listed).toMatchObject({ default_model: "gpt-6-luna", configured: true });
    expect(await run(`${task}/openai`)).toMatchObject({ status: "success", provider: "openai", model: "gpt-6-luna" });
  });

  test("is done by the model that switchyard.yaml names", async () => {
    expect(await run(`${task}/mockchat`)).toMatchObject({ provider: "mockchat", model: "tiny" });
  });

  test("may name the provider by any of its names", async () => {
    expect(await run(`${task}/microsoft/small`)).toMatchObject({ provider: "microsoft", model: "small" });
    expect(await run(`${task}/azure/small`)).toMatchObject({ provider: "microsoft", model: "small" });
  });

  test("is refused by a provider that has no default, with both remedies", async () => {
    const { detail } = await run(`${task}/azure`);
    expect(JSON.stringify(detail)).toContain("providers.microsoft.default_model");
  });
});

describe("prices in the listing", () => {
  test("are those that are charged: by token for chat models, 0 for local engines", async () => {
    const { models } = await read<SubfeatureDetail>("/v3/info/text/sentiment_analysis");
    const priceOf = (name: string) => models.find(({ model }) => model === `text/sentiment_analysis/${name}`)?.pricing;
    expect(priceOf("local")).toEqual({ price: 0, price_unit_quantity: 1, price_unit_type: "request" });
    const token = { price_unit_quantity: 1_000_000, price_unit_type: "token" };
    const { data } = await read<ModelList>("/v3/models?provider=openai");
    const { input_cost_per_token: input, output_cost_per_token: output } =
      data.find(({ id }) => id === "openai/gpt-6-luna")?.pricing ?? {};
    expect(priceOf("openai/gpt-6-luna")).toMatchObject(token);
    expect(priceOf("openai/gpt-6-luna")?.price).toBeCloseTo((input ?? 0) * 1e6, 9);
    expect(priceOf("openai/gpt-6-luna")?.output_price).toBeCloseTo((output ?? 0) * 1e6, 9);
    expect(priceOf("openai")).toEqual(priceOf("openai/gpt-6-luna"));
    expect(priceOf("openai")?.price).toBeGreaterThan(0);
  });
});

test("DELETE /v3/upload/{id} deletes one file of the caller's, and 404s for another's and for unknown ones", async () => {
  const form = new FormData();
  form.set("file", new File(["hello"], "a.txt"));
  const headers = { authorization: `Bearer ${key}` };
  const uploaded = await fetch(`${gateway.url}/v3/upload`, { method: "POST", body: form, headers });
  const { file_id: id } = (await uploaded.json()) as { file_id: string };
  const remove = async (file: string, secret = key) => {
    const response = await fetch(`${gateway.url}/v3/upload/${file}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${secret}` },
    });
    const body = (await response.json()) as { deleted_count?: number; error?: { code: string } };
    return [response.status, body.deleted_count ?? body.error?.code];
  };
  expect(await remove(id, await gateway.createKey())).toEqual([404, "file_not_found"]);
  expect(await remove(crypto.randomUUID())).toEqual([404, "file_not_found"]);
  expect(await remove(id)).toEqual([200, 1]);
  expect(await remove(id)).toEqual([404, "file_not_found"]);
});
