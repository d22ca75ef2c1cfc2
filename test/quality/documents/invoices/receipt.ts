// A receipt as a labelled document: what a perfect reader says about every receipt, and about this one.

import type { LabelledDocument, Value } from "../labelled-document.ts";
import type { Sheet } from "../sheet.ts";
import type { Invoice } from "./invoice.ts";

interface Receipt<Labels> extends Pick<Invoice<Labels>, "locale" | "seller" | "id" | "date" | "tax" | "total"> {
  readonly layout: string;
  readonly sheet: Sheet;
  /** Null: the receipt has several rates. */
  readonly rate: number | null;
}

/** `also`: what the layout shows besides, by path. */
export function toReceipt<Labels>(
  { layout, sheet, locale, seller, id, date, total, tax, rate }: Receipt<Labels>,
  also: Readonly<Record<string, Value>> = {},
): LabelledDocument {
  return {
    name: `${layout}-${locale.language}-${locale.country}-${id}`,
    language: locale.language,
    layout,
    pages: sheet.pages,
    expected: {
      "merchant_information.name": seller.name,
      "merchant_information.city": seller.city,
      "merchant_information.vat_number|tax_id|fiscal_number|business_number": seller.vat.replace(/ MWST$/, ""),
      "financial_document_information.invoice_receipt_id": id,
      "financial_document_information.invoice_date": date,
      "payment_information.total": total,
      "payment_information.total_tax": tax,
      "payment_information.tax_rate": rate,
      "local.currency_code": locale.currency,
      ...also,
    },
  };
}
