// Voyage AI's embeddings: https://docs.voyageai.com/reference/embeddings-api

import type { Dialect } from "../../dialect.ts";
import { createEmbeddings } from "../embeddings.ts";

export const voyage: Dialect = {
  name: "voyage",
  embeddings: createEmbeddings({
    path: "/embeddings",
    maxInputs: 1_000,
    members: { dimensions: "output_dimension", truncation: "truncation" },
    inputType: {
      member: "input_type",
      names: { search_query: "query", search_document: "document" },
      known: ["query", "document"],
    },
    refused: ["output_dtype"],
  }),
};
