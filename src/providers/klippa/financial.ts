import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, objectsIn } from "../lenient.ts";
import { asLanguage } from "../shapes/languages.ts";

export function toFinancialDocument(data: JsonObject): JsonObject {
  const taxes = objectsIn(data["vatitems"]);
  return {
    customer_information: {
      name: data["customer_name"],
      id_reference: asText(data["customer_reference"]) ?? data["customer_id"],
      billing_address: data["customer_address"],
      email: data["customer_email"],
      phone: data["customer_phone"],
      website: data["customer_website"],
      vat_number: data["customer_vat_number"],
      fiscal_number: data["customer_fiscal_number"],
      coc_number: data["customer_coc_number"],
      customer_number: data["customer_number"],
      street_name: data["customer_street_name"],
      house_number: data["customer_house_number"],
      zip_code: data["customer_zipcode"],
      city: data["customer_city"],
      municipality: data["customer_municipality"],
      province: data["customer_province"],
      country: data["customer_country"],
    },
    merchant_information: {
      name: data["merchant_name"],
      id_reference: data["merchant_id"],
      address: data["merchant_address"],
      phone: data["merchant_phone"],
      email: data["merchant_email"],
      website: data["merchant_website"],
      vat_number: data["merchant_vat_number"],
      fiscal_number: data["merchant_fiscal_number"],
      coc_number: data["merchant_coc_number"],
      street_name: data["merchant_street_name"],
      house_number: data["merchant_house_number"],
      zip_code: data["merchant_zipcode"],
      city: data["merchant_city"],
      province: data["merchant_province"],
      country: asText(data["merchant_country"]) ?? data["merchant_country_code"],
      country_code: data["merchant_country_code"],
    },
    payment_information: {
      amount_due: fromCents(data["amount"]),
      total: fromCents(data["amount"]),
      subtotal: fromCents(data["amountexvat"]),
      total_tax: fromCents(data["vatamount"]),
      amount_change: fromCents(data["amount_change"]),
      amount_shipping: fromCents(data["amount_shipping"]),
      amount_tip: fromCents(data["amount_tip"]),
      // One rate speaks for the whole only when it is the only one.
      tax_rate: taxes.length === 1 ? taxes[0]?.["percentage"] : null,
      payment_method: data["paymentmethod"],
      payment_card_number: asText(data["payment_card_number"]) ?? data["payment_card_account_number"],
      payment_auth_code: data["payment_auth_code"],
      transaction_number: data["transaction_number"],
      transaction_reference: data["transaction_reference"],
    },
    financial_document_information: {
      invoice_receipt_id: asText(data["invoice_number"]) ?? data["receipt_number"],
      purchase_order: data["order_number"],
      invoice_date: data["date"],
      order_date: data["purchasedate"],
      time: toTime(data["purchasetime"]),
      invoice_due_date: data["payment_due_date"],
      service_start_date: data["service_date"],
      tracking_number: data["package_number"],
      barcodes: objectsIn(data["barcodes"]).map(({ value, type }) => ({ value: String(value), type: String(type) })),
    },
    local: {
      currency: data["currency"],
      currency_code: data["currency"],
      language: asLanguage(data["document_language"]),
    },
    bank: {
      account_number: data["merchant_bank_account_number"],
      bic: data["merchant_bank_account_number_bic"],
      sort_code: data["merchant_bank_domestic_bank_code"],
    },
    item_lines: objectsIn(data["lines"]).flatMap(({ lineitems }) => objectsIn(lineitems).map(toLine)),
    document_metadata: { document_type: data["document_type"] },
  };
}

function toLine(line: JsonObject): JsonObject {
  return {
    title: line["title"],
    description: asText(line["description"]) ?? line["title"],
    quantity: line["quantity"],
    unit_price: fromCents(line["amount_each"]),
    unit_type: line["unit_of_measurement"],
    amount_line: fromCents(line["amount"]),
    sub_total: fromCents(line["amount_ex_vat"]),
    tax: fromCents(line["vat_amount"]),
    tax_rate: line["vat_percentage"],
    discount_amount: fromCents(line["discount_amount"]),
    discount_rate: line["discount_percentage"],
    discount_code: line["discount_code"],
    product_code: asText(line["sku"]) ?? line["ean"],
    order_number: line["order_number"],
  };
}

/** The vendor tells money in cents. */
function fromCents(value: unknown): number | null {
  const cents = asNumber(value);
  return cents === null ? null : cents / 100;
}

/** Midnight is what it says of documents without a time. */
function toTime(value: unknown): unknown {
  return value === "00:00:00" ? null : value;
}
