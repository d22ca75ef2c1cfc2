// A value that the vendor did not send is null in the output, or its item is left out where the schema requires the value. The gateway
// never makes one up: a score of 0 or a language of "en" would look like the vendor's own.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { rows } from "../../src/providers/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import type { ProviderTaskCall, TaskResult } from "../../src/providers/task.ts";
import { answerOf, callOf, fileOf, read as readAnswer, taskOf } from "./vendor-calls.ts";

/** The head of a PNG of 200 by 100 pixels. */
const picture = Buffer.from("89504e470d0a1a0a0000000d49484452000000c80000006408020000", "hex");
const photo = callOf({ files: { file: fileOf(picture, "image/png") } });
const text = callOf({ input: { text: "Anna met Bob.", language: "en" } });

function rowOf(vendor: string): ProviderRow {
  return rows.find(({ name }) => name === vendor) as ProviderRow;
}

async function read(vendor: string, task: string, json: unknown, call: ProviderTaskCall): Promise<TaskResult> {
  return readAnswer(rowOf(vendor), task, json, call);
}

async function outputOf(vendor: string, task: string, json: unknown, call = text): Promise<JsonObject> {
  return (await read(vendor, task, json, call)).output;
}

describe("a missing score", () => {
  test("is null where the schema allows null", async () => {
    const entity = { Type: "NAME", BeginOffset: 0, EndOffset: 4 };
    expect(await outputOf("amazon", "text/anonymization", { Entities: [entity] })).toMatchObject({
      entities: [{ confidence_score: null }],
    });
    expect(await outputOf("amazon", "text/keyword_extraction", { KeyPhrases: [{ Text: "Anna" }] })).toEqual({
      items: [{ keyword: "Anna", importance: null }],
    });
    expect(await outputOf("amazon", "text/sentiment_analysis", { Sentiment: "POSITIVE" })).toMatchObject({
      general_sentiment: "Positive",
      general_sentiment_rate: null,
    });
    expect(await outputOf("amazon", "image/face_compare", { FaceMatches: [{}] }, photo)).toMatchObject({
      items: [{ confidence: null }],
    });
    expect(
      await outputOf("amazon", "translation/language_detection", { Languages: [{ LanguageCode: "fr" }] }),
    ).toMatchObject({ items: [{ language: "fr", confidence: null }] });
    const detected = { results: { documents: [{ detectedLanguage: { iso6391Name: "fr", name: "French" } }] } };
    expect(await outputOf("microsoft", "translation/language_detection", detected)).toMatchObject({
      items: [{ language: "fr", confidence: null }],
    });
    expect(await outputOf("microsoft", "image/logo_detection", { brands: [{ name: "Acme" }] }, photo)).toMatchObject({
      items: [{ description: "Acme", score: null }],
    });
    expect(await outputOf("sapling", "text/sentiment_analysis", { overall: [[null, "POSITIVE"]] })).toMatchObject({
      general_sentiment: "Positive",
      general_sentiment_rate: null,
    });
    const logo = { entities: [{ kind: "classes", classes: { Acme: null } }], box: [0, 0, 1, 1] };
    const logos = { results: [{ entities: [{ kind: "objects", objects: [logo] }] }] };
    expect(await outputOf("api4ai", "image/logo_detection", logos, photo)).toMatchObject({
      items: [{ description: "Acme", score: null }],
    });
  });

  test("leaves its item out where the schema requires a number", async () => {
    const some = (one: JsonObject, another: JsonObject) => [one, another];
    const label = (more: JsonObject) => ({ Name: "Dog", ...more });
    expect(
      await outputOf("amazon", "image/object_detection", { Labels: some(label({}), label({ Confidence: 50 })) }, photo),
    ).toMatchObject({ items: [{ confidence: 0.5 }] });
    expect(
      await outputOf("amazon", "image/face_detection", { FaceDetails: some({}, { Confidence: 50 }) }, photo),
    ).toMatchObject({ items: [{ confidence: 0.5 }] });
    const object = (more: JsonObject) => ({ object: "dog", ...more });
    expect(
      await outputOf(
        "microsoft",
        "image/object_detection",
        { objects: some(object({}), object({ confidence: 0.5 })) },
        photo,
      ),
    ).toMatchObject({ items: [{ confidence: 0.5 }] });
    const landmarks = some({ name: "Tower" }, { name: "Bridge", confidence: 0.5 });
    expect(
      await outputOf("microsoft", "image/landmark_detection", { categories: [{ detail: { landmarks } }] }, photo),
    ).toMatchObject({ items: [{ description: "Bridge", confidence: 0.5 }] });
    expect(
      await outputOf("sentisight", "image/object_detection", some({ label: "a" }, { label: "b", score: 50 }), photo),
    ).toMatchObject({ items: [{ label: "b", confidence: 0.5 }] });
    const sentences = some({ sentence: "A." }, { sentence: "B.", score: 0.5 });
    expect(await outputOf("sapling", "text/ai_detection", { score: 1, sentence_scores: sentences })).toMatchObject({
      items: [{ text: "B.", ai_score: 0.5 }],
    });
    const blocks = some({ text: "A." }, { text: "B.", result: { fake: 0.5 } });
    expect(await outputOf("originalityai", "text/ai_detection", { score: { ai: 1 }, blocks })).toMatchObject({
      items: [{ text: "B.", ai_score: 0.5 }],
    });
    const matches = some({ website: "https://a.example" }, { website: "https://b.example", score: 50 });
    expect(
      await outputOf("originalityai", "text/plagia_detection", {
        total_text_score: "12%",
        results: [{ phrase: "x", matches }],
      }),
    ).toMatchObject({ items: [{ candidates: [{ url: "https://b.example", plagia_score: 0.5 }] }] });
    const winston = { score: 40, sentences: some({ text: "A." }, { text: "B.", score: 50 }) };
    expect(await outputOf("winstonai", "text/ai_detection", winston)).toMatchObject({
      items: [{ text: "B.", ai_score: 0.5 }],
    });
    const objects = some({ entities: [] }, { entities: [{ kind: "classes", classes: { face: 0.5 } }] });
    expect(
      await outputOf(
        "api4ai",
        "image/face_detection",
        { results: [{ entities: [{ kind: "objects", objects }] }] },
        photo,
      ),
    ).toMatchObject({ items: [{ confidence: 0.5 }] });
  });

  test("of a plagiarism source is not a certainty of 1", async () => {
    const source = { url: "https://a.example", title: "A", plagiarismFound: [{ sequence: "met Bob" }] };
    expect(await outputOf("winstonai", "text/plagia_detection", { score: 30, results: [source] })).toEqual({
      plagia_score: 0.3,
      items: [{ text: "A", candidates: [] }],
    });
  });

  test("of every category makes a moderation answer a bad one, instead of a harmless content", async () => {
    const vision = callOf({ ...photo, model: "vision" });
    expect(read("microsoft", "image/explicit_content", { adult: {} }, vision)).rejects.toThrow(TypeError);
    expect(read("microsoft", "text/moderation", { categoriesAnalysis: [{ category: "Hate" }] }, text)).rejects.toThrow(
      TypeError,
    );
    expect(read("sentisight", "image/explicit_content", [{ label: "unsafe" }], photo)).rejects.toThrow(TypeError);
    expect(read("mistral", "text/moderation", { results: [{}] }, text)).rejects.toThrow(TypeError);
    expect(read("openai", "text/moderation", { results: [{}] }, text)).rejects.toThrow(TypeError);
    expect(read("google", "image/explicit_content", { responses: [{}] }, photo)).rejects.toThrow(TypeError);
  });

  test("of one moderation category leaves that category out", async () => {
    const analysis = [{ category: "Hate" }, { category: "Violence", severity: 7 }];
    expect(await outputOf("microsoft", "text/moderation", { categoriesAnalysis: analysis })).toMatchObject({
      nsfw_likelihood_score: 1,
      items: [{ label: "Violence", likelihood_score: 1 }],
    });
    const safe = { adult: "VERY_LIKELY", spoof: "UNKNOWN" };
    expect(
      await outputOf("google", "image/explicit_content", { responses: [{ safeSearchAnnotation: safe }] }, photo),
    ).toMatchObject({ nsfw_likelihood: 5, items: [{ label: "Adult", likelihood: 5 }] });
  });

  test("of Google is 0, because Google omits members whose value is 0", async () => {
    const answer = { documentSentiment: { magnitude: 0.1 }, sentences: [] };
    expect(await outputOf("google", "text/sentiment_analysis", answer)).toMatchObject({
      general_sentiment: "Neutral",
      general_sentiment_rate: 0,
    });
  });
});

describe("a missing sentiment", () => {
  test("makes the answer a bad one", async () => {
    expect(read("google", "text/sentiment_analysis", {}, text)).rejects.toThrow(TypeError);
    expect(read("amazon", "text/sentiment_analysis", {}, text)).rejects.toThrow(TypeError);
    expect(read("microsoft", "text/sentiment_analysis", { results: { documents: [{}] } }, text)).rejects.toThrow(
      TypeError,
    );
  });

  test("of a mention leaves the mention out", async () => {
    const mentions = [{ Text: "Anna" }, { Text: "Bob", MentionSentiment: { Sentiment: "MIXED" } }];
    expect(await outputOf("amazon", "text/entity_sentiment", { Entities: [{ Mentions: mentions }] })).toMatchObject({
      items: [{ text: "Bob", sentiment: "Mixed" }],
    });
  });
});

describe("a language that the provider cannot detect", () => {
  const unknown = callOf({ input: { text: "12345", language: null } });

  test("is asked of the caller by Comprehend, which needs one", async () => {
    const task = taskOf(rowOf("amazon"), "text/sentiment_analysis");
    try {
      await task.next?.(answerOf({ Languages: [] }), unknown, { path: "/" });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ValidationError);
      expect((error as ValidationError).problems).toMatchObject([{ loc: ["body", "input", "language"] }]);
    }
  });

  test("is left out of the request to Azure AI Language", async () => {
    const answer = answerOf({
      kind: "LanguageDetectionResults",
      results: { documents: [{ detectedLanguage: { iso6391Name: "(Unknown)", confidenceScore: 0 } }] },
    });
    const next = await taskOf(rowOf("microsoft"), "text/sentiment_analysis").next?.(answer, unknown, { path: "/" });
    const body = next?.body?.kind === "json" ? next.body.value : null;
    expect(body).toMatchObject({ analysisInput: { documents: [{ id: "1", text: "12345" }] } });
    expect(JSON.stringify(body)).not.toContain('language"');
  });
});

describe("a missing label", () => {
  test("of personal data that the gateway hides leaves the entity out, and hides it all the same", async () => {
    const entities = [
      { BeginOffset: 0, EndOffset: 4 },
      { Type: "NAME", BeginOffset: 2, EndOffset: 6 },
    ];
    expect(await outputOf("amazon", "text/anonymization", { Entities: entities })).toMatchObject({
      result: "******et Bob.",
      entities: [{ offset: 2, length: 4 }],
    });
  });
});

describe("a missing position", () => {
  test("of personal data that the gateway should hide makes the answer a bad one", async () => {
    expect(read("amazon", "text/anonymization", { Entities: [{ Type: "NAME", Score: 1 }] }, text)).rejects.toThrow(
      TypeError,
    );
    const document = { processed_text: "x", entities: [{ best_label: "NAME", text: "Bob", location: { end_idx: 4 } }] };
    expect(read("privateai", "text/anonymization", [document], text)).rejects.toThrow(TypeError);
  });

  test("of personal data that the vendor hid leaves the entity out", async () => {
    const document = { redactedText: "**** met ***.", entities: [{ category: "Person", text: "Bob" }] };
    expect(await outputOf("microsoft", "text/anonymization", { results: { documents: [document] } })).toEqual({
      result: "**** met ***.",
      entities: [],
    });
  });

  test("of a spoken word is null", async () => {
    const utterances = [{ words: [{ text: "Hello", speaker: "A", end: 500 }] }];
    expect(await outputOf("assembly", "audio/speech_to_text_async", { text: "Hello", utterances })).toMatchObject({
      diarization: { entries: [{ start_time: null, end_time: "0.5" }] },
    });
    const phrases = [{ text: "Hello", speaker: 1, durationMilliseconds: 500 }];
    expect(await outputOf("microsoft", "audio/speech_to_text_async", { phrases })).toMatchObject({
      diarization: { entries: [{ start_time: null, end_time: null }] },
    });
  });

  test("of a box in a picture is null", async () => {
    const nowhere = { x_min: null, x_max: null, y_min: null, y_max: null };
    const objects = [{ object: "dog", confidence: 0.5 }];
    const metadata = { width: 200, height: 100 };
    expect(await outputOf("microsoft", "image/object_detection", { objects, metadata }, photo)).toMatchObject({
      items: [nowhere],
    });
    expect(await outputOf("sentisight", "image/object_detection", [{ label: "dog", score: 50 }], photo)).toMatchObject({
      items: [nowhere],
    });
    const dog = { entities: [{ kind: "classes", classes: { dog: 0.5 } }] };
    const dogs = { results: [{ entities: [{ kind: "objects", objects: [dog] }] }] };
    expect(await outputOf("api4ai", "image/object_detection", dogs, photo)).toMatchObject({ items: [nowhere] });
  });

  test("of a line of text is null", async () => {
    const nowhere = { left: null, top: null, width: null, height: null };
    expect(await outputOf("sentisight", "ocr/ocr", [{ label: "Hello" }], photo)).toMatchObject({
      bounding_boxes: [{ text: "Hello", ...nowhere }],
    });
    const pages = [{ markdown: "Hello", dimensions: { width: 10, height: 10 }, blocks: [{ content: "Hello" }] }];
    expect(await outputOf("mistral", "ocr/ocr", { pages }, photo)).toMatchObject({
      bounding_boxes: [{ text: "Hello", ...nowhere }],
    });
  });
});
