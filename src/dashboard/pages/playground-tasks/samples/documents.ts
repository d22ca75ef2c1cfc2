// Documents that newcomers can run at once. Names, numbers and addresses are invented.

import { drawFile, type Pen } from "./draw.ts";

const width = 1_000;
const height = 1_300;
const left = 80;
const right = width - 80;

const invoiceItems = [
  ["Desk lamp, brushed steel", "2", "45.00", "90.00"],
  ["Office chair", "1", "189.00", "189.00"],
  ["Notebook A5, ruled", "10", "3.50", "35.00"],
] as const;

export function drawInvoice(): Promise<File> {
  return drawFile("invoice.png", width, height, (pen) => {
    pen.text(left, 120, "Northwind Supplies Ltd", { size: 34, isBold: true });
    pen.text(left, 160, "14 Harbour Street, Bristol BS1 4QA", { size: 22 });
    pen.text(left, 192, "billing@northwind.example", { size: 22 });
    pen.text(right, 120, "INVOICE", { size: 40, isBold: true, align: "right" });
    pen.text(right, 160, "Invoice number: INV-2026-0147", { size: 22, align: "right" });
    pen.text(right, 192, "Invoice date: 12 March 2026", { size: 22, align: "right" });
    pen.text(right, 224, "Due date: 11 April 2026", { size: 22, align: "right" });
    pen.text(left, 300, "Bill to:", { size: 22, isBold: true });
    pen.text(left, 334, "Ada Fleming", { size: 24 });
    pen.text(left, 368, "7 Mill Lane, York YO1 6DX", { size: 22 });
    drawRows(pen, 450, ["Description", "Quantity", "Unit price", "Amount"], invoiceItems);
    const totals = [
      ["Subtotal", "314.00"],
      ["VAT 20%", "62.80"],
      ["Total GBP", "376.80"],
    ] as const;
    totals.forEach(([label, amount], index) => {
      const style = { size: 24, isBold: index === 2, align: "right" as const };
      pen.text(right - 170, 730 + index * 44, label, style);
      pen.text(right, 730 + index * 44, amount, style);
    });
    pen.text(left, 960, "Payment within 30 days to IBAN GB82 WEST 1234 5698 7654 32", { size: 22 });
    pen.text(left, 996, "Thank you for your business.", { size: 22 });
  });
}

export function drawReceipt(): Promise<File> {
  return drawFile("receipt.png", 620, 860, (pen) => {
    pen.text(310, 90, "CORNER CAFE", { size: 36, isBold: true, align: "center" });
    pen.text(310, 128, "22 Station Road, Leeds", { size: 22, align: "center" });
    pen.text(60, 200, "Date: 2026-04-03", { size: 22 });
    pen.text(560, 200, "Time: 09:41", { size: 22, align: "right" });
    const rows = [
      ["Flat white", "3.20"],
      ["Almond croissant", "2.90"],
      ["Orange juice", "2.40"],
    ] as const;
    rows.forEach(([name, amount], index) => {
      pen.text(60, 280 + index * 46, name, { size: 24 });
      pen.text(560, 280 + index * 46, amount, { size: 24, align: "right" });
    });
    pen.line(60, 430, 560, 430);
    pen.text(60, 480, "TOTAL GBP", { size: 28, isBold: true });
    pen.text(560, 480, "8.50", { size: 28, isBold: true, align: "right" });
    pen.text(60, 540, "Card **** 4242", { size: 22 });
    pen.text(310, 640, "Thank you!", { size: 24, align: "center" });
  });
}

export function drawTable(): Promise<File> {
  return drawFile("table.png", width, 620, (pen) => {
    pen.text(left, 100, "Visitors by month", { size: 34, isBold: true });
    drawRows(
      pen,
      180,
      ["Month", "Museum", "Garden", "Total"],
      [
        ["January", "1240", "310", "1550"],
        ["February", "1385", "420", "1805"],
        ["March", "1610", "890", "2500"],
        ["April", "1722", "1344", "3066"],
      ],
    );
  });
}

/** With lines around the cells, so that rows and columns can be told apart. */
function drawRows(pen: Pen, top: number, titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const ends = [left, 520, 660, 800, right];
  const rowHeight = 52;
  [titles, ...rows].forEach((cells, row) => {
    const base = top + row * rowHeight;
    if (row === 0) pen.fill(left, base, right - left, rowHeight, "#eef1f6");
    cells.forEach((cell, column) => {
      const style = { size: 22, isBold: row === 0 };
      if (column === 0) pen.text(left + 14, base + 34, cell, style);
      else pen.text((ends[column + 1] ?? right) - 14, base + 34, cell, { ...style, align: "right" });
    });
  });
  const bottom = top + (rows.length + 1) * rowHeight;
  for (let row = 0; row <= rows.length + 1; row += 1)
    pen.line(left, top + row * rowHeight, right, top + row * rowHeight);
  for (const end of ends) pen.line(end, top, end, bottom);
}

export function drawIdentityCard(): Promise<File> {
  const draw = (pen: Pen) => {
    const mono = { size: 33, font: "'Courier New', 'DejaVu Sans Mono', monospace" };
    pen.text(60, 80, "UTOPIA", { size: 34, isBold: true });
    pen.text(940, 80, "PASSPORT", { size: 34, isBold: true, align: "right" });
    pen.fill(60, 120, 230, 290, "#c9d4e2");
    pen.canvas.fillStyle = "#7d8ea6";
    pen.canvas.beginPath();
    pen.canvas.arc(175, 230, 58, 0, 2 * Math.PI);
    pen.canvas.fill();
    pen.canvas.beginPath();
    pen.canvas.ellipse(175, 400, 92, 90, 0, Math.PI, 2 * Math.PI);
    pen.canvas.fill();
    const rows = [
      ["Surname", "ERIKSSON"],
      ["Given names", "ANNA MARIA"],
      ["Nationality", "UTOPIAN"],
      ["Date of birth", "12 AUG 1974"],
      ["Date of expiry", "15 APR 2032"],
      ["Passport No.", "L898902C3"],
    ] as const;
    rows.forEach(([label, value], index) => {
      pen.text(330 + (index % 2) * 320, 150 + Math.floor(index / 2) * 90, label, { size: 18, color: "#4d5666" });
      pen.text(330 + (index % 2) * 320, 184 + Math.floor(index / 2) * 90, value, { size: 26, isBold: true });
    });
    pen.fill(0, 450, width, 170, "#ffffff");
    // The example of ICAO 9303, with another date of expiry.
    pen.text(50, 515, "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", mono);
    pen.text(50, 570, "L898902C36UTO7408122F3204150<<<<<<<<<<<<<<00", mono);
  };
  return drawFile("passport.png", width, 620, draw, "#eaf0f7");
}

export function drawResume(): Promise<File> {
  return drawFile("resume.png", width, height, (pen) => {
    pen.text(left, 120, "Jordan Avery", { size: 44, isBold: true });
    pen.text(left, 166, "Software engineer", { size: 26 });
    pen.text(left, 204, "jordan.avery@example.com   +44 20 7946 0958   Manchester", { size: 22 });
    const parts = [
      ["Experience", ["Senior Engineer, Tidewater Systems", "2021 - present", "Leads the payments platform."]],
      ["", ["Software Engineer, Bluebird Maps", "2017 - 2021", "Built the routing service in Go."]],
      ["Education", ["MSc Computer Science, University of Leeds", "2015 - 2017"]],
      ["Skills", ["TypeScript, Go, PostgreSQL, Kubernetes"]],
      ["Languages", ["English, German"]],
    ] as const;
    let y = 300;
    for (const [title, lines] of parts) {
      if (title !== "") {
        pen.text(left, y, title, { size: 28, isBold: true });
        pen.line(left, y + 12, right, y + 12, 1);
        y += 54;
      }
      lines.forEach((line, index) => {
        pen.text(left, y, line, { size: 23, isBold: index === 0 && lines.length > 1 });
        y += 36;
      });
      y += 26;
    }
  });
}

export function drawCheque(): Promise<File> {
  return drawFile(
    "cheque.png",
    width,
    440,
    (pen) => {
      pen.text(60, 80, "Harbour Bank", { size: 30, isBold: true });
      pen.text(940, 80, "Date: 2026-05-04", { size: 22, align: "right" });
      pen.text(60, 160, "Pay to the order of: Ada Fleming", { size: 24 });
      pen.text(940, 160, "$ 120.00", { size: 28, isBold: true, align: "right" });
      pen.text(60, 220, "One hundred and twenty dollars", { size: 24 });
      pen.text(60, 300, "Memo: Desk lamp", { size: 22 });
      pen.text(940, 300, "Jordan Avery", { size: 26, align: "right" });
      pen.text(60, 390, "|: 123456780 |: 0098765432 || 0147", { size: 26, font: "monospace" });
    },
    "#f4f8f2",
  );
}
