// The items of an invoice, by the head of their table. The texts are invented.

import { describe, expect, test } from "bun:test";
import { joinPages } from "../../src/engines/local/documents/document-text.ts";
import { readItems } from "../../src/engines/local/documents/line-items.ts";
import type { Page } from "../../src/engines/local/documents/page.ts";
import { layOut } from "../support/layout.ts";
import { readPages } from "./financial/read-text.ts";

const head = "Description    Qty   Unit price   Amount";
const chair = "Chair          2     50.00        100.00";
const table = "Table          1     80.00        80.00";

/** Each item as "description: quantity × price = amount", with what else is known of it. */
function itemsOn(pages: readonly Page[], decimal: "." | "," = "."): string[] {
  const { items } = readItems(joinPages(pages.map((page, index) => ({ page, index }))), { decimal });
  return items.map(
    ({ description, quantity, unit_price: price, amount_line: amount, words: _, contradicts, ...rest }) => {
      const others = Object.entries(rest).flatMap(([name, value]) => (value === null ? [] : [`, ${name} ${value}`]));
      return `${description}: ${quantity} × ${price} = ${amount}${others.join("")}${contradicts ? ", contradicts" : ""}`;
    },
  );
}

async function itemsIn(lines: readonly string[], decimal?: "." | ","): Promise<string[]> {
  return itemsOn(await readPages([lines.join("\n")]), decimal);
}

describe("columns", () => {
  test.each([
    ["all of them", [head, chair, table], ["Chair: 2 × 50 = 100", "Table: 1 × 80 = 80"]],
    [
      "an amount alone",
      ["Description    Amount", "Chair          100.00", "Total          100.00"],
      ["Chair: null × null = 100"],
    ],
    [
      "no amount, which is then the product; without a quantity it is the price",
      ["Description    Qty   Unit price", "Chair          2     50.00", "Table                80.00"],
      ["Chair: 2 × 50 = 100", "Table: null × 80 = 80"],
    ],
    [
      "a discount in percent or as an amount",
      [
        "Description    Qty   Unit price   Discount   Amount",
        "Chair          2     50.00        10%        90.00",
        "Table          1     80.00        5.00       75.00",
      ],
      ["Chair: 2 × 50 = 90, discount_rate 10", "Table: 1 × 80 = 75, discount_amount 5"],
    ],
    [
      "a rate of tax, with or without the sign, and amounts with or without the tax",
      [
        "Description    Qty   Unit price   VAT    Amount",
        "Chair          2     50.00        20%    100.00",
        "Table          1     80.00        20     96.00",
      ],
      ["Chair: 2 × 50 = 100, tax_rate 20", "Table: 1 × 80 = 96, tax_rate 20"],
    ],
    [
      "an amount of tax, which is no usual rate",
      ["Description    Qty   Unit price   VAT    Amount", "Chair          2     50.00        20.17  100.00"],
      ["Chair: 2 × 50 = 100, tax 20.17"],
    ],
    [
      "a code and a unit",
      [
        "Code   Description    Qty   Unit   Unit price   Amount",
        "A-1    Chair          2     pcs    50.00        100.00",
      ],
      ["Chair: 2 × 50 = 100, product_code A-1, unit_type pcs"],
    ],
    [
      "a net and a gross amount, of which the product is reported",
      ["Description    Qty   Unit price   Amount   Total", "Chair          2     50.00        100.00   120.00"],
      ["Chair: 2 × 50 = 100"],
    ],
    [
      "a gross amount alone",
      ["Description    Qty   Price   Gross", "Chair          2     50.00   100.00"],
      ["Chair: 2 × 50 = 100"],
    ],
    [
      "a head of two rows",
      [
        "Description    Qty   Unit     Amount",
        "                     price    in EUR",
        "Chair          2     50.00    100.00",
      ],
      ["Chair: 2 × 50 = 100"],
    ],
    [
      "heads that are not known: the widest describes the item, and the last is the amount",
      [
        "Lot    Verrichting          Qty   Unit price   VAT    Zeilenwert",
        "A7     Oak chair, oiled     2     50.00        20%    100.00",
      ],
      ["Oak chair, oiled: 2 × 50 = 100, tax_rate 20"],
    ],
  ])("%s", async (_, lines, items) => {
    expect(await itemsIn(lines)).toEqual(items);
  });

  test("a row without a description column or an amount column is not a table head", async () => {
    expect(await itemsIn(["Qty   Price   Zeilenwert", "2     50.00   100.00"])).toEqual([]);
    expect(await itemsIn(["Item           Qty", "Chair          2"])).toEqual([]);
  });
});

describe("quantity and price", () => {
  test.each([
    [
      "that do not multiply to the amount",
      "Chair          2     50.00        90.00",
      "Chair: null × null = 90, contradicts",
    ],
    ["of a credit note", "Chair          -2    50.00        -100.00", "Chair: -2 × 50 = -100"],
    ["of which only one figure has the minus", "Chair          1     -80.00       80.00", "Chair: 1 × -80 = 80"],
    ["for a hundred pieces", "Nails          250   4.00         10.00", "Nails: 250 × 4 = 10"],
    ["for a thousand pieces", "Bolts          3000  5.00         15.00", "Bolts: 3000 × 5 = 15"],
    ["with the other decimal sign", "Chair          2,5   40.00        100.00", "Chair: 2.5 × 40 = 100"],
    ["of a price that is rounded to a cent", "Nuts           300   0.33         100.00", "Nuts: 300 × 0.33 = 100"],
    ["that is not printed", "Chair                50.00        100.00", "Chair: null × 50 = 100"],
  ])("%s", async (_, row, item) => {
    expect(await itemsIn([head, row])).toEqual([item]);
  });

  test("below the item, where they multiply to its amount", async () => {
    const lines = ["Description    Amount", "Chair          100.00", "2 × 50.00", "Table          80.00", "3 × 50.00"];
    expect(await itemsIn(lines)).toEqual(["Chair: 2 × 50 = 100", "Table 3 × 50.00: null × null = 80"]);
  });
});

describe("rows", () => {
  test.each([
    [
      "text below an item continues it",
      [head, chair, "with arms", table],
      ["Chair with arms: 2 × 50 = 100", "Table: 1 × 80 = 80"],
    ],
    [
      "text above the first item begins it",
      [head, "Furniture", "of oak", chair],
      ["Furniture of oak Chair: 2 × 50 = 100"],
    ],
    ["a sum ends the table", [head, chair, "Subtotal  100.00", table], ["Chair: 2 × 50 = 100"]],
    ["a note ends the table", [head, chair, "Thank you for the order", table], ["Chair: 2 × 50 = 100"]],
    [
      "the sum of a page does not",
      [head, chair, "Carried forward                   100.00", table],
      ["Chair: 2 × 50 = 100", "Table: 1 × 80 = 80"],
    ],
    [
      "an item may begin like a charge if it has a quantity and a price",
      [head, "Delivery       2     50.00        100.00", "Delivery                          20.00"],
      ["Delivery: 2 × 50 = 100"],
    ],
  ])("%s", async (_, lines, items) => {
    expect(await itemsIn(lines)).toEqual(items);
  });

  test("on the next page continue the table, with and without a head of their own", async () => {
    const pages = await readPages([
      `${head}\n${chair}`,
      `Shop Ltd\n${table}`,
      `Shop Ltd\n${head}\n${chair}\nTotal  280.00\n${table}`,
    ]);
    expect(itemsOn(pages)).toEqual(["Chair: 2 × 50 = 100", "Table: 1 × 80 = 80", "Chair: 2 × 50 = 100"]);
  });

  test("far below the others do not belong to the table, unless they are complete", () => {
    const xs = [40, 240, 340, 460];
    const row = (y: number, ...texts: readonly string[]) =>
      texts.map((text, index) => ({ x: xs[index] ?? 0, y, text }));
    const start = [
      ...row(100, "Description", "Qty", "Unit price", "Amount"),
      ...row(120, "Chair", "2", "50.00", "100.00"),
    ];
    expect(itemsOn([layOut([...start, ...row(240, "Ends here")])])).toEqual(["Chair: 2 × 50 = 100"]);
    expect(itemsOn([layOut([...start, ...row(140, "with arms")])])).toEqual(["Chair with arms: 2 × 50 = 100"]);
    const complete = row(240, "Table", "1", "80.00", "80.00");
    expect(itemsOn([layOut([...start, ...complete])])).toEqual(["Chair: 2 × 50 = 100", "Table: 1 × 80 = 80"]);
  });
});
