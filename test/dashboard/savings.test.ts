// What reading from caches saved.

import { expect, test } from "bun:test";
import { listCachingProviders, sumSavings } from "../../src/dashboard/pages/overview/savings.ts";

type Rows = Parameters<typeof sumSavings>[0];
type Models = Parameters<typeof sumSavings>[1];

// Only what the function reads.
const row = (model: string, cached_tokens: number) => ({ provider: "a", model, cached_tokens });
const model = (id: string, input: number | null, cached: number | null) => ({
  id,
  pricing: { input_cost_per_token: input, output_cost_per_token: null, cache_read_input_token_cost: cached },
});
const sum = (rows: readonly object[], models: readonly object[]) =>
  sumSavings(rows as unknown as Rows, models as unknown as Models);

test("the difference of both prices is saved for each token", () => {
  const models = [model("a/one", 0.00001, 0.000001), model("a/two", 0.00002, 0.00001)];
  expect(sum([row("one", 1_000), row("two", 100)], models)).toBeCloseTo(0.01);
});

test("models without a price are left out, and without any the sum is unknown", () => {
  expect(sum([row("one", 1_000), row("other", 5)], [model("a/one", 0.00001, null)])).toBeNull();
  expect(sum([row("one", 0)], [model("a/one", 0.00001, 0)])).toBeNull();
});

test("prices are asked for providers that are known and had reads from caches", () => {
  const rows = [
    { provider: "a", model: "one", cached_tokens: 10 },
    { provider: "a", model: "two", cached_tokens: 20 },
    { provider: "b", model: "one", cached_tokens: 0 },
    { provider: "removed", model: "one", cached_tokens: 10 },
    { provider: null, model: null, cached_tokens: 10 },
  ];
  expect(listCachingProviders(rows as unknown as Rows, ["a", "b", "c"])).toEqual(["a"]);
});
