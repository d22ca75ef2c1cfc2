// A gateway whose providers Anthropic and Gemini are one local vendor, for the tests of a file. Each test begins with no recorded requests.

import { beforeEach } from "bun:test";
import { sharedGateway } from "./test-gateway.ts";
import { startVendor } from "./vendor.ts";

export async function openTranslatedGateway() {
  const vendor = await startVendor();
  const at = { base_url: vendor.url.replace(/\/v1$/, ""), api_key: "k" };
  const gateway = await sharedGateway({ vendor, config: { providers: { anthropic: at, gemini: at } } });
  beforeEach(() => vendor.clear());
  return { vendor, gateway, key: await gateway.createKey() };
}
