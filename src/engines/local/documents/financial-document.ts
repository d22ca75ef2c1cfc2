// What an invoice or a receipt says, by rules: labels in six languages, values by their form, lines of goods by the columns of their
// table. There is no model behind it: a layout that nobody thought of is read badly, and what is not found is null.

import { type Address, readAddress } from "./address.ts";
import { findLabelled, readBlock } from "./labels.ts";
import { type Item, readItems } from "./line-items.ts";
import type { Cell, Row } from "./rows.ts";
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

export interface FinancialDocument {
  readonly isReceipt: boolean;
  readonly merchant: Party;
  readonly customer: Party;
  readonly shippingAddress: string | null;
  readonly ids: Readonly<Record<IdName, string | null>>;
  readonly dates: Readonly<Record<DateName, string | null>>;
  readonly time: string | null;
  readonly amounts: Readonly<Record<AmountName, number | null>>;
  readonly taxRate: number | null;
  readonly currency: { readonly sign: string; readonly code: string } | null;
  readonly bank: Readonly<Record<BankName, string | null>>;
  readonly paymentTerms: string | null;
  readonly paymentMethod: string | null;
  readonly cardNumber: string | null;
  readonly items: readonly Item[];
}

export interface Party {
  readonly name: string | null;
  readonly address: Address | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly fax: string | null;
  readonly website: string | null;
  readonly vatNumber: string | null;
}

type IdName =
  | "document"
  | "order"
  | "customer"
  | "taxId"
  | "siret"
  | "abn"
  | "registration"
  | "transaction"
  | "authorisation";
type DateName = "issued" | "due" | "serviceStart" | "serviceEnd" | "ordered";
type AmountName =
  | "total"
  | "due"
  | "subtotal"
  | "tax"
  | "discount"
  | "shipping"
  | "tip"
  | "paid"
  | "change"
  | "service"
  | "previous";
type BankName = "iban" | "bic" | "accountNumber" | "sortCode" | "routingNumber" | "bsb";

const hash = "(?:no\\.?|n[°ºr]\\.?|num(?:ber|éro|ero)?\\.?|#|id|ref\\.?)";
const idLabels: Readonly<Record<IdName, RegExp>> = {
  document: new RegExp(
    `^(?:tax\\s)?(?:invoice|inv\\.?|bill|receipt|facture|rechnung|factura|fattura|factuur|ticket|check|chk|order|trans(?:action)?)\\s*${hash}(?![a-z])|^rechnungs-?(?:nummer|nr\\.?)|^factuurnummer|^(?:tax\\s)?invoice\\s*[:#]|^receipt\\s*[:#]|^facture\\s*:`,
    "i",
  ),
  order: new RegExp(
    `^(?:p\\.?o\\.?|purchase\\s+order|your order|bestell)\\s*-?${hash}?(?![a-z])|^bestellnummer|^bon de commande`,
    "i",
  ),
  customer: new RegExp(`^(?:customer|client|account|kunden)\\s*-?${hash}(?![a-z])|^kundennummer|^n°\\s?client`, "i"),
  taxId: /^(?:tax\s*(?:id|no|number)|ein|tin|fein|federal tax id|steuernummer|steuer-?nr)\b\.?/i,
  siret: /\bsiret\b/i,
  abn: /\babn\b/i,
  registration:
    /^(?:company (?:reg(?:istration)?|no)|reg(?:istered)?\s?(?:no|number)|registration)\b[a-z. ]*|^(?:rcs|hrb|kvk|coc)\b/i,
  transaction: new RegExp(`^trans(?:action)?\\s*${hash}(?![a-z])`, "i"),
  authorisation: /^auth(?:ori[sz]ation)?\s*(?:code|no|#)?\b/i,
};
const dateLabels: Readonly<Record<DateName, RegExp>> = {
  issued:
    /^(?:(?:invoice|issue|bill(?:ing)?|receipt|tax|sale)\s+date|date(?:\s+of)?(?:\s+issued?|\s+invoice)?|dated|issued(?:\s+on)?|rechnungsdatum|datum|date\s+(?:de\s+)?(?:la\s+)?factur\w*|date\s+d['’]émission|fecha(?:\s+de\s+(?:emisión|factura))?|data(?:\s+fattura)?|factuurdatum)\b(?!\s*(?:due|d['’]éch))/i,
  due: /^(?:(?:payment\s+)?due(?:\s+(?:date|on|by))?|pay(?:ment)?\s+by|date\s+d['’]échéance|échéance|fällig(?:keit)?(?:\s+am)?|fälligkeitsdatum|zahlbar\s+bis|vencimiento|fecha\s+de\s+vencimiento|scadenza|vervaldatum)\b/i,
  serviceStart: /^(?:service|billing)?\s*(?:period\s*(?:from|start)?|start\s+date|from)\b/i,
  serviceEnd: /^(?:service|billing)?\s*(?:period\s*(?:to|end)|end\s+date)\b/i,
  ordered: /^(?:order(?:ed)?\s+(?:date|on)|bestelldatum|date\s+de\s+commande)\b/i,
};
/** Each list from the surest label to the vaguest. */
const amountLabels: Readonly<Record<AmountName, readonly RegExp[]>> = {
  total: [
    /^(?:grand|invoice)\s+total\b/i,
    /^total\s+(?:amount(?:\s+due)?|due|to\s+pay|payable|incl|ttc|gross|eur|usd|gbp|brutto|factura|à\s+payer)\b/i,
    /^(?:gesamtbetrag|gesamtsumme|rechnungsbetrag|endbetrag|gesamt|bruttobetrag|montant\s+(?:total|ttc)|net\s+à\s+payer|importe\s+total|totale?(?:\s+fattura)?|totaal)\b/i,
    /^total\b(?!\s*(?:tax|vat|net|ht|excl|items?|qty|quantity|discount|savings|hours|hors|tva|before|iva))/i,
  ],
  due: [
    /^(?:amount|balance|total(?:\s+amount)?|net)\s+(?:due|payable|owing|outstanding)\b/i,
    /^(?:net\s+)?à\s+payer\b/i,
    /^zu\s+zahlen\b/i,
  ],
  subtotal: [
    /^sub\s*-?\s*total\b/i,
    /^(?:net(?:\s+(?:amount|total))?|total\s+(?:net|ht|excl\w*|hors\s+taxes?|before\s+tax)|zwischensumme|netto(?:betrag|summe)?|summe\s+netto|base\s+imponible|sous-?total|subtotaal|imponibile)\b/i,
  ],
  tax: [
    /^(?:total\s+)?(?:sales\s+tax|vat|tax|gst|hst|tva|mwst\.?|ust\.?|mehrwertsteuer|umsatzsteuer|iva|btw)(?!\s*(?:id|no|n°|number|nr|reg|invoice))(?![a-z])/i,
    /^(?:zzgl\.?|incl\.?|inkl\.?|plus|includes)\s.*?(?:vat|tax|mwst|ust|tva)\b/i,
  ],
  discount: [/^(?:total\s+)?(?:discount|savings|rabatt|remise|descuento|sconto|korting)\b/i],
  shipping: [
    /^(?:shipping|delivery|freight|postage|carriage|versand(?:kosten)?|frais\s+de\s+port|livraison|envío|spedizione|verzend\w*)\b/i,
  ],
  tip: [/^(?:tip|gratuity)\b/i],
  paid: [
    /^(?:amount\s+paid|paid|payments?\s+received|deposit\s+paid|cash(?:\s+tendered)?|tendered|card(?:\s+payment)?|visa|mastercard|bezahlt|payé|reçu|bar)\b/i,
  ],
  change: [/^(?:change(?:\s+due)?|rückgeld|rendu|monnaie|cambio)\b/i],
  service: [/^service(?:\s+charge)?\b/i],
  previous: [/^(?:previous|prior)\s+balance\b/i],
};
const customerLabel =
  /^(?:bill(?:ed)?\s*to|invoiced?\s*to|sold\s+to|customer|client|buyer|attn|prepared\s+for|to|facturé\s+à|adressé\s+à|destinataire|rechnung\s+an|rechnungsempfänger|kunde|cliente|klant)\s*:?\s*$/i;
const customerInline =
  /^(?:bill(?:ed)?\s*to|invoiced?\s*to|sold\s+to|customer(?:\s+name)?|client|buyer|facturé\s+à|rechnung\s+an)\s*:\s*(?=\S)/i;
const merchantLabel =
  /^(?:from|seller|vendor|supplier|merchant|issued\s+by|émetteur|vendeur|verkäufer|lieferant|emisor)\s*:?\s*$/i;
const shippingLabel =
  /^(?:ship(?:ped)?\s*to|deliver(?:y|ed)?\s*(?:to|address)|livré\s+à|lieferadresse|adresse\s+de\s+livraison)\s*:?\s*$/i;
/** Titles and labels that stand where a name could. */
const notAName =
  /^(?:tax\s+|sales\s+|commercial\s+|pro\s?-?forma\s+|original\s+|customer\s+)?(?:invoice|facture|rechnung|factura|fattura|factuur|receipt|quittung|reçu|ticket|bill|statement|credit\s+note|order|page|copy|date|datum|welcome|thank)\b/i;
const contactLine =
  /@|\bwww\.|https?:|^(?:tel|phone|ph|fax|mobile|e-?mail|web|vat|tax|ein|abn|siret|siren|tva|ust|iva|nif|cif|company|reg|iban|bic|tél|telefon)\b|\bvat\b|^\+?[\d\s().-]{8,}$/i;
const methods: readonly (readonly [RegExp, string])[] = [
  [/\bvisa\b/i, "visa"],
  [/\bmaster\s?card\b/i, "mastercard"],
  [/\b(?:amex|american express)\b/i, "american express"],
  [/\bmaestro\b/i, "maestro"],
  [/\b(?:credit|debit)\s+card\b|\bcarte bancaire\b|\bec-?karte\b/i, "card"],
  [/\bpaypal\b/i, "paypal"],
  [/\b(?:bank|wire)\s+transfer\b|\bvirement\b|\büberweisung\b|\bsepa\b/i, "bank transfer"],
  [/\bcash\b|\bespèces\b|\bbarzahlung\b/i, "cash"],
];

/** The same label without its accents too: English language data reads "Facture a" and "Fallig am". */
function tolerant(label: RegExp): RegExp {
  // Bun writes the letters of a literal pattern as \u00E9.
  const source = label.source.replace(/\\u([0-9A-F]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return new RegExp(
    source.replace(/[à-öø-ÿ]/g, (letter) => `[${letter}${letter.normalize("NFD")[0]}]`),
    label.flags,
  );
}

export function readFinancialDocument(rows: readonly Row[]): FinancialDocument {
  const text = rows.map((row) => row.text).join("\n");
  const currency = findCurrency(text);
  const monthComesFirst = currency?.code === "USD";
  const readDate = (value: string) => findDate(value, monthComesFirst);
  const { items, firstRow, lastRow } = readItems(rows);
  const outsideItems = rows.filter(
    (_, index) => firstRow === null || lastRow === null || index < firstRow || index > lastRow,
  );
  const amounts = readAmounts(outsideItems);
  const isReceipt = looksLikeReceipt(text, rows);
  const dates = mapValues(dateLabels, (label) => findLabelled(rows, tolerant(label), readDate)?.value ?? null);
  const period = /(?:service|billing)?\s*period\s*:?\s*(.+?)\s+(?:to|until|–|-|bis|au)\s+(.+)/i.exec(text);
  return {
    isReceipt,
    ...readParties(rows),
    ids: readIds(rows),
    dates: {
      ...dates,
      issued: dates.issued ?? (isReceipt || dates.due === null ? readDate(text) : null),
      serviceStart: readDate(period?.[1] ?? ""),
      serviceEnd: readDate(period?.[2] ?? ""),
    },
    time: /(?<![\d:])([01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[ap]m)?(?![\d:])/i.exec(text)?.[0] ?? null,
    amounts: reconcile(amounts),
    taxRate: readTaxRate(outsideItems),
    currency,
    bank: readBank(text),
    paymentTerms:
      findLabelled(
        rows,
        /^(?:payment\s+)?terms\b(?!\s*(?:and|&))|^zahlungsbedingungen|^conditions\s+de\s+paiement/i,
        readSome,
      )?.value ?? null,
    paymentMethod: findPaymentMethod(text, isReceipt),
    cardNumber: /(?<![\p{L}*])[*xX•#][*xX•# -]{1,30}\d{4}(?!\d)/u.exec(text)?.[0].replace(/\s+/g, " ") ?? null,
    items,
  };
}

function readIds(rows: readonly Row[]): Record<IdName, string | null> {
  const readId = (value: string) =>
    /^[#:\s]*([A-Z0-9][\w./-]*\d[\w./-]*|\d+)/i.exec(value)?.[1]?.replace(/[.,]+$/, "") ?? null;
  const readDigits = (value: string) => /^[:\s]*(\d[\d\s.-]{7,18}\d)/.exec(value)?.[1]?.trim() ?? null;
  const ids = mapValues(idLabels, (label, name) =>
    findLabelled(rows, tolerant(label), name === "siret" || name === "abn" ? readDigits : readId),
  );
  const title =
    /^(?:tax\s+)?(?:invoice|facture|rechnung|factura|receipt)\s+(?:n[°or]\.?\s*)?#?([A-Z]{0,5}-?\d[\w/-]*)$/i;
  const titled = rows
    .flatMap((row) => row.cells)
    .map((cell) => title.exec(cell.text)?.[1])
    .find((id) => id !== undefined);
  return { ...mapValues(ids, (found) => found?.value ?? null), document: ids.document?.value ?? titled ?? null };
}

function readAmounts(rows: readonly Row[]): Record<AmountName, number | null> {
  return mapValues(amountLabels, (labels) => {
    for (const label of labels.map(tolerant)) {
      // The last one counts: totals stand at the end, and a table's head may be called "Total" too.
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
    // A rate or a base may stand between the label and its amount.
    const found = amounts.at(-1) ?? readLastAmount(cell.text.slice(match[0].length));
    if (found !== null) return Math.abs(found.value);
  }
  return null;
}

/** What is missing follows from the others, when exactly one is. */
function reconcile(amounts: Record<AmountName, number | null>): Record<AmountName, number | null> {
  const { total, due, subtotal, tax, discount, shipping } = amounts;
  const whole = total ?? due;
  const extras = (shipping ?? 0) - (discount ?? 0);
  const isTooMuch = whole !== null && subtotal !== null && subtotal > whole + (discount ?? 0);
  if (whole === null && subtotal !== null && tax !== null) return { ...amounts, total: cents(subtotal + tax + extras) };
  if (isTooMuch) return { ...amounts, total: whole, subtotal: null };
  if (whole !== null && subtotal === null && tax !== null && tax < whole)
    return { ...amounts, total: whole, subtotal: cents(whole - tax - extras) };
  return { ...amounts, total: whole };
}

function cents(value: number): number {
  return Math.round(value * 100) / 100;
}

function readTaxRate(rows: readonly Row[]): number | null {
  for (const row of rows) {
    if (!/\b(?:vat|tax|gst|hst|tva|mwst|ust|mehrwertsteuer|iva|btw)/i.test(row.text)) continue;
    const rate = /(\d{1,2}(?:[.,]\d{1,3})?)\s?%/.exec(row.text)?.[1];
    if (rate !== undefined) return Number(rate.replace(",", "."));
  }
  return null;
}

function readBank(text: string): Record<BankName, string | null> {
  const bic = /\b(?:bic|swift)(?:[\s/-]*(?:bic|swift|code))*\s*[:\s]\s*([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)\b/i.exec(
    text,
  )?.[1];
  return {
    iban: findIban(text),
    bic: bic?.toUpperCase() ?? null,
    accountNumber:
      /\b(?:account|acct?)\.?\s*(?:no|number|#|num)\.?\s*[:\s]\s*(\d[\d -]{4,20}\d)(?!\d)/i.exec(text)?.[1]?.trim() ??
      null,
    sortCode: /\bsort\s*code\s*[:\s]\s*(\d{2}[\s-]?\d{2}[\s-]?\d{2})\b/i.exec(text)?.[1] ?? null,
    routingNumber: /\b(?:routing|aba)\s*(?:no|number|#)?\.?\s*[:\s]\s*(\d{9})\b/i.exec(text)?.[1] ?? null,
    bsb: /\bbsb\s*(?:no|number)?\s*[:\s]\s*(\d{3}[\s-]?\d{3})\b/i.exec(text)?.[1] ?? null,
  };
}

function readParties(rows: readonly Row[]): Pick<FinancialDocument, "merchant" | "customer" | "shippingAddress"> {
  const customerLines = findBlock(rows, customerLabel) ?? findInlineBlock(rows);
  const shippingLines = findBlock(rows, shippingLabel);
  const merchantLines = findBlock(rows, merchantLabel) ?? findHead(rows, customerLines ?? []);
  const customerText = (customerLines ?? []).join("\n");
  const text = rows.map((row) => row.text).join("\n");
  const rest = (customerLines ?? []).reduce((whole, line) => whole.replace(line, ""), text);
  return {
    customer: toParty(customerLines ?? [], customerText),
    merchant: toParty(merchantLines, rest),
    shippingAddress: shippingLines === null ? null : shippingLines.join(", "),
  };
}

function toParty(lines: readonly string[], contacts: string): Party {
  const [name = null, ...others] = lines;
  const address = others.filter((line) => !contactLine.test(line));
  return {
    name,
    address: readAddress(address),
    email: findEmails(contacts)[0] ?? null,
    phone: findPhones(contacts)[0] ?? null,
    fax: findFaxes(contacts)[0] ?? null,
    website: findWebsites(contacts)[0] ?? null,
    vatNumber: findVatNumbers(contacts)[0] ?? null,
  };
}

function findBlock(rows: readonly Row[], label: RegExp): string[] | null {
  for (const [index, row] of rows.entries()) {
    const cell = row.cells.find(({ text }) => tolerant(label).test(text));
    if (cell === undefined) continue;
    const lines = readBlock(rows, index, cell, endsBlock);
    if (lines.length > 0) return lines;
    const beside = row.cells[row.cells.indexOf(cell) + 1];
    if (beside !== undefined && !endsBlock(beside.text))
      return [beside.text, ...readBlock(rows, index, beside, endsBlock)];
  }
  return null;
}

function findInlineBlock(rows: readonly Row[]): string[] | null {
  for (const [index, row] of rows.entries()) {
    for (const cell of row.cells) {
      const match = customerInline.exec(cell.text);
      if (match === null) continue;
      return [cell.text.slice(match[0].length).trim(), ...readBlock(rows, index, cell, endsBlock)];
    }
  }
  return null;
}

const itemHead =
  /\b(?:description|item|product|qty|quantity|désignation|beschreibung|artikel|bezeichnung|concepto|descripción)\b/i;

function endsBlock(text: string): boolean {
  const isLabel = [customerLabel, merchantLabel, shippingLabel, customerInline].some((label) => label.test(text));
  const isField = [...Object.values(idLabels), ...Object.values(dateLabels)].some((label) => label.test(text));
  return isLabel || isField || itemHead.test(text) || /^(?:sub\s*-?total|total|payment|notes?|terms)\b/i.test(text);
}

/** Whoever is named at the head of the page: the largest print there, else the first line that may be a name. */
function findHead(rows: readonly Row[], customerLines: readonly string[]): string[] {
  const head = rows.slice(0, Math.max(8, Math.ceil(rows.length / 3)));
  const candidates: { index: number; cell: Cell; height: number }[] = [];
  for (const [index, row] of head.entries()) {
    for (const cell of row.cells) {
      if (mayBeName(cell.text) && !customerLines.includes(cell.text))
        candidates.push({ index, cell, height: row.height });
    }
  }
  const [first] = candidates;
  if (first === undefined) return [];
  const largest = candidates.reduce((best, other) => (other.height > best.height * 1.15 ? other : best), first);
  return [largest.cell.text, ...readBlock(rows, largest.index, largest.cell, endsBlock)];
}

function mayBeName(text: string): boolean {
  if (notAName.test(text) || contactLine.test(text) || endsBlock(text)) return false;
  return /\p{L}{2}/u.test(text) && !/^\d/.test(text) && findDate(text) === null && text.length <= 60;
}

function looksLikeReceipt(text: string, rows: readonly Row[]): boolean {
  if (/\b(?:tax\s+)?invoice\b|\bfacture\b|\brechnung\b|\bfactura\b|\bfattura\b|\bfactuur\b/i.test(text)) return false;
  const signs =
    /\breceipt\b|\bcashier\b|\bchange\b|\bcash\b|\bvisa\b|\bmastercard\b|\bthank you\b|\bticket\b|\bquittung\b|\bkassenbon\b/i;
  return signs.test(text) || rows.every((row) => row.cells.length <= 3);
}

function findPaymentMethod(text: string, isReceipt: boolean): string | null {
  const labelled = /(?:payment\s+method|paid\s+(?:by|with|via)|mode\s+de\s+paiement|zahlungsart)\s*:?\s*(.+)/i.exec(
    text,
  )?.[1];
  const searched = labelled ?? (isReceipt ? text : "");
  return methods.find(([pattern]) => pattern.test(searched))?.[1] ?? null;
}

function readSome(value: string): string | null {
  return value.trim() === "" ? null : value.trim();
}

function mapValues<Name extends string, From, To>(
  record: Readonly<Record<Name, From>>,
  map: (value: From, name: Name) => To,
) {
  // Object.entries forgets the names' type.
  const entries = Object.entries(record) as [Name, From][];
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)])) as Record<Name, To>;
}
