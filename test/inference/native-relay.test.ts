// The relay of streams of providers that have the Responses API themselves.

import { expect, test } from "bun:test";
import { builtInPrices, createPriceBook } from "../../src/catalogue/prices.ts";
import { createPricing } from "../../src/inference/pricing.ts";
import { NativeRelay } from "../../src/inference/responses/native-relay.ts";
import { configureProviders, type Provider } from "../../src/providers/configure.ts";
import { rows } from "../../src/providers/index.ts";

const provider = configureProviders(rows, { openai: { api_key: "key" } }, () => null).get("openai") as Provider;

test.each([
  ["completed", { completed_at: 1_700_000_001, incomplete_details: null }],
  ["incomplete", { completed_at: null, incomplete_details: { reason: "max_output_tokens" } }],
])("a response that was %s and could not be stored is only failed", (status, ending) => {
  const relay = new NativeRelay({
    provider,
    signId: (id) => id,
    quote: createPricing(createPriceBook(builtInPrices, {})).quote(provider, "gpt-5"),
    startedAt: performance.now(),
    metadata: null,
    isRetrieved: false,
    name: () => ({ id: "resp_own", previousId: null, isStored: true }),
    onCreated: () => {},
    onEnded: () => {},
  });
  const response = { id: "resp_vendor", object: "response", model: "gpt-5", output: [] };
  const push = (event: object) => relay.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`), []);
  push({ type: "response.created", response: { ...response, status: "in_progress" }, sequence_number: 0 });
  push({ type: `response.${status}`, response: { ...response, ...ending, status }, sequence_number: 1 });
  const failed = Buffer.from(relay.fail({ code: "internal_error", message: "It could not be stored." })).toString();
  const events = Array.from(failed.matchAll(/^data: (.+)$/gm), ([, data = ""]) => JSON.parse(data) as object);
  expect(events).toMatchObject([
    { type: "error", sequence_number: 1 },
    {
      type: "response.failed",
      response: { id: "resp_own", status: "failed", completed_at: null, incomplete_details: null },
      sequence_number: 2,
    },
  ]);
});
