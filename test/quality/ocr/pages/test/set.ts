// The test split of pages: nothing is tuned on it, and nobody looks at its cases to change the recognition. Sixty pages, and a few in Japanese and
// Chinese where a font is installed.

import type { Fault } from "../faults.ts";
import { columnPage, type LabelledPage, prosePage, tablePage } from "../page.ts";
import { chinese, japanese, type PageText, tables, texts } from "./texts.ts";

type Language = keyof typeof texts;

const languages: readonly Language[] = ["en", "de", "fr", "es", "pl", "pt"];

export function pagesToTest(): LabelledPage[] {
  return [
    ...clean(),
    ...noise(),
    ...lowContrast(),
    ...rotation(),
    ...skew(),
    ...ruledTables(),
    ...columns(),
    ...photographs(),
    ...asian(),
  ];
}

function prose(
  kind: string,
  language: Language,
  faults: readonly Fault[],
  letters: { font?: "sans" | "serif" | "mono"; size?: number; grey?: number } = {},
): LabelledPage {
  const { title, paragraphs }: PageText = texts[language];
  const name = `${kind.replace(/ /g, "-")}-${language}-${faults.map((fault) => Object.values(fault).join("-")).join("-")}`;
  return prosePage({ name, language, kind, faults, isCropped: true }, title, paragraphs, letters);
}

function clean(): LabelledPage[] {
  return languages.map((language, index) =>
    prose("clean", language, [], { font: index % 2 === 0 ? "serif" : "sans", size: 10 + (index % 3) }),
  );
}

function noise(): LabelledPage[] {
  return [
    prose("noise", "en", [{ kind: "noise", strength: 60 }]),
    prose("noise", "de", [{ kind: "noise", strength: 90 }], { font: "sans" }),
    prose("noise", "fr", [{ kind: "specks", share: 0.006 }]),
    prose("noise", "es", [{ kind: "specks", share: 0.015 }], { font: "sans", size: 12 }),
    prose("noise", "pl", [{ kind: "noise", strength: 60 }], { size: 12 }),
    prose("noise", "pt", [
      { kind: "blur", radius: 1 },
      { kind: "noise", strength: 50 },
    ]),
    prose(
      "noise",
      "nl",
      [
        { kind: "contrast", ink: 70, paper: 200 },
        { kind: "noise", strength: 70 },
      ],
      { font: "sans" },
    ),
    prose(
      "noise",
      "en",
      [
        { kind: "specks", share: 0.01 },
        { kind: "noise", strength: 40 },
      ],
      { font: "mono", size: 9.5 },
    ),
  ];
}

function lowContrast(): LabelledPage[] {
  return [
    prose("low contrast", "en", [{ kind: "contrast", ink: 160, paper: 200 }], { font: "sans" }),
    prose("low contrast", "de", [{ kind: "contrast", ink: 195, paper: 245 }]),
    prose("low contrast", "fr", [{ kind: "contrast", ink: 60, paper: 110 }]),
    prose("low contrast", "es", [], { grey: 0.72 }),
    prose("low contrast", "pl", [{ kind: "contrast", ink: 140, paper: 190 }]),
    prose(
      "low contrast",
      "pt",
      [
        { kind: "contrast", ink: 170, paper: 215 },
        { kind: "noise", strength: 12 },
      ],
      { font: "sans", size: 12 },
    ),
    prose("low contrast", "nl", [{ kind: "inverted" }]),
    prose("low contrast", "en", [{ kind: "inverted" }, { kind: "contrast", ink: 60, paper: 170 }], { font: "sans" }),
  ];
}

function rotation(): LabelledPage[] {
  const turned = [90, 180, 270] as const;
  return [
    ...languages.map((language, index) =>
      prose("rotation", language, [{ kind: "turned", degrees: turned[index % 3] ?? 90 }]),
    ),
    prose("rotation", "nl", [{ kind: "turned", degrees: 180 }], { font: "sans" }),
    prose(
      "rotation",
      "en",
      [
        { kind: "turned", degrees: 270 },
        { kind: "noise", strength: 40 },
      ],
      { font: "sans" },
    ),
    prose("rotation", "de", [
      { kind: "skew", degrees: 1.5 },
      { kind: "turned", degrees: 90 },
    ]),
  ];
}

function skew(): LabelledPage[] {
  const angles = [1.3, -2.1, 3.8, -4.2, 5, -0.8];
  return languages.map((language, index) =>
    prose("skew", language, [{ kind: "skew", degrees: angles[index] ?? 2 }], {
      font: index % 2 === 0 ? "sans" : "serif",
    }),
  );
}

function ruledTables(): LabelledPage[] {
  const { orchard, ferries, parts, marks, cables, wood } = tables;
  const table = (name: string, language: string, faults: readonly Fault[] = []) => ({
    name: `table-${name}`,
    language,
    kind: "table",
    faults,
    isCropped: true,
  });
  return [
    tablePage(table("orchard", "de"), "Ernte", orchard, { widths: [140, 80, 100, 110] }),
    tablePage(table("ferries", "en"), "Winter timetable", ferries, { widths: [90, 60, 120, 90, 80], rowHeight: 20 }),
    tablePage(table("parts", "fr"), "Pièces", parts, { widths: [100, 180, 90, 90] }),
    tablePage(table("marks", "es"), "Notas", marks, { widths: [130, 80, 80, 80, 80] }),
    tablePage(table("cables-outer-rules", "en"), "Cable store", cables, {
      widths: [170, 90, 80, 80],
      hasOuterRulesOnly: true,
    }),
    tablePage(table("wood-noise", "pl", [{ kind: "noise", strength: 50 }]), "Skład drewna", wood, {
      widths: [120, 110, 90, 100],
    }),
    tablePage(table("orchard-skew", "de", [{ kind: "skew", degrees: 1.6 }]), "Ernte", orchard, {
      widths: [140, 80, 100, 110],
      rowHeight: 22,
    }),
    tablePage(
      table("ferries-contrast", "en", [{ kind: "contrast", ink: 150, paper: 200 }]),
      "Winter timetable",
      ferries,
      { widths: [90, 60, 120, 90, 80] },
    ),
  ];
}

function columns(): LabelledPage[] {
  const page = (language: Language, count: 2 | 3, faults: readonly Fault[] = [], letters = {}) => {
    const { title, paragraphs } = texts[language];
    const [first, second, third] = paragraphs;
    const parts =
      count === 3
        ? [[first], [second], [third]]
        : [
            [first, second],
            [third, first],
          ];
    return columnPage(
      { name: `columns-${count}-${language}-${faults.length}`, language, kind: "columns", faults, isCropped: true },
      title,
      parts,
      letters,
    );
  };
  return [
    page("en", 2),
    page("de", 2, [], { font: "sans", size: 9 }),
    page("fr", 3, [], { size: 9.5 }),
    page("es", 2, [{ kind: "skew", degrees: 1.1 }]),
    page("pl", 2, [{ kind: "noise", strength: 35 }]),
    page("pt", 3, [], { font: "sans", size: 9 }),
    page("nl", 2, [], { size: 11 }),
  ];
}

function photographs(): LabelledPage[] {
  const { cables } = tables;
  const photo = (degrees: number, tilt: number, shade: number, grain: number): Fault => ({
    kind: "photo",
    degrees,
    tilt,
    shade,
    noise: grain,
  });
  return [
    prose("photo", "en", [photo(1.2, 0.04, 0.35, 10)]),
    prose("photo", "de", [photo(-1.9, 0.06, 0.5, 14)]),
    prose("photo", "fr", [photo(2.6, 0.03, 0.4, 18)], { font: "sans" }),
    prose("photo", "es", [photo(-0.7, 0.08, 0.45, 12)], { size: 12 }),
    prose("photo", "pl", [photo(1.5, 0.05, 0.3, 16)], { size: 12 }),
    prose("photo", "pt", [photo(-2.4, 0.02, 0.55, 10)], { font: "sans" }),
    prose("photo", "nl", [photo(3.1, 0.04, 0.4, 12)]),
    tablePage(
      { name: "photo-table", language: "en", kind: "photo", faults: [photo(0.9, 0.03, 0.4, 10)], isCropped: true },
      "Cable store",
      cables,
      { widths: [170, 90, 80, 80] },
    ),
  ];
}

function asian(): LabelledPage[] {
  return [
    prosePage(
      { name: "japanese", language: "ja", kind: "Japanese, Chinese", isCropped: true },
      japanese.title,
      japanese.paragraphs,
      { size: 12 },
    ),
    prosePage(
      { name: "chinese", language: "zh", kind: "Japanese, Chinese", isCropped: true },
      chinese.title,
      chinese.paragraphs,
      { size: 12 },
    ),
  ];
}
