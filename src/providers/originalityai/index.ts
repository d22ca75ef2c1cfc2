import type { JsonObject } from "../dialect.ts";
import { asScore, asString, at, fromPercentage, limitToOne, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { asAmount } from "../shapes/amounts.ts";
import { toJudgedText } from "../shapes/detection.ts";
import { postJson, textUnits } from "../shapes/inputs.ts";
import { requireValue } from "../shapes/require-value.ts";
import { defineTask } from "../task.ts";

const detectAi = defineTask("text/ai_detection", {
  docs: "https://docs.originality.ai/api-v1-0-reference/scan/ai-scan",
  toRequest: ({ input }) => postJson("/api/v1/scan/ai", { content: input.text }),
  fromResponse({ json }, call) {
    const ai_score = requireValue(asScore(at(json, "score", "ai")), "score");
    const items = objectsIn(at(json, "blocks")).flatMap(({ text, result }) =>
      toJudgedText(asString(text), at(result, "fake")),
    );
    return { output: { ai_score, items }, units: textUnits(call) };
  },
});

const findPlagiarism = defineTask("text/plagia_detection", {
  docs: "https://docs.originality.ai/api-v1-0-reference/scan/plagiarism-scan",
  toRequest: ({ input: { text, title } }) =>
    postJson("/api/v1/scan/plag", { content: text, title: title || undefined }),
  fromResponse({ json }, call) {
    // Written as `12%`.
    const percentage = requireValue(asAmount(at(json, "total_text_score")), "score");
    const items = objectsIn(at(json, "results")).map(({ phrase, matches }) => ({
      text: asString(phrase),
      candidates: objectsIn(matches).flatMap(toCandidate),
    }));
    return { output: { plagia_score: limitToOne(percentage / 100), items }, units: textUnits(call) };
  },
});

/** The schema requires a score. */
function toCandidate({ score, website, pText }: JsonObject) {
  const plagia_score = fromPercentage(score);
  if (plagia_score === null) return [];
  const prediction = plagia_score > 0.5 ? "plagiarized" : "not plagiarized";
  return [{ url: asString(website), plagia_score, prediction, plagiarized_text: asString(pText) }];
}

export const originalityai = defineProvider("originalityai", "Originality.ai", {
  docs: "https://docs.originality.ai/api-v1-0-reference",
  baseUrl: "https://api.originality.ai",
  auth: { kind: "header", name: "x-oai-api-key" },
  billedParams: ["content"],
  tasks: [detectAi, findPlagiarism],
});
