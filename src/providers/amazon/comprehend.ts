// Amazon Comprehend. Offsets are code points. It requires a language: when the caller leaves it out, the gateway requests its detection
// first.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asText, objectsIn, rounded } from "../lenient.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import { baseLanguage, nameLanguage } from "../shapes/language-names.ts";
import { toTag } from "../shapes/part-of-speech.ts";
import { type FoundData, toAnonymization } from "../shapes/personal-data.ts";
import { readSentiment, toFeeling } from "../shapes/sentiment.ts";
import type { TaskCall } from "../task.ts";
import { type NextRequest, type ProviderTask, refuseInput, type TaskResponse } from "../task.ts";
import { toAwsRequest } from "./aws-json.ts";

const docs = "https://docs.aws.amazon.com/comprehend/latest/APIReference/";
const target = "Comprehend_20171127.";
const detection = "DetectDominantLanguage";

type Mapping = Pick<ProviderTask, "task"> & {
  readonly operation: string;
  toOutput(answer: JsonObject, call: TaskCall): JsonObject;
};

export const detectSentiment = createTask({
  task: "text/sentiment_analysis",
  operation: "DetectSentiment",
  toOutput: (answer) => {
    const scores = asObject(answer["SentimentScore"]);
    const { sentiment, rate } = toFeeling(answer["Sentiment"], {
      positive: scores["Positive"],
      negative: scores["Negative"],
      neutral: scores["Neutral"],
    });
    return { general_sentiment: sentiment, general_sentiment_rate: rate, items: [] };
  },
});

export const detectEntities = createTask({
  task: "text/named_entity_recognition",
  operation: "DetectEntities",
  toOutput: (answer) => ({
    items: objectsIn(answer["Entities"]).map((entity) => ({
      entity: asText(entity["Text"]) ?? "",
      category: asText(entity["Type"]),
      importance: asNumber(entity["Score"]),
    })),
  }),
});

export const detectEntitySentiment = createTask({
  task: "text/entity_sentiment",
  operation: "DetectTargetedSentiment",
  toOutput: (answer) => ({
    items: objectsIn(answer["Entities"]).flatMap((entity) =>
      objectsIn(entity["Mentions"]).flatMap((mention) => {
        const sentiment = asText(asObject(mention["MentionSentiment"])["Sentiment"]);
        // The schema requires a sentiment.
        if (sentiment === null) return [];
        return [
          {
            type: asText(mention["Type"]) ?? "OTHER",
            text: asText(mention["Text"]) ?? "",
            sentiment: readSentiment(sentiment) ?? "Mixed",
            begin_offset: asNumber(mention["BeginOffset"]),
            end_offset: asNumber(mention["EndOffset"]),
          },
        ];
      }),
    ),
  }),
});

export const detectSyntax = createTask({
  task: "text/syntax_analysis",
  operation: "DetectSyntax",
  toOutput: (answer) => ({
    items: objectsIn(answer["SyntaxTokens"]).map((token) => {
      const part = asObject(token["PartOfSpeech"]);
      return {
        word: asText(token["Text"]) ?? "",
        importance: asNumber(part["Score"]),
        tag: toTag(part["Tag"]),
        lemma: null,
        others: {},
      };
    }),
  }),
});

export const extractKeywords = createTask({
  task: "text/keyword_extraction",
  operation: "DetectKeyPhrases",
  toOutput: (answer) => ({
    items: objectsIn(answer["KeyPhrases"]).map((phrase) => {
      const score = asScore(phrase["Score"]);
      return { keyword: asText(phrase["Text"]) ?? "", importance: score === null ? null : rounded(score, 2) };
    }),
  }),
});

export const anonymize = createTask({
  task: "text/anonymization",
  operation: "DetectPiiEntities",
  toOutput: (answer, call) => toAnonymization(textOf(call), objectsIn(answer["Entities"]).map(toFoundData), null),
});

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

function toFoundData(entity: JsonObject): FoundData {
  const label = asText(entity["Type"]) ?? "";
  const [offset, end] = [asNumber(entity["BeginOffset"]), asNumber(entity["EndOffset"])];
  return {
    offset,
    length: offset === null || end === null ? null : end - offset,
    label,
    subcategory: lookUp(subcategories, label) ?? "Other",
    score: entity["Score"],
  };
}

export const detectLanguage: ProviderTask = {
  task: "translation/language_detection",
  docs: `${docs}API_${detection}.html`,
  service: "comprehend",
  toRequest: (call) => toAwsRequest(`${target}${detection}`, { Text: textOf(call) }),
  fromResponse: (answer, call) => ({
    output: {
      items: languagesIn(answer).map(({ code, score }) => ({
        language: code,
        display_name: nameLanguage(code),
        confidence: score,
      })),
    },
    units: { char: countCharacters(textOf(call)), request: 1 },
  }),
};

function createTask({ task, operation, toOutput }: Mapping): ProviderTask {
  const toRequest = (call: TaskCall, language: string): NextRequest => ({
    ...toAwsRequest(`${target}${operation}`, { Text: textOf(call), LanguageCode: toLanguageCode(language) }),
    acceptsProviderParams: true,
  });
  return {
    task,
    docs: `${docs}API_${operation}.html`,
    service: "comprehend",
    toRequest: (call) => {
      const language = languageOf(call);
      if (language !== null) return toRequest(call, language);
      return { ...toAwsRequest(`${target}${detection}`, { Text: textOf(call) }), acceptsProviderParams: false };
    },
    next: (answer, call) => {
      if (asObject(answer.json)["Languages"] === undefined) return null;
      const [language] = languagesIn(answer);
      if (language === undefined)
        refuseInput("language", "The provider could not detect the language of the text: name it", "missing");
      return toRequest(call, language.code);
    },
    fromResponse: (answer, call) => {
      // The question for the language is paid as well.
      const requests = languageOf(call) === null ? 2 : 1;
      const units = { char: requests * countCharacters(textOf(call)), request: requests };
      return { output: toOutput(asObject(answer.json), call), units };
    },
  };
}

function languagesIn(answer: TaskResponse): readonly { readonly code: string; readonly score: number | null }[] {
  return objectsIn(asObject(answer.json)["Languages"])
    .map((language) => ({ code: asText(language["LanguageCode"]) ?? "", score: asScore(language["Score"]) }))
    .filter(({ code }) => code !== "")
    .sort((one, another) => (another.score ?? 0) - (one.score ?? 0));
}

/** Regions are not known, but for the two ways to write Chinese. */
function toLanguageCode(language: string): string {
  return /^zh[-_](?:tw|hk|hant)/i.test(language) ? "zh-TW" : baseLanguage(language);
}
