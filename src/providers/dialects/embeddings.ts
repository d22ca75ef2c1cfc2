// Embeddings of vendors whose request is a list of texts and some members: the dialect is a table from our members to theirs.

import { lookUp } from "../../lib/look-up.ts";
import type { EmbeddingsAnswer, EmbeddingsDialect, JsonObject } from "../dialect.ts";
import { asCount, asObject, asString } from "../lenient.ts";
import { all } from "../parameters.ts";
import { present } from "./completion.ts";

interface EmbeddingsTable {
  readonly path: string;
  /** The member for the texts; `input` when absent. */
  readonly textsMember?: string;
  readonly maxInputs: number;
  /** Our member → the vendor's. */
  readonly members: Readonly<Record<string, string>>;
  /** Sent with every request. */
  readonly constants?: JsonObject;
  readonly inputType?: InputTypeRule;
  readonly refused?: readonly string[];
  /** Reads the format of OpenAI when absent. */
  readonly fromAnswer?: (answer: JsonObject) => EmbeddingsAnswer;
}

/** How the purpose of a text is sent to the vendor. */
interface InputTypeRule {
  readonly member: string;
  /** Names of other vendors → the vendor's. */
  readonly names: Readonly<Record<string, string>>;
  /** Any other type is dropped. Absent: every type is passed on. */
  readonly known?: readonly string[];
  /** For a vendor that requires the member. */
  readonly fallback?: string;
}

export function createEmbeddings(table: EmbeddingsTable): EmbeddingsDialect {
  const { path, textsMember = "input", maxInputs, members, constants, inputType, refused = [] } = table;
  const inputTypeNames = inputType === undefined ? [] : ["input_type"];
  return {
    parameters: {
      ...all("mapped", "model", "input", "encoding_format", ...inputTypeNames, ...Object.keys(members)),
      ...all("refused", ...refused),
    },
    maxInputs,
    toRequest(request, { model }) {
      const named = request.input_type ?? inputType?.fallback ?? null;
      const type = named === null || inputType === undefined ? null : (lookUp(inputType.names, named) ?? named);
      const isDropped = type !== null && inputType?.known?.includes(type) === false;
      const body = {
        model,
        [textsMember]: request.input,
        ...constants,
        ...(inputType && type !== null && !isDropped ? { [inputType.member]: type } : {}),
        ...present(Object.fromEntries(Object.entries(members).map(([ours, theirs]) => [theirs, request[ours]]))),
      };
      return { path, body: JSON.stringify(body), ...(isDropped ? { dropped: ["input_type"] } : {}) };
    },
    fromAnswer: table.fromAnswer ?? fromEmbeddingList,
  };
}

/** OpenAI's format: `data`, each element with its index, as numbers or as base64 of 32-bit floats. */
function fromEmbeddingList(answer: JsonObject): EmbeddingsAnswer {
  const { data } = answer;
  if (!Array.isArray(data)) throw new TypeError("the answer has no embeddings");
  const vectors: (readonly number[])[] = [];
  for (const [position, value] of data.entries()) {
    const item = asObject(value);
    vectors[asCount(item["index"] ?? position)] = toVector(item["embedding"]);
  }
  const usage = asObject(answer["usage"]);
  const count = usage["prompt_tokens"] ?? usage["total_tokens"];
  const inputTokens = typeof count === "number" ? asCount(count) : null;
  return { vectors, model: asString(answer["model"]) || null, inputTokens };
}

function toVector(embedding: unknown): readonly number[] {
  if (Array.isArray(embedding)) return embedding;
  if (typeof embedding !== "string") throw new TypeError("an embedding is not a list of numbers");
  const bytes = Buffer.from(embedding, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(4 * index));
}
