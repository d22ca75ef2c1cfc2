// The numbers of invoices: labels that name the document by its title only, orders, and the code of the bank.

import { describe, expect, test } from "bun:test";
import { readAddress } from "../../src/engines/local/documents/address.ts";
import { joinPages } from "../../src/engines/local/documents/document-text.ts";
import { readFinancialDocument } from "../../src/engines/local/documents/financial-document.ts";
import { findPhones } from "../../src/engines/local/documents/values.ts";
import { layOut, type PlacedText } from "../support/layout.ts";
import { readText } from "./financial/read-text.ts";

/** Texts at their places, for what the size and the position of a text decide. */
function readPlaced(texts: readonly PlacedText[]) {
  const page = layOut(texts);
  return readFinancialDocument(joinPages([{ page, index: 0 }]), [page]);
}

const iban = "DE89 3704 0044 0532 0130 00";

describe("the number of the document", () => {
  test.each([
    ["INVOICE\nNo. 2026-0093\nShop Ltd", "2026-0093"],
    ["RECHNUNG\nNummer      Datum\nRE/77123    12.03.2026\nLaden GmbH", "RE/77123"],
    ["FATURA\nN.º FT 2026/118\nLoja Lda", "FT 2026/118"],
    ["FACTURE      N° F-4410\nAtelier SARL", "F-4410"],
    ["Rechnungsnr. / Invoice ref. code    R912249\nShop Ltd", "R912249"],
    ["Invoice number      : R912249\nShop Ltd", "R912249"],
    ["Invoice number     .........     R912249\nShop Ltd", "R912249"],
  ])("stands beside or below a bare label: %#", async (text, id) => {
    const { financial_document_information: found } = await readText(`${text}\nTotal  100.00`);
    expect(found.invoice_receipt_id).toBe(id);
  });

  test("is not below an address of mail that begins with a label", async () => {
    const { financial_document_information: found } = await readText(
      "Laden GmbH\nrechnung@laden.example\nDE438733853\nDatum: 12.06.2026",
    );
    expect(found.invoice_receipt_id).toBeNull();
  });

  test("is not a house number, and not the first column of the items", async () => {
    const { financial_document_information: found } = await readText(
      "INVOICE\nShop Ltd\nNo. 5 Foundry Lane\nNo.  Description    Qty  Unit price  Amount\n101  Oak chair      2    50.00       100.00\nTotal  100.00",
    );
    expect(found.invoice_receipt_id).toBeNull();
  });

  test("stands above a label in smaller print, and below one although text beside it has a line between", () => {
    const captioned = readPlaced([
      { x: 40, y: 40, text: "Shop Ltd", size: 16 },
      { x: 330, y: 76, text: "R912249" },
      { x: 40, y: 81, text: "3 Foundry Lane" },
      { x: 330, y: 88, text: "Invoice number", size: 6 },
    ]);
    expect(captioned.financial_document_information.invoice_receipt_id).toBe("R912249");
    const interleaved = readPlaced([
      { x: 330, y: 60, text: "Invoice number", size: 9 },
      { x: 40, y: 67, text: "Shop Ltd", size: 9 },
      { x: 330, y: 74, text: "R912249", size: 9 },
    ]);
    expect(interleaved.financial_document_information.invoice_receipt_id).toBe("R912249");
  });

  test("belongs to the label of the same position in a row of labels, and follows a label in a sentence", async () => {
    const row = readPlaced([
      { x: 40, y: 60, text: "Invoice number" },
      { x: 250, y: 60, text: "Purchase order" },
      { x: 150, y: 75, text: "R912249" },
      { x: 400, y: 75, text: "PO-77" },
    ]);
    expect(row.financial_document_information).toMatchObject({
      invoice_receipt_id: "R912249",
      purchase_order: "PO-77",
    });
    const sentence = await readText("Please quote invoice number 4410-A when you pay.\nTotal  4.00");
    expect(sentence.financial_document_information.invoice_receipt_id).toBe("4410-A");
  });

  test.each([
    ["Nr. der Rechnung: 4410", "4410"],
    ["Número de la factura: 4410", "4410"],
    ["Číslo daňového dokladu: 4410", "4410"],
    ["Fakturareferens: 4410", "4410"],
    ["Numero del documento: 4410", "4410"],
  ])("has labels of any combination: %s", async (text, id) => {
    expect((await readText(`${text}\nTotal  4.00`)).financial_document_information.invoice_receipt_id).toBe(id);
  });

  test("leaves the number of the order to the order", async () => {
    const invoice = await readText("Invoice no. 77\nOrder no. PO-4410\nTotal  100.00");
    expect(invoice.financial_document_information).toMatchObject({
      invoice_receipt_id: "77",
      purchase_order: "PO-4410",
    });
    const receipt = await readText("Coffee bar\nOrder no. 4410\nTotal  4.00");
    expect(receipt.financial_document_information).toMatchObject({ invoice_receipt_id: "4410", purchase_order: null });
  });
});

describe("the code of the bank", () => {
  test.each([
    `IBAN: ${iban}\nBIC (SWIFT): COBADEFFXXX`,
    `IBAN ${iban} | COBADEFFXXX | Commerzbank Koeln`,
    `Bank details: ${iban} (COBADEFFXXX)`,
    `IBAN                          BIC\n${iban}   COBADEFFXXX`,
    "Code BIC / SWIFT : COBADEFFXXX",
  ])("is found in each form: %#", async (text) => {
    expect((await readText(`Invoice no. 77\n${text}`)).bank.bic).toBe("COBADEFFXXX");
  });

  test("is not the name of a bank, nor a word in capitals", async () => {
    const { bank } = await readText(`RECHNUNG NR 77\nBIC Commerzbank\nIBAN ${iban}\nBITTE DANKE`);
    expect(bank.bic).toBeNull();
  });
});

describe("a total that the other amounts contradict", () => {
  const items = "Description    Qty  Unit price  Amount\nOak chair      2    50.00       100.00\n";

  test("is null, with the reason", async () => {
    const document = await readText(`Shop Ltd\nInvoice no. 77\n${items}VAT 20%  20.00\nTotal  £340.00`);
    expect(document.payment_information.total).toBeNull();
    expect(document.report.reasons.total).toBe("The items and the tax do not add up to the total 340.");
  });

  test("is kept if the items, or the rate of the tax, prove it", async () => {
    const byItems = await readText(`Shop Ltd\nInvoice no. 77\n${items}VAT  20.00\nTotal  £120.00`);
    expect(byItems.payment_information.total).toBe(120);
    const byRate = await readText("Shop Ltd\nInvoice no. 77\nTotal  £120.00\nincl. VAT 20%  20.00");
    expect(byRate.payment_information.total).toBe(120);
  });

  test("is the net amount if the sum with the tax is printed below, whatever its label", async () => {
    const document = await readText("Shop Ltd\nInvoice no. 77\nTotal  £100.00\nVAT  £20.00\nKindly remit  £120.00");
    expect(document.payment_information).toMatchObject({ subtotal: 100, total_tax: 20, total: 120 });
  });
});

describe("items", () => {
  test("with one number end at the sums, and take a quantity and price below their name", async () => {
    const document = await readText(
      [
        "Shop Ltd",
        "Invoice no. 77",
        "Service                   Amount",
        "Oak chair                 100.00",
        "  2 × EUR 50.00",
        "Delivery                  20.00",
        "Subtotal                  120.00",
        "VAT                       24.00",
        "Total                     144.00",
      ].join("\n"),
    );
    expect(document.item_lines).toMatchObject([
      { description: "Oak chair", quantity: 2, unit_price: 50, amount_line: 100 },
      { description: "Delivery", amount_line: 20 },
    ]);
    expect(document.payment_information).toMatchObject({ subtotal: 120, total_tax: 24, total: 144 });
  });

  test("with a net and a gross amount have the one that quantity and price multiply to", async () => {
    const document = await readText(
      "Shop\nFactura n.º 77\nConcepto      Cantidad   Precio   Importe   IVA     Total\nSilla         2          50,00    100,00    21,00   121,00\nMesa          1          80,00    80,00     16,80   96,80",
    );
    expect(document.item_lines).toMatchObject([{ amount_line: 100 }, { amount_line: 80 }]);
  });
});

describe("parties", () => {
  test.each([
    [["3 High St", "York", "YO1 7EP"], "York", "YO1 7EP"],
    [["Calle Mayor 5", "28013 Madrid (Madrid)"], "Madrid", "28013"],
    [["Via Roma 1", "20121 Milano MI"], "Milano", "20121"],
    [["Rua A 5", "01310-100 São Paulo - SP"], "São Paulo", "01310-100"],
    [["Rue X 5", "75011 Paris France"], "Paris", "75011"],
    [["Av. X 5", "06000 Ciudad de México, CDMX"], "Ciudad de México", "06000"],
    [["12 Main St, Portland OR 97201"], "Portland", "97201"],
    [["12 Main St, New York, NY 10001, USA"], "New York", "10001"],
    [["12 Main St", "West Jordan, UT 84084"], "West Jordan", "84084"],
    [["1 George St, Sydney, NSW 2000"], "Sydney", "2000"],
    [["4 Quay St", "Galway", "H91 AB12"], "Galway", "H91 AB12"],
    [["K123456", "Hauptstr. 5", "10115 Berlin"], "Berlin", "10115"],
    [["Quai X 5", "76600 Le Havre"], "Le Havre", "76600"],
    [["Rue X 5", "2300 La Chaux-de-Fonds"], "La Chaux-de-Fonds", "2300"],
    [["Bahnhofstr. 5", "9000 St. Gallen"], "St. Gallen", "9000"],
    [["Damrak 1", "1012 LG Amsterdam"], "Amsterdam", "1012 LG"],
    [["Damrak 1", "1012 LG Amsterdam The Netherlands"], "Amsterdam", "1012 LG"],
    [["Rua das Flores, 100, São Paulo - SP, 01310-100"], "São Paulo", "01310-100"],
  ])("have their city in the form of the country: %p", (lines, city, zipCode) => {
    expect(readAddress(lines)).toMatchObject({ city, zipCode });
  });

  test.each([
    [["12 Main St, Portland OR 97201"], "Main St", "12"],
    [["12, rue Cler", "75007 Paris"], "rue Cler", "12"],
    [["Rua das Flores, 100", "01310-100 São Paulo"], "Rua das Flores", "100"],
    [["2200 Harbor Blvd", "Costa Mesa, CA 92626"], "Harbor Blvd", "2200"],
    [["1200 Main St", "Costa Mesa"], "Main St", "1200"],
  ])("are split into street and house number: %p", (lines, street, houseNumber) => {
    expect(readAddress(lines)).toMatchObject({ street, houseNumber });
  });

  test("have a telephone number without a label only if it is alone", () => {
    expect(findPhones("Shop · 01752 496 011 · mail@shop.example")).toEqual(["01752 496 011"]);
    expect(findPhones("Shop\n(785) 555-0117\n")).toEqual(["(785) 555-0117"]);
    expect(findPhones("Shop  T: 22 555 01 23")).toEqual(["22 555 01 23"]);
    expect(findPhones("Order 01752 496 011 of 03/04/2026\n03/04/2026\n0012")).toEqual([]);
  });

  test("are told apart without headings: the seller in large print, the customer above the title", () => {
    const { merchant_information: merchant, customer_information: customer } = readPlaced([
      { x: 250, y: 30, text: "Calder and Reeve LLP", size: 16 },
      { x: 250, y: 50, text: "118 Wharf Road, Leeds LS10 1JF", size: 8 },
      { x: 40, y: 120, text: "Fenland Cycles Ltd" },
      { x: 40, y: 133, text: "41 Bridge Street" },
      { x: 40, y: 146, text: "Cambridge CB2 1UF" },
      { x: 40, y: 220, text: "Invoice no. 77" },
    ]);
    expect(merchant).toMatchObject({ name: "Calder and Reeve LLP", city: "Leeds" });
    expect(customer).toMatchObject({ name: "Fenland Cycles Ltd", city: "Cambridge", zip_code: "CB2 1UF" });
  });

  test("may have a place to ship to, which is not the customer's address", async () => {
    const page = "Shop Ltd\nInvoice no. 77\nBill to\nFenland Cycles Ltd\n41 Bridge Street\nCambridge CB2 1UF\n";
    const { customer_information: without } = await readText(page);
    const { customer_information: customer } = await readText(
      `${page}\nShip to\nFenland Depot\n9 Quay Row\nEly CB7 4AU\n`,
    );
    expect(without).toMatchObject({ name: "Fenland Cycles Ltd", city: "Cambridge", shipping_address: null });
    expect(customer).toMatchObject({
      name: "Fenland Cycles Ltd",
      city: "Cambridge",
      shipping_address: "Fenland Depot, 9 Quay Row, Ely CB7 4AU",
    });
  });

  test("state in a sentence when to pay", async () => {
    const { financial_document_information: found } = await readText(
      "Laden GmbH\nRechnung Nr. 77 vom 12.03.2026\nBitte überweisen Sie den Betrag bis zum 26.03.2026 auf unser Konto.",
    );
    expect(found).toMatchObject({ invoice_date: "2026-03-12", invoice_due_date: "2026-03-26" });
  });
});
