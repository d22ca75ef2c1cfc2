// Tables of the tune split whose rows have no rules between them, or whose columns are words: the alignment has to tell them from text in columns.

import { readTable } from "../../../read-table.ts";
import { type LabelledPage, tablePage } from "../page.ts";

const courses = readTable(`
  Course | Teacher | Place | Fee
  Watercolour for beginners | Harriet Longbottom | Old Library | 85.00
  Bread from sourdough | Piotr Wasilewski | Kitchen 2 | 40.00
  Bicycle repair at home | Samuel Okonkwo | Workshop | 25.00
  Italian conversation | Giulia Ferraresi | Room 14 | 120.00
  Birds of the estuary | Margaret Threlfall | Visitor hut | 15.00
  Choir without auditions | Owen Pritchard | Chapel Hall | 60.00
  Bookkeeping step by step | Nadia Benhaddou | Room 9 | 95.00
`);
const clubs = readTable(`
  Verein | Ansprechpartnerin | Anschrift
  Ruderclub Neuenfelde | Annegret Wollschläger | Am Bootshaus 4
  Schachfreunde Ost | Bernhard Kuzniak | Lindenallee 112
  Chorgemeinschaft Frohsinn | Edeltraud Semmelroth | Kirchplatz 7
  Kleingärtner Sonnenhang | Karl-Heinz Ottersberg | Rosenweg 21 a
  Turnverein von 1894 | Mareike Poggendorf | Stadionstraße 3
  Imkerverein Waldrand | Jürgen Hasselbrink | Forsthausweg 15
`);
const accounts = readTable(`
  Poste | Budget | Réalisé | Écart | Reste
  Fournitures de bureau | 1 200,00 | 1 087,40 | 112,60 | 9,4 %
  Entretien des locaux | 8 400,00 | 8 655,10 | -255,10 | -3,0 %
  Énergie | 15 000,00 | 13 912,75 | 1 087,25 | 7,2 %
  Téléphone | 960,00 | 948,00 | 12,00 | 1,3 %
  Déplacements | 2 500,00 | 1 731,20 | 768,80 | 30,8 %
  Assurances | 3 150,00 | 3 150,00 | 0,00 | 0,0 %
`);
const measurements = readTable(`
  Day | 06:00 | 09:00 | 12:00 | 15:00 | 18:00 | 21:00
  Mon | 4.1 | 7.9 | 12.6 | 14.0 | 11.3 | 8.2
  Tue | 5.0 | 8.8 | 13.1 | 15.2 | 12.0 | 9.1
  Wed | 3.7 | 6.5 | 10.9 | 12.8 | 10.4 | 7.7
  Thu | 2.9 | 7.0 | 12.2 | 13.9 | 11.8 | 8.0
  Fri | 6.4 | 9.9 | 15.7 | 17.3 | 14.1 | 10.5
  Sat | 7.2 | 11.0 | 16.8 | 18.9 | 15.6 | 11.9
`);
const parts = readTable(`
  Pieza | Código | Almacén | Cantidad | Precio
  Tornillo hexagonal M8 | TH-0812 | Zaragoza | 1.400 | 0,12
  Arandela plana | AP-0810 | Zaragoza | 5.250 | 0,03
  Tuerca autoblocante | TA-0830 | Getafe | 860 | 0,19
  Junta tórica 24 mm | JT-2430 | Sabadell | 310 | 0,85
  Muelle de compresión | MC-1120 | Getafe | 75 | 2,40
`);
const rivers = readTable(`
  Rzeka | Długość (km) | Ujście | Największe miasto
  Wisła | 1047 | Morze Bałtyckie | Warszawa
  Odra | 854 | Zalew Szczeciński | Wrocław
  Warta | 808 | Odra | Poznań
  Narew | 484 | Wisła | Białystok
  San | 458 | Wisła | Przemyśl
  Noteć | 391 | Warta | Bydgoszcz
`);
const fees = readTable(`
  Servizio | Durata | Tariffa
  Visita guidata del centro | 90 minuti | 12,00 €
  Degustazione in cantina | 2 ore | 35,00 €
  Gita in barca al tramonto | 3 ore | 48,50 €
  Noleggio biciclette | 1 giorno | 18,00 €
  Corso di ceramica | 4 ore | 65,00 €
`);

export function tablesToTune(): LabelledPage[] {
  return [
    tablePage({ name: "table-plain-courses-en", language: "en", kind: "table" }, "Courses in autumn", courses, {
      widths: [160, 140, 100, 70],
      hasRules: false,
      rowHeight: 20,
    }),
    tablePage({ name: "table-plain-clubs-de", language: "de", kind: "table" }, "Vereine im Stadtteil", clubs, {
      widths: [170, 160, 140],
      hasRules: false,
      rowHeight: 18,
    }),
    tablePage(
      { name: "table-outer-clubs-de", language: "de", kind: "table", faults: [{ kind: "skew", degrees: -1.6 }] },
      "Vereine im Stadtteil",
      clubs,
      { widths: [170, 160, 140], hasOuterRulesOnly: true },
    ),
    tablePage(
      { name: "table-plain-accounts-fr", language: "fr", kind: "table", faults: [{ kind: "noise", strength: 60 }] },
      "Exécution du budget",
      accounts,
      { widths: [150, 85, 85, 80, 70], hasRules: false, rowHeight: 17 },
    ),
    tablePage({ name: "table-outer-hours-en", language: "en", kind: "table" }, "Temperatures", measurements, {
      widths: [60, 65, 65, 65, 65, 65, 65],
      hasOuterRulesOnly: true,
      rowHeight: 19,
    }),
    tablePage(
      {
        name: "table-grid-parts-es",
        language: "es",
        kind: "table",
        faults: [{ kind: "contrast", ink: 110, paper: 200 }],
      },
      "Existencias",
      parts,
      { widths: [150, 80, 85, 75, 70] },
    ),
    tablePage(
      { name: "table-grid-rivers-pl", language: "pl", kind: "table", faults: [{ kind: "turned", degrees: 90 }] },
      "Rzeki",
      rivers,
      { widths: [90, 100, 140, 140], rowHeight: 22 },
    ),
    tablePage(
      { name: "table-plain-rivers-pl", language: "pl", kind: "table", faults: [{ kind: "skew", degrees: 2.4 }] },
      "Rzeki",
      rivers,
      { widths: [90, 100, 140, 140], hasRules: false, rowHeight: 22 },
    ),
    tablePage(
      { name: "table-plain-fees-it", language: "it", kind: "table", faults: [{ kind: "blur", radius: 1 }] },
      "Tariffe",
      fees,
      { widths: [220, 110, 110], hasRules: false, rowHeight: 28 },
    ),
    tablePage(
      { name: "table-grid-courses-en", language: "en", kind: "table", faults: [{ kind: "smaller", scale: 0.7 }] },
      "Courses in autumn",
      courses,
      { widths: [160, 140, 100, 70] },
    ),
    tablePage(
      {
        name: "table-outer-accounts-fr",
        language: "fr",
        kind: "table",
        faults: [{ kind: "photo", degrees: 1.2, tilt: 0.03, shade: 0.35, noise: 10 }],
      },
      "Exécution du budget",
      accounts,
      { widths: [150, 85, 85, 80, 70], hasOuterRulesOnly: true },
    ),
  ];
}
