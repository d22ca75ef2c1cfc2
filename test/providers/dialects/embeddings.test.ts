// Embeddings of vendors whose form is not quite our callers'. Answers have the documented form; the numbers are invented.

import { expect, test } from "bun:test";
import type { Dialect, EmbeddingsDialect, EmbeddingsRequest } from "../../../src/providers/dialect.ts";
import { cohere } from "../../../src/providers/dialects/cohere/index.ts";
import { jina } from "../../../src/providers/dialects/jina/index.ts";
import { mistral } from "../../../src/providers/dialects/mistral/index.ts";
import { ollama } from "../../../src/providers/dialects/ollama/index.ts";
import { voyage } from "../../../src/providers/dialects/voyage/index.ts";

function embeddingsOf(dialect: Dialect): EmbeddingsDialect {
  if (dialect.embeddings === undefined) throw new TypeError(`${dialect.name} has no embeddings`);
  return dialect.embeddings;
}

function send(dialect: Dialect, members: Partial<EmbeddingsRequest> = {}) {
  const request = { model: "v/m", input: ["a", "b"], ...members };
  const sent = embeddingsOf(dialect).toRequest(request, { model: "m", facts: null, isStream: false });
  return { ...sent, body: JSON.parse(sent.body) as unknown };
}

const every = { dimensions: 256, input_type: "search_query", user: null };

test.each([
  [
    "cohere",
    cohere,
    "/v2/embed",
    { texts: ["a", "b"], input_type: "search_query", embedding_types: ["float"], output_dimension: 256 },
  ],
  ["voyage", voyage, "/embeddings", { input: ["a", "b"], input_type: "query", output_dimension: 256 }],
  ["jina", jina, "/embeddings", { input: ["a", "b"], task: "retrieval.query", dimensions: 256 }],
  ["mistral", mistral, "/embeddings", { input: ["a", "b"], output_dimension: 256 }],
  ["ollama", ollama, "/api/embed", { input: ["a", "b"], dimensions: 256 }],
] as const)("%s gets its own names for dimensions and for what the texts are for", (_name, dialect, path, body) => {
  const sent = send(dialect, every);

  expect(sent.path).toBe(path);
  expect(sent.body).toEqual({ model: "m", ...body } as never);
});

test("what the texts are for is required by one, and left out elsewhere when it is not said", () => {
  expect(send(cohere).body).toMatchObject({ input_type: "search_document" });
  expect(send(cohere, { input_type: "document" }).body).toMatchObject({ input_type: "search_document" });
  expect(send(voyage).body).toEqual({ model: "m", input: ["a", "b"] });
  expect(send(jina).body).toEqual({ model: "m", input: ["a", "b"] });
});

test("a purpose that a vendor does not tell apart is named, and one in its own words goes through", () => {
  expect(send(voyage, { input_type: "clustering" })).toEqual({
    path: "/embeddings",
    body: { model: "m", input: ["a", "b"] },
    dropped: ["input_type"],
  });
  expect(send(jina, { input_type: "text-matching" }).body).toMatchObject({ task: "text-matching" });
  expect(send(jina, { task: "code.query", input_type: "query" }).body).toMatchObject({ task: "code.query" });
});

test("vectors come in the order of the inputs, and are numbers however they were packed", () => {
  const packed = Buffer.from(new Float32Array([0.5, -2]).buffer).toString("base64");
  const answer = {
    object: "list",
    data: [
      { index: 1, embedding: packed },
      { index: 0, embedding: [1, 0.25] },
    ],
    model: "voyage-4",
    usage: { total_tokens: 18 },
  };

  for (const dialect of [voyage, jina, mistral])
    expect(embeddingsOf(dialect).fromAnswer(answer)).toEqual({
      vectors: [
        [1, 0.25],
        [0.5, -2],
      ],
      model: "voyage-4",
      inputTokens: 18,
    });
});

test("vectors of the vendors with forms of their own", () => {
  const vectors = [[0.1, 0.2]];

  expect(
    embeddingsOf(cohere).fromAnswer({ embeddings: { float: vectors }, meta: { billed_units: { input_tokens: 7 } } }),
  ).toEqual({ vectors, model: null, inputTokens: 7 });
  expect(embeddingsOf(ollama).fromAnswer({ model: "e", embeddings: vectors, prompt_eval_count: 3 })).toEqual({
    vectors,
    model: "e",
    inputTokens: 3,
  });
  expect(embeddingsOf(ollama).fromAnswer({ embedding: vectors[0] })).toEqual({
    vectors,
    model: null,
    inputTokens: null,
  });
});

test("an answer without vectors is refused", () => {
  for (const dialect of [cohere, voyage, jina, mistral, ollama])
    expect(() => embeddingsOf(dialect).fromAnswer({ id: "x" })).toThrow(TypeError);
});

test("the error names the vendor's limit of inputs", () => {
  expect(embeddingsOf(cohere).maxInputs).toBe(96);
  expect(embeddingsOf(voyage).maxInputs).toBe(1_000);
});
