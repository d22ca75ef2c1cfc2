// The price that a listing shows is the price that is charged, for every offer that has one.

import { describe, expect, test } from "bun:test";
import { createCatalogue } from "../../src/catalogue/catalogue.ts";
import { builtInPrices, createPriceBook, type PriceFile } from "../../src/catalogue/prices.ts";
import type { Model } from "../../src/contract/models.ts";
import { findTask, tasks } from "../../src/contract/tasks.ts";
import { createEmbeddingsEngines } from "../../src/engines/embeddings.ts";
import { createSandboxEngines } from "../../src/engines/sandbox/index.ts";
import { createPricing } from "../../src/inference/pricing.ts";
import { toTaskOffers } from "../../src/inference/universal-ai/task-offers.ts";
import { chargeForTask } from "../../src/inference/universal-ai/unit-price.ts";
import type { Provider } from "../../src/providers/configure.ts";
import { rows } from "../../src/providers/index.ts";
import { costOfUsage, toUsd } from "../../src/usage/cost.ts";

// As the gateway does: other names of a provider, and providers that cost nothing.
const otherNames = new Map(rows.map(({ name, aliases = [] }) => [name, aliases]));
const free = new Set(rows.filter(({ isFree }) => isFree === true).map(({ name }) => name));
const book = createPriceBook(builtInPrices, {}, free, otherNames);
// A Sunday, because a listing shows the price outside of peak hours.
const sunday = new Date("2026-11-15T12:00:00Z");
const everything = { unconfigured: true, sandbox: true };
const noFilters = { provider: [], feature: [], capability: [], endpoint: [] };

function listModels(prices: PriceFile, at: Date): readonly Model[] {
  const offered = rows.map((row) => ({ row, configured: true, dialect: null }));
  const priceBook = prices === builtInPrices ? book : createPriceBook(prices, {}, free, otherNames);
  const { models } = createCatalogue(
    offered,
    () => [],
    priceBook,
    () => at.getTime(),
  );
  return JSON.parse(new TextDecoder().decode(models.list(noFilters, everything).bytes)).data;
}

/** A usage of 1,000 of one kind, which needs at least one token of input. */
const usages: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  input_cost_per_token: { prompt_tokens: 1_000 },
  output_cost_per_token: { prompt_tokens: 1, completion_tokens: 1_000 },
  cache_read_input_token_cost: { prompt_tokens: 1_000, prompt_tokens_details: { cached_tokens: 1_000 } },
  cache_creation_input_token_cost: { prompt_tokens: 1_000, prompt_tokens_details: { cache_write_tokens: 1_000 } },
  cache_creation_input_token_cost_above_1hr: {
    prompt_tokens: 1_000,
    prompt_tokens_details: { cache_write_tokens: 1_000, cache_write_1h_tokens: 1_000 },
  },
  output_cost_per_reasoning_token: {
    prompt_tokens: 1,
    completion_tokens: 1_000,
    completion_tokens_details: { reasoning_tokens: 1_000 },
  },
  input_cost_per_audio_token: { prompt_tokens: 1_000, prompt_tokens_details: { audio_tokens: 1_000 } },
  input_cost_per_image_token: { prompt_tokens: 1_000, prompt_tokens_details: { image_tokens: 1_000 } },
  input_cost_per_video_token: { prompt_tokens: 1_000, prompt_tokens_details: { video_tokens: 1_000 } },
  output_cost_per_audio_token: {
    prompt_tokens: 1,
    completion_tokens: 1_000,
    completion_tokens_details: { audio_tokens: 1_000 },
  },
  output_cost_per_image_token: {
    prompt_tokens: 1,
    completion_tokens: 1_000,
    completion_tokens_details: { image_tokens: 1_000 },
  },
};

describe("models", () => {
  const listed = listModels(builtInPrices, sunday);

  test("with a price are charged what the listing shows, for every kind of token", () => {
    let compared = 0;
    for (const { id, owned_by: provider, pricing } of listed) {
      const price = book.find(provider, id.slice(provider.length + 1));
      expect([id, pricing === null]).toEqual([id, price === null]);
      // A vendor with a fee that no usage contains has no known cost without a statement of its own.
      if (pricing === null || price === null || price.fee !== null) continue;
      for (const [name, usage] of Object.entries(usages)) {
        const shown = (pricing as Readonly<Record<string, unknown>>)[name];
        if (typeof shown !== "number") continue;
        const one = costOfUsage({ prompt_tokens: 1 }, price, { at: sunday }).amount;
        const { amount } = costOfUsage(usage, price, { at: sunday });
        if (amount === null || one === null) throw new Error(`${id} lists ${name}, and charges nothing known for it`);
        const charged = usage["prompt_tokens"] === 1 ? amount - one : amount;
        expect([id, name, toUsd(charged / 1_000)]).toEqual([id, name, shown]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(500);
  });

  test("with higher prices for long prompts show each of them", () => {
    let compared = 0;
    for (const { id, owned_by: provider, pricing } of listed) {
      const price = book.find(provider, id.slice(provider.length + 1));
      for (const { aboveTokens } of price?.bracketsAt(sunday).slice(1) ?? []) {
        const name = `input_cost_per_token_above_${Math.ceil(aboveTokens / 1_000)}k_tokens`;
        const tokens = aboveTokens + 1;
        const { amount } = costOfUsage({ prompt_tokens: tokens }, price, { at: sunday });
        const shown = (pricing as Readonly<Record<string, unknown>>)[name];
        expect([id, name, toUsd((amount ?? 0) / tokens)]).toEqual([id, name, shown as number]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(10);
  });

  test("of free providers and of the sandbox cost 0, in the listing and in charges", () => {
    const pricing = createPricing(book);
    const ofFree = listed.filter(({ owned_by: provider }) => free.has(provider));
    expect(ofFree.length).toBeGreaterThan(0);
    for (const { id, owned_by: provider, pricing: shown } of ofFree) {
      const charge = pricing.quote({ name: provider }, id.slice(provider.length + 1)).chargeFor({ prompt_tokens: 10 });
      expect([id, shown?.input_cost_per_token, charge.pico]).toEqual([id, 0, 0]);
    }
  });

  test("with a fee that no usage contains say so", () => {
    const sonar = listed.find(({ id }) => id === "perplexity/sonar");
    expect(sonar?.pricing).toMatchObject({ unlisted_fee: expect.stringContaining("fee") });
  });
});

test("a listing shows a new price from the day on which it holds", () => {
  const model = {
    ids: ["gpt-5"],
    price: [
      { input: 1, output: 1 },
      { from: "2027-01-01", input: 2, output: 2 },
    ],
  };
  const file: PriceFile = {
    format: 1,
    version: "test",
    sources: [{ url: "https://example.com/", date: "2026-11-16" }],
    providers: { openai: { source: 0, models: [model] } },
  };
  let now = Date.parse("2026-12-31T23:59:59Z");
  const [row] = rows.filter(({ name }) => name === "openai");
  if (row === undefined) throw new Error("no such provider");
  const offered = [{ row, configured: true, dialect: null }];
  const catalogue = createCatalogue(
    offered,
    () => [],
    createPriceBook(file),
    () => now,
  );
  const shown = () => catalogue.models.find("openai/gpt-5")?.model.pricing?.input_cost_per_token;
  expect(shown()).toBe(0.000001);
  now += 1_000;
  expect(shown()).toBe(0.000002);
});

describe("tasks", () => {
  test("by units are charged the list price that is shown", () => {
    let compared = 0;
    const offers = toTaskOffers(
      tasks.flatMap(({ name: task, knownOffers }) =>
        knownOffers.map(({ provider, model }) => {
          const named = model.split("/").slice(3).join("/");
          const models = named === "" ? [] : [named];
          const run = () => Promise.reject(new Error("it is not asked"));
          return { provider, task, models, acceptsAnyModel: true, unavailableReason: null, run };
        }),
      ),
    );
    for (const { feature, subfeature, provider, model, pricing } of offers) {
      const task = findTask(`${feature}/${subfeature}`);
      if (task === undefined) throw new Error(`there is no task ${feature}/${subfeature}`);
      const named = model.split("/").slice(3).join("/") || null;
      const units = pricing === null ? {} : { [pricing.price_unit_type]: pricing.price_unit_quantity };
      const charge = chargeForTask(task, provider, named, { output: {}, units });
      expect([model, charge.cost]).toEqual([model, pricing?.price ?? null]);
      compared += pricing === null ? 0 : 1;
    }
    expect(compared).toBeGreaterThan(100);
  });

  test("of the sandbox are listed as free", () => {
    for (const { model, pricing } of toTaskOffers(createSandboxEngines()))
      expect([model, pricing?.price]).toEqual([model, 0]);
  });

  test("embeddings are charged the price that is shown", () => {
    const providers = rows.flatMap((row) => {
      if (row.embeddings === undefined || row.transport !== undefined) return [];
      return [{ name: row.name, row, defaultModels: {}, configured: true } as unknown as Provider];
    });
    const engines = createEmbeddingsEngines(providers, () => Promise.reject(new Error("it is not asked")));
    let compared = 0;
    for (const { model, provider, defaultModel, pricing } of toTaskOffers(engines, book)) {
      const named = model.split("/").slice(3).join("/") || defaultModel || "";
      const price = book.find(provider, named);
      const usage = { prompt_tokens: 1_000_000, total_tokens: 1_000_000 };
      const { amount } = costOfUsage(usage, price, { at: new Date() });
      expect([model, amount === null ? null : toUsd(amount)]).toEqual([model, pricing?.price ?? null]);
      compared += pricing === null ? 0 : 1;
    }
    expect(compared).toBeGreaterThan(20);
  });
});
