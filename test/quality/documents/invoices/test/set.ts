// The test split of invoices, credit notes and receipts: no rule is tuned on it, and nobody looks at its cases to change one.

import type { LabelledDocument } from "../../labelled-document.ts";
import { inventInvoice, toDocument, toDocuments } from "../invoice.ts";
import { darkColumn, goodsAndServicesTax, japanese, paymentSlip, strip, taxIncluded, utility } from "./layouts.ts";
import { bilingual, creditNote, manyColumns, remittance, typedLetter } from "./layouts-more.ts";
import {
  australia,
  austria,
  belgium,
  brazil,
  czechia,
  denmark,
  flanders,
  gb,
  india,
  italy,
  japan,
  mexico,
  poland,
  sweden,
  swiss,
  us,
} from "./locales.ts";
import { fillingStation, restaurant, supermarket } from "./receipts.ts";

const dishes = [
  ["Clam Chowder", 9.5],
  ["Lobster Roll", 24.95],
  ["Caesar Salad", 12.25],
  ["Fish Tacos", 17.5],
  ["Iced Tea", 3.75],
  ["Key Lime Pie", 8.5],
] as const;

export function invoicesToTest(): LabelledDocument[] {
  return [
    ...toDocuments("strip", strip, "strip", [
      [italy],
      [czechia, { lines: 4 }],
      [belgium],
      [poland, { lines: 4 }],
      [gb],
    ]),
    ...toDocuments("dark-column", darkColumn, "dark", [
      [sweden, { rates: 2 }],
      [denmark],
      [flanders, { discount: true }],
      [us],
      [brazil, { lines: 4 }],
    ]),
    ...toDocuments("payment-slip", paymentSlip, "slip", [
      [swiss, { lines: 4 }],
      [swiss, { rates: 2 }],
    ]),
    ...toDocuments("gst", goodsAndServicesTax, "gst", [[india], [india, { lines: 4 }]]),
    ...toDocuments("japanese", japanese, "japan", [[japan], [japan, { rates: 2, lines: 4 }]]),
    ...toDocuments("utility", utility, "utility", [[australia], [australia, { lines: 4 }]]),
    ...toDocuments("tax-included", taxIncluded, "included", [[austria], [flanders], [denmark, { lines: 2 }], [mexico]]),
    ...toDocuments("typed-letter", typedLetter, "typed", [[austria, { lines: 2 }], [gb], [belgium, { lines: 2 }]]),
    toDocument("credit-trailing", creditNote("trailing"), inventInvoice(austria, "credit 1", { sign: -1, lines: 2 })),
    toDocument("credit-parentheses", creditNote("parentheses"), inventInvoice(us, "credit 2", { sign: -1, lines: 2 })),
    toDocument("credit-parentheses", creditNote("parentheses"), inventInvoice(gb, "credit 3", { sign: -1, lines: 1 })),
    toDocument("credit-dash", creditNote("dash"), inventInvoice(sweden, "credit 4", { sign: -1, lines: 2 })),
    toDocument("credit-dash", creditNote("dash"), inventInvoice(czechia, "credit 5", { sign: -1, rates: 2 })),
    ...toDocuments("remittance", remittance, "remit", [[us], [us, { lines: 4 }]]),
    ...toDocuments("many-columns", manyColumns, "many", [
      [italy, { rates: 2, lines: 4 }],
      [poland, { rates: 2, lines: 4 }],
      [brazil],
      [mexico],
    ]),
    ...toDocuments("bilingual", bilingual, "bilingual", [[czechia], [poland, { rates: 2 }], [swiss], [denmark]]),
    supermarket(sweden, "shop 1", {
      receipt: "Kvitto",
      total: "TOTALT",
      card: "Kort",
      tax: "Moms",
      goods: [
        ["Mjölk 1,5 l", 21.9],
        ["Knäckebröd", 28.5],
        ["Diskmedel", 34.9],
        ["Smör 500 g", 59.9],
        ["Tvättsvamp", 19.5],
        ["Kaffe mellanrost", 74.9],
      ],
    }),
    supermarket(austria, "shop 2", {
      receipt: "Bon",
      total: "SUMME",
      card: "Bankomat",
      tax: "USt",
      goods: [
        ["Semmel 5 Stk", 2.45],
        ["Spülmittel", 2.99],
        ["Butter", 3.19],
        ["Batterien AA", 6.49],
        ["Marillen 500 g", 3.99],
        ["Kerzen", 4.79],
      ],
    }),
    supermarket(poland, "shop 3", {
      receipt: "Nr wydr.",
      total: "SUMA",
      card: "Karta płatnicza",
      tax: "PTU",
      goods: [
        ["Żarówka LED", 14.99],
        ["Chleb żytni", 6.79],
        ["Baterie", 21.5],
        ["Twaróg", 8.29],
        ["Proszek do prania", 39.9],
        ["Jabłka", 5.45],
      ],
    }),
    restaurant(us, "table 1", "The Oyster Shed", dishes),
    restaurant(us, "table 2", "Pier Nineteen Grill", dishes),
    fillingStation(belgium, "fuel 1", {
      receipt: "Ticket",
      pump: "Pompe",
      fuel: "Diesel",
      total: "MONTANT",
      tax: "TVA",
      litres: "L",
    }),
    fillingStation(italy, "fuel 2", {
      receipt: "Ricevuta",
      pump: "Pompa",
      fuel: "Benzina",
      total: "IMPORTO",
      tax: "IVA",
      litres: "L",
    }),
  ];
}
