// Ollama's own chat and embeddings, whose OpenAI-compatible endpoints have neither `options` nor `keep_alive`:
// https://docs.ollama.com/api/chat, https://docs.ollama.com/api/embed

import type { Dialect, EmbeddingsAnswer, JsonObject, ParameterTable } from "../../dialect.ts";
import { asCount, asString } from "../../lenient.ts";
import { all, commonChatRules } from "../../parameters.ts";
import { createEmbeddings } from "../embeddings.ts";
import { fromOllamaAnswer, throwIfError } from "./answer.ts";
import { toOllamaRequest } from "./request.ts";
import { OllamaStreamReader } from "./stream.ts";

const parameters: ParameterTable = {
  ...commonChatRules,
  ...all("mapped", "min_p", "presence_penalty", "frequency_penalty", "seed", "logprobs", "top_logprobs"),
  ...all("mapped", "think", "format", "keep_alive", "options"),
  ...all("refused", "web_search_options"),
};

export const ollama: Dialect = {
  name: "ollama",
  toModelName: withoutDefaults,
  chat: {
    parameters,
    fetchesMedia: true,
    framing: "json-lines",
    toRequest: toOllamaRequest,
    fromAnswer: fromOllamaAnswer,
    createStreamReader: (reading) => new OllamaStreamReader(reading),
  },
  embeddings: createEmbeddings({
    path: "/api/embed",
    // The vendor documents no limit.
    maxInputs: 2_048,
    members: { dimensions: "dimensions", truncate: "truncate", keep_alive: "keep_alive", options: "options" },
    fromAnswer: fromOllamaEmbedAnswer,
  }),
};

/** A name is `[host/][namespace/]model[:tag]`. The default tag stays, because patterns such as `*:latest` name it. */
function withoutDefaults(model: string): string {
  return model.replace(/^(?:registry\.ollama\.ai\/(?=[^/]+\/))?(?:library\/)?(?=.)/i, "");
}

/** The older endpoint answers with `embedding` alone. */
function fromOllamaEmbedAnswer(answer: JsonObject): EmbeddingsAnswer {
  throwIfError(answer);
  const vectors = Array.isArray(answer["embedding"]) ? [answer["embedding"]] : answer["embeddings"];
  if (!Array.isArray(vectors)) throw new TypeError("the answer has no embeddings");
  const count = answer["prompt_eval_count"];
  const inputTokens = count === undefined ? null : asCount(count);
  return { vectors, model: asString(answer["model"]) || null, inputTokens };
}
