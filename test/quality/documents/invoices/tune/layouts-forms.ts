// Forms of the tune split: facts in rows and boxes, bank details below each other, descriptions of several lines.

import { Sheet, tableColumns } from "../../sheet.ts";
import { formatDate, formatMoney, formatNumber, formatRate, type Layout } from "../invoice.ts";
import { addressOf, bold, cellsOf, datesOf, discountSum, taxSums } from "../layout-parts.ts";
import type { TuneLabels } from "./locales.ts";
import { taxLabel, wordsOf } from "./words.ts";

/** The title with the facts in one row below it, labels above values; a line of remarks below each description; bank details below each other. */
export const factRow: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const word = wordsOf(invoice);
  const sheet = new Sheet({ size: 9.5 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet.text(48, 62, labels.invoice.toUpperCase(), { ...bold, size: 22 });
  sheet.right(548, 54, seller.name, { ...bold, size: 12 });
  sheet.right(548, 68, seller.street).right(548, 81, seller.place).right(548, 94, `${labels.vatId} ${seller.vat}`);
  const facts = [
    [word.number, invoice.id],
    ...datesOf(invoice, word),
    [word.customer, buyer.number],
    [word.order, invoice.order],
  ] as const;
  for (const [index, [label, value]] of facts.entries())
    sheet.text(48 + index * 102, 124, label, { size: 8, grey: 0.35 }).text(48 + index * 102, 138, value);
  sheet.rule(48, 146, 548, 0.5);
  sheet.stack(48, 172, addressOf(buyer));
  const columns = tableColumns([{ x: 48, width: 260 }], [350, 450, 548]);
  sheet.row(columns, 240, word.columns, bold);
  let y = 258;
  for (const item of lines) {
    sheet.row(columns, y, [
      item.description,
      `${item.quantity} ${word.unit}`,
      figures(item.unitPrice),
      figures(item.amount),
    ]);
    sheet.text(48, y + 11, word.note, { size: 8, grey: 0.3 });
    y += 28;
  }
  sheet.rule(48, y - 8, 548, 0.5);
  y += 8;
  y = sheet.sums(y, { label: 450, value: 548, step: 15, rightLabels: true }, [
    [word.net, figures(invoice.subtotal)],
    ...taxSums(invoice, (rate) => taxLabel(invoice, rate), figures),
    [`${word.total} ${locale.currency}`, figures(invoice.total), bold],
  ]);
  if (seller.iban !== "") {
    sheet.text(48, 700, word.bank, bold);
    sheet.text(48, 715, "IBAN", { size: 8 }).text(140, 715, seller.iban);
    sheet.text(48, 728, word.bic, { size: 8 }).text(140, 728, seller.bic);
  }
  return {
    sheet,
    fields: "heading terms amounts seller.vat cities buyer.number bank",
    also: {
      "count:item_lines": lines.length,
      ...Object.fromEntries(lines.map(({ amount }, index) => [`item_lines.${index}.amount_line`, amount])),
    },
  };
};

/** Two columns of facts with dots between label and value, article numbers, descriptions of several lines, the total below its label in a box. */
export const ledger: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const word = wordsOf(invoice);
  const sheet = new Sheet({ size: 9 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet.text(40, 50, seller.name, { ...bold, size: 15 });
  sheet.stack(40, 64, [seller.street, seller.place, seller.phone ?? ""], { step: 11 });
  sheet.right(555, 50, labels.invoice, { size: 18 }).right(555, 66, `${word.number} ${invoice.id}`, { size: 10 });
  sheet.text(320, 110, labels.billTo, { size: 7.5, grey: 0.4 });
  sheet.stack(320, 122, [buyer.name, buyer.street, buyer.place, `${labels.vatId} ${buyer.vat}`], { step: 11 });
  const facts = [...datesOf(invoice, word), [word.order, invoice.order], [labels.vatId, seller.vat]] as const;
  for (const [index, [label, value]] of facts.entries())
    sheet.text(40, 122 + index * 12, `${label} ......`).text(160, 122 + index * 12, value);
  const columns = tableColumns([{ x: 40 }, { x: 95, width: 150 }], [330, 400, 460, 555]);
  const [description, quantity, price, amount] = labels.columns;
  sheet.box(40, 190, 515, 16, 0.8);
  sheet.row(columns, 201, ["Art.", description, quantity, price, `${labels.tax} %`, amount], { ...bold, size: 8 });
  let y = 218;
  for (const item of lines) {
    y = sheet.row(
      columns,
      y,
      [
        item.code,
        `${item.description}, ${word.note}`,
        String(item.quantity),
        figures(item.unitPrice),
        formatRate(item.rate, locale.number.decimal),
        figures(item.amount),
      ],
      { step: 11 },
    );
    y += 6;
  }
  y += 14;
  const boxes: [string, string][] = [
    [word.net, figures(invoice.subtotal)],
    [labels.tax, figures(invoice.tax)],
    [word.total, formatMoney(invoice.total, locale)],
  ];
  for (const [index, [label, value]] of boxes.entries()) {
    const left = 195 + index * 122;
    sheet
      .box(left, y, 118, 34)
      .text(left + 6, y + 12, label, { size: 7.5 })
      .text(left + 6, y + 27, value, bold);
  }
  if (seller.iban !== "")
    sheet.text(40, 760, `IBAN: ${seller.iban}`, { size: 8 }).text(40, 772, `${word.bic}: ${seller.bic}`, { size: 8 });
  return {
    sheet,
    fields: "heading tax terms subtotal seller.vat cities buyer.vat seller.phone bank",
    also: {
      "count:item_lines": lines.length,
      ...Object.fromEntries(
        lines.flatMap(({ amount, description: text }, index) => [
          [`item_lines.${index}.amount_line`, amount],
          [`item_lines.${index}.description`, `${text}, ${word.note}`],
        ]),
      ),
    },
  };
};

/** Both parties in a table of the head, facts as "label: value" in the middle, a total before discount and taxes in words and figures. */
export const counter: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const word = wordsOf(invoice);
  const sheet = new Sheet({ size: 10 });
  const money = (value: number) => formatMoney(value, locale, "code-last");
  sheet.box(45, 40, 250, 90).box(300, 40, 250, 90);
  sheet.text(52, 54, seller.name, bold).text(307, 54, buyer.name, bold);
  sheet.stack(52, 68, [seller.street, seller.place, seller.email ?? "", seller.vat]);
  sheet.stack(307, 68, [buyer.street, buyer.place]);
  sheet.centre(297, 160, `${labels.invoice} · ${invoice.id}`, { ...bold, size: 15 });
  sheet.centre(
    297,
    176,
    `${word.date}: ${formatDate(invoice.date, locale)} · ${word.due}: ${formatDate(invoice.due, locale)} · ${word.customer}: ${buyer.number}`,
    { size: 8.5 },
  );
  const columns = tableColumns([{ x: 45 }, { x: 75, width: 230 }], [345, 445, 550]);
  sheet.row(columns, 210, ["#", ...word.columns], { size: 9, grey: 0.2 });
  let y = 230;
  for (const [index, item] of lines.entries()) {
    y = sheet.row(columns, y, [String(index + 1), ...cellsOf(item, money)]);
    y += 9;
  }
  sheet.rule(300, y - 6, 550);
  y += 10;
  y = sheet.sums(y, { label: 300, value: 550, step: 16 }, [
    [labels.subtotal, money(invoice.subtotal)],
    ...discountSum(invoice, `${labels.discount} 5 %`, money),
    ...taxSums(
      invoice,
      (rate, base) =>
        `${labels.tax} ${formatRate(rate, locale.number.decimal)} % × ${formatNumber(base, locale.number)}`,
      money,
    ),
    [labels.total.toUpperCase(), money(invoice.total), { ...bold, size: 12 }],
  ]);
  if (seller.iban !== "") sheet.text(45, 780, `${word.bank}: ${seller.iban} (${seller.bic})`, { size: 8 });
  return { sheet, fields: "heading items due amounts seller.vat cities buyer.number seller.email discount bank" };
};

/** A day, a description of several lines, the net, tax and gross amount of each line; the order in the text above; the total in words of its own. */
export const workOrder: Layout<TuneLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const word = wordsOf(invoice);
  const sheet = new Sheet({ size: 9 });
  const figures = (value: number) => formatNumber(value, locale.number);
  const taxOf = (amount: number, rate: number) => Math.round(amount * rate) / 100;
  sheet.right(555, 48, seller.name, { ...bold, size: 14 });
  sheet.right(555, 60, `${seller.street} – ${seller.place}`, { size: 7.5 });
  sheet.right(555, 70, `${labels.vatId} ${seller.vat}`, { size: 7.5 });
  sheet.stack(40, 110, addressOf(buyer), { step: 12 });
  sheet.text(40, 170, `${labels.invoice} ${word.number} ${invoice.id}`, { ...bold, size: 12 });
  sheet.text(40, 184, `${word.date} ${formatDate(invoice.date, locale)} / ${word.order} ${invoice.order}`);
  const columns = tableColumns([{ x: 40 }, { x: 100, width: 170 }], [320, 385, 445, 495, 555]);
  const [description, quantity, price, amount] = labels.columns;
  sheet.row(columns, 212, [labels.date, description, quantity, price, amount, labels.tax, labels.gross], {
    ...bold,
    size: 7,
  });
  let y = 230;
  for (const item of lines) {
    const tax = taxOf(item.amount, item.rate);
    y = sheet.row(
      columns,
      y,
      [
        formatDate(invoice.date, { ...locale, date: locale.country === "US" ? "MM/DD" : "DD.MM." }),
        `${item.description} (${word.note}, 2 × 500 mm)`,
        String(item.quantity),
        figures(item.unitPrice),
        figures(item.amount),
        figures(tax),
        figures(item.amount + tax),
      ],
      { step: 11 },
    );
    y += 7;
  }
  sheet.rule(320, y - 6, 555, 0.5);
  y += 10;
  y = sheet.sums(y, { label: 385, value: 555, step: 14 }, [
    [word.net, figures(invoice.subtotal)],
    ...taxSums(invoice, (rate) => taxLabel(invoice, rate), figures),
    [`${labels.total} ${locale.currency}`, figures(invoice.total)],
  ]);
  sheet.paragraph(40, y + 20, 500, `${word.due} ${formatDate(invoice.due, locale)}. ${labels.thanks}.`, {});
  return {
    sheet,
    fields: "heading terms amounts seller.vat cities buyer.zip",
    also: {
      "count:item_lines": lines.length,
      ...Object.fromEntries(
        lines.flatMap(({ amount: net, description: text }, index) => [
          [`item_lines.${index}.amount_line`, net],
          [`item_lines.${index}.description`, `${text} (${word.note}, 2 × 500 mm)`],
        ]),
      ),
    },
  };
};
