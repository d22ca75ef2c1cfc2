// Azure AI Language. Offsets are requested in code points. It takes every text for English unless the request names a language: when the
// caller leaves the language out, the gateway requests its detection first.

import type { TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asText, at, objectsIn } from "../lenient.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import { nameLanguage } from "../shapes/language-names.ts";
import { type FoundData, toAnonymization } from "../shapes/personal-data.ts";
import { toFeeling } from "../shapes/sentiment.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, TaskFailure, type TaskRequest } from "../task.ts";
import { nextOfOperation } from "./operation.ts";

const docs = "https://learn.microsoft.com/en-us/rest/api/language/text-analysis-runtime/analyze-text";
const version = { "api-version": "2023-04-01" };
const codePoints = { stringIndexType: "UnicodeCodePoint" };

interface Mapping {
  readonly task: TaskName;
  readonly kind: string;
  readonly parameters?: JsonObject;
  toOutput(document: JsonObject, call: TaskCall): JsonObject;
}

export const detectSentiment = createTask({
  task: "text/sentiment_analysis",
  kind: "SentimentAnalysis",
  parameters: codePoints,
  toOutput: (document) => {
    const { sentiment, rate } = feelingOf(document);
    return {
      general_sentiment: sentiment,
      general_sentiment_rate: rate,
      items: objectsIn(document["sentences"]).map((sentence) => {
        const feeling = feelingOf(sentence);
        return { segment: asText(sentence["text"]) ?? "", sentiment: feeling.sentiment, sentiment_rate: feeling.rate };
      }),
    };
  },
});

function feelingOf(part: JsonObject) {
  const { positive, negative, neutral } = asObject(part["confidenceScores"]);
  return toFeeling(part["sentiment"], { positive, negative, neutral });
}

export const detectEntities = createTask({
  task: "text/named_entity_recognition",
  kind: "EntityRecognition",
  parameters: codePoints,
  toOutput: (document) => ({
    items: objectsIn(document["entities"]).map((entity) => ({
      entity: asText(entity["text"]) ?? "",
      category: toCategory(asText(entity["category"])),
      importance: asNumber(entity["confidenceScore"]),
    })),
  }),
});

/** In capitals, as all vendors write them. */
function toCategory(category: string | null): string | null {
  return category === "DateTime" ? "DATE" : (category?.toUpperCase() ?? null);
}

export const extractKeywords = createTask({
  task: "text/keyword_extraction",
  kind: "KeyPhraseExtraction",
  toOutput: ({ keyPhrases }) => ({
    items: (Array.isArray(keyPhrases) ? keyPhrases : []).map((phrase) => ({
      keyword: String(phrase),
      importance: null,
    })),
  }),
});

export const anonymize = createTask({
  task: "text/anonymization",
  kind: "PiiEntityRecognition",
  parameters: codePoints,
  toOutput: (document, call) => {
    const found = objectsIn(document["entities"]).map(toFoundData);
    return toAnonymization(textOf(call), found, asText(document["redactedText"]));
  },
});

function toFoundData(entity: JsonObject): FoundData {
  const label = asText(entity["category"]) ?? "";
  return {
    offset: asNumber(entity["offset"]),
    length: asNumber(entity["length"]),
    label,
    subcategory: subcategoryOf(label, asText(entity["subcategory"])),
    score: entity["confidenceScore"],
  };
}

/**
 * Of most kinds there is one for each country: the end of the name says what it is.
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

function subcategoryOf(label: string, finer: string | null): string {
  // Of dates and quantities the vendor says in a second word what they are.
  const word = finer !== null && /^(?:DateTime|Quantity)$/.test(label) ? finer : label;
  return subcategories.find(([pattern]) => pattern.test(word))?.[1] ?? "Other";
}

export const detectLanguage: ProviderTask = {
  task: "translation/language_detection",
  docs,
  toRequest: (call) => toDetection(call),
  fromResponse: ({ json }, call) => {
    const found = languageIn(asObject(json));
    const items =
      found === null
        ? []
        : [{ language: found.code, display_name: found.name ?? nameLanguage(found.code), confidence: found.score }];
    return { output: { items }, units: { char: countCharacters(textOf(call)), request: 1 } };
  },
};

/** Extracts the sentences that say most. It is work for a while: it is handed in and asked for. */
export const summarize: ProviderTask = {
  task: "text/summarize",
  docs: "https://learn.microsoft.com/en-us/rest/api/language/text-analysis-runtime/submit-job",
  toRequest: (call) => {
    const sentenceCount = Math.min(20, asNumber(call.input["output_sentences"]) ?? 1);
    const task = { kind: "ExtractiveSummarization", parameters: { sentenceCount, ...codePoints } };
    return {
      path: "/language/analyze-text/jobs",
      query: version,
      paramsPath: ["tasks", 0, "parameters"],
      body: {
        kind: "json",
        value: {
          analysisInput: { documents: [{ id: "1", text: textOf(call), language: languageOf(call) ?? "auto" }] },
          defaultLanguage: "en",
          tasks: [task],
        },
      },
    };
  },
  next: (answer, _call, asked) =>
    nextOfOperation(answer, asked, (id) => ({ path: `/language/analyze-text/jobs/${id}`, query: version })),
  fromResponse: ({ json }, call) => {
    const document = firstDocument(asObject(at(json, "tasks", "items", 0)));
    const sentences = objectsIn(document["sentences"]).map((sentence) => asText(sentence["text"]) ?? "");
    return { output: { result: sentences.join(" ") }, units: { char: countCharacters(textOf(call)), request: 1 } };
  },
};

function createTask({ task, kind, parameters = {}, toOutput }: Mapping): ProviderTask {
  // Null: detection found no language, and what the vendor assumes then is its own choice.
  const toAnalysis = (call: TaskCall, language: string | null): TaskRequest => ({
    ...toRequest(kind, { id: "1", text: textOf(call), ...(language !== null && { language }) }, parameters),
    acceptsProviderParams: true,
  });
  return {
    task,
    docs,
    toRequest: (call) => {
      const language = languageOf(call);
      return language === null ? { ...toDetection(call), acceptsProviderParams: false } : toAnalysis(call, language);
    },
    next: ({ json }, call) => {
      const answer = asObject(json);
      if (answer["kind"] !== "LanguageDetectionResults") return null;
      return toAnalysis(call, languageIn(answer)?.code ?? null);
    },
    fromResponse: ({ json }, call) => {
      // The question for the language is paid as well.
      const requests = languageOf(call) === null ? 2 : 1;
      const units = { char: requests * countCharacters(textOf(call)), request: requests };
      return { output: toOutput(firstDocument(asObject(json)), call), units };
    },
  };
}

function toDetection(call: TaskCall): TaskRequest {
  return toRequest("LanguageDetection", { id: "1", text: textOf(call) }, {});
}

function toRequest(kind: string, document: JsonObject, parameters: JsonObject): TaskRequest {
  return {
    path: "/language/:analyze-text",
    query: version,
    paramsPath: ["parameters"],
    body: { kind: "json", value: { kind, parameters, analysisInput: { documents: [document] } } },
  };
}

interface FoundLanguage {
  readonly code: string;
  readonly name: string | null;
  readonly score: number | null;
}

/** Null when the vendor does not know it. */
function languageIn(answer: JsonObject): FoundLanguage | null {
  const { iso6391Name, name, confidenceScore } = asObject(firstDocument(answer)["detectedLanguage"]);
  const code = asText(iso6391Name);
  if (code === null || !/^[a-z]/i.test(code)) return null;
  return { code: code.replaceAll("_", "-"), name: asText(name), score: asScore(confidenceScore) };
}

/** There is one document in a request: what went wrong with it went wrong with all. */
function firstDocument(answer: JsonObject): JsonObject {
  const error = asObject(at(answer, "results", "errors", 0, "error"));
  if (Object.keys(error).length > 0) {
    const inner = asText(at(error, "innererror", "message"));
    throw new TaskFailure(400, inner ?? asText(error["message"]) ?? "the document was refused");
  }
  return asObject(at(answer, "results", "documents", 0));
}
