// Fonts of samples. The standard fonts of PDF need no file, and show what Windows-1252 has. Other text needs a TrueType file: DejaVu (Latin,
// Greek, Cyrillic; from the npm package or from Debian's fonts-dejavu), and a font for Chinese and Japanese where one is installed.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import type { FontName } from "./write-pdf.ts";

export interface TrueTypeFont {
  readonly name: string;
  /** The whole file, as a PDF embeds it. */
  readonly bytes: Uint8Array;
  /** Left, bottom, right and top in thousandths of the size. */
  readonly bounds: readonly [number, number, number, number];
  /** 0 where the font lacks the character. */
  glyphOf(character: string): number;
  /** For a size of 1. */
  widthOf(content: string): number;
  /** Glyph numbers, as hexadecimal digits. */
  toGlyphs(content: string): string;
}

export class MissingFontError extends Error {}

const packages = join(import.meta.dir, "..", "..", "tools", "node_modules");
const dejavuFolders = [
  join(packages, "dejavu-fonts-ttf", "ttf"),
  "/usr/share/fonts/truetype/dejavu",
  "/usr/share/fonts/dejavu",
  "/usr/share/fonts/TTF",
];
const dejavuFiles: Readonly<Record<FontName, string>> = {
  sans: "DejaVuSans.ttf",
  bold: "DejaVuSans-Bold.ttf",
  mono: "DejaVuSansMono.ttf",
  serif: "DejaVuSerif.ttf",
};
/** Each of one weight: bold text is drawn with the same font. */
const asianFiles = [
  join(packages, "@expo-google-fonts", "sawarabi-gothic", "400Regular", "SawarabiGothic_400Regular.ttf"),
  join(packages, "@expo-google-fonts", "zcool-xiaowei", "400Regular", "ZCOOLXiaoWei_400Regular.ttf"),
];

/** The font that has all characters of the text. Throws a MissingFontError if none is installed. */
export function findFont(name: FontName, content: string): TrueTypeFont {
  const font = searchFont(name, content);
  if (font !== null) return font;
  throw new MissingFontError(
    `No installed font has all characters of ${JSON.stringify(content)}. Run "npm ci --prefix test/tools".`,
  );
}

/** Null if no installed font has all characters. */
export function searchFont(name: FontName, content: string): TrueTypeFont | null {
  const dejavu = dejavuFolders.map((folder) => join(folder, dejavuFiles[name]));
  for (const file of [...dejavu, ...asianFiles]) {
    const font = openFont(file);
    if (font !== null && [...content].every((character) => font.glyphOf(character) !== 0)) return font;
  }
  return null;
}

const opened = new Map<string, TrueTypeFont | null>();

function openFont(file: string): TrueTypeFont | null {
  const known = opened.get(file);
  if (known !== undefined) return known;
  const font = existsSync(file) ? readTrueType(readFileSync(file), file) : null;
  opened.set(file, font);
  return font;
}

function readTrueType(raw: Buffer, file: string): TrueTypeFont {
  const bytes = raw.toString("latin1", 0, 4) === "wOFF" ? unpackWoff(raw) : raw;
  const tables = new Map<string, Buffer>();
  for (let at = 0; at < bytes.readUInt16BE(4); at++) {
    const entry = 12 + at * 16;
    const offset = bytes.readUInt32BE(entry + 8);
    tables.set(
      bytes.toString("latin1", entry, entry + 4),
      bytes.subarray(offset, offset + bytes.readUInt32BE(entry + 12)),
    );
  }
  const table = (tag: string): Buffer => {
    const found = tables.get(tag);
    if (found === undefined) throw new Error(`${file} has no table ${tag}; only TrueType outlines are supported.`);
    return found;
  };
  table("glyf");
  const head = table("head");
  const unitsPerEm = head.readUInt16BE(18);
  const measured = table("hhea").readUInt16BE(34);
  const metrics = table("hmtx");
  const glyphs = readCharacterMap(table("cmap"));
  const inThousandths = (offset: number) => Math.round((head.readInt16BE(offset) * 1000) / unitsPerEm);
  const glyphOf = (character: string) => glyphs.get(character.codePointAt(0) ?? 0) ?? 0;
  return {
    name: file.replace(/^.*\/|\.\w+$/g, "").replace(/\W/g, ""),
    bytes,
    bounds: [inThousandths(36), inThousandths(38), inThousandths(40), inThousandths(42)],
    glyphOf,
    widthOf: (content) => {
      let width = 0;
      for (const character of content)
        width += metrics.readUInt16BE(Math.min(glyphOf(character), measured - 1) * 4) / unitsPerEm;
      return width;
    },
    toGlyphs: (content) =>
      Array.from(content, (character) => glyphOf(character).toString(16).padStart(4, "0")).join(""),
  };
}

/** Formats 4 (16 bits) and 12 (32 bits), which nearly all fonts have. */
function readCharacterMap(cmap: Buffer): Map<number, number> {
  const glyphs = new Map<number, number>();
  for (let at = 0; at < cmap.readUInt16BE(2); at++) {
    const map = cmap.subarray(cmap.readUInt32BE(4 + at * 8 + 4));
    const format = map.readUInt16BE(0);
    if (format === 4) readSegments(map, glyphs);
    if (format === 12) {
      for (let group = 0; group < map.readUInt32BE(12); group++) {
        const [first, last, glyph] = [0, 4, 8].map((offset) => map.readUInt32BE(16 + group * 12 + offset));
        for (let code = first ?? 0; code <= (last ?? -1); code++) glyphs.set(code, (glyph ?? 0) + code - (first ?? 0));
      }
    }
  }
  return glyphs;
}

function readSegments(map: Buffer, glyphs: Map<number, number>): void {
  const size = map.readUInt16BE(6);
  for (let at = 0; at < size; at += 2) {
    const last = map.readUInt16BE(14 + at);
    const first = map.readUInt16BE(16 + size + at);
    const delta = map.readUInt16BE(16 + size * 2 + at);
    const rangeAt = 16 + size * 3 + at;
    const range = map.readUInt16BE(rangeAt);
    for (let code = first; code <= last && code < 0xffff; code++) {
      const glyph = range === 0 ? code : map.readUInt16BE(rangeAt + range + (code - first) * 2);
      if (glyph !== 0) glyphs.set(code, (glyph + delta) & 0xffff);
    }
  }
}

/** WOFF 1.0 is a TrueType file whose tables are compressed one by one. */
function unpackWoff(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  const directory = Buffer.alloc(12 + count * 16);
  directory.writeUInt32BE(woff.readUInt32BE(4), 0);
  directory.writeUInt16BE(count, 4);
  const bodies: Buffer[] = [];
  let offset = directory.length;
  for (let at = 0; at < count; at++) {
    const entry = 44 + at * 20;
    const [start, packed, size, checksum] = [4, 8, 12, 16].map((place) => woff.readUInt32BE(entry + place)) as [
      number,
      number,
      number,
      number,
    ];
    const body = woff.subarray(start, start + packed);
    const table = packed < size ? inflateSync(body) : body;
    directory.write(woff.toString("latin1", entry, entry + 4), 12 + at * 16, "latin1");
    directory.writeUInt32BE(checksum, 12 + at * 16 + 4);
    directory.writeUInt32BE(offset, 12 + at * 16 + 8);
    directory.writeUInt32BE(size, 12 + at * 16 + 12);
    const padded = Buffer.alloc((size + 3) & ~3);
    table.copy(padded);
    bodies.push(padded);
    offset += padded.length;
  }
  return Buffer.concat([directory, ...bodies]);
}

const windowsLatin = new Map<string, number>(
  [..."€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"].map((character, index) => [character, 0x80 + index]),
);

/** Null where a character is missing in Windows-1252. */
export function toWindowsLatin(content: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const character of content) {
    const code = character.charCodeAt(0);
    const byte = windowsLatin.get(character) ?? (code < 0x80 || (code >= 0xa0 && code <= 0xff) ? code : undefined);
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** Thousandths of the size, from the space to the tilde: the published metrics of Helvetica. */
const helvetica = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
  556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
  260, 334, 584,
];

/** For a size of 1. Bold and serif letters are close to the given factor; figures are exact. */
export function standardWidth(font: FontName, content: string): number {
  if (font === "mono") return content.length * 0.6;
  let width = 0;
  for (const character of content.normalize("NFD").replace(/\p{M}/gu, "")) {
    const regular = (helvetica[character.charCodeAt(0) - 32] ?? 556) / 1000;
    if (font === "sans") width += regular;
    else if (/[\d €£$¥]/u.test(character)) width += font === "serif" ? regular * 0.9 : regular;
    else width += regular * (font === "serif" ? 0.88 : 1.06);
  }
  return width;
}
