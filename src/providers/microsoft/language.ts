// Azure AI Language and Translator. Offsets are requested in code points. Language takes every text for English unless the request names a
// language: when the caller leaves it out, the gateway requests its detection first.

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asScore, asString, asText, at, objectsIn, textsIn } from "../lenient.ts";
import { postJson, textUnits } from "../shapes/inputs.ts";
import { type TextCall, toLanguages, toTranslation, withLanguage } from "../shapes/languages.ts";
import { type FoundData, toAnonymization } from "../shapes/personal-data.ts";
import { toRatedSentiment, toSentimentAnalysis } from "../shapes/sentiment.ts";
import { defineTask, type ProviderTask, type TaskCall, TaskFailure, type TaskRequest } from "../task.ts";
import { pollOperation } from "./operation.ts";

const docs = "https://learn.microsoft.com/en-us/rest/api/language/text-analysis-runtime/";
const version = { "api-version": "2023-04-01" };
const codePoints = { stringIndexType: "UnicodeCodePoint" };

interface Mapping<Name extends TaskName, Output> {
  readonly kind: string;
  readonly parameters?: JsonObject;
  toOutput(document: JsonObject, call: TextCall): KnownOutput<Name, Output>;
}

export const languageTasks: readonly ProviderTask[] = [
  createTask("text/sentiment_analysis", {
    kind: "SentimentAnalysis",
    parameters: codePoints,
    toOutput: (document) => {
      const segments = objectsIn(document["sentences"]).map((sentence) => ({
        text: asString(sentence["text"]),
        ...readSentiment(sentence),
      }));
      return toSentimentAnalysis(readSentiment(document), segments);
    },
  }),
  createTask("text/named_entity_recognition", {
    kind: "EntityRecognition",
    parameters: codePoints,
    toOutput: ({ entities }) => ({
      items: objectsIn(entities).map(({ text, category, confidenceScore }) => ({
        entity: asString(text),
        // In capitals, as the other vendors write them.
        category: category === "DateTime" ? "DATE" : (asText(category)?.toUpperCase() ?? null),
        importance: asNumber(confidenceScore),
      })),
    }),
  }),
  createTask("text/keyword_extraction", {
    kind: "KeyPhraseExtraction",
    toOutput: ({ keyPhrases }) => ({
      items: asList(keyPhrases).map((phrase) => ({ keyword: String(phrase), importance: null })),
    }),
  }),
  createTask("text/anonymization", {
    kind: "PiiEntityRecognition",
    parameters: codePoints,
    toOutput: ({ entities, redactedText }, call) =>
      toAnonymization(call.input.text, objectsIn(entities).map(toFoundData), asText(redactedText)),
  }),
  defineTask("translation/language_detection", {
    docs: `${docs}analyze-text`,
    toRequest: toDetection,
    fromResponse: ({ json }, call) => {
      const found = languageIn(asObject(json));
      return toLanguages(found === null ? [] : [found], call);
    },
  }),
  defineTask("text/summarize", {
    // Extracts the most important sentences, in a long-running operation.
    docs: `${docs}submit-job`,
    toRequest: ({ input: { text, language, output_sentences } }) => {
      const sentenceCount = Math.min(20, output_sentences ?? 1);
      const value = {
        analysisInput: { documents: [{ id: "1", text, language: language || "auto" }] },
        defaultLanguage: "en",
        tasks: [{ kind: "ExtractiveSummarization", parameters: { sentenceCount, ...codePoints } }],
      };
      const more = { query: version, paramsPath: ["tasks", 0, "parameters"] };
      return postJson("/language/analyze-text/jobs", value, more);
    },
    next: (response, _call, request) =>
      pollOperation(response, request, (id) => ({ path: `/language/analyze-text/jobs/${id}`, query: version })),
    fromResponse: ({ json }, call) => {
      const { sentences } = firstDocument(asObject(at(json, "tasks", "items", 0)));
      return { output: { result: textsIn(sentences, "text").join(" ") }, units: textUnits(call) };
    },
  }),
  defineTask("translation/automatic_translation", {
    docs: "https://learn.microsoft.com/en-us/azure/ai-services/translator/text-translation/reference/v3/translate",
    toRequest: ({ input: { text, source_language, target_language } }) => {
      const query = { "api-version": "3.0", to: target_language, from: source_language || null };
      return postJson("/translator/text/v3.0/translate", [{ Text: text }], { query, paramsPath: [0] });
    },
    fromResponse: ({ json }, call) => toTranslation(at(json, 0, "translations", 0, "text"), call),
  }),
];

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  { kind, parameters = {}, toOutput }: Mapping<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: `${docs}analyze-text`,
    ...withLanguage({
      toDetection,
      readDetection: (response) =>
        response["kind"] === "LanguageDetectionResults" ? (languageIn(response)?.code ?? null) : undefined,
      // When detection finds no language, Azure chooses one.
      toAnalysis: ({ input: { text } }, language) =>
        toRequest(kind, { text, ...(language !== null && { language }) }, parameters),
      toOutput: (response, call) => toOutput(firstDocument(response), call),
    }),
  };
}

function toDetection({ input: { text } }: TaskCall<{ text: string }>): TaskRequest {
  return toRequest("LanguageDetection", { text });
}

function toRequest(kind: string, document: JsonObject, parameters: JsonObject = {}): TaskRequest {
  const value = { kind, parameters, analysisInput: { documents: [{ id: "1", ...document }] } };
  return postJson("/language/:analyze-text", value, { query: version, paramsPath: ["parameters"] });
}

/** Null when Azure did not detect a language. */
function languageIn(response: JsonObject) {
  const { iso6391Name, name, confidenceScore } = asObject(firstDocument(response)["detectedLanguage"]);
  const code = asString(iso6391Name);
  if (!/^[a-z]/i.test(code)) return null;
  const tag = lookUp(chineseTags, code.toLowerCase()) ?? code.replaceAll("_", "-");
  return { code: tag, name: asText(name), score: asScore(confidenceScore) };
}

/**
 * Detection has codes of its own for Chinese. The analyses take BCP-47 tags.
 * https://learn.microsoft.com/en-us/azure/ai-services/language-service/concepts/language-support
 */
const chineseTags: Readonly<Record<string, string>> = { zh_chs: "zh-Hans", zh_cht: "zh-Hant" };

/** A request has one document, so the error of that document is the error of the request. */
function firstDocument(response: JsonObject): JsonObject {
  const error = asObject(at(response, "results", "errors", 0, "error"));
  if (Object.keys(error).length > 0) {
    const inner = asText(at(error, "innererror", "message"));
    throw new TaskFailure(400, inner ?? asText(error["message"]) ?? "the document was refused");
  }
  return asObject(at(response, "results", "documents", 0));
}

function readSentiment({ sentiment, confidenceScores }: JsonObject) {
  return toRatedSentiment(sentiment, asObject(confidenceScores));
}

function toFoundData({ offset, length, category, subcategory, confidenceScore }: JsonObject): FoundData {
  const label = asString(category);
  return {
    offset: asNumber(offset),
    length: asNumber(length),
    label,
    subcategory: subcategoryOf(label, asText(subcategory)),
    score: confidenceScore,
  };
}

/** The second name of a date or quantity says which kind it is. */
function subcategoryOf(label: string, finer: string | null): string {
  const name = finer !== null && /^(?:DateTime|Quantity)$/.test(label) ? finer : label;
  return subcategories.find(([pattern]) => pattern.test(name))?.[1] ?? "Other";
}

/**
 * Most categories exist once per country: the end of the name says which kind it is.
 * https://learn.microsoft.com/en-us/azure/ai-services/language-service/personally-identifiable-information/concepts/entity-categories
 */
const subcategories: readonly (readonly [RegExp, string])[] = [
  [/^Person$/, "Name"],
  [/^PersonType$/, "PersonType"],
  [/^Age$/, "Age"],
  [/PhoneNumber$/, "Phone"],
  [/^Organization$/, "CompanyName"],
  [/^Email$/, "Email"],
  [/^URL$/, "URL"],
  [/^IPAddress$/, "IP"],
  [/Address$/, "Address"],
  [/Location|GPE|Airport|City|State|ZipCode/, "Location"],
  [/^Date(?:OfBirth)?$/, "Date"],
  [/^DateTime$/, "DateTime"],
  [/^Time$/, "Time"],
  [/^Duration$/, "Duration"],
  [/^CreditCardNumber$/, "CreditCard"],
  [/^ExpirationDate$/, "CardExpiry"],
  [/BankAccountNumber$|BankingAccountNumber$/, "BankAccountNumber"],
  [/RoutingNumber$|SortCode$/, "BankRoutingNumber"],
  [/^SWIFTCode$/i, "SwiftCode"],
  [/PassportNumber$/, "PassportNumber"],
  [/Driver'?sLicen[cs]eNumber/, "DriverLicenseNumber"],
  [/Social(?:Security|Insurance)Number|NationalInsuranceNumber$/, "SocialSecurityNumber"],
  [
    /Tax(?:payer)?(?:Identification|File)?(?:Number|Reference)|VATNumber|FiscalCode|PermanentAccount/,
    "TaxIdentificationNumber",
  ],
  [/Health|Medical/, "NationalHealthService"],
  [/ResidentRegistrationNumber|ResidenceCard/, "ResidentRegistrationNumber"],
  [/BusinessNumber$/, "BuisnessNumber"],
  [/CompanyNumber$|LegalEntityNumber/, "CompanyNumber"],
  [/LicensePlate/, "LicensePlate"],
  [/VehicleIdentification|^VIN$/, "VehicleIdentificationNumber"],
  [/ElectoralRoll|Voter/, "VoterNumber"],
  [/^(?:Azure|SQLServer)/, "AzureKeys"],
  [/^Password$/, "Password"],
  [/National|Identity|IDNumber|Identification|CivilRegistration|Aadhaar|PersonalCode/i, "NationalIdentificationNumber"],
];
