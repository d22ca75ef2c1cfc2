// Tasks of Amazon: what is sent, and how answers are read.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import type { TaskRequest } from "../../src/providers/task.ts";
import { jsonOf, photo, requestOf, text } from "../support/cloud-tasks.ts";
import { answerOf, bytesOf, callOf, expectOutput, read, taskOf } from "./vendor-calls.ts";

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

  test("without a language, the language is detected first, and the most likely one is used", async () => {
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

  test("mixed feelings are reported as the stronger side", async () => {
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

  test("an object that is seen twice is listed twice, with its positions", async () => {
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

  test("boxes and landmarks beyond the edge of a picture end at the edge", async () => {
    // documented: a box may extend beyond the image, and its values may be below 0 and above 1
    const BoundingBox = { Left: -0.1, Top: 0.8, Width: 0.4, Height: 0.5 };
    const Landmarks = [{ Type: "eyeLeft", X: -0.05, Y: 1.2 }];
    const details = { FaceDetails: [{ Confidence: 99, BoundingBox, Landmarks }] };
    const faces = await read(amazon, "image/face_detection", details, callOf(photo));
    expect(faces.output).toMatchObject({
      items: [{ bounding_box: { x_min: 0, x_max: 0.3, y_min: 0.8, y_max: 1 }, landmarks: { left_eye: [0, 1] } }],
    });
    const labels = { Labels: [{ Name: "Car", Confidence: 90, Instances: [{ BoundingBox }] }] };
    const objects = await read(amazon, "image/object_detection", labels, callOf(photo));
    expect(objects.output).toMatchObject({ items: [{ x_min: 0, x_max: 0.3, y_min: 0.8, y_max: 1 }] });

    const box = { left: 0, top: 0.8, width: 0.3, height: 0.2 };
    const matches = { FaceMatches: [{ Similarity: 99, Face: { BoundingBox } }] };
    const compared = await read(amazon, "image/face_compare", matches, callOf(photo));
    expect(compared.output).toMatchObject({ items: [{ bounding_box: box }] });
    const records = { FaceRecords: [{ Face: { FaceId: "face-1", Confidence: 99, BoundingBox } }] };
    const { collections } = taskOf(amazon, "image/face_recognition");
    const added = await collections?.addFaces.fromResponse(answerOf(records));
    expect(added?.output).toMatchObject({ faces: [{ bounding_box: box }] });
  });

  test("a box inside of a picture stays as the vendor sent it, and one outside of it has no size", async () => {
    // invented
    const boxes = [
      { Left: 0.1, Top: 0.7, Width: 0.2, Height: 0.1 },
      { Left: 1.2, Top: -0.5, Width: 0.1, Height: 0.2 },
    ];
    const matches = { FaceMatches: boxes.map((BoundingBox) => ({ Similarity: 99, Face: { BoundingBox } })) };
    const { output } = await read(amazon, "image/face_compare", matches, callOf(photo));
    expect(output).toMatchObject({
      items: [
        { bounding_box: { left: 0.1, top: 0.7, width: 0.2, height: 0.1 } },
        { bounding_box: { left: 1, top: 0, width: 0, height: 0 } },
      ],
    });
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
            field("TOTAL", "$1,234.50", 60, { Currency: { Code: "USD" }, PageNumber: 2 }),
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

  test("a bad request that means a rate limit or missing access is reported as such", () => {
    const meant = (type: string) => amazon.readRefusal?.(400, { __type: type });
    expect(meant("com.amazonaws.textract#ThrottlingException")).toBe(429);
    expect(meant("UnrecognizedClientException")).toBe(403);
    expect(meant("InvalidParameterException")).toBeUndefined();
  });
});
