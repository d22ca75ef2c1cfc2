// Google's generateContent format, as its two services speak it: the developer API (gemini) and the cloud platform
// (vertexai). https://ai.google.dev/api/generate-content

import type { ChatDialect, Dialect, ParameterTable } from "../../dialect.ts";
import { fromGeminiAnswer } from "./answer.ts";
import { geminiEmbeddings, vertexaiEmbeddings } from "./embeddings.ts";
import { readGeminiRefusal } from "./failure.ts";
import { isReadByVendor } from "./media.ts";
import { cloudPlatform, developerApi, type Platform } from "./platform.ts";
import { fromGeminiCountAnswer, toGeminiCountRequest, toGeminiRequest } from "./request.ts";
import { GeminiStreamReader } from "./stream.ts";

export { isReadByVendor } from "./media.ts";

const parameters: ParameterTable = {
  model: "mapped",
  messages: "mapped",
  stream: "mapped",
  stream_options: "mapped",
  temperature: "mapped",
  top_p: "mapped",
  top_k: "mapped",
  // Current models of the developer API refuse several candidates, and none streams them.
  n: "parallel",
  max_tokens: "mapped",
  max_completion_tokens: "mapped",
  presence_penalty: "mapped",
  frequency_penalty: "mapped",
  stop: "mapped",
  seed: "mapped",
  logprobs: "mapped",
  top_logprobs: "mapped",
  tools: "mapped",
  tool_choice: "mapped",
  parallel_tool_calls: "mapped",
  functions: "mapped",
  function_call: "mapped",
  response_format: "mapped",
  reasoning_effort: "mapped",
  reasoning: "mapped",
  thinking: "mapped",
  web_search_options: "mapped",
  modalities: "mapped",
  image_config: "mapped",
  audio: "refused",
  service_tier: "mapped",
  safety_settings: "mapped",
  cached_content: "mapped",
  continuation_token: "mapped",
  extra_body: "mapped",
  google: "mapped",
  logit_bias: "dropped",
  prediction: "dropped",
  verbosity: "dropped",
  user: "dropped",
  metadata: "dropped",
  store: "dropped",
};

const geminiParameters: ParameterTable = parameters;
const vertexaiParameters: ParameterTable = { ...parameters, service_tier: "dropped", labels: "mapped" };

export const gemini: Dialect = {
  name: "gemini",
  chat: createChat(developerApi, geminiParameters),
  embeddings: geminiEmbeddings,
};

export const vertexai: Dialect = {
  name: "vertexai",
  // "This field is not supported in Gemini API": googleapis.github.io, GoogleSearch.excludeDomains.
  chat: { ...createChat(cloudPlatform, vertexaiParameters), searchDomains: new Set(["blocked_domains"]) },
  embeddings: vertexaiEmbeddings,
};

function createChat(platform: Platform, table: ParameterTable): ChatDialect {
  return {
    parameters: table,
    // The vendor fetches addresses itself, but keeps to robots.txt and to a few per request: what we fetch always arrives.
    fetchesMedia: (url) => !isReadByVendor(url),
    knowsFile: isReadByVendor,
    framing: "event-stream",
    toRequest: (request, target) => toGeminiRequest(request, target, platform),
    fromAnswer: fromGeminiAnswer,
    createStreamReader: (reading) => new GeminiStreamReader(reading),
    counting: {
      toRequest: (request, target) => toGeminiCountRequest(request, target, platform),
      fromAnswer: fromGeminiCountAnswer,
    },
    readRefusal: readGeminiRefusal,
  };
}
