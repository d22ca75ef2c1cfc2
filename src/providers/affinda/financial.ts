import type { JsonObject } from "../dialect.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import { asLanguage } from "../shapes/languages.ts";
import { readAmount, readPlace, readRaw, readValue } from "./annotation.ts";

export function toFinancialDocument(data: JsonObject, meta: JsonObject): JsonObject {
  const value = (name: string) => readValue(data[name]);
  const amount = (name: string) => readAmount(data[name]);
  return {
    customer_information: {
      name: asText(value("customerCompanyName")) ?? value("customerContactName"),
      billing_address: readRaw(data["customerBillingAddress"]),
      shipping_address: readRaw(data["customerDeliveryAddress"]),
      email: value("customerEmail"),
      phone: value("customerPhoneNumber"),
      vat_number: value("customerVat"),
      business_number: value("customerBusinessNumber"),
      customer_number: value("customerNumber"),
      ...toPlace(data["customerBillingAddress"]),
    },
    merchant_information: {
      name: value("supplierCompanyName"),
      address: readRaw(data["supplierAddress"]),
      phone: value("supplierPhoneNumber"),
      fax: value("supplierFax"),
      email: value("supplierEmail"),
      website: value("supplierWebsite"),
      vat_number: value("supplierVat"),
      business_number: value("supplierBusinessNumber"),
      country_code: readPlace(data["supplierAddress"])["countryCode"],
      ...toPlace(data["supplierAddress"]),
    },
    payment_information: {
      amount_due: amount("paymentAmountDue"),
      amount_paid: amount("paymentAmountPaid"),
      amount_shipping: amount("paymentDelivery"),
      total: amount("paymentAmountTotal"),
      subtotal: amount("paymentAmountBase"),
      total_tax: amount("paymentAmountTax"),
      prior_balance: amount("openingBalance"),
      service_charge: amount("paymentOtherCharges"),
      payment_terms: value("paymentTerms"),
      transaction_reference: value("paymentReference"),
    },
    financial_document_information: {
      invoice_receipt_id: value("invoiceNumber"),
      purchase_order: value("invoicePurchaseOrderNumber"),
      invoice_date: value("invoiceDate"),
      invoice_due_date: value("paymentDateDue"),
      order_date: value("invoiceOrderDate"),
      biller_code: value("bpayBillerCode"),
      reference: value("bpayReference"),
    },
    local: {
      currency: at(data, "currencyCode", "parsed", "label"),
      currency_code: at(data, "currencyCode", "parsed", "value"),
      language: asLanguage(meta["language"]),
    },
    bank: {
      iban: value("bankIban"),
      swift: value("bankSwift"),
      bsb: value("bankBsb"),
      sort_code: value("bankSortCode"),
      account_number: value("bankAccountNumber"),
    },
    item_lines: objectsIn(data["tables"]).flatMap((table) =>
      objectsIn(at(table, "parsed", "rows")).map((row) => toLine(asObject(row["parsed"]))),
    ),
    document_metadata: { document_page_number: 1, document_type: at(meta, "collection", "extractor", "identifier") },
  };
}

function toPlace(annotation: unknown): JsonObject {
  const place = readPlace(annotation);
  return {
    city: place["city"],
    country: place["country"],
    house_number: place["streetNumber"],
    province: place["state"],
    street_name: place["street"],
    zip_code: place["postalCode"],
  };
}

function toLine(row: JsonObject): JsonObject {
  const value = (name: string) => readValue(row[name]);
  const amount = (name: string) => readAmount(row[name]);
  return {
    description: value("itemDescription"),
    quantity: amount("itemQuantity"),
    unit_price: amount("itemUnitPrice"),
    unit_type: value("itemUnit"),
    amount_line: amount("itemTotal"),
    base_total: amount("itemBaseTotal"),
    tax: amount("itemTaxTotal"),
    tax_rate: amount("itemTaxRate"),
    discount_amount: amount("itemDiscount"),
    product_code: value("itemCode"),
    date: value("itemDate"),
  };
}
