// The values of outputs that many vendors share: how they are read from an answer. All values here are invented.

import { describe, expect, test } from "bun:test";
import {
  asCount,
  asList,
  asNumber,
  asObject,
  asScore,
  asString,
  asText,
  at,
  fromPercentage,
  objectsIn,
  rounded,
  textsIn,
} from "../../src/providers/lenient.ts";
import { asAmount } from "../../src/providers/shapes/amounts.ts";
import { boxAround, toPoints, toRelative, toVertices } from "../../src/providers/shapes/boxes.ts";
import { deleteFile, uploadFile } from "../../src/providers/shapes/bucket.ts";
import { findCountry } from "../../src/providers/shapes/countries.ts";
import { toAiPrediction, toDeepfakePrediction, toJudgedText } from "../../src/providers/shapes/detection.ts";
import { joinAddress, soleItem, splitNames, toDocuments } from "../../src/providers/shapes/documents.ts";
import { countCharacters, languageOf, refuseMembers, textUnits } from "../../src/providers/shapes/inputs.ts";
import { asLanguage, baseLanguage, nameLanguage, toLanguages } from "../../src/providers/shapes/languages.ts";
import { toFindings, toModeration } from "../../src/providers/shapes/moderation.ts";
import { checkTableNumber, type ReadCell, toPages, toTables } from "../../src/providers/shapes/pages.ts";
import { type FoundData, toAnonymization } from "../../src/providers/shapes/personal-data.ts";
import { poll, postForm } from "../../src/providers/shapes/requests.ts";
import { fromSignedScore, readSentiment, toRatedSentiment } from "../../src/providers/shapes/sentiment.ts";
import { toCreditUnits, toLink, toWebImages } from "../../src/providers/shapes/web.ts";
import { callOf, fileOf } from "../engines/vendor-calls.ts";
import { problemsOf } from "../support/thrown.ts";

describe("a value of another type than expected", () => {
  const others = [null, undefined, true, "", "text", 7, [1], { a: 1 }];

  test.each([
    ["an object", asObject, [{}, {}, {}, {}, {}, {}, {}, { a: 1 }]],
    ["a list", asList, [[], [], [], [], [], [], [1], []]],
    ["a string", asString, ["", "", "", "", "text", "", "", ""]],
    ["a text that is not empty", asText, [null, null, null, null, "text", null, null, null]],
    ["a number", asNumber, [null, null, null, null, null, 7, null, null]],
    ["a count", asCount, [0, 0, 0, 0, 0, 7, 0, 0]],
  ] as const)("is empty as %s", (_, read, expected) => {
    expect(others.map((value) => read(value))).toEqual([...expected]);
  });

  test("is left out of a list of objects", () => {
    expect(objectsIn([{ a: "x" }, 1, null, { a: 2 }])).toEqual([{ a: "x" }, { a: 2 }]);
    expect(textsIn([{ a: "x" }, 1, { a: 2 }], "a")).toEqual(["x", ""]);
  });

  test("ends a path", () => {
    const value = { a: [{ b: 0 }], c: null };
    expect([at(value, "a", 0, "b"), at(value, "c", "d"), at(value, "x", "y"), at("text", "length")]).toEqual([
      0,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test("numbers are read from text, and are finite", () => {
  expect(["12", " 1.5 ", "1e3", " ", "12px", Number.NaN, Number.POSITIVE_INFINITY].map(asNumber)).toEqual([
    12,
    1.5,
    1_000,
    null,
    null,
    null,
    null,
  ]);
  expect([-3, 2.5, "4"].map(asCount)).toEqual([0, 3, 4]);
});

test("scores are within 0 and 1, and have six decimals where they are computed", () => {
  expect([-1, 0, 0.4, 1, 1.2, "0.5", null].map(asScore)).toEqual([0, 0, 0.4, 1, 1, 0.5, null]);
  expect([-1, 40, 120, null].map(fromPercentage)).toEqual([0, 0.4, 1, null]);
  expect([rounded(0.123_456_78), rounded(1.236, 2)]).toEqual([0.123_457, 1.24]);
});

test.each([
  ["12", 12],
  ["-12.5", -12.5],
  ["1,234.50", 1_234.5],
  ["1.234,50 €", 1_234.5],
  ["1.234.567,8", 1_234_567.8],
  ["1,234,567.8", 1_234_567.8],
  ["$ 12", 12],
  ["1,234", 1_234],
  ["1,23", 1.23],
  [",123", 123],
  ["1.234", 1.234],
  ["1.234.567", 1_234_567],
  ["1,234,567", 1_234_567],
  ["1'234.5", 1_234.5],
  ["1 234,5", 1_234.5],
  ["12..50", 12.5],
  ["12.", 12],
  ["none", null],
  [7.5, 7.5],
  [Number.NaN, null],
  [true, null],
])("the amount %p is %p", (written, amount) => {
  expect(asAmount(written)).toBe(amount);
});

describe("a box", () => {
  test("surrounds its corners, relative to the page, and ends at the edge", () => {
    expect(boxAround([20, 10, 60, 10, 60, 30, 20, 30], 100, 100)).toEqual({
      left: 0.2,
      top: 0.1,
      width: 0.4,
      height: 0.2,
    });
    expect(boxAround([-10, 90, 110, 120], 100, 100)).toEqual({ left: 0, top: 0.9, width: 1, height: 0.1 });
    expect(toPoints([50, 10], 100, 20)).toEqual([{ x: 0.5, y: 0.5 }]);
  });

  test.each([
    ["a missing coordinate", [20, null, 60, 30], 100, 100],
    ["no width", [20, 10, 60, 30], 0, 100],
    ["no height", [20, 10, 60, 30], 100, null],
    ["one corner", [20, 10], 100, 100],
  ])("is null with %s", (_, corners, width, height) => {
    expect(boxAround(corners, width, height)).toBeNull();
  });

  test("has its corners clockwise from the top left", () => {
    expect(toVertices({ x_min: 1, x_max: 2, y_min: 3, y_max: 4 })).toEqual([
      { x: 1, y: 3 },
      { x: 2, y: 3 },
      { x: 2, y: 4 },
      { x: 1, y: 4 },
    ]);
    expect([toRelative(50, 200), toRelative(0, 200), toRelative(null, 200), toRelative(50, undefined)]).toEqual([
      0.25,
      0,
      null,
      null,
    ]);
  });
});

test("a country is found by its code of two or three letters", () => {
  const france = { name: "France", alpha2: "FR", alpha3: "FRA" };
  expect([findCountry("fra"), findCountry(" FR "), findCountry("XX"), findCountry("XXX"), findCountry(33)]).toEqual([
    france,
    france,
    null,
    null,
    null,
  ]);
});

test("languages have canonical tags and names", () => {
  expect(["EN", "en_us", " pt-BR ", "eng", "", "not a tag", 7].map(asLanguage)).toEqual([
    "en",
    "en-US",
    "pt-BR",
    "en",
    null,
    null,
    null,
  ]);
  expect(["en-US", "PT_br", "fr"].map(baseLanguage)).toEqual(["en", "pt", "fr"]);
  expect(["fr", "not a tag"].map(nameLanguage)).toEqual(["French", "not a tag"]);
  const call = { ...callOf(), input: { text: "Olá" } };
  const found = [
    { code: "pt", score: 0.9 },
    { code: "gl", score: null, name: "Galego" },
  ];
  expect(toLanguages(found, call)).toEqual({
    output: {
      items: [
        { language: "pt", display_name: "Portuguese", confidence: 0.9 },
        { language: "gl", display_name: "Galego", confidence: null },
      ],
    },
    units: { char: 3, request: 1 },
  });
});

describe("members of a call", () => {
  test("that are empty name no language and request nothing", () => {
    const language = (value: unknown) => languageOf(callOf({ input: { language: value } }));
    expect([language("fr"), language(""), language(null), language(7)]).toEqual(["fr", null, null, null]);
    expect(languageOf(callOf({ input: { target_language: "de" } }), "target_language")).toBe("de");
    const input = { a: null, b: 0, c: false, d: [], e: "", f: ["x"] };
    refuseMembers(callOf({ input }), ["a", "b", "c", "d", "e", "missing"]);
    expect(problemsOf(() => refuseMembers(callOf({ input }), ["f"]))).toMatchObject([
      { loc: ["body", "input", "f"], type: "unsupported_parameter" },
    ]);
  });

  test("are billed by characters, not by UTF-16 units, and once for each request", () => {
    expect(countCharacters("a😀b")).toBe(3);
    const call = { ...callOf(), input: { text: "a😀b" } };
    expect([textUnits(call), textUnits(call, 2)]).toEqual([
      { char: 3, request: 1 },
      { char: 6, request: 2 },
    ]);
  });
});

describe("a form", () => {
  test("has a field for each value of a list, and none for null", async () => {
    const file = fileOf(Buffer.from("x"), "text/plain", "a.txt");
    const { body } = await postForm("/do", { a: ["x", "y"], b: null, c: undefined, d: 0, e: false, file });
    expect(body).toMatchObject({
      kind: "form",
      parts: [
        { name: "a", value: "x" },
        { name: "a", value: "y" },
        { name: "d", value: "0" },
        { name: "e", value: "false" },
        { name: "file", fileName: "a.txt", mediaType: "text/plain" },
      ],
    });
  });

  test("is followed by polls with the id of the work", () => {
    expect(poll("/jobs", { id: "a/b" })).toEqual({ method: "GET", path: "/jobs/a%2Fb", waitMs: "growing" });
    expect(poll("/jobs", { job: "7" }, "job").path).toBe("/jobs/7");
    expect(() => poll("/jobs", {})).toThrow("there is no id in the answer");
  });
});

test("a file in the operator's bucket has the key of its job, and is deleted by that key", async () => {
  const bucket = {
    service: "storage",
    pathOf: (_call: unknown, key: string) => `/files/${key}`,
    toUpload: (_call: unknown, key: string) => ({ method: "PUT" as const, path: `/files/${key}` }),
  };
  const call = callOf({ jobId: "job-1", files: { file: fileOf(Buffer.from("x"), "audio/wav") } });
  const upload = await uploadFile(bucket, call);
  const path = "/files/switchyard/job-1/input";
  expect(upload).toMatchObject({
    service: "storage",
    method: "PUT",
    path,
    acceptsProviderParams: false,
    body: { kind: "bytes", mediaType: "audio/wav" },
  });
  expect(deleteFile(bucket, call, upload)).toEqual([{ service: "storage", method: "DELETE", path }]);
  expect(deleteFile(bucket, call, { path: "/" })).toEqual([]);
});

describe("moderation", () => {
  const kinds = { gore: ["Violence", "GraphicViolenceOrGore"], calm: ["Safe", "Safe"] } as const;

  test("has the worst score that is not safe, and the steps of all", () => {
    const findings = toFindings({ gore: 0.41, calm: 0.99, new: 1, missing: null }, kinds);
    const { items, ...overall } = toModeration(findings);
    expect(overall).toEqual({ nsfw_likelihood: 5, nsfw_likelihood_score: 1 });
    expect(items).toMatchObject([
      { label: "gore", likelihood: 3, category: "Violence" },
      { label: "calm", likelihood: 5, category: "Safe" },
      { label: "new", likelihood: 5, category: "Other" },
    ]);
    expect(toModeration(toFindings({ calm: 1 }, kinds))).toMatchObject({ nsfw_likelihood: 0 });
    expect(toModeration([])).toEqual({ nsfw_likelihood: 0, nsfw_likelihood_score: 0, items: [] });
  });

  test.each([
    [0, 0, 0],
    [0, 1, 1],
    [0.01, 0, 1],
    [0.2, 0, 2],
    [0.99, 0, 5],
    [1, 0, 5],
  ])("a score of %d, with %d as the lowest step, is step %d", (score, lowest, likelihood) => {
    expect(toModeration(toFindings({ gore: score }, kinds), lowest)).toMatchObject({ nsfw_likelihood: likelihood });
  });

  test("is never harmless because there are no scores", () => {
    expect(() => toFindings({}, kinds)).toThrow("no scores");
    expect(() => toModeration(toFindings({ gore: null }, kinds))).toThrow("no scores");
  });
});

describe("sentiment", () => {
  test("is the vendor's word with its score, in either case", () => {
    expect(toRatedSentiment("POSITIVE", { Positive: 0.987 })).toEqual({ sentiment: "Positive", rate: 0.99 });
    expect(toRatedSentiment("negative", { negative: 0.5 })).toEqual({ sentiment: "Negative", rate: 0.5 });
    expect(toRatedSentiment("Neutral", {})).toEqual({ sentiment: "Neutral", rate: null });
    expect(readSentiment("mixed")).toBeNull();
  });

  test("that is mixed is the stronger side", () => {
    expect(toRatedSentiment("mixed", { positive: 0.6, negative: 0.4 }).sentiment).toBe("Positive");
    expect(toRatedSentiment("mixed", { positive: 0.4, negative: 0.6 }).sentiment).toBe("Negative");
    expect(() => toRatedSentiment("mixed", { positive: 0.4 })).toThrow("no sentiment");
    expect(() => toRatedSentiment("mixed", { negative: 0.4 })).toThrow("no sentiment");
  });

  test("follows from a signed score", () => {
    expect([0.256, -2, 0].map(fromSignedScore)).toEqual([
      { sentiment: "Positive", rate: 0.26 },
      { sentiment: "Negative", rate: 1 },
      { sentiment: "Neutral", rate: 0 },
    ]);
  });
});

test("a text or picture is made by a machine if its score is above a half", () => {
  expect([0.5, 0.51].map(toAiPrediction)).toEqual(["original", "ai-generated"]);
  expect([0.5, 0.51].map(toDeepfakePrediction)).toEqual(["original", "deepfake"]);
  expect(toJudgedText("x", null)).toEqual([]);
});

describe("anonymization", () => {
  const found = (offset: number | null, length: number | null, label = "NAME"): FoundData => {
    return { offset, length, label, subcategory: "Name", score: 0.5 };
  };

  test("hides all that was found, and lists what has a label and a text", () => {
    const entities = [found(2, 3), found(6, 3, ""), found(20, 3)];
    const { result, entities: listed } = toAnonymization("😀 Ada Bob.", entities, null);
    expect(result).toBe("😀 *** ***.");
    expect(listed).toMatchObject([
      { offset: 2, length: 3, content: "Ada", category: "PersonalInformation", confidence_score: 0.5 },
    ]);
  });

  test("of the vendor's own text needs no positions", () => {
    expect(toAnonymization("Ada", [found(null, 3), found(0, null)], "[NAME]")).toEqual({
      result: "[NAME]",
      entities: [],
    });
    expect(() => toAnonymization("Ada", [found(null, 3)], null)).toThrow("without a position");
    expect(() => toAnonymization("Ada", [found(0, null)], null)).toThrow("without a position");
  });

  test("takes what covers a text twenty times, and no more", () => {
    const all = (times: number) => Array.from({ length: times }, () => found(0, 3));
    expect(toAnonymization("Ada", all(20), null).entities).toHaveLength(20);
    expect(() => toAnonymization("Ada", all(21), null)).toThrow("overlaps too often");
  });
});

describe("a document", () => {
  const box = { left: 0.123_456_78, top: 0, width: 1, height: 1 };

  test("has lines with the words that have a position", () => {
    const words = [
      { text: "a", box, confidence: 0.5 },
      { text: "b", box: null, confidence: 1 },
    ];
    const { output, units } = toPages("a b", [[{ text: "a b", box: null, confidence: null, words }], []]);
    expect(output).toEqual({
      raw_text: "a b",
      number_of_pages: 2,
      pages: [
        {
          lines: [
            {
              text: "a b",
              bounding_box: null,
              confidence: null,
              words: [{ text: "a", bounding_box: { ...box, left: 0.123_457 }, confidence: 0.5 }],
            },
          ],
        },
        { lines: [] },
      ],
    });
    expect([units, toPages("", []).units, toTables([]).units]).toEqual([
      { page: 2, file: 1, request: 1 },
      { page: 1, file: 1, request: 1 },
      { page: 1, file: 1, request: 1 },
    ]);
  });

  test("has tables with their cells in order, and rows without cells", () => {
    const cell = (text: string, row_index: number, col_index: number, more: Partial<ReadCell> = {}): ReadCell => {
      return {
        text,
        row_index,
        col_index,
        row_span: 1,
        col_span: 1,
        box: null,
        confidence: 1,
        is_header: false,
        ...more,
      };
    };
    const cells = [cell("c", 2, 1, { col_span: 2 }), cell("b", 0, 1), cell("a", 0, 0, { row_span: 5, box })];
    const { output } = toTables([[cells], []]);
    const [page] = output.pages ?? [];
    const [table] = page?.tables ?? [];
    expect([output.num_pages, table?.num_rows, table?.num_cols]).toEqual([2, 5, 3]);
    expect(table?.rows?.map((row) => row?.cells?.map((one) => one?.text))).toEqual([["a", "b"], [], ["c"]]);
    expect(table?.rows?.[0]?.cells).toMatchObject([
      { bounding_box: { left: 0.123_457 } },
      { bounding_box: { left: null, top: null, width: null, height: null } },
    ]);
  });

  test("has no table of any size", () => {
    expect([checkTableNumber(0), checkTableNumber(100_000)]).toEqual([0, 100_000]);
    for (const number of [-1, 1.5, 100_001]) expect(() => checkTableNumber(number)).toThrow("no row or column");
  });

  test("is billed by its pages: as many as it has documents, and at least one, unless their number is unknown", () => {
    const unitsOf = (documents: readonly object[], pages?: number | null) =>
      toDocuments("ocr/bank_check_parsing", documents as never, ...(pages === undefined ? [] : [pages])).units;
    expect([unitsOf([{}, {}]), unitsOf([]), unitsOf([{}], 4), unitsOf([{}], null)]).toEqual([
      { file: 1, request: 1, page: 2 },
      { file: 1, request: 1, page: 1 },
      { file: 1, request: 1, page: 4 },
      { file: 1, request: 1 },
    ]);
  });

  test("has an address in one line, and its only item", () => {
    const none = { street_name: null, house_number: "", zip_code: null, city: null, province: null, country: null };
    expect(joinAddress({ ...none, street_name: "Main St", house_number: "5", city: "Oslo", country: "Norway" })).toBe(
      "Main St 5, Oslo, Norway",
    );
    expect([soleItem([{ a: 1 }]), soleItem([]), soleItem([{}, {}])]).toEqual([{ a: 1 }, undefined, undefined]);
    expect(splitNames({ value: "Ada  Maria", confidence: 1 })).toEqual([
      { value: "Ada", confidence: 1 },
      { value: "Maria", confidence: 1 },
    ]);
    expect(splitNames({ value: null, confidence: 1 })).toEqual([]);
  });
});

test("results of the web have what the vendor sent, and their credits count as tokens", () => {
  expect(toLink({ title: "", url: "https://a.example", favicon: 7 })).toEqual({
    title: null,
    url: "https://a.example",
    favicon: null,
  });
  expect(toWebImages(["https://a.example/1", { url: "https://a.example/2", alt: "Two" }, {}, 7], "alt")).toEqual([
    { url: "https://a.example/1", description: null, width: null, height: null },
    { url: "https://a.example/2", description: "Two", width: null, height: null },
  ]);
  expect([toCreditUnits(0), toCreditUnits(null)]).toEqual([{ request: 1, token: 0 }, { request: 1 }]);
});
