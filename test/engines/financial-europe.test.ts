// Invoices and receipts of European countries, as plain text. All are invented.

import { expect, test } from "bun:test";
import { readText } from "./financial/read-text.ts";

interface Case {
  readonly title: string;
  /** Pages are separated by a form feed. */
  readonly text: string;
  readonly expected: object;
}

const cases: readonly Case[] = [
  {
    title: "a German invoice with the sender in one line above the recipient",
    text: `
Muster Werkzeug GmbH · Hauptstr. 5 · 10115 Berlin

Firma
Schreinerei Huber
Lindenweg 8
80331 München

Rechnung Nr. 2025-118
Rechnungsdatum 03.04.2025
Zahlungsziel: 14 Tage netto

Pos  Artikel                     Menge   Einzelpreis    Gesamt
1    Bohrmaschine                1 Stk      1.249,00    1.249,00
2    Schrauben 4x40              10 Pkg         4,90       49,00
     verzinkt, 200 Stück

Nettobetrag                                            1.298,00 EUR
zzgl. MwSt. 19%                                          246,62 EUR
Rechnungsbetrag                                        1.544,62 EUR

Bank: DE89 3704 0044 0532 0130 00  BIC COBADEFFXXX
USt-IdNr. DE811234567
`,
    expected: {
      merchant_information: {
        name: "Muster Werkzeug GmbH",
        street_name: "Hauptstr.",
        city: "Berlin",
        vat_number: "DE811234567",
      },
      customer_information: { name: "Schreinerei Huber", city: "München" },
      payment_information: {
        subtotal: 1298,
        total_tax: 246.62,
        tax_rate: 19,
        total: 1544.62,
        payment_terms: "14 Tage netto",
      },
      financial_document_information: { invoice_receipt_id: "2025-118", invoice_date: "2025-04-03" },
      local: { currency_code: "EUR", language: "de" },
      bank: { iban: "DE89370400440532013000", bic: "COBADEFFXXX" },
      item_lines: [
        { description: "Bohrmaschine", quantity: 1, unit_type: "Stk", unit_price: 1249 },
        { description: "Schrauben 4x40 verzinkt, 200 Stück", quantity: 10, unit_price: 4.9, amount_line: 49 },
      ],
    },
  },
  {
    title: "a French invoice with two rates of tax, which are listed",
    text: `
Garage du Lac SARL
3 avenue du Lac
74000 Annecy
SIRET 732 829 320 00074
FACTURE N° F-2025-077
Date : 12/03/2025
Client :
M. Paul Durand
9 rue des Fleurs
73000 Chambéry

Désignation             Qté    P.U. HT    Montant HT    TVA
Vidange                  1      80,00        80,00      20 %
Livre entretien          2      10,00        20,00      5,5 %

                Taux     Base HT     TVA
                20 %     80,00      16,00
                5,5 %    20,00       1,10

Total HT                            100,00 €
Total TVA                            17,10 €
Net à payer                         117,10 €
`,
    expected: {
      payment_information: { subtotal: 100, total_tax: 17.1, tax_rate: null, total: 117.1, amount_due: 117.1 },
      financial_document_information: { invoice_receipt_id: "F-2025-077", invoice_date: "2025-03-12" },
      local: { currency_code: "EUR", language: "fr" },
      item_lines: [
        { description: "Vidange", tax_rate: 20 },
        { description: "Livre entretien", tax_rate: 5.5 },
      ],
      report: {
        taxes: [
          { rate: 20, base: 80, amount: 16 },
          { rate: 5.5, base: 20, amount: 1.1 },
        ],
      },
    },
  },
  {
    title: "a Spanish invoice with a withholding",
    text: `
Consultoría Levante S.L.U.
C/ Colón 12, 2º
46004 Valencia
CIF: B12345674
Factura Nº: 2025/041
Fecha: 05/02/2025
Facturar a:
Hotel Marítimo S.A.
Av. del Mar 3
12560 Benicàssim

Concepto                     Cant.   Precio     Importe
Asesoría mensual               1     1.000,00   1.000,00
Base imponible                                  1.000,00 €
IVA 21%                                           210,00 €
Retención IRPF 15%                               -150,00 €
TOTAL A PAGAR                                   1.060,00 €
`,
    expected: {
      merchant_information: { name: "Consultoría Levante S.L.U.", tax_id: "B12345674" },
      payment_information: { subtotal: 1000, total_tax: 210, tax_rate: 21, total: 1060 },
      financial_document_information: { invoice_receipt_id: "2025/041", invoice_date: "2025-02-05" },
    },
  },
  {
    title: "an Italian invoice",
    text: `
Fattura n. 12/A del 03/04/2025
Officina Rossi S.r.l.
Via Roma 10
20121 Milano (MI)
P.IVA IT01234567890
Spett.le
Bianchi Costruzioni S.p.A.
Corso Italia 5
10121 Torino (TO)

Descrizione           Q.tà   Prezzo unitario   IVA   Importo
Manutenzione           3         1.250,50      22%   3.751,50
Imponibile       € 3.751,50
IVA 22%          €   825,33
Totale fattura   € 4.576,83
Scadenza: 03/05/2025
`,
    expected: {
      merchant_information: {
        name: "Officina Rossi S.r.l.",
        city: "Milano",
        province: "MI",
        vat_number: "IT01234567890",
      },
      customer_information: { name: "Bianchi Costruzioni S.p.A.", city: "Torino" },
      payment_information: { subtotal: 3751.5, total_tax: 825.33, total: 4576.83 },
      financial_document_information: {
        invoice_receipt_id: "12/A",
        invoice_date: "2025-04-03",
        invoice_due_date: "2025-05-03",
      },
    },
  },
  {
    title: "a Dutch invoice with reverse charge: the tax is 0 and not null",
    text: `
Gamma BV
Keizersgracht 1
1017 AB Amsterdam
KvK 12345678
BTW NL123456789B01
Factuurnummer: 2025-9
Factuurdatum: 01-02-2025
Vervaldatum: 03-03-2025
Klant:
Delta GmbH
Omschrijving   Aantal  Prijs     Bedrag
Advies         8       €120,00   €960,00
Totaal excl. btw   € 960,00
BTW 0% (btw verlegd)   € 0,00
Totaal incl. btw   € 960,00
`,
    expected: {
      merchant_information: { zip_code: "1017 AB", coc_number: "12345678", vat_number: "NL123456789B01" },
      payment_information: { subtotal: 960, total_tax: 0, tax_rate: 0, total: 960 },
      financial_document_information: { invoice_date: "2025-02-01", invoice_due_date: "2025-03-03" },
    },
  },
  {
    title: "a Polish invoice with a table of rates",
    text: `
FAKTURA VAT nr FV 12/05/2025
Data wystawienia: 2025-05-06
Termin płatności: 2025-05-20
Sprzedawca:                          Nabywca:
Zielony Dom Sp. z o.o.               Kwiaciarnia Róża
ul. Polna 3                          ul. Długa 10
00-950 Warszawa                      31-147 Kraków
NIP: 5260001246                      NIP: 6770002233

Lp  Nazwa towaru        Ilość  J.m.  Cena netto   Wartość netto  VAT   Kwota VAT   Wartość brutto
1   Doniczka            10     szt.  12,50        125,00         23%   28,75       153,75
2   Ziemia 50 l         4      szt.  25,00        100,00         8%    8,00        108,00

               Stawka    Netto     VAT      Brutto
               23%       125,00    28,75    153,75
               8%        100,00     8,00    108,00
               Razem     225,00    36,75    261,75

Do zapłaty: 261,75 zł
`,
    expected: {
      merchant_information: {
        name: "Zielony Dom Sp. z o.o.",
        zip_code: "00-950",
        city: "Warszawa",
        tax_id: "5260001246",
      },
      customer_information: { name: "Kwiaciarnia Róża", zip_code: "31-147", tax_id: "6770002233" },
      payment_information: { subtotal: 225, total_tax: 36.75, tax_rate: null, total: 261.75 },
      financial_document_information: {
        invoice_receipt_id: "FV 12/05/2025",
        invoice_date: "2025-05-06",
        invoice_due_date: "2025-05-20",
      },
      local: { currency_code: "PLN" },
      item_lines: [
        { description: "Doniczka", quantity: 10, unit_price: 12.5, amount_line: 125, tax_rate: 23, tax: 28.75 },
        { amount_line: 100 },
      ],
    },
  },
  {
    title: "a Czech invoice",
    text: `
Dodavatel:                      Odběratel:
Lípa s.r.o.                     Dub a.s.
Dlouhá 5                        Krátká 7
110 00 Praha 1                  602 00 Brno
IČO: 12345678                   IČO: 87654321
DIČ: CZ12345678
FAKTURA - daňový doklad č. 20250012
Datum vystavení: 3. 4. 2025
Datum splatnosti: 17. 4. 2025
Popis          Množství   Cena za MJ   Celkem
Práce          10 h       500,00       5 000,00
Celkem bez DPH   5 000,00 Kč
DPH 21 %         1 050,00 Kč
Celkem k úhradě  6 050,00 Kč
`,
    expected: {
      merchant_information: { name: "Lípa s.r.o.", zip_code: "110 00", city: "Praha 1", vat_number: "CZ12345678" },
      customer_information: { name: "Dub a.s.", city: "Brno" },
      payment_information: { subtotal: 5000, total_tax: 1050, tax_rate: 21, total: 6050 },
      financial_document_information: {
        invoice_receipt_id: "20250012",
        invoice_date: "2025-04-03",
        invoice_due_date: "2025-04-17",
      },
      item_lines: [{ quantity: 10, unit_type: "h", unit_price: 500, amount_line: 5000 }],
    },
  },
  {
    title: "a Swedish invoice: kr is decided by the country",
    text: `
Nordljus AB
Storgatan 5
114 55 Stockholm
Org.nr 556677-8899
FAKTURA
Fakturanummer: 10234
Fakturadatum: 2025-03-01
Förfallodatum: 2025-03-31
Kund: Björk Design

Beskrivning         Antal   À-pris      Belopp
Konsulttid          10      950,00      9 500,00
Netto               9 500,00 kr
Moms 25 %           2 375,00 kr
Öresavrundning      0,00
Att betala          11 875,00 kr
Bankgiro 123-4567
`,
    expected: {
      merchant_information: { zip_code: "114 55", city: "Stockholm", tax_id: "556677-8899" },
      customer_information: { name: "Björk Design" },
      payment_information: { subtotal: 9500, total_tax: 2375, tax_rate: 25, total: 11875, amount_due: 11875 },
      local: { currency: "kr", currency_code: "SEK", language: "sv" },
    },
  },
  {
    title: "a Danish invoice: the code decides, and dashes have the day first",
    text: `
Havn & Hammer ApS
Strandvejen 4
2100 København Ø
CVR: 12345678
Faktura nr. 778
Dato: 04-03-2025
Vare            Antal   Pris      I alt
Bord            2       1.500,00  3.000,00
Subtotal        3.000,00
Moms 25%          750,00
I alt DKK       3.750,00
`,
    expected: {
      payment_information: { subtotal: 3000, total_tax: 750, total: 3750 },
      financial_document_information: { invoice_receipt_id: "778", invoice_date: "2025-03-04" },
      local: { currency_code: "DKK" },
    },
  },
  {
    title: "a Finnish receipt with a table of taxes below the total",
    text: `
Kahvila Kuusi Oy
Mannerheimintie 10
00100 Helsinki
Y-tunnus 1234567-8
KUITTI
4.3.2025 12:15
Kahvi            3,20
Pulla            2,80
YHTEENSÄ         6,00
Kortti           6,00
ALV     Veroton   Vero    Verollinen
14 %    5,26      0,74    6,00
`,
    expected: {
      isReceipt: true,
      payment_information: { subtotal: 5.26, total_tax: 0.74, tax_rate: 14, total: 6, payment_method: "card" },
      local: { currency_code: "EUR" },
    },
  },
  {
    title: "a Swiss invoice with apostrophes and a line for rounding",
    text: `
Uhren Keller AG
Marktgasse 9
3011 Bern
Rechnung Nr. 88
Datum: 05.06.2025
Bezeichnung      Menge   Preis       Betrag
Standuhr         1       1'234.50    1'234.50
Total netto                CHF 1'234.50
MwSt 8.1%                  CHF    99.99
Rundung                    CHF     0.01
Total CHF                      1'334.50
`,
    expected: {
      payment_information: { subtotal: 1234.5, total_tax: 99.99, tax_rate: 8.1, total: 1334.5 },
      local: { currency_code: "CHF" },
    },
  },
  {
    title: "a Swiss receipt that is rounded to five centimes",
    text: `
Bäckerei Alpenblick AG
Bahnhofstrasse 1
8001 Zürich
CHE-123.456.789 MWST
Quittung 20250412-7

Brot                4.20
Käse 0.5 kg        12.63

Total CHF          16.85
Bar                20.00
Rückgeld            3.15
inkl. MwSt 2.6%     0.43
`,
    expected: {
      isReceipt: true,
      payment_information: {
        total: 16.85,
        total_tax: 0.43,
        tax_rate: 2.6,
        amount_paid: 20,
        amount_change: 3.15,
        payment_method: "cash",
      },
      local: { currency_code: "CHF" },
    },
  },
  {
    title: "a Turkish invoice, with the percent sign before the rate",
    text: `
Yıldız Tekstil A.Ş.
Atatürk Cad. No: 5
34710 Kadıköy/İstanbul
VKN: 1234567890
FATURA
Fatura No: YLD2025000000012
Fatura Tarihi: 04.03.2025
Sayın
Deniz Ltd. Şti.
Mal Hizmet      Miktar   Birim Fiyat   Tutar
Kumaş           100      45,50         4.550,00
Ara Toplam          4.550,00 TL
KDV %20               910,00 TL
Genel Toplam        5.460,00 TL
`,
    expected: {
      customer_information: { name: "Deniz Ltd. Şti." },
      payment_information: { subtotal: 4550, total_tax: 910, tax_rate: 20, total: 5460 },
      financial_document_information: { invoice_receipt_id: "YLD2025000000012", invoice_date: "2025-03-04" },
      local: { currency_code: "TRY" },
    },
  },
];

for (const { title, text, expected } of cases) {
  test(title, async () => {
    const document = await readText(...text.split("\f"));
    expect(document).toMatchObject(expected);
  });
}
