import type { JsonObject } from "../dialect.ts";
import { asCount, asObject, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { joinAddress, readAddress, soleItem, toDocuments } from "../shapes/documents.ts";
import { fileOf } from "../shapes/inputs.ts";
import { asLanguage } from "../shapes/languages.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask } from "../task.ts";

const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs: "https://eagle-doc.com/docs/finance-ocr-api",
  unsupported: ["document_type", "language"],
  toRequest: (call) => postForm("/api/finance/v1/processing", { file: fileOf(call) }),
  fromResponse: ({ json }) =>
    toDocuments("ocr/financial_parser", [toFinancialDocument(asObject(json))], asCount(at(json, "numberOfPages"))),
});

function toFinancialDocument(document: JsonObject) {
  const value = (name: string) => at(document, "general", name, "value");
  const bank = (name: string) => at(document, "paymentBanks", 0, name, "value");
  const payment = (name: string) => at(document, "payments", 0, name, "value");
  const customerAddress = readAddress((name) => value(`Customer${name}`), addressNames);
  const shopAddress = readAddress((name) => value(`Shop${name}`), addressNames);
  const tax = soleItem(objectsIn(document["taxes"]));
  return {
    customer_information: {
      name: value("CustomerName"),
      customer_number: value("CustomerNumber"),
      vat_number: value("CustomerVATNumber"),
      billing_address: joinAddress(customerAddress),
      ...customerAddress,
    },
    merchant_information: {
      name: value("ShopName"),
      phone: value("ShopTel"),
      fax: value("Fax"),
      email: value("Email"),
      website: value("Website"),
      vat_number: value("VATNumber"),
      tax_id: value("TaxNumber"),
      country_code: value("ShopCountry"),
      address: joinAddress(shopAddress),
      ...shopAddress,
    },
    payment_information: {
      amount_due: value("TotalPrice"),
      total: value("TotalPrice"),
      subtotal: value("NetAmount"),
      total_tax: tax === undefined ? value("TaxAmount") : at(tax, "TaxAmount", "value"),
      tax_rate: at(tax, "TaxPercentage", "value"),
      amount_tip: value("Tip"),
      discount: value("Discount"),
      payment_terms: value("PaymentTerms"),
      payment_method: payment("PaymentMethod"),
      payment_card_number: payment("CardNumber"),
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
      iban: asText(value("IBAN")) ?? bank("IBAN"),
      bic: asText(value("BIC")) ?? bank("BIC"),
      account_number: bank("AccountNumber"),
    },
    item_lines: objectsIn(document["productItems"]).map(toLine),
    document_metadata: { document_type: asText(document["docType"]) ?? value("DocumentType") },
  };
}

const addressNames = {
  street_name: "Street",
  house_number: "HouseNumber",
  zip_code: "Zip",
  city: "City",
  province: "State",
  country: "Country",
};

function toLine(item: JsonObject) {
  const value = (name: string) => at(item, name, "value");
  return {
    title: value("ProductName"),
    description: value("ProductName"),
    quantity: value("ProductQuantity"),
    unit_price: value("ProductUnitPrice"),
    unit_type: value("ProductUnit"),
    amount_line: value("ProductPrice"),
    product_code: value("ProductId"),
    tax: value("TaxAmount"),
    tax_rate: value("TaxPercentage"),
  };
}

export const eagledoc = defineProvider("eagledoc", "Eagle Doc", {
  docs: "https://eagle-doc.com/docs",
  baseUrl: "https://de.eagle-doc.com",
  auth: { kind: "header", name: "api-key" },
  tasks: [parseFinancialDocument],
});
