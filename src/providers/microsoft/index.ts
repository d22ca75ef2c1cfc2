import type { ProviderRow } from "../provider.ts";
import { chat, embeddings, modelAccess, responses } from "./azure.ts";
import { detectExplicitContent, moderate } from "./content-safety.ts";
import { parseFinancialDocument, parseIdentity, readText } from "./document-intelligence.ts";
import { readPages, readTables } from "./document-jobs.ts";
import { anonymize, detectEntities, detectLanguage, detectSentiment, extractKeywords, summarize } from "./language.ts";
import { speak } from "./speech.ts";
import { transcribe } from "./transcribe.ts";
import { translate } from "./translator.ts";
import { detectLandmarks, detectLogos, detectObjects } from "./vision.ts";

export const microsoft: ProviderRow = {
  name: "microsoft",
  title: "Microsoft Azure",
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
  // https://learn.microsoft.com/en-us/azure/ai-services/translator/text-translation/reference/v3/reference#errors: the free quota is used up.
  errors: [{ status: 403, says: /"code"\s*:\s*"?403001\b|exceeded its free quota/, means: "rate_limit" }],
  modelAccess,
  chat,
  embeddings,
  responses,
  tasks: [
    readText,
    parseFinancialDocument,
    parseIdentity,
    detectSentiment,
    detectEntities,
    extractKeywords,
    anonymize,
    detectLanguage,
    summarize,
    moderate,
    detectExplicitContent,
    detectObjects,
    detectLogos,
    detectLandmarks,
    translate,
    speak,
    readPages,
    readTables,
    transcribe,
  ],
};
