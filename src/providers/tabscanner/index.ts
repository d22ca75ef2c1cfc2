import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import { type ProviderTask, TaskFailure } from "../task.ts";

const waitMs = 1_000;

const parseFinancialDocument: ProviderTask = {
  task: "ocr/financial_parser",
  docs: "https://docs.tabscanner.com",
  unsupported: ["language"],
  files: { mediaTypes: ["image/jpeg", "image/png", "application/pdf"] },
  toRequest: async (call) => {
    const { document_type: kind } = call.input;
    const documentType = kind === "invoice" || kind === "receipt" ? kind : "auto";
    const parts = [{ name: "documentType", value: documentType }, await filePart("file", fileOf(call))];
    return { path: "/api/2/process", body: { kind: "form", parts } };
  },
  next({ json }, _call, asked) {
    const token = asText(at(json, "token"));
    if (token !== null && at(json, "success") !== false)
      return { method: "GET", path: `/api/result/${encodeURIComponent(token)}`, waitMs };
    if (at(json, "status") === "pending") return { ...asked, waitMs };
    if (at(json, "status") === "done") return null;
    throw new TaskFailure(400, asText(at(json, "message")) ?? "The document could not be read");
  },
  fromResponse({ json }) {
    const document = toFinancialDocument(asObject(at(json, "result")));
    const output = toShape("ocr/financial_parser", { extracted_data: [document] });
    return { output, units: { page: 1, file: 1, request: 1 } };
  },
};

function toFinancialDocument(result: JsonObject): JsonObject {
  const custom = asObject(result["customFields"]);
  const place = asObject(result["addressNorm"]);
  return {
    merchant_information: {
      name: result["establishment"],
      address: result["address"],
      phone: result["phoneNumber"],
      website: asText(result["url"]) ?? custom["URL"],
      vat_number: custom["VATNumber"],
      id_reference: custom["StoreID"],
      street_name: place["street"],
      house_number: place["number"],
      zip_code: place["postcode"],
      city: place["city"],
      province: place["state"],
      country: asText(place["country"]) ?? custom["Country"],
    },
    payment_information: {
      total: result["total"],
      subtotal: toAmount(result, "subTotal"),
      total_tax: toAmount(result, "tax"),
      amount_tip: toAmount(result, "tip"),
      amount_change: toAmount(result, "change"),
      amount_paid: toAmount(result, "cash"),
      discount: toAmount(result, "discount"),
      payment_method: result["paymentMethod"],
      payment_card_number: custom["CardLast4Digits"],
    },
    financial_document_information: {
      invoice_date: asText(result["dateISO"]) ?? result["date"],
      barcodes: asList(result["barcodes"]).flatMap((barcode) => {
        const value = asText(at(barcode, 0));
        return value === null ? [] : [{ value, type: asText(at(barcode, 1)) ?? "unknown" }];
      }),
    },
    local: {
      currency: asText(result["currency"]) ?? custom["Currency"],
      currency_code: asText(result["currency"]) ?? custom["Currency"],
    },
    item_lines: objectsIn(result["lineItems"]).map((line) => ({
      description: asText(line["descClean"]) ?? line["desc"],
      quantity: toAmount(line, "qty"),
      unit_price: toAmount(line, "price"),
      unit_type: line["unit"],
      amount_line: line["lineTotal"],
      discount_amount: toAmount(line, "discount"),
      product_code: line["productCode"],
    })),
    document_metadata: { document_type: result["documentType"] },
  };
}

/** The vendor writes 0 for what it did not find. */
function toAmount(members: JsonObject, name: string): number | null {
  return asNumber(members[name]) || null;
}

export const tabscanner: ProviderRow = {
  name: "tabscanner",
  title: "Tabscanner",
  docs: "https://docs.tabscanner.com",
  baseUrl: "https://api.tabscanner.com",
  auth: { kind: "header", name: "apikey" },
  // Of its documentation: a key that is not known is a 400.
  errors: [{ says: /API key not found/i, means: "credentials" }],
  tasks: [parseFinancialDocument],
};
