// Receipts of the test split: a restaurant, a supermarket with letters for tax rates, a filling station. Do not tune rules on them.

import type { LabelledDocument } from "../../labelled-document.ts";
import { Sheet } from "../../sheet.ts";
import { formatDate, formatNumber, formatRate, inventInvoice, round } from "../invoice.ts";
import { toReceipt } from "../receipt.ts";
import type { TestLocale } from "./locales.ts";

interface TillWords {
  readonly receipt: string;
  readonly total: string;
  readonly card: string;
  readonly tax: string;
  readonly goods: readonly (readonly [string, number])[];
}

/** A supermarket: names in capitals, the letter of the tax rate after the price, a table of rates below. */
export function supermarket(locale: TestLocale, seed: string, words: TillWords): LabelledDocument {
  const { seller, random, date, id } = inventInvoice(locale, seed, { lines: 1, idPattern: "########" });
  const goods = random
    .some(words.goods, 5)
    .map(([name, price], index) => ({ name, price, letter: index % 2 === 0 ? "A" : "B" }));
  const figures = (value: number) => formatNumber(value, locale.number);
  const total = round(goods.reduce((sum, { price }) => sum + price, 0));
  const time = `${random.between(8, 20)}:${random.between(10, 59)}:${random.between(10, 59)}`;
  const sheet = new Sheet({ width: 226, height: 360, font: "sans", size: 8.5 });
  sheet
    .centre(113, 26, seller.name, { font: "bold", size: 12 })
    .centre(113, 39, `${seller.street} · ${seller.place}`, { size: 7.5 });
  let y = 66;
  for (const { name, price, letter } of goods) {
    sheet.text(12, y, name.toUpperCase()).right(200, y, figures(price)).text(206, y, letter);
    y += 13;
  }
  sheet.rule(12, y - 4, 214);
  y += 12;
  sheet
    .text(12, y, words.total, { font: "bold", size: 12 })
    .right(214, y, `${locale.symbol} ${figures(total)}`, { font: "bold", size: 12 });
  y += 18;
  sheet.text(12, y, words.card).right(214, y, figures(total));
  y += 18;
  let tax = 0;
  for (const [index, letter] of ["A", "B"].entries()) {
    const rate = locale.rates[index] ?? 0;
    const gross = round(goods.filter((one) => one.letter === letter).reduce((sum, { price }) => sum + price, 0));
    const part = round(gross - gross / (1 + rate / 100));
    tax = round(tax + part);
    sheet
      .text(12, y, `${letter} ${formatRate(rate, locale.number.decimal)}%`)
      .right(110, y, figures(round(gross - part)))
      .right(160, y, figures(part))
      .right(214, y, figures(gross));
    y += 12;
  }
  y += 10;
  sheet
    .text(12, y, `${words.receipt} ${id}`, { size: 7.5 })
    .right(214, y, `${formatDate(date, locale)} ${time}`, { size: 7.5 });
  sheet.text(12, y + 12, `${locale.labels.taxNumber} ${seller.vat}`, { size: 7.5 });
  return toReceipt(
    { layout: "supermarket", sheet, locale, seller, id, date, total, tax, rate: null },
    {
      "financial_document_information.time": `${time}||${time.slice(0, -3)}`,
      "count:item_lines": goods.length,
      ...Object.fromEntries(goods.map(({ price }, index) => [`item_lines.${index}.amount_line`, price])),
    },
  );
}

/** A restaurant in the United States: tax on top, a tip that was written in, a card. */
export function restaurant(
  locale: TestLocale,
  seed: string,
  name: string,
  dishes: readonly (readonly [string, number])[],
): LabelledDocument {
  const { random, date, id } = inventInvoice(locale, seed, { lines: 1, idPattern: "####" });
  const rate = locale.rates[0] ?? 0;
  const ordered = random.some(dishes, 4);
  const subtotal = round(ordered.reduce((sum, [, price]) => sum + price, 0));
  const tax = round((subtotal * rate) / 100);
  const tip = random.between(5, 14);
  const total = round(subtotal + tax + tip);
  const figures = (value: number) => `$${formatNumber(value, locale.number)}`;
  const sheet = new Sheet({ width: 240, height: 380, font: "mono", size: 9 });
  sheet.centre(120, 28, name, { size: 12 }).centre(120, 42, "Harbor Walk 12, New London, CT 06320");
  sheet
    .text(14, 64, `Check ${id}`)
    .text(130, 64, "Table 9")
    .text(14, 76, `${formatDate(date, { ...locale, date: "MM/DD/YYYY" })} 7:${random.between(10, 59)} PM`);
  let y = 100;
  for (const [dish, price] of ordered) {
    sheet.text(14, y, `1 ${dish}`).right(226, y, figures(price));
    y += 13;
  }
  y += 8;
  for (const [label, value] of [
    ["Food & Bev", subtotal],
    [`Sales Tax ${rate}%`, tax],
    ["Gratuity", tip],
    ["AMOUNT CHARGED", total],
  ] as const) {
    sheet.text(14, y, label).right(226, y, figures(value));
    y += 14;
  }
  sheet.text(14, y + 10, "MASTERCARD XXXXXXXXXXXX7702").text(14, y + 23, `Auth ${random.digits(6)}`);
  return {
    name: `restaurant-${locale.language}-${locale.country}-${id}`,
    language: locale.language,
    layout: "restaurant",
    pages: sheet.pages,
    expected: {
      "merchant_information.name": name,
      "merchant_information.zip_code": "06320",
      "financial_document_information.invoice_receipt_id": id,
      "financial_document_information.invoice_date": date,
      "payment_information.subtotal": subtotal,
      "payment_information.total_tax": tax,
      "payment_information.tax_rate": rate,
      "payment_information.amount_tip|gratuity": tip,
      "payment_information.total": total,
      "local.currency_code": "USD",
      "count:item_lines": ordered.length,
      ...Object.fromEntries(ordered.map(([, price], index) => [`item_lines.${index}.amount_line`, price])),
    },
  };
}

/** A filling station: litres times the price of a litre, labels with dots up to the value. */
export function fillingStation(
  locale: TestLocale,
  seed: string,
  words: {
    readonly receipt: string;
    readonly pump: string;
    readonly fuel: string;
    readonly total: string;
    readonly tax: string;
    readonly litres: string;
  },
): LabelledDocument {
  const { seller, random, date, id } = inventInvoice(locale, seed, { lines: 1, idPattern: "#####" });
  const rate = locale.rates[0] ?? 0;
  const litres = random.between(2000, 6000) / 100;
  const price = random.between(1500, 1900) / 1000;
  const total = round(litres * price);
  const tax = round(total - total / (1 + rate / 100));
  const { decimal } = locale.number;
  const local = (value: number, digits: number) => value.toFixed(digits).replace(".", decimal);
  const sheet = new Sheet({ width: 220, height: 300, font: "mono", size: 9 });
  const row = (y: number, label: string, value: string) =>
    sheet.text(14, y, `${label}${".".repeat(Math.max(2, 35 - label.length - value.length))}${value}`);
  sheet
    .text(14, 28, seller.name)
    .text(14, 40, seller.street)
    .text(14, 52, seller.place)
    .text(14, 64, `${locale.labels.taxNumber} ${seller.vat}`);
  row(90, words.receipt, id);
  row(103, locale.labels.issued, formatDate(date, locale));
  row(116, words.pump, String(random.between(1, 9)));
  row(129, words.fuel, `${local(litres, 2)} ${words.litres}`);
  row(142, `${locale.currency}/${words.litres}`, local(price, 3));
  row(164, `${words.total} ${locale.currency}`, local(total, 2));
  row(177, `${words.tax} ${formatRate(rate, decimal)}%`, local(tax, 2));
  return toReceipt({ layout: "filling-station", sheet, locale, seller, id, date, total, tax, rate });
}
