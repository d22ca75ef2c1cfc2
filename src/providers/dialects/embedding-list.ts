// An answer in OpenAI's form of embeddings: `data`, each with its number, as numbers or as base64 of 32-bit floats.

import type { EmbeddingsAnswer, JsonObject } from "../dialect.ts";
import { asCount, asObject, asString } from "../lenient.ts";

export function fromEmbeddingList(answer: JsonObject): EmbeddingsAnswer {
  const { data } = answer as { data?: unknown };
  if (!Array.isArray(data)) throw new TypeError("the answer has no embeddings");
  const vectors: (readonly number[])[] = [];
  data.forEach((value, at) => {
    const item = asObject(value);
    vectors[asCount(item["index"] ?? at)] = toVector(item["embedding"]);
  });
  const usage = asObject(answer["usage"]);
  const count = usage["prompt_tokens"] ?? usage["total_tokens"];
  return {
    vectors,
    model: asString(answer["model"]) || null,
    inputTokens: typeof count === "number" ? asCount(count) : null,
  };
}

function toVector(embedding: unknown): readonly number[] {
  if (Array.isArray(embedding)) return embedding;
  if (typeof embedding !== "string") throw new TypeError("an embedding is not a list of numbers");
  const bytes = Buffer.from(embedding, "base64");
  const vector: number[] = [];
  for (let offset = 0; offset + 4 <= bytes.length; offset += 4) vector.push(bytes.readFloatLE(offset));
  return vector;
}
