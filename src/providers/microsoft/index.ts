import { defineProvider } from "../provider.ts";
import { chat, embeddings, modelAccess, responses } from "./azure.ts";
import { documentTasks } from "./documents.ts";
import { moderationTasks, visionTasks } from "./images.ts";
import { languageTasks } from "./language.ts";
import { speak, transcribe } from "./speech.ts";

export const microsoft = defineProvider("microsoft", "Microsoft Azure", {
  openTelemetryName: "azure.ai.openai",
  docs: "https://learn.microsoft.com/en-us/azure/ai-services/multi-service-resource",
  auth: { kind: "header", name: "ocp-apim-subscription-key" },
  // One resource has all of these services, each under a path of its own.
  baseUrl: "https://{resource}.cognitiveservices.azure.com",
  placeholders: { resource: "MICROSOFT_RESOURCE" },
  sealedParams: [
    "urlSource",
    "blobUrl",
    "azureBlobSource",
    "azureBlobFileListSource",
    "blocklistNames",
    "audioUrl",
    "models",
  ],
  // Each visual feature and detail is billed as a transaction.
  billedParams: ["text", "content", "visualFeatures", "details"],
  // https://learn.microsoft.com/en-us/azure/ai-services/translator/text-translation/reference/v3/reference#errors: the free quota is used up.
  errors: [{ status: 403, says: /"code"\s*:\s*"?403001\b|exceeded its free quota/, means: "rate_limit" }],
  modelAccess,
  chat,
  embeddings,
  responses,
  tasks: [...documentTasks, ...languageTasks, ...moderationTasks, ...visionTasks, speak, transcribe],
});
