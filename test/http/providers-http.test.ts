// GET /v3/manage/providers: how each provider is doing, for the operator and for nobody else.

import { expect, test } from "bun:test";
import type { ProviderTest } from "../../src/contract/providers.ts";
import { rows } from "../../src/providers/index.ts";
import { answer, completion, wait } from "../support/answers.ts";
import { ask, hello, readError } from "../support/chat.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { readOffer, readProvider, readProviders } from "../support/provider-states.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const at = `127.0.0.1:${vendor.port}/pool/v1`;
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "2", GROQ_API_KEY: "sk-groq-secret-1" },
  config: {
    providers: {
      pool: {
        headers: { "x-secret": "hidden-header-value" },
        deployments: [
          { name: "a", base_url: `http://someone:password@${at}`, api_key: "sk-pool-secret-a", weight: 3 },
          { name: "b", base_url: `http://${at}`, api_key: "${NOT_SET_ANYWHERE}", models: ["small"] },
          { name: "c", base_url: `http://${at}`, api_key: "sk-pool-secret-c", models: ["large"] },
        ],
      },
    },
  },
});
const key = await gateway.createKey();

function call(model: string): Promise<Response> {
  return ask(gateway.url, key, { ...hello, model });
}

test("is for management keys alone", async () => {
  const path = `${gateway.url}/v3/manage/providers`;
  expect((await readError(await fetch(path))).code).toBe("missing_api_key");
  const response = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
  expect(await readError(response)).toMatchObject({ status: 403, code: "insufficient_scope" });
});

test("lists every provider, and says which setting one is waiting for", async () => {
  const providers = await readProviders(gateway);
  const names = providers.map(({ name }) => name);
  expect(rows.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  const of = (wanted: string) => providers.find(({ name }) => name === wanted);
  expect(of("openai")).toMatchObject({ configured: false, missing_setting: "OPENAI_API_KEY", deployments: [] });
  expect(of("groq")).toMatchObject({ configured: true, missing_setting: null, healthy: null, last_error: null });
  expect(of("mock")).toMatchObject({ configured: true, dialect: "openai" });
});

test("shows the deployments that can be called, without a secret", async () => {
  const { deployments } = await readProvider(gateway, "pool");
  const base_url = `http://127.0.0.1:${vendor.port}/pool/v1`;
  expect(deployments).toEqual([
    { name: "pool#a", base_url, weight: 3, models: null, offers: [] },
    { name: "pool#c", base_url, weight: 1, models: ["large"], offers: [] },
  ]);
  const text = JSON.stringify(await readProviders(gateway));
  for (const secret of ["sk-pool", "sk-groq", "hidden-header", "password", providerSecret])
    expect(text).not.toContain(secret);
});

test("counts calls and failures, measures the time to the first byte, and remembers the last error", async () => {
  vendor.on("timed", [wait(120), ...answer(200, completion("well"))]);
  for (let count = 0; count < 3; count += 1) expect((await call("mock/timed")).status).toBe(200);
  const well = await readOffer(gateway, "mock/timed");
  expect(well).toMatchObject({ state: "closed", retry_in_ms: 0, calls: 3, failures: 0, last_error: null });
  expect(well.latency_ms).toBeWithin(115, 2_000);

  vendor.on("timed", answer(503, { error: { message: "closed for today" } }));
  const before = Date.now();
  await call("mock/timed");
  const failed = await readOffer(gateway, "mock/timed");
  expect(failed).toMatchObject({ calls: 4, failures: 1, last_error: { code: "provider_error" } });
  expect(failed.last_error?.message).toContain("closed for today");
  expect(Date.parse(failed.last_error?.at ?? "")).toBeWithin(before - 1, Date.now() + 1);
});

test("a provider is healthy while none of its circuits is open", async () => {
  expect((await call("mock2/echo")).status).toBe(200);
  expect(await readProvider(gateway, "mock2")).toMatchObject({ healthy: true, last_error: null });
  vendor.on("broken", answer(500, { error: { message: "down" } }));
  for (let count = 0; count < 2; count += 1) await call("mock2/broken");
  expect(await readProvider(gateway, "mock2")).toMatchObject({
    healthy: false,
    last_error: { code: "provider_error" },
    deployments: [
      {
        name: "mock2",
        offers: [
          { model: "echo", state: "closed" },
          { model: "broken", state: "open" },
        ],
      },
    ],
  });
});

test("says which process answered: each keeps its own account", async () => {
  const answered = (await gateway.manage("GET", "/providers")) as { process: number };
  expect(answered.process).toBe(process.pid);
});

test("a test of the local engines performs a task of theirs, and no address is shown for what runs in the gateway", async () => {
  for (const name of ["local", "sandbox"]) {
    const tested = (await gateway.manage("POST", `/providers/${name}/test`)) as ProviderTest;
    expect(tested).toMatchObject({ provider: name, ok: true, results: [{ outcome: "completed", error: null }] });
    const { built_in, deployments } = await readProvider(gateway, name);
    expect([built_in, deployments.map(({ base_url }) => base_url)]).toEqual([true, [null]]);
  }
});
