import { asList, asNumber, asScore, asText, at, objectsIn, rounded } from "../lenient.ts";
import { toAiPrediction } from "../shapes/detection.ts";
import { countCharacters, textOf } from "../shapes/inputs.ts";
import { refuseInput, type VendorRow, type VendorTask } from "../vendor-engine.ts";

const detectAi: VendorTask = {
  task: "text/ai_detection",
  docs: "https://docs.gowinston.ai/api-reference/v2/ai-content-detection/post",
  toRequest: (call) => ({
    path: "/v2/ai-content-detection",
    body: { kind: "json", value: { text: textOf(call), sentences: true } },
  }),
  fromAnswer({ json }, call) {
    const items = objectsIn(at(json, "sentences")).map((sentence) => {
      const score = fromHumanScore(sentence["score"]);
      return {
        text: asText(sentence["text"]) ?? "",
        prediction: toAiPrediction(score),
        ai_score: score,
        ai_score_detail: score,
      };
    });
    return {
      output: { ai_score: fromHumanScore(at(json, "score")), items },
      units: { char: countCharacters(textOf(call)), request: 1 },
    };
  },
};

/** The vendor's scores say how human something is, from 0 to 100. */
function fromHumanScore(value: unknown): number {
  const score = asNumber(value);
  if (score === null) throw new TypeError("there is no score in the answer");
  return asScore(rounded(1 - score / 100));
}

const findPlagiarism: VendorTask = {
  task: "text/plagia_detection",
  docs: "https://docs.gowinston.ai/api-reference/v2/plagiarism/post",
  unused: ["title"],
  toRequest: (call) => ({ path: "/v2/plagiarism", body: { kind: "json", value: { text: textOf(call) } } }),
  fromAnswer({ json }, call) {
    const score = asNumber(at(json, "result", "score") ?? at(json, "score"));
    if (score === null) throw new TypeError("there is no score in the answer");
    const items = objectsIn(at(json, "sources") ?? at(json, "results")).map(toSource);
    return {
      output: { plagia_score: asScore(score / 100), items },
      units: { char: countCharacters(textOf(call)), request: 1 },
    };
  },
};

/** A page that has parts of the text. Older versions of the API tell excerpts and no score for each page. */
function toSource(source: Readonly<Record<string, unknown>>): object {
  const passages = [
    ...objectsIn(source["plagiarismFound"]).map(({ sequence }) => asText(sequence) ?? ""),
    ...asList(source["excerpts"]).map(String),
  ];
  const score = source["score"] === undefined ? 1 : asScore((asNumber(source["score"]) ?? 0) / 100);
  return {
    text: asText(source["title"]) ?? "",
    candidates: passages.map((passage) => ({
      url: asText(source["url"]) ?? "",
      plagia_score: score,
      prediction: score > 0 ? "plagiarized" : "not plagiarized",
      plagiarized_text: passage,
    })),
  };
}

const detectAiImage: VendorTask = {
  task: "image/ai_detection",
  docs: "https://docs.gowinston.ai/api-reference/v2/image-detection/post",
  toRequest: (call) => {
    const url = String(call.input["file"]);
    if (!/^https?:\/\//.test(url))
      refuseInput("file", "This provider takes images by their address only", "url_parsing");
    return { path: "/v2/image-detection", body: { kind: "json", value: { url } } };
  },
  fromAnswer({ json }) {
    const probability = asNumber(at(json, "ai_probability"));
    const score = probability === null ? fromHumanScore(at(json, "score")) : asScore(probability);
    return {
      output: { ai_score: score, prediction: toAiPrediction(score) },
      units: { image: 1, request: 1 },
    };
  },
};

export const winstonai: VendorRow = {
  name: "winstonai",
  title: "Winston AI",
  docs: "https://docs.gowinston.ai/api-reference/introduction",
  baseUrl: "https://api.gowinston.ai",
  auth: { kind: "bearer" },
  tasks: [detectAi, findPlagiarism, detectAiImage],
};
