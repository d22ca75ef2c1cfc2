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
    for (const document of [null, {}, { document_metadata: { document_page_number: null } }, { document_metadata: {} }])
      expect(pagesOf(document)).toEqual([]);
  });
});
