// ocr/financial_parser: invoices and receipts in the task's shape. The reading itself is in financial-document.ts.

import { fillMembers } from "../fill-members.ts";
import { type Barcode, barcodePackage, loadBarcodeReader } from "./barcodes.ts";
import { createDocumentEngine } from "./document-engine.ts";
import { drawPages } from "./document-reader.ts";
import { type FinancialDocument, type Party, readFinancialDocument } from "./financial-document.ts";
import type { Page } from "./page.ts";
import { type Row, toRows } from "./rows.ts";

const task = "ocr/financial_parser";
// Each takes a tenth of a second, and codes stand on the first pages.
const pagesWithBarcodes = 3;

export const financialParser = createDocumentEngine({
  task,
  packages: [barcodePackage],
  async load() {
    const readBarcodes = await loadBarcodeReader();
    return async (pages, { input, files }) => {
      const pictures = await drawPages(files["file"], pagesWithBarcodes);
      const barcodes = await Promise.all(pictures.map(readBarcodes));
      const documents = splitDocuments(pages);
      const extracted = documents.map(({ firstPage, rows }, index) => {
        const ownCodes = documents.length === 1 ? barcodes.flat() : (barcodes[firstPage] ?? []);
        return toEntry(readFinancialDocument(rows), {
          index,
          firstPage,
          barcodes: ownCodes,
          asked: input["document_type"],
        });
      });
      return fillMembers(task, { extracted_data: extracted });
    };
  },
});

/** A page whose document number differs from the one before begins another document. */
function splitDocuments(pages: readonly Page[]): { firstPage: number; rows: Row[] }[] {
  const documents: { firstPage: number; rows: Row[]; id: string | null }[] = [];
  for (const [index, page] of pages.entries()) {
    const rows = toRows(page);
    const { id } = pages.length === 1 ? { id: null } : { id: readFinancialDocument(rows).ids.document };
    const current = documents.at(-1);
    const isSame = current !== undefined && (id === null || current.id === null || id === current.id);
    if (!isSame) documents.push({ firstPage: index, rows, id });
    else {
      const offset = (current.rows.at(-1)?.bottom ?? 0) + 1;
      for (const row of rows) current.rows.push({ ...row, top: row.top + offset, bottom: row.bottom + offset });
      current.id ??= id;
    }
  }
  return documents;
}

interface EntryContext {
  readonly index: number;
  readonly firstPage: number;
  readonly barcodes: readonly Barcode[];
  readonly asked: unknown;
}

function toEntry(document: FinancialDocument, { index, firstPage, barcodes, asked }: EntryContext) {
  const { amounts, ids, dates, bank, customer, merchant } = document;
  const detected = document.isReceipt ? "receipt" : "invoice";
  return {
    customer_information: {
      ...toAddress(customer),
      name: customer.name,
      billing_address: customer.address?.formatted ?? null,
      mailling_address: customer.address?.formatted ?? null,
      shipping_address: document.shippingAddress,
      email: customer.email,
      phone: customer.phone,
      website: customer.website,
      vat_number: customer.vatNumber,
      customer_number: ids.customer,
    },
    merchant_information: {
      ...toAddress(merchant),
      name: merchant.name,
      address: merchant.address?.formatted ?? null,
      country_code: merchant.address?.country?.alpha2 ?? null,
      email: merchant.email,
      phone: merchant.phone,
      fax: merchant.fax,
      website: merchant.website,
      vat_number: merchant.vatNumber,
      tax_id: ids.taxId,
      siret_number: ids.siret,
      abn_number: ids.abn,
      registration: ids.registration,
    },
    payment_information: {
      total: amounts.total,
      amount_due: amounts.due,
      subtotal: amounts.subtotal,
      total_tax: amounts.tax,
      tax_rate: document.taxRate,
      discount: amounts.discount,
      amount_shipping: amounts.shipping,
      amount_tip: amounts.tip,
      gratuity: amounts.tip,
      amount_paid: amounts.paid,
      amount_change: amounts.change,
      service_charge: amounts.service,
      previous_unpaid_balance: amounts.previous,
      prior_balance: amounts.previous,
      payment_terms: document.paymentTerms,
      payment_method: document.paymentMethod,
      payment_card_number: document.cardNumber,
      payment_auth_code: ids.authorisation,
      transaction_number: ids.transaction,
    },
    financial_document_information: {
      invoice_receipt_id: ids.document,
      purchase_order: ids.order,
      invoice_date: dates.issued,
      time: document.time,
      invoice_due_date: dates.due,
      service_start_date: dates.serviceStart,
      service_end_date: dates.serviceEnd,
      order_date: dates.ordered,
      barcodes,
    },
    local: {
      currency: document.currency?.sign ?? null,
      currency_code: document.currency?.code ?? null,
      country: merchant.address?.country?.name ?? null,
    },
    bank: {
      iban: bank.iban,
      swift: bank.bic,
      bic: bank.bic,
      account_number: bank.accountNumber,
      sort_code: bank.sortCode,
      routing_number: bank.routingNumber,
      bsb: bank.bsb,
    },
    item_lines: document.items.map((item) => ({
      description: item.description,
      quantity: item.quantity,
      unit_price: item.unitPrice,
      amount_line: item.amount,
      tax_rate: item.taxRate,
      product_code: item.code,
      unit_type: item.unit,
    })),
    document_metadata: {
      document_index: index + 1,
      document_page_number: firstPage + 1,
      document_type: asked === "receipt" || (asked === "invoice" && !document.isReceipt) ? asked : detected,
    },
  };
}

function toAddress({ address }: Party) {
  return {
    city: address?.city ?? null,
    country: address?.country?.name ?? null,
    house_number: address?.houseNumber ?? null,
    province: address?.province ?? null,
    street_name: address?.street ?? null,
    zip_code: address?.zipCode ?? null,
  };
}
