import type { JsonObject } from "../dialect.ts";
import { asCount, asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { ProviderTask, TaskCall, TaskRequest } from "../task.ts";

async function toRequest(kind: "documents" | "checks", call: TaskCall): Promise<TaskRequest> {
  const file = fileOf(call);
  const file_data = Buffer.from(await file.read()).toString("base64");
  return { path: `/api/v8/partner/${kind}/`, body: { kind: "json", value: { file_name: file.name, file_data } } };
}

const parseFinancialDocument: ProviderTask = {
  task: "ocr/financial_parser",
  docs: "https://docs.veryfi.com/api/receipts-invoices/process-a-document",
  unsupported: ["document_type", "language"],
  toRequest: (call) => toRequest("documents", call),
  fromResponse({ json }) {
    const output = toShape("ocr/financial_parser", { extracted_data: [toFinancialDocument(asObject(json))] });
    return { output, units: { page: Math.max(1, asCount(at(json, "meta", "processed_pages"))), file: 1, request: 1 } };
  },
};

function toFinancialDocument(document: JsonObject): JsonObject {
  const billTo = asObject(document["bill_to"]);
  const vendor = asObject(document["vendor"]);
  const payment = asObject(document["payment"]);
  const taxes = objectsIn(document["tax_lines"]);
  return {
    customer_information: {
      name: billTo["name"],
      billing_address: billTo["address"],
      shipping_address: at(document, "ship_to", "address"),
      email: billTo["email"],
      phone: billTo["phone_number"],
      vat_number: billTo["vat_number"],
      customer_number: document["account_number"],
      ...toPlace(billTo["parsed_address"]),
    },
    merchant_information: {
      name: vendor["name"],
      address: vendor["address"],
      phone: vendor["phone_number"],
      fax: vendor["fax_number"],
      email: vendor["email"],
      website: vendor["web"],
      vat_number: vendor["vat_number"],
      abn_number: vendor["abn_number"],
      registration: vendor["reg_number"],
      ...toPlace(vendor["parsed_address"]),
    },
    payment_information: {
      amount_due: document["balance"],
      amount_tip: document["tip"],
      amount_shipping: document["shipping"],
      total: document["total"],
      subtotal: document["subtotal"],
      total_tax: document["tax"],
      // One rate speaks for the whole only when it is the only one.
      tax_rate: taxes.length === 1 ? taxes[0]?.["rate"] : null,
      discount: document["discount"],
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
      service_start_date: document["service_start_date"],
      service_end_date: document["service_end_date"],
      order_date: document["order_date"],
      tracking_number: document["tracking_number"],
      reference: document["document_reference_number"],
      barcodes: objectsIn(document["barcodes"]).flatMap(({ data, type }) =>
        asText(data) === null ? [] : [{ value: data, type: asText(type) ?? "unknown" }],
      ),
    },
    local: { currency: document["currency_code"], currency_code: document["currency_code"] },
    bank: { iban: vendor["iban"], swift: vendor["bank_swift"], account_number: vendor["account_number"] },
    item_lines: objectsIn(document["line_items"]).map((line) => ({
      description: line["description"],
      quantity: line["quantity"],
      unit_price: line["price"],
      unit_type: line["unit_of_measure"],
      amount_line: line["total"],
      tax: line["tax"],
      tax_rate: line["tax_rate"],
      discount_amount: line["discount"],
      discount_rate: line["discount_rate"],
      date: line["date"],
      product_code: line["sku"],
    })),
    document_metadata: { document_type: document["document_type"] },
  };
}

function toPlace(address: unknown): JsonObject {
  const parts = asObject(address);
  return {
    street_name: parts["street_address"],
    house_number: parts["house_number"],
    zip_code: parts["postcode"],
    city: parts["city"],
    province: parts["state"],
    country: parts["country"],
  };
}

const parseBankCheck: ProviderTask = {
  task: "ocr/bank_check_parsing",
  docs: "https://docs.veryfi.com/api/checks/process-a-check",
  toRequest: (call) => toRequest("checks", call),
  fromResponse({ json }) {
    const check = asObject(json);
    const micr = asObject(check["micr"]);
    const extracted = {
      amount: check["amount"],
      amount_text: check["amount_text"],
      bank_address: check["bank_address"],
      bank_name: check["bank_name"],
      date: check["date"],
      memo: check["memo"],
      payer_address: check["payer_address"],
      payer_name: check["payer_name"],
      receiver_address: check["receiver_address"],
      receiver_name: check["receiver_name"],
      micr: {
        raw: micr["raw"],
        account_number: micr["account_number"],
        routing_number: micr["routing_number"],
        serial_number: micr["serial_number"],
        check_number: check["check_number"],
      },
    };
    return {
      output: toShape("ocr/bank_check_parsing", { extracted_data: [extracted] }),
      units: { page: 1, file: 1, request: 1 },
    };
  },
};

export const veryfi: ProviderRow = {
  name: "veryfi",
  title: "Veryfi",
  docs: "https://docs.veryfi.com/api/getting-started/authentication",
  baseUrl: "https://api.veryfi.com",
  auth: { kind: "header", name: "authorization", prefix: "apikey {user}:" },
  headers: { "client-id": "{client}" },
  placeholders: { user: "VERYFI_USERNAME", client: "VERYFI_CLIENT_ID" },
  // They name files of the operator's own account, or another one than the one that was checked.
  sealedParams: ["bucket", "package_path", "file_url", "file_urls", "file_data"],
  tasks: [parseFinancialDocument, parseBankCheck],
};
