// Sandbox outputs that depend on the input, by simple rules. Other tasks get an example of their output schema.

import { ValidationError } from "../../errors.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { TaskCall, TaskResult } from "../engine.ts";
import { createOffsets } from "../llm/quotes.ts";
import { makePicture, makeSheet, makeTone, makeVideo } from "./media.ts";

type Composer = (call: TaskCall) => Pick<TaskResult, "output" | "binaries">;

/** Of text alone. */
function fromInput(make: (input: JsonObject) => JsonObject): Composer {
  return ({ input }) => ({ output: make(input) });
}

function fromText(make: (text: string) => JsonObject): Composer {
  return fromInput((input) => make(String(input["text"])));
}

const certainty = 0.9;
const mostListed = 20;
const mostDimensions = 4_096;
const usualDimensions = 256;

export const composers: Readonly<Record<string, Composer>> = {
  "text/moderation": fromText(moderate),
  "text/named_entity_recognition": fromText((text) => ({
    items: namesIn(text).map((entity) => ({ entity, category: "Person", importance: certainty })),
  })),
  "text/topic_extraction": fromText((text) => ({
    items: keywordsIn(text)
      .slice(0, 3)
      .map((category) => ({ category, importance: certainty })),
  })),
  "text/spell_check": fromText((text) => ({ text, items: mistakesIn(text) })),
  "text/anonymization": fromText(anonymize),
  "text/sentiment_analysis": fromText((text) => ({
    general_sentiment: sentimentOf(text),
    general_sentiment_rate: certainty,
    items: sentencesOf(text).map((segment) => ({
      segment,
      sentiment: sentimentOf(segment),
      sentiment_rate: certainty,
    })),
  })),
  "text/keyword_extraction": fromText((text) => ({
    items: keywordsIn(text).map((keyword) => ({ keyword, importance: certainty })),
  })),
  "text/entity_sentiment": fromText((text) => {
    const toOffset = createOffsets(text);
    const items = namesIn(text).map((name) => {
      const start = text.indexOf(name);
      const { offset, length } = toOffset({ start, end: start + name.length });
      const begin = { begin_offset: offset, end_offset: offset + length };
      return { type: "PERSON", text: name, sentiment: sentimentOf(text), ...begin };
    });
    return { items };
  }),
  "text/emotion_detection": fromText((text) => ({
    text,
    items: [{ emotion: sentimentOf(text) === "Negative" ? "Sadness" : "Joy", emotion_score: 90 }],
  })),
  "text/summarize": fromInput((input) => ({
    result: sentencesOf(String(input["text"]))
      .slice(0, Number(input["output_sentences"] ?? 1))
      .join(" "),
  })),
  "text/embeddings": fromInput((input) => ({
    items: textsOf(input).map((text) => ({ embedding: vectorOf(text, dimensionsOf(input)) })),
  })),
  "text/question_answer": fromInput((input) => ({
    answers: [bestFor(String(input["question"]), textsOf(input).flatMap(sentencesOf))],
  })),
  "text/search": fromInput((input) => ({
    items: textsOf(input)
      .map((_, document) => ({
        object: "search_result",
        document,
        score: overlap(String(input["query"]), textsOf(input)[document] ?? ""),
      }))
      .toSorted((one, other) => other.score - one.score),
  })),
  "text/syntax_analysis": fromText((text) => ({
    items: (text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []).map((word) => {
      const isWord = /[\p{L}\p{N}]/u.test(word);
      return {
        word,
        importance: null,
        tag: isWord ? "Noun" : "Punctuation",
        lemma: isWord ? word.toLowerCase() : null,
      };
    }),
  })),
  "text/custom_classification": fromInput((input) => ({
    classifications: textsOf(input).map((text) => ({
      input: text,
      label: labelFor(text, input),
      confidence: certainty,
    })),
  })),
  "text/custom_named_entity_recognition": fromInput((input) => {
    const types = input["entities"] as readonly string[];
    const names = namesIn(String(input["text"]));
    return { items: names.map((entity, at) => ({ entity, category: types[at % types.length] ?? "" })) };
  }),
  "translation/automatic_translation": fromInput((input) => ({
    text: `[${String(input["target_language"])}] ${String(input["text"])}`,
  })),
  "translation/language_detection": fromText((text) => ({ items: [languageOf(text)] })),
  "translation/document_translation": (call) => ({
    output: {},
    binaries: [
      {
        base64Path: ["file"],
        urlPath: ["document_resource_url"],
        bytes: makeSheet(
          `${fileName(call)} in ${String(call.input["target_language"])}, as the sandbox translates it.`,
        ),
        mediaType: "application/pdf",
      },
    ],
  }),
  "ocr/ocr": (call) => {
    const text = `Text of ${fileName(call)}, as the sandbox reads it.`;
    return { output: { text, bounding_boxes: [{ text, left: 0.1, top: 0.1, width: 0.8, height: 0.05 }] } };
  },
  "ocr/ocr_async": (call) => {
    const text = `Text of ${fileName(call)}, as the sandbox reads it.`;
    const box = { left: 0.1, top: 0.1, width: 0.8, height: 0.05 };
    const words = text.split(" ").map((word) => ({ text: word, bounding_box: box, confidence: certainty }));
    const lines = [{ text, words, bounding_box: box, confidence: certainty }];
    return { output: { raw_text: text, pages: [{ lines }], number_of_pages: 1 } };
  },
  "ocr/custom_document_parsing_async": fromInput((input) => ({
    items: (input["queries"] as readonly JsonObject[]).map(({ query }) => ({
      query: String(query),
      value: "Hello from the sandbox.",
      confidence: certainty,
      bounding_box: { left: 0.1, top: 0.1, width: 0.8, height: 0.05 },
      page: 1,
    })),
  })),
  "ocr/anonymization_async": (call) => ({
    output: {},
    binaries: [
      {
        base64Path: ["document"],
        urlPath: ["document_url"],
        bytes: makeSheet(`${fileName(call)}, as the sandbox redacts it.`),
        mediaType: "application/pdf",
      },
    ],
  }),
  "image/generation": ({ input }) => pictures(String(input["text"]), input),
  "image/variation": (call) => pictures(fileName(call), call.input),
  "image/background_removal": (call) => ({
    output: {},
    binaries: [picture(["image_b64"], ["image_resource_url"], fileName(call))],
  }),
  "image/anonymization": (call) => ({
    output: {
      items: [
        { kind: "face", confidence: certainty, bounding_boxes: { x_min: 0.2, x_max: 0.4, y_min: 0.2, y_max: 0.5 } },
      ],
    },
    binaries: [picture(["image"], ["image_resource_url"], fileName(call))],
  }),
  "image/explicit_content": fromInput(() => moderate("")),
  "image/question_answer": (call) => ({
    output: { answers: [`The sandbox sees ${fileName(call)}, and was asked: ${String(call.input["question"] ?? "")}`] },
  }),
  "audio/tts": ({ input }) => ({
    output: {},
    binaries: [
      {
        base64Path: null,
        urlPath: ["audio_resource_url"],
        bytes: makeTone(String(input["text"]).length),
        mediaType: "audio/wav",
      },
    ],
  }),
  "audio/speech_to_text_async": (call) => {
    const text = `Speech of ${fileName(call)}, as the sandbox hears it.`;
    const entry = { segment: text, start_time: "0.0", end_time: "2.5", speaker: 1, confidence: certainty };
    return { output: { text, diarization: { total_speakers: 1, entries: [entry], error_message: null } } };
  },
  "video/generation_async": ({ input }) => ({
    output: {},
    binaries: [
      {
        base64Path: ["video"],
        urlPath: ["video_resource_url"],
        bytes: makeVideo(String(input["text"])),
        mediaType: "video/x-msvideo",
      },
    ],
  }),
  "video/question_answer_async": (call) => ({
    output: {
      answer: `The sandbox sees ${fileName(call)}, and was asked: ${String(call.input["text"])}`,
      finish_reason: "stop",
    },
  }),
  "web/search": fromInput((input) => ({
    query: String(input["query"]),
    results: [
      {
        title: "Sandbox",
        url: "https://example.com/",
        content: "Hello from the sandbox.",
        score: certainty,
        images: [],
      },
    ].slice(0, Number(input["max_results"] ?? 1)),
    answer: `The sandbox was asked: ${String(input["query"])}`,
    sources: [{ title: "Sandbox", url: "https://example.com/", snippet: "Hello from the sandbox." }],
    images: [],
  })),
  "web/scraping": fromInput((input) => scraped(String(input["url"]))),
  "web/map": fromInput((input) => ({
    url: String(input["url"]),
    links: [{ url: String(input["url"]), title: "Sandbox", description: null }],
  })),
  "web/crawl_async": fromInput((input) => ({
    pages: [scraped(String(input["url"]))],
    status: "completed",
    total: 1,
    completed: 1,
  })),
  "web/batch_scrape_async": fromInput((input) => ({
    pages: (input["urls"] as readonly string[]).map(scraped),
    failed_results: [],
  })),
};

function fileName({ files }: TaskCall): string {
  return Object.values(files)[0]?.name ?? "the file";
}

function textsOf(input: JsonObject): readonly string[] {
  return input["texts"] as readonly string[];
}

function scraped(url: string): JsonObject {
  return { url, content: "Hello from the sandbox.", title: "Sandbox", status_code: 200, links: [], images: [] };
}

function picture(base64Path: readonly (string | number)[], urlPath: readonly (string | number)[], seed: string) {
  return { base64Path, urlPath, bytes: makePicture(seed), mediaType: "image/png" };
}

function pictures(seed: string, input: JsonObject): Pick<TaskResult, "output" | "binaries"> {
  const places = Array.from({ length: Number(input["num_images"] ?? 1) }, (_, at) => at);
  return {
    output: { items: places.map(() => ({})) },
    binaries: places.map((at) => picture(["items", at, "image"], ["items", at, "image_resource_url"], `${seed} ${at}`)),
  };
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

function moderate(text: string): JsonObject {
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
  return [...new Set(found)].slice(0, mostListed);
}

function keywordsIn(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{5,}/gu) ?? [];
  return [...new Set(words)].slice(0, mostListed);
}

const misspelt: Readonly<Record<string, string>> = {
  teh: "the",
  recieve: "receive",
  definately: "definitely",
  hollo: "hello",
  wrld: "world",
};

function mistakesIn(text: string): JsonObject[] {
  const toOffset = createOffsets(text);
  return Array.from(text.matchAll(/\p{L}+/gu), ({ index, 0: word }) => ({ index, word })).flatMap(({ index, word }) => {
    const suggestion = lookUp(misspelt, word.toLowerCase());
    if (suggestion === undefined) return [];
    return [
      {
        text: word,
        type: "spelling",
        ...toOffset({ start: index, end: index + word.length }),
        suggestions: [{ suggestion, score: certainty }],
      },
    ];
  });
}

const secrets = /(?<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+)|(?<phone>\+?\d[\d ()-]{6,20}\d)/g;

function anonymize(text: string): JsonObject {
  const toOffset = createOffsets(text);
  const entities = Array.from(text.matchAll(secrets), ({ index, 0: content, groups }) => ({
    ...toOffset({ start: index, end: index + content.length }),
    category: "PersonalInformation",
    subcategory: groups?.["email"] === undefined ? "Phone" : "Email",
    original_label: groups?.["email"] === undefined ? "PHONE_NUMBER" : "EMAIL",
    content,
    confidence_score: certainty,
  }));
  return { result: text.replace(secrets, (found) => "*".repeat(found.length)), entities };
}

const commonWords: readonly (readonly [tag: string, name: string, words: RegExp])[] = [
  ["en", "English", /\b(?:the|and|is|of|to|hello)\b/gi],
  ["fr", "French", /\b(?:le|les|est|une|et|bonjour)\b/gi],
  ["de", "German", /\b(?:der|die|und|ist|nicht|hallo)\b/gi],
  ["es", "Spanish", /\b(?:el|los|es|una|por|hola)\b/gi],
];

function languageOf(text: string): JsonObject {
  const [tag, name] = commonWords.reduce((best, one) => (countOf(text, one[2]) > countOf(text, best[2]) ? one : best));
  return { language: tag, display_name: name, confidence: certainty };
}

function labelFor(text: string, input: JsonObject): string {
  const labels = input["labels"] as readonly string[];
  return labels.find((label) => text.toLowerCase().includes(label.toLowerCase())) ?? labels[0] ?? "";
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

/** The share of the query's words that the text contains. */
function overlap(query: string, text: string): number {
  const asked = wordsOf(query);
  const shared = wordsOf(text).intersection(asked).size;
  return asked.size === 0 ? 0 : shared / asked.size;
}

function bestFor(question: string, sentences: readonly string[]): string {
  return sentences.reduce(
    (best, one) => (overlap(question, one) > overlap(question, best) ? one : best),
    sentences[0] ?? "",
  );
}

function dimensionsOf({ dimensions }: JsonObject): number {
  const wanted = Number(dimensions ?? usualDimensions);
  if (wanted <= mostDimensions) return wanted;
  const msg = `Input should be less than or equal to ${mostDimensions}`;
  throw new ValidationError([{ loc: ["body", "input", "dimensions"], msg, type: "less_than_equal" }]);
}

/** A deterministic vector of length 1. */
function vectorOf(text: string, dimensions: number): number[] {
  const bytes = Array.from({ length: Math.ceil(dimensions / 32) }, (_, at) => [
    ...new Bun.CryptoHasher("sha256").update(`${at} ${text}`).digest(),
  ]).flat();
  const raw = bytes.slice(0, dimensions).map((byte) => byte - 127.5);
  const length = Math.hypot(...raw);
  return raw.map((one) => one / length);
}
