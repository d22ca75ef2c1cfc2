// The tune split of invoices, credit notes and receipts.

import type { LabelledDocument } from "../../labelled-document.ts";
import { inventInvoice, toDocument } from "../invoice.ts";
import { boxes, classic, credit, headline, letter, taxTable, twoPages } from "./layouts.ts";
import { de, es, fr, gb, it, nl, pl, pt, us } from "./locales.ts";
import { thermalReceipt } from "./receipts.ts";

export function invoicesToTune(): LabelledDocument[] {
  return [
    toDocument("classic", classic, inventInvoice(gb, "classic 1")),
    toDocument("classic", classic, inventInvoice(us, "classic 2", { discount: true })),
    toDocument("classic", classic, inventInvoice(fr, "classic 3", { rates: 2 })),
    toDocument("classic", classic, inventInvoice(pt, "classic 4", { lines: 4 })),
    toDocument("boxes", boxes, inventInvoice(es, "boxes 1", { rates: 2, lines: 4 })),
    toDocument("boxes", boxes, inventInvoice(pl, "boxes 2", { lines: 4 })),
    toDocument("boxes", boxes, inventInvoice(gb, "boxes 3", { discount: true })),
    toDocument("boxes", boxes, inventInvoice(nl, "boxes 4")),
    toDocument("letter", letter, inventInvoice(de, "letter 1", { rates: 2, lines: 4 })),
    toDocument("letter", letter, inventInvoice(nl, "letter 2")),
    toDocument("letter", letter, inventInvoice(fr, "letter 3", { discount: true })),
    toDocument("letter", letter, inventInvoice(it, "letter 4", { lines: 5 })),
    toDocument("headline", headline, inventInvoice(us, "headline 1")),
    toDocument("headline", headline, inventInvoice(it, "headline 2")),
    toDocument("headline", headline, inventInvoice(pl, "headline 3", { rates: 2 })),
    toDocument("headline", headline, inventInvoice(de, "headline 4")),
    toDocument("credit", credit, inventInvoice(de, "credit 1", { sign: -1, lines: 2 })),
    toDocument("credit", credit, inventInvoice(gb, "credit 2", { sign: -1, lines: 2 })),
    toDocument("credit", credit, inventInvoice(es, "credit 3", { sign: -1, lines: 1 })),
    toDocument("credit", credit, inventInvoice(fr, "credit 4", { sign: -1, rates: 2 })),
    toDocument("two-pages", twoPages, inventInvoice(de, "two 1", { lines: 6 })),
    toDocument("two-pages", twoPages, inventInvoice(pt, "two 2", { lines: 5, rates: 2 })),
    toDocument("two-pages", twoPages, inventInvoice(us, "two 3", { lines: 6 })),
    toDocument("tax-table", taxTable, inventInvoice(it, "table 1", { rates: 2, lines: 4 })),
    toDocument("tax-table", taxTable, inventInvoice(nl, "table 2", { rates: 2 })),
    toDocument("tax-table", taxTable, inventInvoice(pl, "table 3", { rates: 2, lines: 4 })),
    thermalReceipt(gb, "thermal 1", { lines: 4 }),
    thermalReceipt(de, "thermal 2", { lines: 5, paidByCard: true }),
    thermalReceipt(it, "thermal 3", { lines: 3 }),
    thermalReceipt(pl, "thermal 4", { lines: 4, paidByCard: true }),
    thermalReceipt(es, "thermal 5", { lines: 2 }),
    thermalReceipt(us, "thermal 6", { lines: 3, paidByCard: true }),
  ];
}
