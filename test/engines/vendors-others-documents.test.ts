// Vendors that read invoices, receipts, checks, identity papers and résumés. Answers here are invented, in the members that the mappings read.

import { describe, expect, test } from "bun:test";
import { GatewayError, ValidationError } from "../../src/errors.ts";
import { affinda } from "../../src/providers/affinda/index.ts";
import { base64 } from "../../src/providers/base64/index.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { eagledoc } from "../../src/providers/eagledoc/index.ts";
import { klippa } from "../../src/providers/klippa/index.ts";
import { mindee } from "../../src/providers/mindee/index.ts";
import { asAmount } from "../../src/providers/shapes/amounts.ts";
import { findCountry } from "../../src/providers/shapes/countries.ts";
import { toShape } from "../../src/providers/shapes/to-shape.ts";
import { tabscanner } from "../../src/providers/tabscanner/index.ts";
import { veryfi } from "../../src/providers/veryfi/index.ts";
import { ask, document, key } from "./vendors-others/ask.ts";

const financial = { task: "ocr/financial_parser", input: { file: "x" }, files: { file: document } };
const identity = { task: "ocr/identity_parser", input: { file: "x" }, files: { file: document } };
const resume = { task: "ocr/resume_parser", input: { file: "x" }, files: { file: document } };
const check = { task: "ocr/bank_check_parsing", input: { file: "x" }, files: { file: document } };
const uploaded = "invoice.pdf (application/pdf, 8 bytes)";

/** The first document, without the members that are null. */
function firstOf(output: JsonObject): unknown {
  const [first] = output["extracted_data"] as unknown[];
  return JSON.parse(JSON.stringify(first, (_, value: unknown) => (value === null ? undefined : value)));
}

describe("invoices and receipts", () => {
  const field = (value: unknown) => ({ value, confidence: 0.9 });
  const toFields = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, field(value)]));

  test("an invoice of several pages stays one document, and every page is billed", async () => {
    const prediction = {
      supplier_name: field("Acme"),
      supplier_company_registrations: [
        { type: "VAT NUMBER", value: "FR123" },
        { type: "UNHEARD OF", value: "?" },
      ],
      customer_name: field("Ada"),
      date: field("2026-01-02"),
      invoice_number: field("42"),
      total_amount: field(120),
      total_net: field(100),
      total_tax: field(20),
      taxes: [{ value: 20, rate: 20 }],
      locale: { currency: "EUR", language: "fr", country: "FR" },
      line_items: [{ description: "Bolt", quantity: 2, unit_price: 50, total_amount: 100 }],
      document_type: { value: "INVOICE" },
    };
    const json = {
      api_request: { status: "success", error: {} },
      document: {
        n_pages: 2,
        inference: {
          pages: [
            { id: 0, prediction },
            { id: 1, prediction: { total_amount: field(7) } },
          ],
          prediction,
        },
      },
    };
    const { output, answer, seen } = await ask({ ...financial, row: mindee, answers: [{ status: 201, json }] });
    expect(firstOf(output)).toEqual({
      customer_information: { name: "Ada" },
      merchant_information: { name: "Acme", vat_number: "FR123" },
      payment_information: { total: 120, subtotal: 100, total_tax: 20, tax_rate: 20 },
      financial_document_information: { invoice_receipt_id: "42", invoice_date: "2026-01-02", barcodes: [] },
      local: { currency: "EUR", currency_code: "EUR", country: "FR", language: "fr" },
      bank: {},
      item_lines: [{ description: "Bolt", quantity: 2, unit_price: 50, amount_line: 100 }],
      document_metadata: { document_page_number: 1, document_type: "INVOICE" },
    });
    expect(output["extracted_data"]).toHaveLength(1);
    expect(answer.units).toMatchObject({ page: 2, file: 1 });
    expect(seen[0]?.url.pathname).toBe("/v1/products/mindee/financial_document/v1/predict");
    expect(seen[0]?.headers.get("authorization")).toBe(`Token ${key}`);
    expect(seen[0]?.form).toEqual({ document: uploaded });
  });

  test("cents become money, and languages are written as everybody writes them", async () => {
    const line = { title: "Bolt", amount: 10000, amount_each: 5000, quantity: 2, vat_percentage: 20, sku: "" };
    const data = {
      document_type: "invoice",
      amount: 12000,
      amountexvat: 10000,
      vatamount: 2000,
      currency: "EUR",
      document_language: "FR",
      purchasetime: "00:00:00",
      invoice_number: "",
      receipt_number: "42",
      merchant_name: "Acme",
      merchant_country_code: "FR",
      lines: [{ lineitems: [line] }],
      barcodes: [{ type: "EAN13", value: "123" }],
    };
    const answers = [{ json: { result: "success", data } }];
    const { output, seen } = await ask({ ...financial, row: klippa, answers });
    expect(firstOf(output)).toMatchObject({
      merchant_information: { name: "Acme", country: "FR", country_code: "FR" },
      payment_information: { total: 120, amount_due: 120, subtotal: 100, total_tax: 20 },
      financial_document_information: { invoice_receipt_id: "42", barcodes: [{ value: "123", type: "EAN13" }] },
      local: { currency_code: "EUR", language: "fr" },
      item_lines: [{ title: "Bolt", description: "Bolt", unit_price: 50, amount_line: 100, tax_rate: 20 }],
    });
    expect(seen[0]?.form).toEqual({ pdf_text_extraction: "full", document: uploaded });
  });

  test("annotations are told as the vendor understood them, addresses as they are written", async () => {
    const place = {
      formatted: "1 Main Street, Paris",
      street: "Main Street",
      streetNumber: "1",
      city: "Paris",
      countryCode: "FR",
    };
    const row = {
      itemDescription: { raw: "Bolt", parsed: "Bolt" },
      itemUnitPrice: { raw: "50,00", parsed: "50.00" },
      itemTotal: { raw: "5O.OO", parsed: null },
    };
    const data = {
      supplierCompanyName: { raw: "Acme", parsed: "Acme" },
      supplierAddress: { raw: "1 Main St PARIS", parsed: place },
      invoiceDate: { raw: "2 Jan 2026", parsed: "2026-01-02" },
      paymentAmountTotal: { raw: "1.234,50", parsed: "1234.50" },
      currencyCode: { raw: null, parsed: { id: 1, label: "Euro", value: "EUR" } },
      tables: [{ parsed: { rows: [{ parsed: row }] } }],
    };
    const meta = {
      ready: true,
      failed: false,
      language: "en",
      pages: [{}, {}],
      collection: { extractor: { identifier: "invoice" } },
    };
    const asked = { ...financial, row: affinda, providerParams: { workspace: "abc" } };
    const { output, answer, seen } = await ask({ ...asked, answers: [{ json: { data, meta, error: {} } }] });
    expect(firstOf(output)).toMatchObject({
      merchant_information: {
        name: "Acme",
        address: "1 Main St PARIS",
        city: "Paris",
        house_number: "1",
        country_code: "FR",
      },
      payment_information: { total: 1234.5 },
      financial_document_information: { invoice_date: "2026-01-02" },
      local: { currency: "Euro", currency_code: "EUR", language: "en" },
      item_lines: [{ description: "Bolt", unit_price: 50 }],
    });
    // What the vendor could not make sense of is no amount.
    expect(firstOf(output)).not.toHaveProperty("item_lines.0.amount_line");
    expect(answer.units).toMatchObject({ page: 2 });
    expect(seen[0]?.form).toEqual({ wait: "true", workspace: "abc", file: uploaded });
  });

  test("a vendor that reads in a workspace has to be told which", async () => {
    const refused = ask({ ...financial, row: affinda, answers: [] });
    expect(refused).rejects.toThrow(ValidationError);
    await refused.catch(() => undefined);
  });

  test("numbered fields become lines in the order of their numbers", async () => {
    const fields = toFields({
      companyName: "Acme",
      total: "$1,234.50",
      receiptNo: "42",
      lineItem10Description: "Nut",
      lineItem2Description: "Bolt",
      lineItem2Quantity: "2 pcs",
      lineItem2LineTotal: "100.00",
    });
    const json = [{ model: { type: "finance/receipt" }, fields, features: {} }];
    const asked = { ...financial, input: { file: "x", document_type: "receipt" }, row: base64 };
    const { output, seen } = await ask({ ...asked, answers: [{ json }] });
    expect(firstOf(output)).toMatchObject({
      payment_information: { total: 1234.5 },
      financial_document_information: { invoice_receipt_id: "42" },
      item_lines: [{ description: "Bolt", quantity: 2, amount_line: 100 }, { description: "Nut" }],
    });
    expect(seen[0]?.json["modelTypes"]).toEqual(["finance/receipt"]);
    expect(seen[0]?.headers.get("authorization")).toBe(key);
  });

  test("an address is put together from its parts", async () => {
    const general = toFields({
      ShopName: "Acme",
      ShopStreet: "Main Street",
      ShopHouseNumber: "1",
      ShopZip: "75001",
      ShopCity: "Paris",
      ShopCountry: "FR",
      TotalPrice: "12.5",
      IBAN: "FR76",
    });
    const json = {
      docType: "Invoice",
      general,
      productItems: [{ ProductName: field("Bolt"), ProductPrice: field("12.5") }],
      numberOfPages: 3,
    };
    const { output, answer } = await ask({ ...financial, row: eagledoc, answers: [{ json }] });
    expect(firstOf(output)).toMatchObject({
      merchant_information: { address: "Main Street 1, 75001 Paris, FR", zip_code: "75001" },
      payment_information: { total: 12.5 },
      bank: { iban: "FR76" },
      item_lines: [{ title: "Bolt", amount_line: 12.5 }],
    });
    expect(answer.units).toMatchObject({ page: 3 });
  });

  test("a key of three parts is sent as the vendor wants it", async () => {
    const json = {
      vendor: { name: "Acme", vat_number: "FR123" },
      bill_to: { name: "Ada" },
      total: 12.5,
      tax_lines: [{ rate: 9 }, { rate: 19 }],
      line_items: [{ description: "Bolt", total: 12.5 }],
      barcodes: [{ data: "123", type: "EAN13" }],
      meta: { processed_pages: 2 },
    };
    const settings = { VERYFI_USERNAME: "ada", VERYFI_CLIENT_ID: "client-1" };
    const { output, answer, seen } = await ask({
      ...financial,
      row: veryfi,
      answers: [{ status: 201, json }],
      settings,
    });
    expect(firstOf(output)).toMatchObject({
      merchant_information: { name: "Acme", vat_number: "FR123" },
      payment_information: { total: 12.5 },
      financial_document_information: { barcodes: [{ value: "123", type: "EAN13" }] },
    });
    expect(answer.units).toMatchObject({ page: 2, file: 1 });
    expect(seen[0]?.headers.get("authorization")).toBe(`apikey ada:${key}`);
    expect(seen[0]?.headers.get("client-id")).toBe("client-1");
    expect(seen[0]?.url.pathname).toBe("/api/v8/partner/documents/");
    expect(seen[0]?.json).toEqual({ file_name: "invoice.pdf", file_data: Buffer.from("%PDF-1.7").toString("base64") });
  });

  test("a receipt is handed over and asked after until it is read, and 0 is what was not found", async () => {
    const result = {
      establishment: "Acme",
      dateISO: "2026-01-02T10:00:00",
      total: 12.5,
      tip: 0,
      barcodes: [["123", "EAN13"]],
      lineItems: [{ descClean: "Bolt", qty: 1, price: 0, lineTotal: 12.5 }],
      customFields: { CardLast4Digits: "6855" },
      documentType: "receipt",
    };
    const answers = [
      { json: { success: true, code: 200, token: "t1" } },
      { json: { success: true, status: "pending", status_code: 2 } },
      { json: { success: true, status: "done", status_code: 3, result } },
    ];
    const { output, seen } = await ask({ ...financial, row: tabscanner, answers });
    expect(firstOf(output)).toMatchObject({
      merchant_information: { name: "Acme" },
      payment_information: { total: 12.5, payment_card_number: "6855" },
      financial_document_information: {
        invoice_date: "2026-01-02T10:00:00",
        barcodes: [{ value: "123", type: "EAN13" }],
      },
      item_lines: [{ description: "Bolt", quantity: 1, amount_line: 12.5 }],
    });
    expect(seen.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      "POST /api/2/process",
      "GET /api/result/t1",
      "GET /api/result/t1",
    ]);
    const refused = ask({
      ...financial,
      row: tabscanner,
      answers: [{ json: { success: false, message: "Bad file" } }],
    });
    expect(refused).rejects.toThrow("Bad file");
    await refused.catch(() => undefined);
  });

  test("failures with a good status are failures", async () => {
    const failures: [typeof mindee, unknown, JsonObject][] = [
      [mindee, { api_request: { error: { message: "Bad file", details: "No pages" } } }, {}],
      [klippa, { result: "error", message: "Bad file" }, {}],
      [affinda, { meta: { failed: true }, error: { errorDetail: "Bad file" } }, { workspace: "abc" }],
    ];
    for (const [row, json, providerParams] of failures) {
      const failure = await ask({ ...financial, row, answers: [{ json }], providerParams }).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(GatewayError);
      expect([row.name, (failure as GatewayError).code]).toEqual([row.name, "provider_rejected_request"]);
      expect((failure as GatewayError).message).toContain("Bad file");
    }
  });
});

describe("checks", () => {
  test("the payee is the one who receives", async () => {
    const prediction = {
      amount: { value: 25, confidence: 0.9 },
      payees: [{ value: "Ada" }, { value: "Grace" }],
      routing_number: { value: "054", confidence: 0.9 },
      check_number: { value: "", confidence: 0.1 },
    };
    const json = { document: { n_pages: 1, inference: { pages: [], prediction } } };
    const { output } = await ask({ ...check, row: mindee, answers: [{ json }] });
    expect(firstOf(output)).toEqual({ amount: 25, receiver_name: "Ada, Grace", micr: { routing_number: "054" } });
    const fields = { amount: { value: "25.00" }, payee: { value: "Ada" }, micr: { value: "A054A" } };
    const { output: other } = await ask({ ...check, row: base64, answers: [{ json: [{ fields }] }] });
    expect(firstOf(other)).toEqual({ amount: 25, receiver_name: "Ada", micr: { raw: "A054A" } });
  });

  test("both sides are told where the vendor reads both", async () => {
    const json = {
      amount: 25,
      amount_text: "Twenty-five",
      payer_name: "Ada",
      receiver_name: "Grace",
      check_number: "878",
      micr: { raw: "A" },
    };
    const settings = { VERYFI_USERNAME: "ada", VERYFI_CLIENT_ID: "client-1" };
    const { output } = await ask({ ...check, row: veryfi, answers: [{ json }], settings });
    expect(firstOf(output)).toEqual({
      amount: 25,
      amount_text: "Twenty-five",
      payer_name: "Ada",
      receiver_name: "Grace",
      micr: { raw: "A", check_number: "878" },
    });
  });
});

describe("identity papers", () => {
  const france = { name: "France", alpha2: "FR", alpha3: "FRA" };

  test("names, dates and the country are told with how sure they are", async () => {
    const prediction = {
      surname: { value: "LOVELACE", confidence: 0.9 },
      given_names: [{ value: "ADA", confidence: 0.8 }],
      country: { value: "FRA", confidence: 1 },
      mrz1: { value: "P<FRA", confidence: 0.7 },
      mrz2: { value: "123<<", confidence: 0.6 },
      birth_place: { value: null, confidence: 0 },
    };
    const json = { document: { n_pages: 1, inference: { pages: [], prediction } } };
    const { output } = await ask({ ...identity, row: mindee, answers: [{ json }] });
    expect(firstOf(output)).toMatchObject({
      last_name: { value: "LOVELACE", confidence: 0.9 },
      given_names: [{ value: "ADA", confidence: 0.8 }],
      country: { ...france, confidence: 1 },
      mrz: { value: "P<FRA\n123<<", confidence: 0.7 },
      birth_place: {},
    });
  });

  test("an address and several given names are taken apart and put together", async () => {
    const address = { street_name: "Main Street", house_number: "1", post_code: "75001", city: "Paris" };
    const parsed = {
      surname: { value: "Lovelace", confidence: 0.9 },
      given_names: { value: "Ada  Augusta", confidence: 0.8 },
      date_of_birth: { value: "1815-12-10T00:00:00", confidence: 0.9 },
      issuing_country: { value: "FRA", confidence: 1 },
      address: { value: address, confidence: 0.5 },
      face: { value: "iVBORw0=" },
    };
    const { output, seen } = await ask({
      ...identity,
      row: klippa,
      answers: [{ json: { result: "success", data: { parsed } } }],
    });
    expect(firstOf(output)).toMatchObject({
      given_names: [{ value: "Ada" }, { value: "Augusta" }],
      birth_date: { value: "1815-12-10", confidence: 0.9 },
      country: france,
      address: { value: "Main Street 1, 75001 Paris", confidence: 0.5 },
      image_id: [{ value: "iVBORw0=" }],
    });
    expect(seen[0]?.url.pathname).toBe("/api/v1/parseDocument/identity");
  });

  test("what is missing on its own is read from the machine-readable zone", async () => {
    const zone = { raw: "P<FRALOVELACE<<ADA", parsed: { surname: "LOVELACE", country: "FRA" }, confidence: 0.8 };
    const data = { givenName: { raw: "ADA", parsed: "ADA", confidence: 0.9 }, machineReadableZone: zone };
    const asked = { ...identity, row: affinda, providerParams: { collection: "abc" } };
    const { output } = await ask({ ...asked, answers: [{ json: { data, meta: {} } }] });
    expect(firstOf(output)).toMatchObject({
      last_name: { value: "LOVELACE" },
      given_names: [{ value: "ADA" }],
      country: france,
    });
  });

  test("a file with several papers has several documents", async () => {
    const paper = (name: string) => ({
      fields: { familyName: { value: name, confidence: 0.9 } },
      features: { faces: [{ image: "abc" }] },
    });
    const answers = [{ json: [paper("Lovelace"), paper("Hopper")] }];
    const { output, answer } = await ask({ ...identity, row: base64, answers });
    expect(output["extracted_data"]).toMatchObject([
      { last_name: { value: "Lovelace" }, image_id: [{ value: "abc" }], country: null },
      { last_name: { value: "Hopper" } },
    ]);
    expect(answer.units).toMatchObject({ page: 2 });
  });
});

describe("résumés", () => {
  test("a person, schools, work and skills are told", async () => {
    const data = {
      name: { raw: "Ada Lovelace", first: "Ada", last: "Lovelace" },
      emails: ["ada@example.com"],
      location: { formatted: "London, UK", city: "London", countryCode: "GB", rawInput: "London" },
      education: [
        {
          organization: "Home",
          accreditation: { education: "Mathematics", inputStr: "Maths" },
          dates: { startDate: "1830-01-01", completionDate: "1833-01-01" },
        },
      ],
      workExperience: [{ jobTitle: "Analyst", organization: "Engine", dates: { startDate: "1842-01-01" } }],
      skills: [{ name: "Notes", type: "soft" }],
      languages: ["English"],
      languageCodes: ["en"],
      totalYearsExperience: 3,
    };
    const asked = { ...resume, row: affinda, providerParams: { workspace: "abc" } };
    const { output } = await ask({ ...asked, answers: [{ json: { data, meta: {} } }] });
    expect(output["extracted_data"]).toMatchObject({
      personal_infos: {
        name: { first_name: "Ada", raw_name: "Ada Lovelace" },
        mails: ["ada@example.com"],
        address: { city: "London" },
      },
      education: {
        entries: [{ title: "Mathematics", accreditation: "Maths", end_date: "1833-01-01", location: null }],
      },
      work_experience: {
        total_years_experience: "3",
        entries: [{ title: "Analyst", company: "Engine", end_date: null }],
      },
      skills: [{ name: "Notes", type: "soft" }],
      languages: [{ name: "English", code: "en" }],
    });
  });

  test("values in objects are read as values", async () => {
    const parsed = {
      applicant: {
        name: { value: "Ada Lovelace" },
        phone_number: { value: "" },
        email_address: { value: "ada@example.com" },
        websites: [{ value: "https://a.example" }],
      },
      work_experience: [
        { job_title: { value: "Analyst" }, company_name: { value: "Engine" }, address: { city: { value: "London" } } },
      ],
      skills: [{ value: "Notes" }],
    };
    const { output } = await ask({
      ...resume,
      row: klippa,
      answers: [{ json: { result: "success", data: { parsed } } }],
    });
    expect(output["extracted_data"]).toMatchObject({
      personal_infos: {
        name: { raw_name: "Ada Lovelace" },
        phones: [],
        mails: ["ada@example.com"],
        urls: ["https://a.example"],
      },
      work_experience: { entries: [{ title: "Analyst", company: "Engine", location: { city: "London" } }] },
      skills: [{ name: "Notes", type: null }],
    });
  });
});

describe("how documents write things", () => {
  test("amounts are understood in the ways of several countries", () => {
    const amounts: [unknown, number | null][] = [
      [12.5, 12.5],
      ["12.5", 12.5],
      ["1,234.50", 1234.5],
      ["1.234,50 €", 1234.5],
      ["$ 1,234", 1234],
      ["1.234.567", 1234567],
      ["12,5", 12.5],
      ["1'234.50", 1234.5],
      ["-3,20", -3.2],
      ["750 .. 00", 750],
      ["2 pcs", 2],
      ["", null],
      ["none", null],
      [null, null],
      [Number.NaN, null],
    ];
    for (const [written, expected] of amounts) expect([written, asAmount(written)]).toEqual([written, expected]);
  });

  test("countries are found by codes of two and of three letters", () => {
    expect(findCountry("usa")).toEqual({ name: "United States", alpha2: "US", alpha3: "USA" });
    expect(findCountry("de")).toEqual({ name: "Germany", alpha2: "DE", alpha3: "DEU" });
    expect([findCountry("XX"), findCountry("D<<"), findCountry(""), findCountry(7)]).toEqual([null, null, null, null]);
  });

  test("a member that the schema does not know is a mistake of ours", () => {
    // @ts-expect-error: the compiler knows the members as well
    expect(() => toShape("ocr/financial_parser", { extracted_data: [{ shoe_size: 42 }] })).toThrow("shoe_size");
  });
});
