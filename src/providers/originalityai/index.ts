import type { JsonObject } from "../dialect.ts";
import { asScore, asText, at, fromPercentage, limitToOne, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { asAmount } from "../shapes/amounts.ts";
import { toJudgedText } from "../shapes/detection.ts";
import { countCharacters, textOf } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";

const detectAi: ProviderTask = {
  task: "text/ai_detection",
  docs: "https://docs.originality.ai/api-v1-0-reference/scan/ai-scan",
  toRequest: (call) => ({ path: "/api/v1/scan/ai", body: { kind: "json", value: { content: textOf(call) } } }),
  fromResponse({ json }, call) {
    const score = asScore(at(json, "score", "ai"));
    if (score === null) throw new TypeError("there is no score in the answer");
    const items = objectsIn(at(json, "blocks")).flatMap((block) =>
      toJudgedText(asText(block["text"]) ?? "", at(block, "result", "fake")),
    );
    return { output: { ai_score: score, items }, units: unitsOf(textOf(call)) };
  },
};

const findPlagiarism: ProviderTask = {
  task: "text/plagia_detection",
  docs: "https://docs.originality.ai/api-v1-0-reference/scan/plagiarism-scan",
  toRequest: (call) => {
    const title = asText(call.input["title"]);
    const value = { content: textOf(call), ...(title !== null && { title }) };
    return { path: "/api/v1/scan/plag", body: { kind: "json", value } };
  },
  fromResponse({ json }, call) {
    // Written as `12%`.
    const score = asAmount(at(json, "total_text_score"));
    if (score === null) throw new TypeError("there is no score in the answer");
    const items = objectsIn(at(json, "results")).map((result) => ({
      text: asText(result["phrase"]) ?? "",
      candidates: objectsIn(result["matches"]).flatMap(toCandidate),
    }));
    return { output: { plagia_score: limitToOne(score / 100), items }, units: unitsOf(textOf(call)) };
  },
};

/** None without a score, because the schema requires one. */
function toCandidate(match: JsonObject): object[] {
  const score = fromPercentage(match["score"]);
  if (score === null) return [];
  return [
    {
      url: asText(match["website"]) ?? "",
      plagia_score: score,
      prediction: score > 0.5 ? "plagiarized" : "not plagiarized",
      plagiarized_text: asText(match["pText"]) ?? "",
    },
  ];
}

function unitsOf(text: string): { char: number; request: number } {
  return { char: countCharacters(text), request: 1 };
}

export const originalityai: ProviderRow = {
  name: "originalityai",
  title: "Originality.ai",
  docs: "https://docs.originality.ai/api-v1-0-reference",
  baseUrl: "https://api.originality.ai",
  auth: { kind: "header", name: "x-oai-api-key" },
  tasks: [detectAi, findPlagiarism],
};
