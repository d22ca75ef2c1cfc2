// Text and speech tasks of the smaller vendors: what is sent, and how answers are read.

import { describe, expect, test } from "bun:test";
import { deepgram } from "../../src/providers/deepgram/index.ts";
import { deepl } from "../../src/providers/deepl/index.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/index.ts";
import { mistral } from "../../src/providers/mistral/index.ts";
import { modernmt } from "../../src/providers/modernmt/index.ts";
import { openai } from "../../src/providers/openai/index.ts";
import { originalityai } from "../../src/providers/originalityai/index.ts";
import { privateai } from "../../src/providers/privateai/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { sapling } from "../../src/providers/sapling/index.ts";
import { winstonai } from "../../src/providers/winstonai/index.ts";
import { failureOf, pngBase64, refusalOf } from "../support/task-failures.ts";
import { type Answer, type Asked, ask, document, image, key } from "./vendors-others/ask.ts";

const mp3 = Buffer.from("fffb9064", "hex");

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

  test("another vendor's categories are mapped to the same words", async () => {
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
      ["aura", "aura-luna-en", "aura-luna-en"],
      ["aura-2-orion-en", null, "aura-2-orion-en"],
    ];
    for (const [model, voice, expected] of voices) {
      const asked = { row: deepgram, task: "audio/tts", answers: [{ bytes: mp3, mediaType: "audio/mpeg" }] };
      const { seen } = await ask({ ...asked, input: { text: "Hi", voice }, ...(model !== undefined && { model }) });
      expect(seen[0]?.url.searchParams.get("model")).toBe(expected);
    }
  });

  test("a voice of deepgram chooses its model where the caller names none", async () => {
    const input = { text: "Hi", voice: "aura-luna-en" };
    const answers = [{ bytes: mp3, mediaType: "audio/mpeg" }];
    const { seen } = await ask({ row: deepgram, task: "audio/tts", answers, input });
    expect(seen[0]?.url.searchParams.get("model")).toBe("aura-luna-en");
    const speak = deepgram.tasks?.find(({ task }) => task === "audio/tts");
    expect(speak?.defaultModelFor?.(input)).toBe("aura");
    expect(speak?.defaultModelFor?.({ text: "Hi", voice: "aura-2-zeus-en" })).toBe("aura-2");
    expect(speak?.defaultModelFor?.({ text: "Hi", voice: "zeus" })).toBeNull();
  });

  test.each([
    ["aura", "aura-2-thalia-en"],
    ["aura", "2-thalia-en"],
    ["aura", "2-thalia"],
    ["aura-2", "aura-luna-en"],
    ["aura-luna-en", "aura-2-thalia-en"],
  ])("deepgram's model %s, which sets the price, refuses the voice %s", async (model, voice) => {
    const refused = ask({ row: deepgram, task: "audio/tts", answers: [], model, input: { text: "Hi", voice } });
    expect((await refusalOf(refused)).problems[0].loc).toEqual(["body", "input", "voice"]);
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
