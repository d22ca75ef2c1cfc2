import type { ProviderRow } from "../provider.ts";
import { openaiChatRules } from "./openai.ts";

export const azure: ProviderRow = {
  name: "azure",
  title: "Azure OpenAI",
  alsoNamed: ["microsoft"],
  docs: "https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle",
  baseUrl: "https://{resource}.openai.azure.com",
  placeholders: { resource: "AZURE_RESOURCE" },
  settingFallbacks: {
    AZURE_RESOURCE: ["AZURE_RESOURCE_NAME", "MICROSOFT_RESOURCE"],
    AZURE_API_VERSION: ["AZURE_OPENAI_API_VERSION"],
  },
  addressNames: ["AZURE_OPENAI_ENDPOINT"],
  // The endpoint is shown without them, and an address for clients with them.
  strippedSuffix: ["/openai/v1", "/openai"],
  chat: {
    path: "/openai/v1/chat/completions",
    // They apply to deployments that are named after their model.
    rules: openaiChatRules,
    // A model is named by its deployment, which the operator chose: there is no list to print.
    models: [],
  },
  embeddings: { path: "/openai/v1/embeddings" },
  responses: {
    path: "/openai/v1/responses",
    kind: "native",
    // https://learn.microsoft.com/en-us/azure/foundry/reference/rest/compactconversation
    paths: ["compact"],
  },
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
