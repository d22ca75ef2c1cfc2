// Google's generateContent format, for its two services: the developer API (gemini) and the cloud platform (vertexai).
// https://ai.google.dev/api/generate-content

import type { ChatDialect, Dialect, ParameterTable } from "../../dialect.ts";
import { all, commonChatRules } from "../../parameters.ts";
import { fromGeminiAnswer } from "./answer.ts";
import { geminiEmbeddings, vertexaiEmbeddings } from "./embeddings.ts";
import { readGeminiRefusal } from "./failure.ts";
import { isReadByVendor } from "./media.ts";
import { cloudPlatform, developerApi, type Platform } from "./model-traits.ts";
import { fromGeminiCountAnswer, toGeminiCountRequest, toGeminiRequest } from "./request.ts";
import { GeminiStreamReader } from "./stream.ts";

export { isReadByVendor } from "./media.ts";

// `n`: current models of the developer API refuse several candidates, and no model streams them.
const geminiParameters: ParameterTable = {
  ...commonChatRules,
  ...all("mapped", "presence_penalty", "frequency_penalty", "seed", "logprobs", "top_logprobs"),
  ...all("mapped", "functions", "function_call", "web_search_options", "modalities", "image_config", "service_tier"),
  ...all("mapped", "safety_settings", "cached_content", "continuation_token", "extra_body", "google"),
  ...all("dropped", "prediction", "verbosity", "user", "metadata", "store"),
};
const vertexaiParameters: ParameterTable = { ...geminiParameters, service_tier: "dropped", labels: "mapped" };

export const gemini: Dialect = {
  name: "gemini",
  toModelName: withoutCollection,
  chat: createChat(developerApi, geminiParameters),
  embeddings: geminiEmbeddings,
};

export const vertexai: Dialect = {
  name: "vertexai",
  toModelName: withoutCollection,
  chat: createChat(cloudPlatform, vertexaiParameters),
  embeddings: vertexaiEmbeddings,
};

/** The vendor's own names are those of resources: `models/gemini-3.8-flash`. */
function withoutCollection(model: string): string {
  return model.replace(/^(?:models\/)+(?=.)/, "");
}

function createChat(platform: Platform, table: ParameterTable): ChatDialect {
  return {
    parameters: table,
    // The vendor fetches addresses itself, but only a few per request and only where robots.txt allows it, so the gateway fetches them.
    fetchesMedia: (url) => !isReadByVendor(url),
    knowsFile: isReadByVendor,
    searchDomains: platform.searchDomains,
    acceptsGeneratedImages: true,
    readsImageDetail: true,
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
