// Jina AI's embeddings: https://api.jina.ai/docs

import type { Dialect } from "../../dialect.ts";
import { createEmbeddings } from "../embeddings.ts";

const query = "retrieval.query";
const passage = "retrieval.passage";

export const jina: Dialect = {
  name: "jina",
  embeddings: createEmbeddings({
    path: "/embeddings",
    // The vendor documents no limit.
    maxInputs: 2_048,
    members: {
      dimensions: "dimensions",
      task: "task",
      normalized: "normalized",
      late_chunking: "late_chunking",
      truncate: "truncate",
    },
    inputType: { member: "task", names: { query, search_query: query, document: passage, search_document: passage } },
    refused: ["embedding_type"],
  }),
};
