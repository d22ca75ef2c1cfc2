// The values of invoices and receipts: forms of numbers, currencies, dates, and where each value is on the page.

import { describe, expect, test } from "bun:test";
import { findAmounts, findNumberStyle } from "../../src/engines/local/documents/amounts.ts";
import { findCurrency } from "../../src/engines/local/documents/currencies.ts";
import { findDates, resolveDate } from "../../src/engines/local/documents/values.ts";
import { measureGrowth } from "../support/cpu-time.ts";
import { readText } from "./financial/read-text.ts";

const point = { decimal: "." } as const;
const comma = { decimal: "," } as const;

function valuesOf(text: string, style: { decimal: "." | "," | null }): number[] {
  return findAmounts(text, style).map(({ value }) => value);
}

describe("amounts", () => {
  test("thousands are grouped as in every country", () => {
    expect(valuesOf("1,234.56", point)).toEqual([1234.56]);
    expect(valuesOf("1.234,56", comma)).toEqual([1234.56]);
    expect(valuesOf("1 234,56", comma)).toEqual([1234.56]);
    expect(valuesOf("1'234.56", point)).toEqual([1234.56]);
    expect(valuesOf("1’234’567.80", point)).toEqual([1234567.8]);
    expect(valuesOf("12,34,567.00", point)).toEqual([1234567]);
    expect(valuesOf("1.234", comma)).toEqual([1234]);
    expect(valuesOf("1,234", point)).toEqual([1234]);
    expect(valuesOf("1.234", { decimal: null })).toEqual([1234]);
  });

  test("a space separates a quantity from a price where the point is the decimal sign", () => {
    expect(valuesOf("2 500.00 each", point)).toEqual([2, 500]);
    expect(valuesOf("2 500.00", point)).toEqual([2500]);
  });

  test("a minus before or after, parentheses and CR make an amount negative", () => {
    for (const text of [
      "-5.00",
      "−5.00",
      "- 5.00",
      "5.00-",
      "(5.00)",
      "-$5.00",
      "$-5.00",
      "($5.00)",
      "5.00 CR",
      "▲5.00",
    ])
      expect([text, valuesOf(text, point)]).toEqual([text, [-5]]);
    expect(valuesOf("Total - 5.00", point)).toEqual([5]);
  });

  test("whole amounts with a dash for the decimals are positive", () => {
    expect(valuesOf("Fr. 100.-", point)).toEqual([100]);
    expect(valuesOf("250,- kr", comma)).toEqual([250]);
    expect(valuesOf("1'200.--", point)).toEqual([1200]);
  });

  test("percentages, dates, times, codes and units are not amounts", () => {
    for (const text of [
      "20 %",
      "8.875%",
      "12/05/2026",
      "12.05.2026",
      "12:30",
      "INV-2026",
      "A1.50",
      "2.4m",
      "100GB",
      "1.234.56",
    ])
      expect([text, valuesOf(text, point)]).toEqual([text, []]);
  });

  test("the currency is read before and after the figures", () => {
    expect(findAmounts("$1,200.00 CAD", point)).toMatchObject([{ value: 1200, marks: ["$", "CAD"] }]);
    expect(findAmounts("EUR 12,50", comma)).toMatchObject([{ value: 12.5, marks: ["EUR"] }]);
    expect(findAmounts("3.20 R", point)).toMatchObject([{ value: 3.2, marks: [] }]);
  });

  test("the decimal sign is that of the amounts with two decimals", () => {
    expect(findNumberStyle("1.234 of 12,50 and 3,00 on 12.05.2026").decimal).toBe(",");
    expect(findNumberStyle("12.50 and 1,234.00").decimal).toBe(".");
    expect(findNumberStyle("7 %").decimal).toBeNull();
  });
});

describe("currencies", () => {
  const unknown = { totalMarks: [], marks: [], text: "", country: null, language: null };

  test("a code beats a sign", () => {
    expect(findCurrency({ ...unknown, totalMarks: ["$", "CAD"], marks: ["$", "$", "$"] })).toEqual({
      mark: "$",
      code: "CAD",
    });
    expect(findCurrency({ ...unknown, totalMarks: ["$"], marks: ["$"], text: "All amounts in AUD" })?.code).toBe("AUD");
    expect(findCurrency({ ...unknown, totalMarks: ["$"], marks: ["$", "NZD"] })?.code).toBe("NZD");
  });

  test("a sign with several meanings is decided by the country or the language, or not at all", () => {
    for (const sign of ["$", "kr", "¥"])
      expect(findCurrency({ ...unknown, totalMarks: [sign] })).toEqual({ mark: sign, code: null });
    expect(findCurrency({ ...unknown, totalMarks: ["$"], country: "AU" })?.code).toBe("AUD");
    expect(findCurrency({ ...unknown, totalMarks: ["kr"], language: "no" })?.code).toBe("NOK");
    expect(findCurrency({ ...unknown, totalMarks: ["¥"], country: "CN" })?.code).toBe("CNY");
    // A German company that bills in dollars does not say which ones.
    expect(findCurrency({ ...unknown, totalMarks: ["$"], country: "DE" })?.code).toBeNull();
  });

  test("a document that contradicts itself has no currency", () => {
    expect(findCurrency({ ...unknown, totalMarks: ["EUR", "USD"] })).toBeNull();
    expect(findCurrency({ ...unknown, totalMarks: ["£"], text: "Currency: EUR" })?.code).toBeNull();
    expect(findCurrency({ ...unknown, totalMarks: ["€", "£"] })?.code).toBeNull();
  });

  test("a note about another currency does not count", async () => {
    const document = await readText(
      "Fuchs GmbH\nRechnung Nr. 7\nNetto 100,00 €\nMwSt 19% 19,00 €\nGesamtbetrag 119,00 €\nKurs: 1 EUR = 1,08 USD",
    );
    expect(document.local.currency_code).toBe("EUR");
  });
});

describe("dates", () => {
  const read = (text: string, order: "day" | "month" | "year" | null = null) => {
    const [date] = findDates(text);
    return date === undefined ? null : resolveDate(date, order);
  };

  test("a date with two readings is null unless the order is known", () => {
    expect(read("03/04/2025")).toBeNull();
    expect(read("03/04/2025", "day")).toBe("2025-04-03");
    expect(read("03/04/2025", "month")).toBe("2025-03-04");
    expect(read("13/04/2025")).toBe("2025-04-13");
    expect(read("04/13/2025")).toBe("2025-04-13");
    expect(read("04/04/2025")).toBe("2025-04-04");
    expect(read("03.04.2025")).toBe("2025-04-03");
    expect(read("2025/04/03")).toBe("2025-04-03");
    expect(read("25/04/03", "year")).toBe("2025-04-03");
  });

  test("the names of months of many languages", () => {
    for (const text of [
      "3 April 2025",
      "April 3, 2025",
      "3. April 2025",
      "3 avril 2025",
      "3 de abril de 2025",
      "3 aprile 2025",
      "3 kwietnia 2025",
      "3. dubna 2025",
      "3. huhtikuuta 2025",
      "3 Nisan 2025",
      "3-Apr-25",
      "2025年4月3日",
      "令和7年4月3日",
    ])
      expect([text, read(text)]).toEqual([text, "2025-04-03"]);
    expect(findDates("31 February 2025")).toEqual([]);
  });

  test("another date of the document shows the order", async () => {
    const document = await readText("Shop\nInvoice no: 1\nInvoice date: 03/04/2025\nDue date: 17/04/2025\nTotal $5.00");
    expect(document.financial_document_information).toMatchObject({
      invoice_date: "2025-04-03",
      invoice_due_date: "2025-04-17",
    });
  });

  test("the terms of payment show the order", async () => {
    const document = await readText(
      "Shop\nInvoice no: 1\nInvoice date: 03/04/2025\nDue date: 05/04/2025\nTerms: Net 61\nTotal $5.00",
    );
    expect(document.financial_document_information).toMatchObject({
      invoice_date: "2025-03-04",
      invoice_due_date: "2025-05-04",
    });
  });
});

describe("proof", () => {
  test("an unknown charge between subtotal and total is taken into account", async () => {
    const document = await readText(
      "Shop Ltd\nInvoice no: 1\nSubtotal  £100.00\nCrane hire levy  £5.00\nVAT 20%  £21.00\nTotal  £126.00",
    );
    expect(document.payment_information).toMatchObject({ subtotal: 100, total_tax: 21, total: 126 });
  });

  test("a total without the tax that is added to the subtotal is null", async () => {
    const document = await readText("Shop Ltd\nInvoice no: 1\nSubtotal  £100.00\nVAT 20%  £20.00\nTotal  £100.00");
    expect(document.payment_information).toMatchObject({ total_tax: 20, total: null });
  });

  test("an amount due after an unexplained payment, or a vague label, is not the total", async () => {
    const due = await readText("Shop Ltd\nInvoice no: 1\nDeposit paid  £100.00\nBalance due  £400.00");
    expect(due.payment_information).toMatchObject({ total: null, amount_due: 400, amount_paid: 100 });
    const vague = await readText("Shop Ltd\nInvoice no: 1\nAmount  £400.00");
    expect(vague.payment_information.total).toBeNull();
  });

  test("several totals of which none is proven are null", async () => {
    const document = await readText("Shop Ltd\nInvoice no: 1\nTotal  £100.00\nTotal  £126.00");
    expect(document.payment_information.total).toBeNull();
    expect(document.report.reasons.total).toBe("Several totals are printed: 126, 100.");
  });

  test("a quantity and a price that do not multiply to the amount are null", async () => {
    const document = await readText(
      "Shop Ltd\nInvoice no: 1\nDescription    Qty   Unit price   Amount\nBolts          7     2.00         15.00\nNuts           2     3.00         6.00\nTotal                            £21.00",
    );
    expect(document.item_lines).toMatchObject([
      { quantity: null, unit_price: null, amount_line: 15 },
      { quantity: 2, unit_price: 3, amount_line: 6 },
    ]);
  });

  test("an unproven total has a lower confidence than a proven one", async () => {
    const confidenceOf = async (text: string) =>
      (await readText(text)).report.fields["payment_information.total"]?.confidence ?? 0;
    const proven = await confidenceOf("Shop\nSubtotal  £10.00\nVAT 20%  £2.00\nTotal  £12.00");
    expect(proven).toBeGreaterThan(await confidenceOf("Shop\nTotal  £12.00"));
  });
});

describe("receipts", () => {
  test("the sums in a table of taxes are not totals of their own", async () => {
    const { payment_information: found } = await readText(
      [
        "SEIFE           2,49 A",
        "MILCH           2,98 B",
        "SUMME   EUR     5,47",
        "Geg. BAR EUR    10,00",
        "Rückgeld BAR EUR 4,53",
        "Steuer %    Netto   Steuer   Brutto",
        "A= 19,0%    2,09    0,40     2,49",
        "B=  7,0%    2,79    0,19     2,98",
        "Gesamtbetrag 4,88   0,59     5,47",
      ].join("\n"),
    );
    expect(found).toMatchObject({ subtotal: 4.88, total_tax: 0.59, total: 5.47, amount_paid: 10, amount_change: 4.53 });
  });

  test("a tax that the total includes and a local charge are not added", async () => {
    const document = await readText(
      "Hotel\nInvoice 7\nRoom    450.00\nCity tax  9.00\nTotal EUR  459.00\nincl. VAT 7%  29.44",
    );
    expect(document.payment_information).toMatchObject({ total_tax: 29.44, tax_rate: 7, total: 459 });
  });

  test("a quantity and a price below the name of the item", async () => {
    const document = await readText(
      "SHOP\nReceipt 77\nPrinted banner\n  12 x 92.00     1,104.00\nLunch            5.00\nTOTAL GBP        1,109.00",
    );
    expect(document.item_lines).toMatchObject([
      { description: "Printed banner", quantity: 12, unit_price: 92, amount_line: 1104 },
      { description: "Lunch", amount_line: 5 },
    ]);
  });

  test("company numbers are not items", async () => {
    const document = await readText("Outback Tools\nABN 51 824 753 556\nDrill   $110.00\nTotal   $110.00");
    expect(document.item_lines).toMatchObject([{ description: "Drill" }]);
  });
});

describe("layouts", () => {
  test("a column of rates, a unit price under the head Unit, and an amount without a figure before the point", async () => {
    const receipt = await readText(
      "ICA\nTotalt SEK  50,40\nMoms%   Moms    Netto   Brutto\n12,00   5,40    45,00   50,40",
    );
    expect(receipt.payment_information).toMatchObject({ subtotal: 45, total_tax: 5.4, tax_rate: 12, total: 50.4 });
    const invoice = await readText(
      "Dock LLC\nInvoice # 7\nDESCRIPTION     QTY   UNIT     EXT\nPallets         12    35.00    420.00\nSub-total   420.00\nTax   .00\nTOTAL  $420.00",
    );
    expect(invoice.item_lines).toMatchObject([{ quantity: 12, unit_price: 35, unit_type: null, amount_line: 420 }]);
    expect(invoice.payment_information).toMatchObject({ subtotal: 420, total_tax: 0, total: 420 });
  });

  test("whole amounts grouped by spaces", async () => {
    const document = await readText(
      "Nordljus AB\nFaktura nr 5\nNetto  10 000 kr\nMoms 25 %  2 500 kr\nAtt betala 12 500 kr",
    );
    expect(document.payment_information).toMatchObject({ subtotal: 10_000, total_tax: 2500, total: 12_500 });
  });

  test("heads that are not known are what their position says", async () => {
    const document = await readText(
      "Shop Ltd\nInvoice no: 1\nVerrichting          Qty   Unit price   Zeilenwert\nOak chair, oiled     2     50.00        100.00\nElm bench            3     20.00        60.00\nTotal  £160.00",
    );
    expect(document.item_lines).toMatchObject([
      { description: "Oak chair, oiled", quantity: 2, unit_price: 50, amount_line: 100 },
      { description: "Elm bench", quantity: 3, unit_price: 20, amount_line: 60 },
    ]);
  });

  test("text beside the item table does not join it", async () => {
    const document = await readText(
      [
        "Invoice no: 8            Prairie Wind Electric LLC",
        "                         Item            Quantity    Rate     Amount",
        "Bill To                  Panel upgrade   3           10.00    30.00",
        "Redwood Outdoor Co.      Permit          1           5.00     5.00",
        "1550 Mission Road        Website         2           2.50     5.00",
        "Sacramento, CA 95814",
        "                         Total                       $40.00",
      ].join("\n"),
    );
    expect(document.item_lines.map(({ description }) => description)).toEqual(["Panel upgrade", "Permit", "Website"]);
    expect(document.customer_information).toMatchObject({ name: "Redwood Outdoor Co.", city: "Sacramento" });
  });

  test("the number of another invoice is not that of a credit note", async () => {
    const document = await readText(
      "Gärtnerei\nGutschrift R142479\nUrsprüngliche Rechnung: 66-6807\nGesamtbetrag  -5,00 €",
    );
    expect(document.financial_document_information.invoice_receipt_id).toBe("R142479");
  });

  test("an amount in another currency in parentheses is not the total", async () => {
    const document = await readText(
      "Lux SA\nFACTURE N° 9\nTotal HT 100,00 EUR\nTVA 17% 17,00 EUR\nTotal TTC EUR 117,00 (USD 126,36)",
    );
    expect(document.payment_information.total).toBe(117);
    expect(document.local.currency_code).toBe("EUR");
  });
});

describe("places", () => {
  test("every amount, number and date has its page and box", async () => {
    const first = "Fox Ltd\nInvoice no: A-1\nDate: 1 March 2025";
    const document = await readText(first, "Fox Ltd\nSubtotal   £100.00\nVAT 20%   £20.00\nTotal    £120.00");
    const { fields } = document.report;
    expect(fields["payment_information.total"]).toMatchObject({ page: 2, text: "£120.00" });
    expect(fields["financial_document_information.invoice_receipt_id"]).toMatchObject({ page: 1, text: "A-1" });
    expect(fields["financial_document_information.invoice_date"]).toMatchObject({ page: 1, text: "1 March 2025" });
    expect(fields["merchant_information.name"]).toMatchObject({ page: 1, text: "Fox Ltd" });
    const { box } = fields["payment_information.total"] ?? { box: { left: 0, top: 0, width: 0, height: 0 } };
    expect(box.top).toBeCloseTo(0.75, 2);
    expect(box.left).toBeCloseTo(9 / 80, 2);
  });
});

describe("hostile pages", () => {
  const lines = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index)).join("\n");

  test("thousands of amounts take linear time", async () => {
    const texts = [
      (count: number) => lines(count, (index) => `Total  ${index}.50`),
      (count: number) => lines(count, (index) => `VAT ${index % 30}%  ${index}.10   Discount  ${index}.20`),
      (count: number) =>
        `Description  Qty  Price  Amount\n${lines(count, (index) => `Thing ${index}   1   2.00   2.00`)}`,
      (count: number) => lines(count, (index) => `Invoice no: ${index} Date: 03/04/2025 Bill to: Nobody ${index}`),
      (count: number) => `1${",111".repeat(count * 5)} ${"9".repeat(count * 5)}`,
      (count: number) => `Total ${"1 ".repeat(count * 5)}`,
      (count: number) => "Subtotal Tax Total ".repeat(count),
    ];
    for (const text of texts) {
      const prepare = (count: number) => () => readText(text(count));
      await prepare(100)();
      // Quadratic work takes 16 times as long for 4 times the text.
      const growth = await measureGrowth({ prepare, length: 500, factor: 4, most: 10, negligibleMs: 300 });
      expect(growth).toBeLessThanOrEqual(10);
    }
  });
});
