import { asList, asNumber, asScore, asText, at, fromPercentage, limitToOne, objectsIn, rounded } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { toAiPrediction, toJudgedText } from "../shapes/detection.ts";
import { countCharacters, textOf } from "../shapes/inputs.ts";
import { type ProviderTask, refuseInput } from "../task.ts";

const detectAi: ProviderTask = {
  task: "text/ai_detection",
  docs: "https://docs.gowinston.ai/api-reference/v2/ai-content-detection/post",
  toRequest: (call) => ({
    path: "/v2/ai-content-detection",
    body: { kind: "json", value: { text: textOf(call), sentences: true } },
  }),
  fromResponse({ json }, call) {
    const items = objectsIn(at(json, "sentences")).flatMap((sentence) =>
      toJudgedText(asText(sentence["text"]) ?? "", fromHumanScore(sentence["score"])),
    );
    return {
      output: { ai_score: requireScore(fromHumanScore(at(json, "score"))), items },
      units: { char: countCharacters(textOf(call)), request: 1 },
    };
  },
};

/** The vendor's scores say how human something is, from 0 to 100. */
function fromHumanScore(value: unknown): number | null {
  const score = asNumber(value);
  return score === null ? null : limitToOne(rounded(1 - score / 100));
}

function requireScore(score: number | null): number {
  if (score === null) throw new TypeError("there is no score in the answer");
  return score;
}

const findPlagiarism: ProviderTask = {
  task: "text/plagia_detection",
  docs: "https://docs.gowinston.ai/api-reference/v2/plagiarism/post",
  unsupported: ["title"],
  toRequest: (call) => ({ path: "/v2/plagiarism", body: { kind: "json", value: { text: textOf(call) } } }),
  fromResponse({ json }, call) {
    const score = requireScore(fromPercentage(at(json, "result", "score") ?? at(json, "score")));
    const items = objectsIn(at(json, "sources") ?? at(json, "results")).map(toSource);
    return {
      output: { plagia_score: score, items },
      units: { char: countCharacters(textOf(call)), request: 1 },
    };
  },
};

/** A page that has parts of the text. The schema requires a score for each candidate. */
function toSource(source: Readonly<Record<string, unknown>>): object {
  const score = fromPercentage(source["score"]);
  const passages = objectsIn(source["plagiarismFound"]).map(({ sequence }) => asText(sequence) ?? "");
  // The older API sends no scores: its excerpts are literal matches, which the API's normal form scores 1.
  const excerpts = asList(source["excerpts"]).map(String);
  const toCandidate = (passage: string, plagia_score: number) => ({
    url: asText(source["url"]) ?? "",
    plagia_score,
    prediction: plagia_score > 0 ? "plagiarized" : "not plagiarized",
    plagiarized_text: passage,
  });
  return {
    text: asText(source["title"]) ?? "",
    candidates: [
      ...(score === null ? [] : passages.map((passage) => toCandidate(passage, score))),
      ...excerpts.map((passage) => toCandidate(passage, score ?? 1)),
    ],
  };
}

const detectAiImage: ProviderTask = {
  task: "image/ai_detection",
  docs: "https://docs.gowinston.ai/api-reference/v2/image-detection/post",
  toRequest: (call) => {
    const url = String(call.input["file"]);
    if (!/^https?:\/\//.test(url))
      refuseInput("file", "This provider takes images by their address only", "url_parsing");
    return { path: "/v2/image-detection", body: { kind: "json", value: { url } } };
  },
  fromResponse({ json }) {
    const score = requireScore(asScore(at(json, "ai_probability")) ?? fromHumanScore(at(json, "score")));
    return {
      output: { ai_score: score, prediction: toAiPrediction(score) },
      units: { image: 1, request: 1 },
    };
  },
};

export const winstonai: ProviderRow = {
  name: "winstonai",
  title: "Winston AI",
  docs: "https://docs.gowinston.ai/api-reference/introduction",
  baseUrl: "https://api.gowinston.ai",
  auth: { kind: "bearer" },
  tasks: [detectAi, findPlagiarism, detectAiImage],
};
