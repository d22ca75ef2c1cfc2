// Images and moderation in OpenAI's shapes, by its official client, over the engines of the universal endpoint.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { imagesAnswer } from "../../src/contract/images.ts";
import { categoryNames, moderationsAnswer } from "../../src/contract/moderations.ts";
import { answer } from "../support/answers.ts";
import { openMediaGateway, refusalOf, wave } from "../support/media-gateway.ts";
import { PermissionDeniedError, UnprocessableEntityError } from "../tools/node_modules/openai/index.mjs";

const { vendor, gateway, client, keyWith, asked, problemsOf } = await openMediaGateway();

describe("images", () => {
  test("come as signed addresses of the gateway and as base64, the same picture", async () => {
    const images = await client.images.generate({ model: "sandbox/ok", prompt: "A signal box", n: 2, size: "512x512" });
    imagesAnswer.parse(images);
    expect(images).toMatchObject({ provider: "sandbox", cost: 0, model: "ok" });
    expect(Math.abs(images.created - Date.now() / 1_000)).toBeLessThan(60);
    expect(images.data).toHaveLength(2);
    const [first, second] = images.data ?? [];
    expect(first?.b64_json).not.toBe(second?.b64_json);
    expect(first?.url).toStartWith(`${gateway.url}/v3/resources/`);
    const served = await fetch(first?.url ?? "");
    expect(served.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await served.arrayBuffer()).toString("base64")).toBe(first?.b64_json ?? "");
  });

  test("come only as they are asked for, and base64 leaves nothing on the disk", async () => {
    const generate = (response_format: "url" | "b64_json") =>
      client.images.generate({ model: "sandbox/ok", prompt: "A signal box", response_format });
    const before = readdirSync(gateway.dataFolder, { recursive: true }).length;
    const bytes = await generate("b64_json");
    expect(Object.keys(bytes.data?.[0] ?? {})).toEqual(["b64_json"]);
    expect(readdirSync(gateway.dataFolder, { recursive: true }).length).toBe(before);
    expect(Object.keys((await generate("url")).data?.[0] ?? {})).toEqual(["url"]);
  });

  test("reach a vendor with all that its format has", async () => {
    const picture = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");
    const details = { text_tokens: 20, image_tokens: 0 };
    const usage = { input_tokens: 20, output_tokens: 272, total_tokens: 292, input_tokens_details: details };
    vendor.next(answer(200, { created: 1, output_format: "webp", data: [{ b64_json: picture }], usage }));
    const images = await client.images.generate({
      model: "openai/gpt-image-1",
      prompt: "A signal box",
      size: "auto",
      quality: "low",
      background: "transparent",
      output_format: "webp",
    });
    expect(images.data?.[0]?.b64_json).toBe(picture);
    // 20 tokens of text at 5 USD and 272 of the image at 40 USD per million.
    expect(images).toMatchObject({ provider: "openai", cost: 0.01098, model: "gpt-image-1" });
    expect(asked()).toEqual({
      model: "gpt-image-1",
      prompt: "A signal box",
      n: 1,
      quality: "low",
      background: "transparent",
      output_format: "webp",
    });
  });

  test("what is wrong is told by the names of this format", async () => {
    const path = "/v3/images/generations";
    expect((await problemsOf(path, { model: "sandbox/ok" })).problems).toEqual([
      { loc: ["body", "prompt"], type: "missing" },
    ]);
    const request = { model: "sandbox/ok", prompt: "A signal box" };
    const wrong = { ...request, n: 11, size: "huge", response_format: "gif", stream: true };
    expect((await problemsOf(path, wrong)).problems).toEqual([
      { loc: ["body", "n"], type: "less_than_equal" },
      { loc: ["body", "size"], type: "string_pattern_mismatch" },
      { loc: ["body", "response_format"], type: "literal_error" },
      { loc: ["body", "stream"], type: "literal_error" },
    ]);
    expect((await problemsOf(path, { ...request, n: 0 })).problems).toEqual([
      { loc: ["body", "n"], type: "greater_than_equal" },
    ]);
    await expect(Promise.resolve(client.images.generate({ ...request, n: 11 }))).rejects.toBeInstanceOf(
      UnprocessableEntityError,
    );
  });

  test("another engine answers when the first fails", async () => {
    const request = { model: "sandbox/error-500", prompt: "A signal box", fallbacks: ["sandbox/ok"] };
    expect((await client.images.generate(request)).data).toHaveLength(1);
  });
});

describe("moderations", () => {
  test("judge a text, in the names of this format", async () => {
    const judged = await client.moderations.create({ model: "local/obscenity", input: "You are a bastard." });
    moderationsAnswer.parse(judged);
    expect(judged.id).toStartWith("modr-");
    expect(judged).toMatchObject({ model: "obscenity", provider: "local", cost: 0 });
    const [result] = judged.results;
    expect(result?.flagged).toBe(true);
    expect(Object.keys(result?.categories ?? {}).sort()).toEqual([...categoryNames].sort());
    expect(result?.categories.harassment).toBe(true);
    expect(result?.category_scores.harassment).toBe(0.8);
    expect(result?.category_applied_input_types.harassment).toEqual(["text"]);
    expect(result?.categories["self-harm"]).toBe(false);
    expect(result?.category_applied_input_types["self-harm"]).toEqual([]);
  });

  test("a category that the format does not know keeps a name of its own", async () => {
    const judged = await client.moderations.create({ model: "local/obscenity", input: "This is shit." });
    const [result] = judged.results;
    expect(result?.categories).toMatchObject({ "toxic/profanity": true, harassment: false });
    expect(result?.flagged).toBe(true);
  });

  test("several texts have a result each, in their order; parts of one text have one", async () => {
    const texts = ["Good morning.", "You are a bastard.", "Good evening.", "Thank you.", "See you.", "You bastard."];
    const judged = await client.moderations.create({ model: "local", input: texts });
    expect(judged.results.map(({ flagged }) => flagged)).toEqual([false, true, false, false, false, true]);
    const parts = texts.map((text) => ({ type: "text" as const, text }));
    const whole = await client.moderations.create({ model: "local", input: parts });
    expect(whole.results.map(({ flagged }) => flagged)).toEqual([true]);
  });

  test("a vendor's own judgement is passed on as it is, and costs add up", async () => {
    const scores = Object.fromEntries(categoryNames.map((name) => [name, 0.01]));
    const own = {
      flagged: true,
      categories: { ...Object.fromEntries(categoryNames.map((name) => [name, false])), violence: true },
      category_scores: { ...scores, violence: 0.31 },
      category_applied_input_types: Object.fromEntries(categoryNames.map((name) => [name, ["text"]])),
    };
    vendor.on("omni-moderation-latest", answer(200, { id: "modr-1", model: "omni", results: [own] }));
    const judged = await client.moderations.create({ model: "openai/omni-moderation-latest", input: ["one", "two"] });
    expect(judged.results as unknown[]).toEqual([own, own]);
    expect(judged).toMatchObject({ provider: "openai", model: "omni-moderation-latest", cost: 0 });
    expect(vendor.requests).toHaveLength(2);
    expect(asked()).toEqual({ model: "omni-moderation-latest", input: "two" });
  });

  test("one text that fails fails all, and no others are begun", async () => {
    const result = { flagged: false, categories: {}, category_scores: { violence: 0.01 } };
    vendor.on("omni-moderation-latest", ({ body }) =>
      body.includes('text 1"') ? answer(400, { error: { message: "too long" } }) : answer(200, { results: [result] }),
    );
    const call = client.moderations.create({
      model: "openai/omni-moderation-latest",
      input: Array.from({ length: 20 }, (_, index) => `text ${index}`),
    });
    expect(await refusalOf(call)).toMatchObject({ status: 400, code: "provider_rejected_request" });
    expect(vendor.requests.length).toBeLessThan(9);
  });

  test("pictures, nothing, and too much are refused", async () => {
    const path = "/v3/moderations";
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    const problems = async (input: unknown) => (await problemsOf(path, { model: "local", input })).problems;
    expect(await problems([image])).toEqual([
      { loc: ["body", "input", 0, "type"] as never, type: "literal_error" },
      { loc: ["body", "input", 0, "text"] as never, type: "missing" },
    ]);
    expect(await problems("")).toEqual([{ loc: ["body", "input"], type: "string_too_short" }]);
    expect(await problems([])).toEqual([{ loc: ["body", "input"], type: "too_short" }]);
    expect(await problems(Array.from({ length: 33 }, () => "a"))).toEqual([
      { loc: ["body", "input"], type: "too_long" },
    ]);
    expect(await problems(["a", { type: "text", text: "b" }])).toEqual([
      { loc: ["body", "input"], type: "value_error" },
    ]);
    expect(await problems(7)).toEqual([{ loc: ["body", "input"], type: "string_type" }]);
  });
});

describe("keys", () => {
  test("a sandbox key is answered by the sandbox, whatever the model", async () => {
    const sandbox = await keyWith({ kind: "sandbox" });
    const request = { model: "openai/tts-1", voice: "nova", input: "Hello" };
    const { response } = await sandbox.audio.speech.create(request).withResponse();
    expect(response.headers.get("x-switchyard-provider")).toBe("sandbox");
    const transcript = await sandbox.audio.transcriptions.create({ model: "openai/whisper-1", file: await wave() });
    expect(transcript).toMatchObject({ provider: "sandbox", cost: 0 });
    expect(await sandbox.images.generate({ model: "openai/dall-e-3", prompt: "A" })).toMatchObject({
      provider: "sandbox",
    });
    expect(await sandbox.moderations.create({ model: "openai/omni", input: "A" })).toMatchObject({
      provider: "sandbox",
    });
    expect(vendor.requests).toHaveLength(0);
  });

  test("a key's models may be named as here, or as the task's", async () => {
    for (const pattern of ["sandbox/*", "text/moderation/*", "text/moderation/sandbox/ok"]) {
      const narrow = await keyWith({ allowed_models: [pattern] });
      expect((await narrow.moderations.create({ model: "sandbox/ok", input: "Hello" })).results).toHaveLength(1);
      if (pattern === "text/moderation/*") continue;
      const other = narrow.moderations.create({ model: "openai/omni", input: "Hello" });
      expect(await refusalOf(other)).toMatchObject({ status: 403, code: "model_not_allowed", param: "model" });
    }
    const narrow = await keyWith({ allowed_models: ["sandbox/*"] });
    const withFallback = { model: "sandbox/ok", prompt: "A", fallbacks: ["openai/dall-e-3"] };
    await expect(Promise.resolve(narrow.images.generate(withFallback))).rejects.toBeInstanceOf(PermissionDeniedError);
  });

  test("a key without the scope is refused", async () => {
    const narrow = await keyWith({ scopes: ["chat", "embeddings", "responses"] });
    const calls = [
      narrow.audio.speech.create({ model: "local", voice: "slt", input: "Hello" }),
      narrow.images.generate({ model: "sandbox/ok", prompt: "A" }),
      narrow.moderations.create({ model: "local", input: "Hello" }),
    ];
    for (const call of calls) expect(await refusalOf(call)).toMatchObject({ status: 403, code: "insufficient_scope" });
  });
});
