// Other words for the facts of an invoice: a bare "No." below the title, sentences instead of fields.

import { formatDate, formatRate, type Invoice } from "../invoice.ts";
import type { TuneLabels } from "./locales.ts";

type TuneInvoice = Invoice<TuneLabels>;

interface Words {
  readonly number: string;
  readonly date: string;
  readonly due: string;
  readonly order: string;
  readonly customer: string;
  readonly net: string;
  readonly total: string;
  readonly bank: string;
  readonly bic: string;
  /** With {id}, {date}, {order}. */
  readonly sentence: string;
  readonly orderSentence: string;
  readonly columns: readonly [string, string, string, string];
  readonly unit: string;
  readonly note: string;
}

const words: Readonly<Record<string, Words>> = {
  en: {
    number: "No.",
    date: "Issued",
    due: "Pay by",
    order: "Order ref.",
    customer: "Client ID",
    net: "Net amount",
    total: "Total incl. VAT",
    bank: "Bank details",
    bic: "BIC (SWIFT)",
    sentence: "Invoice {id} of {date}",
    orderSentence: "Your order {order}",
    columns: ["Service", "Hours", "Rate", "Line total"],
    unit: "pcs",
    note: "includes material and travel",
  },
  de: {
    number: "Nummer",
    date: "Datum",
    due: "Zahlbar bis",
    order: "Ihre Bestellung",
    customer: "Kd.-Nr.",
    net: "Summe netto",
    total: "Rechnungsbetrag",
    bank: "Bankverbindung",
    bic: "SWIFT-BIC",
    sentence: "Rechnung Nr. {id} vom {date}",
    orderSentence: "Ihre Bestellung {order}",
    columns: ["Leistung", "Anzahl", "Preis", "Summe"],
    unit: "Stk.",
    note: "einschließlich Anfahrt und Material",
  },
  fr: {
    number: "N°",
    date: "Émise le",
    due: "À régler avant le",
    order: "Réf. commande",
    customer: "Réf. client",
    net: "Montant HT",
    total: "Montant TTC",
    bank: "Coordonnées bancaires",
    bic: "Code BIC",
    sentence: "Facture n° {id} du {date}",
    orderSentence: "Votre commande {order}",
    columns: ["Prestation", "Nombre", "P.U. HT", "Total HT"],
    unit: "pce",
    note: "fournitures et déplacement compris",
  },
  es: {
    number: "Número",
    date: "Fecha",
    due: "Fecha de vencimiento",
    order: "Su pedido",
    customer: "Cód. cliente",
    net: "Importe neto",
    total: "Importe total",
    bank: "Datos bancarios",
    bic: "BIC/SWIFT",
    sentence: "Factura {id} de fecha {date}",
    orderSentence: "Su pedido {order}",
    columns: ["Descripción", "Uds.", "Precio unitario", "Subtotal"],
    unit: "ud",
    note: "material y desplazamiento incluidos",
  },
  it: {
    number: "Numero",
    date: "Data",
    due: "Da pagare entro il",
    order: "Vs. ordine",
    customer: "Cod. cliente",
    net: "Totale imponibile",
    total: "Totale documento",
    bank: "Coordinate bancarie",
    bic: "BIC",
    sentence: "Fattura n. {id} del {date}",
    orderSentence: "Vostro ordine {order}",
    columns: ["Articolo", "Quantità", "Prezzo", "Totale"],
    unit: "pz",
    note: "trasporto e materiale inclusi",
  },
  nl: {
    number: "Nummer",
    date: "Datum",
    due: "Te betalen voor",
    order: "Uw bestelnummer",
    customer: "Klantnr.",
    net: "Totaal excl. BTW",
    total: "Totaal incl. BTW",
    bank: "Bankgegevens",
    bic: "BIC",
    sentence: "Factuur {id} d.d. {date}",
    orderSentence: "Uw bestelling {order}",
    columns: ["Dienst", "Uren", "Tarief", "Totaal"],
    unit: "st.",
    note: "inclusief materiaal en reistijd",
  },
  pl: {
    number: "Nr",
    date: "Data",
    due: "Płatne do",
    order: "Zamówienie nr",
    customer: "Kod klienta",
    net: "Suma netto",
    total: "Do zapłaty",
    bank: "Rachunek bankowy",
    bic: "SWIFT",
    sentence: "Faktura nr {id} z dnia {date}",
    orderSentence: "Zamówienie {order}",
    columns: ["Usługa", "Liczba", "Cena", "Kwota"],
    unit: "szt.",
    note: "z materiałem i dojazdem",
  },
  pt: {
    number: "N.º",
    date: "Data",
    due: "Pagar até",
    order: "Vossa encomenda",
    customer: "Cód. cliente",
    net: "Total líquido",
    total: "Total com IVA",
    bank: "Dados bancários",
    bic: "BIC/SWIFT",
    sentence: "Fatura n.º {id} de {date}",
    orderSentence: "Vossa encomenda {order}",
    columns: ["Artigo", "Quantidade", "Preço", "Total"],
    unit: "un",
    note: "material e deslocação incluídos",
  },
};

export function wordsOf({ locale }: TuneInvoice): Words {
  const found = words[locale.language];
  if (found === undefined) throw new Error(`There are no words for ${locale.language}.`);
  return found;
}

export function fill(pattern: string, invoice: TuneInvoice): string {
  return pattern
    .replace("{id}", invoice.id)
    .replace("{date}", formatDate(invoice.date, invoice.locale))
    .replace("{order}", invoice.order);
}

export function taxLabel({ locale }: TuneInvoice, rate: number): string {
  return `${formatRate(rate, locale.number.decimal)} % ${locale.labels.tax}`;
}
