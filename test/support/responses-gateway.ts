// A gateway whose providers have the Responses API themselves.

import { beforeEach, expect } from "bun:test";
import { providerSecret } from "./gateway-settings.ts";
import { requestBytes } from "./raw-http.ts";
import { createClient, responsesPath } from "./responses.ts";
import { startResponsesVendor, vendorIds } from "./responses-vendor.ts";
import { sharedGateway } from "./test-gateway.ts";

/** It stops after the last test of the file. */
export async function openResponsesGateway() {
  const vendor = await startResponsesVendor();
  const origin = `http://127.0.0.1:${vendor.port}`;
  const gateway = await sharedGateway({
    vendor,
    config: {
      prices: { "mock/*": { input: 2, output: 10 } },
      aliases: { either: ["mock/echo", "mock2/echo"] },
      providers: {
        passing: { dialect: "openai", base_url: `${origin}/passing/v1`, api_key: "k", responses: "stateless" },
        pair: {
          dialect: "openai",
          responses: "native",
          deployments: [
            { name: "one", base_url: `${origin}/pair/v1`, api_key: "key-of-one" },
            { name: "two", base_url: `${origin}/pair/v1`, api_key: "key-of-two" },
          ],
        },
      },
    },
  });
  const client = createClient(gateway, await gateway.createKey());
  beforeEach(() => vendor.clear());

  /** A streamed or plain request as bytes, for clients that leave. */
  function requestOf(body: object): Buffer {
    const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/json" };
    return requestBytes({ path: responsesPath, headers, body: JSON.stringify(body) });
  }

  return { vendor, gateway, client, requestOf };
}

/** The text contains no id and no secret of the vendor. */
export function expectOurIdsOnly(text: string): void {
  expect(text).not.toMatch(vendorIds);
  expect(text).not.toContain(providerSecret);
}
