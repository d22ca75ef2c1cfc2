// What an answer costs, as callers see it: the catalogue, the operator's own prices, and an honest null.

import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer, completion, stream } from "../support/answers.ts";
import { ask, hello, readCompletion } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-prices-"));
const badFile = join(folder, "prices.json");
writeFileSync(badFile, '{"version":"broken"}');

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_PRICES_FILE: badFile },
  config: {
    prices: {
      "mock/priced": { input: 2, output: 10, cache_read: 0.5 },
      "perplexity/*": { catalogue: true, web_search: 5 },
    },
    // Known providers at another address: their published prices count.
    providers: {
      openai: { base_url: `${vendor.url}/v1`, api_key: "k" },
      perplexity: { base_url: `${vendor.url}/v1`, api_key: "k" },
    },
  },
});
const key = await gateway.createKey();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const usage = {
  prompt_tokens: 1_000,
  completion_tokens: 200,
  total_tokens: 1_200,
  prompt_tokens_details: { cached_tokens: 400 },
};

describe("cost", () => {
  test("is the operator's price of what was used, cached tokens apart", async () => {
    vendor.next(answer(200, completion("Hi", { usage })));
    const body = await readCompletion(await ask(gateway.url, key, { ...hello, model: "mock/priced" }));
    // 600 × 2 + 400 × 0.5 + 200 × 10, in USD per million.
    expect(body.cost).toBe(0.0034);
    expect(body).not.toHaveProperty("cost_reason");
  });

  test("stands on the usage chunk of a stream", async () => {
    vendor.next(stream(["Hi"], { usage }));
    const asked = { ...hello, model: "mock/priced", stream: true, stream_options: { include_usage: true } };
    const text = await (await ask(gateway.url, key, asked)).text();
    expect(text).toContain('"cost":0.0034}');
  });

  test("is the published price of a known model", async () => {
    vendor.next(answer(200, completion("Hi", { usage, model: "gpt-4o-mini" })));
    const body = await readCompletion(await ask(gateway.url, key, { ...hello, model: "openai/gpt-4o-mini" }));
    // 600 × 0.15 + 400 × 0.075 + 200 × 0.60, in USD per million: developers.openai.com/api/docs/pricing.
    expect(body.cost).toBe(0.00024);
  });

  test("is what the provider states where the operator only adds to the catalogue, and unknown without it", async () => {
    const asked = { ...hello, model: "perplexity/sonar" };
    vendor.next(answer(200, completion("Hi", { usage: { ...usage, cost: { total_cost: 0.008 } }, model: "sonar" })));
    expect((await readCompletion(await ask(gateway.url, key, asked))).cost).toBe(0.008);
    vendor.next(answer(200, completion("Hi", { usage, model: "sonar" })));
    const unstated = await readCompletion(await ask(gateway.url, key, asked));
    expect(unstated).toMatchObject({ cost: null, cost_reason: "fee_unknown" });
  });

  test("is null, with the reason, when the price or the usage is not known", async () => {
    vendor.next(answer(200, completion("Hi", { usage })));
    const unpriced = await readCompletion(await ask(gateway.url, key, { ...hello, model: "mock/unheard-of" }));
    expect(unpriced).toMatchObject({ cost: null, cost_reason: "price_unknown" });
    vendor.next(answer(200, completion("Hi", { usage: undefined })));
    const untold = await readCompletion(await ask(gateway.url, key, { ...hello, model: "mock/priced" }));
    expect(untold).toMatchObject({ cost: null, cost_reason: "usage_unknown" });
  });

  test("an invalid price file is reported in the log, and the built-in prices are used", () => {
    expect(gateway.log()).toContain("the price file is not valid");
  });
});

test("a listed model shows its price, its source and its date", async () => {
  const model = (await (await fetch(`${gateway.url}/v3/models/openai/gpt-4o-mini`)).json()) as { pricing: unknown };
  expect(model.pricing).toMatchObject({
    input_cost_per_token: 1.5e-7,
    output_cost_per_token: 6e-7,
    cache_read_input_token_cost: 7.5e-8,
    source: expect.stringMatching(/^https:/),
    updated_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}/),
  });
});
