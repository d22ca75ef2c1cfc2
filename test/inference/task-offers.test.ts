// How the engines of a gateway are listed, and at which price. The engines and prices are invented.

import { describe, expect, test } from "bun:test";
import { createPriceBook } from "../../src/catalogue/prices.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { toTaskOffers } from "../../src/inference/universal-ai/task-offers.ts";
import { publishedFile } from "../support/published-prices.ts";

const book = createPriceBook(publishedFile, {
  "acme/writer": { input: 2, output: 10 },
  "acme/embedder": { input: 0.5 },
});

function makeEngine(members: Partial<Engine> = {}): Engine {
  return {
    ...{ provider: "acme", task: "text/summarize", models: [], acceptsAnyModel: false, unavailableReason: null },
    run: () => Promise.reject(new Error("it is not asked")),
    ...members,
  };
}

const pricesOf = (members: Partial<Engine>) =>
  toTaskOffers([makeEngine(members)], book).map(({ model, pricing }) => [model, pricing]);

describe("a price", () => {
  const perMillion = { price_unit_quantity: 1_000_000, price_unit_type: "token" };

  test.each([
    ["of a free engine is 0", { isFree: true }, { price: 0, price_unit_quantity: 1, price_unit_type: "request" }],
    ["of an engine that nobody lists is unknown", {}, null],
    [
      "of an engine that calls a model is that of a million tokens, in and out",
      { isPaidByToken: true, defaultModel: "writer" },
      { price: 2, output_price: 10, ...perMillion },
    ],
    [
      "of a model that writes no tokens has no output",
      { isPaidByToken: true, defaultModel: "embedder", writesNoTokens: true },
      { price: 0.5, ...perMillion },
    ],
    [
      "of a model that writes no tokens has no output, even if the model has such a price",
      { isPaidByToken: true, defaultModel: "writer", writesNoTokens: true },
      { price: 2, ...perMillion },
    ],
    ["without an output is unknown for a model that writes", { isPaidByToken: true, defaultModel: "embedder" }, null],
    ["of an engine that chooses its model itself is unknown", { isPaidByToken: true }, null],
    ["of a model that the book does not have is unknown", { isPaidByToken: true, defaultModel: "other" }, null],
    [
      "of tokens of the task is that of its model",
      { tokenModel: "writer" },
      { price: 2, output_price: 10, ...perMillion },
    ],
  ] as const)("%s", (_title, members, expected) => {
    expect(pricesOf(members)).toEqual([["text/summarize/acme", expected]]);
  });

  test("is that of each model by itself", () => {
    const members = { isPaidByToken: true, models: ["writer", "other"], defaultModel: "writer" } as const;
    const price = { price: 2, output_price: 10, ...perMillion };
    expect(pricesOf(members)).toEqual([
      ["text/summarize/acme", price],
      ["text/summarize/acme/writer", price],
      ["text/summarize/acme/other", null],
    ]);
  });

  test("is unknown without a book", () => {
    const [offer] = toTaskOffers([makeEngine({ isPaidByToken: true, defaultModel: "writer" })]);
    expect(offer?.pricing).toBeNull();
  });
});

describe("an engine", () => {
  test("is listed under its task, its provider and each of its models", () => {
    expect(toTaskOffers([makeEngine({ models: ["m"], defaultModel: "m" })])).toEqual([
      ...["text/summarize/acme", "text/summarize/acme/m"].map((model) => ({
        ...{ feature: "text", subfeature: "summarize", provider: "acme", model, defaultModel: "m" },
        ...{ pricing: null, configured: true, isSandbox: false },
      })),
    ]);
  });

  test("that needs a model is listed with its models only", () => {
    const listed = toTaskOffers([makeEngine({ models: ["a", "b"], needsModel: true })]);
    expect(listed.map(({ model }) => model)).toEqual(["text/summarize/acme/a", "text/summarize/acme/b"]);
  });

  test("that is available replaces one of the same name that is not, and of two that are the first counts", () => {
    const away = makeEngine({ unavailableReason: "its key", isSandbox: true });
    const [free, unknown] = [makeEngine({ isFree: true }), makeEngine()];
    const list = (...engines: readonly Engine[]) =>
      toTaskOffers(engines).map(({ configured, pricing }) => [configured, pricing?.price ?? null]);
    expect(list(away, free)).toEqual([[true, 0]]);
    expect(list(free, away)).toEqual([[true, 0]]);
    expect(list(free, unknown)).toEqual([[true, 0]]);
    expect(list(unknown, free)).toEqual([[true, null]]);
    expect(list(away)).toEqual([[false, null]]);
  });
});
