// Layouts of invoices and credit notes in the tune split: rules may be tuned on them.

import { Sheet, tableColumns } from "../../sheet.ts";
import {
  type Drawn,
  formatDate,
  formatMoney,
  formatNumber,
  formatRate,
  type Invoice,
  type Layout,
} from "../invoice.ts";
import { addressOf, bold, cellsOf, datesOf, discountSum, taxSums } from "../layout-parts.ts";
import type { TuneLabels } from "./locales.ts";

type TuneInvoice = Invoice<TuneLabels>;

function taxLabel({ locale }: TuneInvoice, rate: number): string {
  const { tax } = locale.labels;
  return `${tax} ${formatRate(rate, locale.number.decimal)}${locale.language === "en" ? "%" : " %"}`;
}

/** Sender top left, labels left of right-aligned values, ruled table, totals below its last column. */
export const classic: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet();
  const money = (value: number) => formatMoney(value, locale);
  sheet.text(50, 64, seller.name, { ...bold, size: 18 });
  sheet.stack(50, 82, [seller.street, seller.place, `${labels.vatId}: ${seller.vat}`, seller.email ?? ""]);
  sheet.right(545, 64, labels.invoice.toUpperCase(), { ...bold, size: 20 });
  const facts = [[labels.number, invoice.id], ...datesOf(invoice, labels), [labels.order, invoice.order]] as const;
  for (const [index, [label, value]] of facts.entries()) {
    sheet.text(350, 100 + index * 14, `${label}:`);
    sheet.right(545, 100 + index * 14, value);
  }
  sheet.text(50, 186, `${labels.billTo}:`, bold);
  sheet.stack(50, 201, addressOf(buyer));
  const columns = tableColumns([{ x: 50, width: 250 }], [345, 445, 545]);
  sheet.rule(50, 262, 545).row(columns, 276, labels.columns, bold);
  sheet.rule(50, 282, 545);
  let y = 298;
  for (const item of lines)
    y = sheet.row(columns, y, cellsOf(item, money), {
      step: 16,
    });
  sheet.rule(50, y - 6, 545);
  y += 14;
  y = sheet.sums(y, { label: 380, value: 545, step: 16 }, [
    [labels.subtotal, money(invoice.subtotal)],
    ...discountSum(invoice, labels.discount, money),
    ...taxSums(invoice, (rate) => taxLabel(invoice, rate), money),
    [labels.total, money(invoice.total), { ...bold, size: 12 }],
  ]);
  sheet.text(50, y + 30, labels.terms);
  if (seller.iban !== "") sheet.text(50, y + 46, `IBAN: ${seller.iban}   BIC: ${seller.bic}`);
  return { sheet, fields: "heading items terms amounts seller.vat seller.zip cities seller.email discount bank" };
};

/** Name in the middle, facts in boxes with the label above the value, both addresses side by side, a table of cells that ends with the sums. */
export const boxes: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ size: 9 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet.centre(297, 56, seller.name, { ...bold, size: 17 });
  sheet.centre(297, 74, `${labels.invoice}`, { size: 13 });
  const facts = [
    [labels.number, invoice.id],
    ...datesOf(invoice, labels),
    [labels.customerNumber, buyer.number],
  ] as const;
  for (const [index, [label, value]] of facts.entries()) {
    const left = 45 + index * 126;
    sheet
      .box(left, 92, 122, 34)
      .text(left + 5, 104, label, { size: 7, grey: 0.35 })
      .text(left + 5, 119, value, { size: 10 });
  }
  sheet.text(45, 152, labels.from, { ...bold, size: 8 }).text(310, 152, labels.billTo, { ...bold, size: 8 });
  sheet.stack(45, 166, [seller.name, seller.street, seller.place, `${labels.vatId} ${seller.vat}`], { step: 12 });
  sheet.stack(310, 166, [buyer.name, buyer.street, buyer.place, `${labels.vatId} ${buyer.vat}`], { step: 12 });
  const edges = [45, 290, 350, 450, 550];
  const columns = tableColumns([{ x: 50, width: 235 }], [345, 445, 545]);
  const ys = [232, 250];
  sheet.box(45, 232, 505, 18, 0.88);
  sheet.row(columns, 245, labels.columns, { ...bold, size: 8 });
  let y = 264;
  for (const item of lines) {
    sheet.row(columns, y, cellsOf(item, figures));
    ys.push(y + 6);
    y += 20;
  }
  sheet.grid(edges, ys);
  const sums: [string, number][] = [
    [labels.subtotal, invoice.subtotal],
    ...(invoice.discount > 0 ? ([[labels.discount, -invoice.discount]] as [string, number][]) : []),
    ...invoice.taxes.map(({ rate, tax }): [string, number] => [taxLabel(invoice, rate), tax]),
    [`${labels.due2} (${locale.currency})`, invoice.total],
  ];
  for (const [index, [label, value]] of sums.entries()) {
    const isLast = index === sums.length - 1;
    sheet.right(445, y, label, isLast ? bold : {}).right(545, y, figures(value), isLast ? bold : {});
    sheet.rule(350, y + 6, 550);
    y += 20;
  }
  if (seller.iban !== "") sheet.text(45, 770, `${seller.name} · IBAN ${seller.iban} · BIC ${seller.bic}`, { size: 8 });
  return { sheet, fields: "heading items due amounts seller.vat cities zips buyer.vat buyer.number discount bank" };
};

/** A business letter: the address for the window first, facts in a column on the right, no rules, taxes by rate, a footer in three columns. */
export const letter: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ font: "serif", size: 11 });
  const figures = (value: number) => formatNumber(value, locale.number);
  const money = (value: number) => formatMoney(value, locale);
  sheet.right(545, 50, seller.name, { font: "bold", size: 15 });
  sheet.text(60, 130, `${seller.name} · ${seller.street} · ${seller.place}`, { size: 7 });
  sheet.rule(60, 133, 290, 0.3);
  sheet.stack(60, 150, addressOf(buyer), { step: 14 });
  const facts = [
    [labels.date, formatDate(invoice.date, locale)],
    [labels.number, invoice.id],
    [labels.customerNumber, buyer.number],
  ] as const;
  for (const [index, [label, value]] of facts.entries()) {
    sheet.text(420, 150 + index * 30, label, { size: 8 });
    sheet.text(420, 162 + index * 30, value);
  }
  sheet.text(60, 270, `${labels.invoice} ${invoice.id}`, { font: "bold", size: 13 });
  const columns = tableColumns([{ x: 60 }, { x: 100, width: 210 }], [350, 440, 540]);
  sheet.row(columns, 305, ["Pos.", ...labels.columns], { size: 9 });
  let y = 328;
  for (const [index, item] of lines.entries())
    y = sheet.row(columns, y, [String(index + 1), ...cellsOf(item, figures)], { step: 15 });
  y += 12;
  y = sheet.sums(y, { label: 300, value: 540, step: 16 }, [
    [labels.subtotal, money(invoice.subtotal)],
    ...discountSum(invoice, labels.discount, money),
    ...taxSums(
      invoice,
      (rate, base) => `${taxLabel(invoice, rate)} (${labels.net} ${formatNumber(base, locale.number)})`,
      money,
    ),
    [labels.total, money(invoice.total), { font: "bold" }],
  ]);
  sheet.paragraph(60, y + 24, 470, labels.terms, { step: 15 });
  const foot = { size: 7.5, step: 10 };
  sheet.rule(60, 768, 540, 0.3);
  sheet.stack(60, 780, addressOf(seller), foot);
  if (seller.iban !== "") sheet.stack(230, 780, [`IBAN ${seller.iban}`, `BIC ${seller.bic}`], foot);
  sheet.stack(430, 780, [`${labels.vatId} ${seller.vat}`, seller.phone ?? "", seller.email ?? ""], foot);
  return {
    sheet,
    fields: "heading items amounts seller.vat cities zips buyer.number discount bank",
    also: { "financial_document_information.invoice_due_date": null },
  };
};

/** The amount in large figures on top, facts in a narrow column on the left with the label above the value, the ISO code before amounts. */
export const headline: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ size: 9.5 });
  const figures = (value: number) => formatNumber(value, locale.number);
  const code = (value: number) => formatMoney(value, locale, "code-first");
  sheet.text(200, 60, seller.name, { ...bold, size: 14 });
  sheet.text(200, 100, labels.due2, { size: 9, grey: 0.4 }).text(200, 126, code(invoice.total), { ...bold, size: 24 });
  sheet.rule(180, 40, 180).bar(180, 40, 800, 0.4);
  const facts = [
    [labels.number, [invoice.id]],
    [labels.date, [formatDate(invoice.date, locale)]],
    [labels.due, [formatDate(invoice.due, locale)]],
    [labels.order, [invoice.order]],
    [labels.billTo, addressOf(buyer)],
    [labels.from, [seller.street, seller.place]],
    [labels.vatId, [seller.vat]],
  ] as const;
  let left = 64;
  for (const [label, values] of facts) {
    sheet.text(40, left, label, { size: 7.5, grey: 0.4 });
    left = sheet.stack(40, left + 13, values, { step: 12 }) + 12;
  }
  const columns = tableColumns([{ x: 200, width: 180 }], [420, 485, 560]);
  sheet.row(columns, 170, labels.columns, { size: 8, grey: 0.4 });
  sheet.rule(200, 176, 560, 0.4);
  let y = 194;
  for (const item of lines) {
    y = sheet.row(columns, y, cellsOf(item, figures));
    y += 7;
  }
  sheet.rule(200, y - 8, 560, 0.4);
  y += 10;
  y = sheet.sums(y, { label: 380, value: 560, step: 17 }, [
    [labels.subtotal, code(invoice.subtotal)],
    ...taxSums(invoice, (rate) => taxLabel(invoice, rate), code),
    [labels.total, code(invoice.total), bold],
  ]);
  return { sheet, fields: "heading items terms amounts seller.vat cities buyer.zip" };
};

/** A credit note with negative amounts that names the invoice it corrects. */
export const credit: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines, random } = invoice;
  const sheet = new Sheet();
  const money = (value: number) => formatMoney(-value, locale);
  const original = `${random.between(20, 99)}-${random.digits(4)}`;
  sheet.text(50, 60, labels.creditNote, { ...bold, size: 18 });
  sheet
    .text(50, 80, `${labels.creditNote} ${invoice.id}`)
    .text(50, 94, `${labels.date}: ${formatDate(invoice.date, locale)}`);
  sheet.text(50, 108, `${labels.originalInvoice}: ${original}`);
  sheet.right(545, 60, seller.name, bold);
  for (const [index, content] of [seller.street, seller.place, `${labels.vatId}: ${seller.vat}`].entries())
    sheet.right(545, 74 + index * 13, content);
  sheet.text(50, 150, labels.billTo, bold);
  sheet.stack(50, 164, addressOf(buyer));
  const columns = tableColumns([{ x: 50, width: 250 }], [345, 445, 545]);
  sheet.box(50, 218, 495, 18, 0.85).row(columns, 231, labels.columns, bold);
  let y = 252;
  for (const item of lines) {
    y = sheet.row(columns, y, cellsOf(item, money));
    sheet.rule(50, y - 8, 545, 0.3);
    y += 6;
  }
  y += 8;
  y = sheet.sums(y, { label: 360, value: 545, step: 16 }, [
    [labels.subtotal, money(invoice.subtotal)],
    ...taxSums(invoice, (rate) => taxLabel(invoice, rate), money),
    [labels.total, money(invoice.total)],
  ]);
  return { sheet, fields: "heading items amounts seller.vat cities" };
};

/** Two pages: the table goes on, with a sum carried forward, and the totals are on the second. */
export const twoPages: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ size: 10 });
  const money = (value: number) => formatMoney(value, locale);
  const head = (page: number) => {
    sheet.text(50, 50, seller.name, { ...bold, size: 14 });
    sheet.right(545, 50, `${labels.page} ${page}/2`, { size: 8 });
    sheet
      .text(50, 66, `${labels.invoice} ${invoice.id}`)
      .right(545, 66, `${labels.date}: ${formatDate(invoice.date, locale)}`);
    sheet.rule(50, 72, 545);
  };
  const columns = tableColumns([{ x: 50 }, { x: 100, width: 220 }], [360, 450, 545]);
  head(1);
  sheet.stack(50, 96, [seller.street, seller.place, `${labels.vatId}: ${seller.vat}`]);
  sheet.text(330, 96, labels.billTo, bold).stack(330, 110, addressOf(buyer));
  sheet.row(columns, 190, ["#", ...labels.columns], bold);
  const half = Math.ceil(lines.length / 2);
  const draw = (from: number, to: number, start: number): number => {
    let y = start;
    for (const item of lines.slice(from, to)) {
      y = sheet.row(columns, y, [item.code, ...cellsOf(item, money)]);
      y += 8;
    }
    return y;
  };
  let y = draw(0, half, 212);
  const carried = lines.slice(0, half).reduce((total, { amount }) => total + amount, 0);
  sheet.text(360, y + 10, labels.carried).right(545, y + 10, money(carried));
  sheet.newPage();
  head(2);
  sheet.row(columns, 96, ["#", ...labels.columns], bold);
  sheet.text(100, 116, labels.carried).right(545, 116, money(carried));
  y = draw(half, lines.length, 138) + 16;
  y = sheet.sums(y, { label: 340, value: 545, step: 17 }, [
    [labels.subtotal, money(invoice.subtotal)],
    ...taxSums(invoice, (rate) => taxLabel(invoice, rate), money),
    [labels.total, money(invoice.total), bold],
  ]);
  sheet.text(50, y + 20, `${labels.due}: ${formatDate(invoice.due, locale)}`);
  if (seller.iban !== "") sheet.text(50, y + 36, `IBAN: ${seller.iban}`);
  return {
    sheet,
    fields: "heading due amounts seller.vat cities iban",
    also: { "count:item_lines": lines.length },
  };
};

/** A bill with a table of taxes by rate (rate, net, tax, gross) and the sums on the left. */
export const taxTable: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ font: "serif" });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet.text(60, 60, seller.name, { size: 20, font: "serif" });
  sheet.text(60, 78, `${seller.street}, ${seller.place} – ${seller.phone ?? ""} – ${seller.email ?? ""}`, { size: 8 });
  sheet.rule(60, 84, 535, 1.2);
  sheet.text(60, 110, `${labels.billTo}: ${buyer.name}, ${buyer.street}, ${buyer.place}`);
  sheet
    .text(60, 128, `${labels.number}: ${invoice.id}`)
    .text(250, 128, `${labels.date}: ${formatDate(invoice.date, locale)}`);
  sheet.text(420, 128, `${labels.due}: ${formatDate(invoice.due, locale)}`, { size: 9 });
  const columns = tableColumns([{ x: 60 }, { x: 95, width: 240 }], [420, 535]);
  sheet.row(columns, 160, [labels.columns[1], labels.columns[0], labels.columns[2], labels.columns[3]], bold);
  sheet.rule(60, 165, 535, 0.3);
  let y = 182;
  for (const item of lines)
    y = sheet.row(
      columns,
      y,
      [String(item.quantity), item.description, figures(item.unitPrice), figures(item.amount)],
      { step: 15 },
    );
  y += 20;
  const rates = tableColumns([{ x: 60 }], [190, 270, 350]);
  sheet.row(rates, y, [`${labels.tax} %`, labels.net, labels.tax, labels.gross], { size: 9 });
  sheet.rule(60, y + 4, 350, 0.3);
  for (const { rate, base, tax } of invoice.taxes) {
    y += 15;
    sheet.row(rates, y, [formatRate(rate, locale.number.decimal), figures(base), figures(tax), figures(base + tax)]);
  }
  y += 18;
  sheet.rule(60, y - 11, 350, 0.3);
  sheet.row(rates, y, [labels.total, figures(invoice.subtotal), figures(invoice.tax), figures(invoice.total)], bold);
  sheet.text(60, y + 30, `${labels.due2}: ${formatMoney(invoice.total, locale)}`, { font: "bold", size: 12 });
  sheet.text(60, 790, `${labels.vatId}: ${seller.vat}`, { size: 8 });
  return { sheet, fields: "heading items due amounts seller.vat seller.phone seller.email cities buyer.zip" };
};

export type { Drawn };
