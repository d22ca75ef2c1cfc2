// The labelled sets of documents: what they contain, that they can be drawn, and that right is told from missing and wrong.

import { describe, expect, test } from "bun:test";
import { fillDate } from "../quality/documents/dates.ts";
import { judge, type LabelledDocument, type Split } from "../quality/documents/labelled-document.ts";
import { countFields } from "../quality/documents/measure-parsers.ts";
import { documentSets, type ParserName } from "../quality/documents/sets.ts";
import { MissingFontError } from "../quality/ocr/fonts.ts";
import { applyFaults } from "../quality/ocr/pages/faults.ts";
import { countCells, scoreText } from "../quality/ocr/pages/score.ts";
import { pagesToTest } from "../quality/ocr/pages/test/set.ts";
import { pagesToTune } from "../quality/ocr/pages/tune/set.ts";
import { writePdf } from "../quality/ocr/write-pdf.ts";

const parsers = Object.keys(documentSets) as ParserName[];
const splits: readonly Split[] = ["tune", "test"];

function setOf(parser: ParserName, split: Split): LabelledDocument[] {
  return documentSets[parser].splits[split]();
}

describe("the labelled sets", () => {
  test.each(parsers)("of %s are split by layout", (parser) => {
    const layouts = splits.map((split) => new Set(setOf(parser, split).map(({ layout }) => layout)));
    const [tune = new Set(), held = new Set()] = layouts;
    expect([...tune].filter((layout) => held.has(layout))).toEqual([]);
  });

  test.each(parsers)("of %s have documents of different names that are the same in every run", (parser) => {
    for (const split of splits) {
      const documents = setOf(parser, split);
      expect(new Set(documents.map(({ name }) => name)).size).toBe(documents.length);
      expect(documents).toEqual(setOf(parser, split));
    }
  });

  test("of invoices and CVs have at least 40 documents in 8 languages that nobody tunes on", () => {
    for (const parser of ["invoices", "cv"] as const) {
      const documents = setOf(parser, "test");
      expect(documents.length).toBeGreaterThanOrEqual(40);
      expect(new Set(documents.map(({ language }) => language)).size).toBeGreaterThanOrEqual(8);
    }
    expect(new Set(setOf("invoices", "test").map(({ layout }) => layout)).size).toBeGreaterThanOrEqual(10);
  });

  test("of identity documents have at least 20 with a machine-readable zone of every format, and some without", () => {
    const names = setOf("identity", "test").map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("mrz-")).length).toBeGreaterThanOrEqual(20);
    for (const format of ["TD1", "TD2", "TD3", "MRV-A", "MRV-B"]) expect(names.join()).toContain(`mrz-${format}-`);
    expect(names.filter((name) => name.startsWith("no-mrz-")).length).toBeGreaterThanOrEqual(10);
  });

  test("can be drawn where their font is installed", () => {
    const drawn = parsers.flatMap((parser) => splits.flatMap((split) => setOf(parser, split))).filter(canBeDrawn);
    // Western European texts need no font file.
    expect(drawn.length).toBeGreaterThan(100);
  });
});

function canBeDrawn({ pages }: LabelledDocument): boolean {
  try {
    return writePdf(pages).length > 1_000;
  } catch (error) {
    if (error instanceof MissingFontError) return false;
    throw error;
  }
}

describe("recognised text is scored", () => {
  test("by the words that were read and by the characters that are wrong", () => {
    expect(scoreText("the  quick fox", "the quick brown fox")).toEqual({ recall: 0.75, errorRate: 6 / 19 });
    expect(scoreText("„Ja“ – nein", '"Ja" - nein')).toEqual({ recall: 1, errorRate: 0 });
  });

  test("by the cells that are at their row and column", () => {
    const cell = (row_index: number, col_index: number, text: string) => ({ row_index, col_index, text });
    const found = [cell(0, 0, "Pier"), cell(0, 1, "Fare"), cell(1, 0, "3"), cell(1, 1, "12.4O")];
    expect(
      countCells(
        [found],
        [
          ["Pier", "Fare"],
          ["3", "12.40"],
        ],
      ),
    ).toBe(3);
    expect(countCells([], [["Pier"]])).toBe(0);
  });

  test("on sixty pages that nothing is tuned on", () => {
    const pages = pagesToTest().filter(({ language }) => language !== "ja" && language !== "zh");
    expect(pages.length).toBe(60);
    expect(new Set(pages.map(({ language }) => language)).size).toBeGreaterThanOrEqual(6);
    const tuned = new Set(pagesToTune().map(({ truth }) => truth));
    expect(pages.filter(({ truth }) => tuned.has(truth))).toEqual([]);
  });

  test("after a fault that keeps every pixel: four turns are the picture again", () => {
    const picture = { width: 3, height: 2, pixels: Uint8Array.from([1, 2, 3, 4, 5, 6]) };
    const turned = applyFaults(picture, [{ kind: "turned", degrees: 90 }], "seed");
    expect(turned).toEqual({ width: 2, height: 3, pixels: Uint8Array.from([4, 1, 5, 2, 6, 3]) });
    expect(applyFaults(turned, [{ kind: "turned", degrees: 270 }], "seed")).toEqual(picture);
  });
});

describe("a field is judged", () => {
  const verdictOf = (path: string, expected: string | number | null, answer: unknown) =>
    judge({ expected: { [path]: expected } }, answer)[0]?.verdict;

  test("as right without regard to separators of identifiers, case and spaces", () => {
    expect(verdictOf("bank.iban", "DE89 3704 0044", { bank: { iban: "DE8937040044" } })).toBe("right");
    expect(verdictOf("a.name", "Café  Müller", { a: { name: "CAFÉ MÜLLER" } })).toBe("right");
    expect(verdictOf("a.vat_number|tax_id", "12-3", { a: { vat_number: null, tax_id: "123" } })).toBe("right");
    expect(verdictOf("sex", "F||Female", { sex: "female" })).toBe("right");
    expect(verdictOf("a.total", 12.5, { a: { total: 12.5 } })).toBe("right");
  });

  test("as missing if it is null, and as wrong if it is another value", () => {
    expect(verdictOf("a.total", 12.5, { a: { total: null } })).toBe("missing");
    expect(verdictOf("a.total", 12.5, null)).toBe("missing");
    expect(verdictOf("a.total", 12.5, { a: { total: 12.6 } })).toBe("wrong");
    expect(verdictOf("a.total", 12.5, { a: { total: "12.5" } })).toBe("wrong");
  });

  test("as wrong if the document does not state it", () => {
    expect(verdictOf("a.due", null, { a: { due: null } })).toBe("right");
    expect(verdictOf("a.due", null, { a: { due: "2026-01-01" } })).toBe("wrong");
  });

  test("in lists by length, by place, or at any place", () => {
    const answer = { list: [{ name: "a" }, { name: "b" }] };
    expect(verdictOf("count:list", 2, answer)).toBe("right");
    expect(verdictOf("count:list", 3, answer)).toBe("missing");
    expect(verdictOf("count:list", 1, answer)).toBe("wrong");
    expect(verdictOf("list.1.name", "b", answer)).toBe("right");
    expect(verdictOf("any:list.*.name#1", "a", answer)).toBe("right");
    expect(verdictOf("any:list.*.name#1", "c", answer)).toBe("missing");
  });

  test("with wrong totals, currencies and signs counted on their own", () => {
    const document: LabelledDocument = {
      name: "credit note",
      language: "en",
      layout: "none",
      pages: [],
      expected: { "payment.total": -10, "payment.subtotal": -8, "local.currency_code": "EUR" },
    };
    const fields = judge(document, { payment: { total: 10, subtotal: -9 }, local: { currency_code: "USD" } });
    expect(countFields([{ look: "pdf", document, fields }])).toMatchObject({
      wrong: 3,
      wrongTotals: 1,
      wrongCurrencies: 1,
      wrongSigns: 1,
    });
  });
});

test("a date is written with the parts that its pattern names", () => {
  const months = ["January", "February", "March", "April", "May"];
  expect(fillDate("D MMMM YYYY", "2026-05-03", months)).toBe("3 May 2026");
  expect(fillDate("MMM D, YYYY", "2026-03-17", months)).toBe("Mar 17, 2026");
  expect(fillDate("DD.MM.YY", "2026-03-07", months)).toBe("07.03.26");
});
