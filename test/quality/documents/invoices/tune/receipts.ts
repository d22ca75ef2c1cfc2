// Receipts of the tune split: prices include the tax.

import type { LabelledDocument } from "../../labelled-document.ts";
import { Sheet } from "../../sheet.ts";
import { formatDate, formatNumber, formatRate, inventInvoice, round } from "../invoice.ts";
import { toReceipt } from "../receipt.ts";
import type { TuneLocale } from "./locales.ts";

export interface ReceiptOptions {
  readonly lines: number;
  readonly paidByCard?: boolean;
  readonly hasTime?: boolean;
}

/** A strip of thermal paper: fixed-width letters, quantities on a line of their own, tax included. */
export function thermalReceipt(locale: TuneLocale, seed: string, options: ReceiptOptions): LabelledDocument {
  const { seller, lines, random, date, id } = inventInvoice(locale, seed, {
    lines: options.lines,
    idPattern: "######",
  });
  const { labels, number } = locale;
  const rate = locale.rates[0] ?? 0;
  const total = round(lines.reduce((sum, { amount }) => sum + amount, 0));
  const tax = round(total - total / (1 + rate / 100));
  const given = Math.ceil(total / 50) * 50;
  const time = `${random.between(9, 19)}:${random.between(10, 59)}`;
  const height = 300 + lines.length * 24;
  const sheet = new Sheet({ width: 230, height, font: "mono", size: 9 });
  const figures = (value: number) => formatNumber(value, number);
  sheet.centre(115, 28, seller.name.toUpperCase(), { size: 9.5 });
  sheet.centre(115, 41, seller.street).centre(115, 53, seller.place).centre(115, 65, `${labels.vatId} ${seller.vat}`);
  sheet
    .text(12, 86, `${labels.receipt} ${id}`)
    .text(12, 98, formatDate(date, { ...locale, date: locale.country === "US" ? "MM/DD/YYYY" : "DD.MM.YYYY" }));
  sheet.right(218, 98, time);
  let y = 120;
  for (const item of lines) {
    const description = item.description.slice(0, 26).trimEnd();
    sheet.text(12, y, description);
    if (item.quantity > 1) {
      y += 12;
      sheet.text(24, y, `${item.quantity} x ${figures(item.unitPrice)}`);
    }
    sheet.right(218, y, figures(item.amount));
    y += 12;
  }
  sheet.text(12, y, "-".repeat(38));
  y += 14;
  sheet
    .text(12, y, `${labels.total.toUpperCase()} ${locale.currency}`, { size: 11 })
    .right(218, y, figures(total), { size: 11 });
  y += 14;
  sheet.text(12, y, `${labels.tax} ${formatRate(rate, number.decimal)}%`).right(218, y, figures(tax));
  y += 18;
  if (options.paidByCard) {
    sheet.text(12, y, "VISA **** **** **** 4821").right(218, y, figures(total));
  } else {
    sheet.text(12, y, labels.cash).right(218, y, figures(given));
    y += 12;
    sheet.text(12, y, labels.change).right(218, y, figures(given - total));
  }
  sheet.centre(115, y + 26, labels.thanks);
  return toReceipt(
    { layout: "thermal", sheet, locale, seller, id, date, total, tax, rate },
    {
      "financial_document_information.time": time,
      ...(options.paidByCard
        ? { "payment_information.amount_change": null }
        : { "payment_information.amount_paid": given, "payment_information.amount_change": round(given - total) }),
      "count:item_lines": lines.length,
      ...Object.fromEntries(lines.map(({ amount }, index) => [`item_lines.${index}.amount_line`, amount])),
    },
  );
}
