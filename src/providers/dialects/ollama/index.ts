// Ollama's own chat and embeddings: https://docs.ollama.com/api/chat, https://docs.ollama.com/api/embed. Its
// OpenAI-compatible endpoints know neither the options of a model nor how long it stays loaded.

import type { Dialect, ParameterTable } from "../../dialect.ts";
import { fromOllamaAnswer } from "./answer.ts";
import { ollamaEmbeddings } from "./embeddings.ts";
import { toOllamaRequest } from "./request.ts";
import { OllamaStreamReader } from "./stream.ts";

const parameters: ParameterTable = {
  model: "mapped",
  messages: "mapped",
  stream: "mapped",
  stream_options: "mapped",
  temperature: "mapped",
  top_p: "mapped",
  top_k: "mapped",
  min_p: "mapped",
  n: "parallel",
  max_tokens: "mapped",
  max_completion_tokens: "mapped",
  presence_penalty: "mapped",
  frequency_penalty: "mapped",
  stop: "mapped",
  seed: "mapped",
  logprobs: "mapped",
  top_logprobs: "mapped",
  logit_bias: "dropped",
  tools: "mapped",
  tool_choice: "mapped",
  parallel_tool_calls: "mapped",
  functions: "refused",
  function_call: "refused",
  response_format: "mapped",
  reasoning_effort: "mapped",
  reasoning: "mapped",
  thinking: "mapped",
  audio: "refused",
  web_search_options: "refused",
  think: "mapped",
  format: "mapped",
  keep_alive: "mapped",
  options: "mapped",
};

export const ollama: Dialect = {
  name: "ollama",
  chat: {
    parameters,
    fetchesMedia: true,
    framing: "json-lines",
    toRequest: toOllamaRequest,
    fromAnswer: fromOllamaAnswer,
    createStreamReader: (reading) => new OllamaStreamReader(reading),
  },
  embeddings: ollamaEmbeddings,
};
