// GET /v3/info and what is below it, over HTTP.

import { describe, expect, test } from "bun:test";
import { createCatalogue, type TaskOffer } from "../../src/catalogue/catalogue.ts";
import {
  type Feature,
  type FeatureList,
  feature,
  featureList,
  type SubfeatureDetail,
  subfeatureDetail,
} from "../../src/contract/info.ts";
import registry from "../../src/contract/tasks.json";
import { findTask, tasks } from "../../src/contract/tasks.ts";
import { infoRoutes } from "../../src/http/endpoints/info.ts";
import { toTaskOffers } from "../../src/inference/universal-ai/task-offers.ts";
import { rows } from "../../src/providers/index.ts";
import { openTestServer } from "../support/test-server.ts";

const offer: TaskOffer = {
  feature: "text",
  subfeature: "moderation",
  provider: "openai",
  model: "text/moderation/openai",
  defaultModel: null,
  isSandbox: false,
  pricing: { price: 2, price_unit_quantity: 1000, price_unit_type: "request" },
  configured: true,
};

/** Every vendor, and none of them is set up. */
const unconfigured = toTaskOffers(
  rows.flatMap(({ name, tasks: vendorTasks = [] }) =>
    vendorTasks.map(({ task, models = [] }) => ({
      provider: name,
      task,
      models,
      acceptsAnyModel: false,
      unavailableReason: "its key",
      run: () => Promise.reject(new Error("it is not asked")),
    })),
  ),
);
const empty = serve(unconfigured);
const serving = serve([
  offer,
  { ...offer, provider: "local", model: "text/moderation/local", pricing: null },
  ...unconfigured.filter(({ model }) => model !== offer.model),
]);

function serve(offers: readonly TaskOffer[]) {
  return openTestServer(infoRoutes(createCatalogue([], () => offers)));
}

describe("when nothing serves a task", () => {
  test("the list of features is empty", async () => {
    const response = await empty("/v3/info");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ features: [] });
  });

  test("a known feature has no subfeatures", async () => {
    expect(await (await empty("/v3/info/ocr")).json()).toMatchObject({ name: "ocr", fullname: "OCR", subfeatures: [] });
  });

  test("a known task is still described, with its schemas and without models", async () => {
    const response = await empty("/v3/info/text/moderation");
    const detail = subfeatureDetail.strict().parse(await response.json());
    expect(detail).toMatchObject({ feature: "text", name: "moderation", configured: false, models: [] });
    expect(detail.input_schema["required"]).toEqual(["text"]);
  });

  test("everything that is known is shown when asked for, marked as not configured", async () => {
    const list = featureList.strict().parse(await (await empty("/v3/info?include=unconfigured")).json());
    const names = list.features.flatMap(({ name, subfeatures }) => subfeatures.map((one) => `${name}/${one.name}`));
    expect(names.toSorted()).toEqual(registry.tasks.map((task) => `${task.feature}/${task.subfeature}`).toSorted());

    const models = list.features.flatMap((one) => one.subfeatures).flatMap((one) => one.models);
    expect(models.length).toBeGreaterThan(150);
    expect(models.filter(({ configured }) => configured)).toEqual([]);
    expect(new Set(models.map(({ model }) => model)).size).toBe(models.length);
    expect(list.features.every(({ description }) => description !== "")).toBe(true);
  });

  test("list prices are shown where they are known, and null where they are not", async () => {
    const detail = await readDetail(empty, "/v3/info/text/ai_detection?include=unconfigured");
    expect(detail.models).toContainEqual({
      model: "text/ai_detection/sapling",
      provider: "sapling",
      default_model: null,
      pricing: { price: 5, price_unit_quantity: 1_000_000, price_unit_type: "char" },
      mode: "sync",
      configured: false,
    });
    expect(detail.models.find(({ provider }) => provider === "originalityai")).toMatchObject({
      model: "text/ai_detection/originalityai",
      pricing: null,
    });
  });

  test("a price of nothing is 0, not null", async () => {
    const detail = await readDetail(empty, "/v3/info/text/moderation?include=unconfigured");
    expect(detail.models.find(({ model }) => model === "text/moderation/openai")?.pricing?.price).toBe(0);
  });

  test("models without a price of their own are shown by name, and what no engine does is not", async () => {
    const detail = await readDetail(empty, "/v3/info/image/background_removal?include=unconfigured");
    const names = detail.models.map(({ model }) => model);
    expect(names).toContain("image/background_removal/clipdrop");
    expect(
      unconfigured.some(({ model }) => !names.includes(model) && model.startsWith("image/background_removal/")),
    ).toBe(false);
    const known = findTask("image/background_removal").knownOffers.map(({ model }) => model) ?? [];
    const served = new Set(unconfigured.map(({ model }) => model));
    for (const model of known) expect(names.includes(model)).toBe(served.has(model));
  });

  test("tasks that run as jobs say so", async () => {
    const detail = await readDetail(empty, "/v3/info/ocr/ocr_async?include=unconfigured");
    expect(new Set(detail.models.map(({ mode }) => mode))).toEqual(new Set(["async"]));
  });
});

describe("when a task is served", () => {
  test("the list holds its feature and nothing else", async () => {
    const list = (await (await serving("/v3/info")).json()) as FeatureList;
    expect(list.features.map(({ name }) => name)).toEqual(["text"]);
    expect(list.features[0]).toMatchObject({
      configured: true,
      subfeatures: [
        {
          name: "moderation",
          configured: true,
          models: [
            { model: "text/moderation/openai", pricing: offer.pricing, mode: "sync", configured: true },
            { model: "text/moderation/local", pricing: null, mode: "sync", configured: true },
          ],
        },
      ],
    });
  });

  test("the offer stands before the known ones and is not repeated", async () => {
    const detail = await readDetail(serving, "/v3/info/text/moderation?include=unconfigured");
    expect(detail.models[0]).toMatchObject({
      model: "text/moderation/openai",
      pricing: offer.pricing,
      configured: true,
    });
    expect(detail.models.filter(({ model }) => model === "text/moderation/openai")).toHaveLength(1);
    expect(detail.models.some(({ configured }) => !configured)).toBe(true);
  });

  test("its feature is shown with the tasks that are served", async () => {
    const shown = feature.strict().parse(await (await serving("/v3/info/text")).json());
    expect(shown.subfeatures.map(({ name }) => name)).toEqual(["moderation"]);
    const whole = (await (await serving("/v3/info/text?include=unconfigured")).json()) as Feature;
    expect(whole.subfeatures.length).toBeGreaterThan(10);
    // One task that is served is enough.
    expect(whole.configured).toBe(true);
  });
});

test("unknown names are 404, and the error says which one", async () => {
  const cases = [
    ["/v3/info/flying", "feature_not_found", "feature"],
    ["/v3/info/flying/moderation", "feature_not_found", "feature"],
    ["/v3/info/text/flying", "subfeature_not_found", "subfeature"],
    ["/v3/info/ocr/moderation", "subfeature_not_found", "subfeature"],
    ["/v3/info/__proto__", "feature_not_found", "feature"],
  ] as const;
  for (const [path, code, param] of cases) {
    const response = await empty(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code, param } });
  }
});

test("an unknown value of include is refused on every path", async () => {
  for (const path of ["/v3/info", "/v3/info/text", "/v3/info/text/moderation"]) {
    const response = await empty(`${path}?include=everything`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["query", "include"] }] });
  }
});

test("a client that has a copy is told 304", async () => {
  for (const path of ["/v3/info", "/v3/info/text", "/v3/info/text/moderation?include=unconfigured"]) {
    const tag = (await empty(path)).headers.get("etag") ?? "";
    const second = await empty(path, { "if-none-match": tag });
    expect(second.status).toBe(304);
    expect(await second.text()).toBe("");
  }
});

test("every schema is self-contained JSON Schema 2020-12", () => {
  for (const task of tasks) {
    for (const schema of [task.inputSchema, task.outputSchema]) {
      expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
      expect(schema["type"]).toBe("object");
      const definitions = Object.keys((schema["$defs"] as object | undefined) ?? {});
      const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target);
      // What is carried is referred to, and what is referred to is carried.
      expect(new Set(references)).toEqual(new Set(definitions.map((name) => `#/$defs/${name}`)));
    }
  }
  const withFile = findTask("ocr/ocr").inputSchema;
  expect(withFile?.["$defs"]).toHaveProperty("file_input");
});

async function readDetail(get: ReturnType<typeof serve>, path: string): Promise<SubfeatureDetail> {
  return subfeatureDetail.strict().parse(await (await get(path)).json());
}
