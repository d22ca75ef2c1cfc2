// Letters of the tune split: facts in sentences, or with the label below the value.

import { Sheet, tableColumns } from "../../sheet.ts";
import { formatDate, formatMoney, type Layout } from "../invoice.ts";
import { addressOf, bold, cellsOf, datesOf, taxSums } from "../layout-parts.ts";
import type { TuneLabels } from "./locales.ts";
import { fill, taxLabel, wordsOf } from "./words.ts";

/** A letter that names the facts in sentences, and the bank in one line of the footer, with bars between. */
export const sentences: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const word = wordsOf(invoice);
  const sheet = new Sheet({ font: "serif", size: 10.5 });
  const money = (value: number) => formatMoney(value, locale);
  sheet.centre(297, 52, seller.name, { ...bold, size: 16 });
  sheet.centre(297, 66, `${seller.street} | ${seller.place}`, { size: 8 });
  sheet.stack(62, 120, addressOf(buyer));
  sheet.text(62, 200, fill(word.sentence, invoice), { ...bold, size: 13 });
  sheet.text(62, 220, fill(word.orderSentence, invoice));
  const columns = tableColumns([{ x: 62, width: 230 }], [340, 440, 535]);
  sheet.row(columns, 252, labels.columns, { font: "bold", size: 9 });
  sheet.rule(62, 256, 535, 0.8);
  let y = 274;
  for (const item of lines)
    y = sheet.row(columns, y, cellsOf(item, money), {
      step: 14,
    });
  sheet.rule(62, y - 6, 535, 0.8);
  y += 12;
  y = sheet.sums(y, { label: 330, value: 535, step: 15 }, [
    [word.net, money(invoice.subtotal)],
    ...taxSums(invoice, (rate) => `+ ${taxLabel(invoice, rate)}`, money),
    [word.total, money(invoice.total)],
  ]);
  sheet.text(62, y + 20, `${word.due} ${formatDate(invoice.due, locale)}`);
  const foot = [
    seller.name,
    ...(seller.iban === "" ? [] : [`IBAN ${seller.iban}`, seller.bic]),
    `${labels.vatId} ${seller.vat}`,
  ];
  sheet.centre(297, 800, foot.join(" | "), { size: 7 });
  return { sheet, fields: "heading items terms amounts seller.vat cities zips bank" };
};

/** Facts with the label below the value, the quantity and price of each item on a line of their own below its name, one sum of all taxes. */
export const captions: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const word = wordsOf(invoice);
  const sheet = new Sheet({ size: 10 });
  const money = (value: number) => formatMoney(value, locale);
  sheet.text(55, 56, seller.name, { ...bold, size: 16 });
  sheet.text(55, 70, `${seller.street}, ${seller.place}`, { size: 8 });
  sheet.text(55, 81, `${seller.phone ?? ""} · ${seller.email ?? ""}`, { size: 8 });
  sheet.text(330, 56, labels.invoice, { size: 16 });
  const facts = [[labels.number, invoice.id], ...datesOf(invoice, labels)] as const;
  for (const [index, [label, value]] of facts.entries()) {
    const left = 330 + (index % 2) * 115;
    const top = 76 + Math.floor(index / 2) * 34;
    sheet.text(left, top, value).text(left, top + 10, label, { size: 6.5, grey: 0.45 });
  }
  sheet.text(55, 140, labels.billTo, { size: 8, grey: 0.4 });
  sheet.stack(55, 154, addressOf(buyer));
  sheet.rule(55, 206, 540, 0.6);
  sheet.text(55, 220, word.columns[0], bold).right(540, 220, labels.columns[3], bold);
  let y = 240;
  for (const item of lines) {
    sheet.text(55, y, item.description, bold);
    sheet
      .text(70, y + 13, `${item.quantity} × ${money(item.unitPrice)}`, { grey: 0.3 })
      .right(540, y, money(item.amount));
    y += 32;
  }
  sheet.rule(380, y - 10, 540, 0.6);
  y += 8;
  y = sheet.sums(y, { label: 380, value: 540, step: 16 }, [
    [labels.subtotal, money(invoice.subtotal)],
    [labels.tax, money(invoice.tax)],
    [word.total, money(invoice.total)],
  ]);
  sheet.text(55, 790, `${labels.vatId} ${seller.vat}`, { size: 8 });
  return { sheet, fields: "heading tax items subtotal seller.vat cities seller.zip seller.phone seller.email" };
};
