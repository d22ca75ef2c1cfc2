// The tune split of pages: recognition may be tuned on it.

import { readTable } from "../../../read-table.ts";
import { columnPage, type LabelledPage, prosePage, tablePage } from "../page.ts";
import { tablesToTune } from "./tables.ts";
import { texts } from "./texts.ts";

const { en, de, fr, es, pl, it } = texts;

const stock = readTable(`
  Article | Shelf | In stock | Price
  Copper pipe 15 mm | A4 | 120 | 4.35
  Ball valve | A7 | 38 | 11.90
  Teflon tape | C1 | 254 | 0.85
  Radiator key | C2 | 61 | 2.10
  Pressure gauge | D5 | 17 | 24.60
`);
const timetable = readTable(`
  Haltestelle | Linie | Abfahrt | Gleis
  Hauptbahnhof | S3 | 06:12 | 2
  Schillerplatz | S3 | 06:17 | 1
  Universität | S3 | 06:21 | 4
  Südfriedhof | S7 | 06:29 | 1
`);
const rainfall = readTable(`
  Mois | Pluie (mm) | Jours | Température
  Janvier | 58,4 | 11 | 4,7
  Février | 41,0 | 9 | 5,9
  Mars | 49,3 | 10 | 8,8
  Avril | 66,1 | 12 | 11,2
`);

export function pagesToTune(): LabelledPage[] {
  return [
    prosePage({ name: "clean-en", language: "en", kind: "clean" }, en.title, en.paragraphs),
    prosePage({ name: "clean-pl", language: "pl", kind: "clean" }, pl.title, pl.paragraphs, { font: "sans", size: 10 }),
    prosePage(
      { name: "noise-de", language: "de", kind: "noise", faults: [{ kind: "noise", strength: 70 }] },
      de.title,
      de.paragraphs,
    ),
    prosePage(
      { name: "noise-fr", language: "fr", kind: "noise", faults: [{ kind: "specks", share: 0.01 }] },
      fr.title,
      fr.paragraphs,
    ),
    prosePage(
      {
        name: "noise-it",
        language: "it",
        kind: "noise",
        faults: [
          { kind: "contrast", ink: 60, paper: 210 },
          { kind: "noise", strength: 60 },
        ],
      },
      it.title,
      it.paragraphs,
      { font: "sans" },
    ),
    prosePage(
      {
        name: "contrast-en",
        language: "en",
        kind: "low contrast",
        faults: [{ kind: "contrast", ink: 150, paper: 205 }],
      },
      en.title,
      en.paragraphs,
      { font: "sans" },
    ),
    prosePage(
      {
        name: "contrast-es",
        language: "es",
        kind: "low contrast",
        faults: [{ kind: "contrast", ink: 190, paper: 240 }],
      },
      es.title,
      es.paragraphs,
    ),
    prosePage(
      { name: "contrast-inverted-de", language: "de", kind: "low contrast", faults: [{ kind: "inverted" }] },
      de.title,
      de.paragraphs,
    ),
    prosePage(
      { name: "turned-90-es", language: "es", kind: "rotation", faults: [{ kind: "turned", degrees: 90 }] },
      es.title,
      es.paragraphs,
    ),
    prosePage(
      { name: "turned-180-it", language: "it", kind: "rotation", faults: [{ kind: "turned", degrees: 180 }] },
      it.title,
      it.paragraphs,
    ),
    prosePage(
      { name: "turned-270-pl", language: "pl", kind: "rotation", faults: [{ kind: "turned", degrees: 270 }] },
      pl.title,
      pl.paragraphs,
    ),
    prosePage(
      { name: "skew-fr", language: "fr", kind: "skew", faults: [{ kind: "skew", degrees: 3.2 }] },
      fr.title,
      fr.paragraphs,
    ),
    prosePage(
      { name: "skew-en", language: "en", kind: "skew", faults: [{ kind: "skew", degrees: -4.5 }] },
      en.title,
      en.paragraphs,
      { font: "mono", size: 9.5 },
    ),
    tablePage({ name: "table-en", language: "en", kind: "table" }, "Stock list", stock, {
      widths: [180, 80, 100, 100],
    }),
    tablePage(
      { name: "table-de", language: "de", kind: "table", faults: [{ kind: "noise", strength: 50 }] },
      "Fahrplan",
      timetable,
      { widths: [190, 80, 100, 80], rowHeight: 20 },
    ),
    tablePage(
      { name: "table-fr", language: "fr", kind: "table", faults: [{ kind: "skew", degrees: 1.2 }] },
      "Pluviométrie",
      rainfall,
      { widths: [140, 110, 90, 120], hasOuterRulesOnly: true },
    ),
    ...tablesToTune(),
    columnPage({ name: "columns-en", language: "en", kind: "columns" }, en.title, [
      [en.paragraphs[0], en.paragraphs[1]],
      [en.paragraphs[2], en.paragraphs[0]],
    ]),
    columnPage(
      { name: "columns-de", language: "de", kind: "columns", faults: [{ kind: "skew", degrees: 1 }] },
      de.title,
      [[de.paragraphs[0]], [de.paragraphs[1]], [de.paragraphs[2]]],
      { font: "sans", size: 9 },
    ),
    prosePage(
      {
        name: "photo-en",
        language: "en",
        kind: "photo",
        faults: [{ kind: "photo", degrees: 1.8, tilt: 0.05, shade: 0.45, noise: 14 }],
      },
      en.title,
      en.paragraphs,
    ),
    prosePage(
      {
        name: "photo-pl",
        language: "pl",
        kind: "photo",
        faults: [{ kind: "photo", degrees: -2.2, tilt: 0.03, shade: 0.3, noise: 18 }],
      },
      pl.title,
      pl.paragraphs,
    ),
    tablePage(
      {
        name: "photo-table-en",
        language: "en",
        kind: "photo",
        faults: [{ kind: "photo", degrees: 0.8, tilt: 0.03, shade: 0.4, noise: 10 }],
      },
      "Stock list",
      stock,
      { widths: [180, 80, 100, 100] },
    ),
  ];
}
