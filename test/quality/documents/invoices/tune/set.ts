// The tune split of invoices, credit notes and receipts.

import type { LabelledDocument } from "../../labelled-document.ts";
import { toDocuments } from "../invoice.ts";
import { boxes, classic, credit, headline, letter, taxTable, twoPages } from "./layouts.ts";
import { counter, factRow, ledger, workOrder } from "./layouts-forms.ts";
import { captions, sentences } from "./layouts-letters.ts";
import { de, es, fr, gb, it, nl, pl, pt, us } from "./locales.ts";
import { thermalReceipt } from "./receipts.ts";

export function invoicesToTune(): LabelledDocument[] {
  return [
    ...toDocuments("classic", classic, "classic", [
      [gb],
      [us, { discount: true }],
      [fr, { rates: 2 }],
      [pt, { lines: 4 }],
    ]),
    ...toDocuments("boxes", boxes, "boxes", [
      [es, { rates: 2, lines: 4 }],
      [pl, { lines: 4 }],
      [gb, { discount: true }],
      [nl],
    ]),
    ...toDocuments("letter", letter, "letter", [
      [de, { rates: 2, lines: 4 }],
      [nl],
      [fr, { discount: true }],
      [it, { lines: 5 }],
    ]),
    ...toDocuments("headline", headline, "headline", [[us], [it], [pl, { rates: 2 }], [de]]),
    ...toDocuments("credit", credit, "credit", [
      [de, { sign: -1, lines: 2 }],
      [gb, { sign: -1, lines: 2 }],
      [es, { sign: -1, lines: 1 }],
      [fr, { sign: -1, rates: 2 }],
    ]),
    ...toDocuments("two-pages", twoPages, "two", [
      [de, { lines: 6 }],
      [pt, { lines: 5, rates: 2 }],
      [us, { lines: 6 }],
    ]),
    ...toDocuments("tax-table", taxTable, "table", [
      [it, { rates: 2, lines: 4 }],
      [nl, { rates: 2 }],
      [pl, { rates: 2, lines: 4 }],
    ]),
    ...toDocuments("fact-row", factRow, "fact row", [
      [gb, { lines: 3 }],
      [de, { lines: 4 }],
      [fr, { rates: 2, lines: 5 }],
      [it, { lines: 2 }],
      [nl, { lines: 3 }],
      [pl, { rates: 2, lines: 4 }],
      [pt, { lines: 5 }],
      [us, { lines: 2 }],
    ]),
    ...toDocuments("sentences", sentences, "sentences", [
      [gb, { lines: 3 }],
      [de, { lines: 4 }],
      [fr, { rates: 2, lines: 5 }],
      [es, { lines: 2 }],
      [it, { lines: 3 }],
      [pl, { rates: 2, lines: 4 }],
      [nl, { lines: 5 }],
    ]),
    ...toDocuments("ledger", ledger, "ledger", [
      [gb, { lines: 3 }],
      [de, { lines: 4 }],
      [es, { rates: 2, lines: 5 }],
      [it, { lines: 2 }],
      [nl, { lines: 3 }],
      [pt, { rates: 2, lines: 4 }],
      [fr, { lines: 5 }],
    ]),
    ...toDocuments("counter", counter, "counter", [
      [us, { lines: 3, discount: true }],
      [de, { lines: 4 }],
      [fr, { rates: 2, lines: 5, discount: true }],
      [es, { lines: 2 }],
      [pl, { lines: 3, discount: true }],
      [it, { rates: 2, lines: 4 }],
    ]),
    ...toDocuments("captions", captions, "captions", [
      [gb, { lines: 3 }],
      [de, { lines: 4 }],
      [fr, { lines: 2, rates: 2 }],
      [it, { lines: 3 }],
      [us, { lines: 4 }],
      [nl, { lines: 2, rates: 2 }],
    ]),
    ...toDocuments("work-order", workOrder, "work-order", [
      [gb, { lines: 3 }],
      [de, { lines: 4 }],
      [es, { lines: 2, rates: 2 }],
      [pl, { lines: 3 }],
      [fr, { lines: 4 }],
      [pt, { lines: 2, rates: 2 }],
    ]),
    thermalReceipt(gb, "thermal 1", { lines: 4 }),
    thermalReceipt(de, "thermal 2", { lines: 5, paidByCard: true }),
    thermalReceipt(it, "thermal 3", { lines: 3 }),
    thermalReceipt(pl, "thermal 4", { lines: 4, paidByCard: true }),
    thermalReceipt(es, "thermal 5", { lines: 2 }),
    thermalReceipt(us, "thermal 6", { lines: 3, paidByCard: true }),
  ];
}
