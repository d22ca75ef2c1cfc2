import { lookUp } from "../../lib/look-up.ts";
import { asList, asNumber, asScore, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { toJudgedText } from "../shapes/detection.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";

const detectAi: ProviderTask = {
  task: "text/ai_detection",
  docs: "https://sapling.ai/docs/api/detector",
  toRequest: (call) => ({ path: "/aidetect", body: { kind: "json", value: { text: textOf(call) } } }),
  fromResponse({ json }, call) {
    const score = asScore(at(json, "score"));
    if (score === null) throw new TypeError("there is no score in the answer");
    const items = objectsIn(at(json, "sentence_scores")).flatMap((sentence) =>
      toJudgedText(asText(sentence["sentence"]) ?? "", sentence["score"]),
    );
    return { output: { ai_score: score, items }, units: unitsOf(textOf(call)) };
  },
};

const checkSpelling: ProviderTask = {
  task: "text/spell_check",
  docs: "https://sapling.ai/docs/api/spelling-overview",
  toRequest: (call) => ({
    path: "/spellcheck",
    body: {
      kind: "json",
      value: {
        text: textOf(call),
        session_id: call.requestId,
        multiple_edits: true,
        ...(languageOf(call) !== null && { lang: languageOf(call) }),
      },
    },
  }),
  fromResponse({ json }, call) {
    const text = textOf(call);
    const items = objectsIn(at(json, "edits")).map((edit) => toItem(edit, at(json, "candidates")));
    return { output: { text, items }, units: unitsOf(text) };
  },
};

/** Positions are told within the sentence, and the sentence's within the text. */
function toItem(edit: Readonly<Record<string, unknown>>, candidates: unknown): object {
  const start = asNumber(edit["start"]) ?? 0;
  const end = asNumber(edit["end"]) ?? start;
  const word = (asText(edit["sentence"]) ?? "").slice(start, end);
  const replacements = [asText(edit["replacement"]) ?? "", ...asList(at(candidates, word)).map(String)];
  return {
    text: word,
    type: asText(edit["general_error_type"]),
    offset: (asNumber(edit["sentence_start"]) ?? 0) + start,
    length: end - start,
    suggestions: [...new Set(replacements)].map((suggestion) => ({ suggestion, score: null })),
  };
}

const sentiments: Readonly<Record<string, string>> = { POSITIVE: "Positive", NEGATIVE: "Negative", NEUTRAL: "Neutral" };

const analyseSentiment: ProviderTask = {
  task: "text/sentiment_analysis",
  docs: "https://sapling.ai/docs/api/sentiment",
  unsupported: ["language"],
  toRequest: (call) => ({ path: "/sentiment", body: { kind: "json", value: { text: textOf(call) } } }),
  fromResponse({ json }, call) {
    const overall = toSentiment(at(json, "overall"));
    if (overall === null) throw new TypeError("there is no overall sentiment in the answer");
    const items = asList(at(json, "sents")).flatMap((segment, index) => {
      const found = toSentiment(at(json, "results", index));
      return found === null
        ? []
        : [{ segment: String(segment), sentiment: found.sentiment, sentiment_rate: found.rate }];
    });
    return {
      output: { general_sentiment: overall.sentiment, general_sentiment_rate: overall.rate, items },
      units: unitsOf(textOf(call)),
    };
  },
};

/** Pairs of score and label, the likeliest first; those that we have no word for (mixed) are passed over. */
function toSentiment(pairs: unknown): { readonly sentiment: string; readonly rate: number | null } | null {
  for (const pair of asList(pairs)) {
    const sentiment = lookUp(sentiments, String(at(pair, 1)).toUpperCase());
    if (sentiment !== undefined) return { sentiment, rate: asScore(at(pair, 0)) };
  }
  return null;
}

function unitsOf(text: string): { char: number; request: number } {
  return { char: countCharacters(text), request: 1 };
}

export const sapling: ProviderRow = {
  name: "sapling",
  title: "Sapling",
  docs: "https://sapling.ai/docs/api/api-access",
  baseUrl: "https://api.sapling.ai/api/v1",
  auth: { kind: "member", name: "key" },
  tasks: [detectAi, checkSpelling, analyseSentiment],
};
