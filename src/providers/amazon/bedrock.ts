import { type SharedFacts, withFacts } from "../model-facts.ts";
import type { ChatApi, EmbeddingsApi, Modality, ModelAccess, ModelFacts } from "../provider.ts";

const documents: readonly Modality[] = ["text", "image", "file"];
const withVideo: readonly Modality[] = ["text", "image", "video", "file"];

/** Facts that the models of a generation share, from their model cards. */
const large = { contextTokens: 1_000_000, maxOutputTokens: 128_000, input: documents, tools: true, reasoning: true };
const middle = { contextTokens: 200_000, maxOutputTokens: 64_000, input: documents, tools: true, reasoning: true };
const structured = { tools: true, jsonSchema: true };

// A profile with the prefix `global` can be called from most regions, one with the prefix of an area only from that area.
const models: readonly ModelFacts[] = [
  { id: "global.anthropic.claude-fable-5-1", ...large },
  ...claude(large, ["opus-5-5", "sonnet-5-5", "haiku-5-5", "opus-5", "sonnet-5", "opus-4-8", "opus-4-7"]),
  ...claude(large, ["opus-4-6-v1", "sonnet-4-6"]),
  ...claude(middle, ["opus-4-5-20251101-v1:0", "sonnet-4-5-20250929-v1:0", "haiku-4-5-20251001-v1:0"]),
  { id: "global.amazon.nova-2-lite-v1:0", contextTokens: 1_000_000, input: withVideo, tools: true, reasoning: true },
  { id: "us.amazon.nova-2-lite-v1:0", contextTokens: 1_000_000, input: withVideo, tools: true, reasoning: true },
  { id: "us.amazon.nova-pro-v1:0", contextTokens: 300_000, input: withVideo, tools: true },
  { id: "us.amazon.nova-lite-v1:0", contextTokens: 300_000, input: withVideo, tools: true },
  { id: "us.amazon.nova-micro-v1:0", contextTokens: 128_000, tools: true },
  { id: "openai.gpt-oss-120b-1:0", contextTokens: 128_000, tools: true, reasoning: true },
  { id: "openai.gpt-oss-20b-1:0", contextTokens: 128_000, tools: true, reasoning: true },
  { id: "qwen.qwen3-32b-v1:0", ...structured, reasoning: true },
  { id: "qwen.qwen3-coder-30b-a3b-v1:0", ...structured },
  { id: "minimax.minimax-m2.5", ...structured, reasoning: true },
  { id: "zai.glm-5", ...structured },
  { id: "moonshotai.kimi-k2.5", ...structured, input: ["text", "image"] },
  { id: "mistral.mistral-large-3-675b-instruct", ...structured },
  { id: "deepseek.v3.2", tools: true },
  { id: "us.meta.llama4-maverick-17b-instruct-v1:0", input: ["text", "image"], tools: true },
];

function claude(facts: SharedFacts, names: readonly string[]): readonly ModelFacts[] {
  const ids = names.map((name) => `global.anthropic.claude-${name}`);
  return withFacts({ ...facts, jsonSchema: true }, ids);
}

/** Amazon Bedrock: https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html. */
export const modelAccess: ModelAccess = {
  name: "bedrock",
  baseUrl: "https://bedrock-runtime.{region}.amazonaws.com",
  placeholders: { region: "AWS_REGION" },
  settingFallbacks: { AWS_REGION: ["AWS_DEFAULT_REGION"] },
  auth: { kind: "aws-sigv4", service: "bedrock", orBearer: true },
  keyNames: ["AWS_BEARER_TOKEN_BEDROCK"],
};

export const chat: ChatApi = { streamUsage: "always", defaultModel: "global.amazon.nova-2-lite-v1:0", models };

export const embeddings: EmbeddingsApi = {
  models: [
    { id: "amazon.titan-embed-text-v2:0", dimensions: 1_024, maxInputTokens: 8_192 },
    { id: "amazon.titan-embed-text-v1", dimensions: 1_536, maxInputTokens: 8_192 },
    { id: "amazon.nova-2-multimodal-embeddings-v1:0", dimensions: 3_072 },
    { id: "cohere.embed-v4:0", dimensions: 1_536 },
    { id: "cohere.embed-english-v3", dimensions: 1_024, maxInputTokens: 512 },
    { id: "cohere.embed-multilingual-v3", dimensions: 1_024, maxInputTokens: 512 },
  ],
};
