import type { JsonObject } from "../dialect.ts";
import { asCount, asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { asLanguage } from "../shapes/languages.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { ProviderTask } from "../task.ts";

const parseFinancialDocument: ProviderTask = {
  task: "ocr/financial_parser",
  docs: "https://eagle-doc.com/docs/finance-ocr-api",
  unsupported: ["document_type", "language"],
  toRequest: async (call) => ({
    path: "/api/finance/v1/processing",
    body: { kind: "form", parts: [await filePart("file", fileOf(call))] },
  }),
  fromResponse({ json }) {
    const output = toShape("ocr/financial_parser", { extracted_data: [toFinancialDocument(asObject(json))] });
    return { output, units: { page: Math.max(1, asCount(at(json, "numberOfPages"))), file: 1, request: 1 } };
  },
};

function toFinancialDocument(document: JsonObject): JsonObject {
  const general = asObject(document["general"]);
  const value = (name: string) => at(general, name, "value");
  const [bank] = objectsIn(document["paymentBanks"]);
  const [payment] = objectsIn(document["payments"]);
  const taxes = objectsIn(document["taxes"]);
  return {
    customer_information: {
      name: value("CustomerName"),
      billing_address: toAddress(general, "Customer"),
      customer_number: value("CustomerNumber"),
      vat_number: value("CustomerVATNumber"),
      ...toPlace(general, "Customer"),
    },
    merchant_information: {
      name: value("ShopName"),
      address: toAddress(general, "Shop"),
      phone: value("ShopTel"),
      fax: value("Fax"),
      email: value("Email"),
      website: value("Website"),
      vat_number: value("VATNumber"),
      tax_id: value("TaxNumber"),
      country_code: value("ShopCountry"),
      ...toPlace(general, "Shop"),
    },
    payment_information: {
      amount_due: value("TotalPrice"),
      total: value("TotalPrice"),
      subtotal: value("NetAmount"),
      total_tax: taxes.length === 1 ? at(taxes[0], "TaxAmount", "value") : value("TaxAmount"),
      tax_rate: taxes.length === 1 ? at(taxes[0], "TaxPercentage", "value") : null,
      amount_tip: value("Tip"),
      discount: value("Discount"),
      payment_terms: value("PaymentTerms"),
      payment_method: at(payment, "PaymentMethod", "value"),
      payment_card_number: at(payment, "CardNumber", "value"),
    },
    financial_document_information: {
      invoice_receipt_id: asText(value("InvoiceNumber")) ?? value("ReceiptNumber"),
      purchase_order: value("OrderNumber"),
      invoice_date: value("InvoiceDate"),
      time: value("Time"),
      invoice_due_date: value("InvoiceDueDate"),
      order_date: value("OrderDate"),
    },
    local: {
      currency: value("Currency"),
      currency_code: value("Currency"),
      country: value("ShopCountry"),
      language: asLanguage(document["mainLanguage"]),
    },
    bank: {
      iban: asText(value("IBAN")) ?? at(bank, "IBAN", "value"),
      bic: asText(value("BIC")) ?? at(bank, "BIC", "value"),
      account_number: at(bank, "AccountNumber", "value"),
    },
    item_lines: objectsIn(document["productItems"]).map((item) => ({
      title: at(item, "ProductName", "value"),
      description: at(item, "ProductName", "value"),
      quantity: at(item, "ProductQuantity", "value"),
      unit_price: at(item, "ProductUnitPrice", "value"),
      unit_type: at(item, "ProductUnit", "value"),
      amount_line: at(item, "ProductPrice", "value"),
      product_code: at(item, "ProductId", "value"),
      tax: at(item, "TaxAmount", "value"),
      tax_rate: at(item, "TaxPercentage", "value"),
    })),
    document_metadata: { document_type: asText(document["docType"]) ?? value("DocumentType") },
  };
}

function toPlace(general: JsonObject, whose: "Customer" | "Shop"): JsonObject {
  const value = (name: string) => at(general, `${whose}${name}`, "value");
  return {
    street_name: value("Street"),
    house_number: value("HouseNumber"),
    zip_code: value("Zip"),
    city: value("City"),
    province: value("State"),
    country: value("Country"),
  };
}

/** The vendor tells the parts alone. */
function toAddress(general: JsonObject, whose: "Customer" | "Shop"): string {
  const part = (...names: string[]) =>
    names.flatMap((name) => asText(at(general, `${whose}${name}`, "value")) ?? []).join(" ");
  const lines = [part("Street", "HouseNumber"), part("Zip", "City"), part("State"), part("Country")];
  return lines.filter((line) => line !== "").join(", ");
}

export const eagledoc: ProviderRow = {
  name: "eagledoc",
  title: "Eagle Doc",
  docs: "https://eagle-doc.com/docs",
  baseUrl: "https://de.eagle-doc.com",
  auth: { kind: "header", name: "api-key" },
  tasks: [parseFinancialDocument],
};
