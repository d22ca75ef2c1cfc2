// Reads an invoice or a receipt by rules: labels in six languages, the forms of values, and the columns of the item table. There is no model, so
// an unusual layout is read badly. Values that are not found are null.

import { mapValues } from "../map-values.ts";
import { roundTo2 } from "../numbers.ts";
import { readAddress } from "./address.ts";
import * as labels from "./financial-labels.ts";
import { findLabelled, readBlock } from "./labels.ts";
import { readItems } from "./line-items.ts";
import type { Row } from "./rows.ts";
import {
  findCurrency,
  findDate,
  findEmails,
  findFaxes,
  findIban,
  findPhones,
  findVatNumbers,
  findWebsites,
  readAmount,
  readLastAmount,
} from "./values.ts";

export type FinancialDocument = ReturnType<typeof readFinancialDocument>;
type Amounts = Record<keyof typeof labels.amountLabels, number | null>;

/** The groups of members have the names of the task's output. */
export function readFinancialDocument(rows: readonly Row[]) {
  const text = rows.map((row) => row.text).join("\n");
  const currency = findCurrency(text);
  const { items, firstRow, lastRow } = readItems(rows);
  const outsideItems = rows.filter(
    (_, index) => firstRow === null || lastRow === null || index < firstRow || index > lastRow,
  );
  const isReceipt = looksLikeReceipt(text, rows);
  const { customer_number, tax_id, siret_number, abn_number, registration, ...ids } = readIds(rows);
  const { invoice_receipt_id, purchase_order, ...payment } = ids;
  const amounts = reconcile(readAmounts(outsideItems));
  const { customer, merchant, shippingAddress } = readParties(rows);
  const { fax: _, ...customerContacts } = customer.contacts;
  return {
    isReceipt,
    customer_information: {
      ...toAddressMembers(customer),
      ...customerContacts,
      name: customer.name,
      billing_address: customer.address?.formatted ?? null,
      mailling_address: customer.address?.formatted ?? null,
      shipping_address: shippingAddress,
      customer_number,
    },
    merchant_information: {
      ...toAddressMembers(merchant),
      ...merchant.contacts,
      name: merchant.name,
      address: merchant.address?.formatted ?? null,
      country_code: merchant.address?.country?.alpha2 ?? null,
      tax_id,
      siret_number,
      abn_number,
      registration,
    },
    payment_information: {
      ...amounts,
      ...payment,
      tax_rate: readTaxRate(outsideItems),
      gratuity: amounts.amount_tip,
      prior_balance: amounts.previous_unpaid_balance,
      payment_terms: readPaymentTerms(rows),
      payment_method: findPaymentMethod(text, isReceipt),
      payment_card_number:
        /(?<![\p{L}*])[*xX•#][*xX•# -]{1,30}\d{4}(?!\d)/u.exec(text)?.[0].replace(/\s+/g, " ") ?? null,
    },
    financial_document_information: {
      ...readDates(rows, text, { isReceipt, monthComesFirst: currency?.code === "USD" }),
      invoice_receipt_id,
      purchase_order,
      time: /(?<![\d:])([01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[ap]m)?(?![\d:])/i.exec(text)?.[0] ?? null,
    },
    local: {
      currency: currency?.sign ?? null,
      currency_code: currency?.code ?? null,
      country: merchant.address?.country?.name ?? null,
    },
    bank: readBank(text),
    item_lines: items,
  };
}

function readIds(rows: readonly Row[]) {
  const readId = (value: string) =>
    /^[#:\s]*([A-Z0-9][\w./-]*\d[\w./-]*|\d+)/i.exec(value)?.[1]?.replace(/[.,]+$/, "") ?? null;
  const readDigits = (value: string) => /^[:\s]*(\d[\d\s.-]{7,18}\d)/.exec(value)?.[1]?.trim() ?? null;
  const ids = mapValues(labels.idLabels, (label, name) =>
    findLabelled(rows, label, name === "siret_number" || name === "abn_number" ? readDigits : readId),
  );
  const title =
    /^(?:tax\s+)?(?:invoice|facture|rechnung|factura|receipt)\s+(?:n[°or]\.?\s*)?#?([A-Z]{0,5}-?\d[\w/-]*)$/i;
  const titles = rows.flatMap((row) => row.cells).map((cell) => title.exec(cell.text)?.[1]);
  const idInTitle = titles.find((id) => id !== undefined) ?? null;
  return { ...ids, invoice_receipt_id: ids.invoice_receipt_id ?? idInTitle };
}

function readDates(
  rows: readonly Row[],
  text: string,
  { isReceipt, monthComesFirst }: { isReceipt: boolean; monthComesFirst: boolean },
) {
  const readDate = (value: string) => findDate(value, monthComesFirst);
  const dates = mapValues(labels.dateLabels, (label) => findLabelled(rows, label, readDate));
  const period = /(?:service|billing)?\s*period\s*:?\s*(.+?)\s+(?:to|until|–|-|bis|au)\s+(.+)/i.exec(text);
  const mayUseAnyDate = isReceipt || dates.invoice_due_date === null;
  return {
    ...dates,
    invoice_date: dates.invoice_date ?? (mayUseAnyDate ? readDate(text) : null),
    service_start_date: readDate(period?.[1] ?? ""),
    service_end_date: readDate(period?.[2] ?? ""),
  };
}

function readAmounts(rows: readonly Row[]): Amounts {
  return mapValues(labels.amountLabels, (labels) => {
    for (const label of labels) {
      // The last one counts, because totals are at the end and the head of a table may contain "Total", too.
      for (const row of rows.toReversed()) {
        const amount = readRowAmount(row, label);
        if (amount !== null) return amount;
      }
    }
    return null;
  });
}

function readRowAmount(row: Row, label: RegExp): number | null {
  for (const [index, cell] of row.cells.entries()) {
    const match = label.exec(cell.text);
    if (match === null) continue;
    const amounts = row.cells
      .slice(index + 1)
      .map((other) => readAmount(other.text))
      .filter((amount) => amount !== null);
    // A rate or a base may be between the label and its amount.
    const found = amounts.at(-1) ?? readLastAmount(cell.text.slice(match[0].length));
    if (found !== null) return Math.abs(found);
  }
  return null;
}

/** Computes the total or the subtotal if it is missing, and drops a subtotal that exceeds the total. */
function reconcile(amounts: Amounts): Amounts {
  const { subtotal, total_tax: tax } = amounts;
  const total = amounts.total ?? amounts.amount_due;
  const discount = amounts.discount ?? 0;
  const extras = (amounts.amount_shipping ?? 0) - discount;
  if (total === null && subtotal !== null && tax !== null)
    return { ...amounts, total: roundTo2(subtotal + tax + extras) };
  if (total !== null && subtotal !== null && subtotal > total + discount) return { ...amounts, total, subtotal: null };
  if (total !== null && subtotal === null && tax !== null && tax < total)
    return { ...amounts, total, subtotal: roundTo2(total - tax - extras) };
  return { ...amounts, total };
}

function readTaxRate(rows: readonly Row[]): number | null {
  for (const row of rows) {
    if (!/\b(?:vat|tax|gst|hst|tva|mwst|ust|mehrwertsteuer|iva|btw)/i.test(row.text)) continue;
    const rate = /(\d{1,2}(?:[.,]\d{1,3})?)\s?%/.exec(row.text)?.[1];
    if (rate !== undefined) return Number(rate.replace(",", "."));
  }
  return null;
}

function readPaymentTerms(rows: readonly Row[]): string | null {
  const label = /^(?:payment\s+)?terms\b(?!\s*(?:and|&))|^zahlungsbedingungen|^conditions\s+de\s+paiement/i;
  return findLabelled(rows, label, (value) => value.trim() || null);
}

function findPaymentMethod(text: string, isReceipt: boolean): string | null {
  const label = /(?:payment\s+method|paid\s+(?:by|with|via)|mode\s+de\s+paiement|zahlungsart)\s*:?\s*(.+)/i;
  const searched = label.exec(text)?.[1] ?? (isReceipt ? text : "");
  return labels.paymentMethods.find(([pattern]) => pattern.test(searched))?.[1] ?? null;
}

function readBank(text: string) {
  const find = (pattern: RegExp) => pattern.exec(text)?.[1]?.trim() ?? null;
  const bic =
    find(
      /\b(?:bic|swift)(?:[\s/-]*(?:bic|swift|code))*\s*[:\s]\s*([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)\b/i,
    )?.toUpperCase() ?? null;
  return {
    iban: findIban(text),
    swift: bic,
    bic,
    account_number: find(/\b(?:account|acct?)\.?\s*(?:no|number|#|num)\.?\s*[:\s]\s*(\d[\d -]{4,20}\d)(?!\d)/i),
    sort_code: find(/\bsort\s*code\s*[:\s]\s*(\d{2}[\s-]?\d{2}[\s-]?\d{2})\b/i),
    routing_number: find(/\b(?:routing|aba)\s*(?:no|number|#)?\.?\s*[:\s]\s*(\d{9})\b/i),
    bsb: find(/\bbsb\s*(?:no|number)?\s*[:\s]\s*(\d{3}[\s-]?\d{3})\b/i),
  };
}

function readParties(rows: readonly Row[]) {
  const customerLines = findBlock(rows, labels.partyLabels.customer) ?? findInlineBlock(rows) ?? [];
  const merchantLines = findBlock(rows, labels.partyLabels.merchant) ?? findHead(rows, customerLines);
  const text = rows.map((row) => row.text).join("\n");
  const textOfOthers = customerLines.reduce((whole, line) => whole.replace(line, ""), text);
  return {
    customer: toParty(customerLines, customerLines.join("\n")),
    merchant: toParty(merchantLines, textOfOthers),
    shippingAddress: findBlock(rows, labels.partyLabels.shipping)?.join(", ") ?? null,
  };
}

function toParty([name, ...others]: readonly string[], contacts: string) {
  return {
    name: name ?? null,
    address: readAddress(others.filter((line) => !labels.contactLine.test(line))),
    contacts: {
      email: findEmails(contacts)[0] ?? null,
      phone: findPhones(contacts)[0] ?? null,
      fax: findFaxes(contacts)[0] ?? null,
      website: findWebsites(contacts)[0] ?? null,
      vat_number: findVatNumbers(contacts)[0] ?? null,
    },
  };
}

function toAddressMembers({ address }: ReturnType<typeof toParty>) {
  return {
    city: address?.city ?? null,
    country: address?.country?.name ?? null,
    house_number: address?.houseNumber ?? null,
    province: address?.province ?? null,
    street_name: address?.street ?? null,
    zip_code: address?.zipCode ?? null,
  };
}

/** The lines under a label, or beside it. */
function findBlock(rows: readonly Row[], label: RegExp): string[] | null {
  for (const [index, row] of rows.entries()) {
    const cell = row.cells.find(({ text }) => label.test(text));
    if (cell === undefined) continue;
    const lines = readBlock(rows, index, cell, labels.endsBlock);
    if (lines.length > 0) return lines;
    const beside = row.cells[row.cells.indexOf(cell) + 1];
    if (beside !== undefined && !labels.endsBlock(beside.text))
      return [beside.text, ...readBlock(rows, index, beside, labels.endsBlock)];
  }
  return null;
}

function findInlineBlock(rows: readonly Row[]): string[] | null {
  for (const [index, row] of rows.entries()) {
    for (const cell of row.cells) {
      const match = labels.customerInline.exec(cell.text);
      if (match === null) continue;
      return [cell.text.slice(match[0].length).trim(), ...readBlock(rows, index, cell, labels.endsBlock)];
    }
  }
  return null;
}

/** The lines that begin with the largest print at the top of the page, otherwise with the first line that may be a name. */
function findHead(rows: readonly Row[], customerLines: readonly string[]): string[] {
  const head = rows.slice(0, Math.max(8, Math.ceil(rows.length / 3)));
  const cells = head.flatMap((row, index) => row.cells.map((cell) => ({ index, cell, height: row.height })));
  const candidates = cells.filter(({ cell: { text } }) => mayBeName(text) && !customerLines.includes(text));
  const [first] = candidates;
  if (first === undefined) return [];
  const largest = candidates.reduce((best, other) => (other.height > best.height * 1.15 ? other : best), first);
  return [largest.cell.text, ...readBlock(rows, largest.index, largest.cell, labels.endsBlock)];
}

function mayBeName(text: string): boolean {
  if (labels.notAName.test(text) || labels.contactLine.test(text) || labels.endsBlock(text)) return false;
  return /\p{L}{2}/u.test(text) && !/^\d/.test(text) && findDate(text) === null && text.length <= 60;
}

function looksLikeReceipt(text: string, rows: readonly Row[]): boolean {
  if (/\b(?:tax\s+)?invoice\b|\bfacture\b|\brechnung\b|\bfactura\b|\bfattura\b|\bfactuur\b/i.test(text)) return false;
  const signs =
    /\breceipt\b|\bcashier\b|\bchange\b|\bcash\b|\bvisa\b|\bmastercard\b|\bthank you\b|\bticket\b|\bquittung\b|\bkassenbon\b/i;
  return signs.test(text) || rows.every((row) => row.cells.length <= 3);
}
