// What a text is embedded for (`input_type`), in the words of several vendors, and what each vendor is sent.

import { expect, test } from "bun:test";
import type { Dialect } from "../../../src/providers/dialect.ts";
import { bedrock } from "../../../src/providers/dialects/bedrock/index.ts";
import { cohere } from "../../../src/providers/dialects/cohere/index.ts";
import { gemini } from "../../../src/providers/dialects/gemini/index.ts";
import { jina } from "../../../src/providers/dialects/jina/index.ts";
import { voyage } from "../../../src/providers/dialects/voyage/index.ts";

/** The vendor's dialect, its model, the member that it reads, and what it is sent for each `input_type`; null: the member is left out. */
const vendors: readonly (readonly [Dialect, string, string, Readonly<Record<string, string | null>>])[] = [
  [
    cohere,
    "embed-v4.0",
    "input_type",
    {
      "": "search_document",
      query: "search_query",
      document: "search_document",
      search_query: "search_query",
      search_document: "search_document",
      classification: "classification",
      clustering: "clustering",
    },
  ],
  [
    voyage,
    "voyage-4",
    "input_type",
    {
      "": null,
      query: "query",
      document: "document",
      search_query: "query",
      search_document: "document",
      clustering: null,
    },
  ],
  [
    jina,
    "jina-embeddings-v4",
    "task",
    {
      "": null,
      query: "retrieval.query",
      search_query: "retrieval.query",
      document: "retrieval.passage",
      search_document: "retrieval.passage",
      "code.query": "code.query",
    },
  ],
  [
    gemini,
    "gemini-embedding-001",
    "taskType",
    {
      "": null,
      query: "RETRIEVAL_QUERY",
      search_query: "RETRIEVAL_QUERY",
      document: "RETRIEVAL_DOCUMENT",
      search_document: "RETRIEVAL_DOCUMENT",
      passage: "RETRIEVAL_DOCUMENT",
      classification: "CLASSIFICATION",
      clustering: "CLUSTERING",
      SEMANTIC_SIMILARITY: "SEMANTIC_SIMILARITY",
      "something else": null,
    },
  ],
  [
    bedrock,
    "amazon.nova-2-multimodal-embeddings-v1:0",
    "embeddingPurpose",
    {
      "": "GENERIC_INDEX",
      search_query: "TEXT_RETRIEVAL",
      search_document: "GENERIC_INDEX",
      classification: "CLASSIFICATION",
      clustering: "CLUSTERING",
      "something else": "GENERIC_INDEX",
    },
  ],
];

for (const [dialect, model, member, sent] of vendors)
  test.each(Object.entries(sent))(`${dialect.name}: "%s" is sent as %p`, (inputType, expected) => {
    const request = { model: "v/m", input: ["a"], ...(inputType === "" ? {} : { input_type: inputType }) };
    const made = dialect.embeddings?.toRequest(request, { model, facts: null, isStream: false });
    const found = new RegExp(`"${member}":"([^"]*)"`).exec(made?.body ?? "")?.[1] ?? null;
    expect(found).toBe(expected);
  });

test("an input type that Gemini does not know is named as dropped, and a known one is not", () => {
  const droppedOf = (input_type: string) =>
    gemini.embeddings?.toRequest(
      { model: "v/m", input: ["a"], input_type },
      { model: "gemini-embedding-001", facts: null, isStream: false },
    ).dropped;
  expect(droppedOf("something else")).toEqual(["input_type"]);
  expect(droppedOf("query") ?? []).toEqual([]);
});
