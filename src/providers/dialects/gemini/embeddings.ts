// Embeddings, which the vendor's two services take in three forms.

import { lookUp } from "../../../lib/look-up.ts";
import type { EmbeddingsAnswer, EmbeddingsDialect, EmbeddingsRequest, JsonObject } from "../../dialect.ts";
import { asCount, asList, asText, finiteNumber, objectOrNull } from "../../lenient.ts";
import { all } from "../../parameters.ts";
import { filled, present } from "../completion.ts";
import { throwErrorIn, unwrap } from "./failure.ts";
import { modelPath } from "./request.ts";

const parameters = {
  ...all("mapped", "model", "input", "dimensions", "input_type", "encoding_format"),
  ...all("dropped", "user"),
};

// Names of other vendors → the vendor's. Its own names are passed on.
const taskTypes: Readonly<Record<string, string>> = {
  search_query: "RETRIEVAL_QUERY",
  query: "RETRIEVAL_QUERY",
  search_document: "RETRIEVAL_DOCUMENT",
  document: "RETRIEVAL_DOCUMENT",
  passage: "RETRIEVAL_DOCUMENT",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
};

export const geminiEmbeddings: EmbeddingsDialect = {
  parameters,
  maxInputs: 100,
  toRequest(request, target) {
    const model = `models/${target.model}`;
    const { config, ...report } = readConfig(request);
    const requests = request.input.map((text) => ({ model, content: { parts: [{ text }] }, ...config }));
    return { path: modelPath(target.model, "batchEmbedContents"), body: JSON.stringify({ requests }), ...report };
  },
  fromAnswer(value) {
    const answer = readAnswer(value);
    return toAnswer(asList(answer["embeddings"]), readPromptTokens(answer));
  },
};

/** Newer models take one text through embedContent; older ones use predict, where some take only one. */
export const vertexaiEmbeddings: EmbeddingsDialect = {
  parameters,
  maxInputs: 1,
  toRequest(request, { model }) {
    const { config, ...report } = readConfig(request);
    const usesPredict = !model.includes("gemini") || model.endsWith("gemini-embedding-001");
    if (usesPredict) {
      const { taskType, outputDimensionality } = config;
      const instances = request.input.map((content) => ({ content, ...present({ task_type: taskType }) }));
      const body = { instances, ...filled({ parameters: present({ outputDimensionality }) }) };
      return { path: modelPath(model, "predict"), body: JSON.stringify(body), ...report };
    }
    const content = { parts: request.input.map((text) => ({ text })) };
    const body = { content, ...filled({ embedContentConfig: config }) };
    return { path: modelPath(model, "embedContent"), body: JSON.stringify(body), ...report };
  },
  fromAnswer(value) {
    const answer = readAnswer(value);
    if (answer["embedding"] !== undefined) return toAnswer([answer["embedding"]], readPromptTokens(answer));
    const embeddings = asList(answer["predictions"]).map((prediction) =>
      objectOrNull(objectOrNull(prediction)?.["embeddings"]),
    );
    const counts = embeddings.map((embedding) => objectOrNull(embedding?.["statistics"])?.["token_count"]);
    const isCounted = counts.length > 0 && counts.every((count) => typeof count === "number");
    return toAnswer(embeddings, isCounted ? counts.reduce((sum: number, count) => sum + asCount(count), 0) : null);
  },
};

interface EmbeddingConfig {
  readonly taskType?: string;
  readonly outputDimensionality?: number;
}

function readConfig(request: EmbeddingsRequest): { config: EmbeddingConfig; dropped?: readonly string[] } {
  const requested = asText(request.input_type);
  const isOwn = requested !== null && /^[A-Z_]+$/.test(requested);
  const taskType = requested === null ? null : (lookUp(taskTypes, requested) ?? (isOwn ? requested : null));
  const config = present({ taskType, outputDimensionality: request.dimensions || null });
  return requested !== null && taskType === null ? { config, dropped: ["input_type"] } : { config };
}

function readAnswer(value: JsonObject): JsonObject {
  const answer = unwrap(value);
  throwErrorIn(answer);
  return answer;
}

function readPromptTokens(answer: JsonObject): number | null {
  return finiteNumber(objectOrNull(answer["usageMetadata"])?.["promptTokenCount"]);
}

function toAnswer(embeddings: readonly unknown[], inputTokens: number | null): EmbeddingsAnswer {
  const vectors = embeddings.map((embedding) => {
    const values = objectOrNull(embedding)?.["values"];
    if (!Array.isArray(values)) throw new TypeError("the answer has an embedding without values");
    return values as number[];
  });
  if (vectors.length === 0) throw new TypeError("the answer has no embeddings");
  return { vectors, model: null, inputTokens };
}
