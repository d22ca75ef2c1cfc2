// A model that a vendor knows under several spellings is one model: for limits, allowed models, prices, deployments and the ledger.

import { describe, expect, test } from "bun:test";
import { answer } from "../support/answers.ts";
import { ask, chatPath, readError } from "../support/chat.ts";
import { answerOf } from "../support/gemini.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor, type VendorRequest } from "../support/vendor.ts";

const vendor = await startVendor(({ path }: VendorRequest) => {
  if (path.includes("batchEmbed")) return answer(200, { embeddings: [{ values: [1, 0] }] });
  if (!path.includes("/api/chat")) return answer(200, answerOf([{ text: '{"result":"Hi"}' }]));
  const message = { role: "assistant", content: "Hi" };
  return answer(200, { model: "llama3", message, done: true, prompt_eval_count: 5, eval_count: 3 });
});
const base_url = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "0" },
  config: {
    providers: {
      gemini: { base_url, api_key: "key-of-a-test" },
      ollama: { base_url },
      tuned: { dialect: "gemini", deployments: [{ base_url, api_key: "key-of-a-test", models: ["models/gemini-9"] }] },
    },
    prices: { "ollama/library/priced": { input: 2, output: 0 } },
  },
});

const bodies = {
  chat: { path: chatPath, body: { messages: [{ role: "user", content: "hi" }] } },
  embeddings: { path: "/v3/embeddings", body: { input: "hi" } },
  task: { path: "/v3/universal-ai", body: { input: { text: "hi", output_sentences: 1 } } },
} as const;
type Route = keyof typeof bodies;

const send = (route: Route, key: string, model: string) => {
  const { path, body } = bodies[route];
  return ask(gateway.url, key, { ...body, model }, { path });
};

describe("a limit of a model", () => {
  test.each([
    ["chat", "gemini/gemini-2.5-pro", "gemini/gemini-2.5-pro", "gemini/models/gemini-2.5-pro"],
    ["chat", "google/gemini-2.5-pro", "gemini/models/gemini-2.5-pro", "google/models/models/gemini-2.5-pro"],
    ["chat", "gemini/models/gemini-2.5-*", "gemini/gemini-2.5-pro", "gemini/models/gemini-2.5-pro"],
    ["chat", "gemini/gemini-2.5-pro", "gemini/gemini-2.5-pro", "gemini/Gemini-2.5-PRO"],
    ["chat", "ollama/llama3*", "ollama/llama3", "ollama/library/llama3:latest"],
    ["chat", "ollama/library/llama3", "ollama/registry.ollama.ai/library/llama3", "ollama/llama3"],
    ["embeddings", "gemini/gemini-embedding-001", "gemini/gemini-embedding-001", "gemini/models/gemini-embedding-001"],
    [
      "task",
      "gemini/gemini-2.5-pro",
      "text/summarize/gemini/gemini-2.5-pro",
      "text/summarize/gemini/models/gemini-2.5-pro",
    ],
    ["task", "text/summarize/gemini/models/*", "text/summarize/gemini", "text/summarize/gemini/models/gemini-2.5-pro"],
  ] as const)("%s: %s counts %s and %s together", async (route, pattern, first, second) => {
    const model_limits = [{ model: pattern, rate_limit: { requests_per_minute: 1 } }];
    const key = await gateway.createKey({ model_limits });
    const answered = await send(route, key, first);
    expect([answered.status, await answered.text()]).toEqual([200, expect.any(String)]);
    expect(await readError(await send(route, key, second))).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  });
});

test.each([
  ["chat", "gemini/gemini-2.5-pro", "gemini/models/gemini-2.5-pro", 200],
  ["chat", "gemini/models/gemini-2.5-pro", "gemini/models/gemini-2.5-pro", 200],
  ["chat", "gemini/gemini-2.5-pro", "gemini/models/gemini-2.5-flash", 403],
  // Only the spelling has such a beginning, and not the model.
  ["chat", "gemini/m*", "gemini/models/gemini-2.5-pro", 403],
  ["chat", "ollama/lib*", "ollama/library/llama3", 403],
  ["chat", "ollama/llama3", "ollama/library/llama3", 200],
  ["chat", "ollama/llama3", "ollama/llama3:8b", 403],
  ["task", "text/summarize/google/gemini-2.5-pro", "text/summarize/gemini/models/gemini-2.5-pro", 200],
] as const)("%s: a key for %s that names %s gets %d", async (route, pattern, model, status) => {
  const key = await gateway.createKey({ allowed_models: [pattern] });
  expect((await send(route, key, model)).status).toBe(status);
});

test("a request names the model in the vendor's own way", async () => {
  const key = await gateway.createKey({});
  for (const [model, path] of [
    ["gemini/models/gemini-2.5-pro", "/models/gemini-2.5-pro:generateContent"],
    ["gemini/models/tunedModels/mine", "/tunedModels/mine:generateContent"],
  ] as const) {
    expect((await send("chat", key, model)).status).toBe(200);
    expect(vendor.last().path).toBe(path);
  }
  expect((await send("chat", key, "ollama/library/llama3:8b")).status).toBe(200);
  expect(vendor.last().model).toBe("llama3:8b");
});

test("a deployment serves its models under each of their spellings", async () => {
  const key = await gateway.createKey({});
  for (const model of ["tuned/gemini-9", "tuned/models/gemini-9"])
    expect((await send("chat", key, model)).status).toBe(200);
  expect((await send("chat", key, "tuned/gemini-8")).status).toBe(404);
});

test("a price of the operator applies to each spelling", async () => {
  const key = await gateway.createKey({});
  for (const model of ["ollama/priced", "ollama/library/priced"]) {
    const { cost } = (await (await send("chat", key, model)).json()) as { cost: number };
    expect(cost).toBe(0.000_01);
  }
});

test("GET /v3/models finds the model under each spelling", async () => {
  const headers = { authorization: `Bearer ${await gateway.createKey({})}` };
  const response = await fetch(`${gateway.url}/v3/models/gemini/models/gemini-3.8-flash`, { headers });
  expect(await response.json()).toMatchObject({ id: "google/gemini-3.8-flash" });
});
