// A task that names no model runs the default model of its provider: that model is listed, compared with the key's models, and charged.

import { describe, expect, test } from "bun:test";
import type { SubfeatureDetail } from "../../src/contract/info.ts";
import { findTask } from "../../src/contract/tasks.ts";
import { findListPrice } from "../../src/inference/universal-ai/unit-price.ts";
import { rows } from "../../src/providers/index.ts";
import { answerOf, callOf, fileOf } from "../engines/vendor-calls.ts";
import { answer, type Script } from "../support/answers.ts";
import { askTask, readError } from "../support/chat.ts";
import { picture } from "../support/cloud-tasks.ts";
import type { KeyRequest } from "../support/gateway-settings.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { uploadFile } from "../support/uploads.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const base_url = `http://127.0.0.1:${vendor.port}`;
const access = { base_url, api_key: "sk-of-a-test" };
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0" },
  config: {
    providers: {
      openai: access,
      microsoft: access,
      google: { base_url, api_key: "ya29.token+1" },
      stabilityai: access,
    },
  },
});
const overriding = await sharedGateway({
  vendor,
  config: {
    providers: { openai: { ...access, default_model: { "audio/tts": "tts-1-hd", "text/moderation": "gpt-6-luna" } } },
  },
});

const sound = answer(200, "ID3 sound", { "content-type": "audio/mpeg" });
const image = { image: Buffer.from("png").toString("base64"), finish_reason: "SUCCESS" };
const moderation = { results: [{ category_scores: { violence: 0.1 } }] };
const text = "a".repeat(1_000);

/** One call of a task with a new key. The vendor answers with `response`. */
async function run(
  body: object,
  response: Script,
  { at = gateway, ...key }: KeyRequest & { at?: typeof gateway } = {},
) {
  vendor.clear();
  vendor.next(response);
  return await askTask(at.url, await at.createKey(key), body);
}

describe("a task without a model", () => {
  test.each([
    ["openai", "tts-1", 0.015, sound],
    ["microsoft", "neural", 0.016, sound],
    ["google", "standard", 0.004, answer(200, { audioContent: "SUQz" })],
  ])("audio/tts/%s runs and is charged as %s, within a budget", async (provider, model, cost, response) => {
    const body = { model: `audio/tts/${provider}`, input: { text } };
    const answered = await run(body, response, { budget: { amount: 1, period: "daily" } });
    expect(await answered.json()).toMatchObject({ status: "success", model, cost });
  });

  test("is allowed to a key that may use the default model, and to no other key", async () => {
    const body = { model: "audio/tts/openai", input: { text } };
    const allowed = await run(body, sound, { allowed_models: ["audio/tts/openai/tts-1"] });
    expect(await allowed.json()).toMatchObject({ model: "tts-1" });
    const refused = await run(body, sound, { allowed_models: ["audio/tts/openai/tts-1-hd"] });
    expect(await readError(refused)).toMatchObject({ status: 403, code: "model_not_allowed" });
  });

  test("runs the model that the operator declared for the task", async () => {
    const response = await run({ model: "audio/tts/openai", input: { text } }, sound, { at: overriding });
    expect(await response.json()).toMatchObject({ model: "tts-1-hd", cost: 0.03 });
    expect(vendor.last().model).toBe("tts-1-hd");
  });

  test("sends a chat model that the operator declared to no other API of the provider", async () => {
    const body = { model: "text/moderation/openai", input: { text } };
    const response = await run(body, answer(200, moderation), { at: overriding });
    expect(await response.json()).toMatchObject({ model: "omni-moderation-latest" });
    expect(vendor.last()).toMatchObject({ path: "/moderations", model: "omni-moderation-latest" });
  });

  test("runs the default model that fits its input, and the key has to allow that one", async () => {
    const model = "image/generation/stabilityai";
    const plain = await run({ model, input: { text: "a train" } }, answer(200, image));
    expect(await plain.json()).toMatchObject({ model: "core" });

    const key = await gateway.createKey();
    const uploaded = await uploadFile(gateway.url, key, picture);
    const body = { model, input: { text: "a train", reference_images: [uploaded] } };
    vendor.next(answer(200, image));
    const withReference = await askTask(gateway.url, key, body);
    expect(await withReference.json()).toMatchObject({ model: "sd3.5-large" });
    const refused = await run(body, answer(200, image), { allowed_models: [`${model}/core`] });
    expect(await readError(refused)).toMatchObject({ status: 403, code: "model_not_allowed" });
  });

  test("of a local engine is listed and answered with the engine that is installed", async () => {
    const response = await fetch(`${gateway.url}/v3/info/text/moderation`);
    const { models } = (await response.json()) as SubfeatureDetail;
    const local = models.filter(({ provider }) => provider === "local");
    const names = local.map(({ model }) => model.split("/")[3]);
    const expected = names.includes("minilm") ? "minilm" : "obscenity";
    expect(new Set(local.map(({ default_model }) => default_model))).toEqual(new Set([expected]));
    const body = { model: "text/moderation/local", input: { text: "a kind word" } };
    const answered = await askTask(gateway.url, await gateway.createKey(), body);
    expect(await answered.json()).toMatchObject({ status: "success", model: expected, cost: 0 });
  });

  test("is listed with its default model and the price of that model", async () => {
    const response = await fetch(`${gateway.url}/v3/info/video/generation_async?include=unconfigured`);
    const { models } = (await response.json()) as SubfeatureDetail;
    expect(models.find(({ model }) => model === "video/generation_async/google")).toMatchObject({
      default_model: "veo-3.1-generate-preview",
      pricing: { price: 0.6, price_unit_quantity: 1, price_unit_type: "second" },
    });
    expect(models.find(({ model }) => model === "video/generation_async/amazon")).toMatchObject({
      default_model: "amazon.nova-reel-v1:1",
      pricing: { price: 0.08, price_unit_quantity: 1, price_unit_type: "second" },
    });
  });
});

test("the cost of a model that its provider does not list is null, whatever its other models cost", async () => {
  const body = { model: "image/generation/stabilityai/sd4-unheard-of", input: { text: "a train" } };
  const response = await run(body, answer(200, image));
  expect(await response.json()).toMatchObject({
    status: "success",
    model: "sd4-unheard-of",
    cost: null,
    cost_reason: "price_unknown",
  });
  const refused = await run(body, answer(200, image), { budget: { amount: 1, period: "daily" } });
  expect(await readError(refused)).toMatchObject({ status: 402, code: "price_unknown" });
  expect(vendor.requests).toHaveLength(0);
});

describe("all providers", () => {
  const withModels = rows.flatMap(({ name, tasks = [] }) =>
    tasks.flatMap((task) => (task.models === undefined ? [] : [[`${task.task}/${name}`, task] as const])),
  );

  test.each(withModels)("%s declares its default model", (name, { models = [], defaultModel }) => {
    // AssemblyAI chooses by the language, between models of the same price.
    if (name === "audio/speech_to_text_async/assembly") expect(defaultModel).toBeNull();
    else expect(models).toContain(defaultModel as string);
  });

  test.each(withModels)("%s has a price for each listed model if it has one at all", (name, { task, models = [] }) => {
    const provider = name.slice(task.length + 1);
    const hasPrice = (model: string | null) => findListPrice(findTask(task), provider, model) !== null;
    if (hasPrice(null)) for (const model of models) expect([model, hasPrice(model)]).toEqual([model, true]);
  });

  const withDefault = withModels.filter(([, { defaultModel }]) => defaultModel !== null);
  const file = fileOf(picture, "video/mp4");
  const input = { text: "Hello", prompt: "Hello", language: null, dimension: null, duration: null, num_images: 1 };

  test.each(withDefault)("%s has no other default in its mapping", async (_name, task) => {
    const call = callOf({ input, files: { file } });
    const request = async () => {
      const first = await task.toRequest(call);
      // Some upload the file first.
      return await task.next?.(answerOf({ audio_url: "https://files.example/1" }), call, first);
    };
    await expect(request()).rejects.toThrow("the call has no model");
  });
});
