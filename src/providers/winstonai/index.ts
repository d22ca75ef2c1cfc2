import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asScore, asString, at, fromPercentage, limitToOne, objectsIn, rounded } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { toAiPrediction, toJudgedText } from "../shapes/detection.ts";
import { postJson, textUnits } from "../shapes/inputs.ts";
import { requireValue } from "../shapes/require-value.ts";
import { defineTask, refuseInput } from "../task.ts";

const detectAi = defineTask("text/ai_detection", {
  docs: "https://docs.gowinston.ai/api-reference/v2/ai-content-detection/post",
  toRequest: ({ input }) => postJson("/v2/ai-content-detection", { text: input.text, sentences: true }),
  fromResponse({ json }, call) {
    const ai_score = requireValue(fromHumanScore(at(json, "score")), "score");
    const items = objectsIn(at(json, "sentences")).flatMap(({ text, score }) =>
      toJudgedText(asString(text), fromHumanScore(score)),
    );
    return { output: { ai_score, items }, units: textUnits(call) };
  },
});

/** From 0 (written by AI) to 100 (written by a human). */
function fromHumanScore(value: unknown): number | null {
  const score = asNumber(value);
  return score === null ? null : limitToOne(rounded(1 - score / 100));
}

const findPlagiarism = defineTask("text/plagia_detection", {
  docs: "https://docs.gowinston.ai/api-reference/v2/plagiarism/post",
  unsupported: ["title"],
  toRequest: ({ input }) => postJson("/v2/plagiarism", { text: input.text }),
  fromResponse({ json }, call) {
    const score = fromPercentage(at(json, "result", "score") ?? at(json, "score"));
    const items = objectsIn(at(json, "sources") ?? at(json, "results")).map(toSource);
    return { output: { plagia_score: requireValue(score, "score"), items }, units: textUnits(call) };
  },
});

/** A page that contains parts of the text. The schema requires a score for each candidate. */
function toSource(source: JsonObject) {
  const score = fromPercentage(source["score"]);
  const passages = objectsIn(source["plagiarismFound"]).map(({ sequence }) => asString(sequence));
  // The older API sends no scores: its excerpts are literal matches, which the API's normal form scores 1.
  const excerpts = asList(source["excerpts"]).map(String);
  const toCandidate = (passage: string, plagia_score: number) => ({
    url: asString(source["url"]),
    plagia_score,
    prediction: plagia_score > 0 ? "plagiarized" : "not plagiarized",
    plagiarized_text: passage,
  });
  return {
    text: asString(source["title"]),
    candidates: [
      ...(score === null ? [] : passages.map((passage) => toCandidate(passage, score))),
      ...excerpts.map((passage) => toCandidate(passage, score ?? 1)),
    ],
  };
}

const detectAiImage = defineTask("image/ai_detection", {
  docs: "https://docs.gowinston.ai/api-reference/v2/image-detection/post",
  toRequest: ({ input: { file: url } }) => {
    if (!/^https?:\/\//.test(url))
      refuseInput("file", "This provider takes images by their address only", "url_parsing");
    return postJson("/v2/image-detection", { url });
  },
  fromResponse({ json }) {
    const score = asScore(at(json, "ai_probability")) ?? fromHumanScore(at(json, "score"));
    const ai_score = requireValue(score, "score");
    return { output: { ai_score, prediction: toAiPrediction(ai_score) }, units: { image: 1, request: 1 } };
  },
});

export const winstonai = defineProvider("winstonai", "Winston AI", {
  docs: "https://docs.gowinston.ai/api-reference/introduction",
  baseUrl: "https://api.gowinston.ai",
  billedParams: ["text", "file", "website"],
  tasks: [detectAi, findPlagiarism, detectAiImage],
});
