// Text analysis with Amazon Comprehend, and translation with Amazon Translate. Comprehend needs the language of a text: when the caller does
// not name it, a first request detects it. Offsets count code points.

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asString, asText, at, objectsIn, rounded } from "../lenient.ts";
import {
  baseLanguage,
  type FoundLanguage,
  type TextCall,
  toLanguages,
  toTranslation,
  withLanguage,
} from "../shapes/languages.ts";
import { toTag } from "../shapes/part-of-speech.ts";
import { type FoundData, toAnonymization } from "../shapes/personal-data.ts";
import { readSentiment, toRatedSentiment, toSentimentAnalysis } from "../shapes/sentiment.ts";
import { defineTask, type ProviderTask, refuseInput, type TaskCall, type TaskRequest } from "../task.ts";
import { toAwsRequest } from "./aws-json.ts";

const comprehendDocs = "https://docs.aws.amazon.com/comprehend/latest/APIReference/";
const detectionOperation = "DetectDominantLanguage";

export const languageTasks: readonly ProviderTask[] = [
  defineAnalysis("text/sentiment_analysis", "DetectSentiment", ({ Sentiment, SentimentScore }) =>
    toSentimentAnalysis(toRatedSentiment(Sentiment, asObject(SentimentScore)), []),
  ),
  defineAnalysis("text/named_entity_recognition", "DetectEntities", ({ Entities }) => ({
    items: objectsIn(Entities).map(({ Text, Type, Score }) => ({
      entity: asString(Text),
      category: asText(Type),
      importance: asNumber(Score),
    })),
  })),
  defineAnalysis("text/entity_sentiment", "DetectTargetedSentiment", ({ Entities }) => ({
    items: objectsIn(Entities)
      .flatMap(({ Mentions }) => objectsIn(Mentions))
      .flatMap(toEntitySentiment),
  })),
  defineAnalysis("text/syntax_analysis", "DetectSyntax", ({ SyntaxTokens }) => ({
    items: objectsIn(SyntaxTokens).map(({ Text, PartOfSpeech }) => ({
      word: asString(Text),
      importance: asNumber(at(PartOfSpeech, "Score")),
      tag: toTag(at(PartOfSpeech, "Tag")),
      lemma: null,
      others: {},
    })),
  })),
  defineAnalysis("text/keyword_extraction", "DetectKeyPhrases", ({ KeyPhrases }) => ({
    items: objectsIn(KeyPhrases).map(({ Text, Score }) => {
      const score = asScore(Score);
      return { keyword: asString(Text), importance: score === null ? null : rounded(score, 2) };
    }),
  })),
  defineAnalysis("text/anonymization", "DetectPiiEntities", ({ Entities }, call) =>
    toAnonymization(call.input.text, objectsIn(Entities).map(toFoundData), null),
  ),
  defineTask("translation/language_detection", {
    docs: `${comprehendDocs}API_${detectionOperation}.html`,
    service: "comprehend",
    toRequest: toDetection,
    fromResponse: ({ json }, call) => toLanguages(readLanguages(asObject(json)), call),
  }),
  defineTask("translation/automatic_translation", {
    docs: "https://docs.aws.amazon.com/translate/latest/APIReference/API_TranslateText.html",
    service: "translate",
    toRequest: ({ input }) =>
      toAwsRequest("AWSShineFrontendService_20170701.TranslateText", {
        Text: input.text,
        SourceLanguageCode: input.source_language || "auto",
        TargetLanguageCode: input.target_language,
      }),
    fromResponse: ({ json }, call) => toTranslation(at(json, "TranslatedText"), call),
  }),
];

function defineAnalysis<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  operation: string,
  toOutput: (response: JsonObject, call: TextCall) => KnownOutput<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: `${comprehendDocs}API_${operation}.html`,
    service: "comprehend",
    ...withLanguage({
      toDetection,
      readDetection: (response) => {
        if (response["Languages"] === undefined) return undefined;
        const [mostLikely] = readLanguages(response);
        if (mostLikely !== undefined) return mostLikely.code;
        refuseInput(
          "language",
          "The provider could not detect the language of the text, so this member is required",
          "missing",
        );
      },
      toAnalysis: ({ input }, language) =>
        toComprehendRequest(operation, { Text: input.text, LanguageCode: toLanguageCode(language ?? "") }),
      toOutput,
    }),
  };
}

function toDetection({ input }: TaskCall<{ text: string }>): TaskRequest {
  return toComprehendRequest(detectionOperation, { Text: input.text });
}

function toComprehendRequest(operation: string, body: JsonObject): TaskRequest {
  return toAwsRequest(`Comprehend_20171127.${operation}`, body);
}

/** The most likely language first. */
function readLanguages({ Languages }: JsonObject): readonly FoundLanguage[] {
  return objectsIn(Languages)
    .map(({ LanguageCode, Score }) => ({ code: asString(LanguageCode), score: asScore(Score) }))
    .filter(({ code }) => code !== "")
    .sort((one, other) => (other.score ?? 0) - (one.score ?? 0));
}

/** Comprehend's codes have no region, except zh-TW for traditional Chinese. */
function toLanguageCode(language: string): string {
  return /^zh[-_](?:tw|hk|hant)/i.test(language) ? "zh-TW" : baseLanguage(language);
}

/** The schema requires a sentiment, so a mention without one becomes an empty list. */
function toEntitySentiment({ Type, Text, MentionSentiment, BeginOffset, EndOffset }: JsonObject) {
  const sentiment = asText(at(MentionSentiment, "Sentiment"));
  if (sentiment === null) return [];
  return [
    {
      type: asText(Type) ?? "OTHER",
      text: asString(Text),
      sentiment: readSentiment(sentiment) ?? "Mixed",
      begin_offset: asNumber(BeginOffset),
      end_offset: asNumber(EndOffset),
    },
  ];
}

function toFoundData({ Type, BeginOffset, EndOffset, Score }: JsonObject): FoundData {
  const label = asString(Type);
  const offset = asNumber(BeginOffset);
  const end = asNumber(EndOffset);
  const length = offset === null || end === null ? null : end - offset;
  return { offset, length, label, subcategory: lookUp(subcategories, label) ?? "Other", score: Score };
}

const subcategories: Readonly<Record<string, string>> = {
  ADDRESS: "Address",
  AGE: "Age",
  AWS_ACCESS_KEY: "AWSKeys",
  AWS_SECRET_KEY: "AWSKeys",
  BANK_ACCOUNT_NUMBER: "BankAccountNumber",
  BANK_ROUTING: "BankRoutingNumber",
  CA_HEALTH_NUMBER: "NationalHealthService",
  CA_SOCIAL_INSURANCE_NUMBER: "SocialSecurityNumber",
  CREDIT_DEBIT_CVV: "CreditCard",
  CREDIT_DEBIT_EXPIRY: "CardExpiry",
  CREDIT_DEBIT_NUMBER: "CreditCard",
  DATE_TIME: "DateTime",
  DRIVER_ID: "DriverLicenseNumber",
  EMAIL: "Email",
  INTERNATIONAL_BANK_ACCOUNT_NUMBER: "BankAccountNumber",
  IN_AADHAAR: "NationalIdentificationNumber",
  IN_NREGA: "NationalIdentificationNumber",
  IN_PERMANENT_ACCOUNT_NUMBER: "TaxIdentificationNumber",
  IN_VOTER_NUMBER: "VoterNumber",
  IP_ADDRESS: "IP",
  LICENSE_PLATE: "LicensePlate",
  MAC_ADDRESS: "MAC",
  NAME: "Name",
  PASSPORT_NUMBER: "PassportNumber",
  PASSWORD: "Password",
  PHONE: "Phone",
  PIN: "Password",
  SSN: "SocialSecurityNumber",
  SWIFT_CODE: "SwiftCode",
  UK_NATIONAL_HEALTH_SERVICE_NUMBER: "NationalHealthService",
  UK_NATIONAL_INSURANCE_NUMBER: "SocialSecurityNumber",
  UK_UNIQUE_TAXPAYER_REFERENCE_NUMBER: "TaxIdentificationNumber",
  URL: "URL",
  USERNAME: "Name",
  US_INDIVIDUAL_TAX_IDENTIFICATION_NUMBER: "TaxIdentificationNumber",
  VEHICLE_IDENTIFICATION_NUMBER: "VehicleIdentificationNumber",
};
