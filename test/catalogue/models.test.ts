// GET /v3/models and /v3/models/{id}, over HTTP.

import { describe, expect, test } from "bun:test";
import { createCatalogue, type Offered } from "../../src/catalogue/catalogue.ts";
import { builtInPrices, createPriceBook } from "../../src/catalogue/prices.ts";
import { type ModelList, modelDetail, modelList } from "../../src/contract/models.ts";
import { modelsRoutes } from "../../src/http/endpoints/models.ts";
import { matchesEntityTag } from "../../src/http/send-document.ts";
import type { ModelFacts, ProviderRow } from "../../src/providers/provider.ts";
import { makeBareModel } from "../support/bare-model.ts";
import { openTestServer } from "../support/test-server.ts";

function offer(name: string, configured: boolean, models: readonly ModelFacts[]): Offered {
  const row: ProviderRow = {
    name,
    title: name,
    docs: "https://example.invalid/docs",
    baseUrl: "https://example.invalid/v1",
    auth: { kind: "bearer" },
    chat: { models },
  };
  return { row, configured, dialect: null };
}

const catalogue = createCatalogue([
  offer("later", false, [{ id: "unreachable", tools: true }]),
  offer("acme", true, [
    { id: "plain" },
    {
      id: "rich",
      contextTokens: 128_000,
      maxOutputTokens: 16_384,
      input: ["text", "image"],
      tools: true,
      jsonSchema: true,
      reasoning: false,
    },
    { id: "rich" },
  ]),
  offer("hub", true, [{ id: "vendor/model:free@1", input: ["text", "audio"], tools: false }]),
]);

const get = openTestServer(modelsRoutes(catalogue));

async function ids(query = ""): Promise<string[]> {
  const list = (await (await get(`/v3/models${query}`)).json()) as ModelList;
  return list.data.map(({ id }) => id);
}

describe("the list", () => {
  test("has the OpenAI list shape and holds what its schema says", async () => {
    const response = await get("/v3/models");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(modelList.strict().safeParse(await response.json()).error).toBeUndefined();
  });

  test("shows the models of configured providers, each once", async () => {
    expect(await ids()).toEqual(["acme/plain", "acme/rich", "hub/vendor/model:free@1"]);
  });

  test("shows the rest too when asked, after the others and marked", async () => {
    const list = (await (await get("/v3/models?include=unconfigured")).json()) as ModelList;
    expect(list.data.map(({ id, configured }) => [id, configured])).toEqual([
      ["acme/plain", true],
      ["acme/rich", true],
      ["hub/vendor/model:free@1", true],
      ["later/unreachable", false],
    ]);
  });

  test("an unknown value of include is refused with its place", async () => {
    for (const query of ["include=all", "include=", "include=unconfigured&include=x"]) {
      const response = await get(`/v3/models?${query}`);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        error: { param: "include", code: "literal_error" },
        detail: [{ loc: ["query", "include"], type: "literal_error" }],
      });
    }
  });

  test("filters by provider, feature, capability and endpoint, all of which must hold", async () => {
    expect(await ids("?provider=acme")).toEqual(["acme/plain", "acme/rich"]);
    expect(await ids("?provider=acme&provider=hub")).toEqual(["acme/plain", "acme/rich", "hub/vendor/model:free@1"]);
    expect(await ids("?capability=vision")).toEqual(["acme/rich"]);
    expect(await ids("?capability=supports_function_calling")).toEqual(["acme/rich"]);
    expect(await ids("?capability=audio_input")).toEqual(["hub/vendor/model:free@1"]);
    expect(await ids("?endpoint=chat/completions&provider=hub")).toEqual(["hub/vendor/model:free@1"]);
    expect(await ids("?feature=llm")).toHaveLength(3);
    expect(await ids("?capability=vision&capability=audio_input")).toEqual([]);
    expect(await ids("?provider=later&include=unconfigured")).toEqual(["later/unreachable"]);
  });

  test("a value that exists and that no model has leaves an empty list", async () => {
    for (const query of ["feature=ocr", "endpoint=embeddings", "capability=vision&provider=hub"])
      expect(await ids(`?${query}`)).toEqual([]);
  });

  test.each([
    ["provider=acm", "There is no provider 'acm'; did you mean 'acme'? Known are"],
    ["provider=", "There is no provider ''"],
    ["feature=orc", "There is no feature 'orc'; did you mean 'ocr'?"],
    ["capability=visoin", "There is no capability 'visoin'; did you mean 'vision'?"],
    ["endpoint=chat/completion", "There is no endpoint 'chat/completion'; did you mean 'chat/completions'?"],
  ])("%s is refused with the nearest value", async (query, message) => {
    const response = await get(`/v3/models?${query}`);
    const body = (await response.json()) as { detail: { loc: string[]; msg: string }[] };
    expect([response.status, body.detail[0]?.loc]).toEqual([422, ["query", query.split("=", 1)[0] ?? ""]]);
    expect(body.detail[0]?.msg).toStartWith(message);
  });

  test("many long wrong values are answered with a short list", async () => {
    const query = Array.from({ length: 400 }, () => `provider=${"x".repeat(20)}`).join("&");
    const response = await get(`/v3/models?${query}`);
    expect(((await response.json()) as { detail: unknown[] }).detail).toHaveLength(10);
  });
});

describe("a model", () => {
  test("is found by its id, with plain slashes or encoded ones", async () => {
    for (const path of ["hub/vendor/model:free@1", "hub%2Fvendor%2Fmodel%3Afree%401", "hub/vendor%2fmodel:free@1"]) {
      const response = await get(`/v3/models/${path}`);
      expect(response.status).toBe(200);
      const found = modelDetail.strict().parse(await response.json());
      expect(found).toMatchObject({ id: "hub/vendor/model:free@1", owned_by: "hub" });
    }
  });

  test("states what is known, and null where nothing is", async () => {
    expect(await (await get("/v3/models/acme/plain")).json()).toEqual({
      ...makeBareModel("acme/plain", { endpoints: ["chat/completions", "responses", "v1/messages"] }),
      parameters: { "*": "forwarded" },
    });
    expect(await (await get("/v3/models/acme/rich")).json()).toMatchObject({
      context_length: 128_000,
      max_output_tokens: 16_384,
      capabilities: { supports_function_calling: true, supports_reasoning: false, supports_vision: true },
    });
  });

  test("has the context length of its row, else that of the price file", async () => {
    const prices = createPriceBook(builtInPrices);
    const known = prices.facts("openai", "gpt-5")?.contextTokens ?? null;
    expect(known).toBeGreaterThan(100_000);
    const models: ModelFacts[] = [{ id: "gpt-5" }, { id: "gpt-5-mini", contextTokens: 7 }];
    const getPriced = openTestServer(modelsRoutes(createCatalogue([offer("openai", true, models)], () => [], prices)));
    const list = (await (await getPriced("/v3/models")).json()) as ModelList;
    expect(list.data.map(({ id, context_length }) => [id, context_length])).toEqual([
      ["openai/gpt-5", known],
      ["openai/gpt-5-mini", 7],
    ]);
  });

  test("that is not listed is 404 model_not_found", async () => {
    for (const id of ["acme/other", "acme", "nobody/plain", "__proto__", "acme/plain/"]) {
      const response = await get(`/v3/models/${id}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "model_not_found", param: "id" } });
    }
  });

  test("of a provider that is not configured is shown only when asked for", async () => {
    expect((await get("/v3/models/later/unreachable")).status).toBe(404);
    const response = await get("/v3/models/later/unreachable?include=unconfigured");
    expect(await response.json()).toMatchObject({ id: "later/unreachable", configured: false });
  });
});

describe("a client that has a copy", () => {
  test("is told 304 without a body as long as the copy stands", async () => {
    for (const path of ["/v3/models", "/v3/models?provider=acme", "/v3/models/acme/rich"]) {
      const first = await get(path);
      const tag = first.headers.get("etag") ?? "";
      expect(tag).toMatch(/^"[\w-]+"$/);
      expect(first.headers.get("cache-control")).toBe("no-cache");

      for (const header of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const second = await get(path, { "if-none-match": header });
        expect(second.status).toBe(304);
        expect(second.headers.get("etag")).toBe(tag);
        expect(await second.text()).toBe("");
      }
      expect((await get(path, { "if-none-match": '"other"' })).status).toBe(200);
    }
  });

  test("gets another tag for other bytes", async () => {
    const paths = ["/v3/models", "/v3/models?include=unconfigured", "/v3/models?provider=acme", "/v3/models/acme/rich"];
    const tags = await Promise.all(paths.map(async (path) => (await get(path)).headers.get("etag")));
    expect(new Set(tags).size).toBe(paths.length);
  });
});

test("entity tags are compared as RFC 9110 says", () => {
  expect(matchesEntityTag(null, '"a"')).toBe(false);
  expect(matchesEntityTag("", '"a"')).toBe(false);
  expect(matchesEntityTag("a", '"a"')).toBe(false);
  expect(matchesEntityTag('"b","a"', '"a"')).toBe(true);
  expect(matchesEntityTag(' W/"b" , W/"a" ', '"a"')).toBe(true);
  expect(matchesEntityTag('"x, \'a"', '"a"')).toBe(false);
  expect(matchesEntityTag(" * ", '"a"')).toBe(true);
});
