// Tables of random content in many looks, so that rules are not tuned on a few tables: as many as are wanted, the same in every run.

import { createRandom, type Random } from "../../../documents/random.ts";
import { Sheet, wrap } from "../../../documents/sheet.ts";
import { widthOf } from "../../write-pdf.ts";
import type { Fault } from "../faults.ts";
import type { LabelledPage } from "../page.ts";

const looks = ["grid", "none", "outer", "rows", "columns", "zebra"] as const;
type Look = (typeof looks)[number];

interface ColumnKind {
  readonly heads: readonly string[];
  readonly align: "start" | "end" | "middle";
  readonly isLong?: boolean;
  make(random: Random): string;
}

const goods = [
  "Copper pipe",
  "Ball valve with lever",
  "Teflon tape",
  "Radiator key",
  "Pressure gauge",
  "Hose clamp",
  "Rubber seal 24 mm",
  "Screwdriver set",
  "Work gloves",
  "Cable drum 25 m",
  "LED lamp",
  "Paint brush",
  "Masking tape",
  "Wall plug",
  "Sanding paper",
  "Floor drain",
  "Door hinge",
  "Safety goggles",
  "Extension lead",
  "Water filter cartridge",
];
const people = [
  "Harriet Boyle",
  "Tom Ashdown",
  "Samira Haddad",
  "Jonas Lindqvist",
  "Eleni Papas",
  "R. Okafor",
  "Ann-Marie Dupont",
  "Bo Yang",
  "Giulia Ferri",
  "Karl-Heinz Ott",
  "Mareike Poggendorf",
  "Wu",
  "Iñigo Arana",
  "Siobhán Ní Dhálaigh",
  "O. Brandt",
  "Nils Åkesson",
];
const towns = [
  "Oslo",
  "Leeds",
  "Bad Homburg",
  "Aix-en-Provence",
  "Porto",
  "Zaragoza",
  "Graz",
  "Lyon",
  "Ghent",
  "New Ross",
  "Turku",
  "Bari",
  "San Sebastián",
  "Kiel",
  "York",
  "Nîmes",
];
const remarks = [
  "delivered in March",
  "on order",
  "none",
  "to be checked by the inspector",
  "replaced",
  "see below",
  "needs a new spring",
  "sealed again after the repair",
  "ok",
  "waiting for parts from the supplier",
  "moved to hall 4",
  "sold out",
  "open",
  "shut",
];
const sentences = [
  "Checked on the first floor and sealed again after the repair of the pump",
  "Replace the filter and the two seals before the winter",
  "Painted in two coats, oiled by hand and polished",
  "No remarks",
  "The customer wants a call before the delivery, in the morning if possible",
  "Returned with a broken handle",
  "Contains nuts, milk and traces of sesame",
  "Sold with a warranty of five years on all moving parts",
];
const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October"];

const kinds: Readonly<Record<string, ColumnKind>> = {
  goods: { heads: ["Article", "Item", "Description", "Artikel"], align: "start", make: (random) => random.pick(goods) },
  person: {
    heads: ["Name", "Contact", "Person in charge", "Teacher"],
    align: "start",
    make: (random) => random.pick(people),
  },
  town: { heads: ["Town", "Place", "Ort", "Ville"], align: "start", make: (random) => random.pick(towns) },
  month: { heads: ["Month", "Mois", "Period"], align: "start", make: (random) => random.pick(months) },
  remark: { heads: ["Remark", "State", "Note"], align: "start", make: (random) => random.pick(remarks) },
  sentence: {
    heads: ["Details", "Remarks of the inspector"],
    align: "start",
    isLong: true,
    make: (random) => random.pick(sentences),
  },
  code: {
    heads: ["Code", "No.", "Ref."],
    align: "start",
    make: (random) => `${random.pick(["A", "TH", "K", "XR"])}-${random.digits(random.between(2, 4))}`,
  },
  shelf: {
    heads: ["Shelf", "Room", "Line"],
    align: "start",
    make: (random) => `${random.pick(["A", "B", "C", "S"])}${random.digits(1)}`,
  },
  count: {
    heads: ["Count", "Qty", "In stock", "Pieces"],
    align: "end",
    make: (random) => random.digits(random.between(1, 4)),
  },
  price: {
    heads: ["Price", "Amount", "Preis", "Unit price"],
    align: "end",
    make: (random) => `${random.between(0, 900)}.${random.digits(2)}`,
  },
  euro: {
    heads: ["Tarif", "Betrag", "Total"],
    align: "end",
    make: (random) => `${random.next() < 0.3 ? `${random.digits(1)} ` : ""}${random.digits(3)},${random.digits(2)} €`,
  },
  share: { heads: ["Share", "VAT", "%"], align: "end", make: (random) => `${random.between(0, 40)} %` },
  small: {
    heads: ["Q1", "Q2", "06:00", "12:00", "18:00"],
    align: "end",
    make: (random) => `${random.between(0, 30)}.${random.digits(1)}`,
  },
  time: {
    heads: ["Departure", "Arrival"],
    align: "start",
    make: (random) => `0${random.between(5, 9)}:${random.between(10, 59)}`,
  },
  date: {
    heads: ["Date", "Due", "Datum"],
    align: "start",
    make: (random) => `${random.between(10, 28)}.0${random.between(1, 9)}.202${random.between(4, 7)}`,
  },
  yes: { heads: ["Paid", "Stock"], align: "middle", make: (random) => random.pick(["yes", "no"]) },
};
const widthsOfKinds: Readonly<Record<string, number>> = {
  goods: 125,
  person: 115,
  remark: 170,
  sentence: 150,
  town: 95,
};
const pageWidth = 480;
const firstKinds = ["goods", "person", "town", "month", "code", "date"];

export interface VariedTable extends LabelledPage {
  readonly look: Look;
  readonly traits: readonly string[];
}

export interface VariedOptions {
  readonly faults?: readonly Fault[];
  readonly letters?: "mixed" | "small" | "capital";
}

export function variedTable(seed: number, { faults = [], letters = "mixed" }: VariedOptions = {}): VariedTable {
  const random = createRandom(`table ${seed}`);
  const look = random.pick(looks);
  const traits: string[] = [];
  const chance = (trait: string, share: number) => {
    const has = random.next() < share;
    if (has) traits.push(trait);
    return has;
  };
  const size = random.pick([8, 9, 10, 10, 11]);
  const rowCount = random.between(3, 14);
  const chosen = pickKinds(random, random.between(2, 7));
  const hasEmpty = chance("empty", 0.3);
  const hasWraps = chosen.some(({ isLong }) => isLong);
  if (hasWraps) traits.push("wrapped");
  const hasHeadAligned = chance("head-aligned", 0.5);
  const hasTotal = chance("total", 0.2);
  const hasCaption = chance("text-around", 0.3);
  const heads = new Set<string>();
  const head = chosen.map((kind) => {
    const found = kind.heads.find((text) => !heads.has(text)) ?? kind.heads[0] ?? "";
    const free = kind.heads.filter((text) => !heads.has(text));
    const text = free.length === 0 ? found : random.pick(free);
    heads.add(text);
    return text;
  });
  const cells = [head];
  for (let row = 0; row < rowCount; row++)
    cells.push(chosen.map((kind, index) => (index > 0 && hasEmpty && random.next() < 0.15 ? "" : kind.make(random))));
  if (letters !== "mixed")
    for (const row of cells)
      for (const [column, text] of row.entries())
        row[column] = letters === "small" ? text.toLowerCase() : text.toUpperCase();
  const last = chosen.length - 1;
  if (hasTotal && chosen[last]?.align === "end" && last > 1)
    cells.push(chosen.map((kind, index) => (index === 0 ? "Total" : index === last ? kind.make(random) : "")));

  const sheet = new Sheet({ size });
  const title = random.pick(["Stock list", "Overview", "Plan of the year", "Lieferschein", "Results by month"]);
  sheet.text(60, 80, title, { font: "bold", size: 14 });
  const widths = layOutColumns(random, chosen, cells, size);
  const edges = [60];
  for (const width of widths) edges.push((edges.at(-1) ?? 0) + width);
  const [left, right] = [60, edges.at(-1) ?? 0];
  let top = 104;
  const intro = "The following list was made by the office on the last day of the month and replaces the earlier ones.";
  if (hasCaption) top = sheet.paragraph(60, 104, 470, intro, { step: size * 1.3, size }) + 10;
  const padding = random.pick([0.35, 0.5, 0.7, 1]) * size;
  const lead = size * 1.2;
  const ys = [top];
  let y = top;
  for (const [row, texts] of cells.entries()) {
    const lines = texts.map((content, column) =>
      chosen[column]?.isLong ? wrap(content, (widths[column] ?? 0) - 12, row === 0 ? "bold" : "sans", size) : [content],
    );
    const height = Math.max(1, ...lines.map((one) => one.length)) * lead + 2 * padding;
    if (look === "zebra" && row % 2 === 1) sheet.box(left, y, right - left, height, 0.88);
    for (const [column, own] of lines.entries())
      for (const [index, content] of own.entries()) {
        const align = row === 0 && !hasHeadAligned ? "start" : (chosen[column]?.align ?? "start");
        const [from, to] = [(edges[column] ?? 0) + 6, (edges[column + 1] ?? 0) - 6];
        const x = align === "start" ? from : align === "end" ? to : (from + to) / 2;
        sheet.text(x, y + padding + lead * index + size * 0.95, content, { font: row === 0 ? "bold" : "sans", align });
      }
    y += height;
    ys.push(y);
  }
  drawRules(sheet, look, edges, ys);
  if (hasCaption) sheet.paragraph(60, y + 24, 470, `${intro} Ask at the desk.`, { step: size * 1.3, size });
  const [page] = sheet.pages;
  if (page === undefined) throw new Error("The table has no page.");
  const truth = [title, ...cells.map((row) => row.join(" "))].join("\n");
  return { name: `varied-${seed}-${look}`, language: "en", kind: "table", page, truth, cells, faults, look, traits };
}

/** As many columns as fit into the width of the page. */
function pickKinds(random: Random, count: number): ColumnKind[] {
  const names = [random.pick(firstKinds)];
  const all = Object.keys(kinds);
  const isNumeric = random.next() < 0.35;
  let width = 110;
  while (names.length < count && width < pageWidth - 160) {
    const name = isNumeric ? random.pick(["small", "count", "price", "euro", "share"]) : random.pick(all);
    if (kinds[name]?.isLong && names.some((one) => kinds[one]?.isLong)) continue;
    names.push(name);
    width += widthsOfKinds[name] ?? 70;
  }
  return names.flatMap((name) => kinds[name] ?? []);
}

/** Every text fits into its column, with a gap to the next. */
function layOutColumns(
  random: Random,
  chosen: readonly ColumnKind[],
  cells: readonly (readonly string[])[],
  size: number,
): number[] {
  const longest = chosen.map((kind, column) => {
    const widths = cells.map((row, index) =>
      widthOf({ text: row[column] ?? "", font: index === 0 ? "bold" : "sans", size }),
    );
    return Math.max(...(kind.isLong ? [random.pick([100, 140]), widths[0] ?? 0] : widths));
  });
  const total = longest.reduce((sum, width) => sum + width, 0);
  const room = (pageWidth - total) / chosen.length;
  // A table in the width of the page has wide columns.
  const spare = random.next() < 0.4 ? room : Math.min(room, random.pick([18, 22, 30, 40]));
  return longest.map((width) => width + spare);
}

function drawRules(sheet: Sheet, look: Look, xs: readonly number[], ys: readonly number[]): void {
  const [left = 0, right = 0, top = 0, bottom = 0] = [xs[0], xs.at(-1), ys[0], ys.at(-1)];
  switch (look) {
    case "grid":
      sheet.grid(xs, ys);
      break;
    case "outer":
      for (const y of [top, ys[1] ?? top, bottom]) sheet.rule(left, y, right, 1);
      break;
    case "rows":
      for (const y of ys) sheet.rule(left, y, right, 0.5);
      break;
    case "columns":
      for (const y of [top, ys[1] ?? top, bottom]) sheet.rule(left, y, right);
      for (const x of xs) sheet.bar(x, top, bottom);
      break;
    case "none":
    case "zebra":
      break;
  }
}
