// A gateway for chat completions, with short timeouts and a vendor that the test scripts.

import { beforeEach, expect } from "bun:test";
import { ask, hello } from "./chat.ts";
import { readChatStream } from "./events.ts";
import { sharedGateway } from "./test-gateway.ts";
import { startVendor } from "./vendor.ts";

// Nothing in its form gives it away as a key.
export const formlessSecret = "c0ffee7d1f0c9e2b";

export const streamed = { ...hello, stream: true };

/** It stops after the last test of the file. */
export async function openChatGateway() {
  const vendor = await startVendor();
  const gateway = await sharedGateway({
    vendor,
    env: {
      // Long enough for answers on a busy machine; a few tests wait for it.
      SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: "4000",
      SWITCHYARD_IDLE_TIMEOUT_MS: "5000",
      SWITCHYARD_TOTAL_TIMEOUT_MS: "20000",
      SWITCHYARD_HEARTBEAT_MS: "200",
      // No circuit opens: many of these vendors fail.
      SWITCHYARD_BREAKER_FAILURES: "0",
    },
    config: {
      aliases: { fast: "mock/echo", several: ["mock/broken", "mock2/echo"] },
      providers: {
        plain: { dialect: "openai", base_url: vendor.url, api_key: formlessSecret },
        keyless: { dialect: "openai", base_url: vendor.url, api_key: "${A_VARIABLE_THAT_NOBODY_SET}" },
      },
    },
  });
  const key = await gateway.createKey();
  beforeEach(() => vendor.clear());

  async function askStream(body: object = streamed): Promise<ReturnType<typeof readChatStream>> {
    const response = await ask(gateway.url, key, body);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`expected a stream, got ${response.status}: ${text}`);
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    return readChatStream(text);
  }

  return { vendor, gateway, key, askStream };
}
