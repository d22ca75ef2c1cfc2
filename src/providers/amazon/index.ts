import type { ProviderRow } from "../provider.ts";
import { readAwsRefusal } from "./aws-json.ts";
import { chat, embeddings, modelAccess } from "./bedrock.ts";
import {
  anonymize,
  detectEntities,
  detectEntitySentiment,
  detectLanguage,
  detectSentiment,
  detectSyntax,
  extractKeywords,
} from "./comprehend.ts";
import { speak } from "./polly.ts";
import { generateVideo } from "./reel.ts";
import { compareFaces, detectExplicitContent, detectFaces, detectObjects } from "./rekognition.ts";
import { parseFinancialDocument, parseIdentity, readText } from "./textract.ts";
import { readPages, readTables } from "./textract-jobs.ts";
import { transcribe } from "./transcribe.ts";
import { translate } from "./translate.ts";

export const amazon: ProviderRow = {
  name: "amazon",
  title: "Amazon Web Services",
  docs: "https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html",
  auth: { kind: "aws-sigv4" },
  baseUrl: null,
  services: {
    bedrock: "https://bedrock-runtime.{region}.amazonaws.com",
    comprehend: "https://comprehend.{region}.amazonaws.com",
    polly: "https://polly.{region}.amazonaws.com",
    rekognition: "https://rekognition.{region}.amazonaws.com",
    s3: "https://s3.{region}.amazonaws.com",
    textract: "https://textract.{region}.amazonaws.com",
    transcribe: "https://transcribe.{region}.amazonaws.com",
    translate: "https://translate.{region}.amazonaws.com",
  },
  placeholders: { region: "AWS_REGION" },
  settingFallbacks: { AWS_REGION: ["AWS_DEFAULT_REGION"] },
  sealedParams: [
    "S3Object",
    "EndpointArn",
    "ProjectVersion",
    "HumanLoopConfig",
    "AdaptersConfig",
    "LexiconNames",
    // Of work that is begun: where it is read from, written to and told of, and in whose name.
    "DocumentLocation",
    "OutputConfig",
    "NotificationChannel",
    "ClientRequestToken",
    "Media",
    "OutputBucketName",
    "OutputKey",
    "TranscriptionJobName",
    "JobExecutionSettings",
    "VocabularyName",
    "VocabularyFilterName",
    "LanguageModelName",
    "s3Location",
  ],
  readRefusal: readAwsRefusal,
  dialect: "bedrock",
  modelAccess,
  chat,
  embeddings,
  tasks: [
    readText,
    parseFinancialDocument,
    parseIdentity,
    detectSentiment,
    detectEntities,
    detectEntitySentiment,
    detectSyntax,
    extractKeywords,
    anonymize,
    detectLanguage,
    detectObjects,
    detectFaces,
    detectExplicitContent,
    compareFaces,
    translate,
    speak,
    readPages,
    readTables,
    transcribe,
    generateVideo,
  ],
};
