// The labelled amounts of invoices and receipts: what a label says, and which amount it belongs to. The texts are invented.

import { describe, expect, test } from "bun:test";
import { type AmountLine, findAmountLines, readAmountLabel } from "../../src/engines/local/documents/amount-lines.ts";
import { joinPages } from "../../src/engines/local/documents/document-text.ts";
import { readPages } from "./financial/read-text.ts";

describe("labels", () => {
  test.each([
    ["Total", "total"],
    ["Subtotal", "subtotal"],
    ["Discount", "discount"],
    ["Total due", "due"],
    ["Total of your bill due", "due"],
    ["Total 5 due", "total"],
    ["Total due incl. VAT", "due"],
    ["Amount due excl. VAT", "subtotal"],
    ["Total excl. VAT", "subtotal"],
    ["Total incl. VAT", "total"],
    ["Total EUR incl. VAT", "total"],
    ["Total VAT", "tax"],
    ["Total for this month and also VAT", "tax"],
    ["Celkem s DPH", "total"],
    ["Razem z VAT", "total"],
    ["Razem z tego VAT", "tax"],
    ["plus VAT", "tax"],
    ["A VAT", "tax"],
    ["a b c d e f VAT", "tax"],
    ["Gesamtbetrag inkl. 19 % MwSt", "total"],
    // Numbers of a business, and text without a label.
    ["VAT no 123", null],
    ["Total no 5", "total"],
    ["a b c d e f g VAT", null],
    ["Hello VAT", null],
    ["12 chairs", null],
    ["1 2 3 % VAT", null],
    ["Hello", null],
    ["", null],
  ])("%s is the label of a %s", (text, kind) => {
    expect(readAmountLabel(text)?.kind ?? null).toBe(kind as AmountLine["kind"] | null);
  });

  test.each([
    ["VAT 20%", 20],
    ["20% VAT", 20],
    ["8.875 % sales tax", 8.875],
    ["A 19% MwSt", 19],
    ["KDV %20", 20],
    ["KDV (%18,5)", 18.5],
    ["VAT", null],
    ["100% VAT", null],
  ])("%s has the rate %p", (text, rate) => {
    expect(readAmountLabel(text)).toMatchObject({ kind: "tax", rate });
  });

  test.each([
    ["incl. 19 % MwSt", true],
    ["inkl. MwSt 19 %", true],
    ["VAT included", true],
    ["Total includes GST", true],
    ["VAT not included", false],
    ["VAT incl.", true],
    ["VAT excluded", false],
    ["dont TVA 20 %", true],
    ["di cui IVA", true],
    ["VAT 20%", false],
  ])("%s: the total includes the tax: %p", (text, isIncluded) => {
    expect(readAmountLabel(text)).toMatchObject({ kind: "tax", isIncluded });
  });

  test.each([
    ["Total VAT", true],
    ["VAT total", true],
    ["Total of VAT", true],
    ["Summe MwSt", true],
    ["VAT 20%", false],
    ["Amount", false],
  ])("%s is a sum of others: %p", (text, isSum) => {
    expect(readAmountLabel(text)?.isSum).toBe(isSum);
  });

  test("a label of several words is more specific than one word, and some words are vague unless others follow", () => {
    const texts = ["Amount", "Total", "Amount incl. VAT", "20% VAT", "Grand total", "Balance due", "Due"];
    expect(texts.map((text) => readAmountLabel(text)?.weight)).toEqual([1, 2, 2, 2, 3, 3, 3]);
  });
});

async function findIn(text: string) {
  const pages = await readPages([text]);
  return findAmountLines(joinPages(pages.map((page, index) => ({ page, index }))), { decimal: "." });
}

/** Each line as "kind value", with what else is known of it. */
async function linesIn(text: string): Promise<string[]> {
  const { lines } = await findIn(text);
  return lines.map(({ kind, value, rate, base, isIncluded, isSum, marks, words }) => {
    const printed = words.map((word) => word.text).join(" ");
    const details = [
      rate === null ? "" : ` at ${rate} %`,
      base === null ? "" : ` of ${base}`,
      isIncluded ? ", included" : "",
      isSum ? ", sum" : "",
      ...marks.map((mark) => `, ${mark}`),
      Number(printed.replace(/[^\d.]/g, "")) === value ? "" : `, printed as ${printed}`,
    ];
    return `${kind} ${value}${details.join("")}`;
  });
}

describe("amounts beside their labels", () => {
  test.each([
    ["Net 100.00 VAT 20.00 Total 120.00", ["subtotal 100", "tax 20", "total 120, sum"]],
    ["Total   100.00   20.00   120.00", ["total 120, sum", "subtotal 100, sum", "tax 20, sum"]],
    ["Total   100.00   20.00", ["total 20, sum", "subtotal 100, sum", "tax 20, sum", "total 100"]],
    ["Total  1.00 2.00 3.00 4.00", ["total 4, sum"]],
    ["Subtotal  1.00 2.00 3.00", ["subtotal 3"]],
    ["VAT 20%   100.00   20.00   120.00", ["tax 20 at 20 % of 120"]],
    ["VAT 20%   20.00   100.00", ["tax 20 at 20 % of 100"]],
    ["VAT 20%   20.00   120.00", ["tax 20 at 20 % of 120"]],
    ["VAT 20%   1.00   100.00", ["tax 100 at 20 % of 1"]],
    ["VAT 0%   100.00   0.00", ["tax 0 at 0 % of 100"]],
    ["VAT  100.00  20.00", ["tax 20 of 100"]],
    ["Total EUR  100.00", ["total 100, sum, EUR"]],
    ["Paid  USD 108.00   EUR 100.00", ["paid 108, USD"]],
    ["Paid  EUR 108.00   EUR 100.00", ["paid 100, EUR"]],
    ["Incl. VAT  20.00", ["tax 20, included"]],
    ["Paid  108.00   EUR 100.00", ["paid 100, EUR"]],
    // Terms of payment and dates are not amounts.
    ["Net 30", []],
    ["Due 4", []],
    ["Total 30", ["total 30, sum"]],
    ["Carried forward  7.00", []],
  ])("%s", async (text, lines) => {
    expect(await linesIn(text)).toEqual(lines);
  });

  test("a whole amount is less certain to be the total than one with cents", async () => {
    const weightIn = async (text: string) => (await findIn(text)).lines[0]?.weight ?? 0;
    expect(await weightIn("Total 30")).toBeLessThan(await weightIn("Total 30.00"));
  });
});

describe("amounts below their labels", () => {
  const rates = "Rate   Net     VAT     Total\n7%     100.00  7.00    107.00\n19%    200.00  38.00   238.00";

  test.each([
    ["in a row", "Net     VAT     Total\n100.00  20.00   120.00", ["subtotal 100", "tax 20 of 100", "total 120"]],
    ["alone, and nothing below the first", "Total\n120.00\n5.00", ["total 120, sum"]],
    [
      "with a row for each rate, whose net amounts are summed up",
      rates,
      ["tax 7 at 7 % of 100", "tax 38 at 19 % of 200", "subtotal 300, sum, printed as 100.00 200.00"],
    ],
    [
      "with a row for each rate, and one for the sums",
      `${rates}\nTotal  300.00  45.00   345.00`,
      ["tax 7 at 7 % of 100", "tax 38 at 19 % of 200", "subtotal 300, sum", "tax 45 of 300, sum", "total 345, sum"],
    ],
    ["incl. VAT, which is the gross amount", "Net     Incl. VAT\n100.00  120.00", ["subtotal 100", "total 120"]],
    ["incl. VAT alone, which is the tax", "Incl. VAT\n20.00", ["tax 20"]],
    ["close together", "Net    VAT\n100.00 20.00", ["subtotal 100", "tax 20 of 100"]],
    ["in a row of sums", "        Net     VAT\nTotal   100.00  20.00", ["subtotal 100, sum", "tax 20 of 100, sum"]],
    ["not if another label of the row has its amount beside it", "VAT 20.00     Total\n100.00", ["tax 20"]],
    ["with a column of rates", "VAT %   VAT     Net\n12.00   5.40    45.00", ["tax 5.4 at 12 % of 45", "subtotal 45"]],
    [
      "until a row with a label of its own",
      "Net     VAT     Total\n100.00  20.00   120.00\nPaid   120.00",
      ["subtotal 100", "tax 20 of 100", "total 120", "paid 120"],
    ],
    [
      "until a row without amounts",
      "Net     VAT     Total\nThank you\nSubtotal  5.00\n100.00  20.00   120.00",
      ["subtotal 5"],
    ],
    ["not far beside the label", `Total\n${" ".repeat(60)}5.00`, []],
  ])("%s", async (_, text, lines) => {
    expect(await linesIn(text)).toEqual(lines);
  });
});

test("the labels tell the language unless several languages have them", async () => {
  const { languages } = await findIn("Gesamtbetrag  5.00\nTotal  5.00");
  expect(languages).toEqual(["de"]);
});
