import type { JsonObject } from "../dialect.ts";
import { asCount, asObject, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { pick, readAddress, soleItem, toDocuments } from "../shapes/documents.ts";
import { fileOf } from "../shapes/inputs.ts";
import { defineTask, type TaskCall, type TaskRequest } from "../task.ts";

async function toRequest(kind: "documents" | "checks", call: TaskCall): Promise<TaskRequest> {
  const file = fileOf(call);
  const file_data = Buffer.from(await file.read()).toString("base64");
  return { path: `/api/v8/partner/${kind}/`, body: { kind: "json", value: { file_name: file.name, file_data } } };
}

const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs: "https://docs.veryfi.com/api/receipts-invoices/process-a-document",
  unsupported: ["document_type", "language"],
  toRequest: (call) => toRequest("documents", call),
  fromResponse: ({ json }) =>
    toDocuments(
      "ocr/financial_parser",
      [toFinancialDocument(asObject(json))],
      asCount(at(json, "meta", "processed_pages")),
    ),
});

function toFinancialDocument(document: JsonObject) {
  const billTo = asObject(document["bill_to"]);
  const vendor = asObject(document["vendor"]);
  const payment = asObject(document["payment"]);
  return {
    customer_information: {
      ...toParty(billTo),
      billing_address: billTo["address"],
      shipping_address: at(document, "ship_to", "address"),
      customer_number: document["account_number"],
    },
    merchant_information: {
      ...toParty(vendor),
      address: vendor["address"],
      fax: vendor["fax_number"],
      website: vendor["web"],
      abn_number: vendor["abn_number"],
      registration: vendor["reg_number"],
    },
    payment_information: {
      amount_due: document["balance"],
      amount_tip: document["tip"],
      amount_shipping: document["shipping"],
      ...pick((name) => document[name], ["total", "subtotal", "discount"]),
      total_tax: document["tax"],
      tax_rate: soleItem(objectsIn(document["tax_lines"]))?.["rate"],
      previous_unpaid_balance: document["previous_balance"],
      payment_terms: payment["terms"],
      payment_method: payment["type"],
      payment_card_number: payment["card_number"],
    },
    financial_document_information: {
      invoice_receipt_id: document["invoice_number"],
      purchase_order: document["purchase_order_number"],
      invoice_date: document["date"],
      invoice_due_date: document["due_date"],
      ...pick((name) => document[name], ["service_start_date", "service_end_date", "order_date", "tracking_number"]),
      reference: document["document_reference_number"],
      barcodes: objectsIn(document["barcodes"]).flatMap(({ data, type }) =>
        asText(data) === null ? [] : [{ value: data, type: asText(type) ?? "unknown" }],
      ),
    },
    local: { currency: document["currency_code"], currency_code: document["currency_code"] },
    bank: { iban: vendor["iban"], swift: vendor["bank_swift"], account_number: vendor["account_number"] },
    item_lines: objectsIn(document["line_items"]).map((line) => ({
      ...pick((name) => line[name], ["description", "quantity", "tax", "tax_rate", "discount_rate", "date"]),
      unit_price: line["price"],
      unit_type: line["unit_of_measure"],
      amount_line: line["total"],
      discount_amount: line["discount"],
      product_code: line["sku"],
    })),
    document_metadata: { document_type: document["document_type"] },
  };
}

function toParty(party: JsonObject) {
  const names = { street_name: "street_address", zip_code: "postcode", province: "state" };
  return {
    ...pick((name) => party[name], ["name", "email", "phone", "vat_number"], { phone: "phone_number" }),
    ...readAddress((name) => at(party, "parsed_address", name), names),
  };
}

const parseBankCheck = defineTask("ocr/bank_check_parsing", {
  docs: "https://docs.veryfi.com/api/checks/process-a-check",
  toRequest: (call) => toRequest("checks", call),
  fromResponse: ({ json }) => toDocuments("ocr/bank_check_parsing", [toCheck(asObject(json))]),
});

function toCheck(check: JsonObject) {
  const micr = ["raw", "account_number", "routing_number", "serial_number"] as const;
  return {
    ...pick((name) => check[name], ["amount", "amount_text", "bank_address", "bank_name", "date", "memo"]),
    ...pick((name) => check[name], ["payer_address", "payer_name", "receiver_address", "receiver_name"]),
    micr: { ...pick((name) => at(check, "micr", name), micr), check_number: check["check_number"] },
  };
}

export const veryfi = defineProvider("veryfi", "Veryfi", {
  docs: "https://docs.veryfi.com/api/getting-started/authentication",
  baseUrl: "https://api.veryfi.com",
  auth: { kind: "header", name: "authorization", prefix: "apikey {user}:" },
  headers: { "client-id": "{client}" },
  placeholders: { user: "VERYFI_USERNAME", client: "VERYFI_CLIENT_ID" },
  // They name files of the operator's account, or replace the file that was checked.
  sealedParams: ["bucket", "package_path", "file_url", "file_urls", "file_data"],
  tasks: [parseFinancialDocument, parseBankCheck],
});
