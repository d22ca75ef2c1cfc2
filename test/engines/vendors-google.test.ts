// Tasks of Google: what is sent, and how answers are read.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { google } from "../../src/providers/google/index.ts";
import { at } from "../../src/providers/lenient.ts";
import { jsonOf, photo, picture, requestOf, text } from "../support/cloud-tasks.ts";
import { cornersOf } from "../support/corners.ts";
import { rejectionOf } from "../support/thrown.ts";
import { type CallOptions, callOf, fileOf, read } from "./vendor-calls.ts";
import { type Asked, ask, document, type Seen } from "./vendors-others/ask.ts";

const base64 = picture.toString("base64");

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

  describe("a document of more pages than one request reads", () => {
    // documented: `pages` names at most five pages of a request; without it, the first five are read
    const readerOf =
      (totalPages: number) =>
      ({ json }: Seen) => {
        const wanted = at(json, "requests", 0, "pages") as readonly number[] | undefined;
        const pages = (wanted ?? [1, 2, 3, 4, 5]).filter((page) => page <= totalPages);
        const responses = pages.map((page) => ({ fullTextAnnotation: { text: `page ${page}\n` }, context: { page } }));
        return { json: { responses: [{ responses, totalPages }] } };
      };
    const asked = (totalPages: number, more: Partial<Asked> = {}) => ({
      row: google,
      task: "ocr/ocr",
      input: { file: "u", language: "fr" },
      files: { file: document },
      answers: Array<Asked["answers"][number]>(30).fill(readerOf(totalPages)),
      ...more,
    });
    const pagesOf = (seen: readonly Seen[]) => seen.map(({ json }) => at(json, "requests", 0, "pages"));
    const textOf = (pages: readonly number[]) => pages.map((page) => `page ${page}`).join("\n\n");

    test("is read five pages at a time, and all pages and requests count", async () => {
      const { output, answer, seen } = await ask(
        asked(12, { providerParams: { imageContext: { cropHintsParams: {} } } }),
      );
      expect(output["text"]).toBe(textOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
      expect(pagesOf(seen)).toEqual([undefined, [6, 7, 8, 9, 10], [11, 12]]);
      expect(answer.units).toEqual({ page: 12, request: 3 });
      const contexts = seen.map(({ json }) => at(json, "requests", 0, "imageContext"));
      expect(contexts).toEqual(Array(3).fill({ languageHints: ["fr"], cropHintsParams: {} }));
    });

    test("is read by one request if it has five pages", async () => {
      const { output, answer, seen } = await ask(asked(5));
      expect(output["text"]).toBe(textOf([1, 2, 3, 4, 5]));
      expect(answer.units).toEqual({ page: 5, request: 1 });
      expect(seen).toHaveLength(1);
    });

    test("is read as far as the caller asks, if provider_params name pages", async () => {
      const { output, seen } = await ask(asked(12, { providerParams: { pages: [7, 9] } }));
      expect(output["text"]).toBe(textOf([7, 9]));
      expect(pagesOf(seen)).toEqual([[7, 9]]);
    });

    test("is refused beyond 100 pages, and the message names the task for it", async () => {
      expect((await ask(asked(100))).answer.units).toEqual({ page: 100, request: 20 });
      const refused = await rejectionOf(ask(asked(101)), ValidationError);
      expect(refused.problems).toEqual([
        {
          loc: ["body", "input", "file"],
          msg: "This provider reads up to 100 pages here, and the file has 101: use ocr/ocr_async",
          type: "too_long",
        },
      ]);
    });
  });

  test("boxes in pixels become relative to the picture", async () => {
    // documented
    const box = { vertices: cornersOf({ left: 20, top: 10, right: 100, bottom: 60 }) };
    const logos = { responses: [{ logoAnnotations: [{ description: "Acme", score: 0.9, boundingPoly: box }] }] };
    const { output } = await read(google, "image/logo_detection", logos, callOf(photo));
    expect(output["items"]).toEqual([
      {
        bounding_poly: { vertices: cornersOf({ left: 0.1, top: 0.1, right: 0.5, bottom: 0.6 }) },
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

  test("an undetermined language is reported as no language", async () => {
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

  test("an invoice parser's entities become one document, with money and dates as they were normalised", async () => {
    const entity = (type: string, mentionText: string, normalizedValue?: object, properties?: object[]) => ({
      ...{ type, mentionText, confidence: 0.9 },
      ...(normalizedValue && { normalizedValue }),
      ...(properties && { properties }),
    });
    const money = (units: string, nanos = 0) => ({ moneyValue: { currencyCode: "EUR", units, nanos } });
    // documented: https://docs.cloud.google.com/document-ai/docs/reference/rest/v1/Document; values invented
    const document = {
      pages: [{}, {}],
      entities: [
        entity("supplier_name", "Acme\nGmbH"),
        entity("receiver_name", "Ada"),
        entity("invoice_id", "42"),
        entity("invoice_date", "2. Januar 2026", { dateValue: { year: 2026, month: 1, day: 2 } }),
        entity("due_date", "soon"),
        entity("total_amount", "-119,00 €", money("-119")),
        entity("net_amount", "100,00", money("100")),
        entity("total_tax_amount", "19,50", money("19", 500_000_000)),
        entity("vat", "19 %", undefined, [entity("vat/tax_rate", "19 %")]),
        entity("line_item", "2 Bolt 50,00 100,00", undefined, [
          entity("line_item/description", "Bolt"),
          entity("line_item/quantity", "2"),
          entity("line_item/unit_price", "50,00", money("50")),
          entity("line_item/amount", "100,00", money("100")),
        ]),
      ],
    };
    const call = { files: { file: fileOf(Buffer.from("%PDF-"), "application/pdf") } };
    const settings = { processor: "projects/p/locations/eu/processors/inv" };
    const request = await requestOf(google, "ocr/financial_parser", { ...call, settings });
    expect(request).toMatchObject({
      path: "/v1/projects/p/locations/eu/processors/inv:process",
      service: "documentai-eu",
    });
    const { output, units } = await read(google, "ocr/financial_parser", { document }, callOf(call));
    expect(units).toMatchObject({ page: 2 });
    expect(output["extracted_data"]).toMatchObject([
      {
        customer_information: { name: "Ada" },
        merchant_information: { name: "Acme, GmbH" },
        payment_information: { total: -119, subtotal: 100, total_tax: 19.5, tax_rate: 19, amount_tip: null },
        financial_document_information: {
          ...{ invoice_receipt_id: "42", invoice_date: "2026-01-02", invoice_due_date: "soon" },
        },
        local: { currency: "EUR", currency_code: "EUR" },
        item_lines: [{ description: "Bolt", quantity: 2, unit_price: 50, amount_line: 100 }],
      },
    ]);
  });
});
