// The labelled documents: how each looks, and what a perfect reader would say. All names, numbers and addresses are invented;
// check digits are right where a form has them.

import { checkDigit, checked } from "../documents/identity/mrz.ts";
import { line, type Mark, type PdfPage, text } from "./write-pdf.ts";

export interface FinancialSample {
  readonly name: string;
  readonly page: PdfPage;
  /** Paths into the first extracted document. */
  readonly expected: Readonly<Record<string, string | number | null>>;
  readonly items: readonly {
    description: string;
    quantity: number | null;
    unit_price: number | null;
    amount_line: number | null;
  }[];
}

const bold = { font: "bold" } as const;
const end = { align: "end" } as const;

/** Words in columns; a number of places as there are texts. */
function rowOf(
  y: number,
  places: readonly (readonly [number, "start" | "end"])[],
  texts: readonly string[],
  style = {},
): Mark[] {
  return texts.flatMap((content, index) => {
    const [x, align] = places[index] ?? [0, "start"];
    return content === "" ? [] : [text(x, y, content, { align, ...style })];
  });
}

const ukColumns = [
  [50, "start"],
  [360, "end"],
  [450, "end"],
  [545, "end"],
] as const;
const ukInvoice: FinancialSample = {
  name: "invoice, United Kingdom",
  page: {
    marks: [
      text(50, 70, "Northwind Joinery Ltd", { ...bold, size: 20 }),
      text(50, 90, "14 Regent Quay"),
      text(50, 104, "Bristol BS1 6UX"),
      text(50, 118, "United Kingdom"),
      text(50, 132, "VAT No: GB927465318"),
      text(50, 146, "accounts@northwind-joinery.example"),
      text(545, 70, "INVOICE", { ...bold, ...end, size: 22 }),
      text(380, 104, "Invoice number:"),
      text(545, 104, "NJ-2026-0417", end),
      text(380, 118, "Invoice date:"),
      text(545, 118, "12 March 2026", end),
      text(380, 132, "Due date:"),
      text(545, 132, "11 April 2026", end),
      text(380, 146, "PO number:"),
      text(545, 146, "PO-88213", end),
      text(50, 190, "Bill to:", bold),
      text(50, 206, "Harbour Hotels Group"),
      text(50, 220, "8 Castle Street"),
      text(50, 234, "Cardiff CF10 1BS"),
      line([50, 262], [545, 262]),
      ...rowOf(276, ukColumns, ["Description", "Quantity", "Unit price", "Amount"], bold),
      line([50, 284], [545, 284]),
      ...rowOf(300, ukColumns, ["Oak dining table, 2.4 m", "2", "£1,250.00", "£2,500.00"]),
      ...rowOf(316, ukColumns, ["Oak chair with leather seat", "12", "£145.50", "£1,746.00"]),
      ...rowOf(332, ukColumns, ["Fitting on site", "6", "£48.00", "£288.00"]),
      line([50, 346], [545, 346]),
      ...rowOf(
        364,
        [
          [380, "start"],
          [545, "end"],
        ],
        ["Subtotal", "£4,534.00"],
      ),
      ...rowOf(
        380,
        [
          [380, "start"],
          [545, "end"],
        ],
        ["VAT (20%)", "£906.80"],
      ),
      ...rowOf(
        398,
        [
          [380, "start"],
          [545, "end"],
        ],
        ["Total due", "£5,440.80"],
        { ...bold, size: 12 },
      ),
      text(50, 450, "Payment terms: 30 days net"),
      text(50, 466, "Bank transfer to: IBAN GB29 NWBK 6016 1331 9268 19   BIC: NWBKGB2L"),
      text(50, 482, "Sort code: 60-16-13   Account number: 31926819"),
    ],
  },
  expected: {
    "merchant_information.name": "Northwind Joinery Ltd",
    "merchant_information.zip_code": "BS1 6UX",
    "merchant_information.city": "Bristol",
    "merchant_information.country": "United Kingdom",
    "merchant_information.vat_number": "GB927465318",
    "merchant_information.email": "accounts@northwind-joinery.example",
    "customer_information.name": "Harbour Hotels Group",
    "customer_information.city": "Cardiff",
    "financial_document_information.invoice_receipt_id": "NJ-2026-0417",
    "financial_document_information.invoice_date": "2026-03-12",
    "financial_document_information.invoice_due_date": "2026-04-11",
    "financial_document_information.purchase_order": "PO-88213",
    "payment_information.subtotal": 4534,
    "payment_information.total_tax": 906.8,
    "payment_information.tax_rate": 20,
    "payment_information.total": 5440.8,
    "payment_information.payment_terms": "30 days net",
    "local.currency_code": "GBP",
    "bank.iban": "GB29NWBK60161331926819",
    "bank.bic": "NWBKGB2L",
    "bank.sort_code": "60-16-13",
    "bank.account_number": "31926819",
    "document_metadata.document_type": "invoice",
  },
  items: [
    { description: "Oak dining table, 2.4 m", quantity: 2, unit_price: 1250, amount_line: 2500 },
    { description: "Oak chair with leather seat", quantity: 12, unit_price: 145.5, amount_line: 1746 },
    { description: "Fitting on site", quantity: 6, unit_price: 48, amount_line: 288 },
  ],
};

const usColumns = [
  [60, "start"],
  [110, "start"],
  [400, "end"],
  [540, "end"],
] as const;
const usInvoice: FinancialSample = {
  name: "invoice, United States, hours",
  page: {
    width: 612,
    height: 792,
    marks: [
      text(60, 60, "Invoice", { ...bold, size: 26 }),
      text(60, 84, "Invoice # 10482"),
      text(60, 98, "Date: 04/09/2026"),
      text(60, 112, "Payment due: 05/09/2026"),
      text(330, 60, "Maple & Finch Design LLC", { ...bold, size: 13 }),
      text(330, 76, "2210 NW Flanders Street"),
      text(330, 90, "Portland, OR 97210"),
      text(330, 104, "Phone: (503) 555-0142"),
      text(330, 118, "EIN: 12-3456789"),
      text(60, 160, "BILL TO", bold),
      text(330, 160, "SHIP TO", bold),
      text(60, 176, "Cascade Outfitters Inc."),
      text(60, 190, "915 Pine Avenue, Suite 300"),
      text(60, 204, "Seattle, WA 98101"),
      text(330, 176, "Cascade Outfitters Warehouse"),
      text(330, 190, "47 Dock Road"),
      text(330, 204, "Tacoma, WA 98421"),
      ...rowOf(246, usColumns, ["Hours", "Description", "Rate", "Amount"], bold),
      line([60, 252], [540, 252]),
      ...rowOf(270, usColumns, ["18.5", "Brand identity workshop", "$95.00", "$1,757.50"]),
      text(110, 283, "two sessions with the board", { size: 9 }),
      ...rowOf(302, usColumns, ["40", "Package design, autumn line", "$110.00", "$4,400.00"]),
      ...rowOf(
        350,
        [
          [330, "start"],
          [540, "end"],
        ],
        ["Subtotal", "$6,157.50"],
      ),
      ...rowOf(
        366,
        [
          [330, "start"],
          [540, "end"],
        ],
        ["Discount", "-$157.50"],
      ),
      ...rowOf(
        382,
        [
          [330, "start"],
          [540, "end"],
        ],
        ["Sales tax 8.5%", "$510.00"],
      ),
      ...rowOf(
        404,
        [
          [330, "start"],
          [540, "end"],
        ],
        ["TOTAL", "$6,510.00"],
        bold,
      ),
      ...rowOf(
        420,
        [
          [330, "start"],
          [540, "end"],
        ],
        ["Amount paid", "$1,000.00"],
      ),
      ...rowOf(
        436,
        [
          [330, "start"],
          [540, "end"],
        ],
        ["Balance due", "$5,510.00"],
        bold,
      ),
      text(60, 500, "Routing number: 123456780    Account number: 000123456789"),
      text(60, 516, "Thank you for your business!"),
    ],
  },
  expected: {
    "merchant_information.name": "Maple & Finch Design LLC",
    "merchant_information.city": "Portland",
    "merchant_information.province": "OR",
    "merchant_information.zip_code": "97210",
    "merchant_information.phone": "(503) 555-0142",
    "merchant_information.tax_id": "12-3456789",
    "customer_information.name": "Cascade Outfitters Inc.",
    "customer_information.zip_code": "98101",
    "customer_information.shipping_address": "Cascade Outfitters Warehouse, 47 Dock Road, Tacoma, WA 98421",
    "financial_document_information.invoice_receipt_id": "10482",
    "financial_document_information.invoice_date": "2026-04-09",
    "financial_document_information.invoice_due_date": "2026-05-09",
    "payment_information.subtotal": 6157.5,
    "payment_information.discount": 157.5,
    "payment_information.total_tax": 510,
    "payment_information.tax_rate": 8.5,
    "payment_information.total": 6510,
    "payment_information.amount_paid": 1000,
    "payment_information.amount_due": 5510,
    "local.currency_code": "USD",
    "bank.routing_number": "123456780",
    "document_metadata.document_type": "invoice",
  },
  items: [
    {
      description: "Brand identity workshop two sessions with the board",
      quantity: 18.5,
      unit_price: 95,
      amount_line: 1757.5,
    },
    { description: "Package design, autumn line", quantity: 40, unit_price: 110, amount_line: 4400 },
  ],
};

const deColumns = [
  [50, "start"],
  [90, "start"],
  [330, "end"],
  [440, "end"],
  [545, "end"],
] as const;
const deInvoice: FinancialSample = {
  name: "Rechnung, Germany",
  page: {
    marks: [
      text(50, 60, "Seeblick Metallbau GmbH", { ...bold, size: 16 }),
      text(50, 76, "Uferstraße 27"),
      text(50, 90, "78462 Konstanz"),
      text(50, 104, "Deutschland"),
      text(50, 150, "Rechnung an:"),
      text(50, 166, "Gasthof Alpenrose"),
      text(50, 180, "Dorfstraße 3"),
      text(50, 194, "87561 Oberstdorf"),
      text(545, 150, "Rechnungsnummer: R-20261105", end),
      text(545, 164, "Rechnungsdatum: 05.11.2026", end),
      text(545, 178, "Fällig am: 19.11.2026", end),
      text(545, 192, "USt-IdNr.: DE814584193", end),
      ...rowOf(240, deColumns, ["Pos.", "Bezeichnung", "Menge", "Einzelpreis", "Gesamtpreis"], bold),
      line([50, 246], [545, 246]),
      ...rowOf(262, deColumns, ["1", "Geländer, verzinkt", "3", "412,90 €", "1.238,70 €"]),
      ...rowOf(278, deColumns, ["2", "Montage", "5", "65,00 €", "325,00 €"]),
      ...rowOf(
        320,
        [
          [360, "start"],
          [545, "end"],
        ],
        ["Zwischensumme", "1.563,70 €"],
      ),
      ...rowOf(
        336,
        [
          [360, "start"],
          [545, "end"],
        ],
        ["zzgl. 19 % MwSt.", "297,10 €"],
      ),
      ...rowOf(
        354,
        [
          [360, "start"],
          [545, "end"],
        ],
        ["Gesamtbetrag", "1.860,80 €"],
        bold,
      ),
      text(50, 420, "IBAN: DE89 3704 0044 0532 0130 00   BIC: COBADEFFXXX"),
    ],
  },
  expected: {
    "merchant_information.name": "Seeblick Metallbau GmbH",
    "merchant_information.street_name": "Uferstraße",
    "merchant_information.house_number": "27",
    "merchant_information.zip_code": "78462",
    "merchant_information.city": "Konstanz",
    "merchant_information.country": "Germany",
    "merchant_information.vat_number": "DE814584193",
    "customer_information.name": "Gasthof Alpenrose",
    "customer_information.zip_code": "87561",
    "financial_document_information.invoice_receipt_id": "R-20261105",
    "financial_document_information.invoice_date": "2026-11-05",
    "financial_document_information.invoice_due_date": "2026-11-19",
    "payment_information.subtotal": 1563.7,
    "payment_information.total_tax": 297.1,
    "payment_information.tax_rate": 19,
    "payment_information.total": 1860.8,
    "local.currency_code": "EUR",
    "bank.iban": "DE89370400440532013000",
    "bank.bic": "COBADEFFXXX",
    "document_metadata.document_type": "invoice",
  },
  items: [
    { description: "Geländer, verzinkt", quantity: 3, unit_price: 412.9, amount_line: 1238.7 },
    { description: "Montage", quantity: 5, unit_price: 65, amount_line: 325 },
  ],
};

const frColumns = [
  [50, "start"],
  [340, "end"],
  [430, "end"],
  [545, "end"],
] as const;
const frInvoice: FinancialSample = {
  name: "facture, France",
  page: {
    marks: [
      text(50, 60, "FACTURE N° 2026-0093", { ...bold, size: 16 }),
      text(50, 78, "Date de facturation : 03/02/2026"),
      text(50, 92, "Date d'échéance : 05/03/2026"),
      text(50, 130, "Atelier Garance", { ...bold, size: 13 }),
      text(50, 146, "12 rue des Lilas"),
      text(50, 160, "69003 Lyon"),
      text(50, 174, "SIRET : 732 829 320 00074"),
      text(50, 188, "TVA : FR44732829320"),
      text(330, 130, "Facturé à :"),
      text(330, 146, "Librairie du Port"),
      text(330, 160, "5 quai des Belges"),
      text(330, 174, "13001 Marseille"),
      ...rowOf(230, frColumns, ["Désignation", "Qté", "Prix unitaire HT", "Montant HT"], bold),
      ...rowOf(248, frColumns, ["Reliure de registres", "15", "24,00 €", "360,00 €"]),
      ...rowOf(264, frColumns, ["Restauration d'une carte ancienne", "1", "280,00 €", "280,00 €"]),
      ...rowOf(
        300,
        [
          [360, "start"],
          [545, "end"],
        ],
        ["Total HT", "640,00 €"],
      ),
      ...rowOf(
        316,
        [
          [360, "start"],
          [545, "end"],
        ],
        ["TVA 20 %", "128,00 €"],
      ),
      ...rowOf(
        332,
        [
          [360, "start"],
          [545, "end"],
        ],
        ["Total TTC", "768,00 €"],
        bold,
      ),
      text(50, 400, "Règlement par virement : FR14 2004 1010 0505 0001 3M02 606"),
    ],
  },
  expected: {
    "merchant_information.name": "Atelier Garance",
    "merchant_information.city": "Lyon",
    "merchant_information.zip_code": "69003",
    "merchant_information.siret_number": "732 829 320 00074",
    "merchant_information.vat_number": "FR44732829320",
    "customer_information.name": "Librairie du Port",
    "customer_information.city": "Marseille",
    "financial_document_information.invoice_receipt_id": "2026-0093",
    "financial_document_information.invoice_date": "2026-02-03",
    "financial_document_information.invoice_due_date": "2026-03-05",
    "payment_information.subtotal": 640,
    "payment_information.total_tax": 128,
    "payment_information.tax_rate": 20,
    "payment_information.total": 768,
    "local.currency_code": "EUR",
    "bank.iban": "FR1420041010050500013M02606",
  },
  items: [
    { description: "Reliure de registres", quantity: 15, unit_price: 24, amount_line: 360 },
    { description: "Restauration d'une carte ancienne", quantity: 1, unit_price: 280, amount_line: 280 },
  ],
};

const receiptStyle = { font: "mono", size: 10 } as const;
const receiptEnd = { ...receiptStyle, align: "end" } as const;
function receiptLine(y: number, left: string, right: string): Mark[] {
  return [text(20, y, left, receiptStyle), ...(right === "" ? [] : [text(230, y, right, receiptEnd)])];
}

const shopReceipt: FinancialSample = {
  name: "receipt of a shop",
  page: {
    width: 250,
    height: 360,
    marks: [
      text(60, 30, "CORNER GROCER", { font: "mono", size: 14 }),
      text(62, 46, "88 Mill Lane, Leeds", receiptStyle),
      text(70, 60, "Tel: 0113 496 0321", receiptStyle),
      ...receiptLine(84, "Receipt #: 004213", ""),
      ...receiptLine(98, "17/06/2026 14:32", ""),
      ...receiptLine(122, "Semi-skimmed milk 2L", "1.65"),
      ...receiptLine(136, "Sourdough loaf", "3.20"),
      ...receiptLine(150, "Bananas loose", "0.94"),
      ...receiptLine(164, "Free range eggs x12", "3.40"),
      ...receiptLine(188, "SUBTOTAL", "9.19"),
      ...receiptLine(202, "VAT 0%", "0.00"),
      ...receiptLine(216, "TOTAL", "£9.19"),
      ...receiptLine(240, "CASH", "£10.00"),
      ...receiptLine(254, "CHANGE", "£0.81"),
      text(40, 300, "Thank you for shopping!", receiptStyle),
    ],
  },
  expected: {
    "merchant_information.name": "CORNER GROCER",
    "merchant_information.phone": "0113 496 0321",
    "financial_document_information.invoice_receipt_id": "004213",
    "financial_document_information.invoice_date": "2026-06-17",
    "financial_document_information.time": "14:32",
    "payment_information.subtotal": 9.19,
    "payment_information.total": 9.19,
    "payment_information.amount_paid": 10,
    "payment_information.amount_change": 0.81,
    "payment_information.payment_method": "cash",
    "local.currency_code": "GBP",
    "document_metadata.document_type": "receipt",
  },
  items: [
    { description: "Semi-skimmed milk 2L", quantity: null, unit_price: null, amount_line: 1.65 },
    { description: "Sourdough loaf", quantity: null, unit_price: null, amount_line: 3.2 },
    { description: "Bananas loose", quantity: null, unit_price: null, amount_line: 0.94 },
    { description: "Free range eggs x12", quantity: null, unit_price: null, amount_line: 3.4 },
  ],
};

const dinerReceipt: FinancialSample = {
  name: "receipt of a restaurant",
  page: {
    width: 250,
    height: 360,
    marks: [
      text(70, 30, "Blue Heron Diner", { font: "mono", size: 12 }),
      text(62, 46, "301 Main Street", receiptStyle),
      text(62, 60, "Boise, ID 83702", receiptStyle),
      ...receiptLine(84, "Check #: 7731", "Table 12"),
      ...receiptLine(98, "Jun 3, 2026 7:45 PM", ""),
      ...receiptLine(122, "2 Cheeseburger", "$23.90"),
      ...receiptLine(136, "1 Caesar salad", "$9.50"),
      ...receiptLine(150, "3 Iced tea", "$8.25"),
      ...receiptLine(174, "Subtotal", "$41.65"),
      ...receiptLine(188, "Tax 6%", "$2.50"),
      ...receiptLine(202, "Tip", "$8.00"),
      ...receiptLine(218, "Total", "$52.15"),
      ...receiptLine(242, "VISA ************4821", ""),
      ...receiptLine(256, "Auth code: 093817", ""),
    ],
  },
  expected: {
    "merchant_information.name": "Blue Heron Diner",
    "merchant_information.zip_code": "83702",
    "financial_document_information.invoice_receipt_id": "7731",
    "financial_document_information.invoice_date": "2026-06-03",
    "financial_document_information.time": "7:45 PM",
    "payment_information.subtotal": 41.65,
    "payment_information.total_tax": 2.5,
    "payment_information.tax_rate": 6,
    "payment_information.amount_tip": 8,
    "payment_information.total": 52.15,
    "payment_information.payment_method": "visa",
    "payment_information.payment_auth_code": "093817",
    "local.currency_code": "USD",
    "document_metadata.document_type": "receipt",
  },
  items: [
    { description: "Cheeseburger", quantity: 2, unit_price: 11.95, amount_line: 23.9 },
    { description: "Caesar salad", quantity: 1, unit_price: 9.5, amount_line: 9.5 },
    { description: "Iced tea", quantity: 3, unit_price: 2.75, amount_line: 8.25 },
  ],
};

export const financialSamples: readonly FinancialSample[] = [
  ukInvoice,
  usInvoice,
  deInvoice,
  frInvoice,
  shopReceipt,
  dinerReceipt,
];

const story = [
  "The harbour lights went out one after another, and the last ferry of the evening",
  "drew away from the quay with seven passengers on board. Nobody spoke. A child had",
  "fallen asleep across two seats, and her grandfather counted the buoys as they",
  "passed, as he had done every Thursday for eleven years.",
  "",
  "At half past nine the engine changed its note. The captain looked at the gauge,",
  "tapped the glass with a finger and waited; then he turned the wheel a little to",
  'port, where the current would carry them, and reached for the radio. "Quay, this',
  'is the Marigold," he said. "We shall be twenty minutes late."',
  "",
  "It cost 4.50 to cross, 8.00 there and back, and children under 12 went free. In",
  "1987 the line had carried 61,240 people; last year it was fewer than nine thousand.",
];

export const storyText = story.filter((sentence) => sentence !== "");
export const storyPage: PdfPage = {
  marks: [
    text(60, 90, "The Thursday ferry", { ...bold, size: 18 }),
    ...story.flatMap((sentence, index) =>
      sentence === "" ? [] : [text(60, 125 + index * 18, sentence, { font: "serif", size: 12 })],
    ),
  ],
};

export interface IdentitySample {
  readonly name: string;
  readonly page: PdfPage;
  /** By the member's name; given names joined by a space. */
  readonly expected: Readonly<Record<string, string>>;
}

const passportNumber = checked("20FV48713");
const passportBirth = checked("890621");
const passportExpiry = checked("310214");
const passportPersonal = checked("<".repeat(14));
const passportZone = [
  "P<FRAMOREAU<<CAMILLE<JEANNE".padEnd(44, "<"),
  `${passportNumber}FRA${passportBirth}F${passportExpiry}${passportPersonal}${checkDigit(passportNumber + passportBirth + passportExpiry + passportPersonal)}`,
];
const cardNumber = checked("L01X00T47");
const cardBirth = checked("770912");
const cardExpiry = checked("330801");
const cardZone = [
  `IDD<<${cardNumber}`.padEnd(30, "<"),
  `${cardBirth}M${cardExpiry}D<<`.padEnd(29, "<") +
    checkDigit(`${cardNumber}${"<".repeat(15)}${cardBirth}${cardExpiry}${"<".repeat(11)}`),
  "BRANDT<<JONAS".padEnd(30, "<"),
];

export const identitySamples: readonly IdentitySample[] = [
  {
    name: "passport",
    page: {
      width: 354,
      height: 249,
      marks: [
        text(120, 30, "PASSPORT  PASSEPORT", { ...bold, size: 12 }),
        text(120, 54, "Surname / Nom", { size: 6 }),
        text(120, 64, "MOREAU", { size: 9 }),
        text(120, 80, "Given names / Prénoms", { size: 6 }),
        text(120, 90, "CAMILLE JEANNE", { size: 9 }),
        text(120, 106, "Place of birth / Lieu de naissance", { size: 6 }),
        text(120, 116, "NANTES", { size: 9 }),
        text(120, 132, "Date of issue / Date de délivrance", { size: 6 }),
        text(120, 142, "15 02 2021", { size: 9 }),
        ...passportZone.map((zone, index) => text(18, 205 + index * 20, zone, { font: "mono", size: 12 })),
      ],
    },
    expected: {
      last_name: "MOREAU",
      given_names: "CAMILLE JEANNE",
      birth_date: "1989-06-21",
      expire_date: "2031-02-14",
      document_id: "20FV48713",
      gender: "F",
      nationality: "France",
      issuing_state: "France",
      document_type: "passport",
      birth_place: "NANTES",
      issuance_date: "2021-02-15",
      mrz: passportZone.join("\n"),
    },
  },
  {
    name: "identity card",
    page: {
      width: 243,
      height: 153,
      marks: [
        text(20, 24, "IDENTITY CARD", { ...bold, size: 10 }),
        ...cardZone.map((zone, index) => text(12, 100 + index * 17, zone, { font: "mono", size: 12 })),
      ],
    },
    expected: {
      last_name: "BRANDT",
      given_names: "JONAS",
      birth_date: "1977-09-12",
      expire_date: "2033-08-01",
      document_id: "L01X00T47",
      gender: "M",
      nationality: "Germany",
      document_type: "identity card",
      mrz: cardZone.join("\n"),
    },
  },
];

export interface ResumeSample {
  readonly name: string;
  readonly page: PdfPage;
  readonly expected: Readonly<Record<string, unknown>>;
}

const englishResume: ResumeSample = {
  name: "one column",
  page: {
    marks: [
      text(60, 60, "Priya Raghavan", { ...bold, size: 22 }),
      text(60, 80, "Leeds, United Kingdom | priya.raghavan@mailbox.example | +44 113 496 0718"),
      text(60, 94, "https://priya-raghavan.example"),
      text(60, 124, "PROFILE", bold),
      text(60, 140, "Data engineer with nine years in retail and logistics, at home in small teams."),
      text(60, 170, "WORK EXPERIENCE", bold),
      text(60, 188, "Senior Data Engineer, Parcelway Ltd, Leeds", bold),
      text(535, 188, "Mar 2021 - Present", { ...end }),
      text(70, 204, "• Moved 40 nightly jobs to a streaming pipeline"),
      text(70, 218, "• Led a team of four"),
      text(60, 242, "Data Analyst, Bright Grocers plc, Manchester", bold),
      text(535, 242, "Sep 2017 - Feb 2021", { ...end }),
      text(70, 258, "• Built the demand forecast for 120 shops"),
      text(60, 290, "EDUCATION", bold),
      text(60, 308, "MSc Statistics, University of Sheffield"),
      text(535, 308, "2016 - 2017", { ...end }),
      text(60, 324, "BSc Mathematics, University of Leeds"),
      text(535, 324, "2013 - 2016", { ...end }),
      text(60, 356, "SKILLS", bold),
      text(60, 372, "Python, SQL, Spark, Airflow, dbt, Terraform"),
      text(60, 402, "LANGUAGES", bold),
      text(60, 418, "English (native), Tamil (native), German (B1)"),
      text(60, 448, "CERTIFICATIONS", bold),
      text(60, 464, "Certified Data Steward, 2022"),
      text(60, 494, "INTERESTS", bold),
      text(60, 510, "Fell running, choral singing"),
    ],
  },
  expected: {
    "personal_infos.name.first_name": "Priya",
    "personal_infos.name.last_name": "Raghavan",
    "personal_infos.address.city": "Leeds",
    "personal_infos.address.country": "United Kingdom",
    "personal_infos.mails.0": "priya.raghavan@mailbox.example",
    "personal_infos.phones.0": "+44 113 496 0718",
    "personal_infos.urls.0": "https://priya-raghavan.example",
    "personal_infos.current_profession": "Senior Data Engineer",
    "work_experience.entries.length": 2,
    "work_experience.entries.0.title": "Senior Data Engineer",
    "work_experience.entries.0.company": "Parcelway Ltd",
    "work_experience.entries.0.start_date": "2021-03-01",
    "work_experience.entries.0.end_date": null,
    "work_experience.entries.1.title": "Data Analyst",
    "work_experience.entries.1.company": "Bright Grocers plc",
    "work_experience.entries.1.start_date": "2017-09-01",
    "work_experience.entries.1.end_date": "2021-02-01",
    "education.entries.length": 2,
    "education.entries.0.title": "MSc Statistics",
    "education.entries.0.establishment": "University of Sheffield",
    "education.entries.1.title": "BSc Mathematics",
    "education.entries.1.end_date": "2016-01-01",
    "skills.length": 6,
    "skills.0.name": "Python",
    "languages.length": 3,
    "languages.2.code": "de",
    "certifications.0.name": "Certified Data Steward, 2022",
    "interests.length": 2,
  },
};

export const resumeSamples: readonly ResumeSample[] = [englishResume];
