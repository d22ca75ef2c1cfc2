import type { VendorRow } from "../vendor-engine.ts";
import { readGoogleRefusal } from "./google-json.ts";
import {
  classify,
  detectEntities,
  detectEntitySentiment,
  detectSentiment,
  detectSyntax,
  moderate,
} from "./language.ts";
import { speak } from "./speech.ts";
import { detectLanguage, translate } from "./translation.ts";
import { detectExplicitContent, detectFaces, detectLandmarks, detectLogos, detectObjects, readText } from "./vision.ts";

export const google: VendorRow = {
  name: "google",
  title: "Google Cloud",
  docs: "https://docs.cloud.google.com/apis/docs/overview",
  auth: { kind: "google-service-account" },
  keyNames: ["GOOGLE_APPLICATION_CREDENTIALS"],
  baseUrl: null,
  services: {
    language: "https://language.googleapis.com",
    texttospeech: "https://texttospeech.googleapis.com",
    translation: "https://translation.googleapis.com",
    vision: "https://vision.googleapis.com",
  },
  sealedParams: ["gcsContentUri", "gcsImageUri", "gcsSource", "gcsDestination", "source", "outputConfig", "parent"],
  readRefusal: readGoogleRefusal,
  tasks: [
    readText,
    detectObjects,
    detectFaces,
    detectExplicitContent,
    detectLogos,
    detectLandmarks,
    detectSentiment,
    detectEntities,
    detectEntitySentiment,
    detectSyntax,
    classify,
    moderate,
    translate,
    detectLanguage,
    speak,
  ],
};
