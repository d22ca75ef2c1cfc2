// Amazon Bedrock's Converse: one format in front of the models of many makers.

import type { Dialect, ParameterTable } from "../../dialect.ts";
import { all, commonChatRules } from "../../parameters.ts";
import { fromConverseAnswer } from "./answer.ts";
import { bedrockEmbeddings } from "./embeddings.ts";
import { readBedrockRefusal } from "./refusal.ts";
import { toConverseRequest } from "./request.ts";
import { ConverseStreamReader } from "./stream.ts";

const parameters: ParameterTable = {
  ...commonChatRules,
  // Members of Converse itself.
  ...all("mapped", "serviceTier", "guardrailConfig", "performanceConfig", "requestMetadata", "promptVariables"),
  ...all("mapped", "additionalModelRequestFields", "additionalModelResponseFieldPaths", "service_tier"),
  ...all("dropped", "modalities", "presence_penalty", "frequency_penalty", "seed", "user", "safety_identifier"),
  ...all("dropped", "prompt_cache_key", "metadata", "store", "prediction", "verbosity"),
  ...all("refused", "logprobs", "top_logprobs", "web_search_options"),
};

export const bedrock: Dialect = {
  name: "bedrock",
  chat: {
    parameters,
    fetchesMedia: true,
    framing: "aws-event-stream",
    toRequest: toConverseRequest,
    fromAnswer: fromConverseAnswer,
    createStreamReader: (reading) => new ConverseStreamReader(reading),
    readRefusal: readBedrockRefusal,
  },
  embeddings: bedrockEmbeddings,
};
