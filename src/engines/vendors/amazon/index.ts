import type { VendorRow } from "../vendor-engine.ts";
import { readAwsRefusal } from "./aws-json.ts";
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
import { compareFaces, detectExplicitContent, detectFaces, detectObjects } from "./rekognition.ts";
import { parseFinancialDocument, parseIdentity, readText } from "./textract.ts";
import { translate } from "./translate.ts";

export const amazon: VendorRow = {
  name: "amazon",
  title: "Amazon Web Services",
  docs: "https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html",
  auth: { kind: "aws-sigv4" },
  baseUrl: null,
  services: {
    comprehend: "https://comprehend.{region}.amazonaws.com",
    polly: "https://polly.{region}.amazonaws.com",
    rekognition: "https://rekognition.{region}.amazonaws.com",
    textract: "https://textract.{region}.amazonaws.com",
    translate: "https://translate.{region}.amazonaws.com",
  },
  placeholders: { region: "AWS_REGION" },
  settingFallbacks: { AWS_REGION: "AWS_DEFAULT_REGION" },
  sealedParams: ["S3Object", "EndpointArn", "ProjectVersion", "HumanLoopConfig", "AdaptersConfig", "LexiconNames"],
  readRefusal: readAwsRefusal,
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
  ],
};
