// A provider whose address is the gateway itself counts as not set up: the gateway would call itself, and be refused without a key.

import { expect, test } from "bun:test";
import { isOwnAddress } from "../../src/config/own-address.ts";
import { readConfig } from "../../src/config.ts";
import { findOwnAddresses, setUpProviders } from "../../src/provider-setup.ts";
import { ask, hello, readError } from "../support/chat.ts";
import { findFreePort } from "../support/free-port.ts";
import { testGateway } from "../support/test-gateway.ts";

test.each([
  ["127.0.0.1", "http://127.0.0.1:8080/v1", true],
  ["127.0.0.1", "http://localhost:8080/v1", true],
  ["127.0.0.1", "http://127.0.0.1:8081/v1", true],
  ["127.0.0.1", "http://127.0.0.1:8082/v1", true],
  ["127.0.0.1", "http://127.0.0.1:8083/v1", false],
  ["127.0.0.1", "http://127.0.0.1/v1", false],
  ["127.0.0.1", "http://127.0.0.2:8080/v1", false],
  ["127.0.0.1", "http://[::1]:8080/v1", false],
  ["::1", "http://[::1]:8080/v1", true],
  ["localhost", "http://127.0.0.1:8080/v1", true],
  ["0.0.0.0", "http://127.0.0.1:8080/v1", true],
  ["::", "http://127.0.0.1:8080/v1", true],
  ["0.0.0.0", "http://10.0.0.5:8080/v1", false],
  ["10.0.0.5", "http://10.0.0.5:8080/v1", true],
  ["10.0.0.5", "http://127.0.0.1:8080/v1", false],
])("for a gateway that listens on %s, it is %s: %p", (host, address, isOwn) => {
  const listeners = { host, port: 8080, adminPort: 8081, metricsPort: 8082 };
  expect(isOwnAddress(listeners, new URL(address))).toBe(isOwn);
});

test("a server of this machine is the gateway only if the gateway has its port", () => {
  const here = setUpProviders(readConfig({})).providers.get("llamacpp");
  expect([here?.deployments.length, here?.missingSetting]).toEqual([
    0,
    "LLAMACPP_BASE_URL (http://127.0.0.1:8080 is this gateway itself)",
  ]);
  const elsewhere = setUpProviders(readConfig({ SWITCHYARD_PORT: "9000" })).providers.get("llamacpp");
  expect([elsewhere?.deployments[0]?.baseUrl, elsewhere?.missingSetting]).toEqual(["http://127.0.0.1:8080/v1", null]);
});

test("a call, a test and the check of the configuration say that the address is the gateway", async () => {
  const port = await findFreePort();
  const address = `http://localhost:${port}/v1`;
  const env = { SWITCHYARD_PORT: String(port), OPENAI_BASE_URL: address, OPENAI_API_KEY: "sk-of-a-test" };
  const providers = { mine: { deployments: [{ base_url: address, api_key: "k" }] } };
  await using gateway = await testGateway({ env, config: { providers } });
  const key = await gateway.createKey();
  for (const [name, setting] of [
    ["openai", "OPENAI_BASE_URL"],
    ["mine", "providers.mine.deployments.0.base_url"],
  ] as const) {
    const response = await ask(gateway.url, key, { ...hello, model: `${name}/m` });
    const { status, code, message } = await readError(response);
    expect([status, code]).toEqual([503, "provider_not_configured"]);
    expect(message).toContain(`set ${setting} (http://localhost:${port} is this gateway itself)`);
    await expect(gateway.manage("POST", `/providers/${name}/test`)).rejects.toThrow("is this gateway itself");
  }
  const config = readConfig({ ...env, UNRELATED_BASE_URL: address });
  expect(findOwnAddresses(config, setUpProviders(config))).toMatchObject([
    { path: "OPENAI_BASE_URL", message: expect.stringContaining("another SWITCHYARD_PORT") },
  ]);
});
