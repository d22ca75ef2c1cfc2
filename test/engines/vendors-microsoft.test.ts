// Tasks of Microsoft: what is sent, and how answers are read.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { microsoft } from "../../src/providers/microsoft/index.ts";
import { TaskFailure, type TaskRequest } from "../../src/providers/task.ts";
import { jsonOf, photo, picture, requestOf, text } from "../support/cloud-tasks.ts";
import { rejectionOf } from "../support/thrown.ts";
import { answerOf, callOf, read, taskOf } from "./vendor-calls.ts";

describe("microsoft", () => {
  const reading = { ...photo, input: { language: null, document_type: "invoice" } };

  test("a document is handed in as bytes, and asked for until it has been read", async () => {
    const task = taskOf(microsoft, "ocr/ocr");
    const call = callOf(reading);
    const first = await task.toRequest(call);
    expect(first).toMatchObject({
      path: "/documentintelligence/documentModels/prebuilt-read:analyze",
      body: { kind: "bytes", bytes: picture },
    });
    const location =
      "https://elsewhere.example/documentintelligence/documentModels/prebuilt-read/analyzeResults/ab-12?api-version=2024-11-30";
    const second = await task.next?.(
      answerOf({}, 202, { "operation-location": location, "retry-after": "2" }),
      call,
      first,
    );
    expect(second).toEqual({
      method: "GET",
      path: "/documentintelligence/documentModels/prebuilt-read/analyzeResults/ab-12",
      query: { "api-version": "2024-11-30" },
      waitMs: 2_000,
    });
    const third = await task.next?.(answerOf({ status: "running" }), call, second as TaskRequest);
    expect(third).toMatchObject({ path: second?.path as string, waitMs: "growing" });
    expect(await task.next?.(answerOf({ status: "succeeded" }), call, first)).toBeNull();
    const failed = () =>
      task.next?.(
        answerOf({
          status: "failed",
          error: { code: "InvalidRequest", message: "no", innererror: { message: "The file is corrupted." } },
        }),
        call,
        first,
      );
    expect(failed).toThrow(new TaskFailure(400, "The file is corrupted."));
  });

  test("words have places relative to their page, whatever its unit", async () => {
    // documented
    const answer = {
      status: "succeeded",
      analyzeResult: {
        content: "Hi",
        pages: [
          {
            pageNumber: 1,
            width: 8,
            height: 10,
            unit: "inch",
            words: [{ content: "Hi", polygon: [2, 1, 4, 1, 4, 2, 2, 2], confidence: 0.9 }],
          },
          { pageNumber: 2 },
        ],
      },
    };
    const { output, units } = await read(microsoft, "ocr/ocr", answer, callOf(reading));
    expect(output).toEqual({
      text: "Hi",
      bounding_boxes: [{ text: "Hi", left: 0.25, top: 0.1, width: 0.25, height: 0.1 }],
    });
    expect(units).toEqual({ page: 2, request: 1 });
  });

  test("an invoice is told with what was understood, and a receipt with its own fields", async () => {
    const money = (amount: number) => ({
      type: "currency",
      valueCurrency: { amount, currencyCode: "EUR", currencySymbol: "€" },
      content: `${amount}`,
    });
    // documented
    const invoice = {
      status: "succeeded",
      analyzeResult: {
        pages: [{}],
        documents: [
          {
            docType: "invoice",
            fields: {
              VendorName: { type: "string", valueString: "CONTOSO LTD.", content: "CONTOSO LTD." },
              VendorAddress: {
                type: "address",
                content: "123 456th St\nNew York",
                valueAddress: { houseNumber: "123", road: "456th St", city: "New York" },
              },
              InvoiceDate: { type: "date", valueDate: "2019-11-15", content: "11/15/2019" },
              InvoiceTotal: money(110.5),
              Items: {
                type: "array",
                valueArray: [
                  {
                    type: "object",
                    valueObject: {
                      Description: { type: "string", valueString: "Test" },
                      Amount: money(60),
                      Quantity: { type: "number", valueNumber: 2 },
                    },
                  },
                ],
              },
              PaymentDetails: {
                type: "array",
                valueArray: [{ valueObject: { IBAN: { type: "string", valueString: "DE89" } } }],
              },
            },
          },
        ],
      },
    };
    const { output } = await read(microsoft, "ocr/financial_parser", invoice, callOf(reading));
    expect(output["extracted_data"]).toMatchObject([
      {
        merchant_information: {
          name: "CONTOSO LTD.",
          address: "123 456th St New York",
          city: "New York",
          street_name: "456th St",
        },
        payment_information: { total: 110.5 },
        financial_document_information: { invoice_date: "2019-11-15" },
        local: { currency_code: "EUR" },
        bank: { iban: "DE89" },
        item_lines: [{ description: "Test", amount_line: 60, quantity: 2 }],
      },
    ]);
    const asked = await requestOf(microsoft, "ocr/financial_parser", { ...photo, input: { document_type: "receipt" } });
    expect(asked.path).toContain("prebuilt-receipt");
    const receipt = {
      analyzeResult: {
        documents: [
          {
            docType: "receipt.retailMeal",
            fields: { MerchantName: { type: "string", valueString: "Cafe" }, Total: money(9) },
          },
        ],
      },
    };
    const { output: told } = await read(microsoft, "ocr/financial_parser", receipt, callOf(reading));
    expect(told["extracted_data"]).toMatchObject([
      { merchant_information: { name: "Cafe" }, payment_information: { total: 9 } },
    ]);
  });

  test("an identity paper names its country in all its spellings", async () => {
    // documented
    const answer = {
      analyzeResult: {
        documents: [
          {
            docType: "idDocument.driverLicense",
            confidence: 0.99,
            fields: {
              CountryRegion: { type: "countryRegion", valueCountryRegion: "USA", confidence: 0.9 },
              FirstName: { type: "string", valueString: "LIAM", confidence: 0.8 },
              DateOfBirth: { type: "date", valueDate: "1988-03-23" },
              MachineReadableZone: { type: "object", content: "P<USA", confidence: 0.7 },
            },
          },
        ],
      },
    };
    const { output } = await read(microsoft, "ocr/identity_parser", answer, callOf(reading));
    expect(output["extracted_data"]).toMatchObject([
      {
        country: { alpha2: "US", alpha3: "USA", confidence: 0.9 },
        given_names: [{ value: "LIAM", confidence: 0.8 }],
        document_type: { value: "driverLicense" },
        mrz: { value: "P<USA" },
      },
    ]);
  });

  test("without a language it is asked first", async () => {
    const task = taskOf(microsoft, "text/sentiment_analysis");
    const call = callOf(text("Hola", { language: null }));
    const first = await task.toRequest(call);
    expect(jsonOf(first)).toMatchObject({ kind: "LanguageDetection" });
    // documented
    const found = {
      kind: "LanguageDetectionResults",
      results: {
        documents: [{ id: "1", detectedLanguage: { name: "Spanish", iso6391Name: "es", confidenceScore: 1 } }],
        errors: [],
      },
    };
    const second = await task.next?.(answerOf(found), call, first);
    expect(jsonOf(second as TaskRequest)).toEqual({
      kind: "SentimentAnalysis",
      parameters: { stringIndexType: "UnicodeCodePoint" },
      analysisInput: { documents: [{ id: "1", text: "Hola", language: "es" }] },
    });
    expect(second).toMatchObject({ paramsPath: ["parameters"], acceptsProviderParams: true });
  });

  test.each([
    // documented
    ["Chinese_Simplified", "zh_chs", "zh-Hans"],
    ["Chinese_Traditional", "zh_cht", "zh-Hant"],
  ])("%s is detected and analysed under its BCP-47 tag", async (name, iso6391Name, tag) => {
    const found = {
      kind: "LanguageDetectionResults",
      results: { documents: [{ id: "1", detectedLanguage: { name, iso6391Name, confidenceScore: 1 } }], errors: [] },
    };
    const call = callOf(text("中文", { language: null }));
    const { output } = await read(microsoft, "translation/language_detection", found, call);
    expect(output).toMatchObject({ items: [{ language: tag }] });
    const task = taskOf(microsoft, "text/sentiment_analysis");
    const second = await task.next?.(answerOf(found), call, await task.toRequest(call));
    expect(jsonOf(second as TaskRequest)).toMatchObject({ analysisInput: { documents: [{ language: tag }] } });
  });

  test("a document that was refused inside of an answer is a refusal", async () => {
    const answer = {
      kind: "KeyPhraseExtractionResults",
      results: {
        documents: [],
        errors: [
          {
            id: "1",
            error: { code: "InvalidArgument", message: "Invalid.", innererror: { message: "Invalid language code." } },
          },
        ],
      },
    };
    const asked = read(microsoft, "text/keyword_extraction", answer, callOf(text("x")));
    expect(await asked.catch((error: unknown) => error)).toMatchObject({
      status: 400,
      message: "Invalid language code.",
    });
  });

  test("national kinds of personal data are sorted by what they are", async () => {
    const labels = [
      "FRPassportNumber",
      "USSocialSecurityNumber",
      "EUTaxIdentificationNumber",
      "AzureStorageAccountKey",
      "IPAddress",
      "UKNationalHealthNumber",
      "Surprise",
    ];
    // invented
    const answer = {
      results: {
        documents: [
          {
            redactedText: "*******",
            entities: labels.map((category, offset) => ({ category, offset, length: 1, confidenceScore: 0.5 })),
          },
        ],
      },
    };
    const { output } = await read(microsoft, "text/anonymization", answer, callOf(text("abcdefg")));
    expect((output["entities"] as readonly JsonObject[]).map(({ subcategory }) => subcategory)).toEqual([
      "PassportNumber",
      "SocialSecurityNumber",
      "TaxIdentificationNumber",
      "AzureKeys",
      "IP",
      "NationalHealthService",
      "Other",
    ]);
  });

  test("severities become scores, of texts and of pictures", async () => {
    // documented
    const answer = {
      categoriesAnalysis: [
        { category: "Hate", severity: 6 },
        { category: "SelfHarm", severity: 0 },
      ],
    };
    const { output } = await read(microsoft, "image/explicit_content", answer, callOf(photo));
    expect(output).toMatchObject({
      nsfw_likelihood: 5,
      nsfw_likelihood_score: 1,
      items: [{ label: "Hate" }, { label: "SelfHarm", likelihood: 0 }],
    });
    expect(
      (await read(microsoft, "text/moderation", answer, callOf(text("x")))).output["nsfw_likelihood_score"],
    ).toBeCloseTo(6 / 7);
  });

  test("a translation goes as a list of one", async () => {
    const request = await requestOf(microsoft, "translation/automatic_translation", {
      input: { text: "Hi", target_language: "fr", source_language: null },
    });
    expect(request).toMatchObject({ query: { to: "fr", from: null }, body: { value: [{ Text: "Hi" }] } });
  });

  test("the request for speech is markup in the language of the voice", async () => {
    const request = await requestOf(
      microsoft,
      "audio/tts",
      text("1 < 2", { voice: 'de-DE-KatjaNeural"', speed: 0.5, speaking_pitch: -10 }),
    );
    expect(request.headers).toMatchObject({ "x-microsoft-outputformat": "audio-24khz-96kbitrate-mono-mp3" });
    expect(request.body).toMatchObject({
      mediaType: "application/ssml+xml",
      text: '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="de-DE"><voice name="de-DE-KatjaNeural&quot;"><prosody rate="0.5" pitch="-10%">1 &lt; 2</prosody></voice></speak>',
    });
  });

  test.each([
    ["neural", "en-US-Ava:DragonHDLatestNeural"],
    ["neural", "en-us-ava:dragonhdomnilatestneural"],
    ["neural", "en-US-AlloyMultilingualNeuralHD"],
    ["neural-hd", "en-US-JennyNeural"],
    ["neural-hd", "en-US-AlloyMultilingualNeural"],
  ])("the model %s, which sets the price, refuses the voice %s", async (model, voice) => {
    const refused = await rejectionOf(
      requestOf(microsoft, "audio/tts", { model, ...text("Hi", { voice }) }),
      ValidationError,
    );
    expect(refused.problems[0]?.loc).toEqual(["body", "input", "voice"]);
  });

  test.each([
    ["neural", "en-US-AlloyMultilingualNeural"],
    ["neural-hd", "en-US-AlloyMultilingualNeuralHD"],
    ["neural-hd", "de-DE-Seraphina:DragonHDLatestNeural"],
  ])("the model %s speaks with the voice %s, which chooses it where the caller names none", async (model, voice) => {
    const input = { text: "Hi", voice };
    expect(taskOf(microsoft, "audio/tts").defaultModelFor?.(input)).toBe(model);
    const request = await requestOf(microsoft, "audio/tts", { model, input });
    expect(request.body).toMatchObject({ text: expect.stringContaining(`<voice name="${voice}">`) });
  });

  test("speech without a voice has the default model", () => {
    expect(taskOf(microsoft, "audio/tts").defaultModelFor?.({ text: "Hi", voice: null })).toBeNull();
  });
});
