// The mappings of amazon, google and microsoft, as pure functions. Answers are small and say where they come from: `documented` follows an
// example of the vendor's reference, `invented` has its form with values of ours.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findTask } from "../../src/contract/tasks.ts";
import { ValidationError } from "../../src/errors.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { google } from "../../src/providers/google/index.ts";
import { rows } from "../../src/providers/index.ts";
import { microsoft } from "../../src/providers/microsoft/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { TaskFailure, type TaskRequest } from "../../src/providers/task.ts";
import { answerOf, bytesOf, type CallOptions, callOf, expectOutput, fileOf, read, taskOf } from "./vendor-calls.ts";

const clouds = [amazon, google, microsoft];

/** The head of a PNG of 200 by 100 pixels: enough to know its size. */
const picture = Buffer.from("89504e470d0a1a0a0000000d49484452000000c80000006408020000", "hex");
const photo = { files: { file: fileOf(picture, "image/png") } };
const base64 = picture.toString("base64");

async function requestOf(row: ProviderRow, task: string, options: CallOptions): Promise<TaskRequest> {
  return taskOf(row, task).toRequest(callOf(options));
}

function jsonOf({ body }: TaskRequest): unknown {
  return body?.kind === "json" ? body.value : null;
}

const text = (value: string, more: JsonObject = {}) => ({ input: { text: value, ...more } });

describe("every task", () => {
  test("is one of the catalogue, and stands once in its vendor's row", () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const { name, tasks = [] } of rows) {
      expect([name, new Set(tasks.map(({ task }) => task)).size]).toEqual([name, tasks.length]);
      for (const { task } of tasks) {
        expect([name, task, findTask(task) !== undefined]).toEqual([name, task, true]);
      }
    }
  });

  test("names a service of its vendor's, where that has several", () => {
    for (const { services = {}, tasks = [] } of rows)
      for (const { service } of tasks) if (service !== undefined) expect(Object.keys(services)).toContain(service);
  });

  const pictures = { file1: fileOf(picture, "image/png"), file2: fileOf(picture, "image/png") };
  const everything = {
    input: { text: "Hello", target_language: "fr", language: null, output_sentences: 1 },
    files: { file: fileOf(picture, "image/png"), ...pictures },
  };

  for (const row of clouds)
    for (const task of row.tasks ?? [])
      test(`${task.task} of ${row.name}: an answer without anything in it fits the schema, or is a failure of the vendor's`, async () => {
        const call = callOf(everything);
        expect((await task.toRequest(call)).path).toStartWith("/");
        try {
          expectOutput(task.task, await task.fromResponse(answerOf({}), call, { path: "/" }));
        } catch (error) {
          if (!(error instanceof TaskFailure)) expect(error).toBeInstanceOf(TypeError);
        }
      });
});

describe("amazon", () => {
  test("a request names its operation in a header and carries JSON of the vendor's kind", async () => {
    const request = await requestOf(amazon, "translation/automatic_translation", {
      input: { text: "Hello", target_language: "fr", source_language: null },
    });
    expect(request.headers).toEqual({ "x-amz-target": "AWSShineFrontendService_20170701.TranslateText" });
    expect(request.body).toEqual({
      kind: "json",
      mediaType: "application/x-amz-json-1.1",
      value: { Text: "Hello", SourceLanguageCode: "auto", TargetLanguageCode: "fr" },
    });
  });

  test("without a language it is asked first, and the most likely one is used", async () => {
    const task = taskOf(amazon, "text/sentiment_analysis");
    const call = callOf(text("Bonjour", { language: null }));
    const first = await task.toRequest(call);
    expect(first.headers?.["x-amz-target"]).toBe("Comprehend_20171127.DetectDominantLanguage");
    // invented
    const languages = {
      Languages: [
        { LanguageCode: "en", Score: 0.2 },
        { LanguageCode: "fr", Score: 0.8 },
      ],
    };
    const second = await task.next?.(answerOf(languages), call, first);
    expect(second?.headers?.["x-amz-target"]).toBe("Comprehend_20171127.DetectSentiment");
    expect(jsonOf(second as TaskRequest)).toEqual({ Text: "Bonjour", LanguageCode: "fr" });
    expect(await task.next?.(answerOf({ Sentiment: "POSITIVE" }), call, first)).toBeNull();
    // The question is paid as well.
    expect((await read(amazon, "text/sentiment_analysis", { Sentiment: "POSITIVE" }, call)).units).toEqual({
      char: 14,
      request: 2,
    });
  });

  test("provider_params go to the analysis, never to the question for the language", async () => {
    const task = taskOf(amazon, "text/sentiment_analysis");
    const open = await task.toRequest(callOf(text("x", { language: null })));
    const named = await task.toRequest(callOf(text("x", { language: "en" })));
    expect([open.acceptsProviderParams, named.acceptsProviderParams]).toEqual([false, true]);
  });

  test("a language with a region loses it, Chinese keeps its two ways of writing", async () => {
    const spelt = async (language: string) =>
      jsonOf(await requestOf(amazon, "text/named_entity_recognition", text("x", { language })));
    expect(await spelt("en-US")).toMatchObject({ LanguageCode: "en" });
    expect(await spelt("zh-Hant")).toMatchObject({ LanguageCode: "zh-TW" });
  });

  test("mixed feelings are told by the stronger side", async () => {
    // documented
    const answer = {
      Sentiment: "MIXED",
      SentimentScore: { Positive: 0.6, Negative: 0.3, Neutral: 0.05, Mixed: 0.9 },
    };
    const { output } = await read(amazon, "text/sentiment_analysis", answer, callOf(text("x")));
    expect(output).toEqual({ general_sentiment: "Positive", general_sentiment_rate: 0.6, items: [] });
  });

  test("personal data is found by code points and hidden by asterisks", async () => {
    // invented
    const answer = {
      Entities: [
        { Type: "NAME", Score: 0.99, BeginOffset: 3, EndOffset: 6 },
        { Type: "SSN", Score: 0.9, BeginOffset: 7, EndOffset: 8 },
      ],
    };
    const { output } = await read(amazon, "text/anonymization", answer, callOf(text("🙂, Ana 1")));
    expect(output["result"]).toBe("🙂, *** *");
    expect(output["entities"]).toMatchObject([
      {
        offset: 3,
        length: 3,
        content: "Ana",
        category: "PersonalInformation",
        subcategory: "Name",
        original_label: "NAME",
      },
      { content: "1", category: "IdentificationNumbers", subcategory: "SocialSecurityNumber" },
    ]);
  });

  test("an object that is seen twice is told twice, with its places", async () => {
    // documented
    const answer = {
      Labels: [
        {
          Name: "Car",
          Confidence: 98,
          Instances: [
            { BoundingBox: { Width: 0.2, Height: 0.3, Left: 0.1, Top: 0.4 }, Confidence: 97 },
            { BoundingBox: { Width: 0.1, Height: 0.1, Left: 0.5, Top: 0.5 }, Confidence: 60 },
          ],
        },
        { Name: "Street", Confidence: 90, Instances: [] },
      ],
    };
    const { output, units } = await read(amazon, "image/object_detection", answer, callOf(photo));
    const items = output["items"] as readonly JsonObject[];
    expect(items.map(({ label, confidence }) => [label, confidence])).toEqual([
      ["Car", 0.97],
      ["Car", 0.6],
      ["Street", 0.9],
    ]);
    expect(items[0]).toMatchObject({ x_min: 0.1, y_min: 0.4 });
    expect(items[2]).toMatchObject({ x_min: null });
    expect(units).toEqual({ image: 1, file: 1, request: 1 });
  });

  test("pictures of a kind or size that it does not take are refused before they are sent", () => {
    expect(taskOf(amazon, "image/face_detection").files).toEqual({
      maxBytes: 5_242_880,
      mediaTypes: ["image/jpeg", "image/png"],
    });
  });

  test("what a picture must not show is sorted by the label, or by its parent", async () => {
    // documented
    const answer = {
      ModerationLabels: [
        { Name: "Weapon Violence", ParentName: "Graphic Violence", Confidence: 99, TaxonomyLevel: 3 },
        { Name: "Exposed Female Nipple", ParentName: "Explicit Nudity", Confidence: 60, TaxonomyLevel: 3 },
      ],
    };
    const { output } = await read(amazon, "image/explicit_content", answer, callOf(photo));
    expect(output).toMatchObject({
      nsfw_likelihood: 5,
      nsfw_likelihood_score: 0.99,
      items: [
        { category: "Violence", subcategory: "WeaponViolence" },
        { category: "Sexual", subcategory: "Nudity", likelihood_score: 0.6 },
      ],
    });
  });

  test("a no of a face's trait is a low chance, not a high one", async () => {
    // invented
    const answer = {
      FaceDetails: [
        {
          Confidence: 99,
          Smile: { Value: false, Confidence: 95 },
          Eyeglasses: { Value: true, Confidence: 80 },
          AgeRange: { Low: 20, High: 30 },
        },
      ],
    };
    const { output } = await read(amazon, "image/face_detection", answer, callOf(photo));
    const [face] = output["items"] as readonly JsonObject[];
    expect(face).toMatchObject({ age: 25, features: { smile: 0.05 }, accessories: { eyeglasses: 0.8 } });
  });

  test("an invoice has its parties, its amounts as numbers and its lines", async () => {
    const field = (type: string, value: string, confidence = 90, more: JsonObject = {}) => ({
      Type: { Text: type },
      ValueDetection: { Text: value, Confidence: confidence },
      PageNumber: 1,
      ...more,
    });
    // invented, in the form of the reference
    const answer = {
      DocumentMetadata: { Pages: 1 },
      ExpenseDocuments: [
        {
          ExpenseIndex: 1,
          SummaryFields: [
            field("VENDOR_NAME", "Acme"),
            field("TOTAL", "$1,234.50", 60, { Currency: { Code: "USD" } }),
            field("TOTAL", "$99.00", 20),
            field("ADDRESS", "1 Main St", 90, { GroupProperties: [{ Types: ["RECEIVER_BILL_TO"], Id: "g" }] }),
            field("CITY", "Springfield", 90, { GroupProperties: [{ Types: ["VENDOR"], Id: "v" }] }),
            field("INVOICE_RECEIPT_ID", "INV-7"),
          ],
          LineItemGroups: [
            {
              LineItems: [
                { LineItemExpenseFields: [field("ITEM", "Bolt"), field("QUANTITY", "3"), field("PRICE", "4.50")] },
              ],
            },
          ],
        },
      ],
    };
    const { output, units } = await read(
      amazon,
      "ocr/financial_parser",
      answer,
      callOf({ ...photo, input: { document_type: "invoice" } }),
    );
    expect(output["extracted_data"]).toMatchObject([
      {
        merchant_information: { name: "Acme", city: "Springfield", vat_number: null },
        customer_information: { billing_address: "1 Main St" },
        payment_information: { total: 1234.5 },
        financial_document_information: { invoice_receipt_id: "INV-7" },
        local: { currency_code: "USD" },
        item_lines: [{ description: "Bolt", quantity: 3, amount_line: 4.5 }],
        document_metadata: { document_index: 1, document_page_number: 1, document_type: "invoice" },
      },
    ]);
    expect(units).toEqual({ page: 1, request: 1 });
  });

  test("an identity paper has dates without times, and its address in one piece", async () => {
    const field = (type: string, value: string, normalized?: string) => ({
      Type: { Text: type },
      ValueDetection: {
        Text: value,
        Confidence: 98,
        ...(normalized && { NormalizedValue: { Value: normalized, ValueType: "Date" } }),
      },
    });
    // documented
    const answer = {
      IdentityDocuments: [
        {
          IdentityDocumentFields: [
            field("FIRST_NAME", "MARIA"),
            field("LAST_NAME", "GARCIA"),
            field("MIDDLE_NAME", ""),
            field("DATE_OF_BIRTH", "03/18/1990", "1990-03-18T00:00:00"),
            field("ADDRESS", "100 MAIN STREET"),
            field("CITY_IN_ADDRESS", "BIGTOWN"),
          ],
        },
      ],
    };
    const { output } = await read(amazon, "ocr/identity_parser", answer, callOf(photo));
    expect(output["extracted_data"]).toMatchObject([
      {
        last_name: { value: "GARCIA", confidence: 0.98 },
        given_names: [{ value: "MARIA" }],
        birth_date: { value: "1990-03-18" },
        address: { value: "100 MAIN STREET BIGTOWN" },
      },
    ]);
  });

  test("plain speech goes as text, changed speech as markup that the text cannot break out of", async () => {
    const plain = jsonOf(await requestOf(amazon, "audio/tts", text("Tom & <b>")));
    expect(plain).toEqual({
      Engine: "standard",
      OutputFormat: "mp3",
      VoiceId: "Joanna",
      Text: "Tom & <b>",
      TextType: "text",
    });
    const changed = jsonOf(
      await requestOf(amazon, "audio/tts", text("Tom & <b>", { speed: 1.5, speaking_volume: -50, voice: "Amy" })),
    );
    expect(changed).toMatchObject({
      VoiceId: "Amy",
      TextType: "ssml",
      Text: '<speak><prosody rate="150%" volume="-6.02dB">Tom &amp; &lt;b&gt;</prosody></speak>',
    });
  });

  test("a speed, a pitch or a format that it does not have is refused, by the name of the member", async () => {
    for (const [input, model] of [
      [{ speed: 4 }, undefined],
      [{ speaking_pitch: 10 }, "neural"],
      [{ audio_format: "aiff" }, undefined],
    ] as const) {
      const asked = requestOf(amazon, "audio/tts", { ...text("x", input), ...(model && { model }) });
      expect(await asked.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
    }
  });

  test("speech comes as bytes beside the output", async () => {
    const result = await taskOf(amazon, "audio/tts").fromResponse(
      bytesOf(Buffer.from("ID3"), "audio/mpeg"),
      callOf(text("Hi🙂")),
      { path: "/" },
    );
    expectOutput("audio/tts", result);
    expect(result.binaries).toEqual([
      { base64Path: null, urlPath: ["audio_resource_url"], bytes: Buffer.from("ID3"), mediaType: "audio/mpeg" },
    ]);
    expect(result.units).toEqual({ char: 3, request: 1 });
  });

  test("a bad request that means too much or no access is told as that", () => {
    const meant = (type: string) => amazon.readRefusal?.(400, { __type: type });
    expect(meant("com.amazonaws.textract#ThrottlingException")).toBe(429);
    expect(meant("UnrecognizedClientException")).toBe(403);
    expect(meant("InvalidParameterException")).toBeUndefined();
  });
});

describe("google", () => {
  test("a picture goes as base64, and provider_params to where they are read", async () => {
    const request = await requestOf(google, "image/object_detection", photo);
    expect(request).toMatchObject({ path: "/v1/images:annotate", paramsPath: ["requests", 0] });
    expect(jsonOf(request)).toEqual({
      requests: [{ image: { content: base64 }, features: [{ type: "OBJECT_LOCALIZATION" }] }],
    });
  });

  test("a PDF is read as a file, and each of its pages counts", async () => {
    const document = { files: { file: fileOf(Buffer.from("%PDF-"), "application/pdf") }, input: { language: "fr" } };
    const request = await requestOf(google, "ocr/ocr", document);
    expect(request.path).toBe("/v1/files:annotate");
    expect(jsonOf(request)).toMatchObject({
      requests: [{ inputConfig: { mimeType: "application/pdf" }, imageContext: { languageHints: ["fr"] } }],
    });
    const page = (said: string) => ({
      fullTextAnnotation: {
        text: `${said}\n`,
        pages: [
          {
            width: 10,
            height: 10,
            blocks: [
              {
                paragraphs: [
                  {
                    words: [
                      {
                        symbols: [{ text: "a" }, { text: "b" }],
                        boundingBox: { normalizedVertices: [{ y: 0.5 }, { x: 0.25, y: 0.75 }] },
                      },
                    ],
                  },
                ],
              },
            ],
          },
        ],
      },
    });
    // invented: a member of value 0 is left out
    const { output, units } = await read(
      google,
      "ocr/ocr",
      { responses: [{ responses: [page("one"), page("two")] }] },
      callOf(document),
    );
    expect(output["text"]).toBe("one\n\ntwo");
    expect(output["bounding_boxes"]).toMatchObject([
      { text: "ab", left: 0, top: 0.5, width: 0.25, height: 0.25 },
      { text: "ab" },
    ]);
    expect(units).toEqual({ page: 2, request: 1 });
  });

  test("boxes in pixels become relative to the picture", async () => {
    // documented
    const box = {
      vertices: [
        { x: 20, y: 10 },
        { x: 100, y: 10 },
        { x: 100, y: 60 },
        { x: 20, y: 60 },
      ],
    };
    const logos = { responses: [{ logoAnnotations: [{ description: "Acme", score: 0.9, boundingPoly: box }] }] };
    const { output } = await read(google, "image/logo_detection", logos, callOf(photo));
    expect(output["items"]).toEqual([
      {
        bounding_poly: {
          vertices: [
            { x: 0.1, y: 0.1 },
            { x: 0.5, y: 0.1 },
            { x: 0.5, y: 0.6 },
            { x: 0.1, y: 0.6 },
          ],
        },
        description: "Acme",
        score: 0.9,
      },
    ]);
    const faces = {
      responses: [
        {
          faceAnnotations: [
            {
              boundingPoly: box,
              detectionConfidence: 0.8,
              joyLikelihood: "VERY_LIKELY",
              angerLikelihood: "UNKNOWN",
              landmarks: [{ type: "NOSE_TIP", position: { x: 50, y: 50, z: -3 } }],
            },
          ],
        },
      ],
    };
    const { output: seen } = await read(google, "image/face_detection", faces, callOf(photo));
    expect(seen["items"]).toMatchObject([
      {
        bounding_box: { x_min: 0.1, x_max: 0.5 },
        landmarks: { nose_tip: [0.25, 0.5] },
        emotions: { joy: 5, anger: null },
      },
    ]);
  });

  test("a failure inside of an answer is a failure", async () => {
    const failed = { responses: [{ error: { code: 3, message: "Bad image data." } }] };
    const asked = read(google, "image/object_detection", failed, callOf(photo));
    expect(await asked.catch((error: unknown) => error)).toMatchObject({
      name: "TaskFailure",
      status: 400,
      message: "Bad image data.",
    });
  });

  test("likelihoods in words become steps", async () => {
    // documented
    const answer = {
      responses: [
        {
          safeSearchAnnotation: {
            adult: "VERY_UNLIKELY",
            spoof: "UNLIKELY",
            medical: "UNKNOWN",
            violence: "LIKELY",
            racy: "POSSIBLE",
          },
        },
      ],
    };
    const { output } = await read(google, "image/explicit_content", answer, callOf(photo));
    expect(output).toMatchObject({ nsfw_likelihood: 4, nsfw_likelihood_score: 0.8 });
  });

  test("a text is analysed in its language, or in the one that the vendor finds", async () => {
    expect(jsonOf(await requestOf(google, "text/sentiment_analysis", text("x", { language: "de-AT" })))).toEqual({
      document: { type: "PLAIN_TEXT", content: "x", language: "de" },
      encodingType: "UTF32",
    });
    expect(jsonOf(await requestOf(google, "text/moderation", text("x", { language: null })))).toEqual({
      document: { type: "PLAIN_TEXT", content: "x" },
    });
  });

  test("a translation is of text, not of markup", async () => {
    const request = await requestOf(google, "translation/automatic_translation", {
      input: { text: "a < b", target_language: "fr", source_language: "en" },
    });
    expect(jsonOf(request)).toEqual({ q: "a < b", target: "fr", source: "en", format: "text" });
    // documented
    const answer = { data: { translations: [{ translatedText: "a < b" }] } };
    const { output, units } = await read(google, "translation/automatic_translation", answer, callOf(text("a < b")));
    expect(output).toEqual({ text: "a < b" });
    expect(units).toEqual({ char: 5, request: 1 });
  });

  test("an undetermined language is none", async () => {
    const answer = { data: { detections: [[{ language: "und", confidence: 1 }]] } };
    expect((await read(google, "translation/language_detection", answer, callOf(text("?")))).output).toEqual({
      items: [],
    });
  });

  test("a model is a family of voices, and a voice of another family is refused", async () => {
    const voiceOf = async (options: CallOptions) =>
      (jsonOf(await requestOf(google, "audio/tts", options)) as JsonObject)["voice"];
    expect(await voiceOf({ model: "wavenet", ...text("x", { voice: "fr-FR-Wavenet-A" }) })).toEqual({
      languageCode: "fr-FR",
      name: "fr-FR-Wavenet-A",
    });
    expect(await voiceOf(text("x"))).toEqual({ languageCode: "en-US", name: "en-US-Standard-C" });
    expect(await voiceOf({ model: "gemini-2.5-pro-tts", ...text("x", { voice: "de-DE-Kore" }) })).toEqual({
      languageCode: "de-DE",
      name: "Kore",
      modelName: "gemini-2.5-pro-tts",
    });
    expect(await voiceOf({ model: "constructor", ...text("x") })).toMatchObject({ modelName: "constructor" });
    const other = voiceOf({ model: "standard", ...text("x", { voice: "fr-FR-Wavenet-A" }) });
    expect(await other.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
  });

  test("speed, pitch and volume go in the vendor's measures", async () => {
    const request = await requestOf(
      google,
      "audio/tts",
      text("x", { speed: 2, speaking_pitch: 100, speaking_volume: 100, audio_format: "wav" }),
    );
    expect(jsonOf(request)).toMatchObject({
      audioConfig: { audioEncoding: "LINEAR16", speakingRate: 2, pitch: 12, volumeGainDb: 6.02 },
    });
    const result = await read(
      google,
      "audio/tts",
      { audioContent: "SUQz" },
      callOf(text("x", { audio_format: "wav" })),
    );
    expect(result.binaries?.[0]).toMatchObject({ bytes: Buffer.from("ID3"), mediaType: "audio/wav" });
  });
});

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

  test("speech is asked for in markup, with the voice's language", async () => {
    const request = await requestOf(
      microsoft,
      "audio/tts",
      text("1 < 2", { voice: 'de-DE-KatjaNeural"', speed: 0.5, speaking_pitch: -10 }),
    );
    expect(request.headers).toMatchObject({ "x-microsoft-outputformat": "audio-24khz-96kbitrate-mono-mp3" });
    expect(request.body).toMatchObject({
      mediaType: "application/ssml+xml",
      text: '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="de-DE"><voice name="de-DE-KatjaNeural&quot;"><prosody rate="50%" pitch="-10%">1 &lt; 2</prosody></voice></speak>',
    });
  });
});

// Recorded answers of these vendors, each with a normal form, in a folder beside the checkout. They belong to others: where they are
// not there, these tests are skipped.
const recordings =
  process.env["SWITCHYARD_TASK_RECORDINGS"] ?? join(import.meta.dir, "../../../shared/data/task-fixtures");

interface Recorded {
  readonly row: ProviderRow;
  readonly task: string;
  readonly options?: CallOptions;
  /** Recorded by the vendor's library, where that writes otherwise than the wire. */
  toWire?(original: unknown): unknown;
  /** What the recorded form says wrongly, or leaves out, by name: both forms without it. */
  readonly excuse?: string;
  excused?(output: JsonObject, isOurs: boolean): unknown;
}

const wholeText = "Barack Hussein Obama";
const items = (output: JsonObject) => output["items"] as readonly JsonObject[];

const recorded: readonly Recorded[] = [
  { row: amazon, task: "text/sentiment_analysis" },
  { row: amazon, task: "text/keyword_extraction" },
  {
    row: amazon,
    task: "text/entity_sentiment",
    excuse: "has no titles",
    excused: (output) =>
      items(output).map(({ type, ...item }) => ({ ...item, type: type === "PERSONAL_TITLE" ? "OTHER" : type })),
  },
  { row: amazon, task: "text/syntax_analysis" },
  { row: amazon, task: "ocr/ocr" },
  { row: amazon, task: "image/face_compare" },
  {
    row: amazon,
    task: "image/object_detection",
    excuse: "has one of several instances",
    excused: (output, isOurs) => {
      const first = new Map(
        items(output)
          .toReversed()
          .map((item) => [item["label"], item]),
      );
      return isOurs ? items(output).filter((item) => first.get(item["label"]) === item) : items(output);
    },
  },
  {
    row: amazon,
    task: "image/face_detection",
    excuse: "has emotions by a scale that is lost, no eyes and mouths, and features that are always 0",
    excused: (output) =>
      items(output).map(({ emotions: _, features: __, landmarks, ...face }) => {
        const { left_eye, right_eye, mouth_left, mouth_right, ...points } = landmarks as JsonObject;
        const unsaid = /^(?:left|right)_eye_(?:top|right)$/;
        return {
          ...face,
          landmarks: Object.fromEntries(Object.entries(points).filter(([name]) => !unsaid.test(name))),
        };
      }),
  },
  { row: google, task: "text/sentiment_analysis" },
  { row: google, task: "text/moderation" },
  { row: google, task: "text/syntax_analysis" },
  {
    row: google,
    task: "text/named_entity_recognition",
    excuse: "leaves out entities without a weight",
    excused: (output) => items(output).filter(({ importance }) => importance !== null),
  },
  {
    row: google,
    task: "text/entity_sentiment",
    excuse: "does not know the offset 0",
    excused: (output) =>
      items(output).map(({ begin_offset, end_offset, ...item }) =>
        begin_offset ? { ...item, begin_offset, end_offset } : item,
      ),
  },
  {
    row: google,
    task: "text/topic_extraction",
    excuse: "writes names in another case",
    excused: (output) => JSON.parse(JSON.stringify(output).toLowerCase()),
  },
  { row: google, task: "image/object_detection", toWire: (original) => ({ responses: [original] }) },
  {
    row: google,
    task: "image/explicit_content",
    toWire: (original) => ({ responses: [{ safeSearchAnnotation: original }] }),
  },
  {
    row: google,
    task: "image/landmark_detection",
    toWire: (original) => ({ responses: [{ landmarkAnnotations: toCamelCase(original) }] }),
  },
  {
    row: google,
    task: "translation/language_detection",
    // Of the other edition of the service.
    toWire: (original) => ({
      data: {
        detections: [
          items({ items: (original as JsonObject)["languages"] }).map(({ languageCode, confidence }) => ({
            language: languageCode,
            confidence,
          })),
        ],
      },
    }),
  },
  { row: microsoft, task: "text/sentiment_analysis" },
  { row: microsoft, task: "text/named_entity_recognition" },
  { row: microsoft, task: "text/anonymization", options: text("The phone number of Luc is the 06 21 32 43 54.") },
  {
    row: microsoft,
    task: "text/summarize",
    // Of an older version of the service.
    toWire: (original) => ({
      tasks: { items: ((original as JsonObject)["tasks"] as JsonObject)["extractiveSummarizationTasks"] },
    }),
  },
  { row: microsoft, task: "image/object_detection" },
  { row: microsoft, task: "image/explicit_content", options: { model: "vision" } },
  { row: microsoft, task: "image/landmark_detection" },
  {
    row: microsoft,
    task: "image/logo_detection",
    excuse: "tells pixels where boxes are relative",
    excused: (output, isOurs) =>
      items(output).map(({ bounding_poly, ...item }) => {
        const [width, height] = isOurs ? [1_280, 720] : [1, 1];
        const vertices = ((bounding_poly as JsonObject)["vertices"] as readonly { x: number; y: number }[]).map(
          ({ x, y }) => [x * width, y * height],
        );
        return { ...item, corners: vertices.map(String).toSorted() };
      }),
  },
  { row: microsoft, task: "translation/automatic_translation" },
  { row: microsoft, task: "translation/language_detection" },
];

describe.skipIf(!existsSync(recordings))("recorded answers", () => {
  for (const { row, task, options, toWire, excuse, excused } of recorded) {
    const but = excuse === undefined ? "" : `, but that it ${excuse}`;
    test(`${task} of ${row.name} says what the recorded normal form says${but}`, async () => {
      const stored = JSON.parse(readFileSync(join(recordings, task, `${row.name}.json`), "utf8"));
      const json = toWire?.(stored.original_response) ?? stored.original_response;
      const { output } = await read(row, task, json, callOf({ ...text(wholeText), ...photo, ...options }));
      const told = excused?.(output, true) ?? output;
      const expected = excused?.(stored.standardized_response, false) ?? stored.standardized_response;
      expect(inSixDecimals(told)).toEqual(inSixDecimals(expected));
    });
  }
});

function inSixDecimals(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_name, member) =>
    typeof member === "number" ? Math.round(member * 1e6) / 1e6 : member,
  );
}

function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (typeof value !== "object" || value === null) return value;
  const camel = (name: string) => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), toCamelCase(member)]));
}
