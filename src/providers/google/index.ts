import { defineProvider } from "../provider.ts";
import { readPages, readTables, readText } from "./documents.ts";
import { parseFinancialDocument } from "./financial-documents.ts";
import { chat, embeddings, modelAccess } from "./gemini.ts";
import { readGoogleRefusal } from "./google-json.ts";
import { generateImages, varyImage } from "./image-generation.ts";
import { imageTasks } from "./images.ts";
import { languageTasks } from "./language.ts";
import { speak, transcribe } from "./speech.ts";
import { generateVideo } from "./video.ts";
import { answerAboutVideo, videoTasks } from "./video-analysis.ts";

export const google = defineProvider("google", "Google", {
  openTelemetryName: "gcp.gemini",
  docs: "https://docs.cloud.google.com/apis/docs/overview",
  auth: { kind: "google-service-account" },
  keyNames: ["GOOGLE_APPLICATION_CREDENTIALS"],
  baseUrl: null,
  services: {
    "documentai-eu": "https://eu-documentai.googleapis.com",
    "documentai-us": "https://us-documentai.googleapis.com",
    generativelanguage: "https://generativelanguage.googleapis.com",
    language: "https://language.googleapis.com",
    "speech-eu": "https://eu-speech.googleapis.com",
    "speech-us": "https://us-speech.googleapis.com",
    storage: "https://storage.googleapis.com",
    texttospeech: "https://texttospeech.googleapis.com",
    translation: "https://translation.googleapis.com",
    videointelligence: "https://videointelligence.googleapis.com",
    vision: "https://vision.googleapis.com",
  },
  sealedParams: [
    "gcsContentUri",
    "gcsImageUri",
    "gcsSource",
    "gcsDestination",
    "source",
    "outputConfig",
    "parent",
    "uri",
    "inputUri",
    "inputContent",
    "outputUri",
    "storageUri",
    "gcsDocument",
    "phraseSet",
  ],
  billedParams: ["content", "rawDocument", "inlineDocument"],
  // https://docs.cloud.google.com/translate/quotas: a quota that is exceeded is a 403 there.
  errors: [
    {
      status: 403,
      says: /"reason"\s*:\s*"(?:daily|userRate|rate)LimitExceeded"|(?:Daily|User Rate) Limit Exceeded/,
      means: "rate_limit",
    },
  ],
  readRefusal: readGoogleRefusal,
  dialect: "gemini",
  modelAccess,
  chat,
  embeddings,
  tasks: [
    readText,
    readPages,
    readTables,
    parseFinancialDocument,
    ...languageTasks,
    ...imageTasks,
    generateImages,
    varyImage,
    speak,
    transcribe,
    generateVideo,
    ...videoTasks,
    answerAboutVideo,
  ],
});
