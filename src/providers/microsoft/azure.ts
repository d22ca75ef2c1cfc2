import { openaiChatRules } from "../openai/chat.ts";
import type { ChatApi, EmbeddingsApi, ModelAccess, ResponsesApi } from "../provider.ts";

/** Azure OpenAI: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle. */
export const modelAccess: ModelAccess = {
  name: "azure",
  baseUrl: "https://{resource}.openai.azure.com",
  placeholders: { resource: "AZURE_RESOURCE" },
  settingFallbacks: {
    AZURE_RESOURCE: ["AZURE_RESOURCE_NAME", "MICROSOFT_RESOURCE"],
    AZURE_API_VERSION: ["AZURE_OPENAI_API_VERSION"],
  },
  addressNames: ["AZURE_OPENAI_ENDPOINT"],
  // The portal shows the endpoint without these suffixes, and addresses for clients with one of them.
  strippedSuffix: ["/openai/v1", "/openai"],
  otherAddressing: {
    setting: "AZURE_API_VERSION",
    baseUrl: "https://{resource}.openai.azure.com",
    chatPath: "/openai/deployments/{model}/chat/completions?api-version={value}",
    embeddingsPath: "/openai/deployments/{model}/embeddings?api-version={value}",
    // https://learn.microsoft.com/en-us/azure/foundry/openai/how-to/responses: it has no path of this kind.
    responsesPath: "/openai/v1/responses",
  },
  auth: { kind: "header", name: "api-key", orToken: true },
  keyNames: ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"],
};

export const chat: ChatApi = {
  path: "/openai/v1/chat/completions",
  // They apply to deployments that are named after their model.
  rules: openaiChatRules,
  // A model is named by its deployment, which the operator chose: there is no list to print.
  models: [],
};

export const embeddings: EmbeddingsApi = { path: "/openai/v1/embeddings" };

export const responses: ResponsesApi = {
  path: "/openai/v1/responses",
  kind: "native",
  // https://learn.microsoft.com/en-us/azure/foundry/reference/rest/compactconversation
  paths: ["compact"],
};
