import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { readAddress, toDocuments } from "../shapes/documents.ts";
import { fileOf } from "../shapes/inputs.ts";
import { poll, postForm } from "../shapes/requests.ts";
import { defineTask, TaskFailure } from "../task.ts";

const waitMs = 1_000;

const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs: "https://docs.tabscanner.com",
  unsupported: ["language"],
  files: { mediaTypes: ["image/jpeg", "image/png", "application/pdf"] },
  toRequest: (call) => {
    const { document_type: kind } = call.input;
    const documentType = kind === "invoice" || kind === "receipt" ? kind : "auto";
    return postForm("/api/2/process", { documentType, file: fileOf(call) });
  },
  next({ json }, _call, request) {
    if (asText(at(json, "token")) !== null && at(json, "success") !== false)
      return { ...poll("/api/result", json, "token"), waitMs };
    if (at(json, "status") === "pending") return { ...request, waitMs };
    if (at(json, "status") === "done") return null;
    throw new TaskFailure(400, asText(at(json, "message")) ?? "The document could not be read");
  },
  fromResponse: ({ json }) => toDocuments("ocr/financial_parser", [toFinancialDocument(asObject(at(json, "result")))]),
});

function toFinancialDocument(result: JsonObject) {
  const custom = asObject(result["customFields"]);
  const amount = (name: string) => toAmount(result[name]);
  const addressNames = { street_name: "street", house_number: "number", zip_code: "postcode", province: "state" };
  const address = readAddress((name) => at(result, "addressNorm", name), addressNames);
  const currency = asText(result["currency"]) ?? custom["Currency"];
  return {
    merchant_information: {
      name: result["establishment"],
      address: result["address"],
      phone: result["phoneNumber"],
      website: asText(result["url"]) ?? custom["URL"],
      vat_number: custom["VATNumber"],
      id_reference: custom["StoreID"],
      ...address,
      country: asText(address.country) ?? custom["Country"],
    },
    payment_information: {
      total: result["total"],
      subtotal: amount("subTotal"),
      total_tax: amount("tax"),
      amount_tip: amount("tip"),
      amount_change: amount("change"),
      amount_paid: amount("cash"),
      discount: amount("discount"),
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
    local: { currency, currency_code: currency },
    item_lines: objectsIn(result["lineItems"]).map((line) => ({
      description: asText(line["descClean"]) ?? line["desc"],
      quantity: toAmount(line["qty"]),
      unit_price: toAmount(line["price"]),
      unit_type: line["unit"],
      amount_line: line["lineTotal"],
      discount_amount: toAmount(line["discount"]),
      product_code: line["productCode"],
    })),
    document_metadata: { document_type: result["documentType"] },
  };
}

/** The vendor sends 0 for an amount that it did not find. */
function toAmount(value: unknown): number | null {
  return asNumber(value) || null;
}

export const tabscanner = defineProvider("tabscanner", "Tabscanner", {
  docs: "https://docs.tabscanner.com",
  baseUrl: "https://api.tabscanner.com",
  auth: { kind: "header", name: "apikey" },
  // The documentation says that an unknown key is refused with 400.
  errors: [{ says: /API key not found/i, means: "credentials" }],
  tasks: [parseFinancialDocument],
});
