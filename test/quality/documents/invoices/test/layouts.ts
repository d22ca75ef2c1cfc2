// Layouts of invoices in the test split. Do not tune rules on them.

import { type Column, Sheet, type Style, tableColumns } from "../../sheet.ts";
import { formatDate, formatMoney, formatNumber, formatRate, type Invoice, type Layout, round } from "../invoice.ts";
import { addressOf, bold, cellsOf, discountSum, taxSums } from "../layout-parts.ts";
import type { TestLabels } from "./locales.ts";

type TestInvoice = Invoice<TestLabels>;

const percent = (rate: number, { locale }: TestInvoice) => `${formatRate(rate, locale.number.decimal)}%`;

/** The sums stand side by side in a strip below the table: a row of labels over a row of values. */
export const strip: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines, taxes } = invoice;
  const sheet = new Sheet({ size: 9.5 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet.box(40, 34, 515, 74).text(52, 58, seller.name, { ...bold, size: 16 });
  sheet
    .text(52, 76, `${seller.street}, ${seller.place}`)
    .text(52, 92, `${labels.taxNumber} ${seller.vat}   Tel. ${seller.phone ?? ""}`);
  sheet
    .text(330, 134, labels.client, { size: 7.5 })
    .stack(330, 148, [buyer.name, buyer.street, buyer.place, `${labels.taxNumber} ${buyer.vat}`]);
  sheet.text(40, 140, labels.title, { ...bold, size: 15 });
  const columns: Column[] = [{ x: 46 }, { x: 160 }, { x: 300 }, { x: 430 }];
  sheet.grid([40, 155, 295, 425, 555], [206, 222, 240]);
  sheet.row(columns, 217, [labels.id, labels.issued, labels.payBy, labels.reference], { size: 7.5 });
  sheet.row(columns, 235, [
    invoice.id,
    formatDate(invoice.date, locale),
    formatDate(invoice.due, locale),
    invoice.order,
  ]);
  const goods = tableColumns([{ x: 46, width: 260 }], [360, 450, 549]);
  sheet.row(goods, 268, [labels.item, labels.quantity, labels.price, labels.value], { ...bold, size: 8.5 });
  sheet.rule(40, 273, 555);
  let y = 290;
  for (const item of lines)
    y = sheet.row(goods, y, cellsOf(item, figures), {
      step: 15,
    });
  y = Math.max(y + 30, 520);
  sheet.grid([40, 170, 300, 430, 555], [y, y + 16, y + 36]);
  const sums = tableColumns([], [164, 294, 424, 549]);
  const [first] = taxes;
  sheet.row(sums, y + 11, [labels.net, `${labels.vat} %`, labels.vat, labels.gross], { size: 7.5 });
  sheet.row(
    sums,
    y + 30,
    [
      figures(invoice.subtotal),
      percent(first?.rate ?? 0, invoice),
      figures(invoice.tax),
      formatMoney(invoice.total, locale),
    ],
    bold,
  );
  if (seller.iban !== "") sheet.text(40, y + 66, `${labels.bank}: ${seller.iban}  (${seller.bic})`);
  sheet.text(40, 800, labels.note, { size: 7.5 });
  return { sheet, fields: "heading terms amounts items seller.vat cities seller.zip seller.phone buyer.vat bank" };
};

/** White letters on a dark column hold the sender; the totals are in a grey box on the right. */
export const darkColumn: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ size: 10 });
  const money = (value: number) => formatMoney(value, locale);
  sheet.box(0, 0, 170, 842, 0.2);
  const white: Style = { grey: 1, size: 9 };
  sheet.text(20, 60, seller.name, { ...white, font: "bold", size: 11 });
  sheet.stack(20, 80, [seller.street, seller.place, seller.phone ?? "", seller.email ?? ""], {
    ...white,
    size: 8,
    step: 13,
  });
  sheet.stack(20, 700, [labels.taxNumber, seller.vat, ...(seller.iban === "" ? [] : ["IBAN", seller.iban])], {
    ...white,
    size: 8,
    step: 13,
  });
  sheet.text(195, 66, labels.title, { size: 22 });
  for (const [index, [label, value]] of [
    [labels.id, invoice.id],
    [labels.issued, formatDate(invoice.date, locale)],
    [labels.payBy, formatDate(invoice.due, locale)],
    [labels.clientNumber, buyer.number],
  ].entries()) {
    sheet.text(195, 100 + index * 15, label ?? "", { grey: 0.45 }).text(310, 100 + index * 15, value ?? "");
  }
  sheet.text(430, 100, labels.client, { grey: 0.45 }).stack(430, 115, addressOf(buyer), { size: 9 });
  const columns = tableColumns([{ x: 195, width: 170 }], [400, 480, 570]);
  sheet.row(columns, 200, [labels.item, labels.quantity, labels.price, labels.value], { grey: 0.45 });
  let y = 222;
  for (const [index, item] of lines.entries()) {
    if (index % 2 === 0) sheet.box(190, y - 12, 385, 18, 0.94);
    y = sheet.row(columns, y, cellsOf(item, money)) + 5;
  }
  y += 30;
  sheet.box(370, y, 205, 30 + 18 * (2 + invoice.taxes.length + (invoice.discount > 0 ? 1 : 0)), 0.88);
  y += 22;
  y = sheet.sums(y, { label: 380, value: 565, step: 18 }, [
    [labels.net, money(invoice.subtotal)],
    ...discountSum(invoice, labels.rebate, money),
    ...taxSums(invoice, (rate) => `${labels.vat} ${percent(rate, invoice)}`, money),
    [labels.toPay, money(invoice.total), { ...bold, size: 11 }],
  ]);
  return { sheet, fields: "heading due amounts items seller.vat cities seller.email buyer.number discount iban" };
};

/** A Swiss bill: groups of thousands with an apostrophe, and the payment slip that repeats the amount. */
export const paymentSlip: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ size: 9.5 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet
    .text(60, 50, seller.name, { ...bold, size: 14 })
    .text(60, 66, `${seller.street}, ${seller.place}`)
    .text(60, 80, `${labels.taxNumber} ${seller.vat}`);
  sheet.stack(350, 100, addressOf(buyer), { step: 14 });
  sheet
    .text(60, 170, `${labels.title} ${invoice.id}`, { ...bold, size: 13 })
    .text(60, 188, `${labels.issued}: ${formatDate(invoice.date, locale)}`)
    .text(230, 188, `${labels.payBy}: ${formatDate(invoice.due, locale)}`);
  const columns = tableColumns([{ x: 60, width: 240 }], [340, 430, 535]);
  sheet.row(columns, 220, [labels.item, labels.quantity, labels.price, `${labels.value} CHF`], bold);
  let y = 238;
  for (const item of lines) y = sheet.row(columns, y, cellsOf(item, figures), { step: 15 });
  sheet.rule(400, y, 535, 0.4);
  y += 14;
  sheet.sums(y, { label: 340, value: 535, step: 15 }, [
    [labels.net, figures(invoice.subtotal)],
    ...taxSums(invoice, (rate) => `${labels.vat} ${percent(rate, invoice)}`, figures),
    [`${labels.gross} CHF`, figures(invoice.total), bold],
  ]);
  sheet.rule(0, 545, 595, 0.3).bar(176, 545, 842, 0.3);
  const slip = (x: number, title: string) => {
    sheet.text(x, 562, title, { ...bold, size: 11 });
    sheet.text(x, 582, "Konto / Zahlbar an", { ...bold, size: 6 });
    sheet.stack(x, 592, [seller.iban, seller.name, seller.street, seller.place], { size: 8, step: 10 });
    sheet.text(x, 650, "Zahlbar durch", { ...bold, size: 6 });
    sheet.stack(x, 660, addressOf(buyer), { size: 8, step: 10 });
  };
  slip(14, "Empfangsschein");
  slip(370, "Zahlteil");
  for (const x of [14, 190]) {
    sheet.text(x, 720, "Währung", { ...bold, size: 6 }).text(x + 50, 720, "Betrag", { ...bold, size: 6 });
    sheet
      .text(x, 731, "CHF", { size: 8 })
      .text(x + 50, 731, formatNumber(invoice.total, { ...locale.number, group: " " }), { size: 8 });
  }
  sheet.box(190, 572, 130, 130, 0.9);
  return { sheet, fields: "heading due amounts items seller.vat cities zips iban" };
};

/** India: two halves of the tax, groups of lakhs, HSN codes, the amount in words, a grid over the whole page. */
export const goodsAndServicesTax: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines, random } = invoice;
  const sheet = new Sheet({ size: 9 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet
    .box(30, 30, 535, 760)
    .centre(297, 48, labels.title, { ...bold, size: 12 })
    .rule(30, 56, 565);
  sheet.stack(
    36,
    72,
    [seller.name, seller.street, seller.place, `${labels.taxNumber}: ${seller.vat}`, `E-Mail: ${seller.email ?? ""}`],
    { step: 12 },
  );
  sheet.bar(300, 56, 216).rule(30, 134, 300);
  sheet
    .text(36, 146, labels.client, { size: 7.5 })
    .stack(36, 160, [buyer.name, buyer.street, buyer.place, `${labels.taxNumber}: ${buyer.vat}`], { step: 12 });
  const cells = [
    [labels.id, invoice.id],
    [labels.issued, formatDate(invoice.date, locale)],
    [labels.reference, invoice.order],
    [labels.payBy, formatDate(invoice.due, locale)],
  ];
  for (const [index, [label, value]] of cells.entries()) {
    const [x, y] = [306 + (index % 2) * 130, 70 + Math.floor(index / 2) * 60];
    sheet.text(x, y, label ?? "", { size: 7.5 }).text(x, y + 14, value ?? "", bold);
  }
  sheet.bar(430, 56, 176).rule(300, 116, 565).rule(300, 176, 565).rule(30, 216, 565);
  const columns = tableColumns([{ x: 36 }, { x: 60, width: 200 }, { x: 275 }], [380, 455, 560]);
  sheet.row(columns, 230, ["Sl", labels.item, "HSN/SAC", labels.quantity, labels.price, labels.value], bold);
  sheet.rule(30, 236, 565);
  let y = 252;
  for (const [index, item] of lines.entries())
    y = sheet.row(
      columns,
      y,
      [
        String(index + 1),
        item.description,
        String(8400 + random.between(0, 99)),
        `${item.quantity} Nos`,
        figures(item.unitPrice),
        figures(item.amount),
      ],
      { step: 15 },
    );
  y += 14;
  const half = round(invoice.tax / 2);
  const sum = (label: string, value: string, style: Style = {}) => {
    sheet.right(455, y, label, style).right(560, y, value, style);
    y += 16;
  };
  sum(labels.net, figures(invoice.subtotal));
  sum("CGST @ 9%", figures(half));
  sum("SGST @ 9%", figures(round(invoice.tax - half)));
  sheet.rule(30, y - 8, 565);
  y += 6;
  sum(labels.gross, `₹ ${figures(invoice.total)}`, bold);
  sheet.text(36, y + 10, "Amount chargeable (in words): INR as stated above only", { size: 8 });
  sheet
    .text(36, 700, "Bank: State Cooperative Bank   A/c No.: 30214477821   IFSC: SCBL0001204", { size: 8 })
    .text(36, 760, labels.note, { size: 7.5 });
  return {
    sheet,
    fields: "heading terms subtotal tax items seller.vat cities seller.zip seller.email buyer.vat",
    also: { "bank.account_number": "30214477821" },
  };
};

/** Japan: the amount on top, the taxed sums by rate below the table, no cents. */
export const japanese: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines, taxes } = invoice;
  const sheet = new Sheet({ size: 10 });
  const figures = (value: number) => formatNumber(value, locale.number);
  sheet.centre(297, 60, labels.title, { size: 20 });
  sheet.text(50, 100, `${buyer.name} ${labels.client}`, { size: 13 }).rule(50, 106, 280);
  sheet
    .right(545, 90, `${labels.id}: ${invoice.id}`)
    .right(545, 106, `${labels.issued}: ${formatDate(invoice.date, locale)}`);
  sheet.stack(
    340,
    140,
    [seller.name, seller.place, `TEL ${seller.phone ?? ""}`, `${labels.taxNumber}: ${seller.vat}`],
    { step: 15, size: 9 },
  );
  sheet.text(50, 150, labels.toPay, { size: 12 }).text(150, 150, `¥${figures(invoice.total)}-`, { size: 16 });
  sheet.text(50, 176, `${labels.payBy}: ${formatDate(invoice.due, locale)}`);
  const columns = tableColumns([{ x: 58 }], [340, 430, 537]);
  const ys = [230, 250];
  sheet.row(columns, 244, [labels.item, labels.quantity, labels.price, labels.value]);
  let y = 265;
  for (const item of lines) {
    sheet.row(columns, y, [
      item.rate === 8 ? `${item.description} ※` : item.description,
      String(item.quantity),
      figures(item.unitPrice),
      figures(item.amount),
    ]);
    ys.push(y + 7);
    y += 21;
  }
  sheet.grid([50, 300, 350, 440, 545], ys);
  y += 12;
  for (const [label, value] of [
    [labels.net, invoice.subtotal],
    ...taxes.flatMap(({ rate, base, tax }) => [
      [`${rate}%対象`, base],
      [`${labels.vat}(${rate}%)`, tax],
    ]),
    [labels.gross, invoice.total],
  ] as [string, number][]) {
    sheet.text(380, y, label).right(537, y, `¥${figures(value)}`);
    y += 18;
  }
  sheet.text(50, y + 20, labels.note, { size: 9 });
  return {
    sheet,
    fields: "heading due subtotal tax seller.vat seller.zip",
    also: { "count:item_lines": lines.length },
  };
};

/** A supplier of energy: previous balance, payments, new charges, period. */
export const utility: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines, random } = invoice;
  const sheet = new Sheet({ size: 10 });
  const money = (value: number) => formatMoney(value, locale);
  const previous = random.between(80, 240) + 0.35;
  sheet
    .box(0, 0, 595, 56, 0.85)
    .text(40, 36, seller.name, { ...bold, size: 18 })
    .right(555, 36, labels.title, { size: 14 });
  sheet.stack(40, 90, addressOf(buyer), { step: 14 });
  const facts = [
    [labels.clientNumber, buyer.number],
    [labels.id, invoice.id],
    [labels.issued, formatDate(invoice.date, locale)],
    [labels.payBy, formatDate(invoice.due, locale)],
  ];
  for (const [index, [label, value]] of facts.entries())
    sheet.text(340, 90 + index * 15, label ?? "").right(555, 90 + index * 15, value ?? "", bold);
  sheet.box(40, 170, 515, 120).text(54, 190, "Account summary", bold);
  let y = 212;
  y = sheet.sums(y, { label: 54, value: 541, step: 16 }, [
    ["Previous balance", money(previous)],
    ["Payment received, thank you", money(-previous)],
    ["New charges", money(invoice.subtotal)],
    [`${labels.vat} (${percent(invoice.taxes[0]?.rate ?? 0, invoice)})`, money(invoice.tax)],
    [labels.gross, money(invoice.total), bold],
  ]);
  sheet.text(40, 330, "Your charges in detail", bold);
  y = 350;
  for (const item of lines) {
    sheet.text(40, y, item.description).right(555, y, money(item.amount));
    y += 16;
  }
  sheet.paragraph(40, y + 20, 500, labels.note, { size: 8 });
  sheet.text(
    40,
    790,
    `${seller.name}, ${seller.street}, ${seller.place}   ${labels.taxNumber} ${seller.vat}   ${seller.phone ?? ""}`,
    { size: 7.5 },
  );
  return {
    sheet,
    fields: "heading due amounts seller.vat cities seller.phone buyer.number",
    also: { "payment_information.previous_unpaid_balance|prior_balance": previous },
  };
};

/** Lines and total include the tax, which is stated once below the total. */
export const taxIncluded: Layout<TestLabels> = (invoice) => {
  const { locale, labels, seller, buyer, lines } = invoice;
  const sheet = new Sheet({ font: "serif", size: 11 });
  const rate = locale.rates[0] ?? 0;
  const total = round(lines.reduce((sum, { amount }) => sum + amount, 0));
  const tax = round(total - total / (1 + rate / 100));
  const money = (value: number) => formatMoney(value, locale);
  sheet
    .centre(297, 60, seller.name, { font: "bold", size: 19 })
    .centre(297, 78, `${seller.street} – ${seller.place}`, { size: 9 });
  sheet.centre(297, 92, `${labels.taxNumber}: ${seller.vat}`, { size: 9 }).rule(60, 102, 535, 1.4);
  sheet.text(60, 130, labels.client, { size: 9 }).stack(60, 146, addressOf(buyer), { step: 14 });
  sheet.text(60, 216, `${labels.title} ${labels.id} ${invoice.id}`, { font: "bold", size: 13 });
  sheet.right(535, 216, `${seller.city}, ${formatDate(invoice.date, locale)}`);
  let y = 250;
  for (const item of lines) {
    sheet.text(60, y, `${item.quantity} × ${item.description}`).right(535, y, money(item.amount));
    y += 18;
  }
  sheet.rule(60, y - 6, 535, 0.5);
  sheet.text(60, y + 12, labels.gross, { font: "bold" }).right(535, y + 12, money(total), { font: "bold" });
  sheet.text(60, y + 30, `${labels.includes} ${percent(rate, invoice)}`).right(535, y + 30, money(tax));
  sheet.text(60, y + 70, `${labels.payBy} ${formatDate(invoice.due, locale)}`);
  if (seller.iban !== "") sheet.text(60, y + 88, `${labels.bank}: ${seller.iban}`);
  sheet.text(60, 790, labels.note, { size: 8 });
  return {
    sheet,
    fields: "seller.name buyer.name id date due currency seller.vat cities buyer.zip iban",
    also: {
      "payment_information.total": total,
      "payment_information.total_tax": tax,
      "payment_information.tax_rate": rate,
      "count:item_lines": lines.length,
      ...Object.fromEntries(lines.map(({ amount }, index) => [`item_lines.${index}.amount_line`, amount])),
    },
  };
};
