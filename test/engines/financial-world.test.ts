// Invoices and receipts of other countries, credit notes, and documents that leave something open, as plain text. All are invented.

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
    title: "a British credit note keeps its signs",
    text: `
Bramble & Sons Ltd
14 High Street
Leeds LS1 4DY
VAT Reg No: GB 123 4567 82
                                                     CREDIT NOTE
Credit note no: CN-0042
Date: 14/05/2025
To:
Acme Traders
2 Mill Lane
York YO1 7HZ

Description                 Qty     Unit price      Amount
Oak panel, returned          2         £150.00     -£300.00
Restocking                   1         £25.00       £25.00

                                     Subtotal      -£275.00
                                     VAT 20%        -£55.00
                                     Total credit  -£330.00
`,
    expected: {
      merchant_information: {
        name: "Bramble & Sons Ltd",
        city: "Leeds",
        zip_code: "LS1 4DY",
        vat_number: "GB123456782",
      },
      customer_information: { name: "Acme Traders", city: "York" },
      payment_information: { subtotal: -275, total_tax: -55, tax_rate: 20, total: -330 },
      financial_document_information: { invoice_receipt_id: "CN-0042", invoice_date: "2025-05-14" },
      local: { currency_code: "GBP" },
      item_lines: [
        { description: "Oak panel, returned", amount_line: -300 },
        { quantity: 1, amount_line: 25 },
      ],
    },
  },
  {
    title: "an Indian invoice in lakh, with central and state tax",
    text: `
TAX INVOICE
Sharma Electronics Pvt. Ltd.
12 MG Road, Bengaluru, Karnataka 560001
GSTIN: 29ABCDE1234F1Z5
Invoice No: SE/2024-25/0178          Date: 05/06/2024
Bill To:
Rao Constructions
44 Ring Road, Pune - 411001

Sr No  Description          HSN     Qty    Rate          Amount
1      Industrial UPS       8504    2      5,50,000.00   11,00,000.00
2      Installation         9987    1      34,567.00     34,567.00

Taxable Value                                  11,34,567.00
CGST @ 9%                                       1,02,111.03
SGST @ 9%                                       1,02,111.03
Grand Total                                   ₹ 13,38,789.06
Amount in words: Rupees thirteen lakh
`,
    expected: {
      merchant_information: {
        name: "Sharma Electronics Pvt. Ltd.",
        city: "Bengaluru",
        zip_code: "560001",
        gst_number: "29ABCDE1234F1Z5",
      },
      customer_information: { name: "Rao Constructions", city: "Pune" },
      payment_information: { subtotal: 1134567, total_tax: 204222.06, tax_rate: 18, total: 1338789.06 },
      financial_document_information: { invoice_receipt_id: "SE/2024-25/0178", invoice_date: "2024-06-05" },
      local: { currency_code: "INR" },
      item_lines: [{ quantity: 2, unit_price: 550000, amount_line: 1100000 }, { amount_line: 34567 }],
    },
  },
  {
    title: "an American receipt with a tip after the first total",
    text: `
THE BLUE DINER
120 Main St
Austin, TX 78701
(512) 555-0187
Check #: 4471      Server: Ann
05/06/2025  7:42 PM

2 Burger               25.00
1 Lemonade              4.50
Subtotal               29.50
Tax                     2.43
Total                  31.93
Tip                     6.00
Total                  37.93
VISA ************1234  37.93
`,
    expected: {
      isReceipt: true,
      merchant_information: { name: "THE BLUE DINER", city: "Austin", province: "TX" },
      payment_information: {
        subtotal: 29.5,
        total_tax: 2.43,
        amount_tip: 6,
        total: 37.93,
        amount_paid: 37.93,
        payment_method: "visa",
      },
      financial_document_information: { invoice_date: "2025-05-06", time: "7:42 PM" },
      local: { currency: null, currency_code: "USD" },
      item_lines: [{ description: "Burger", quantity: 2, amount_line: 25 }, { description: "Lemonade" }],
    },
  },
  {
    title: "a dollar sign and a date without a country are left open, and Net 30 is not an amount",
    text: `
Quick Supplies
Invoice 8871
Date: 03/04/2025
Terms: Net 30

Widget      2   $10.00   $20.00

Total   $20.00
`,
    expected: {
      payment_information: { total: 20, subtotal: null, payment_terms: "Net 30" },
      financial_document_information: { invoice_receipt_id: "8871", invoice_date: null },
      local: { currency: "$", currency_code: null },
      item_lines: [{ description: "Widget", quantity: 2, unit_price: 10, amount_line: 20 }],
      report: { reasons: { invoice_date: "The order of day and month is not certain." } },
    },
  },
  {
    title: "a Japanese invoice",
    text: `
請求書
株式会社山田商店 御中
請求書番号: INV-2025-031
発行日: 2025年4月3日
お支払期限: 2025年4月30日
東海システム株式会社
〒150-0002 東京都渋谷区渋谷1-2-3

品名            数量    単価      金額
保守サービス      1    50,000    50,000
訪問作業         2    15,000    30,000

小計                          80,000
消費税(10%)                     8,000
合計金額                      ¥88,000
`,
    expected: {
      merchant_information: { name: "東海システム株式会社", zip_code: "150-0002" },
      customer_information: { name: "株式会社山田商店" },
      payment_information: { subtotal: 80000, total_tax: 8000, tax_rate: 10, total: 88000 },
      financial_document_information: {
        invoice_receipt_id: "INV-2025-031",
        invoice_date: "2025-04-03",
        invoice_due_date: "2025-04-30",
      },
      local: { currency_code: "JPY", language: "ja" },
      item_lines: [
        { quantity: 1, amount_line: 50000 },
        { quantity: 2, unit_price: 15000, amount_line: 30000 },
      ],
    },
  },
  {
    title: "amounts that do not add up: the total is null, with the reason",
    text: `
Fox Ltd
Invoice No: 55
Invoice date: 2025-01-02
Description  Qty  Price  Amount
Thing        1    100.00  100.00
Subtotal   £100.00
VAT 20%     £20.00
Total      £130.00
`,
    expected: {
      payment_information: { subtotal: 100, total_tax: 20, total: null, amount_due: null },
      report: { reasons: { total: "The subtotal 100 and the tax 20 do not add up to the total 130." } },
    },
  },
  {
    title: "a Brazilian receipt",
    text: `
Padaria Sol Ltda
CNPJ 12.345.678/0001-95
Rua das Flores, 100
São Paulo - SP 01310-100
CUPOM FISCAL
10/11/2025 08:15
Pão francês         5,50
Café                7,00
TOTAL R$           12,50
Dinheiro           20,00
Troco               7,50
`,
    expected: {
      isReceipt: true,
      merchant_information: {
        street_name: "Rua das Flores",
        house_number: "100",
        city: "São Paulo",
        tax_id: "12.345.678/0001-95",
      },
      payment_information: { total: 12.5, amount_paid: 20, amount_change: 7.5, payment_method: "cash" },
      local: { currency: "R$", currency_code: "BRL" },
    },
  },
  {
    title: "a Canadian invoice: the code beats the sign, and the date has two readings",
    text: `
Maple Hardware Inc.
55 Queen St W
Toronto, ON M5H 2M5
GST/HST No: 123456789 RT0001
Invoice #: 7719
Date: 03/04/2025
Bill To: Polar Ltd.
Item            Qty  Price   Total
Hammer           2   $15.00  $30.00
Subtotal             $30.00
HST (13%)             $3.90
Total CAD            $33.90
`,
    expected: {
      merchant_information: { province: "ON", zip_code: "M5H 2M5", gst_number: "123456789 RT0001" },
      payment_information: { subtotal: 30, total_tax: 3.9, tax_rate: 13, total: 33.9 },
      financial_document_information: { invoice_receipt_id: "7719", invoice_date: null },
      local: { currency: "$", currency_code: "CAD" },
    },
  },
  {
    title: "a German credit note with the minus after its amounts",
    text: `
Alpha Handels GmbH
Gutschrift
Gutschrift-Nr.: G-77
Datum: 12.02.2025
Artikel     Menge   Preis    Betrag
Kabel       5       10,00    50,00-
Netto                        50,00-
MwSt 19 %                     9,50-
Gesamtbetrag EUR             59,50-
`,
    expected: {
      payment_information: { subtotal: -50, total_tax: -9.5, tax_rate: 19, total: -59.5 },
      financial_document_information: { invoice_receipt_id: "G-77" },
      item_lines: [{ quantity: 5, unit_price: 10, amount_line: -50 }],
    },
  },
  {
    title: "an American credit memo with amounts in parentheses",
    text: `
Beta Inc.
99 Elm St
Denver, CO 80202
Credit Memo CM-9
Date: 02/13/2025
Subtotal       ($1,200.00)
Sales Tax 8%     ($96.00)
Total         ($1,296.00)
`,
    expected: {
      payment_information: { subtotal: -1200, total_tax: -96, tax_rate: 8, total: -1296 },
      financial_document_information: { invoice_receipt_id: "CM-9", invoice_date: "2025-02-13" },
      local: { currency_code: "USD" },
    },
  },
  {
    title: "discount, shipping, tax and a part payment",
    text: `
Northern Lights Ltd, 4 Quay St, Belfast BT1 3LA
Invoice Number INV-0901
Invoice Date 7 Jan 2025
Due Date 6 Feb 2025
Description       Qty   Unit Price   Amount
Lamp              10      20.00      200.00
Subtotal                             200.00
Discount 10%                         -20.00
Shipping                              15.00
VAT @ 20%                             39.00
Total GBP                            234.00
Less Paid                           -100.00
Balance Due                      GBP 134.00
`,
    expected: {
      merchant_information: { name: "Northern Lights Ltd", city: "Belfast" },
      payment_information: {
        subtotal: 200,
        discount: 20,
        amount_shipping: 15,
        total_tax: 39,
        total: 234,
        amount_paid: 100,
        amount_due: 134,
      },
    },
  },
  {
    title: "a Chinese invoice with a sum row of net amount and tax",
    text: `
增值税普通发票
发票号码: 12345678
开票日期: 2025年03月15日
购买方: 上海晨光贸易有限公司
销售方: 北京蓝天科技有限公司
项目名称     数量   单价      金额      税率   税额
软件服务      1    1000.00   1000.00   6%    60.00
合计                         1000.00         60.00
价税合计                     ¥1060.00
`,
    expected: {
      merchant_information: { name: "北京蓝天科技有限公司" },
      customer_information: { name: "上海晨光贸易有限公司" },
      payment_information: { subtotal: 1000, total_tax: 60, total: 1060 },
      financial_document_information: { invoice_receipt_id: "12345678", invoice_date: "2025-03-15" },
      local: { currency_code: "CNY" },
    },
  },
  {
    title: "an invoice of two pages has the total of the last one and the items of both",
    text: `
Omega Ltd
Invoice no: A-1
Date: 1 March 2025
Description    Qty   Price    Amount
Item one        1    10.00    10.00
Item two        2    20.00    40.00
Carried forward               50.00
Omega Ltd              Page 2
Invoice no: A-1
Description    Qty   Price    Amount
Brought forward               50.00
Item three      1    50.00    50.00
Subtotal                     £100.00
VAT 20%                       £20.00
Total                        £120.00
`,
    expected: {
      payment_information: { subtotal: 100, total_tax: 20, total: 120, previous_unpaid_balance: null },
      item_lines: [
        { description: "Item one" },
        { description: "Item two" },
        { description: "Item three", amount_line: 50 },
      ],
    },
  },
];

for (const { title, text, expected } of cases) {
  test(title, async () => {
    const document = await readText(...text.split("\f"));
    expect(document).toMatchObject(expected);
  });
}
