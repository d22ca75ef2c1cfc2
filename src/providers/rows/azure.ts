import type { ProviderRow } from "../provider.ts";

export const azure: ProviderRow = {
  name: "azure",
  title: "Azure OpenAI",
  docs: "https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle",
  dialect: "openai",
  baseUrl: "https://{resource}.openai.azure.com/openai/v1",
  placeholders: { resource: "AZURE_RESOURCE" },
  auth: { kind: "header", name: "api-key" },
  keyNames: ["AZURE_OPENAI_API_KEY"],
  streamUsage: "ask",
  // A model is named by its deployment, which the operator chose: there is no list to print.
  models: [],
};
