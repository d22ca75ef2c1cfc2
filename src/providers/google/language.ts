// Google Cloud Natural Language. Offsets are requested in code points. Google omits members whose value is 0, so a missing score is 0.

import type { TaskName } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asText, at, objectsIn } from "../lenient.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import { baseLanguage } from "../shapes/language-names.ts";
import { type Kind, toLikelihood } from "../shapes/likelihood.ts";
import { toTag } from "../shapes/part-of-speech.ts";
import { fromSignedScore } from "../shapes/sentiment.ts";
import type { ProviderTask, TaskCall } from "../task.ts";

interface Mapping {
  readonly task: TaskName;
  readonly method: string;
  /** v2 has lost salience, syntax and the feelings towards entities. */
  readonly version?: "v1" | "v2";
  /** Of the request, beside the document. */
  readonly more?: JsonObject;
  toOutput(answer: JsonObject): JsonObject;
}

const codePoints = { encodingType: "UTF32" };

export const detectSentiment = createTask({
  task: "text/sentiment_analysis",
  method: "analyzeSentiment",
  more: codePoints,
  toOutput: (answer) => {
    if (answer["documentSentiment"] === undefined) throw new TypeError("there is no sentiment in the answer");
    const { sentiment, rate } = fromSignedScore(asNumber(at(answer, "documentSentiment", "score")) ?? 0);
    return {
      general_sentiment: sentiment,
      general_sentiment_rate: rate,
      items: objectsIn(answer["sentences"]).map((sentence) => {
        const feeling = fromSignedScore(asNumber(at(sentence, "sentiment", "score")) ?? 0);
        return {
          segment: asText(at(sentence, "text", "content")) ?? "",
          sentiment: feeling.sentiment,
          sentiment_rate: feeling.rate,
        };
      }),
    };
  },
});

export const detectEntities = createTask({
  task: "text/named_entity_recognition",
  method: "analyzeEntities",
  more: codePoints,
  toOutput: (answer) => ({
    items: objectsIn(answer["entities"]).map((entity) => ({
      entity: asText(entity["name"]) ?? "",
      category: asText(entity["type"]),
      importance: asNumber(entity["salience"]),
    })),
  }),
});

export const detectEntitySentiment = createTask({
  task: "text/entity_sentiment",
  method: "analyzeEntitySentiment",
  more: codePoints,
  toOutput: (answer) => ({
    items: objectsIn(answer["entities"]).flatMap((entity) =>
      objectsIn(entity["mentions"]).map((mention) => {
        const text = asText(at(mention, "text", "content")) ?? "";
        // A member of value 0 is left out by the vendor.
        const begin = asNumber(at(mention, "text", "beginOffset")) ?? 0;
        return {
          type: asText(entity["type"]) ?? "OTHER",
          text,
          sentiment: fromSignedScore(asNumber(at(mention, "sentiment", "score")) ?? 0).sentiment,
          begin_offset: begin,
          end_offset: begin + countCharacters(text),
        };
      }),
    ),
  }),
});

export const detectSyntax = createTask({
  task: "text/syntax_analysis",
  method: "analyzeSyntax",
  more: codePoints,
  toOutput: (answer) => ({
    items: objectsIn(answer["tokens"]).map((token) => {
      const { tag, ...traits } = asObject(token["partOfSpeech"]);
      return {
        word: asText(at(token, "text", "content")) ?? "",
        importance: null,
        tag: toTag(tag),
        lemma: asText(token["lemma"]),
        others: toOthers(traits),
      };
    }),
  }),
});

/** What is not known of a word is said of every word: it is left out. */
function toOthers({ proper, ...traits }: JsonObject): JsonObject {
  const all = Object.entries({ ...traits, proper_name: proper });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && !String(value).endsWith("_UNKNOWN")));
}

export const classify = createTask({
  task: "text/topic_extraction",
  method: "classifyText",
  more: { classificationModelOptions: { v2Model: { contentCategoriesVersion: "V2" } } },
  toOutput: (answer) => ({
    items: objectsIn(answer["categories"]).map((category) => ({
      category: asText(category["name"]) ?? "",
      importance: asScore(category["confidence"]) ?? 0,
    })),
  }),
});

export const moderate = createTask({
  task: "text/moderation",
  method: "moderateText",
  version: "v2",
  toOutput: (answer) => {
    const items = objectsIn(answer["moderationCategories"]).map((category) => {
      const label = asText(category["name"]) ?? "";
      const [kind, subkind] = lookUp(kinds, label) ?? ["Other", "Other"];
      const score = asScore(category["confidence"]) ?? 0;
      return {
        label,
        // The vendor names every category, the unlikely ones as well: none of them counts as not looked for.
        likelihood: Math.max(1, toLikelihood(score)),
        category: kind,
        subcategory: subkind,
        likelihood_score: score,
      };
    });
    const worst = Math.max(0, ...items.map((item) => item.likelihood_score));
    const likelihood = Math.max(0, ...items.map((item) => item.likelihood));
    return { nsfw_likelihood: likelihood, nsfw_likelihood_score: worst, items };
  },
});

/** https://docs.cloud.google.com/natural-language/docs/moderating-text#safety_attribute_confidence_scores */
const kinds: Readonly<Record<string, Kind>> = {
  Toxic: ["Toxic", "Toxic"],
  Insult: ["Toxic", "Insult"],
  Profanity: ["Toxic", "Profanity"],
  Derogatory: ["Toxic", "Derogatory"],
  Sexual: ["Sexual", "Sexual"],
  "Death, Harm & Tragedy": ["Violence", "GraphicViolenceOrGore"],
  Violent: ["Violence", "Violence"],
  "Firearms & Weapons": ["Violence", "WeaponViolence"],
  "Public Safety": ["Content", "PublicSafety"],
  Health: ["Content", "Health"],
  "Religion & Belief": ["Other", "Religion"],
  "Illicit Drugs": ["DrugAndAlcohol", "DrugProducts"],
  "War & Conflict": ["Violence", "WeaponViolence"],
  Politics: ["Content", "Politics"],
  Finance: ["Finance", "Finance"],
  Legal: ["Content", "Legal"],
};

function createTask({ task, method, version = "v1", more = {}, toOutput }: Mapping): ProviderTask {
  return {
    task,
    docs: `https://docs.cloud.google.com/natural-language/docs/reference/rest/${version}/documents/${method}`,
    service: "language",
    toRequest: (call) => ({
      path: `/${version}/documents:${method}`,
      body: { kind: "json", value: { document: toDocument(call, version), ...more } },
    }),
    fromResponse: (answer, call) => ({
      output: toOutput(asObject(answer.json)),
      units: { char: countCharacters(textOf(call)), request: 1 },
    }),
  };
}

/** Without a language the vendor finds it out. */
function toDocument(call: TaskCall, version: "v1" | "v2"): JsonObject {
  const language = languageOf(call);
  const member = version === "v1" ? "language" : "languageCode";
  const spelt = language === null ? {} : { [member]: /^zh/i.test(language) ? language : baseLanguage(language) };
  return { type: "PLAIN_TEXT", content: textOf(call), ...spelt };
}
