// Embeddings through InvokeModel, whose body depends on the model.
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
// https://docs.aws.amazon.com/nova/latest/nova2-userguide/embeddings-schema.html

import { isObject } from "../../../lib/lenient-json.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { EmbeddingsDialect, EmbeddingsRequest, JsonObject } from "../../dialect.ts";
import { asList, asObject, finiteNumber } from "../../lenient.ts";
import { all } from "../../parameters.ts";
import { refuse } from "../chat-request.ts";
import { splitModelId } from "./models.ts";

interface ModelRequest {
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}

const cohereMaxInputs = 96;
const novaDimensions = 3_072;

export const bedrockEmbeddings: EmbeddingsDialect = {
  parameters: {
    ...all("mapped", "model", "input", "dimensions", "input_type", "encoding_format", "truncate", "normalize"),
    ...all("dropped", "user"),
  },
  maxInputs: maxEmbeddingInputs,
  toRequest(request, { model }) {
    const { body, dropped } = toBody(request, model);
    return { path: `/model/${encodeURIComponent(model)}/invoke`, body: JSON.stringify(body), dropped };
  },
  fromAnswer(answer) {
    const vectors = readVectors(answer);
    if (vectors.length === 0) throw new TypeError("the answer has no vectors");
    const inputTokens = finiteNumber(answer["inputTextTokenCount"] ?? answer["inputTokenCount"]);
    return { vectors, model: null, inputTokens };
  },
};

/** Only the models of this maker take several inputs per call. */
export function maxEmbeddingInputs(model: string): number {
  return splitModelId(model).maker === "cohere" ? cohereMaxInputs : 1;
}

function toBody(request: EmbeddingsRequest, model: string): ModelRequest {
  const { maker, name } = splitModelId(model);
  if (maker === "cohere") return toCohereBody(request, name);
  const [text = "", ...more] = request.input;
  if (more.length > 0) throw refuse(["input"], "This model accepts one input per call", "value_error");
  if (name.startsWith("nova-")) return toNovaBody(request, text);
  if (name.startsWith("titan-embed-image")) return toTitanImageBody(request, text);
  return toTitanBody(request, text, name);
}

function toTitanBody(request: EmbeddingsRequest, inputText: string, name: string): ModelRequest {
  const { dimensions, normalize } = request;
  // The first generation has a fixed size and refuses these members.
  if (name.startsWith("titan-embed-text-v1") || name.startsWith("titan-embed-g1"))
    return { body: { inputText }, dropped: namesOf(request, ["dimensions", "normalize", "input_type", "truncate"]) };
  const size = dimensions ? { dimensions } : {};
  const body = { inputText, ...size, ...(typeof normalize === "boolean" ? { normalize } : {}) };
  return { body, dropped: namesOf(request, ["input_type", "truncate"]) };
}

function toTitanImageBody(request: EmbeddingsRequest, inputText: string): ModelRequest {
  const { dimensions } = request;
  const size = dimensions ? { embeddingConfig: { outputEmbeddingLength: dimensions } } : {};
  return { body: { inputText, ...size }, dropped: namesOf(request, ["input_type", "truncate", "normalize"]) };
}

function toCohereBody(request: EmbeddingsRequest, name: string): ModelRequest {
  const { input, dimensions, input_type: inputType, truncate } = request;
  const takesDimensions = !/^embed-(?:english|multilingual)-v3/.test(name);
  const body = {
    texts: input,
    // The model requires it; most texts are embedded to be stored.
    input_type: inputType || "search_document",
    embedding_types: ["float"],
    ...(typeof truncate === "string" ? { truncate: truncate.toUpperCase() } : {}),
    ...(dimensions && takesDimensions ? { output_dimension: dimensions } : {}),
  };
  return { body, dropped: namesOf(request, takesDimensions ? ["normalize"] : ["normalize", "dimensions"]) };
}

const novaPurposes: Readonly<Record<string, string>> = {
  search_query: "TEXT_RETRIEVAL",
  search_document: "GENERIC_INDEX",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
};

function toNovaBody(request: EmbeddingsRequest, value: string): ModelRequest {
  const { dimensions, input_type: inputType, truncate } = request;
  const purpose = lookUp(novaPurposes, inputType ?? "search_document");
  const truncationMode = typeof truncate === "string" ? truncate.toUpperCase() : "END";
  const body = {
    taskType: "SINGLE_EMBEDDING",
    singleEmbeddingParams: {
      embeddingPurpose: purpose ?? "GENERIC_INDEX",
      embeddingDimension: dimensions ?? novaDimensions,
      text: { truncationMode, value },
    },
  };
  return { body, dropped: namesOf(request, purpose === undefined ? ["normalize", "input_type"] : ["normalize"]) };
}

/** The names that the request has. */
function namesOf(request: EmbeddingsRequest, names: readonly string[]): string[] {
  return names.filter((name) => request[name] !== undefined && request[name] !== null);
}

function readVectors(answer: JsonObject): readonly (readonly number[])[] {
  const own = answer["embedding"];
  if (Array.isArray(own)) return [own];
  const all = answer["embeddings"];
  const list = isObject(all) ? asList(all["float"]) : asList(all);
  return list.flatMap((item) => {
    const vector = Array.isArray(item) ? item : asObject(item)["embedding"];
    return Array.isArray(vector) ? [vector as readonly number[]] : [];
  });
}
