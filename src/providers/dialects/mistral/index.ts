// Mistral's chat: the chat format, except that reasoning is a part of the content, and that the schema and the order of messages are
// stricter. https://docs.mistral.ai/api/, https://docs.mistral.ai/capabilities/reasoning/

import type { Dialect } from "../../dialect.ts";
import { createEmbeddings } from "../embeddings.ts";
import { fromMistralAnswer } from "./answer.ts";
import { parameters, toMistralRequest } from "./request.ts";
import { MistralStreamReader } from "./stream.ts";

export const mistral: Dialect = {
  name: "mistral",
  chat: {
    parameters,
    fetchesMedia: false,
    readsImageDetail: true,
    knowsFile: () => true,
    framing: "event-stream",
    readsChatFormat: true,
    toRequest: toMistralRequest,
    fromAnswer: fromMistralAnswer,
    createStreamReader: (reading) => new MistralStreamReader(reading),
  },
  embeddings: createEmbeddings({
    path: "/embeddings",
    // The vendor limits the tokens of a call, not its inputs: small calls stay below that limit.
    maxInputs: 128,
    members: { dimensions: "output_dimension", metadata: "metadata" },
    refused: ["output_dtype"],
  }),
};
