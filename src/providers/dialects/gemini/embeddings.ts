// Embeddings, which the vendor's two services take in three forms.

import type { EmbeddingsAnswer, EmbeddingsDialect, EmbeddingsRequest, JsonObject, Target } from "../../dialect.ts";
import { asCount, asList, asText, finiteNumber, objectOrNull } from "../../lenient.ts";
import { throwErrorIn, unwrap } from "./failure.ts";
import { modelPath } from "./request.ts";

const parameters = {
  model: "mapped",
  input: "mapped",
  dimensions: "mapped",
  input_type: "mapped",
  encoding_format: "mapped",
  user: "dropped",
} as const;

// What callers of other vendors say, in this vendor's words. Its own words are taken as they are.
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
    const task = toTask(request);
    const model = `models/${target.model.replace(/^models\//, "")}`;
    const requests = request.input.map((text) => ({
      model,
      content: { parts: [{ text }] },
      ...(task.type === null ? {} : { taskType: task.type }),
      ...(request.dimensions ? { outputDimensionality: request.dimensions } : {}),
    }));
    return { path: modelPath(target.model, "batchEmbedContents"), body: JSON.stringify({ requests }), ...task.dropped };
  },
  fromAnswer(value) {
    const answer = unwrap(value);
    throwErrorIn(answer);
    const tokens = objectOrNull(answer["usageMetadata"])?.["promptTokenCount"];
    return toAnswer(asList(answer["embeddings"]), finiteNumber(tokens));
  },
};

/** The newer models take one text by embedContent; the older ones by predict, where some take one only. */
export const vertexaiEmbeddings: EmbeddingsDialect = {
  parameters,
  maxInputs: 1,
  toRequest(request, target) {
    return isOfPredict(target.model) ? toPredict(request, target) : toEmbedContent(request, target);
  },
  fromAnswer(value) {
    const answer = unwrap(value);
    throwErrorIn(answer);
    if (answer["embedding"] !== undefined) {
      const tokens = objectOrNull(answer["usageMetadata"])?.["promptTokenCount"];
      return toAnswer([answer["embedding"]], finiteNumber(tokens));
    }
    const embeddings = asList(answer["predictions"]).map((prediction) =>
      objectOrNull(objectOrNull(prediction)?.["embeddings"]),
    );
    const counts = embeddings.map((embedding) => objectOrNull(embedding?.["statistics"])?.["token_count"]);
    const isCounted = counts.length > 0 && counts.every((count) => typeof count === "number");
    return toAnswer(embeddings, isCounted ? counts.reduce((sum: number, count) => sum + asCount(count), 0) : null);
  },
};

function isOfPredict(model: string): boolean {
  return !model.includes("gemini") || model.endsWith("gemini-embedding-001");
}

function toPredict(request: EmbeddingsRequest, target: Target) {
  const task = toTask(request);
  const instances = request.input.map((content) => ({
    content,
    ...(task.type === null ? {} : { task_type: task.type }),
  }));
  const body = {
    instances,
    ...(request.dimensions ? { parameters: { outputDimensionality: request.dimensions } } : {}),
  };
  return { path: modelPath(target.model, "predict"), body: JSON.stringify(body), ...task.dropped };
}

function toEmbedContent(request: EmbeddingsRequest, target: Target) {
  const task = toTask(request);
  const config = {
    ...(task.type === null ? {} : { taskType: task.type }),
    ...(request.dimensions ? { outputDimensionality: request.dimensions } : {}),
  };
  const body = {
    content: { parts: request.input.map((text) => ({ text })) },
    ...(Object.keys(config).length === 0 ? {} : { embedContentConfig: config }),
  };
  return { path: modelPath(target.model, "embedContent"), body: JSON.stringify(body), ...task.dropped };
}

function toTask(request: EmbeddingsRequest): { type: string | null; dropped: { dropped?: readonly string[] } } {
  const asked = asText(request.input_type);
  if (asked === null) return { type: null, dropped: {} };
  if (Object.hasOwn(taskTypes, asked)) return { type: taskTypes[asked] ?? null, dropped: {} };
  if (/^[A-Z_]+$/.test(asked)) return { type: asked, dropped: {} };
  return { type: null, dropped: { dropped: ["input_type"] } };
}

function toAnswer(embeddings: readonly unknown[], inputTokens: number | null): EmbeddingsAnswer {
  const vectors = embeddings.map((embedding) => {
    const values = (embedding as JsonObject | null)?.["values"];
    if (!Array.isArray(values)) throw new TypeError("the answer holds an embedding without values");
    return values as number[];
  });
  if (vectors.length === 0) throw new TypeError("the answer holds no embeddings");
  return { vectors, model: null, inputTokens };
}
