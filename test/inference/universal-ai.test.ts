// POST /v3/universal-ai over HTTP: every kind of engine behind one endpoint, and what a caller may rely on with each of them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { FeatureList, SubfeatureDetail } from "../../src/contract/info.ts";
import { parseExactJson } from "../../src/lib/exact-json.ts";
import { answer, completion, fin, hang, type Script } from "../support/answers.ts";
import { startCanary } from "../support/canary.ts";
import { ask, readError } from "../support/chat.ts";
import { type Gateway, type KeyRequest, providerSecret } from "../support/gateway-settings.ts";
import { moderation, openTaskGateway, path, png, safe, saplingKey } from "../support/task-gateway.ts";
import { testGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const { vendor, gateway, host, key, send, run, refuse, problemsOf, lastBody, upload } = await openTaskGateway();

describe("an answer", () => {
  test("has the same members from the sandbox, which is free", async () => {
    const answered = await run(moderation("sandbox"));
    expect(Object.keys(answered).toSorted()).toEqual([
      "cost",
      "feature",
      "model",
      "output",
      "provider",
      "provider_time",
      "status",
      "subfeature",
    ]);
    expect(answered).toMatchObject({
      status: "success",
      cost: 0,
      provider: "sandbox",
      model: null,
      feature: "text",
      subfeature: "moderation",
    });
    expect(answered.output).toMatchObject({ nsfw_likelihood: expect.any(Number) });
    expect(answered.provider_time).toBeGreaterThanOrEqual(0);
  });

  test("names the model that was named", async () => {
    expect(await run(moderation("sandbox/ok"))).toMatchObject({ provider: "sandbox", model: "ok" });
  });

  test("comes from a provider of the operator's own, asked in our shape with its key", async () => {
    const output = { nsfw_likelihood: 4, nsfw_likelihood_score: 0.8, items: [] };
    vendor.on("text/moderation/inhouse", answer(200, { status: "success", cost: 0.25, output }));
    const answered = await run({ ...moderation("inhouse"), provider_params: { strict: true } });
    expect(answered).toMatchObject({ provider: "inhouse", model: null, cost: 0.25, output });
    expect(answered).not.toHaveProperty("cost_reason");
    expect(vendor.last()).toMatchObject({ method: "POST", path: "/tasks/v1/universal-ai" });
    expect(vendor.last().headers["authorization"]).toBe(`Bearer ${providerSecret}`);
    expect(lastBody()).toEqual({
      model: "text/moderation/inhouse",
      input: { text: "hello", language: null },
      provider_params: { strict: true },
    });
  });

  test("comes from this machine alone, where a local engine does the task", async () => {
    const text = "Der schnelle braune Fuchs springt über den faulen Hund.";
    const answered = await run({ model: "translation/language_detection/local", input: { text } });
    expect(answered).toMatchObject({ provider: "local", model: null, cost: 0 });
    expect(answered.output["items"]).toContainEqual({
      language: "de",
      display_name: "German",
      confidence: expect.any(Number),
    });
    expect(vendor.requests).toHaveLength(0);
  });

  test("comes from a chat model that is held to the task's form, at the price of its tokens", async () => {
    const said = { general_sentiment: "Positive", general_sentiment_rate: 0.9, items: [] };
    vendor.on("priced", answer(200, completion(JSON.stringify(said))));
    const answered = await run({
      model: "text/sentiment_analysis/mockchat/priced",
      input: { text: "What a lovely day" },
    });
    // 9 tokens in, 3 out.
    expect(answered).toMatchObject({ provider: "mockchat", model: "priced", output: said, cost: 0.0039 });
    expect(vendor.last().path).toBe("/mockchat/v1/chat/completions");
    expect(lastBody()).toMatchObject({ model: "priced", response_format: { type: "json_schema" } });
    expect(vendor.last().body.toString()).toContain("What a lovely day");
  });

  test("of a chat model that does not keep to the form is refused after a second try", async () => {
    vendor.on("echo", answer(200, completion("I would rather not")));
    const refused = await refuse({ model: "text/sentiment_analysis/mockchat/echo", input: { text: "fine" } });
    expect(refused).toMatchObject({ status: 502, code: "provider_bad_response" });
    expect(vendor.requests).toHaveLength(2);
  });

  test("holds what the provider itself said only when that is asked for", async () => {
    vendor.on("text/moderation/inhouse", answer(200, { output: safe, x_odd: 1 }));
    expect(await run(moderation("inhouse"))).not.toHaveProperty("original_response");
    expect(await run({ ...moderation("inhouse"), show_original_response: false })).not.toHaveProperty(
      "original_response",
    );
    const shown = await run({ ...moderation("inhouse"), show_original_response: true });
    expect(shown.original_response).toEqual({ output: safe, x_odd: 1 });
  });

  test("holds numbers of the provider's own answer digit for digit", async () => {
    const original = '{"id":9007199254740993,"one":1.0}';
    vendor.on("text/moderation/inhouse", answer(200, { output: safe, original_response: parseExactJson(original) }));
    const text = await (await send({ ...moderation("inhouse"), show_original_response: true })).text();
    expect(text).toContain(`"original_response":${original}`);
  });

  test("tells of its attempts when that is asked for", async () => {
    const headers = { "x-switchyard-metadata": "true" };
    const { switchyard } = await run(moderation("sandbox"), { headers });
    expect(switchyard?.attempts).toEqual([
      expect.objectContaining({ provider: "sandbox", reason: "first", outcome: "answered" }),
    ]);
    expect(await run(moderation("sandbox"))).not.toHaveProperty("switchyard");
  });
});

describe("the input", () => {
  test("is checked against the task's schema, with all its problems at once", async () => {
    const input = { text: "", speed: 9, speaking_pitch: 1.5, tempo: 1 };
    const problems = await problemsOf({ model: "audio/tts/sandbox", input });
    expect(problems).toHaveLength(4);
    expect(problems).toContainEqual({ loc: ["body", "input", "text"], type: "string_too_short" });
    expect(problems).toContainEqual({ loc: ["body", "input", "speed"], type: "less_than_equal" });
    expect(problems).toContainEqual({ loc: ["body", "input", "speaking_pitch"], type: "int_from_float" });
    expect(problems).toContainEqual({ loc: ["body", "input", "tempo"], type: "extra_forbidden" });
  });

  test("that lacks a member says which", async () => {
    expect(await problemsOf({ model: "translation/automatic_translation/sandbox", input: {} })).toEqual([
      { loc: ["body", "input", "text"], type: "missing" },
      { loc: ["body", "input", "target_language"], type: "missing" },
    ]);
  });

  test("reaches no provider while it is invalid", async () => {
    await problemsOf(moderation("inhouse", 5));
    expect(vendor.requests).toHaveLength(0);
  });

  test("gets the defaults of the schema", async () => {
    vendor.on("audio/tts/inhouse", answer(200, { output: { audio: "SUQzBAA=" } }));
    await run({ model: "audio/tts/inhouse", input: { text: "hi", voice: "ada" } });
    expect(lastBody()["input"]).toEqual({
      text: "hi",
      voice: "ada",
      speed: null,
      audio_format: "mp3",
      speaking_pitch: null,
      speaking_volume: null,
    });
  });
});

describe("a model that no provider serves", () => {
  test.each([
    ["smell/detect/sandbox", "feature_not_found"],
    ["text/detect_smell/sandbox", "subfeature_not_found"],
    ["text/moderation/nosuch", "provider_not_found"],
    ["image/background_removal/inhouse", "provider_not_found"],
    ["text/ai_detection/sapling/nosuch", "model_not_found"],
    ["text/moderation/sandbox/nosuch", "model_not_found"],
  ])("%s is 404 %s", async (model, code) => {
    const input = model.startsWith("image/") ? { file: `${host.url}/scan.png` } : { text: "hi" };
    expect(await refuse({ model, input })).toMatchObject({ status: 404, code, param: "model" });
  });

  test.each([
    ["smell/detect/sandbox", "There is no feature 'smell'. GET"],
    ["txt/moderation/sandbox", "There is no feature 'txt'; did you mean 'text'? GET"],
    ["text/detect_smell/sandbox", "'text' has no subfeature 'detect_smell'. GET"],
    ["text/moderatoin/sandbox", "'text' has no subfeature 'moderatoin'; did you mean 'moderation'? GET"],
    ["text/moderation/42", "No provider '42' serves text/moderation here. GET"],
    ["text/moderation/inhuose", "No provider 'inhuose' serves text/moderation here; did you mean 'inhouse'? GET"],
    ["text/ai_detection/sapling/42", "'sapling' has no model '42' for text/ai_detection; name the provider alone. GET"],
    ["text/moderation/local/42", "'local' has no model '42' for text/moderation. GET"],
    ["text/moderation/local/obscenty", "for text/moderation; did you mean 'obscenity'? GET"],
  ])("%s gets a suggestion only if a known name is similar", async (model, message) => {
    expect((await refuse({ model, input: { text: "hi" } })).message).toContain(message);
  });

  test("is not configured when only a setting is missing, and the setting is named", async () => {
    const refused = await refuse({ model: "text/ai_detection/winstonai", input: { text: "hi" } });
    expect(refused).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(refused.message).toContain("WINSTONAI_API_KEY");
    expect(refused.headers.get("x-should-retry")).toBe("false");
  });

  test("runs as a job only where its task does, and the right path is named", async () => {
    const refused = await refuse({ model: "ocr/ocr_async/inhouse", input: { file: `${host.url}/scan.png` } });
    expect(refused).toMatchObject({ status: 400, code: "async_only", param: "model" });
    expect(refused.message).toContain("/v3/universal-ai/async");
    expect(host.hits()).toBe(0);
  });
});

describe("fallbacks", () => {
  const text = "Le renard brun saute par-dessus le chien paresseux.";
  const model = "translation/language_detection/inhouse";

  test.each<[string, Script]>([
    ["fails", answer(500, { error: { message: "down" } })],
    ["is asked too often", answer(429, { error: { message: "slow down" } })],
    ["refuses our key", answer(401, { error: { message: "no" } })],
    ["hangs up", [fin]],
    ["talks nonsense", answer(200, "<html>")],
    ["answers what is no output of the task", answer(200, { output: { items: [{ lang: "fr" }] } })],
  ])(
    "take over when the first engine %s",
    async (_what, script) => {
      vendor.on(model, script);
      const fallbacks = ["translation/language_detection/local"];
      const headers = { "x-switchyard-metadata": "true" };
      const answered = await run({ model, input: { text }, fallbacks }, { headers });
      expect(answered).toMatchObject({ provider: "local", output: { items: [{ language: "fr" }] } });
      expect(vendor.requests.length).toBeGreaterThan(0);
      expect(answered.switchyard?.attempts).toMatchObject([
        { provider: "inhouse", reason: "first" },
        { provider: "local", reason: "fallback", outcome: "answered" },
      ]);
    },
    20_000,
  );

  test("take over from a provider that is not set up", async () => {
    const fallbacks = ["text/ai_detection/sandbox"];
    const headers = { "x-switchyard-metadata": "true" };
    const answered = await run({ model: "text/ai_detection/winstonai", input: { text: "hi" }, fallbacks }, { headers });
    expect(answered.provider).toBe("sandbox");
    expect(answered.switchyard?.attempts).toMatchObject([{ provider: "sandbox", reason: "fallback" }]);
  });

  test("are not asked when the first engine answers, nor when it refuses the input", async () => {
    const fallbacks = ["text/moderation/second"];
    vendor.on("text/moderation/inhouse", answer(200, { output: safe }));
    await run({ ...moderation("inhouse"), fallbacks });
    vendor.on("text/moderation/inhouse", answer(400, { error: { message: "too rude" } }));
    expect(await refuse({ ...moderation("inhouse"), fallbacks })).toMatchObject({
      status: 400,
      code: "provider_rejected_request",
    });
    expect(vendor.requests.map((request) => request.model)).not.toContain("text/moderation/second");
  });

  test("that fail as well leave the last failure", async () => {
    vendor.on("text/moderation/inhouse", answer(500, { error: { message: "down" } }));
    vendor.on("text/moderation/second", answer(429, { error: { message: "slow down" } }));
    const refused = await refuse({ ...moderation("inhouse"), fallbacks: ["text/moderation/second"] });
    expect(refused).toMatchObject({ status: 429, code: "provider_rate_limited" });
  });

  test("of another task are refused, each by its place", async () => {
    const fallbacks = ["text/moderation/second", "text/summarize/sandbox", "translation/language_detection/local"];
    expect(await problemsOf({ ...moderation("inhouse"), fallbacks })).toEqual([
      { loc: ["body", "fallbacks", 1], type: "value_error" },
      { loc: ["body", "fallbacks", 2], type: "value_error" },
    ]);
    expect(vendor.requests).toHaveLength(0);
  });

  test("of a task whose name only begins like this one are refused", async () => {
    const body = { model: "ocr/ocr/sandbox", input: { file: "x" }, fallbacks: ["ocr/ocr_tables_async/sandbox"] };
    expect(await problemsOf(body)).toEqual([{ loc: ["body", "fallbacks", 0], type: "value_error" }]);
  });

  test("are at most three", async () => {
    const fallbacks = Array.from({ length: 4 }, () => "text/moderation/second");
    expect(await problemsOf({ ...moderation("inhouse"), fallbacks })).toEqual([
      { loc: ["body", "fallbacks"], type: "too_long" },
    ]);
  });

  test("are refused where a voice belongs to one provider", async () => {
    const body = { model: "audio/tts/inhouse", input: { text: "hi" }, fallbacks: ["audio/tts/sandbox"] };
    expect(await problemsOf(body)).toEqual([{ loc: ["body", "fallbacks"], type: "value_error" }]);
  });

  test("that no provider serves are found before any provider is called", async () => {
    const fallbacks = ["text/moderation/nosuch"];
    expect(await refuse({ ...moderation("inhouse"), fallbacks })).toMatchObject({ code: "provider_not_found" });
    expect(vendor.requests).toHaveLength(0);
  });
});

describe("a key", () => {
  const keyWith = (request: KeyRequest) => gateway.createKey(request);

  test("without the scope is refused, after its request was found to be sound", async () => {
    const as = await keyWith({ scopes: ["chat", "responses", "embeddings"] });
    expect(await refuse(moderation("sandbox"), { as })).toMatchObject({ status: 403, code: "insufficient_scope" });
    expect(await problemsOf({ input: {} }, { as })).toEqual([{ loc: ["body", "model"], type: "missing" }]);
  });

  test("with only this scope is enough", async () => {
    expect((await run(moderation("sandbox"), { as: await keyWith({ scopes: ["universal"] }) })).status).toBe("success");
  });

  test("for some models is held to its patterns, fallbacks included", async () => {
    const as = await keyWith({ allowed_models: ["text/*/sandbox", "translation/*"] });
    expect((await run(moderation("sandbox"), { as })).provider).toBe("sandbox");
    const forbidden = { status: 403, code: "model_not_allowed" };
    expect(await refuse(moderation("inhouse"), { as })).toMatchObject(forbidden);
    expect(await refuse(moderation("sandbox/ok"), { as })).toMatchObject(forbidden);
    const fallbacks = ["text/moderation/second"];
    expect(await refuse({ ...moderation("sandbox"), fallbacks }, { as })).toMatchObject(forbidden);
    expect(vendor.requests).toHaveLength(0);
  });

  test("of the sandbox is answered by the sandbox, whichever provider it names", async () => {
    const as = await keyWith({ kind: "sandbox" });
    for (const provider of ["inhouse", "openai/gpt-5", "sandbox"])
      expect(await run(moderation(provider), { as })).toMatchObject({ provider: "sandbox", cost: 0 });
    expect(await problemsOf(moderation("inhouse", 5), { as })).toHaveLength(1);
    expect(vendor.requests).toHaveLength(0);
  });

  test("of the sandbox never makes the gateway open a connection, whatever its requests name", async () => {
    const as = await keyWith({ kind: "sandbox" });
    const canary = await startCanary();
    const file = `https://127.0.0.1:${canary.port}/scan.png`;
    const ocr = (provider: string, file: string) => ({ model: `ocr/ocr/${provider}`, input: { file } });
    expect(await run(ocr("inhouse", file), { as })).toMatchObject({ provider: "sandbox" });
    expect((await run(ocr("inhouse", file), { as })).output["text"]).toContain("scan.png");
    const painted = { model: "image/generation/inhouse", input: { text: "a cat", reference_images: [{ file }] } };
    expect(await run(painted, { as })).toMatchObject({ provider: "sandbox" });
    // Nor does the sandbox for a key that may ask others.
    expect(await run(ocr("sandbox", file))).toMatchObject({ provider: "sandbox" });
    const seen = [{ role: "user", content: [{ type: "image_url", image_url: { url: file } }] }];
    const shown = [{ role: "user", content: [{ type: "image", source: { type: "url", url: file } }] }];
    const sent = [{ role: "user", content: [{ type: "input_image", image_url: file }] }];
    const model = "anthropic/any";
    for (const [path, body] of [
      ["/v3/chat/completions", { model, messages: seen }],
      ["/v3/v1/messages", { model, max_tokens: 50, messages: shown }],
      ["/v3/responses", { model, input: sent }],
    ] as const)
      expect([path, (await ask(gateway.url, as, body, { path })).status]).toEqual([path, 200]);
    expect(canary.hits()).toBe(0);
    expect(vendor.requests).toHaveLength(0);
    canary.server.close();
  });

  test("of the sandbox is told of uploads that are not there, and of what is no file at all", async () => {
    const as = await keyWith({ kind: "sandbox" });
    const problemOf = async (file: string) =>
      (await problemsOf({ model: "ocr/ocr/inhouse", input: { file } }, { as })).map(({ type }) => type);
    expect(await problemOf(crypto.randomUUID())).toEqual(["file_not_found"]);
    expect(await problemOf(await upload(key, png))).toEqual(["file_not_found"]);
    expect(await problemOf("scan.png")).toEqual(["url_parsing"]);
    expect(await problemOf("ftp://127.0.0.1/a.png")).toEqual(["url_scheme"]);
    expect(await problemOf(await upload(as, Buffer.from("#!/bin/sh\n")))).toEqual(["file_type_not_allowed"]);
    const own = await upload(as, png);
    expect(await run({ model: "ocr/ocr/inhouse", input: { file: own } }, { as })).toMatchObject({
      provider: "sandbox",
    });
  });

  test("that falls back from the sandbox to somebody who reads files has them fetched", async () => {
    vendor.on("ocr/ocr/inhouse", answer(200, { output: { text: "read" } }));
    const hits = host.hits();
    const input = { file: `${host.url}/scan.png` };
    const body = { model: "ocr/ocr/sandbox/error-500", input, fallbacks: ["ocr/ocr/inhouse"] };
    expect(await run(body)).toMatchObject({ provider: "inhouse" });
    expect(host.hits()).toBe(hits + 1);
  });
});

describe("the cost", () => {
  test("is the list price of the units that were used", async () => {
    vendor.next(answer(200, { score: 0.75, sentence_scores: [{ sentence: "a", score: 0.75 }] }));
    const answered = await run({ model: "text/ai_detection/sapling", input: { text: "x".repeat(2_000) } });
    expect(answered).toMatchObject({ provider: "sapling", output: { ai_score: 0.75 } });
    // 5 USD for a million characters.
    expect(answered.cost).toBe(0.01);
    expect(answered).not.toHaveProperty("cost_reason");
    expect(vendor.last().path).toBe("/sapling/aidetect");
  });

  test("is null, with a reason, where no price is known", async () => {
    vendor.next(answer(200, { overall: [[0.9, "POSITIVE"]], sents: [], results: [] }));
    const answered = await run({ model: "text/sentiment_analysis/sapling", input: { text: "good" } });
    expect(answered).toMatchObject({ cost: null, cost_reason: "price_unknown" });
    vendor.on("text/moderation/inhouse", answer(200, { output: safe }));
    expect(await run(moderation("inhouse"))).toMatchObject({ cost: null, cost_reason: "price_unknown" });
  });

  test.each(["-1", "1e999", '"0.5"', "null"])("that a provider states as %s is not believed", async (cost) => {
    const body = `{"output":${JSON.stringify(safe)},"cost":${cost}}`;
    vendor.on("text/moderation/inhouse", answer(200, body, { "content-type": "application/json" }));
    expect(await run(moderation("inhouse"))).toMatchObject({ cost: null, cost_reason: "price_unknown" });
  });
});

describe("a provider that misbehaves", () => {
  test.each<[string, unknown]>([
    ["lacks a member", { output: { nsfw_likelihood: 1 } }],
    ["has one too many", { output: { ...safe, mood: "grim" } }],
    ["is out of range", { output: { ...safe, nsfw_likelihood: 6 } }],
    ["is a list", { output: [] }],
    ["is missing", { result: safe }],
    ["is no JSON", "It works!"],
  ])("is a bad gateway when its output %s", async (_what, body) => {
    vendor.on("text/moderation/inhouse", answer(200, body));
    const refused = await refuse(moderation("inhouse"));
    expect(refused).toMatchObject({ status: 502, code: "provider_bad_response", type: "upstream_error" });
    expect(refused.message).toContain("inhouse");
  });

  test("never sees its key, or ours, come out of the gateway", async () => {
    vendor.on("text/moderation/inhouse", answer(400, { error: { message: `the key ${providerSecret} is odd` } }));
    expect((await refuse(moderation("inhouse"))).message).not.toContain(providerSecret);
    vendor.next(answer(401, { msg: `the key ${saplingKey} is odd` }));
    const refused = await refuse({ model: "text/ai_detection/sapling", input: { text: "hi" } });
    expect(refused).toMatchObject({ status: 502, code: "provider_auth_failed" });
    expect(refused.message).not.toContain(saplingKey);
    expect(gateway.log()).not.toContain(providerSecret);
    expect(gateway.log()).not.toContain(saplingKey);
  });
});

describe("a caller who leaves", () => {
  test.each([
    ["a provider of the operator's own", "text/moderation/inhouse"],
    ["a vendor", "text/ai_detection/sapling"],
    ["a chat model", "text/moderation/mockchat/echo"],
  ])("takes the call of %s along", async (_what, model) => {
    vendor.next([hang]);
    const leaving = new AbortController();
    const asked = send({ model, input: { text: "hi" } }, { signal: leaving.signal }).catch(() => "left");
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    leaving.abort();
    expect(await asked).toBe("left");
    await vendor.waitFor("the vendor to be let go", ([request]) => request?.leftAt != null);
    expect(vendor.requests).toHaveLength(1);
    await waitFor("the attempt to be told", () => attemptsOf(model).at(-1)?.["outcome"] === "caller_left");
  });

  function attemptsOf(model: string): Record<string, unknown>[] {
    const [, , provider] = model.split("/");
    const lines = gateway
      .log()
      .split("\n")
      .filter((line) => line.includes('"outcome"'));
    return lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((attempt) => attempt["provider"] === provider);
  }
});

describe("a task that takes too long", () => {
  let hasty: Gateway;
  beforeAll(async () => {
    hasty = await testGateway({ vendor, env: { SWITCHYARD_TOTAL_TIMEOUT_MS: "300" } });
  });
  afterAll(() => hasty?.stop());

  test("is given up", async () => {
    const slow = await ask(hasty.url, await hasty.createKey(), moderation("sandbox/hang"), { path });
    expect(await readError(slow)).toMatchObject({ status: 504, code: "provider_timeout" });
    await waitFor("the attempt to be told", () => hasty.log().includes('"outcome":"provider_timeout"'));
  });
});

describe("the listing", () => {
  async function read<Body>(where: string): Promise<Body> {
    const response = await fetch(`${gateway.url}${where}`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    return (await response.json()) as Body;
  }

  test("shows the providers that can be called here, and no others", async () => {
    const { models } = await read<SubfeatureDetail>("/v3/info/text/ai_detection");
    const providers = new Set(models.map(({ provider }) => provider));
    expect(providers.has("sapling")).toBe(true);
    expect(providers.has("sandbox")).toBe(false);
    expect(providers.has("winstonai")).toBe(false);
    expect(models.every(({ configured }) => configured)).toBe(true);
    expect(models).toContainEqual({
      model: "text/ai_detection/sapling",
      provider: "sapling",
      default_model: null,
      pricing: { price: 5, price_unit_quantity: 1_000_000, price_unit_type: "char" },
      mode: "sync",
      configured: true,
    });
    const { models: detectors } = await read<SubfeatureDetail>("/v3/info/translation/language_detection");
    const names = detectors.map(({ model }) => model);
    expect(names).toContain("translation/language_detection/local");
    expect(names).toContain("translation/language_detection/inhouse");
  });

  test("marks the others when they are asked for", async () => {
    const { models } = await read<SubfeatureDetail>("/v3/info/text/ai_detection?include=unconfigured");
    const isConfigured = Object.fromEntries(models.map(({ model, configured }) => [model, configured]));
    expect(isConfigured).toMatchObject({ "text/ai_detection/sapling": true, "text/ai_detection/winstonai": false });
  });

  test("names each model once", async () => {
    const { features } = await read<FeatureList>("/v3/info?include=unconfigured");
    const names = features
      .flatMap(({ subfeatures }) => subfeatures.flatMap(({ models }) => models))
      .map(({ model }) => model);
    expect(names).toContain("text/moderation/inhouse");
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
