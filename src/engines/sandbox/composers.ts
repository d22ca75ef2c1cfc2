// Sandbox outputs that depend on the input, by simple rules. Other tasks get an example of their output schema.

import type { TaskInputs } from "../../contract/task-types.ts";
import type { TaskDraft, TaskName } from "../../contract/tasks.ts";
import { ValidationError } from "../../errors.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { BinaryResult } from "../engine.ts";
import { createOffsets } from "../llm/quotes.ts";
import { makePicture, makeSheet, makeTone, makeVideo } from "./media.ts";

type Composers<Composed extends Record<TaskName, unknown>> = {
  readonly [Name in TaskName]?: (input: TaskInputs[Name], fileName: string) => Composed[Name];
};

const confidence = 0.9;
const maxListed = 20;
const maxDimensions = 4_096;
const defaultDimensions = 256;
const greeting = "Hello from the sandbox.";
const firstLine = { left: 0.1, top: 0.1, width: 0.8, height: 0.05 };

export const outputComposers: Composers<{ [Name in TaskName]: TaskDraft<Name> }> = {
  "text/moderation": ({ text }) => moderate(text),
  "text/named_entity_recognition": ({ text }) => ({
    items: namesIn(text).map((entity) => ({ entity, category: "Person", importance: confidence })),
  }),
  "text/topic_extraction": ({ text }) => ({
    items: keywordsIn(text)
      .slice(0, 3)
      .map((category) => ({ category, importance: confidence })),
  }),
  "text/spell_check": ({ text }) => ({ text, items: mistakesIn(text) }),
  "text/anonymization": ({ text }) => anonymize(text),
  "text/sentiment_analysis": ({ text }) => ({
    general_sentiment: sentimentOf(text),
    general_sentiment_rate: confidence,
    items: sentencesOf(text).map((segment) => {
      return { segment, sentiment: sentimentOf(segment), sentiment_rate: confidence };
    }),
  }),
  "text/keyword_extraction": ({ text }) => ({
    items: keywordsIn(text).map((keyword) => ({ keyword, importance: confidence })),
  }),
  "text/entity_sentiment": ({ text }) => {
    const toOffset = createOffsets(text);
    const items = namesIn(text).map((name) => {
      const start = text.indexOf(name);
      const { offset, length } = toOffset({ start, end: start + name.length });
      const offsets = { begin_offset: offset, end_offset: offset + length };
      return { type: "PERSON", text: name, sentiment: sentimentOf(text), ...offsets };
    });
    return { items };
  },
  "text/emotion_detection": ({ text }) => ({
    text,
    items: [{ emotion: sentimentOf(text) === "Negative" ? "Sadness" : "Joy", emotion_score: 90 }],
  }),
  "text/summarize": ({ text, output_sentences }) => ({
    result: sentencesOf(text)
      .slice(0, output_sentences ?? 1)
      .join(" "),
  }),
  "text/embeddings": ({ texts, dimensions }) => ({
    items: texts.map((text) => ({ embedding: vectorOf(text, dimensionsOf(dimensions)) })),
  }),
  "text/question_answer": ({ question, texts }) => ({ answers: [bestFor(question, texts.flatMap(sentencesOf))] }),
  "text/search": ({ query, texts }) => ({
    items: texts
      .map((text, document) => ({ object: "search_result", document, score: overlap(query, text) }))
      .toSorted((one, other) => other.score - one.score),
  }),
  "text/syntax_analysis": ({ text }) => ({
    items: (text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []).map((word) => ({
      word,
      importance: null,
      ...(/[\p{L}\p{N}]/u.test(word)
        ? { tag: "Noun", lemma: word.toLowerCase() }
        : { tag: "Punctuation", lemma: null }),
    })),
  }),
  "text/custom_classification": ({ texts, labels }) => ({
    classifications: texts.map((text) => ({ input: text, label: labelFor(text, labels), confidence })),
  }),
  "text/custom_named_entity_recognition": ({ text, entities }) => ({
    items: namesIn(text).map((entity, index) => ({ entity, category: entities[index % entities.length] ?? "" })),
  }),
  "translation/automatic_translation": ({ text, target_language }) => ({ text: `[${target_language}] ${text}` }),
  "translation/language_detection": ({ text }) => ({ items: [languageOf(text)] }),
  "ocr/ocr": (_input, fileName) => {
    const text = `Text of ${fileName}, as the sandbox reads it.`;
    return { text, bounding_boxes: [{ text, ...firstLine }] };
  },
  "ocr/ocr_async": (_input, fileName) => {
    const text = `Text of ${fileName}, as the sandbox reads it.`;
    const words = text.split(" ").map((word) => ({ text: word, bounding_box: firstLine, confidence }));
    const lines = [{ text, words, bounding_box: firstLine, confidence }];
    return { raw_text: text, pages: [{ lines }], number_of_pages: 1 };
  },
  "ocr/custom_document_parsing_async": ({ queries }) => ({
    items: queries.map(({ query }) => ({ query, value: greeting, confidence, bounding_box: firstLine, page: 1 })),
  }),
  "image/generation": ({ num_images }) => ({ items: indexesUpTo(num_images).map(() => ({})) }),
  "image/variation": ({ num_images }) => ({ items: indexesUpTo(num_images).map(() => ({})) }),
  "image/anonymization": () => ({
    items: [{ kind: "face", confidence, bounding_boxes: { x_min: 0.2, x_max: 0.4, y_min: 0.2, y_max: 0.5 } }],
  }),
  "image/explicit_content": () => moderate(""),
  "image/question_answer": ({ question }, fileName) => ({
    answers: [`The sandbox sees ${fileName}, and was asked: ${question ?? ""}`],
  }),
  "audio/speech_to_text_async": (_input, fileName) => {
    const text = `Speech of ${fileName}, as the sandbox hears it.`;
    const entry = { segment: text, start_time: "0.0", end_time: "2.5", speaker: 1, confidence };
    return { text, diarization: { total_speakers: 1, entries: [entry], error_message: null } };
  },
  "video/question_answer_async": ({ text }, fileName) => ({
    answer: `The sandbox sees ${fileName}, and was asked: ${text}`,
    finish_reason: "stop",
  }),
  "web/search": ({ query, max_results }) => ({
    query,
    results: [{ ...sandboxPage, content: greeting, score: confidence, images: [] }].slice(0, max_results ?? 1),
    answer: `The sandbox was asked: ${query}`,
    sources: [{ ...sandboxPage, snippet: greeting }],
    images: [],
  }),
  "web/scraping": ({ url }) => scraped(url),
  "web/map": ({ url }) => ({ url, links: [{ url, title: "Sandbox", description: null }] }),
  "web/crawl_async": ({ url }) => ({ pages: [scraped(url)], status: "completed", total: 1, completed: 1 }),
  "web/batch_scrape_async": ({ urls }) => ({ pages: urls.map(scraped), failed_results: [] }),
};

/** The output of a task that is listed only here has no other members. */
export const binaryComposers: Composers<Record<TaskName, readonly BinaryResult[]>> = {
  "translation/document_translation": ({ target_language }, fileName) => [
    {
      base64Path: ["file"],
      urlPath: ["document_resource_url"],
      ...makeSheet(`${fileName} in ${target_language}, as the sandbox translates it.`),
    },
  ],
  "ocr/anonymization_async": (_input, fileName) => [
    {
      base64Path: ["document"],
      urlPath: ["document_url"],
      ...makeSheet(`${fileName}, as the sandbox redacts it.`),
    },
  ],
  "image/generation": ({ text, num_images }) => pictures(text, num_images),
  "image/variation": ({ num_images }, fileName) => pictures(fileName, num_images),
  "image/background_removal": (_input, fileName) => [
    { base64Path: ["image_b64"], urlPath: ["image_resource_url"], ...makePicture(fileName) },
  ],
  "image/anonymization": (_input, fileName) => [
    { base64Path: ["image"], urlPath: ["image_resource_url"], ...makePicture(fileName) },
  ],
  "audio/tts": ({ text }) => [{ base64Path: null, urlPath: ["audio_resource_url"], ...makeTone(text.length) }],
  "video/generation_async": ({ text }) => [
    { base64Path: ["video"], urlPath: ["video_resource_url"], ...makeVideo(text) },
  ],
};

const sandboxPage = { title: "Sandbox", url: "https://example.com/" };

function scraped(url: string) {
  return { url, content: greeting, title: "Sandbox", status_code: 200, links: [], images: [] };
}

function pictures(seed: string, count: number | null): BinaryResult[] {
  return indexesUpTo(count).map((index) => ({
    base64Path: ["items", index, "image"],
    urlPath: ["items", index, "image_resource_url"],
    ...makePicture(`${seed} ${index}`),
  }));
}

function indexesUpTo(count: number | null): number[] {
  return Array.from({ length: count ?? 1 }, (_, index) => index);
}

const goodWords = /\b(?:love|great|good|happy|excellent|wonderful|best|thanks?|nice)\b/gi;
const badWords = /\b(?:hate|bad|awful|terrible|sad|angry|worst|broken|horrible|poor)\b/gi;
const rudeWords = /\b(?:kill|idiot|stupid|damn)\b/i;

function sentimentOf(text: string): "Positive" | "Negative" | "Neutral" {
  const balance = countOf(text, goodWords) - countOf(text, badWords);
  if (balance === 0) return "Neutral";
  return balance > 0 ? "Positive" : "Negative";
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function moderate(text: string) {
  if (!rudeWords.test(text)) return { nsfw_likelihood: 1, nsfw_likelihood_score: 0.02, items: [] };
  const item = { label: "insult", category: "Toxic", subcategory: "Insult", likelihood: 5, likelihood_score: 0.95 };
  return { nsfw_likelihood: 5, nsfw_likelihood_score: 0.95, items: [item] };
}

function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** Capitalised words: several in a row, or one that does not start a sentence. */
function namesIn(text: string): string[] {
  const found = text.match(/\p{Lu}\p{Ll}+(?:\s\p{Lu}\p{Ll}+)+|(?<!^|[.!?]\s)\p{Lu}\p{Ll}+/gu) ?? [];
  return [...new Set(found)].slice(0, maxListed);
}

function keywordsIn(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{5,}/gu) ?? [];
  return [...new Set(words)].slice(0, maxListed);
}

const misspelt: Readonly<Record<string, string>> = {
  teh: "the",
  recieve: "receive",
  definately: "definitely",
  hollo: "hello",
  wrld: "world",
};

function mistakesIn(text: string) {
  const toOffset = createOffsets(text);
  return [...text.matchAll(/\p{L}+/gu)].flatMap(({ index, 0: word }) => {
    const suggestion = lookUp(misspelt, word.toLowerCase());
    if (suggestion === undefined) return [];
    const suggestions = [{ suggestion, score: confidence }];
    return [{ text: word, type: "spelling", ...toOffset({ start: index, end: index + word.length }), suggestions }];
  });
}

const secrets = /(?<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+)|(?<phone>\+?\d[\d ()-]{6,20}\d)/g;

function anonymize(text: string) {
  const toOffset = createOffsets(text);
  const entities = Array.from(text.matchAll(secrets), ({ index, 0: content, groups }) => ({
    ...toOffset({ start: index, end: index + content.length }),
    category: "PersonalInformation",
    ...(groups?.["email"] === undefined
      ? { subcategory: "Phone", original_label: "PHONE_NUMBER" }
      : { subcategory: "Email", original_label: "EMAIL" }),
    content,
    confidence_score: confidence,
  }));
  return { result: text.replace(secrets, (found) => "*".repeat(found.length)), entities };
}

const commonWords: readonly (readonly [tag: string, name: string, words: RegExp])[] = [
  ["en", "English", /\b(?:the|and|is|of|to|hello)\b/gi],
  ["fr", "French", /\b(?:le|les|est|une|et|bonjour)\b/gi],
  ["de", "German", /\b(?:der|die|und|ist|nicht|hallo)\b/gi],
  ["es", "Spanish", /\b(?:el|los|es|una|por|hola)\b/gi],
];

function languageOf(text: string) {
  const [language, display_name] = maxBy(commonWords, ([, , words]) => countOf(text, words)) ?? [];
  return { language, display_name, confidence };
}

function labelFor(text: string, labels: readonly string[]): string {
  return labels.find((label) => text.toLowerCase().includes(label.toLowerCase())) ?? labels[0] ?? "";
}

/** The share of the query's words that the text contains. */
function overlap(query: string, text: string): number {
  const wanted = wordsOf(query);
  return wanted.size === 0 ? 0 : wordsOf(text).intersection(wanted).size / wanted.size;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

function bestFor(question: string, sentences: readonly string[]): string {
  return maxBy(sentences, (sentence) => overlap(question, sentence)) ?? "";
}

/** The first of the items with the highest score. */
function maxBy<Item>(items: readonly Item[], score: (item: Item) => number): Item | undefined {
  const scores = items.map(score);
  return items[scores.indexOf(Math.max(...scores))];
}

function dimensionsOf(wanted: number | null): number {
  if (wanted === null) return defaultDimensions;
  if (wanted <= maxDimensions) return wanted;
  const msg = `Input should be less than or equal to ${maxDimensions}`;
  throw new ValidationError([{ loc: ["body", "input", "dimensions"], msg, type: "less_than_equal" }]);
}

/** A deterministic vector of length 1. */
function vectorOf(text: string, dimensions: number): number[] {
  const bytes = Array.from({ length: Math.ceil(dimensions / 32) }, (_, index) => [
    ...new Bun.CryptoHasher("sha256").update(`${index} ${text}`).digest(),
  ]).flat();
  const raw = bytes.slice(0, dimensions).map((byte) => byte - 127.5);
  const length = Math.hypot(...raw);
  return raw.map((one) => one / length);
}
