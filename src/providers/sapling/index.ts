import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asScore, asString, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { toJudgedText } from "../shapes/detection.ts";
import { postJson, textUnits } from "../shapes/inputs.ts";
import { requireValue } from "../shapes/require-value.ts";
import { type RatedSentiment, readSentiment, toSentimentAnalysis } from "../shapes/sentiment.ts";
import { defineTask } from "../task.ts";

const detectAi = defineTask("text/ai_detection", {
  docs: "https://sapling.ai/docs/api/detector",
  toRequest: ({ input }) => postJson("/aidetect", { text: input.text }),
  fromResponse({ json }, call) {
    const ai_score = requireValue(asScore(at(json, "score")), "score");
    const items = objectsIn(at(json, "sentence_scores")).flatMap(({ sentence, score }) =>
      toJudgedText(asString(sentence), score),
    );
    return { output: { ai_score, items }, units: textUnits(call) };
  },
});

const checkSpelling = defineTask("text/spell_check", {
  docs: "https://sapling.ai/docs/api/spelling-overview",
  toRequest: ({ input, requestId }) =>
    postJson("/spellcheck", {
      text: input.text,
      session_id: requestId,
      multiple_edits: true,
      lang: input.language ?? undefined,
    }),
  fromResponse({ json }, call) {
    const items = objectsIn(at(json, "edits")).map((edit) => toItem(edit, at(json, "candidates")));
    return { output: { text: call.input.text, items }, units: textUnits(call) };
  },
});

/** The position of a word is relative to its sentence. */
function toItem(edit: JsonObject, candidates: unknown) {
  const start = asNumber(edit["start"]) ?? 0;
  const end = asNumber(edit["end"]) ?? start;
  const word = asString(edit["sentence"]).slice(start, end);
  const replacements = [asString(edit["replacement"]), ...asList(at(candidates, word)).map(String)];
  return {
    text: word,
    type: asText(edit["general_error_type"]),
    offset: (asNumber(edit["sentence_start"]) ?? 0) + start,
    length: end - start,
    suggestions: [...new Set(replacements)].map((suggestion) => ({ suggestion, score: null })),
  };
}

const analyseSentiment = defineTask("text/sentiment_analysis", {
  docs: "https://sapling.ai/docs/api/sentiment",
  unsupported: ["language"],
  toRequest: ({ input }) => postJson("/sentiment", { text: input.text }),
  fromResponse({ json }, call) {
    const overall = requireValue(toRatedSentiment(at(json, "overall")), "overall sentiment");
    const segments = asList(at(json, "sents")).flatMap((text, index) => {
      const rated = toRatedSentiment(at(json, "results", index));
      return rated === null ? [] : [{ text: String(text), ...rated }];
    });
    return { output: toSentimentAnalysis(overall, segments), units: textUnits(call) };
  },
});

/** From pairs of score and label, the most likely first. A label that the task does not have, such as mixed, is skipped. */
function toRatedSentiment(pairs: unknown): RatedSentiment | null {
  for (const pair of asList(pairs)) {
    const sentiment = readSentiment(at(pair, 1));
    if (sentiment !== null) return { sentiment, rate: asScore(at(pair, 0)) };
  }
  return null;
}

export const sapling = defineProvider("sapling", "Sapling", {
  docs: "https://sapling.ai/docs/api/api-access",
  baseUrl: "https://api.sapling.ai/api/v1",
  auth: { kind: "member", name: "key" },
  billedParams: ["text"],
  tasks: [detectAi, checkSpelling, analyseSentiment],
});
