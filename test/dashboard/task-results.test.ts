// Where results are drawn: marks in texts, and boxes on pages.

import { describe, expect, test } from "bun:test";
import { type Found, foundIn, toShares } from "../../src/dashboard/pages/playground-tasks/results/boxes.ts";
import { notePages, pagesOf } from "../../src/dashboard/pages/playground-tasks/results/page-notes.ts";
import {
  toOwnAddress,
  toPictureAddress,
  toWebAddress,
} from "../../src/dashboard/pages/playground-tasks/results/resource.ts";
import { createOffsets, findAll, toSegments } from "../../src/dashboard/pages/playground-tasks/results/segments.ts";

/** Only what is read of an answer. */
type Faces = Parameters<(typeof foundIn)["image/face_detection"]>[0];

describe("marks in a text", () => {
  test("split it without losing a character", () => {
    const text = "Ada met Ada in York.";
    const spans = [...findAll(text, "Ada"), ...findAll(text, "York")].map((place) => ({ ...place, category: "name" }));
    const segments = toSegments(text, spans);
    expect(segments.map((one) => one.text).join("")).toBe(text);
    expect(segments.filter(({ span }) => span !== null).map((one) => one.text)).toEqual(["Ada", "Ada", "York"]);
  });

  test("that overlap are drawn once, and those outside of the text not at all", () => {
    const mark = (start: number, end: number) => ({ start, end, category: "a" });
    const segments = toSegments("0123456789", [mark(2, 5), mark(4, 8), mark(8, 30), mark(-2, 1), mark(6, 6)]);
    expect(segments.map((one) => one.text)).toEqual(["01", "234", "56789"]);
  });

  test("may touch each other and both ends of the text", () => {
    const mark = (start: number, end: number) => ({ start, end, category: "a" });
    const segments = toSegments("abcd", [mark(2, 4), mark(0, 1), mark(0, 2)]);
    expect(segments.map(({ start, text, span }) => [start, text, span !== null])).toEqual([
      [0, "ab", true],
      [2, "cd", true],
    ]);
  });

  test("count characters as the gateway does", () => {
    const text = "🚂🚂 Ada";
    const toUnits = createOffsets(text);
    expect(text.slice(toUnits(3), toUnits(6))).toBe("Ada");
    expect(toUnits(99)).toBe(text.length);
  });

  test("are at whole words if there are any", () => {
    expect(findAll("Rome and romeo", "Rome")).toEqual([{ start: 0, end: 4 }]);
    expect(findAll("berlin", "Berlin")).toEqual([{ start: 0, end: 6 }]);
    expect(findAll("abc", "")).toEqual([]);
    // A word that begins or ends with the wanted text is another word.
    expect(findAll("at cat atom at", "at")).toEqual([
      { start: 0, end: 2 },
      { start: 12, end: 14 },
    ]);
    expect(findAll("I am", "I")).toEqual([{ start: 0, end: 1 }]);
    expect(findAll("concatenate", "cat")).toEqual([{ start: 3, end: 6 }]);
  });
});

describe("places on a page", () => {
  const found = (box: Found["box"]): Found => ({ id: "0", label: "a", confidence: 1, page: 0, group: "a", box });

  test("are shares of it, whether the provider states shares or pixels", () => {
    const box = { left: 0.1, top: 0.2, width: 0.5, height: 0.25 };
    expect(toShares([found(box)], null)[0]?.box).toEqual(box);
    const pixels = { left: 100, top: 100, width: 500, height: 125 };
    expect(toShares([found(pixels)], { width: 1_000, height: 500 })[0]?.box).toEqual(box);
    expect(toShares([found(pixels)], null)[0]?.box).toBeNull();
  });

  test("are read from edges, corners and sizes", () => {
    const object = { label: "cup", confidence: 0.5, x_min: 0.25, x_max: 0.75, y_min: 0, y_max: 0.5 };
    expect(foundIn["image/object_detection"]({ items: [object] })[0]?.box).toEqual({
      left: 0.25,
      top: 0,
      width: 0.5,
      height: 0.5,
    });
    const corners = [
      { x: 10, y: 20 },
      { x: 30, y: 20 },
      { x: 30, y: 60 },
    ];
    expect(
      foundIn["image/logo_detection"]({
        items: [{ description: null, score: null, bounding_poly: { vertices: corners } }],
      })[0]?.box,
    ).toEqual({
      left: 10,
      top: 20,
      width: 20,
      height: 40,
    });
  });

  test("are in pixels as soon as one of them lies outside of a page with the width and height 1", () => {
    const size = { width: 100, height: 200 };
    const small = { left: 1, top: 1, width: 0.1, height: 0.1 };
    const boxesOf = (...boxes: Found["box"][]) => toShares(boxes.map(found), size).map(({ box }) => box);
    const inside = { left: 0.01, top: 0.005, width: 0.001, height: 0.0005 };
    const wide = { left: 10, top: 0.5, width: 40, height: 0.5 };
    expect(boxesOf(small, null, wide)).toEqual([inside, null, { left: 0.1, top: 0.0025, width: 0.4, height: 0.0025 }]);
    expect(boxesOf({ left: 0.5, top: 10, width: 0.5, height: 40 })).toEqual([
      { left: 0.005, top: 0.05, width: 0.005, height: 0.2 },
    ]);
    // Providers round, so a share may be a little larger than one.
    expect(boxesOf(small, null)).toEqual([small, null]);
  });

  test("that lack a side or have no extent are none", () => {
    const box = { left: 0.1, top: 0.1, width: 0.2, height: 0.2 };
    const readBox = (change: object) =>
      foundIn["ocr/ocr"]({ text: "", bounding_boxes: [{ text: "a", ...box, ...change }] })[0]?.box;
    expect(readBox({})).toEqual(box);
    expect(readBox({ left: 0, top: 0 })).toEqual({ ...box, left: 0, top: 0 });
    for (const side of ["left", "top", "width", "height"]) expect(readBox({ [side]: null })).toBeNull();
    for (const side of ["width", "height"])
      for (const extent of [0, -0.1]) expect(readBox({ [side]: extent })).toBeNull();
    const edges = { label: "cup", confidence: 0.5, x_min: 0.1, x_max: 0.3, y_min: 0.1, y_max: 0.3 };
    for (const edge of ["x_min", "x_max", "y_min", "y_max"])
      expect(foundIn["image/object_detection"]({ items: [{ ...edges, [edge]: null }] })[0]?.box).toBeNull();
    const cornersOf = (...corners: { x: number | null; y: number | null }[]) =>
      foundIn["image/logo_detection"]({
        items: [{ description: null, score: null, bounding_poly: { vertices: corners } }],
      })[0]?.box;
    expect(cornersOf({ x: 1, y: null }, { x: 5, y: null })).toBeNull();
    expect(cornersOf({ x: null, y: 1 }, { x: null, y: 5 })).toBeNull();
    // Of some corners, providers state one coordinate alone.
    expect(cornersOf({ x: 1, y: 2 }, { x: 4, y: null }, { x: null, y: 8 })).toEqual({
      left: 1,
      top: 2,
      width: 3,
      height: 6,
    });
  });

  test("are on the page that the answer states, counted from one, and otherwise on the first", () => {
    const bounding_box = { left: 0.1, top: 0.1, width: 0.2, height: 0.2 };
    const item = { query: "total", value: "5", confidence: 1, bounding_box };
    const items = [0, 1, 2].map((page) => ({ ...item, page }));
    const pages = foundIn["ocr/custom_document_parsing_async"]({ items }).map(({ page, detail }) => [page, detail]);
    expect(pages).toEqual([
      [0, "5"],
      [0, "5"],
      [1, "5"],
    ]);
    const line = { text: "a", confidence: 1, bounding_box, words: [] };
    const read = foundIn["ocr/ocr_async"]({
      raw_text: "",
      number_of_pages: 2,
      pages: [{ lines: [line] }, { lines: [line] }],
    });
    expect(read.map(({ page }) => page)).toEqual([0, 1]);
    const fields = [
      { key: "total", value: "5", bounding_box, confidence_score: 1 },
      { key: "rows", value: ["5"], bounding_box, confidence_score: 1 },
    ];
    expect(foundIn["ocr/data_extraction"]({ fields }).map(({ page, detail }) => [page, detail])).toEqual([
      [0, "5"],
      [0, '["5"]'],
    ]);
  });

  test("are named with what else the answer states", () => {
    const bounding_box = { x_min: 0, x_max: 1, y_min: 0, y_max: 1 };
    const detailsOf = (facts: object) =>
      foundIn["image/face_detection"]({ items: [{ confidence: 1, bounding_box, ...facts }] } as unknown as Faces)[0]
        ?.detail;
    expect(detailsOf({ age: 31.6, gender: "female" })).toBe("female, about 32 years");
    expect(detailsOf({ age: 0, gender: null })).toBe("about 0 years");
    expect(detailsOf({ age: null, gender: null })).toBeUndefined();
    const locations = [{ lat_lng: { latitude: 48.858_37, longitude: 2.294_48 } }];
    const tower = { description: "tower", confidence: 1, bounding_box: [] };
    const landmarks = foundIn["image/landmark_detection"]({
      items: [
        { ...tower, locations },
        { ...tower, locations: [] },
      ],
    });
    expect(landmarks.map(({ detail }) => detail)).toEqual(["48.8584, 2.2945", undefined]);
  });

  test("that are not stated are none", () => {
    const nothing = { text: "a", left: null, top: null, width: null, height: null };
    expect(foundIn["ocr/ocr"]({ text: "a", bounding_boxes: [nothing] })[0]?.box).toBeNull();
    expect(foundIn["image/logo_detection"]({ items: [{ description: "x", score: 1 }] })[0]?.box).toBeNull();
  });
});

describe("addresses that a provider sends", () => {
  test("are loaded only from this gateway, whatever host they name", () => {
    expect(toOwnAddress("https://public.example/v3/resources/1?expires=2&signature=3")).toBe(
      "/v3/resources/1?expires=2&signature=3",
    );
    for (const foreign of ["https://elsewhere.example/a.mp3", "javascript:alert(1)", "/v3/resources/1", 5, null])
      expect(toOwnAddress(foreign)).toBeNull();
  });

  test("are links only to the web", () => {
    expect(toWebAddress("https://example.com/")).toBe("https://example.com/");
    for (const other of ["javascript:alert(1)", "data:text/html,x", "JaVaScRiPt://example.com/%0aalert(1)", "x", null])
      expect(toWebAddress(other)).toBeNull();
  });

  test("are pictures only by their first bytes", () => {
    expect(toPictureAddress("iVBORw0KGgo=")).toBe("data:image/png;base64,iVBORw0KGgo=");
    expect(toPictureAddress(btoa("<svg onload=alert(1)>"))).toBeNull();
  });
});

describe("pages of documents", () => {
  test("name the documents that are on them", () => {
    const notes = notePages([[0], [1, 2], [2]], "Invoice");
    expect([...notes]).toEqual([
      [0, "Invoice 1"],
      [1, "Invoice 2"],
      [2, "Invoices 2, 3"],
    ]);
  });

  test("are not noted for a single document, or where the answer does not name them", () => {
    expect(notePages([[0]], "Document").size).toBe(0);
    expect(pagesOf({ document_metadata: { document_page_number: 2 } })).toEqual([1]);
    expect(pagesOf({ document_metadata: { document_page_number: 1 } })).toEqual([0]);
    for (const document of [null, {}, { document_metadata: {} }]) expect(pagesOf(document)).toEqual([]);
    for (const number of [null, 0, -1, 1.5, "2"])
      expect(pagesOf({ document_metadata: { document_page_number: number } })).toEqual([]);
  });
});
