// Which of the labelled amounts of an invoice or receipt are reported, by whether they add up. The amounts are invented.

import { describe, expect, test } from "bun:test";
import type { AmountLine } from "../../src/engines/local/documents/amount-lines.ts";
import { reconcile } from "../../src/engines/local/documents/reconcile.ts";

/** What a word after an amount says about its line. A label is neither vague nor specific unless one of them says so. */
const details: Readonly<Record<string, Partial<AmountLine>>> = {
  bare: { weight: 0 },
  vague: { weight: 1 },
  specific: { weight: 3 },
  included: { isIncluded: true },
  sum: { isSum: true },
};

/**
 * Amounts that are printed below each other, such as "subtotal 100, tax 19 19% included, total 119". "items 100" is the sum of the items, and
 * "unlabelled 5" is an amount whose label is not known.
 */
function reconcileText(text: string, currency: string | null = null) {
  const printed = text.split(", ").map((entry, row) => {
    const [kind = "", value, ...words] = entry.split(" ");
    const rate = words.find((word) => word.endsWith("%"));
    const line: AmountLine = {
      kind: (kind === "unlabelled" ? "fee" : kind) as AmountLine["kind"],
      value: Number(value),
      words: [],
      row,
      weight: 2,
      rate: rate === undefined ? null : Number.parseFloat(rate),
      base: null,
      isIncluded: false,
      isSum: false,
      marks: [],
    };
    return { kind, line: Object.assign(line, ...words.map((word) => details[word] ?? {})) as AmountLine };
  });
  return reconcile({
    lines: printed.flatMap(({ kind, line }) => (kind === "items" || kind === "unlabelled" ? [] : [line])),
    unlabelled: printed.flatMap(({ kind, line }) => (kind === "unlabelled" ? [line] : [])),
    itemSum: printed.find(({ kind }) => kind === "items")?.line.value ?? null,
    currency,
  });
}

/** The reported amounts in the same form, by name. */
function amountsIn(text: string, currency?: string): string {
  const found = Object.entries(reconcileText(text, currency).amounts);
  return found
    .flatMap(([name, amount]) => (amount === null ? [] : [`${name} ${amount.value}`]))
    .sort()
    .join(", ");
}

describe("amounts that add up", () => {
  test.each([
    [
      "a subtotal, a tax, a charge and a discount",
      "subtotal 100, tax 19, shipping 6, discount 5, total 120",
      "amount_shipping 6, discount 5, subtotal 100, total 120, total_tax 19",
    ],
    ["a discount with a minus", "subtotal 100, discount -5, total 95", "discount 5, subtotal 100, total 95"],
    [
      "a tax that the customer withholds",
      "subtotal 100, tax 22, withholding 20, total 102",
      "subtotal 100, total 102, total_tax 22",
    ],
    [
      "a credit note, on which a discount reduces what is returned",
      "subtotal -100, tax -19, discount 5, total -114",
      "discount -5, subtotal -100, total -114, total_tax -19",
    ],
    [
      "several charges of one kind, which are reported as their sum",
      "subtotal 100, shipping 3, shipping 4, service 10, total 117",
      "amount_shipping 7, service_charge 10, subtotal 100, total 117",
    ],
    [
      "a charge that the sum leaves out, which is reported nevertheless",
      "subtotal 100, shipping 3, total 100",
      "amount_shipping 3, subtotal 100, total 100",
    ],
    ["a total above the subtotal", "total 120, subtotal 100, tax 20", "subtotal 100, total 120, total_tax 20"],
    [
      "a total, a tip, and the total with the tip, which makes no subtotal of the first",
      "total 50, tip 5, total 55",
      "amount_tip 5, total 55",
    ],
    [
      "a subtotal that includes the tax, as on receipts",
      "subtotal 10, tax 1.6, total 10",
      "subtotal 10, total 10, total_tax 1.6",
    ],
    [
      "a subtotal that includes the tax, beside an amount due",
      "subtotal 10, tax 1.6, total 10, due 4",
      "amount_due 4, subtotal 10, total 10, total_tax 1.6",
    ],
    [
      "a subtotal that includes the tax, which its rate shows",
      "subtotal 119, tax 19 19%, total 119",
      "subtotal 119, total 119, total_tax 19",
    ],
    [
      "a subtotal that includes a tax of 1 % without saying so",
      "subtotal 1000, tax 10, total 1000",
      "subtotal 1000, total 1000, total_tax 10",
    ],
    [
      "a subtotal that includes a tax of 1 %",
      "subtotal 1000, tax 10 included, total 1000",
      "subtotal 1000, total 1000, total_tax 10",
    ],
    [
      "a tax with a rate that the label calls included",
      "subtotal 100, tax 20 20% included, total 100",
      "subtotal 100, total 100, total_tax 20",
    ],
    [
      "the taxes of two rates",
      "subtotal 100, tax 3.5 7%, tax 9.5 19%, total 113",
      "subtotal 100, total 113, total_tax 13",
    ],
    [
      "an amount due and a payment, if no total is printed",
      "subtotal 500, paid 100, due 400",
      "amount_due 400, amount_paid 100, subtotal 500, total 500",
    ],
    [
      "a charge with an unknown label between the subtotal and the total",
      "subtotal 100, unlabelled 50, total 150",
      "subtotal 100, total 150",
    ],
    [
      "a total with an unknown label below the subtotal and the tax",
      "subtotal 100, tax 20, unlabelled 120",
      "subtotal 100, total 120, total_tax 20",
    ],
    [
      "a net amount that is called total, with the tax and an unknown label below",
      "total 100, tax 20, unlabelled 120",
      "subtotal 100, total 120, total_tax 20",
    ],
    [
      "a net amount whose label says little, with the tax and an unknown label below",
      "total 100 bare, tax 20, unlabelled 120",
      "subtotal 100, total 120, total_tax 20",
    ],
    [
      "two totals, of which the one with the more specific label is reported",
      "subtotal 100, tip 10, total 100 specific, total 110",
      "amount_tip 10, subtotal 100, total 100",
    ],
    [
      "two totals, of which the one that was paid is reported",
      "subtotal 100, tip 10, total 100 specific, total 110 vague, paid 110",
      "amount_paid 110, amount_tip 10, subtotal 100, total 110",
    ],
  ])("%s", (_, printed, reported) => {
    expect(amountsIn(printed)).toBe(reported);
    expect(reconcileText(printed).reasons).toEqual({});
  });

  test.each([
    ["35 %", "subtotal 10, tax 3.5, total 10", "subtotal 10, total 10, total_tax 3.5"],
    ["36 %", "subtotal 10, tax 3.6, total 10", "subtotal 10, total 10"],
    ["less than nothing", "subtotal 10, tax -1, total 10", "subtotal 10, total 10"],
    ["nothing", "subtotal 10, tax 0, total 10", "subtotal 10, total 10, total_tax 0"],
    ["nothing, of a total of nothing", "tax 0, total 0", "total 0, total_tax 0"],
    ["an amount, of a total of nothing", "tax 2, total 0", "total 0"],
  ])("an included tax is reported only if it is plausible: %s", (_, printed, reported) => {
    expect(amountsIn(printed)).toBe(reported);
  });
});

describe("amounts that do not add up", () => {
  const sum = (parts: string, total: number) => `The ${parts} not add up to the total ${total}.`;
  const both = (tax: number, total: number) => sum(`subtotal 100 and the tax ${tax} do`, total);

  test.each<[title: string, printed: string, reported: string, reasons: Record<string, string>]>([
    [
      "an unknown charge above the subtotal or below the total explains nothing",
      "unlabelled 50, subtotal 100, tax 7, total 157, unlabelled 50",
      "",
      { subtotal: both(7, 157), total: both(7, 157), total_tax: both(7, 157) },
    ],
    [
      "the sum of the items proves the subtotal",
      "items 100, subtotal 100, tax 20, total 200",
      "subtotal 100",
      { total: both(20, 200), total_tax: both(20, 200) },
    ],
    [
      "the sum of the items does not prove the subtotal",
      "items 90, subtotal 100, tax 20, total 200",
      "",
      { subtotal: both(20, 200), total: both(20, 200), total_tax: both(20, 200) },
    ],
    [
      "the rate proves the tax and the subtotal",
      "subtotal 100, tax 20 20%, total 200",
      "subtotal 100, total_tax 20",
      { total: both(20, 200) },
    ],
    [
      "a total equals the subtotal although the tax is added to it",
      "subtotal 100, tax 20 20%, total 100",
      "subtotal 100, total_tax 20",
      { total: both(20, 100) },
    ],
    [
      "the amount with the tax is printed below the total without it",
      "subtotal 100, tax 20, total 100, unlabelled 120",
      "",
      { subtotal: both(20, 100), total: both(20, 100), total_tax: both(20, 100) },
    ],
    [
      "an amount due equals a contradicted total",
      "subtotal 100, tax 20 20%, total 200, due 200",
      "subtotal 100, total_tax 20",
      { total: both(20, 200) },
    ],
    [
      "a subtotal is far from the total",
      "subtotal 100, total 150",
      "",
      { subtotal: sum("subtotal 100 does", 150), total: sum("subtotal 100 does", 150) },
    ],
    [
      "a tax is too large for the total",
      "total 10, tax 9",
      "total 10",
      { total_tax: "The tax 9 does not fit the total 10." },
    ],
    [
      "the rate of the tax contradicts the total",
      "total 150, tax 19 19%",
      "total_tax 19",
      { total: sum("items and the tax do", 150) },
    ],
    [
      "the rate contradicts the total, and the tax is too large for it",
      "total 10, tax 9 9%",
      "",
      { total: sum("items and the tax do", 10) },
    ],
    [
      "two rates contradict the total, so the tax is not certain",
      "total 150, tax 19 19%, tax 7 7%",
      "",
      { total: sum("items and the tax do", 150) },
    ],
    [
      "a rate of 1 % contradicts the total",
      "total 150.5, tax 1 1%",
      "total_tax 1",
      { total: sum("items and the tax do", 150.5) },
    ],
    [
      "a total has cents too many for its tax",
      "total 119.9, tax 19.08 19%",
      "total_tax 19.08",
      { total: sum("items and the tax do", 119.9) },
    ],
    ["a total is below the items", "items 40, total 30", "", { total: sum("items and the tax do", 30) }],
    [
      "a total is too far above the items for a tax",
      "items 40, total 60",
      "",
      { total: sum("items and the tax do", 60) },
    ],
    [
      "an amount above the subtotal is no total",
      "unlabelled 120, subtotal 100, tax 20",
      "subtotal 100, total_tax 20",
      { total: "No total was found." },
    ],
    [
      "an unlabelled amount is no total without a tax",
      "subtotal 100, unlabelled 120",
      "subtotal 100",
      { total: "No total was found." },
    ],
    [
      "the sum of the items is no total beside a tax",
      "items 30, tip 2, tax 3, unlabelled 30",
      "amount_tip 2",
      { total: "No total was found." },
    ],
    ["there are two taxes and no total", "subtotal 100, tax 7, tax 6", "", { total: "No total was found." }],
    ["there are two subtotals and no total", "subtotal 100, subtotal 90", "", { total: "No total was found." }],
    ["the label of the total is vague", "total 40 vague", "", { total: "Nothing proves that 40 is the total." }],
    [
      "the smaller total is below the tip",
      "total 55, tip 5, total 50",
      "amount_tip 5",
      { total: "Several totals are printed: 50, 55." },
    ],
  ])("%s", (_, printed, reported, reasons) => {
    expect(amountsIn(printed)).toBe(reported);
    expect(reconcileText(printed).reasons).toEqual(reasons);
  });
});

describe("a total without a subtotal is reported", () => {
  test.each([
    ["alone", "total 50", "total 50"],
    ["if it exceeds the sum of the items by a plausible tax", "items 40, total 52", "total 52"],
    ["as the sum of the items, even with a vague label", "items 40, total 40 vague", "total 40"],
    ["as the sum of the items and the tax", "items 40, tax 6, total 46", "total 46, total_tax 6"],
    ["as the sum of the items and two taxes", "items 40, tax 6, tax 4, total 50", "total 50, total_tax 10"],
    ["if the rounded rate of the tax proves it", "total 119.53, tax 19.08 19%", "total 119.53, total_tax 19.08"],
    ["with a sum of taxes, which proves nothing", "total 50, tax 5 sum", "total 50, total_tax 5"],
    ["of nothing, with a discount", "total 0, discount 5", "discount 5, total 0"],
    ["if the rate of the tax proves it", "total 119, tax 19 19%", "total 119, total_tax 19"],
    ["if whole amounts have a tax that is rounded down", "total 1000, tax 90 10%", "total 1000, total_tax 90"],
    ["unless it has cents, and its tax is rounded down by more", "total 1000.5, tax 90 10%", "total_tax 90"],
    ["with a tax without a rate, which proves nothing", "total 150, tax 19 19%, tax 5", "total 150, total_tax 24"],
    ["with a tax of 0 %, which proves nothing", "total 50, tax 0 0%", "total 50, total_tax 0"],
    [
      "with a charge that may explain the difference",
      "total 150, tax 19 19%, shipping 31",
      "amount_shipping 31, total 150, total_tax 19",
    ],
    ["as the amount due", "due 50", "amount_due 50, total 50"],
    ["without any label as the sum of the items", "items 30, unlabelled 30", "total 30"],
    ["without a label as the sum of the items", "items 30, tip 2, unlabelled 30", "amount_tip 2, total 30"],
    ["beside an unlabelled amount that equals it", "total 100, unlabelled 100", "total 100"],
    ["beside another one if it was paid", "total 100, total 126, paid 126", "amount_paid 126, total 126"],
    [
      "beside another one if it was paid in cash, with change",
      "total 100, total 126, paid 130, change 4",
      "amount_change 4, amount_paid 130, total 126",
    ],
    ["beside another one if it was returned", "total -50, total -40, paid -50", "amount_paid 50, total -50"],
    ["beside a subtotal if the difference may be a tax", "subtotal 100, total 130", "subtotal 100, total 130"],
    ["but not if the difference is larger", "subtotal 100, total 131", ""],
    ["but not below a subtotal", "subtotal 100, total 99", ""],
  ])("%s", (_, printed, reported) => {
    expect(amountsIn(printed)).toBe(reported);
  });

  test.each([
    ["the items prove it", "total", "items 40, total 40", "total 40"],
    ["the subtotal proves it", "total", "subtotal 30, tax 10, total 40", "items 40, total 40"],
    ["a charge of nothing proves nothing", "total", "items 40, tip 0, total 40", "tip 0, total 40"],
    ["the tax is a part of the sum", "total_tax", "subtotal 30, tax 10, total 40", "subtotal 40, tax 10, total 40"],
    ["the charge is a part of the sum", "amount_tip", "subtotal 30, tip 10, total 40", "tip 10, total 40"],
    ["the amount due is the total", "amount_due", "due 40", "due 40, total 50"],
  ] as const)("with more certainty if %s", (_, member, more, less) => {
    const certaintyIn = (text: string) => reconcileText(text).amounts[member]?.certainty ?? Number.NaN;
    expect(certaintyIn(more)).toBeGreaterThan(certaintyIn(less));
  });
});

describe("taxes", () => {
  test.each<[title: string, printed: string, taxes: number[], rate: number | null]>([
    ["one rate", "subtotal 100, tax 19 19%, total 119", [19], 19],
    [
      "two rates of different goods have no common rate",
      "subtotal 100, tax 3.5 7%, tax 9.5 19%, total 113",
      [3.5, 9.5],
      null,
    ],
    [
      "a central and a state tax on the same amount are added, although they are equal",
      "subtotal 100, tax 9 9%, tax 9 9%, total 118",
      [9, 9],
      18,
    ],
    ["a central and a state tax are added even if there is no total", "subtotal 100, tax 9 9%, tax 9 9%", [9, 9], 18],
    [
      "two taxes of different rates on the same amount are added",
      "subtotal 100, tax 5 5%, tax 9.98 9.975%, total 114.98",
      [5, 9.98],
      14.975,
    ],
    ["a tax that a table of rates repeats counts once", "subtotal 100, tax 19 19%, total 119, tax 19 19%", [19], 19],
    ["a printed sum is not one of the taxes", "subtotal 100, tax 7, tax 6, tax 13 sum, total 113", [7, 6], null],
    ["a sum alone is the tax", "subtotal 100, tax 13 sum, total 113", [13], null],
    ["a contradicted tax has no rate", "subtotal 100, tax 30 20%, total 200", [30], null],
  ])("%s", (_, printed, amounts, rate) => {
    const { taxes, taxRate } = reconcileText(printed);
    expect({ amounts: taxes.map(({ amount }) => amount), rate: taxRate?.value ?? null }).toEqual({ amounts, rate });
  });

  test.each([
    ["all rates together", "subtotal 100, tax 7, tax 6, total 113", "subtotal 100, total 113, total_tax 13"],
    ["a printed sum", "subtotal 100, tax 7, tax 6, tax 14 sum, total 114", "subtotal 100, total 114, total_tax 14"],
    ["one of them", "subtotal 100, tax 7, tax 6, total 106", "subtotal 100, total 106, total_tax 6"],
    ["the included ones without an added one", "total 459, tax 29.44 included, tax 9", "total 459, total_tax 29.44"],
  ])("the whole tax is %s", (_, printed, reported) => {
    expect(amountsIn(printed)).toBe(reported);
  });
});

test.each([
  ["two payments that cover the total are added", "total 50, paid 20, paid 30", "amount_paid 50, total 50"],
  ["two payments that do not cover it are not added", "total 50, paid 20, paid 10", "amount_paid 10, total 50"],
  ["a payment that is printed twice counts once", "total 40, paid 20, paid 20", "amount_paid 20, total 40"],
  ["the payment that covers the total is preferred", "total 50, paid 50, paid 10", "amount_paid 50, total 50"],
  ["the amount due is what a payment leaves", "total 50, paid 20, due 30", "amount_due 30, amount_paid 20, total 50"],
  ["an amount due is not the total after a payment", "paid 100, due 400", "amount_due 400, amount_paid 100"],
  ["of two amounts due, none is reported", "total 50, due 30, due 20", "total 50"],
  ["an amount due may be printed twice", "total 50, due 30, due 30", "amount_due 30, total 50"],
  [
    "of two amounts due, the one with the more specific label is reported",
    "total 50, due 30 specific, due 20",
    "amount_due 30, total 50",
  ],
  ["a balance from before may be a credit", "total 50, prior -7", "previous_unpaid_balance -7, total 50"],
])("%s", (_, printed, reported) => {
  expect(amountsIn(printed)).toBe(reported);
});

describe("rounding", () => {
  const isProven = (printed: string, total: number, currency?: string) =>
    reconcileText(`${printed}, total ${total}`, currency).amounts.total !== null;

  test.each([
    ["subtotal 100, tax 19", [119, 119.02, 118.98], [119.03, 118.97]],
    ["subtotal 100, tax 1, tax 2, tax 3, tax 4", [110.05], [110.06]],
    ["subtotal 100, tax 1, tax 2, tax 3, tax 4, tax 5", [115.05], [115.06]],
  ])("each of up to four taxes may be rounded by a cent: %s", (printed, near, far) => {
    expect(near.filter((total) => !isProven(printed, total))).toEqual([]);
    expect(far.filter((total) => isProven(printed, total))).toEqual([]);
  });

  test.each([
    ["SEK", "subtotal 80, tax 20.4", [100], [101, 100.5]],
    ["SEK", "subtotal 80, tax 20.5", [100, 101], [102]],
    ["CZK", "subtotal 80, tax 20.6", [101], [100]],
    ["NOK", "subtotal 80, tax 20.4", [100], [101]],
    ["DKK", "subtotal 80, tax 20.4", [100], [101]],
    ["HUF", "subtotal 80, tax 22", [100, 101, 103], [105, 104]],
    ["HUF", "subtotal 80, tax 23", [105, 102, 104], [100, 101]],
    ["JPY", "subtotal 80, tax 20", [99, 101], [98, 102]],
    ["EUR", "subtotal 80, tax 20.4", [], [100]],
  ])("a total in %s may be rounded to the smallest coin: %s", (currency, printed, near, far) => {
    expect(near.filter((total) => !isProven(printed, total, currency))).toEqual([]);
    expect(far.filter((total) => isProven(printed, total, currency))).toEqual([]);
  });
});
