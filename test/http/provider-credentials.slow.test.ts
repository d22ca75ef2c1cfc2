// Credentials of providers in the store: set, tested, rotated and removed over HTTP while the gateway runs.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, chatChunk, errorBody, event, lastHttpChunk, streamHead, until, write } from "../support/answers.ts";
import { ask, askTask, hello, readCompletion, readError } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const encryptionKey = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  env: {
    SWITCHYARD_ENCRYPTION_KEY: encryptionKey,
    SWITCHYARD_BREAKER_FAILURES: "2",
    SWITCHYARD_RETRIES: "0",
    GROQ_API_KEY: "sk-groq-of-the-environment",
  },
  config: {
    providers: {
      sandbox: {},
      affinda: false,
      pool: {
        deployments: [
          { name: "a", base_url: vendor.url, api_key: "sk-pool-a-of-the-file" },
          { name: "b", base_url: vendor.url, api_key: "sk-pool-b-of-the-file" },
        ],
      },
    },
  },
});
const key = await gateway.createKey();
const newSecret = "sk-stored-SECRET-0123456789";

async function manage(method: string, path: string, body?: unknown, target = gateway): Promise<Response> {
  return await fetch(`${target.url}/v3/manage/providers${path}`, {
    method,
    headers: { authorization: `Bearer ${target.adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function change(method: string, path: string, body?: unknown) {
  const response = await manage(method, path, body);
  const text = await response.text();
  expect(text).not.toContain(newSecret);
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

async function authorizationOf(model: string): Promise<string | undefined> {
  await readCompletion(await ask(gateway.url, key, { ...hello, model }));
  return vendor.last().headers["authorization"];
}

beforeEach(() => vendor.clear());
afterAll(async () => {
  expect(gateway.log()).not.toContain(newSecret);
});

describe("PUT /v3/manage/providers/{name}", () => {
  test("sets a provider up at once: calls, listings and health show it, and the secret never comes back", async () => {
    expect(await readError(await ask(gateway.url, key, { ...hello, model: "openai/gpt-x" }))).toMatchObject({
      code: "provider_not_configured",
    });
    const listed = async () => {
      const response = await fetch(`${gateway.url}/v3/models`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await response.json()) as { data: { id: string }[] };
      return data.filter(({ id }) => id.startsWith("openai/")).length;
    };
    expect(await listed()).toBe(0);
    const set = await change("PUT", "/openai", { api_key: newSecret, base_url: vendor.url });
    expect(set).toMatchObject({
      name: "openai",
      configured: true,
      missing_setting: null,
      credentials: "store",
      in_force: [{ deployment: "openai", key: { kind: "store", name: null }, address: { kind: "store", name: null } }],
      stored: [{ name: "openai", api_key: "…6789", base_url: vendor.url, settings: {} }],
      overridden: [],
    });
    expect(await change("GET", "/openai")).toEqual(set);
    expect(await authorizationOf("openai/gpt-x")).toBe(`Bearer ${newSecret}`);
    expect(await listed()).toBeGreaterThan(3);
    // Tasks with a chat model of the provider work as well.
    vendor.next(
      answer(200, {
        choices: [{ message: { content: '{"general_sentiment":"Positive","general_sentiment_rate":1,"items":[]}' } }],
      }),
    );
    const info = await fetch(`${gateway.url}/v3/info/text/sentiment_analysis`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await info.text()).toContain("text/sentiment_analysis/openai");
    expect(await change("DELETE", "/openai")).toEqual({ name: "openai", deleted: true });
    expect(await readError(await ask(gateway.url, key, { ...hello, model: "openai/gpt-x" }))).toMatchObject({
      code: "provider_not_configured",
    });
    expect(await listed()).toBe(0);
  });

  test("takes precedence over the file and the environment, says so, and DELETE gives them back", async () => {
    expect(await authorizationOf("mock/echo")).toBe(`Bearer ${providerSecret}`);
    const set = await change("PUT", "/mock", { api_key: newSecret });
    expect(set.in_force).toEqual([
      {
        deployment: "mock",
        key: { kind: "store", name: null },
        address: { kind: "file", name: "providers.mock.base_url" },
      },
    ]);
    expect(set.overridden).toEqual(["providers.mock.api_key"]);
    expect(await authorizationOf("mock/echo")).toBe(`Bearer ${newSecret}`);
    await change("DELETE", "/mock");
    expect(await authorizationOf("mock/echo")).toBe(`Bearer ${providerSecret}`);
    expect((await change("PUT", "/groq", { api_key: newSecret })).overridden).toEqual(["GROQ_API_KEY"]);
    await change("DELETE", "/groq");
    expect((await change("GET", "/groq")).in_force[0].key).toEqual({ kind: "environment", name: "GROQ_API_KEY" });
  });

  test("sets up the tasks of a provider as well", async () => {
    const input = { text: "Hello", target_language: "fr" };
    const translate = () => askTask(gateway.url, key, { model: "translation/automatic_translation/deepl", input });
    expect(await readError(await translate())).toMatchObject({ status: 503, code: "provider_not_configured" });
    await change("PUT", "/deepl", { api_key: newSecret, base_url: `http://127.0.0.1:${vendor.port}` });
    vendor.next(answer(200, { translations: [{ text: "Bonjour" }] }));
    expect(await (await translate()).json()).toMatchObject({ output: { text: "Bonjour" } });
    expect(vendor.last().headers["authorization"]).toBe(`DeepL-Auth-Key ${newSecret}`);
    await change("DELETE", "/deepl");
    expect(await readError(await translate())).toMatchObject({ status: 503, code: "provider_not_configured" });
  });

  test("replaces all deployments of the file", async () => {
    const set = await change("PUT", "/pool", { api_key: newSecret, base_url: vendor.url });
    expect(set.deployments.map(({ name }: { name: string }) => name)).toEqual(["pool"]);
    expect(set.overridden).toContain("providers.pool.deployments.0.api_key");
    expect(await authorizationOf("pool/echo")).toBe(`Bearer ${newSecret}`);
    await change("DELETE", "/pool");
    expect((await change("GET", "/pool")).deployments).toHaveLength(2);
  });

  test("serves a model API under its own name, and settings beside the key", async () => {
    const azure = await change("PUT", "/azure", { api_key: newSecret, settings: { AZURE_RESOURCE: "my-resource" } });
    expect(azure).toMatchObject({
      name: "microsoft",
      configured: true,
      stored: [{ name: "azure", settings: { AZURE_RESOURCE: "my-resource" } }],
    });
    expect(azure.deployments[0].base_url).toBe("https://my-resource.openai.azure.com");
    const settings = { AWS_ACCESS_KEY_ID: "AKIA0123456789ABCDEF", AWS_SECRET_ACCESS_KEY: newSecret };
    expect(await change("PUT", "/amazon", { settings })).toMatchObject({ missing_setting: "AWS_REGION" });
    const amazon = await change("PUT", "/amazon", { settings: { ...settings, AWS_REGION: "eu-central-1" } });
    expect(amazon.stored[0].settings).toEqual({
      AWS_ACCESS_KEY_ID: "…CDEF",
      AWS_SECRET_ACCESS_KEY: "…6789",
      AWS_REGION: "eu-central-1",
    });
    expect(amazon).toMatchObject({ configured: true, missing_setting: null });
    await change("DELETE", "/azure");
    await change("DELETE", "/amazon");
  });

  test("does not disturb a running stream, which ends with the earlier key", async () => {
    const gate = Promise.withResolvers<void>();
    vendor.next([
      streamHead(),
      event(chatChunk({ content: "before " })),
      until(gate.promise),
      event(chatChunk({ content: "after" }, "stop")),
      write("e\r\ndata: [DONE]\n\n\r\n"),
      lastHttpChunk,
    ]);
    const response = await ask(gateway.url, key, { ...hello, stream: true });
    expect(vendor.last().headers["authorization"]).toBe(`Bearer ${providerSecret}`);
    await change("PUT", "/mock", { api_key: newSecret });
    expect(await authorizationOf("mock/echo")).toBe(`Bearer ${newSecret}`);
    gate.resolve();
    expect(readChatStream(await response.text()).content).toBe("before after");
    await change("DELETE", "/mock");
  });

  test("resets the health record and the circuit breaker of the provider", async () => {
    const failing = async () => {
      vendor.next(answer(500, errorBody("broken")));
      return (await readError(await ask(gateway.url, key, { ...hello, model: "mock2/echo" }))).code;
    };
    expect([await failing(), await failing(), await failing()]).toEqual([
      "provider_error",
      "provider_error",
      "provider_unavailable",
    ]);
    vendor.clear();
    await change("PUT", "/mock2", { api_key: newSecret });
    const [deployment] = (await change("GET", "/mock2")).deployments;
    expect(deployment.offers).toEqual([]);
    expect(await authorizationOf("mock2/echo")).toBe(`Bearer ${newSecret}`);
    await change("DELETE", "/mock2");
  });

  test("refuses what cannot be used, with the place and the nearest name", async () => {
    const refused = async (path: string, body: unknown, method = "PUT") => {
      const response = await manage(method, path, body);
      const text = await response.clone().text();
      expect(text).not.toContain(newSecret);
      const { status, code, param, message } = await readError(response);
      return { status, code, param, message };
    };
    const api_key = newSecret;
    expect(await refused("/opnai", { api_key })).toMatchObject({
      ...{ status: 404, code: "provider_not_found", message: expect.stringContaining("'openai'") },
    });
    expect(await refused("/affinda", { api_key })).toMatchObject({
      status: 404,
      message: expect.stringContaining("switched off"),
    });
    expect(await refused("/openai", {})).toMatchObject({ status: 422, code: "missing", param: "api_key" });
    expect(await refused("/openai", { api_kye: newSecret })).toMatchObject({
      ...{ status: 422, code: "extra_forbidden", message: expect.stringContaining("'api_key'") },
    });
    expect(await refused("/openai", { api_key: 7 })).toMatchObject({ status: 422, param: "api_key" });
    expect(await refused("/openai", { api_key: "" })).toMatchObject({ status: 422, param: "api_key" });
    expect(await refused("/openai", { api_key: `${newSecret}\nx` })).toMatchObject({ status: 422, param: "api_key" });
    for (const base_url of ["localhost", "ftp://x", "http://user:pw@h/v1", "http://h/v1?a=b"])
      expect(await refused("/openai", { base_url })).toMatchObject({ status: 422, param: "base_url" });
    expect(await refused("/amazon", { settings: { AWS_REGON: "x" } })).toMatchObject({
      ...{ status: 422, param: "settings.AWS_REGON", message: expect.stringContaining("'AWS_REGION'") },
    });
    expect(await refused("/openai", { settings: { PATH: "x" } })).toMatchObject({
      ...{ status: 422, message: expect.stringContaining("has no further settings") },
    });
    expect(await refused("/vertexai", { api_key: '{"type":"service_account"}' })).toMatchObject({ status: 422 });
    expect(await refused("/sandbox", { api_key })).toMatchObject({ status: 409, code: "provider_conflict" });
    expect(await refused("/openai", undefined, "DELETE")).toMatchObject({ status: 404, code: "credentials_not_found" });
    expect(await refused("/openai/rotate", { api_key }, "POST")).toMatchObject({
      status: 404,
      code: "credentials_not_found",
    });
    expect(await refused("/openai/rotate", {}, "POST")).toMatchObject({ status: 422, code: "missing" });
    expect(await refused("/openai/test", undefined, "POST")).toMatchObject({
      ...{ status: 503, code: "provider_not_configured", message: expect.stringContaining("OPENAI_API_KEY") },
    });
    // Nothing of it was stored.
    expect((await change("GET", "/openai")).stored).toEqual([]);
    const response = await fetch(`${gateway.url}/v3/manage/providers/openai`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await readError(response)).toMatchObject({ status: 403, code: "insufficient_scope" });
  });

  test("needs an encryption key", async () => {
    await using plain = await testGateway({ vendor });
    const response = await manage("PUT", "/openai", { api_key: newSecret }, plain);
    expect(await readError(response)).toMatchObject({
      ...{ status: 409, code: "provider_conflict", message: expect.stringContaining("SWITCHYARD_ENCRYPTION_KEY") },
    });
  });
});

describe("POST /v3/manage/providers/{name}/test", () => {
  test("says what happened, also while the circuit is open", async () => {
    const test = async (body?: unknown) => await change("POST", "/mockchat/test", body);
    vendor.next(answer(401, errorBody(`wrong key ${providerSecret}`)));
    const refused = await test({ model: "echo" });
    expect(refused).toMatchObject({
      ok: false,
      results: [{ outcome: "credentials_refused", error: { code: "provider_auth_failed" } }],
    });
    expect(JSON.stringify(refused)).not.toContain(providerSecret);
    for (let count = 0; count < 3; count++) {
      vendor.next(answer(500, errorBody("broken")));
      await ask(gateway.url, key, { ...hello, model: "mockchat/echo" });
    }
    vendor.clear();
    expect(await test({ model: "echo" })).toMatchObject({
      provider: "mockchat",
      ok: true,
      results: [{ deployment: "mockchat", outcome: "completed", called: "echo", cost: null, error: null }],
    });
    expect(JSON.parse(vendor.last().body.toString())).toEqual({
      model: "echo",
      messages: [{ role: "user", content: "Say OK." }],
      max_tokens: 16,
    });
    vendor.next(answer(404, errorBody("no such model")));
    expect(await test({ model: "none" })).toMatchObject({ ok: false, results: [{ outcome: "request_refused" }] });
    await vendor.whileRefusing(async () => {
      expect(await test({ model: "echo" })).toMatchObject({ ok: false, results: [{ outcome: "unreachable" }] });
    });
    // Without a known model, the provider lists them.
    vendor.next(answer(200, { data: [] }));
    expect(await test()).toMatchObject({ ok: true, results: [{ called: "GET /models", cost: 0 }] });
    expect(await readError(await manage("POST", "/mockchat/test", { modle: "x" }))).toMatchObject({ status: 422 });
  });

  test("tests each deployment, the tasks of a provider without models, and the sandbox", async () => {
    expect(await change("POST", "/pool/test", { model: "echo" })).toMatchObject({
      ok: true,
      results: [{ deployment: "pool#a" }, { deployment: "pool#b" }],
    });
    await change("PUT", "/deepl", { api_key: newSecret, base_url: `http://127.0.0.1:${vendor.port}` });
    vendor.next(answer(200, { translations: [{ text: "Bonjour" }] }));
    expect(await change("POST", "/deepl/test")).toMatchObject({
      ok: true,
      results: [{ outcome: "completed", called: "translation/automatic_translation" }],
    });
    expect(vendor.last().headers["authorization"]).toBe(`DeepL-Auth-Key ${newSecret}`);
    vendor.next(answer(403, { message: "no" }));
    expect(await change("POST", "/deepl/test")).toMatchObject({
      ok: false,
      results: [{ outcome: "credentials_refused" }],
    });
    await change("DELETE", "/deepl");
    await change("PUT", "/klippa", { api_key: newSecret });
    expect(await change("POST", "/klippa/test")).toMatchObject({ ok: null, results: [{ outcome: "not_tested" }] });
    await change("DELETE", "/klippa");
    expect(await change("POST", "/sandbox/test")).toMatchObject({ ok: true });
  });
});

describe("POST /v3/manage/providers/{name}/rotate", () => {
  test.each([
    ["replaced", "PUT", { api_key: "sk-the-key-of-someone-else" }, [{ api_key: "…else" }]],
    ["removed", "DELETE", undefined, []],
  ])("changes nothing when the credentials are %s during the call that tries the new ones", async (...the) => {
    const [, method, body, stored] = the;
    await change("PUT", "/openai", { api_key: "sk-the-first-stored-key", base_url: vendor.url });
    const gate = Promise.withResolvers<void>();
    const completion = answer(200, { choices: [{ message: { content: "OK" }, finish_reason: "stop" }] });
    vendor.next([until(gate.promise), ...completion]);
    const rotating = manage("POST", "/openai/rotate", { api_key: newSecret });
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    await change(method, "/openai", body);
    gate.resolve();
    expect(await readError(await rotating)).toMatchObject({
      ...{ status: 409, code: "provider_conflict", message: expect.stringContaining("were changed or removed") },
    });
    expect((await change("GET", "/openai")).stored).toMatchObject(stored);
    expect((await change("GET", "/openai")).stored).toHaveLength(stored.length);
    if (stored.length > 0) await change("DELETE", "/openai");
  });

  test("replaces the key only if the provider accepts the new one, and keeps the rest", async () => {
    await change("PUT", "/openai", { api_key: "sk-the-first-stored-key", base_url: vendor.url });
    vendor.next(answer(401, errorBody("wrong key")));
    expect(await readError(await manage("POST", "/openai/rotate", { api_key: newSecret }))).toMatchObject({
      ...{ status: 502, code: "provider_auth_failed", message: expect.stringContaining("were not stored") },
    });
    expect(await authorizationOf("openai/gpt-x")).toBe("Bearer sk-the-first-stored-key");
    const rotated = await change("POST", "/openai/rotate", { api_key: newSecret });
    expect(vendor.last().headers["authorization"]).toBe(`Bearer ${newSecret}`);
    expect(rotated.stored).toMatchObject([{ api_key: "…6789", base_url: vendor.url }]);
    expect(await authorizationOf("openai/gpt-x")).toBe(`Bearer ${newSecret}`);
    const called = vendor.requests.length;
    await change("POST", "/openai/rotate", { api_key: "sk-the-third-stored-key", test: false });
    expect(vendor.requests).toHaveLength(called);
    expect(await authorizationOf("openai/gpt-x")).toBe("Bearer sk-the-third-stored-key");
    await change("DELETE", "/openai");
    const { items } = (await gateway.manage("GET", "/audit?target=openai&limit=2")) as {
      items: { action: string; before: object; after: object }[];
    };
    expect(items[0]).toMatchObject({
      ...{
        action: "provider.remove",
        outcome: "done",
        before: { stored: [{ api_key: "…-key" }] },
        after: { stored: [] },
      },
    });
    expect(items[1]?.action).toBe("provider.rotate");
    expect(JSON.stringify(items)).not.toContain("sk-");
  });
});

test("credentials survive a restart, encrypted; another encryption key is refused by name", async () => {
  const first = await testGateway({ vendor, env: { SWITCHYARD_ENCRYPTION_KEY: encryptionKey } });
  const response = await manage("PUT", "/openai", { api_key: newSecret, base_url: vendor.url }, first);
  expect(response.status).toBe(200);
  const files = readdirSync(first.dataFolder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  for (const file of files)
    expect(readFileSync(join(file.parentPath, file.name)).includes(newSecret), file.name).toBe(false);
  const env = { SWITCHYARD_DATA_DIR: first.dataFolder };
  {
    await using again = await testGateway({ vendor, env: { ...env, SWITCHYARD_ENCRYPTION_KEY: encryptionKey } });
    const userKey = await again.createKey();
    await readCompletion(await ask(again.url, userKey, { ...hello, model: "openai/gpt-x" }));
    expect(vendor.last().headers["authorization"]).toBe(`Bearer ${newSecret}`);
  }
  const other = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
  const attempt = testGateway({ vendor, env: { ...env, SWITCHYARD_ENCRYPTION_KEY: other } });
  expect(String(await attempt.catch((error) => error))).toContain("SWITCHYARD_ENCRYPTION_KEY");
  await first.stop();
});
