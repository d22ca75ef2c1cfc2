// Google Cloud Natural Language, and the basic edition of Cloud Translation, which takes API keys and needs no project. Offsets are
// requested in code points. Google omits members whose value is 0, so a missing score is 0.

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asString, asText, at, objectsIn } from "../lenient.ts";
import { countCharacters, postJson, textUnits } from "../shapes/inputs.ts";
import { baseLanguage, type TextCall, toLanguages, toTranslation } from "../shapes/languages.ts";
import { other, toKinds, toModeration } from "../shapes/moderation.ts";
import { toTag } from "../shapes/part-of-speech.ts";
import { requireValue } from "../shapes/require-value.ts";
import { fromSignedScore, type RatedSentiment, toSentimentAnalysis } from "../shapes/sentiment.ts";
import { defineTask, type ProviderTask } from "../task.ts";

interface Mapping<Name extends TaskName, Output> {
  readonly method: string;
  /** v2 has no salience, no syntax and no sentiment towards entities. */
  readonly version?: "v1" | "v2";
  /** Members of the request beside the document. */
  readonly more?: JsonObject;
  toOutput(response: JsonObject): KnownOutput<Name, Output>;
}

const codePoints = { encodingType: "UTF32" };

export const languageTasks: readonly ProviderTask[] = [
  createTask("text/sentiment_analysis", {
    method: "analyzeSentiment",
    more: codePoints,
    toOutput: ({ documentSentiment, sentences }) => {
      const segments = objectsIn(sentences).map(({ text, sentiment }) => ({
        text: asString(at(text, "content")),
        ...readSentiment(sentiment),
      }));
      return toSentimentAnalysis(readSentiment(requireValue(documentSentiment, "sentiment")), segments);
    },
  }),
  createTask("text/named_entity_recognition", {
    method: "analyzeEntities",
    more: codePoints,
    toOutput: ({ entities }) => ({
      items: objectsIn(entities).map(({ name, type, salience }) => ({
        entity: asString(name),
        category: asText(type),
        importance: asNumber(salience),
      })),
    }),
  }),
  createTask("text/entity_sentiment", {
    method: "analyzeEntitySentiment",
    more: codePoints,
    toOutput: ({ entities }) => ({
      items: objectsIn(entities).flatMap(({ type, mentions }) =>
        objectsIn(mentions).map((mention) => toEntitySentiment(type, mention)),
      ),
    }),
  }),
  createTask("text/syntax_analysis", {
    method: "analyzeSyntax",
    more: codePoints,
    toOutput: ({ tokens }) => ({
      items: objectsIn(tokens).map(({ text, partOfSpeech, lemma }) => {
        const { tag, ...traits } = asObject(partOfSpeech);
        const word = asString(at(text, "content"));
        return { word, importance: null, tag: toTag(tag), lemma: asText(lemma), others: toOthers(traits) };
      }),
    }),
  }),
  createTask("text/topic_extraction", {
    method: "classifyText",
    more: { classificationModelOptions: { v2Model: { contentCategoriesVersion: "V2" } } },
    toOutput: ({ categories }) => ({
      items: objectsIn(categories).map(({ name, confidence }) => ({
        category: asString(name),
        importance: asScore(confidence) ?? 0,
      })),
    }),
  }),
  createTask("text/moderation", {
    method: "moderateText",
    version: "v2",
    toOutput: ({ moderationCategories }) => {
      const findings = objectsIn(moderationCategories).map(({ name, confidence }) => ({
        label: asString(name),
        score: asScore(confidence) ?? 0,
        kind: lookUp(kinds, asString(name)) ?? other,
      }));
      // Google checks for every category and sends all of them; a likelihood of 0 would mean that a category was not checked.
      return toModeration(findings, 1);
    },
  }),
  defineTask("translation/automatic_translation", {
    docs: "https://docs.cloud.google.com/translate/docs/reference/rest/v2/translate",
    service: "translation",
    billedParams: ["q", "model"],
    toRequest: ({ input: { text: q, source_language: source, target_language: target } }) =>
      // Google reads the text as HTML unless the format is text.
      postJson("/language/translate/v2", { q, target, format: "text", ...(source && { source }) }),
    fromResponse: ({ json }, call) => toTranslation(at(json, "data", "translations", 0, "translatedText"), call),
  }),
  defineTask("translation/language_detection", {
    docs: "https://docs.cloud.google.com/translate/docs/reference/rest/v2/detect",
    service: "translation",
    billedParams: ["q", "model"],
    toRequest: ({ input }) => postJson("/language/translate/v2/detect", { q: input.text }),
    fromResponse: ({ json }, call) => {
      const found = objectsIn(at(json, "data", "detections", 0)).map(({ language, confidence }) => ({
        code: asString(language),
        score: asScore(confidence),
      }));
      return toLanguages(
        found.filter(({ code }) => code !== "" && code !== "und"),
        call,
      );
    },
  }),
];

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  { method, version = "v1", more = {}, toOutput }: Mapping<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: `https://docs.cloud.google.com/natural-language/docs/reference/rest/${version}/documents/${method}`,
    service: "language",
    toRequest: (call: TextCall) =>
      postJson(`/${version}/documents:${method}`, { document: toDocument(call, version), ...more }),
    fromResponse: ({ json }, call: TextCall) => ({ output: toOutput(asObject(json)), units: textUnits(call) }),
  };
}

/** Without a language Google detects it. */
function toDocument({ input: { text, language } }: TextCall, version: "v1" | "v2"): JsonObject {
  const member = version === "v1" ? "language" : "languageCode";
  return {
    type: "PLAIN_TEXT",
    content: text,
    ...(language && { [member]: /^zh/i.test(language) ? language : baseLanguage(language) }),
  };
}

function readSentiment(value: unknown): RatedSentiment {
  return fromSignedScore(asNumber(at(value, "score")) ?? 0);
}

function toEntitySentiment(type: unknown, mention: JsonObject) {
  const text = asString(at(mention, "text", "content"));
  const begin = asNumber(at(mention, "text", "beginOffset")) ?? 0;
  return {
    type: asText(type) ?? "OTHER",
    text,
    sentiment: readSentiment(mention["sentiment"]).sentiment,
    begin_offset: begin,
    end_offset: begin + countCharacters(text),
  };
}

/** Google sends every trait of every word; those with an unknown value are left out. */
function toOthers({ proper, ...traits }: JsonObject): JsonObject {
  const all = Object.entries({ ...traits, proper_name: proper });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && !String(value).endsWith("_UNKNOWN")));
}

/** https://docs.cloud.google.com/natural-language/docs/moderating-text#safety_attribute_confidence_scores */
const kinds = toKinds({
  Toxic: { Toxic: ["Toxic"], Insult: ["Insult"], Profanity: ["Profanity"], Derogatory: ["Derogatory"] },
  Sexual: { Sexual: ["Sexual"] },
  Violence: {
    Violence: ["Violent"],
    GraphicViolenceOrGore: ["Death, Harm & Tragedy"],
    WeaponViolence: ["Firearms & Weapons", "War & Conflict"],
  },
  Content: { PublicSafety: ["Public Safety"], Health: ["Health"], Politics: ["Politics"], Legal: ["Legal"] },
  DrugAndAlcohol: { DrugProducts: ["Illicit Drugs"] },
  Finance: { Finance: ["Finance"] },
  Other: { Religion: ["Religion & Belief"] },
});
