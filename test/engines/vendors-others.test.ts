// Vendors with an API of their own for text, images, speech and the web. Answers here are invented, in the members that the mappings read;
// which of those a vendor's own page confirms differs from vendor to vendor.

import { describe, expect, test } from "bun:test";
import { GatewayError, ValidationError } from "../../src/errors.ts";
import { api4ai } from "../../src/providers/api4ai/index.ts";
import { base64 } from "../../src/providers/base64/index.ts";
import { clipdrop } from "../../src/providers/clipdrop/index.ts";
import { deepgram } from "../../src/providers/deepgram/index.ts";
import { deepl } from "../../src/providers/deepl/index.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/index.ts";
import { firecrawl } from "../../src/providers/firecrawl/index.ts";
import { linkup } from "../../src/providers/linkup/index.ts";
import { mistral } from "../../src/providers/mistral/index.ts";
import { modernmt } from "../../src/providers/modernmt/index.ts";
import { openai } from "../../src/providers/openai/index.ts";
import { originalityai } from "../../src/providers/originalityai/index.ts";
import { photoroom } from "../../src/providers/photoroom/index.ts";
import { privateai } from "../../src/providers/privateai/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { sapling } from "../../src/providers/sapling/index.ts";
import { sentisight } from "../../src/providers/sentisight/index.ts";
import { stabilityai } from "../../src/providers/stabilityai/index.ts";
import { tavily } from "../../src/providers/tavily/index.ts";
import { winstonai } from "../../src/providers/winstonai/index.ts";
import { type Answer, type Asked, ask, document, image, key, png } from "./vendors-others/ask.ts";

const mp3 = Buffer.from("fffb9064", "hex");
const pngBase64 = png.toString("base64");

async function refusalOf(promise: Promise<unknown>): Promise<ValidationError> {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ValidationError)) throw new Error(`it was not refused: ${String(error)}`);
  return error;
}

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof GatewayError)) throw new Error(`it did not fail: ${String(error)}`);
  return error;
}

describe("moderation of text", () => {
  const scores = { sexual: 0.001, "violence/graphic": 0.93, "self-harm/intent": 0, "something/new": 0.3 };
  const answers: Answer[] = [{ json: { results: [{ flagged: true, category_scores: scores }] } }];

  test("scores become likelihoods from 0 to 5, and the worst one speaks for the whole", async () => {
    const { output, answer, seen } = await ask({
      row: openai,
      task: "text/moderation",
      answers,
      input: { text: "hm" },
    });
    expect(output).toMatchObject({ nsfw_likelihood: 5, nsfw_likelihood_score: 0.93 });
    expect(output["items"]).toEqual([
      { label: "sexual", likelihood: 1, category: "Sexual", subcategory: "Sexual", likelihood_score: 0.001 },
      {
        label: "violence/graphic",
        likelihood: 5,
        category: "Violence",
        subcategory: "GraphicViolenceOrGore",
        likelihood_score: 0.93,
      },
      {
        label: "self-harm/intent",
        likelihood: 0,
        category: "Violence",
        subcategory: "PhysicalViolence",
        likelihood_score: 0,
      },
      { label: "something/new", likelihood: 2, category: "Other", subcategory: "Other", likelihood_score: 0.3 },
    ]);
    expect(answer.units).toEqual({ request: 1 });
    expect(seen[0]?.headers.get("authorization")).toBe(`Bearer ${key}`);
    expect(seen[0]?.json).toEqual({ model: "omni-moderation-latest", input: "hm" });
  });

  test("another vendor's categories are told by the same words", async () => {
    const json = { results: [{ category_scores: { hate_and_discrimination: 0.5, pii: 0.1, law: 0.2 } }] };
    const { output } = await ask({ row: mistral, task: "text/moderation", answers: [{ json }], input: { text: "hm" } });
    expect(output["items"]).toMatchObject([
      { category: "HateAndExtremism", subcategory: "Hate", likelihood: 3 },
      { category: "Other" },
      { category: "Content", subcategory: "Legal" },
    ]);
  });
});

describe("what wrote a text, and where it comes from", () => {
  test("sentences are scored one by one", async () => {
    const json = {
      score: 0.71,
      sentence_scores: [
        { score: 0.9, sentence: "One." },
        { score: 0.2, sentence: "Two." },
      ],
    };
    const input = { text: "One. Two." };
    const { output, answer, seen } = await ask({ row: sapling, task: "text/ai_detection", answers: [{ json }], input });
    expect(output).toEqual({
      ai_score: 0.71,
      items: [
        { text: "One.", prediction: "ai-generated", ai_score: 0.9, ai_score_detail: 0.9 },
        { text: "Two.", prediction: "original", ai_score: 0.2, ai_score_detail: 0.2 },
      ],
    });
    expect(answer.units).toEqual({ char: 9, request: 1 });
    expect(seen[0]?.json).toEqual({ text: "One. Two.", key });
  });

  test("a score of how human a text is becomes one of how artificial it is", async () => {
    const json = { status: 200, score: 4, sentences: [{ score: 80, text: "One." }] };
    const { output } = await ask({
      row: winstonai,
      task: "text/ai_detection",
      answers: [{ json }],
      input: { text: "x" },
    });
    expect(output).toMatchObject({ ai_score: 0.96, items: [{ ai_score: 0.2, prediction: "original" }] });
  });

  test("plagiarism names the pages and the passages, with scores from 0 to 1", async () => {
    const source = {
      score: 25,
      url: "https://a.example",
      title: "A",
      plagiarismFound: [{ sequence: "the same words" }],
    };
    const json = { status: 200, result: { score: 40 }, sources: [source] };
    const asked = { row: winstonai, task: "text/plagia_detection", input: { text: "the same words" } };
    const { output } = await ask({ ...asked, answers: [{ json }] });
    const candidate = {
      url: "https://a.example",
      plagia_score: 0.25,
      prediction: "plagiarized",
      plagiarized_text: "the same words",
    };
    expect(output).toEqual({ plagia_score: 0.4, items: [{ text: "A", candidates: [candidate] }] });
  });

  test("another vendor tells percentages and phrases", async () => {
    const match = { website: "https://a.example", score: 30, pText: "the same words" };
    const json = { total_text_score: "12%", results: [{ phrase: "the same words", matches: [match] }] };
    const asked = { row: originalityai, task: "text/plagia_detection", input: { text: "the same words", title: "T" } };
    const { output, seen } = await ask({ ...asked, answers: [{ json }] });
    expect(output).toMatchObject({
      plagia_score: 0.12,
      items: [{ text: "the same words", candidates: [{ plagia_score: 0.3, prediction: "not plagiarized" }] }],
    });
    expect(seen[0]?.json).toEqual({ content: "the same words", title: "T" });
    const scored = { score: { original: 0.1, ai: 0.9 }, blocks: [{ text: "A.", result: { fake: 0.8, real: 0.2 } }] };
    const detected = { ...asked, task: "text/ai_detection", answers: [{ json: scored }] };
    expect((await ask(detected)).output).toMatchObject({ ai_score: 0.9, items: [{ text: "A.", ai_score: 0.8 }] });
  });

  test("an uploaded image is refused by a vendor that takes addresses only", async () => {
    const asked: Asked = {
      row: winstonai,
      task: "image/ai_detection",
      answers: [],
      input: { file: crypto.randomUUID() },
    };
    expect((await refusalOf(ask(asked))).problems[0].loc).toEqual(["body", "input", "file"]);
  });

  test("an image's address is passed on", async () => {
    const asked = { row: winstonai, task: "image/ai_detection", input: { file: "https://a.example/b.png" } };
    const { output, seen } = await ask({ ...asked, answers: [{ json: { score: 12, ai_probability: 0.88 } }] });
    expect(output).toEqual({ ai_score: 0.88, prediction: "ai-generated" });
    expect(seen[0]?.json).toEqual({ url: "https://a.example/b.png" });
  });
});

describe("text", () => {
  test("misspellings are found where they stand in the whole text", async () => {
    const edits = [
      {
        start: 4,
        end: 6,
        replacement: "are",
        sentence: "How r yu?",
        sentence_start: 14,
        general_error_type: "Spelling",
      },
      { start: 6, end: 8, replacement: "you", sentence: "How r yu?", sentence_start: 14 },
    ];
    const json = { edits, candidates: { yu: ["you", "your"] } };
    const input = { text: "Hello, world! How r yu?", language: "en" };
    const { output, seen } = await ask({ row: sapling, task: "text/spell_check", answers: [{ json }], input });
    expect(output["items"]).toEqual([
      { text: "r ", type: "Spelling", offset: 18, length: 2, suggestions: [{ suggestion: "are", score: null }] },
      {
        text: "yu",
        type: null,
        offset: 20,
        length: 2,
        suggestions: [
          { suggestion: "you", score: null },
          { suggestion: "your", score: null },
        ],
      },
    ]);
    expect(seen[0]?.json).toMatchObject({ lang: "en" });
  });

  test("the likeliest sentiment that we have a word for is told", async () => {
    const json = {
      overall: [
        [0.6, "MIXED"],
        [0.3, "POSITIVE"],
      ],
      results: [[[0.9, "NEGATIVE"]], []],
      sents: ["One.", "Two."],
    };
    const asked = { row: sapling, task: "text/sentiment_analysis", input: { text: "One. Two." } };
    const { output } = await ask({ ...asked, answers: [{ json }] });
    expect(output).toEqual({
      general_sentiment: "Positive",
      general_sentiment_rate: 0.3,
      items: [{ segment: "One.", sentiment: "Negative", sentiment_rate: 0.9 }],
    });
  });

  test("personal data is hidden character by character, also behind characters of two units", async () => {
    const entity = {
      text: "Luc",
      location: { stt_idx: 3, end_idx: 6 },
      best_label: "NAME_GIVEN",
      labels: { NAME_GIVEN: 0.91, NAME: 0.9 },
    };
    const json = [{ processed_text: "👋, [NAME_GIVEN_1]", entities: [entity], characters_processed: 6 }];
    const asked = { row: privateai, task: "text/anonymization", input: { text: "👋, Luc" } };
    const { output, answer } = await ask({ ...asked, answers: [{ json }] });
    expect(output["result"]).toBe("👋, ***");
    expect(output["entities"]).toMatchObject([
      { category: "PersonalInformation", subcategory: "Name", content: "Luc" },
    ]);
    expect(answer.units).toEqual({ char: 6, request: 1 });
  });

  test("a vehicle number has the same category with every provider", async () => {
    const entity = {
      text: "1HGCM",
      best_label: "VEHICLE_ID",
      labels: { VEHICLE_ID: 1 },
      location: { stt_idx: 0, end_idx: 5 },
    };
    const json = [{ processed_text: "[VEHICLE_ID_1]", entities: [entity] }];
    const { output } = await ask({
      row: privateai,
      task: "text/anonymization",
      input: { text: "1HGCM" },
      answers: [{ json }],
    });
    expect(output["entities"]).toMatchObject([
      { category: "Miscellaneous", subcategory: "VehicleIdentificationNumber", content: "1HGCM", confidence_score: 1 },
    ]);
  });

  test("a translation is billed by the characters that the vendor counted", async () => {
    const json = { translations: [{ detected_source_language: "EN", text: "Hallo", billed_characters: 7 }] };
    const asked = { row: deepl, task: "translation/automatic_translation" };
    const input = { text: "Hello", target_language: "pt-br", source_language: "en-US" };
    const { output, answer, seen } = await ask({ ...asked, answers: [{ json }], input });
    expect(output).toEqual({ text: "Hallo" });
    expect(answer.units).toEqual({ char: 7, request: 1 });
    expect(seen[0]?.headers.get("authorization")).toBe(`DeepL-Auth-Key ${key}`);
    expect(seen[0]?.json).toMatchObject({ text: ["Hello"], target_lang: "PT-BR", source_lang: "EN" });
  });

  test("a language is told with its name, and a question about it may cost nothing", async () => {
    const json = { status: 200, data: { detectedLanguage: "it", billedCharacters: 0 } };
    const asked = { row: modernmt, task: "translation/language_detection", input: { text: "ciao" } };
    const { output, answer, seen } = await ask({ ...asked, answers: [{ json }] });
    expect(output).toEqual({ items: [{ language: "it", display_name: "Italian", confidence: null }] });
    expect(answer.units).toEqual({ char: 0, request: 1 });
    expect(seen[0]?.headers.get("x-http-method-override")).toBe("GET");
    const translated = [{ json: { status: 200, data: { translation: "Hallo", billedCharacters: 4 } } }];
    const input = { text: "ciao", target_language: "de", source_language: "it" };
    const other = await ask({ row: modernmt, task: "translation/automatic_translation", answers: translated, input });
    expect([other.output, other.seen[0]?.json]).toEqual([{ text: "Hallo" }, { q: "ciao", target: "de", source: "it" }]);
  });

  test("parameters for the vendor are merged into its request, and credentials stay ours", async () => {
    const json = { translations: [{ text: "Hallo" }] };
    const asked = { row: deepl, task: "translation/automatic_translation" };
    const input = { text: "Hello", target_language: "de", source_language: null };
    const { seen } = await ask({ ...asked, answers: [{ json }], input, providerParams: { formality: "less" } });
    expect(seen[0]?.json).toMatchObject({ formality: "less", target_lang: "DE" });
    const scored = { row: sapling, task: "text/ai_detection", answers: [{ json: { score: 1 } }], input: { text: "x" } };
    const other = await ask({ ...scored, providerParams: { key: "another" } });
    expect(other.seen[0]?.json).toEqual({ text: "x", key });
  });
});

describe("documents that are translated", () => {
  const handedOver = { json: { document_id: "a/b", document_key: "k1" } };
  const asked = {
    row: deepl,
    task: "translation/document_translation",
    input: { file: "x", target_language: "de", source_language: null },
    files: { file: document },
  };

  test("a document is handed over, asked after and fetched", async () => {
    const done = { json: { document_id: "a/b", status: "done", billed_characters: 50_000 } };
    const translated = { bytes: Buffer.from("%PDF-1.7 de"), mediaType: "application/pdf" };
    const waiting = { json: { document_id: "a/b", status: "translating", seconds_remaining: 0 } };
    const { output, answer, seen } = await ask({ ...asked, answers: [handedOver, waiting, done, translated] });
    expect(output["file"]).toBe(Buffer.from("%PDF-1.7 de").toString("base64"));
    expect(answer.binaries?.[0]?.mediaType).toBe("application/pdf");
    expect(seen.map(({ url }) => url.pathname)).toEqual([
      "/v2/document",
      "/v2/document/a%2Fb",
      "/v2/document/a%2Fb",
      "/v2/document/a%2Fb/result",
    ]);
    expect(seen[0]?.form).toEqual({ target_lang: "DE", file: "invoice.pdf (application/pdf, 8 bytes)" });
    expect(seen.slice(1).map(({ json }) => json)).toEqual(Array(3).fill({ document_key: "k1" }));
  });

  test("a document that cannot be translated is a failure that says why", async () => {
    const failed = {
      json: { document_id: "a/b", status: "error", error_message: "Source and target language are equal." },
    };
    expect((await failureOf(ask({ ...asked, answers: [handedOver, failed] }))).message).toContain("are equal");
  });
});

describe("speech", () => {
  const speech: [ProviderRow, string, Record<string, unknown>][] = [
    [openai, "/audio/speech", { model: "tts-1", input: "Hi", voice: "alloy", response_format: "mp3", speed: 1.5 }],
    [deepgram, "/v1/speak?model=aura-2-thalia-en&encoding=mp3&speed=1.5", { text: "Hi" }],
    [
      elevenlabs,
      "/v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb?output_format=mp3_44100_128",
      { text: "Hi", model_id: "eleven_multilingual_v2", voice_settings: { speed: 1.5 } },
    ],
  ];
  for (const [row, path, body] of speech)
    test(`${row.title} speaks, and its audio is told by an address`, async () => {
      const answers = [{ bytes: mp3, mediaType: "audio/mpeg" }];
      const input = { text: "Hi", voice: null, speed: 1.5, audio_format: "mp3", speaking_pitch: 0 };
      const { answer, seen } = await ask({ row, task: "audio/tts", answers, input });
      expect(answer.binaries).toEqual([
        { base64Path: null, urlPath: ["audio_resource_url"], bytes: mp3, mediaType: "audio/mpeg" },
      ]);
      expect(answer.units).toEqual({ char: 2, request: 1 });
      const { url } = seen[0] ?? { url: new URL("http://nothing") };
      expect(url.pathname + url.search).toBe(path);
      expect(seen[0]?.json).toEqual(body);
    });

  test("a voice is named in full or by its own name, and models by their generation", async () => {
    const voices: [string | undefined, string | null, string][] = [
      ["aura", null, "aura-asteria-en"],
      ["aura", "luna", "aura-luna-en"],
      ["aura-2", "celeste-es", "aura-2-celeste-es"],
      [undefined, "aura-2-zeus-en", "aura-2-zeus-en"],
      ["aura-2-orion-en", null, "aura-2-orion-en"],
    ];
    for (const [model, voice, expected] of voices) {
      const asked = { row: deepgram, task: "audio/tts", answers: [{ bytes: mp3, mediaType: "audio/mpeg" }] };
      const { seen } = await ask({ ...asked, input: { text: "Hi", voice }, ...(model !== undefined && { model }) });
      expect(seen[0]?.url.searchParams.get("model")).toBe(expected);
    }
  });

  test("what a vendor has no parameter for is refused, and nothing is sent", async () => {
    const wanted: [Record<string, unknown>, string][] = [
      [{ speaking_pitch: 20 }, "speaking_pitch"],
      [{ audio_format: "midi" }, "audio_format"],
    ];
    for (const [input, member] of wanted) {
      const refused = ask({ row: openai, task: "audio/tts", answers: [], input: { text: "Hi", ...input } });
      expect((await refusalOf(refused)).problems[0].loc).toEqual(["body", "input", member]);
    }
  });

  test("JSON in the place of audio is a failure of the vendor", async () => {
    const asked = { row: openai, task: "audio/tts", answers: [{ json: { odd: true } }], input: { text: "Hi" } };
    expect((await failureOf(ask(asked))).code).toBe("provider_error");
  });
});

describe("images that are made", () => {
  const made: Answer[] = [
    { json: { output_format: "webp", data: [{ b64_json: pngBase64 }, { b64_json: pngBase64 }] } },
  ];

  test("each image has its base64 and its address", async () => {
    const input = { text: "a cat", resolution: "1024x1024", num_images: 2 };
    const { output, answer, seen } = await ask({ row: openai, task: "image/generation", answers: made, input });
    const item = { image: pngBase64, image_resource_url: "https://gateway.example/result" };
    expect(output).toEqual({ items: [item, item] });
    expect(answer.units).toMatchObject({ image: 2 });
    expect(answer.binaries?.[0]?.mediaType).toBe("image/webp");
    expect(seen[0]?.url.pathname).toBe("/images/generations");
    expect(seen[0]?.json).toEqual({ prompt: "a cat", model: "gpt-image-1.5", n: 2, size: "1024x1024" });
  });

  test("older models are asked for base64", async () => {
    const asked = { row: openai, task: "image/generation", answers: made, input: { text: "a cat", num_images: 1 } };
    const { seen } = await ask({ ...asked, model: "dall-e-3" });
    expect(seen[0]?.json).toMatchObject({ model: "dall-e-3", response_format: "b64_json" });
  });

  test("reference images and a mask make it an edit", async () => {
    const files = { "reference_images.0": image, mask: image };
    const input = { text: "a cat", reference_images: ["x"], mask: "y" };
    const asked = { row: openai, task: "image/generation", answers: made, input, files };
    const { seen } = await ask({ ...asked, providerParams: { quality: "high", mask: "another" } });
    expect(seen[0]?.url.pathname).toBe("/images/edits");
    expect(seen[0]?.form).toEqual({
      prompt: "a cat",
      model: "gpt-image-1.5",
      n: "1",
      quality: "high",
      "image[]": "photo.png (image/png, 24 bytes)",
      mask: "photo.png (image/png, 24 bytes)",
    });
  });

  test("an answer without an image is no answer", async () => {
    const asked = {
      row: openai,
      task: "image/generation",
      answers: [{ json: { data: [] } }],
      input: { text: "a cat" },
    };
    expect((await failureOf(ask(asked))).code).toBe("provider_bad_response");
  });

  test("the vendor's older engines make several images of a size", async () => {
    const json = {
      artifacts: [
        { base64: pngBase64, finishReason: "SUCCESS" },
        { base64: "", finishReason: "CONTENT_FILTERED" },
      ],
    };
    const input = { text: "a cat", resolution: "640x1536", num_images: 2 };
    const { answer, seen } = await ask({ row: stabilityai, task: "image/generation", answers: [{ json }], input });
    expect(answer.units).toMatchObject({ image: 1 });
    expect(seen[0]?.url.pathname).toBe("/v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image");
    expect(seen[0]?.json).toEqual({ text_prompts: [{ text: "a cat" }], samples: 2, width: 640, height: 1536 });
  });

  test("its newer models make one of a ratio", async () => {
    const answers = [{ json: { image: pngBase64, finish_reason: "SUCCESS" } }];
    const asked = { row: stabilityai, task: "image/generation", answers, model: "sd3.5-large" };
    const { seen } = await ask({ ...asked, input: { text: "a cat", resolution: "1344x768" } });
    expect(seen[0]?.url.pathname).toBe("/v2beta/stable-image/generate/sd3");
    expect(seen[0]?.form).toEqual({
      prompt: "a cat",
      output_format: "png",
      model: "sd3.5-large",
      aspect_ratio: "16:9",
    });
    expect((await refusalOf(ask({ ...asked, input: { text: "a", num_images: 3 } }))).problems[0].loc[2]).toBe(
      "num_images",
    );
    expect((await refusalOf(ask({ ...asked, input: { text: "a", resolution: "7x1" } }))).problems[0].loc[2]).toBe(
      "resolution",
    );
  });

  test("an image that the vendor's filter holds back is a refusal of the request", async () => {
    const answers = [{ json: { image: pngBase64, finish_reason: "CONTENT_FILTERED" } }];
    const asked = { row: stabilityai, task: "image/generation", answers, model: "core", input: { text: "a cat" } };
    expect((await failureOf(ask(asked))).code).toBe("provider_rejected_request");
  });
});

describe("backgrounds that are removed", () => {
  const cutters: [ProviderRow, string, string][] = [
    [clipdrop, "/remove-background/v1", "image_file"],
    [photoroom, "/v1/segment", "image_file"],
    [stabilityai, "/v2beta/stable-image/edit/remove-background", "image"],
  ];
  for (const [row, path, field] of cutters)
    test(`${row.title} answers with the image itself`, async () => {
      const answers = [{ bytes: png, mediaType: "image/png" }];
      const asked = { row, task: "image/background_removal", answers, input: { file: "x" }, files: { file: image } };
      const { output, seen } = await ask(asked);
      expect(output).toEqual({ image_b64: pngBase64, image_resource_url: "https://gateway.example/result" });
      expect(seen[0]?.url.pathname).toBe(path);
      expect(seen[0]?.form[field]).toBe("photo.png (image/png, 24 bytes)");
    });

  test("another answers with base64", async () => {
    const entity = { kind: "image", name: "image-without-background", image: pngBase64, format: "PNG" };
    const json = { results: [{ status: { code: "ok" }, entities: [entity] }] };
    const asked = { row: api4ai, task: "image/background_removal", input: { file: "x" }, files: { file: image } };
    const { output, seen } = await ask({ ...asked, answers: [{ json }] });
    expect(output["image_b64"]).toBe(pngBase64);
    expect(seen[0]?.headers.get("x-api-key")).toBe(key);
  });

  test("a file that the vendor does not take is refused before it is sent", async () => {
    const asked = { row: clipdrop, task: "image/background_removal", input: { file: "x" }, files: { file: document } };
    expect((await refusalOf(ask({ ...asked, answers: [] }))).problems[0].loc).toEqual(["body", "input", "file"]);
  });
});

describe("what is in an image", () => {
  const asked = { row: api4ai, input: { file: "x" }, files: { file: image } };
  const found = (objects: unknown[], ...more: unknown[]) => ({
    json: { results: [{ status: { code: "ok" }, entities: [{ kind: "objects", objects }, ...more] }] },
  });
  const cat = { box: [0.1, 0.2, 0.3, 0.4], entities: [{ kind: "classes", classes: { cat: 0.9 } }] };

  test("boxes are told by their edges, relative to the image", async () => {
    const { output, answer } = await ask({ ...asked, task: "image/object_detection", answers: [found([cat])] });
    expect(output["items"]).toEqual([
      { label: "cat", confidence: 0.9, x_min: 0.1, x_max: 0.4, y_min: 0.2, y_max: 0.6 },
    ]);
    expect(answer.units).toMatchObject({ file: 1 });
  });

  test("logos have corners, and those of the second version a name alone", async () => {
    const { output } = await ask({ ...asked, task: "image/logo_detection", answers: [found([cat])] });
    expect(output["items"]).toMatchObject([
      { description: "cat", score: 0.9, bounding_poly: { vertices: [{ x: 0.1, y: 0.2 }, {}, {}, {}] } },
    ]);
    const brands = { kind: "array", array: [{ name: "Acme", size_category: "large" }, "Other"] };
    const second = { ...asked, model: "v2", task: "image/logo_detection", answers: [found([], brands)] };
    const { output: named, seen } = await ask(second);
    expect(named["items"]).toMatchObject([{ description: "Acme", score: null }, { description: "Other" }]);
    expect(seen[0]?.url.pathname).toBe("/brand-det/v2/results");
  });

  test("an anonymized image comes with what was hidden", async () => {
    const picture = { kind: "image", image: pngBase64, format: "JPEG" };
    const { output, answer } = await ask({ ...asked, task: "image/anonymization", answers: [found([cat], picture)] });
    expect(output["items"]).toEqual([
      { kind: "cat", confidence: 0.9, bounding_boxes: { x_min: 0.1, x_max: 0.4, y_min: 0.2, y_max: 0.6 } },
    ]);
    expect(answer.binaries?.[0]?.mediaType).toBe("image/jpeg");
  });

  test("a face has the points that are known, and null for all that is not", async () => {
    const points = { kind: "namedpoints", namedpoints: { "left-eye": [0.2, 0.3] } };
    const face = { box: [0, 0, 0.5, 0.5], entities: [{ kind: "classes", classes: { face: 0.99 } }, points] };
    const { output } = await ask({ ...asked, task: "image/face_detection", answers: [found([face])] });
    expect(output["items"]).toMatchObject([
      { confidence: 0.99, landmarks: { left_eye: [0.2, 0.3], chin_gnathion: [] }, age: null, emotions: { joy: null } },
    ]);
  });

  test("what is safe does not count as explicit", async () => {
    const json = {
      results: [{ status: { code: "ok" }, entities: [{ kind: "classes", classes: { nsfw: 0.05, sfw: 0.95 } }] }],
    };
    const { output } = await ask({ ...asked, task: "image/explicit_content", answers: [{ json }] });
    expect(output).toMatchObject({ nsfw_likelihood: 1, nsfw_likelihood_score: 0.05 });
  });

  test("text is read with its boxes", async () => {
    const line = { box: [0.1, 0.2, 0.5, 0.05], entities: [{ kind: "text", text: "Hello" }] };
    const { output } = await ask({ ...asked, task: "ocr/ocr", answers: [found([line])] });
    expect(output).toEqual({
      text: "Hello",
      bounding_boxes: [{ text: "Hello", left: 0.1, top: 0.2, width: 0.5, height: 0.05 }],
    });
  });

  test("pixels become parts of the image, and percentages scores", async () => {
    const own = { row: sentisight, input: { file: "x", language: "en" }, files: { file: image } };
    const objects = [{ label: "Couch", score: 80, x0: 200, y0: 100, x1: 400, y1: 300 }];
    const { output } = await ask({ ...own, task: "image/object_detection", answers: [{ json: objects }] });
    expect(output["items"]).toEqual([
      { label: "Couch", confidence: 0.8, x_min: 0.25, x_max: 0.5, y_min: 0.25, y_max: 0.75 },
    ]);
    const points = [
      { x: 80, y: 40 },
      { x: 160, y: 40 },
      { x: 160, y: 80 },
      { x: 80, y: 80 },
    ];
    const { output: read, seen } = await ask({
      ...own,
      task: "ocr/ocr",
      answers: [{ json: [{ label: "Hi", points }] }],
    });
    expect(read).toEqual({
      text: "Hi",
      bounding_boxes: [{ text: "Hi", left: 0.1, top: 0.1, width: 0.1, height: 0.1 }],
    });
    expect(seen[0]?.url.search).toBe("?lang=en");
    const classes = [
      { label: "unsafe", score: 20 },
      { label: "safe", score: 80 },
    ];
    const { output: judged } = await ask({ ...own, task: "image/explicit_content", answers: [{ json: classes }] });
    expect(judged).toMatchObject({ nsfw_likelihood: 2, nsfw_likelihood_score: 0.2 });
  });

  test("a failure that comes with status 200 is a failure", async () => {
    const json = { results: [{ status: { code: "failure", message: "Can not load image." }, entities: [] }] };
    const failure = await failureOf(ask({ ...asked, task: "image/object_detection", answers: [{ json }] }));
    expect(failure.code).toBe("provider_rejected_request");
    expect(failure.message).toContain("Can not load image.");
  });

  test("another file in the place of the checked one is refused", async () => {
    const other = {
      ...asked,
      task: "image/object_detection",
      answers: [],
      providerParams: { url: "https://a.example" },
    };
    expect((await refusalOf(ask(other))).problems[0].loc).toEqual(["body", "provider_params", "url"]);
  });

  test("faces that match are found in the second image, and their boxes are relative to it", async () => {
    const json = { matches: [{ confidence: 0.7, left: 200, top: 100, width: 400, height: 200, label: "face" }] };
    const files = { file1: image, file2: image };
    const compared = { row: base64, task: "image/face_compare", input: { file1: "x", file2: "y" }, files };
    const { output, seen } = await ask({ ...compared, answers: [{ json }] });
    expect(output["items"]).toEqual([
      { confidence: 0.7, bounding_box: { top: 0.25, left: 0.25, height: 0.5, width: 0.5 } },
    ]);
    expect(seen[0]?.json["queryImage"]).toBe(`data:image/png;base64,${pngBase64}`);
  });
});

describe("the web", () => {
  test("a search has results, sources and what it used", async () => {
    const result = {
      title: "A",
      url: "https://a.example",
      content: "About A",
      score: 0.8,
      published_date: "2026-01-02",
    };
    const json = {
      query: "a?",
      answer: "A it is.",
      images: ["https://a.example/i.png"],
      results: [result],
      usage: { credits: 2 },
    };
    const input = { query: "a?", max_results: 3, depth: "advanced" };
    const { output, answer, seen } = await ask({ row: tavily, task: "web/search", answers: [{ json }], input });
    expect(output).toMatchObject({
      query: "a?",
      answer: "A it is.",
      results: [{ title: "A", url: "https://a.example", content: "About A", score: 0.8, favicon: null }],
      sources: [{ published_date: "2026-01-02", snippet: "About A" }],
      images: [{ url: "https://a.example/i.png" }],
      usage: { credits: 2 },
    });
    expect(answer.units).toEqual({ request: 1, token: 2 });
    expect(seen[0]?.json).toMatchObject({ query: "a?", max_results: 3, search_depth: "advanced" });
  });

  test("a page that could not be read is a failure that says why", async () => {
    const json = { results: [], failed_results: [{ url: "https://a.example", error: "Not found" }] };
    const asked = { row: tavily, task: "web/scraping", answers: [{ json }], input: { url: "https://a.example" } };
    expect((await failureOf(ask(asked))).message).toContain("Not found");
  });

  test("the pages of a site are mapped", async () => {
    const json = { base_url: "a.example", results: ["https://a.example/", "https://a.example/b"] };
    const asked = { row: tavily, task: "web/map", answers: [{ json }], input: { url: "https://a.example" } };
    const { output } = await ask(asked);
    expect(output).toMatchObject({
      base_url: "a.example",
      links: [{ url: "https://a.example/" }, { url: "https://a.example/b" }],
    });
  });

  test("a page is read with its metadata, and its credits are what is billed", async () => {
    const metadata = {
      title: "A",
      description: "About",
      sourceURL: "https://a.example",
      statusCode: 200,
      creditsUsed: 5,
    };
    const json = { success: true, data: { markdown: "# A", links: ["https://b.example"], metadata } };
    const asked = { row: firecrawl, task: "web/scraping", answers: [{ json }], input: { url: "https://a.example" } };
    const { output, answer } = await ask(asked);
    expect(output).toMatchObject({
      title: "A",
      content: "# A",
      status_code: 200,
      links: ["https://b.example"],
      raw_html: null,
    });
    expect(answer.units).toEqual({ request: 1, token: 5 });
  });

  test("a search finds pages, news and images", async () => {
    const data = {
      web: [{ url: "https://a.example", title: "A", description: "About A", position: 1 }],
      news: [{ url: "https://n.example", title: "N", snippet: "News" }],
      images: [{ title: "I", imageUrl: "https://a.example/i.png", imageWidth: 10, imageHeight: 20 }],
    };
    const answers = [{ json: { success: true, data, creditsUsed: 2 } }];
    const { output, answer } = await ask({ row: firecrawl, task: "web/search", answers, input: { query: "a" } });
    expect(output).toMatchObject({
      results: [
        { title: "A", content: "About A" },
        { title: "N", content: "News" },
      ],
      images: [{ url: "https://a.example/i.png", width: 10, height: 20 }],
    });
    expect(answer.units).toEqual({ request: 1, token: 2 });
  });

  test("a site's map costs a credit", async () => {
    const json = { success: true, links: [{ url: "https://a.example/b", title: "B" }] };
    const asked = { row: firecrawl, task: "web/map", answers: [{ json }], input: { url: "https://a.example" } };
    const { output, answer } = await ask(asked);
    expect(output["links"]).toEqual([{ url: "https://a.example/b", title: "B", description: null }]);
    expect(answer.units).toEqual({ request: 1, token: 1 });
  });

  test("an answer that says it did not succeed is a failure", async () => {
    const asked = { row: firecrawl, task: "web/map", answers: [{ json: { success: false, error: "Blocked" } }] };
    const failure = await failureOf(ask({ ...asked, input: { url: "https://a.example" } }));
    expect([failure.code, failure.message.includes("Blocked")]).toEqual(["provider_error", true]);
  });

  test("results that are images stand among the images", async () => {
    const results = [
      { type: "text", name: "A", url: "https://a.example", content: "About A", favicon: "https://a.example/f.ico" },
      { type: "image", name: "I", url: "https://a.example/i.png" },
    ];
    const asked = {
      row: linkup,
      task: "web/search",
      answers: [{ json: { results } }],
      input: { query: "a", depth: null },
    };
    const { output, seen } = await ask(asked);
    expect(output).toMatchObject({
      results: [{ title: "A", content: "About A", favicon: "https://a.example/f.ico" }],
      images: [{ url: "https://a.example/i.png", description: "I" }],
    });
    expect(seen[0]?.json).toEqual({ q: "a", depth: "standard", outputType: "searchResults" });
  });

  test("a page is fetched as text", async () => {
    const answers = [{ json: { markdown: "# A" } }];
    const asked = { row: linkup, task: "web/scraping", answers, input: { url: "https://a.example" } };
    expect((await ask(asked)).output).toMatchObject({ url: "https://a.example", content: "# A", links: [] });
  });
});

describe("text in documents", () => {
  const page = {
    index: 0,
    markdown: "# Title",
    dimensions: { width: 200, height: 100 },
    blocks: [
      { type: "title", content: "Title", top_left_x: 20, top_left_y: 10, bottom_right_x: 120, bottom_right_y: 30 },
    ],
  };
  const answers = [{ json: { pages: [page, { index: 1, markdown: "more" }], usage_info: { pages_processed: 2 } } }];

  test("pages are read in their order and billed by their number, with boxes where they were asked for", async () => {
    const asked = { row: mistral, task: "ocr/ocr", answers, input: { file: "x" }, files: { file: document } };
    const { output, answer, seen } = await ask({ ...asked, providerParams: { include_blocks: true } });
    expect(output).toEqual({
      text: "# Title\n\nmore",
      bounding_boxes: [{ text: "Title", left: 0.1, top: 0.1, width: 0.5, height: 0.2 }],
    });
    expect(answer.units).toMatchObject({ page: 2 });
    expect(seen[0]?.json).toMatchObject({ include_blocks: true, document: { type: "document_url" } });
  });

  test("images are sent as such", async () => {
    const asked = { row: mistral, task: "ocr/ocr", answers, input: { file: "x" }, files: { file: image } };
    const { seen } = await ask(asked);
    expect(seen[0]?.json["document"]).toEqual({ type: "image_url", image_url: `data:image/png;base64,${pngBase64}` });
  });

  test("another document in the place of the checked one is refused", async () => {
    const asked = { row: mistral, task: "ocr/ocr", answers: [], input: { file: "x" }, files: { file: document } };
    const refused = ask({ ...asked, providerParams: { document: { document_url: "https://a.example" } } });
    expect((await refusalOf(refused)).problems[0].loc).toEqual(["body", "provider_params", "document"]);
  });
});
