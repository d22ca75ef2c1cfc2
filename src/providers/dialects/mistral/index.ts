// Mistral's chat: our callers' format but for thoughts, which are parts of the content, for a stricter schema and for a
// stricter order of messages. https://docs.mistral.ai/api/, https://docs.mistral.ai/capabilities/reasoning/

import type { Dialect } from "../../dialect.ts";
import { fromMistralAnswer } from "./answer.ts";
import { mistralEmbeddings } from "./embeddings.ts";
import { parameters } from "./parameters.ts";
import { toMistralRequest } from "./request.ts";
import { MistralStreamReader } from "./stream.ts";

export const mistral: Dialect = {
  name: "mistral",
  chat: {
    parameters,
    fetchesMedia: false,
    knowsFile: () => true,
    framing: "event-stream",
    readsChatFormat: true,
    toRequest: toMistralRequest,
    fromAnswer: fromMistralAnswer,
    createStreamReader: (reading) => new MistralStreamReader(reading),
  },
  embeddings: mistralEmbeddings,
};
