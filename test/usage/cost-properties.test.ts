// Whatever a vendor sends as its usage: no exception, no negative part, no part above the whole, and parts that add up to the cost.

import { expect, test } from "bun:test";
import { builtInPrices, createPriceBook } from "../../src/catalogue/prices.ts";
import { createPricing } from "../../src/inference/pricing.ts";
import { countInput, readTokenParts, toSummedUsage } from "../../src/usage/tokens.ts";
import { totalsOf } from "../support/token-totals.ts";

const pricing = createPricing(createPriceBook(builtInPrices, { "acme/*": { input: 1, output: 2, web_search: 10 } }));
const offers = [
  ["openai", "gpt-5"],
  ["openai", "gpt-5.6-sol"],
  ["openai", "gpt-image-1.5"],
  ["anthropic", "claude-opus-5"],
  ["anthropic", "claude-haiku-5-5"],
  ["gemini", "gemini-2.5-flash"],
  ["xai", "grok-4.6"],
  ["perplexity", "sonar-deep-research"],
  ["deepseek", "deepseek-flash"],
  ["acme", "anything"],
  ["nobody", "unheard-of"],
] as const;

const countNames = [
  ...["prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens", "reasoning_tokens"],
  ...["cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "num_search_queries"],
  ...["cache_read_input_tokens", "cache_creation_input_tokens", "num_server_side_tools_used"],
];
const detailNames = [
  ...["cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "cache_creation_tokens", "audio_tokens"],
  ...["image_tokens", "video_tokens", "text_tokens", "reasoning_tokens", "thinking_tokens"],
];
const objects: Readonly<Record<string, readonly string[]>> = {
  prompt_tokens_details: [...detailNames, "cached_tokens_details"],
  input_tokens_details: [...detailNames, "cached_tokens_details"],
  completion_tokens_details: detailNames,
  output_token_details: detailNames,
  cache_creation: ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"],
  server_tool_use: ["web_search_requests", "web_fetch_requests", "code_execution_requests"],
  server_side_tool_usage_details: ["web_search_calls", "code_interpreter_calls", "mcp_calls", "new_calls"],
  connectors: ["web_search", "constructor", "__proto__"],
  billed_units: ["input_tokens", "output_tokens", "search_units"],
};
const itemTypes = ["message", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"];

type Random = () => number;

/** Repeatable numbers in [0, 1). */
function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** Mostly a count, sometimes something that is none. */
function makeCount(random: Random): unknown {
  if (random() < 0.85) return Math.floor(random() * 10 ** Math.floor(1 + random() * 6));
  const odd = [null, "12", -5, 0.5, 1e15, Number.NaN, Number.POSITIVE_INFINITY, -0, true, [], {}, [1, 2]];
  return pick(random, odd);
}

function makeMembers(random: Random, names: readonly string[], likelihood: number): Record<string, unknown> {
  const chosen = names.filter(() => random() < likelihood);
  return Object.fromEntries(
    chosen.map((name) => [
      name,
      name === "cached_tokens_details" ? makeMembers(random, detailNames, 0.3) : makeCount(random),
    ]),
  );
}

function makeUsage(random: Random, depth = 0): unknown {
  if (random() < 0.01) return pick(random, [null, undefined, "usage", 5, [], {}]);
  const usage = makeMembers(random, countNames, 0.3);
  for (const [name, members] of Object.entries(objects))
    if (random() < 0.25) usage[name] = random() < 0.05 ? makeCount(random) : makeMembers(random, members, 0.4);
  if (random() < 0.1) usage["cost"] = makeCount(random);
  if (depth === 0 && random() < 0.15)
    usage["iterations"] = Array.from({ length: Math.floor(random() * 4) }, () => {
      const run = makeUsage(random, 1);
      const type = pick(random, ["message", "compaction", "advisor_message", "fallback_message"]);
      return typeof run === "object" ? { ...run, type, ...(random() < 0.3 && { model: "claude-opus-5" }) } : run;
    });
  return usage;
}

function makeAnswer(random: Random): Record<string, unknown> {
  if (random() < 0.6) return {};
  return {
    service_tier: pick(random, [undefined, null, "default", "flex", "priority", "batch", "unheard-of", 4]),
    model: pick(random, [undefined, "gpt-5-mini", "claude-opus-5", 7]),
    output: pick<unknown>(random, [
      undefined,
      "text",
      Array.from({ length: 3 }, () => ({ type: pick(random, itemTypes), action: pick(random, [null, {}, "search"]) })),
      [null, 5, "item", {}],
    ]),
    tools: pick<unknown>(random, [undefined, [{ type: "image_generation", model: "gpt-image-1.5" }], "none", [null]]),
    tool_usage: pick<unknown>(random, [undefined, null, { image_gen: makeUsage(random, 1), web_search: 3 }]),
  };
}

test("parts are never negative and never above the whole, and they add up to the cost", () => {
  const random = createRandom(15);
  const found = { known: 0, unknown: 0 };
  for (let round = 0; round < 6_000; round += 1) {
    const [name, model] = pick(random, offers);
    const usage = makeUsage(random);
    const answer = makeAnswer(random);
    const context = () => JSON.stringify({ name, model, usage, answer });
    const tokens = readTokenParts(usage);
    if (tokens !== null) {
      const { totalTokens } = totalsOf(tokens);
      for (const count of Object.values(tokens))
        if (!Number.isSafeInteger(count) || count < 0 || count > totalTokens) throw new Error(context());
      expect(countInput(tokens)).toBeLessThanOrEqual(totalTokens);
    }
    const provider = { name, ...(name === "xai" && { row: { billsAsStated: true as const } }) };
    const { cost, pico, reason, version, basis } = pricing.quote(provider, model).chargeFor(usage, answer);
    if (pico === null) {
      if (cost !== null || reason === null || version !== null) throw new Error(context());
      found.unknown += 1;
      continue;
    }
    found.known += 1;
    if (!Number.isSafeInteger(pico) || pico < 0 || cost === null || reason !== null) throw new Error(context());
    if (basis === null) throw new Error(context());
    // Twice, before and after it was stored.
    for (const stored of [basis, JSON.parse(JSON.stringify(basis))]) {
      const explained = pricing.explain(provider, model, stored, new Date());
      const sum = explained?.parts.reduce((total, part) => total + part.pico, 0);
      const isOdd = explained?.parts.some(
        (part) => !Number.isSafeInteger(part.pico) || part.pico < 0 || part.pico > pico,
      );
      if (explained?.pico !== pico || sum !== pico || isOdd)
        throw new Error(`${context()} ${JSON.stringify(explained)}`);
    }
  }
  expect(found.known).toBeGreaterThan(500);
  expect(found.unknown).toBeGreaterThan(500);
});

test("a usage with its reasoning in the output has the same parts, and is not changed again", () => {
  const random = createRandom(16);
  for (let round = 0; round < 2_000; round++) {
    const usage = makeUsage(random);
    const summed = toSummedUsage(usage);
    expect({ usage, parts: readTokenParts(summed) }).toEqual({ usage, parts: readTokenParts(usage) });
    expect(toSummedUsage(summed)).toEqual(summed);
  }
});
