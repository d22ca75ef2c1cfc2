// PP-OCRv6 with its real networks: pages that are drawn here are read word for word, wherever the words are.

import { beforeAll, describe, expect, test } from "bun:test";
import { chooseLanguages } from "../../src/engines/local/documents/languages.ts";
import { asSent, type Box, type Page, toText } from "../../src/engines/local/documents/page.ts";
import { loadPdfReader, type PdfReader } from "../../src/engines/local/documents/pdf.ts";
import { readGreyMap, toGreyMap } from "../../src/engines/local/documents/picture.ts";
import { loadPpOcr, type PpOcr } from "../../src/engines/local/documents/pp-ocr/index.ts";
import { readsLanguage } from "../../src/engines/local/documents/pp-ocr/languages.ts";
import { checkLanguage, readPicture } from "../../src/engines/local/documents/read-picture.ts";
import { toRows } from "../../src/engines/local/documents/rows.ts";
import { drawPage } from "../quality/ocr/measure.ts";
import { type GreyPicture, photograph } from "../quality/ocr/rasters.ts";
import { line, type PdfPage, text, writePdf } from "../quality/ocr/write-pdf.ts";
import { isFullRun } from "../support/test-size.ts";
import { toTiff } from "../support/tiff.ts";
import { refusalOf } from "./local-call.ts";

/** As small as its text allows: recognition takes time in proportion to the pixels. */
const letter: PdfPage = {
  width: 250,
  height: 112,
  marks: [
    text(12, 20, "Invoice for Mr. O'Brien", { size: 14, font: "bold" }),
    text(12, 38, "Delivery on 14/02/2026 to 9 Quay Street, Galway.", { font: "serif" }),
    text(12, 53, "Für Grüße, Maß: 12,5 % (señor, garçon).", { font: "sans" }),
    text(12, 71, "Oak boards, planed"),
    text(238, 71, "1,746.00", { align: "end" }),
    text(12, 85, "Brass hinges, pair"),
    text(238, 85, "£38.90", { align: "end" }),
    text(12, 102, "Reference: AB-4711/x9", { font: "mono" }),
  ],
};
const words = letter.marks.flatMap((mark) => (mark.kind === "text" ? mark.text.split(" ") : []));

let ocr: PpOcr;
let pdfs: PdfReader;
let drawn: GreyPicture;
/** What is read in `drawn`. */
let upright: Page;

beforeAll(async () => {
  [ocr, pdfs] = [await loadPpOcr(), await loadPdfReader()];
  drawn = drawPage(pdfs, writePdf([letter]));
  upright = await recognise(drawn);
});

function recognise({ width, height, pixels }: GreyPicture): Promise<Page> {
  const grey = readGreyMap({ width, height, bytes: toGreyMap(width, height, pixels) });
  if (grey === null) throw new Error("it is a grey map");
  return ocr.recognise(grey);
}

function missing(page: Page, wanted: readonly string[] = words): string[] {
  const found = toText(page).split(/\s+/);
  return wanted.filter((word) => !found.includes(word));
}

function change(picture: GreyPicture, toShade: (shade: number) => number): GreyPicture {
  return { ...picture, pixels: picture.pixels.map((shade) => Math.min(255, Math.max(0, toShade(shade)))) };
}

/** Clockwise. */
function turn({ width, height, pixels }: GreyPicture, quarters: number): GreyPicture {
  let turned = { width, height, pixels };
  for (let quarter = 0; quarter < quarters; quarter++) {
    const { width: across, height: down, pixels: before } = turned;
    const after = new Uint8Array(before.length);
    for (let y = 0; y < down; y++)
      for (let x = 0; x < across; x++) after[x * down + down - 1 - y] = before[y * across + x] ?? 0;
    turned = { width: down, height: across, pixels: after };
  }
  return turned;
}

function overlapOf(one: Box, other: Box): number {
  const across = Math.min(one.left + one.width, other.left + other.width) - Math.max(one.left, other.left);
  const down = Math.min(one.top + one.height, other.top + other.height) - Math.max(one.top, other.top);
  const shared = Math.max(0, across) * Math.max(0, down);
  return shared / (one.width * one.height + other.width * other.height - shared);
}

describe("a page", () => {
  test("is read word for word, with true places and confidences", () => {
    expect(missing(upright)).toEqual([]);
    using pdf = pdfs.open(writePdf([letter]));
    const places = pdf.readText(0, false).page.lines.flatMap((one) => one.words);
    const found = upright.lines.flatMap((one) => one.words);
    for (const place of places.filter(({ text: content }) => content.length > 2)) {
      const word = found.find(({ text: content }) => content === place.text);
      expect([place.text, overlapOf(place.box, word?.box ?? place.box) > 0.4]).toEqual([place.text, true]);
    }
    for (const { confidence } of found) expect(confidence).toBeWithin(0.3, 1.0001);
  });

  test("the parts of a row stay apart, from left to right", () => {
    const lines = upright.lines.map((one) => one.text);
    expect(lines.slice(lines.indexOf("Oak boards, planed"))).toEqual([
      ...["Oak boards, planed", "1,746.00", "Brass hinges, pair", "£38.90", "Reference: AB-4711/x9"],
    ]);
  });

  test("is read in every direction, and its boxes refer to the picture as it was sent", async () => {
    const directions = [
      [1, { left: 0.8, top: 0.1 }],
      [2, { left: 0.9, top: 0.8 }],
      [3, { left: 0.2, top: 0.9 }],
    ] as const;
    for (const [quarters, corner] of isFullRun ? directions : directions.slice(0, 1)) {
      const page = await recognise(turn(drawn, quarters));
      expect([quarters, missing(page)]).toEqual([quarters, []]);
      expect(page.turned?.degrees).toBe((360 - quarters * 90) as 90 | 180 | 270);
      const box = asSent(page).lines.flatMap((one) => one.words)[0]?.box;
      // The first word is in the corner at which the picture begins.
      expect(Math.abs((box?.left ?? 0) - corner.left)).toBeLessThan(0.15);
      expect(Math.abs((box?.top ?? 0) - corner.top)).toBeLessThan(0.15);
    }
  });

  test("is read if it is slanted, and its lines are horizontal afterwards", async () => {
    // With a margin, because a slanted line rises above the page.
    const marks = letter.marks.map((mark) => (mark.kind === "text" ? { ...mark, y: mark.y + 16 } : mark));
    const framed = drawPage(pdfs, writePdf([{ ...letter, height: 144, marks }]));
    for (const degrees of isFullRun ? [-7, 4] : [-7]) {
      const page = await recognise(photograph(framed, { degrees, blur: 0, noise: 0, shade: 0 }));
      expect([degrees, missing(page)]).toEqual([degrees, []]);
      expect(((page.turned?.radians ?? 0) * 180) / Math.PI).toBeCloseTo(-degrees, 0);
      const [first, last] = [page.lines[1]?.words[0]?.box, page.lines[1]?.words.at(-1)?.box];
      expect(Math.abs((first?.top ?? 0) - (last?.top ?? 1))).toBeLessThan(0.02);
    }
  });

  test("is read with noise, with little contrast, and as white print on black", async () => {
    let seed = 1;
    const grain = () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 31 - 1;
    };
    const looks: Readonly<Record<string, GreyPicture>> = {
      noise: change(drawn, (shade) => shade + grain() * 70),
      pale: change(drawn, (shade) => 165 + shade / 8),
      dark: change(drawn, (shade) => 20 + shade / 8),
      inverted: change(drawn, (shade) => 255 - shade),
      photograph: photograph(drawn, { degrees: 2, blur: 1, noise: 20, shade: 0.5 }),
    };
    for (const [look, picture] of Object.entries(looks).slice(isFullRun ? 0 : -2)) {
      const lost = missing(await recognise(picture));
      expect([look, lost, lost.length <= 2]).toEqual([look, lost, true]);
    }
  });

  test("the cells of a ruled table are read", async () => {
    const cells = ["Item", "Qty", "Price", "Oak", "14", "32.50", "Screws", "3", "8.90", "Oil", "5", "11.20"];
    const marks = cells.map((cell, index) => text(16 + (index % 3) * 60, 24 + Math.floor(index / 3) * 20, cell));
    const rules = [
      ...[0, 1, 2, 3, 4].map((row) => line([10, 10 + row * 20], [190, 10 + row * 20])),
      ...[0, 1, 2, 3].map((column) => line([10 + column * 60, 10], [10 + column * 60, 90])),
    ];
    const page = await recognise(drawPage(pdfs, writePdf([{ width: 200, height: 100, marks: [...marks, ...rules] }])));
    expect(missing(page, cells)).toEqual([]);
  });

  test("single figures, which are higher than wide, are read upright: they are as high as the names beside them", async () => {
    const rows = ["Kestrel 5 2", "Juniper 8 3", "Harbour 9 7", "Lakeside 3 8", "Northgate 2 6"];
    const marks = rows.flatMap((row, index) =>
      row.split(" ").map((cell, column) => text([12, 102, 157][column] ?? 0, 20 + index * 24, cell)),
    );
    const page = await recognise(drawPage(pdfs, writePdf([{ width: 270, height: 130, marks }])));
    expect(toRows(page).map((row) => row.text.replaceAll("  ", " "))).toEqual(rows);
    const heights = page.lines.flatMap((one) => one.words.map(({ box }) => box.height));
    expect(Math.min(...heights)).toBeGreaterThan(Math.max(...heights) / 2);
  });
});

describe("the engine of a picture", () => {
  test("is PP-OCRv6 without a language, and for a file that only tesseract can decode", async () => {
    const strip = drawPage(pdfs, writePdf([{ width: 120, height: 24, marks: [text(10, 16, "Grüße, señor")] }]));
    const { width, height, pixels } = strip;
    const page = await readPicture({ width, height, bytes: toTiff([strip]) }, null);
    expect([page.width, page.height, toText(page)]).toEqual([width, height, "Grüße, señor"]);
    const grey = await readPicture({ width, height, bytes: toGreyMap(width, height, pixels) }, "de-AT");
    expect(toText(grey)).toBe("Grüße, señor");
  });

  test("is tesseract for other languages, which are refused without its data", async () => {
    const picture = { width: 1, height: 1, bytes: toGreyMap(1, 1, new Uint8Array(1)) };
    expect((await refusalOf(readPicture(picture, "ru"))).message).toContain("@tesseract.js-data/rus is not installed");
    expect(() => checkLanguage("la")).not.toThrow();
    expect(() => checkLanguage("ru")).not.toThrow();
    expect(() => checkLanguage("tlh")).toThrow('No text can be recognised in the language "tlh" here.');
    expect(() => chooseLanguages("de")).toThrow(
      "`npx switchyard-gateway engines add ocr` or `npx switchyard-gateway engines add ocr-deu` installs it.",
    );
    expect(() => chooseLanguages("ru")).toThrow(/Installed: eng\.$/);
  });
});

describe("a picture without text", () => {
  test("has no lines if it is empty", async () => {
    const page = await recognise({ width: 300, height: 200, pixels: new Uint8Array(60_000).fill(255) });
    expect(page).toMatchObject({ width: 300, height: 200, source: "scan", turned: null, lines: [] });
  });

  test("of a single pixel or a single row is no error", async () => {
    for (const [width, height] of [
      [1, 1],
      [3_000, 1],
      [1, 3_000],
    ] as const)
      expect((await recognise({ width, height, pixels: new Uint8Array(width * height) })).lines).toEqual([]);
  });
});

describe("languages", () => {
  /** Letters beyond A to Z of the languages that are claimed, in both cases. */
  const letters: Readonly<Record<string, string>> = {
    az: "əçğıöşü",
    ca: "àçéèíïóòúü·",
    cs: "áčďéěíňóřšťúůýž",
    cy: "âêîôûŵŷ",
    da: "æøå",
    de: "äöüß",
    es: "áéíñóúü¿",
    et: "äõöüšž",
    fi: "äöå",
    fr: "àâæçéèêëîïôœùûüÿ",
    ga: "áéíóú",
    hr: "čćđšž",
    hu: "áéíóöőúüű",
    is: "áðéíóúýþæö",
    it: "àèéìòù",
    ja: "あいうえおアイウエオ日本語",
    ku: "çêîşû",
    lt: "ąčęėįšųūž",
    lv: "āčēģīķļņšūž",
    mi: "āēīōū",
    mt: "ċġħż",
    nl: "ëïéè",
    no: "æøå",
    pl: "ąćęłńóśźż",
    pt: "ãáâàçéêíõóôú",
    ro: "ăâîșț",
    sk: "áäčďéíĺľňóôŕšťúýž",
    sl: "čšž",
    sq: "çë",
    "sr-Latn": "čćđšž",
    sv: "åäö",
    tr: "çğıöşüİ",
    zh: "中文繁體简体国國",
  };

  test("all letters of the languages that it reads are among its characters", () => {
    for (const [tag, some] of Object.entries(letters)) {
      expect([tag, readsLanguage(tag)]).toEqual([tag, true]);
      const lacking = [...some].filter((letter) => !ocr.characters.includes(letter));
      expect([tag, lacking]).toEqual([tag, []]);
    }
  });

  test("languages in other scripts are not claimed", () => {
    for (const tag of [
      "ru",
      "uk",
      "bg",
      "el",
      "ar",
      "he",
      "hi",
      "ko",
      "th",
      "vi",
      "sr",
      "sr-Cyrl",
      "uz-Cyrl",
      "xx",
      "",
      "e",
    ])
      expect([tag, readsLanguage(tag)]).toEqual([tag, false]);
    for (const tag of ["en-GB", "de-AT", "zh-Hant-TW", "pt_BR", "nb", "ENG", "deu"])
      expect([tag, readsLanguage(tag)]).toEqual([tag, true]);
    for (const letter of "жάעعक한ไế¡") expect([letter, ocr.characters.includes(letter)]).toEqual([letter, false]);
  });
});
