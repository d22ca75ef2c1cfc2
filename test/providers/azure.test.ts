// Azure OpenAI as an operator sets it up: both of its addressings, and both kinds of keys.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { configureProviders } from "../../src/providers/configure.ts";
import { rows } from "../../src/providers/index.ts";
import { ask, hello, readCompletion } from "../support/chat.ts";
import type { Gateway } from "../support/gateway-settings.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";

// Invented: three parts of base64url, as the vendor's identity service makes them.
const token = `${base64({ alg: "RS256", typ: "JWT" })}.${base64({ aud: "cognitive" })}.c2lnbmF0dXJl`;

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

let vendor: Vendor;
const gateways: Gateway[] = [];

beforeAll(async () => {
  vendor = await startVendor();
});

afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await vendor?.stop();
});

async function callWith(env: Readonly<Record<string, string>>, model: string, path?: string) {
  const gateway = await testGateway({ vendor, env });
  gateways.push(gateway);
  vendor.clear();
  const body = path === undefined ? { ...hello, model } : { model, input: "text" };
  const response = await ask(gateway.url, await gateway.createKey(), body, path === undefined ? {} : { path });
  return { response, sent: vendor.last() };
}

test("with an endpoint and a key: the v1 paths, and the key in its own header", async () => {
  const endpoint = `http://127.0.0.1:${vendor.port}/`;
  const env = { AZURE_OPENAI_ENDPOINT: endpoint, AZURE_OPENAI_API_KEY: "a1b2c3" };
  const { response, sent } = await callWith(env, "azure/my-gpt");
  expect((await readCompletion(response)).provider).toBe("microsoft");
  expect(sent.path).toBe("/openai/v1/chat/completions");
  expect(sent.model).toBe("my-gpt");
  expect(sent.headers["api-key"]).toBe("a1b2c3");
  expect(sent.headers).not.toHaveProperty("authorization");
});

test("with a version, the Responses API still has its v1 path", async () => {
  const gateway = await testGateway({
    vendor,
    env: {
      AZURE_BASE_URL: `http://127.0.0.1:${vendor.port}`,
      AZURE_OPENAI_API_VERSION: "2024-10-21",
      AZURE_API_KEY: "a1b2c3",
    },
  });
  gateways.push(gateway);
  const key = await gateway.createKey();
  const tools = [{ name: "f", input_schema: { type: "object" } }];
  const message = { model: "azure/gpt-5.6", max_tokens: 100, tools, messages: [{ role: "user", content: "Hi" }] };
  for (const [path, body] of [
    ["/v3/responses", { model: "azure/gpt-5.6", input: "Hi" }],
    // A model whose chat endpoint refuses tools.
    ["/v3/v1/messages", message],
  ] as const) {
    vendor.clear();
    await ask(gateway.url, key, body, { path });
    expect(vendor.last().path).toBe("/openai/v1/responses");
  }
});

test("with a version: the path names the deployment, and a token goes as a bearer token", async () => {
  const env = {
    AZURE_BASE_URL: `http://127.0.0.1:${vendor.port}/openai`,
    AZURE_OPENAI_API_VERSION: "2024-10-21",
    AZURE_API_KEY: token,
  };
  const { sent } = await callWith(env, "azure/my-gpt/eu:1");
  // The name is one part of the path.
  expect(sent.path).toBe("/openai/deployments/my-gpt%2Feu%3A1/chat/completions?api-version=2024-10-21");
  expect(sent.headers["authorization"]).toBe(`Bearer ${token}`);
  expect(sent.headers).not.toHaveProperty("api-key");
  const embedding = await callWith(env, "azure/my-vectors", "/v3/embeddings");
  expect(embedding.sent.path).toBe("/openai/deployments/my-vectors/embeddings?api-version=2024-10-21");
});

test("every way to write the address leads to the same place", () => {
  const deploymentWith = (settings: Readonly<Record<string, string>>) => {
    const read = (name: string) => ({ AZURE_API_KEY: "key", ...settings })[name] ?? null;
    const [deployment] = configureProviders(rows, {}, read).get("microsoft")?.deployments ?? [];
    return [deployment?.baseUrl, deployment?.chatPath, deployment?.embeddingsPath];
  };
  const address = "https://acme.openai.azure.com";
  const v1 = [address, "/openai/v1/chat/completions", "/openai/v1/embeddings"];
  const versioned = [
    address,
    "/openai/deployments/{model}/chat/completions?api-version=2024-10-21",
    "/openai/deployments/{model}/embeddings?api-version=2024-10-21",
  ];
  for (const settings of [
    { AZURE_RESOURCE: "acme" },
    { AZURE_RESOURCE_NAME: "acme" },
    { AZURE_OPENAI_ENDPOINT: `${address}/` },
    { AZURE_BASE_URL: `${address}/openai/v1/` },
    { AZURE_BASE_URL: `${address}/openai` },
  ]) {
    expect(deploymentWith(settings)).toEqual(v1);
    expect(deploymentWith({ ...settings, AZURE_API_VERSION: "2024-10-21" })).toEqual(versioned);
  }
});
