// What is reserved for a call before it is sent.

import { describe, expect, test } from "bun:test";
import { builtInPrices, createPriceBook } from "../../src/catalogue/prices.ts";
import { findTask } from "../../src/contract/tasks.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { type EstimateCost, estimateCall, estimateTask, type RequestShape } from "../../src/inference/estimate.ts";
import { createPricing } from "../../src/inference/pricing.ts";
import { ask, hello } from "../support/chat.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const book = createPriceBook(builtInPrices, { "mock/*": { input: 1, output: 10 } });
const pricing = createPricing(book);
const picoPerMillionth = 1_000_000;

function costOf(provider: string): EstimateCost {
  return (input, output, tier) => pricing.estimate({ name: provider }, "model", { input, output, tier });
}

function estimate(shape: Partial<RequestShape> & { body: string }, outputTokens = 4_096) {
  return estimateCall(shape, { usual: outputTokens }, costOf("mock"));
}

function bodyOf(content: unknown): string {
  return JSON.stringify({ model: "mock/model", messages: [{ role: "user", content }] });
}

describe("the input", () => {
  test("has a token for every three bytes", () => {
    const body = bodyOf("word ".repeat(3_000));
    expect(estimate({ body }).inputTokens).toBe(Math.ceil(Buffer.byteLength(body) / 3));
    const chinese = bodyOf("汉".repeat(10_000));
    expect(estimate({ body: chinese }).inputTokens).toBeGreaterThan(10_000);
  });

  test("an image counts the same, however many bytes it has", () => {
    const image = (bytes: number) => {
      const url = `data:image/png;base64,${Buffer.alloc(bytes, 7).toString("base64")}`;
      return bodyOf([{ type: "image_url", image_url: { url } }]);
    };
    const small = estimate({ body: image(10_000) }).inputTokens;
    expect(small).toBeGreaterThan(1_500);
    expect(estimate({ body: image(3_000_000) }).inputTokens).toBe(small);
    const two = bodyOf([1, 2].map((id) => ({ type: "image_url", image_url: { url: `https://a.example/${id}.png` } })));
    expect(estimate({ body: two }).inputTokens).toBeGreaterThan(4_000);
  });

  test("documents and audio count by their size, and a long text is no document", () => {
    const data = Buffer.alloc(300_000, 7).toString("base64");
    const source = { type: "base64", media_type: "application/pdf", data };
    const document = estimate({ body: bodyOf([{ type: "document", source }]) }).inputTokens;
    expect(document).toBeGreaterThan(4_000);
    expect(document).toBeLessThan(data.length / 3);
    expect(estimate({ body: bodyOf(`${"x".repeat(100)} `.repeat(1_000)) }).inputTokens).toBeGreaterThan(30_000);
  });

  test("a conversation that the provider stores counts", () => {
    const body = JSON.stringify({ model: "mock/model", input: "hi", previous_response_id: "resp_1" });
    expect(estimate({ body }).inputTokens).toBeGreaterThan(8_000);
  });

  test("a large body with many quotes takes linear time", () => {
    const body = bodyOf(Array.from({ length: 200_000 }, () => ({ type: "text", text: "a" })));
    const long = bodyOf("A".repeat(8_000_000));
    expect(estimate({ body }).inputTokens).toBeGreaterThan(1_000_000);
    expect(estimate({ body: long }).inputTokens).toBeGreaterThan(50_000);
  });
});

describe("the output", () => {
  test("is the limit of the request, for each choice, or that of the setting", () => {
    const body = bodyOf("hi");
    expect(estimate({ body, maxOutputTokens: 100 }).outputTokens).toBe(100);
    expect(estimate({ body, maxOutputTokens: 100, choices: 3 }).outputTokens).toBe(300);
    expect(estimate({ body }, 4_096).outputTokens).toBe(4_096);
    expect(estimate({ body, maxOutputTokens: 0 }).outputTokens).toBe(0);
  });
});

describe("the cost", () => {
  test("follows from the price of the model", () => {
    const body = bodyOf("hi");
    const { inputTokens, pico } = estimate({ body, maxOutputTokens: 7 });
    expect(pico).toBe((inputTokens + 70) * picoPerMillionth);
    expect(estimate({ body, maxOutputTokens: 7, calls: 2 }).inputTokens).toBeCloseTo(2 * inputTokens, -1);
  });

  test("writing to a prompt cache costs more than input", () => {
    const plain = estimate({ body: bodyOf("x".repeat(300)), maxOutputTokens: 0 }).pico ?? 0;
    const cached = [{ type: "text", text: "x".repeat(300), cache_control: { type: "ephemeral", ttl: "1h" } }];
    expect(estimate({ body: bodyOf(cached), maxOutputTokens: 0 }).pico).toBeGreaterThan(2 * plain);
  });

  test("of a model that only reads, as for embeddings, needs no price of output, unless it would write", () => {
    const reading = createPricing(createPriceBook(builtInPrices, { "mock/reader": { input: 1 } }));
    const estimateReader = (output: number) =>
      reading.estimate({ name: "mock" }, "reader", { input: 7, output, tier: undefined });
    expect([estimateReader(0), estimateReader(1)]).toEqual([7 * picoPerMillionth, null]);
  });

  test("an unknown price is null, and an unknown service tier is that of the standard tier", () => {
    const body = bodyOf("hi");
    expect(estimateCall({ body }, { usual: 10 }, costOf("unpriced")).pico).toBeNull();
    expect(estimate({ body, maxOutputTokens: 1, serviceTier: "turbo" }).pico).toBe(
      estimate({ body, maxOutputTokens: 1 }).pico,
    );
  });
});

describe("tasks", () => {
  const run = async () => ({ output: {}, units: {} });
  function engineOf(task: string, provider: string, more: Partial<Engine> = {}): Engine {
    const facts = { models: [], acceptsAnyModel: false, unavailableReason: null };
    return { task: task as Engine["task"], provider, ...facts, run, ...more } as Engine;
  }
  const file = (size: number) => ({
    name: "f",
    mediaType: "application/pdf",
    size,
    read: async () => new Uint8Array(),
  });

  test.each([
    ["text/spell_check", { text: "x".repeat(1_000) }, {}],
    ["ocr/ocr", {}, { file: file(200_000) }],
    ["image/generation", { text: "a cat", num_images: 3 }, {}],
    ["audio/speech_to_text_async", {}, { file: file(1_000_000) }],
  ] as const)("%s has an estimate for every priced offer", (name, input, files) => {
    const task = findTask(name);
    if (task === undefined) throw new Error(`There is no task ${name}`);
    const priced = task.knownOffers.filter(({ listPrice }) => listPrice !== null);
    expect(priced.length).toBeGreaterThan(0);
    for (const { provider } of priced) {
      const { pico } = estimateTask(task, { engine: engineOf(name, provider), model: null }, { input, files });
      if (pico === null) continue;
      expect(pico).toBeGreaterThan(0);
      expect(Number.isSafeInteger(pico)).toBe(true);
    }
  });

  test("free engines and those that pay by token reserve nothing, and an unknown price is null", () => {
    const task = findTask("text/spell_check");
    if (task === undefined) throw new Error("There is no such task");
    const call = { input: { text: "a text" }, files: {} };
    const estimateWith = (more: Partial<Engine>, provider = "local") =>
      estimateTask(task, { engine: engineOf("text/spell_check", provider, more), model: null }, call).pico;
    expect(estimateWith({ isFree: true })).toBe(0);
    expect(estimateWith({ isPaidByToken: true })).toBe(0);
    expect(estimateWith({}, "nobody")).toBeNull();
  });

  test("a model without a list price reserves that of its provider if its tokens are charged, and is unknown otherwise", () => {
    const task = findTask("image/generation");
    const estimateWith = (provider: string, more: Partial<Engine>) => {
      const engine = engineOf(task.name, provider, more);
      return estimateTask(task, { engine, model: "a-model-without-a-price" }, { input: { text: "a" }, files: {} }).pico;
    };
    expect(estimateWith("openai", { tokenModel: "gpt-image-1.5" })).toBe(34_000_000_000);
    expect(estimateWith("stabilityai", {})).toBeNull();
  });
});

test("a call reserves at most the maximum output of the model, whatever limit it sets", async () => {
  const body = bodyOf("Hello");
  expect(estimateCall({ body }, { usual: 4_096, most: 1_000 }, costOf("mock")).outputTokens).toBe(1_000);
  const shape = { body, maxOutputTokens: 9_000, choices: 2 };
  expect(estimateCall(shape, { usual: 4_096, most: 1_000 }, costOf("mock")).outputTokens).toBe(2_000);
  expect(estimateCall({ body, maxOutputTokens: 500 }, { usual: 4_096, most: 1_000 }, costOf("mock")).outputTokens).toBe(
    500,
  );

  // The row of the provider documents 64,000 tokens for the first model, and nothing for the second.
  const vendor = await startVendor();
  await using limited = await testGateway({
    vendor,
    config: { prices: { "stepfun/*": { input: 1, output: 10 } } },
    env: { STEPFUN_API_KEY: "k", STEPFUN_BASE_URL: `http://127.0.0.1:${vendor.port}` },
  });
  const key = await limited.createKey({ budget: { amount: 1, period: "none" } });
  const statusOf = async (model: string) =>
    (await ask(limited.url, key, { ...hello, model: `stepfun/${model}`, max_tokens: 1_000_000 })).status;
  expect(await statusOf("another-model")).toBe(402);
  expect(await statusOf("step-5-preview")).toBe(200);
  await vendor.stop();
});
