// More layouts of the test split: credit notes, letters, American forms, tables with many columns, bilingual forms. Do not tune rules on them.

import { Sheet, tableColumns } from "../../sheet.ts";
import { formatDate, formatMoney, formatNumber, formatRate, type Invoice, type Layout, round } from "../invoice.ts";
import { addressOf, bold, cellsOf, taxSums } from "../layout-parts.ts";
import type { TestLabels } from "./locales.ts";

type TestInvoice = Invoice<TestLabels>;

const percent = (rate: number, { locale }: TestInvoice) => `${formatRate(rate, locale.number.decimal)} %`;

/** A typed letter without a table; the amount at the end of each line; no tax is charged. */
export const typedLetter: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ font: "mono", size: 10 });
  const money = (value: number) => formatMoney(value, locale, "code-last");
  sheet.stack(
    70,
    70,
    [seller.name, seller.street, seller.place, seller.phone ?? "", `${labels.taxNumber} ${seller.vat}`],
    { step: 14 },
  );
  sheet.text(70, 160, labels.client);
  sheet.stack(70, 176, addressOf(buyer), { step: 14 });
  sheet.right(525, 236, formatDate(invoice.date, locale));
  sheet.text(70, 270, `${labels.title} ${labels.id} ${invoice.id}`);
  let y = 304;
  for (const item of lines) {
    const amount = money(item.amount);
    const dots = ".".repeat(Math.max(3, 73 - item.description.length - amount.length));
    sheet.text(70, y, `${item.description} ${dots} ${amount}`);
    y += 16;
  }
  const total = money(invoice.subtotal);
  sheet.text(70, y + 10, `${labels.gross} ${" ".repeat(Math.max(1, 74 - labels.gross.length - total.length))}${total}`);
  sheet.text(70, y + 44, `${labels.payBy} ${formatDate(invoice.due, locale)}`);
  if (seller.iban !== "") sheet.text(70, y + 60, `${labels.bank}: ${seller.iban}`);
  return {
    sheet,
    fields: "seller.name buyer.name id date currency due items seller.vat cities seller.zip iban",
    also: { "payment_information.total": invoice.subtotal, "payment_information.tax_rate": null },
  };
};

export type MinusStyle = "trailing" | "parentheses" | "dash";

/** Credit notes whose negative amounts are printed as `120,00-`, `(120.00)` or `–120,00`. */
export function creditNote(minus: MinusStyle): Layout<TestLabels> {
  return (invoice) => {
    const { locale, labels, seller, buyer, lines, random } = invoice;
    const sheet = new Sheet({ size: 10 });
    const money = (value: number) => {
      const plain = formatNumber(value, locale.number);
      if (minus === "trailing") return `${plain}-`;
      return minus === "parentheses" ? `(${locale.symbol}${plain})` : `–${plain} ${locale.symbol}`;
    };
    sheet.text(320, 56, labels.credit, { ...bold, size: 17 });
    sheet.stack(60, 56, [seller.name, seller.street, seller.place, `${labels.taxNumber} ${seller.vat}`], { step: 14 });
    sheet.text(60, 140, `${labels.client}:`).stack(60, 156, addressOf(buyer), { step: 14 });
    for (const [index, [label, value]] of [
      [labels.id, invoice.id],
      [labels.issued, formatDate(invoice.date, locale)],
      [labels.clientNumber, buyer.number],
    ].entries()) {
      sheet.text(320, 90 + index * 16, `${label}:`).text(430, 90 + index * 16, value ?? "");
    }
    sheet.text(60, 226, `${labels.title} ${random.digits(5)}, ${formatDate("2025-12-04", locale)}`);
    const columns = tableColumns([{ x: 60 }, { x: 110, width: 220 }], [420, 535]);
    sheet
      .rule(60, 246, 535)
      .row(columns, 260, [labels.quantity, labels.item, labels.price, `${labels.value} ${locale.currency}`]);
    sheet.rule(60, 266, 535);
    let y = 284;
    for (const item of lines)
      y = sheet.row(
        columns,
        y,
        [String(item.quantity), item.description, formatNumber(item.unitPrice, locale.number), money(item.amount)],
        { step: 16 },
      );
    y += 16;
    y = sheet.sums(y, { label: 330, value: 535, step: 17 }, [
      [labels.net, money(invoice.subtotal)],
      ...taxSums(invoice, (rate) => `${labels.vat} ${percent(rate, invoice)}`, money),
      [labels.gross, money(invoice.total), bold],
    ]);
    return { sheet, fields: "heading amounts seller.vat cities buyer.number" };
  };
}

/** An American form: remit to, sold to and ship to; freight, tax, a deposit and the balance. */
export const remittance: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines, random } = invoice;
  const sheet = new Sheet({ width: 612, height: 792, size: 9.5 });
  const money = (value: number) => formatMoney(value, locale);
  const freight = random.between(20, 90);
  const deposit = random.between(1, 4) * 50;
  const total = round(invoice.total + freight);
  sheet
    .text(40, 60, seller.name, { font: "bold", size: 17 })
    .stack(40, 76, [seller.street, seller.place, seller.phone ?? "", `${labels.taxNumber} ${seller.vat}`], {
      step: 12,
    });
  sheet.right(572, 60, labels.title, { size: 24, grey: 0.4 });
  sheet.grid([392, 482, 572], [76, 92, 108, 124, 140]);
  for (const [index, [label, value]] of [
    [labels.issued, formatDate(invoice.date, locale)],
    [labels.id, invoice.id],
    [labels.reference, invoice.order],
    ["Terms", "Net 30"],
  ].entries()) {
    sheet.text(396, 87 + index * 16, label ?? "", { size: 8 }).text(486, 87 + index * 16, value ?? "", { size: 8 });
  }
  for (const [x, title, lines2] of [
    [40, labels.client, addressOf(buyer)],
    [230, "Ship to", [`${buyer.name} Receiving`, "Dock 4", buyer.place]],
    [420, "Remit to", ["PO Box 7740", seller.place]],
  ] as const) {
    sheet
      .box(x, 160, 150, 16, 0.85)
      .text(x + 4, 171, title, bold)
      .stack(x + 4, 188, lines2, { step: 12, size: 9 });
  }
  const columns = tableColumns([{ x: 46 }, { x: 90, width: 270 }], [470, 566]);
  sheet.box(40, 240, 532, 18, 0.85).row(columns, 252, [labels.quantity, labels.item, labels.price, labels.value], bold);
  let y = 274;
  for (const item of lines)
    y = sheet.row(
      columns,
      y,
      [
        String(item.quantity),
        item.description,
        formatNumber(item.unitPrice, locale.number),
        formatNumber(item.amount, locale.number),
      ],
      { step: 16 },
    );
  y = Math.max(y, 400);
  y = sheet.sums(y, { label: 400, value: 566, step: 17 }, [
    [labels.net, money(invoice.subtotal)],
    [`${labels.vat} (${formatRate(locale.rates[0] ?? 0, ".")}%)`, money(invoice.tax)],
    ["Freight", money(freight)],
    [labels.gross, money(total), bold],
    ["Deposit applied", money(-deposit)],
    [labels.toPay, money(round(total - deposit)), { ...bold, size: 12 }],
  ]);
  sheet.text(40, 740, labels.note, { size: 8 });
  return {
    sheet,
    fields: "seller.name buyer.name id date order currency amounts items seller.vat zips seller.city seller.phone",
    also: {
      "payment_information.total": total,
      "payment_information.amount_due": round(total - deposit),
      "payment_information.amount_paid": deposit,
      "payment_information.amount_shipping|shipping_handling_charge": freight,
    },
  };
};

/** Codes, discounts and tax rates in columns of their own; the sums on the left, the bank on the right. */
export const manyColumns: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ size: 8.5 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet
    .right(560, 50, seller.name, { ...bold, size: 15 })
    .right(560, 66, seller.street)
    .right(560, 78, seller.place)
    .right(560, 90, `${labels.taxNumber}: ${seller.vat}`);
  sheet.text(36, 56, labels.title, { ...bold, size: 13 });
  sheet.stack(
    36,
    76,
    [
      `${labels.id}: ${invoice.id}`,
      `${labels.issued}: ${formatDate(invoice.date, locale)}`,
      `${labels.payBy}: ${formatDate(invoice.due, locale)}`,
    ],
    { step: 13 },
  );
  sheet.box(36, 124, 250, 62).stack(42, 138, [labels.client, buyer.name, buyer.street, buyer.place], { step: 13 });
  const columns = tableColumns([{ x: 36 }, { x: 84, width: 190 }], [310, 375, 425, 475, 560]);
  sheet
    .rule(36, 206, 560)
    .row(columns, 218, ["Cod.", labels.item, labels.quantity, labels.price, "%", `${labels.vat} %`, labels.value], {
      ...bold,
      size: 7.5,
    });
  sheet.rule(36, 224, 560);
  let y = 238;
  for (const item of lines) {
    y = sheet.row(columns, y, [
      item.code,
      item.description,
      formatNumber(item.quantity, locale.number),
      figures(item.unitPrice),
      "0",
      formatRate(item.rate, locale.number.decimal),
      figures(item.amount),
    ]);
    sheet.rule(36, y - 8, 560, 0.2);
    y += 4;
  }
  y += 24;
  const start = y;
  for (const { rate, base, tax } of invoice.taxes) {
    sheet.text(36, y, `${labels.net} ${percent(rate, invoice)}`).right(250, y, figures(base));
    sheet.text(36, y + 13, `${labels.vat} ${percent(rate, invoice)}`).right(250, y + 13, figures(tax));
    y += 28;
  }
  sheet
    .box(36, y - 8, 220, 22, 0.88)
    .text(40, y + 6, labels.gross, { ...bold, size: 10 })
    .right(250, y + 6, formatMoney(invoice.total, locale), { ...bold, size: 10 });
  if (seller.iban !== "")
    sheet
      .text(310, start, labels.bank, bold)
      .text(310, start + 14, seller.iban)
      .text(310, start + 28, seller.bic);
  sheet.text(36, 800, labels.note, { size: 7 });
  return { sheet, fields: "heading due tax rate items seller.vat cities seller.zip bank" };
};

/** Every label in the language of the country and in English; a second page with terms that mention other amounts and dates. */
export const bilingual: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ size: 9.5 });
  const figures = (value: number) => formatNumber(value, locale.number);
  const money = (value: number) => formatMoney(value, locale, "code-last");
  sheet.text(50, 60, `${labels.title} / Invoice`, { ...bold, size: 16 });
  const facts = [
    [`${labels.id} / Invoice no.`, invoice.id],
    [`${labels.issued} / Date of issue`, formatDate(invoice.date, locale)],
    [`${labels.payBy} / Due date`, formatDate(invoice.due, locale)],
    [`${labels.reference} / Order no.`, invoice.order],
  ];
  for (const [index, [label, value]] of facts.entries())
    sheet.text(50, 86 + index * 15, `${label}:`).text(260, 86 + index * 15, value ?? "", bold);
  sheet
    .text(50, 170, "Supplier", bold)
    .stack(50, 185, [seller.name, seller.street, seller.place, `${labels.taxNumber} / VAT ID: ${seller.vat}`]);
  sheet
    .text(320, 170, `${labels.client} / Customer`, bold)
    .stack(320, 185, [buyer.name, buyer.street, buyer.place, `${labels.taxNumber} / VAT ID: ${buyer.vat}`]);
  const columns = tableColumns([{ x: 50, width: 250 }], [350, 445, 545]);
  sheet
    .rule(50, 252, 545)
    .row(
      columns,
      264,
      [`${labels.item} / Item`, `${labels.quantity} / Qty`, `${labels.price} / Price`, `${labels.value} / Amount`],
      { size: 7 },
    );
  sheet.rule(50, 270, 545);
  let y = 286;
  for (const item of lines) y = sheet.row(columns, y, cellsOf(item, figures), { step: 15 });
  y += 18;
  y = sheet.sums(y, { label: 280, value: 545, step: 16 }, [
    [`${labels.net} / Net`, money(invoice.subtotal)],
    ...taxSums(invoice, (rate) => `${labels.vat} / VAT ${percent(rate, invoice)}`, money),
    [`${labels.toPay} / Total due`, money(invoice.total), bold],
  ]);
  if (seller.iban !== "") sheet.text(50, y + 20, `IBAN ${seller.iban}   SWIFT ${seller.bic}`);
  sheet.newPage().text(50, 60, "General terms and conditions", { ...bold, size: 13 });
  let below = 90;
  for (const clause of [
    "1. Orders below a total of 250.00 EUR are charged with a handling fee of 15.00 EUR.",
    "2. These terms are valid from 01.01.2019 and replace the terms of 15.06.2012.",
    "3. Claims must be made within 14 days. A reminder costs 5.00 EUR. Interest on late payment is 9 % a year.",
    "4. The place of jurisdiction is the seat of the supplier.",
  ])
    below = sheet.paragraph(50, below, 490, clause) + 8;
  return {
    sheet,
    fields: "heading terms amounts seller.vat buyer.vat cities bank",
    also: { "count:item_lines": lines.length },
  };
};
