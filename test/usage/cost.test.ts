// Usage as disjoint parts, and what they cost.

import { describe, expect, test } from "bun:test";
import { createPriceBook, type Price } from "../../src/catalogue/prices.ts";
import { costOf, costOfUsage, readServiceTier, readStatedCost, toUsd } from "../../src/usage/cost.ts";
import { readTokenParts, type TokenParts } from "../../src/usage/tokens.ts";
import { publishedFile as file, findPublished } from "../support/published-prices.ts";
import { totalsOf } from "../support/token-totals.ts";

function priceOf(model: string): Price {
  const price = findPublished(model);
  if (price === null) throw new Error(`${model} has no price`);
  return price;
}

const noon = new Date("2026-11-15T12:00:00Z");

describe("a cost that is not known is null, and says why", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

  test("no price", () => {
    expect(costOfUsage(usage, null, { at: noon })).toEqual({ amount: null, reason: "price_unknown" });
  });

  test.each([
    [null],
    [undefined],
    ["12"],
    [{}],
    [{ output_tokens: 65 }],
    [{ prompt_tokens: "12" }],
  ])("no usage: %p", (nothing) => {
    expect(costOfUsage(nothing, priceOf("gpt-5"), { at: noon })).toEqual({ amount: null, reason: "usage_unknown" });
  });

  test("a tier of service without a price", () => {
    expect(costOfUsage(usage, priceOf("gpt-5-nano"), { at: noon, tier: "priority" })).toEqual({
      amount: null,
      reason: "tier_unknown",
      detail: "priority",
    });
  });

  test("audio where only text has a price", () => {
    const heard = { ...usage, prompt_tokens_details: { audio_tokens: 4 } };
    expect(costOfUsage(heard, priceOf("gpt-5"), { at: noon })).toEqual({
      amount: null,
      reason: "part_unknown",
      detail: "audioInput",
    });
    const spoken = { ...usage, completion_tokens_details: { audio_tokens: 4 } };
    expect(costOfUsage(spoken, priceOf("gemini-2.5-pro"), { at: noon })).toEqual({
      amount: null,
      reason: "part_unknown",
      detail: "audioOutput",
    });
  });

  test("an hour in a cache where only minutes have a price", () => {
    const kept = { ...usage, prompt_tokens_details: { cache_write_tokens: 4, cache_write_1h_tokens: 1 } };
    expect(costOfUsage(kept, priceOf("gpt-5.6-sol"), { at: noon })).toMatchObject({
      amount: null,
      detail: "cacheWrite1h",
    });
  });

  test("more than any answer can cost", () => {
    const nonsense = { prompt_tokens: 1e15, completion_tokens: 0, total_tokens: 1e15 };
    expect(costOfUsage(nonsense, priceOf("gpt-5"), { at: noon })).toEqual({ amount: null, reason: "out_of_range" });
  });
});

describe("what a vendor says that it cost", () => {
  // Recorded shapes of three vendors.
  test.each([
    [{ cost: 8.1e-5, is_byok: false }, 81_000_000],
    [{ cost: 0 }, 0],
    [
      { cost: { input_tokens_cost: 1e-5, output_tokens_cost: 1e-5, request_cost: 0.005, total_cost: 0.00502 } },
      5_020_000_000,
    ],
    [{ cost_in_usd_ticks: 1_176_500 }, 117_650_000],
    [{ estimated_cost: 0.00000324 }, 3_240_000],
    [{ cost: -1 }, null],
    [{ cost: "0.1" }, null],
    [{}, null],
  ])("%j", (usage, amount) => {
    expect(readStatedCost(usage)).toBe(amount);
  });

  const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500, cost: 0.001 };

  test("is believed where its row says so, and only there", () => {
    expect(costOfUsage(usage, priceOf("gpt-5"), { at: noon, believesStatedCost: true })).toEqual({
      amount: 1_000_000_000,
      version: "vendor",
      source: "vendor",
    });
    expect(costOfUsage(usage, null, { at: noon, believesStatedCost: true }).amount).toBe(1_000_000_000);
    expect(costOfUsage(usage, priceOf("gpt-5"), { at: noon }).amount).toBe(6_250_000_000);
  });

  test("does not win over the operator's own price", () => {
    const own = createPriceBook(file, { "acme/model": { input: 2, output: 0 } }).find("acme", "model");
    expect(costOfUsage(usage, own, { at: noon, believesStatedCost: true }).amount).toBe(2_000_000_000);
  });

  test("a fee that usage does not tell leaves the cost unknown, unless it is stated", () => {
    const withFee = createPriceBook({
      ...file,
      providers: {
        acme: { source: 0, models: [{ ids: ["model"], fee: "each request", price: { input: 1, output: 1 } }] },
      },
    }).find("acme", "model");
    expect(costOfUsage({ ...usage, cost: undefined }, withFee, { at: noon, believesStatedCost: true })).toEqual({
      amount: null,
      reason: "fee_unknown",
      detail: "each request",
    });
    expect(costOfUsage(usage, withFee, { at: noon, believesStatedCost: true }).amount).toBe(1_000_000_000);
  });
});

test("a tier of service is read in every spelling of the ordinary one", () => {
  for (const value of [undefined, null, "", "auto", "default", "standard", "on_demand", 3])
    expect(readServiceTier(value)).toBe("standard");
  expect(readServiceTier("Priority")).toBe("priority");
});

describe("the public number", () => {
  test.each([
    [0, "0"],
    [1, "1e-12"],
    [100_000, "1e-7"],
    [300_000, "3e-7"],
    [1_250_000, "0.00000125"],
    [3_625, "3.625e-9"],
    [6_250_000_000, "0.00625"],
    [1_107_996_000_000, "1.107996"],
    [Number.MAX_SAFE_INTEGER, "9007.199254740991"],
  ])("%d pico-dollars are %s USD", (amount, text) => {
    expect(toUsd(amount)).toBe(Number(text));
    expect(toUsd(BigInt(amount))).toBe(Number(text));
  });

  test("is what a reader of the exact decimal would get, for any amount", () => {
    const random = createRandom(7);
    for (let i = 0; i < 5_000; i += 1) {
      const amount = Math.floor(random() * 10 ** (1 + Math.floor(random() * 15)));
      expect(toUsd(amount)).toBe(Number(`${amount}e-12`));
    }
  });

  test("sums that are larger than a safe integer", () => {
    expect(toUsd(12_345_678_901_234_567_890n)).toBe(12_345_678.901234567);
  });
});

describe("parts of a usage", () => {
  const zero: TokenParts = {
    input: 0,
    cacheRead: 0,
    cacheReadAudio: 0,
    cacheReadImage: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    audioInput: 0,
    imageInput: 0,
    videoInput: 0,
    output: 0,
    reasoning: 0,
    audioOutput: 0,
    imageOutput: 0,
  };

  test.each([
    [
      "nulls for details",
      { prompt_tokens: 4, completion_tokens: 2, prompt_tokens_details: null },
      { input: 4, output: 2 },
    ],
    // Recorded: a vendor that counted one reasoning token more than the whole completion.
    [
      "reasoning above its whole is cut",
      {
        prompt_tokens: 43,
        completion_tokens: 10,
        total_tokens: 53,
        completion_tokens_details: { reasoning_tokens: 11 },
      },
      { input: 43, reasoning: 10 },
    ],
    [
      "a cache above its whole is cut",
      { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9, cache_write_tokens: 3 } },
      { cacheRead: 5, output: 1 },
    ],
    [
      "audio that overlaps with the cache is counted once",
      { prompt_tokens: 10, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 8, audio_tokens: 9 } },
      { cacheRead: 8, audioInput: 2 },
    ],
    [
      "an hour above what was written is cut",
      {
        prompt_tokens: 10,
        completion_tokens: 0,
        prompt_tokens_details: { cache_write_tokens: 4, cache_write_1h_tokens: 6 },
      },
      { input: 4, cacheWrite1h: 6 },
    ],
    ["negative counts are none", { prompt_tokens: -3, completion_tokens: 2, total_tokens: -1 }, { output: 2 }],
    [
      "a total that is too small is not believed",
      { prompt_tokens: 9, completion_tokens: 2, total_tokens: 3 },
      { input: 9, output: 2 },
    ],
    ["a prompt from the total", { completion_tokens: 3, total_tokens: 10 }, { input: 7, output: 3 }],
    ["a completion from the total", { prompt_tokens: 7, total_tokens: 10 }, { input: 7, output: 3 }],
    [
      "the vendor's cache members beside a whole prompt are parts of it",
      { prompt_tokens: 100, completion_tokens: 1, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 },
      { input: 10, cacheRead: 60, cacheWrite5m: 30, output: 1 },
    ],
  ] as const)("%s", (_, usage, parts) => {
    expect(readTokenParts(usage)).toEqual({ ...zero, ...parts });
  });

  test("are never negative, and their sum is the whole, whatever a vendor sends", () => {
    const random = createRandom(11);
    for (let i = 0; i < 4_000; i += 1) {
      const usage = createUsage(random);
      const parts = readTokenParts(usage);
      if (parts === null) continue;
      for (const [name, tokens] of Object.entries(parts))
        if (!Number.isSafeInteger(tokens) || tokens < 0)
          throw new Error(`${name} is ${tokens} in ${JSON.stringify(usage)}`);
      const totals = totalsOf(parts);
      const sum = Object.values(parts).reduce((left, right) => left + right, 0);
      expect(totals.totalTokens).toBe(sum);
      const prompt = usage["prompt_tokens"];
      if (typeof prompt === "number") expect(totals.inputTokens).toBe(Math.max(Math.trunc(prompt), 0));
      const completion = usage["completion_tokens"];
      const total = usage["total_tokens"];
      // Where the vendor's own three numbers agree, ours are the same three.
      const areCounts = [prompt, completion].every((count) => Number.isInteger(count) && Number(count) >= 0);
      if (areCounts && total === Number(prompt) + Number(completion) && usage["reasoning_tokens"] === undefined)
        expect(totals.totalTokens).toBe(total);
    }
  });

  test("one token more of any part never costs less", () => {
    const random = createRandom(13);
    const names = Object.keys(zero) as (keyof TokenParts)[];
    for (const model of ["gpt-5.6-sol", "gpt-realtime", "claude-sonnet-4-5", "qwen3-max", "gpt-audio"] as const) {
      const price = priceOf(model);
      for (let i = 0; i < 400; i += 1) {
        const parts = { ...zero };
        for (const name of names) parts[name] = random() < 0.5 ? 0 : Math.floor(random() * 150_000);
        const before = costOf(parts, price, { at: noon });
        for (const name of names) {
          const after = costOf({ ...parts, [name]: parts[name] + 1 }, price, { at: noon });
          if (before.amount !== null && after.amount !== null)
            expect(after.amount).toBeGreaterThanOrEqual(before.amount);
          if (before.amount === null) expect(after.amount).toBeNull();
        }
      }
    }
  });
});

/** Repeatable numbers in [0, 1). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

function createUsage(random: () => number): Record<string, unknown> {
  const maybe = (likelihood: number, value: () => unknown) => (random() < likelihood ? value() : undefined);
  const count = () => {
    const kind = random();
    if (kind < 0.05) return -Math.floor(random() * 100);
    if (kind < 0.08) return random() * 100;
    return Math.floor(random() * 10 ** Math.floor(1 + random() * 6));
  };
  const prompt = count();
  const completion = count();
  const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, maybe(0.4, count)]));
  return {
    prompt_tokens: maybe(0.9, () => prompt),
    completion_tokens: maybe(0.9, () => completion),
    total_tokens: maybe(0.8, () => (random() < 0.7 ? prompt + completion : count())),
    ...named(["cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]),
    reasoning_tokens: maybe(0.1, count),
    prompt_tokens_details: maybe(0.6, () => ({
      ...named(["cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "audio_tokens", "image_tokens"]),
      cached_tokens_details: maybe(0.3, () => named(["audio_tokens", "image_tokens"])),
    })),
    completion_tokens_details: maybe(0.6, () => named(["reasoning_tokens", "audio_tokens", "image_tokens"])),
  };
}
