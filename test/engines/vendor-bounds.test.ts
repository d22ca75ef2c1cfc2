// The work that the answer of a vendor or of a model can cause is limited by the length of the answer, whatever numbers it holds.

import { describe, expect, test } from "bun:test";
import { createQuotes } from "../../src/engines/llm/quotes.ts";
import { readJson } from "../../src/engines/llm/read-answer.ts";
import { google } from "../../src/providers/google/index.ts";
import { privateai } from "../../src/providers/privateai/index.ts";
import { readErrorMessage } from "../../src/providers/refusal.ts";
import { type ReadCell, toTables } from "../../src/providers/shapes/pages.ts";
import { toAnonymization } from "../../src/providers/shapes/personal-data.ts";
import { callOf, read } from "./vendor-calls.ts";

const cell: ReadCell = {
  text: "x",
  row_index: 0,
  col_index: 0,
  row_span: 1,
  col_span: 1,
  box: null,
  confidence: null,
  is_header: false,
};

describe("tables", () => {
  test("a cell in an impossible row makes the answer a bad one, not a table of millions of rows", () => {
    expect(() => toTables([[[{ ...cell, row_index: 3_000_000 }]]])).toThrow(TypeError);
    expect(() => toTables([[[{ ...cell, row_index: -1 }]]])).toThrow(TypeError);
  });

  test("rows that are left out are empty", () => {
    const { output } = toTables([[[cell, { ...cell, row_index: 2, row_span: 2 }]]]);
    const table = (output["pages"] as { tables: { rows: { cells: unknown[] }[]; num_rows: number }[] }[])[0]?.tables[0];
    expect(table?.rows.map(({ cells }) => cells.length)).toEqual([1, 0, 1]);
    expect(table?.num_rows).toBe(4);
  });

  test("a table of a million cells is read", () => {
    const cells = Array.from({ length: 1_000_000 }, (_, index) => ({
      ...cell,
      row_index: index >> 10,
      col_index: index & 1023,
    }));
    const { output } = toTables([[cells]]);
    expect(output["pages"]).toMatchObject([{ tables: [{ num_rows: 977, num_cols: 1_024 }] }]);
  });

  test("a cell that spans an impossible number of rows or columns makes the answer a bad one", async () => {
    for (const span of [{ rowSpan: 20_000_000 }, { colSpan: 20_000_000 }]) {
      const document = { text: "", pages: [{ tables: [{ headerRows: [], bodyRows: [{ cells: [span] }] }] }] };
      expect(read(google, "ocr/ocr_tables_async", { document }, callOf())).rejects.toThrow(TypeError);
    }
  });

  test("cells below one that spans two rows move to the right", async () => {
    const rows = [{ cells: [{ rowSpan: 2 }, {}] }, { cells: [{}] }];
    const document = { text: "", pages: [{ tables: [{ headerRows: [], bodyRows: rows }] }] };
    const { output } = await read(google, "ocr/ocr_tables_async", { document }, callOf());
    expect(output["pages"]).toMatchObject([
      { tables: [{ rows: [{ cells: [{ col_index: 0 }, { col_index: 1 }] }, { cells: [{ col_index: 1 }] }] }] },
    ]);
  });
});

describe("personal data", () => {
  const text = "a".repeat(2_000);
  const found = (length: number) => ({ offset: 0, length, label: "NAME", subcategory: "Name", score: 1 });

  test("that is found twice is hidden once, and listed twice", () => {
    const { result, entities } = toAnonymization("Anna and Bob", [found(4), { ...found(8), offset: 2 }], null);
    expect(result).toBe("**********ob");
    expect(entities).toMatchObject([{ content: "Anna" }, { content: "na and B" }]);
  });

  test("that covers the whole text again and again makes the answer a bad one, not an output of gigabytes", () => {
    const all = Array.from({ length: 10_000 }, () => found(text.length));
    expect(() => toAnonymization(text, all, null)).toThrow(TypeError);
    expect(() => toAnonymization(text, all, "hidden")).toThrow(TypeError);
  });

  test("of Private AI that covers the whole text again and again makes the answer a bad one", () => {
    const entity = { best_label: "NAME", text: "a", location: { stt_idx: 0, end_idx: text.length } };
    const document = { processed_text: "x", entities: Array.from({ length: 10_000 }, () => entity) };
    expect(read(privateai, "text/anonymization", [document], callOf({ input: { text } }))).rejects.toThrow(TypeError);
  });

  test("in many short pieces of one text is listed", () => {
    const all = Array.from({ length: text.length }, (_, offset) => ({ ...found(3), offset }));
    expect(toAnonymization(text, all, null)["result"]).toBe("*".repeat(text.length));
  });
});

describe("answers that are nested without end", () => {
  const deep = (levels: number) => `{"error":${"[".repeat(levels)}${"]".repeat(levels)}}`;

  test("an error has no message then", () => {
    expect(readErrorMessage(`${'{"error":'.repeat(300_000)}"no"${"}".repeat(300_000)}`)).toBe("");
    expect(readErrorMessage(`{"error":{"errors":[{"message":"no"}]}}`)).toBe("no");
  });

  test("the answer of a model is no object then", () => {
    expect(readJson(`{"items":${deep(300_000)}}`)).toBeUndefined();
    expect(readJson('Here it is: {"items":[]}')).toEqual({ items: [] });
  });
});

describe("quotations of a model", () => {
  test("are found again with other spacing, quotation marks and case", () => {
    const text = "Said  “Hello\nWORLD” to İstanbul, hello world.";
    const { findAll, findFrom } = createQuotes(text);
    const written = (quote: string) => findAll(quote).map(({ start, end }) => text.slice(start, end));
    expect(written('"hello world"')).toEqual(["“Hello\nWORLD”"]);
    expect(written("hello world")).toEqual(["hello world"]);
    expect(written("Hello world")).toEqual(["Hello\nWORLD", "hello world"]);
    expect(written("to İSTANBUL")).toEqual(["to İstanbul"]);
    expect(written("nothing")).toEqual([]);
    expect(findFrom("hello", 30)).toEqual({ start: 33, end: 38 });
  });

  test("ten thousand that are not in the text, and as many that are, are looked for in one text", () => {
    const text = "lorem ipsum dolor ".repeat(5_000);
    const { findAll, findFrom } = createQuotes(text);
    for (let index = 0; index < 10_000; index++) {
      expect(findAll(`made up ${index}`)).toEqual([]);
      expect(findFrom("ipsum", index * 8)?.start).toBeGreaterThanOrEqual(index * 8);
    }
  });
});
