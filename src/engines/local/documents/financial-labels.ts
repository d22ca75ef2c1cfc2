// The labels of invoices and receipts in six languages, by the members of the task's output.

import { mapValues } from "../map-values.ts";

const number = "(?:no\\.?|n[°ºr]\\.?|num(?:ber|éro|ero)?\\.?|#|id|ref\\.?)";

export const idLabels = mapValues(
  {
    invoice_receipt_id: new RegExp(
      `^(?:tax\\s)?(?:invoice|inv\\.?|bill|receipt|facture|rechnung|factura|fattura|factuur|ticket|check|chk|order|trans(?:action)?)\\s*${number}(?![a-z])|^rechnungs-?(?:nummer|nr\\.?)|^factuurnummer|^(?:tax\\s)?invoice\\s*[:#]|^receipt\\s*[:#]|^facture\\s*:`,
      "i",
    ),
    purchase_order: new RegExp(
      `^(?:p\\.?o\\.?|purchase\\s+order|your order|bestell)\\s*-?${number}?(?![a-z])|^bestellnummer|^bon de commande`,
      "i",
    ),
    customer_number: new RegExp(
      `^(?:customer|client|account|kunden)\\s*-?${number}(?![a-z])|^kundennummer|^n°\\s?client`,
      "i",
    ),
    tax_id: /^(?:tax\s*(?:id|no|number)|ein|tin|fein|federal tax id|steuernummer|steuer-?nr)\b\.?/i,
    siret_number: /\bsiret\b/i,
    abn_number: /\babn\b/i,
    registration:
      /^(?:company (?:reg(?:istration)?|no)|reg(?:istered)?\s?(?:no|number)|registration)\b[a-z. ]*|^(?:rcs|hrb|kvk|coc)\b/i,
    transaction_number: new RegExp(`^trans(?:action)?\\s*${number}(?![a-z])`, "i"),
    payment_auth_code: /^auth(?:ori[sz]ation)?\s*(?:code|no|#)?\b/i,
  },
  ignoreAccents,
);

export const dateLabels = mapValues(
  {
    invoice_date:
      /^(?:(?:invoice|issue|bill(?:ing)?|receipt|tax|sale)\s+date|date(?:\s+of)?(?:\s+issued?|\s+invoice)?|dated|issued(?:\s+on)?|rechnungsdatum|datum|date\s+(?:de\s+)?(?:la\s+)?factur\w*|date\s+d['’]émission|fecha(?:\s+de\s+(?:emisión|factura))?|data(?:\s+fattura)?|factuurdatum)\b(?!\s*(?:due|d['’]éch))/i,
    invoice_due_date:
      /^(?:(?:payment\s+)?due(?:\s+(?:date|on|by))?|pay(?:ment)?\s+by|date\s+d['’]échéance|échéance|fällig(?:keit)?(?:\s+am)?|fälligkeitsdatum|zahlbar\s+bis|vencimiento|fecha\s+de\s+vencimiento|scadenza|vervaldatum)\b/i,
    order_date: /^(?:order(?:ed)?\s+(?:date|on)|bestelldatum|date\s+de\s+commande)\b/i,
  },
  ignoreAccents,
);

/** The patterns of each amount, the most specific first. */
export const amountLabels = mapValues(
  {
    total: [
      /^(?:grand|invoice)\s+total\b/i,
      /^total\s+(?:amount(?:\s+due)?|due|to\s+pay|payable|incl|ttc|gross|eur|usd|gbp|brutto|factura|à\s+payer)\b/i,
      /^(?:gesamtbetrag|gesamtsumme|rechnungsbetrag|endbetrag|gesamt|bruttobetrag|montant\s+(?:total|ttc)|net\s+à\s+payer|importe\s+total|totale?(?:\s+fattura)?|totaal)\b/i,
      /^total\b(?!\s*(?:tax|vat|net|ht|excl|items?|qty|quantity|discount|savings|hours|hors|tva|before|iva))/i,
    ],
    amount_due: [
      /^(?:amount|balance|total(?:\s+amount)?|net)\s+(?:due|payable|owing|outstanding)\b/i,
      /^(?:net\s+)?à\s+payer\b/i,
      /^zu\s+zahlen\b/i,
    ],
    subtotal: [
      /^sub\s*-?\s*total\b/i,
      /^(?:net(?:\s+(?:amount|total))?|total\s+(?:net|ht|excl\w*|hors\s+taxes?|before\s+tax)|zwischensumme|netto(?:betrag|summe)?|summe\s+netto|base\s+imponible|sous-?total|subtotaal|imponibile)\b/i,
    ],
    total_tax: [
      /^(?:total\s+)?(?:sales\s+tax|vat|tax|gst|hst|tva|mwst\.?|ust\.?|mehrwertsteuer|umsatzsteuer|iva|btw)(?!\s*(?:id|no|n°|number|nr|reg|invoice))(?![a-z])/i,
      /^(?:zzgl\.?|incl\.?|inkl\.?|plus|includes)\s.*?(?:vat|tax|mwst|ust|tva)\b/i,
    ],
    discount: [/^(?:total\s+)?(?:discount|savings|rabatt|remise|descuento|sconto|korting)\b/i],
    amount_shipping: [
      /^(?:shipping|delivery|freight|postage|carriage|versand(?:kosten)?|frais\s+de\s+port|livraison|envío|spedizione|verzend\w*)\b/i,
    ],
    amount_tip: [/^(?:tip|gratuity)\b/i],
    amount_paid: [
      /^(?:amount\s+paid|paid|payments?\s+received|deposit\s+paid|cash(?:\s+tendered)?|tendered|card(?:\s+payment)?|visa|mastercard|bezahlt|payé|reçu|bar)\b/i,
    ],
    amount_change: [/^(?:change(?:\s+due)?|rückgeld|rendu|monnaie|cambio)\b/i],
    service_charge: [/^service(?:\s+charge)?\b/i],
    previous_unpaid_balance: [/^(?:previous|prior)\s+balance\b/i],
  },
  (patterns) => patterns.map(ignoreAccents),
);

/** Headings above the lines of a party. */
export const partyLabels = mapValues(
  {
    customer:
      /^(?:bill(?:ed)?\s*to|invoiced?\s*to|sold\s+to|customer|client|buyer|attn|prepared\s+for|to|facturé\s+à|adressé\s+à|destinataire|rechnung\s+an|rechnungsempfänger|kunde|cliente|klant)\s*:?\s*$/i,
    merchant:
      /^(?:from|seller|vendor|supplier|merchant|issued\s+by|émetteur|vendeur|verkäufer|lieferant|emisor)\s*:?\s*$/i,
    shipping:
      /^(?:ship(?:ped)?\s*to|deliver(?:y|ed)?\s*(?:to|address)|livré\s+à|lieferadresse|adresse\s+de\s+livraison)\s*:?\s*$/i,
  },
  ignoreAccents,
);
/** A label in the same line as the name of the customer. */
export const customerInline =
  /^(?:bill(?:ed)?\s*to|invoiced?\s*to|sold\s+to|customer(?:\s+name)?|client|buyer|facturé\s+à|rechnung\s+an)\s*:\s*(?=\S)/i;

/** Labels and headings that end the lines of a party. */
const blockEnds = [
  ...Object.values(partyLabels),
  customerInline,
  ...Object.values(idLabels),
  ...Object.values(dateLabels),
  /^(?:service|billing)?\s*(?:period\s*(?:from|start|to|end)?|(?:start|end)\s+date|from)\b/i,
  /\b(?:description|item|product|qty|quantity|désignation|beschreibung|artikel|bezeichnung|concepto|descripción)\b/i,
  /^(?:sub\s*-?total|total|payment|notes?|terms)\b/i,
];
export const endsBlock = (text: string) => blockEnds.some((label) => label.test(text));

/** Titles and labels at positions where a name is expected. */
export const notAName =
  /^(?:tax\s+|sales\s+|commercial\s+|pro\s?-?forma\s+|original\s+|customer\s+)?(?:invoice|facture|rechnung|factura|fattura|factuur|receipt|quittung|reçu|ticket|bill|statement|credit\s+note|order|page|copy|date|datum|welcome|thank)\b/i;
/** Lines of a party that are not a part of its address. */
export const contactLine =
  /@|\bwww\.|https?:|^(?:tel|phone|ph|fax|mobile|e-?mail|web|vat|tax|ein|abn|siret|siren|tva|ust|iva|nif|cif|company|reg|iban|bic|tél|telefon)\b|\bvat\b|^\+?[\d\s().-]{8,}$/i;
export const paymentMethods: readonly (readonly [RegExp, string])[] = [
  [/\bvisa\b/i, "visa"],
  [/\bmaster\s?card\b/i, "mastercard"],
  [/\b(?:amex|american express)\b/i, "american express"],
  [/\bmaestro\b/i, "maestro"],
  [/\b(?:credit|debit)\s+card\b|\bcarte bancaire\b|\bec-?karte\b/i, "card"],
  [/\bpaypal\b/i, "paypal"],
  [/\b(?:bank|wire)\s+transfer\b|\bvirement\b|\büberweisung\b|\bsepa\b/i, "bank transfer"],
  [/\bcash\b|\bespèces\b|\bbarzahlung\b/i, "cash"],
];

/** Also matches the label without its accents, because English OCR reads "Facture a" and "Fallig am". */
function ignoreAccents(label: RegExp): RegExp {
  // Bun writes accented letters of a pattern as \u00E9.
  const source = label.source.replace(/\\u([0-9A-F]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const tolerant = source.replace(/[à-öø-ÿ]/g, (letter) => `[${letter}${letter.normalize("NFD")[0]}]`);
  return new RegExp(tolerant, label.flags);
}
