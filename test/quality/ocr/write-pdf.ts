// A small writer of PDFs, so that every sample is made from text that stands in this repository: standard fonts, lines, boxes, pictures. Text
// that the standard fonts cannot show is set in a TrueType font (fonts.ts), which is embedded.

import { deflateSync } from "node:zlib";
import { findFont, searchFont, standardWidth, type TrueTypeFont, toWindowsLatin } from "./fonts.ts";

export interface PdfPage {
  /** In points; A4 unless told. */
  readonly width?: number;
  readonly height?: number;
  /** How a viewer turns the page, clockwise. */
  readonly rotate?: 0 | 90 | 180 | 270;
  readonly marks: readonly Mark[];
}

export type Mark = TextMark | LineMark | BoxMark | PictureMark;

export interface TextMark {
  readonly kind: "text";
  readonly text: string;
  /** From the left and from the top, to the text's baseline. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly font: FontName;
  /** `end`: x is where the text ends. */
  readonly align: "start" | "middle" | "end";
  /** 0 is black, 1 is white. */
  readonly grey?: number;
}

export interface LineMark {
  readonly kind: "line";
  readonly from: readonly [number, number];
  readonly to: readonly [number, number];
  readonly thickness?: number;
}

/** Filled, or drawn as a frame where `grey` is absent. */
export interface BoxMark {
  readonly kind: "box";
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly grey?: number;
}

/** Fills the page unless `place` says where it stands. */
export interface PictureMark {
  readonly kind: "picture";
  readonly jpeg: Uint8Array;
  readonly pixelWidth: number;
  readonly pixelHeight: number;
  readonly place?: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
}

export type FontName = "sans" | "bold" | "mono" | "serif";

const fonts: Readonly<Record<FontName, string>> = {
  sans: "Helvetica",
  bold: "Helvetica-Bold",
  mono: "Courier",
  serif: "Times-Roman",
};
const fontNames = Object.keys(fonts) as FontName[];
const a4 = { width: 595, height: 842 };

type Part = string | Uint8Array;

export function text(
  x: number,
  y: number,
  content: string,
  style: Partial<Omit<TextMark, "kind" | "text">> = {},
): TextMark {
  return { kind: "text", text: content, x, y, size: 10, font: "sans", align: "start", ...style };
}

export function line(from: readonly [number, number], to: readonly [number, number], thickness = 0.7): LineMark {
  return { kind: "line", from, to, thickness };
}

export function box(left: number, top: number, width: number, height: number, grey?: number): BoxMark {
  return { kind: "box", left, top, width, height, ...(grey === undefined ? {} : { grey }) };
}

/** The width of a text in points; an estimate where its font is not installed. */
export function widthOf({ text: content, size, font }: Pick<TextMark, "text" | "size" | "font">): number {
  const embedded = toWindowsLatin(content) === null ? searchFont(font, content) : null;
  return embedded === null ? standardWidth(font, content) * size : embedded.widthOf(content) * size;
}

export function writePdf(pages: readonly PdfPage[]): Uint8Array {
  const objects: Part[][] = [];
  const embedded = new Map<TrueTypeFont, { readonly name: string; readonly characters: Set<string> }>();
  const contents = pages.map((page) => {
    const { width, height } = { ...a4, ...page };
    return toContent(page.marks, width, height, (font, characters) => {
      const entry = embedded.get(font) ?? { name: `embedded${embedded.size}`, characters: new Set<string>() };
      embedded.set(font, entry);
      for (const character of characters) entry.characters.add(character);
      return entry.name;
    });
  });

  const firstFont = 3;
  const firstEmbedded = firstFont + fontNames.length;
  const firstPage = firstEmbedded + embedded.size * objectsPerFont;
  const fontList = [
    ...fontNames.map((name, index) => `/${name} ${firstFont + index} 0 R`),
    ...[...embedded.values()].map(({ name }, index) => `/${name} ${firstEmbedded + index * objectsPerFont} 0 R`),
  ].join(" ");

  const pageNumbers: number[] = [];
  const bodies: Part[][] = [];
  let next = firstPage;
  for (const [at, page] of pages.entries()) {
    const { width, height, rotate = 0 } = { ...a4, ...page };
    const pictures = page.marks.filter((mark) => mark.kind === "picture");
    const pageNumber = next;
    const contentNumber = next + 1;
    const pictureNumbers = pictures.map((_, index) => next + 2 + index);
    next += 2 + pictures.length;
    pageNumbers.push(pageNumber);
    const pictureList = pictureNumbers.map((number, index) => `/picture${index} ${number} 0 R`).join(" ");
    bodies.push([
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${rotate} /Contents ${contentNumber} 0 R ` +
        `/Resources << /Font << ${fontList} >> /XObject << ${pictureList} >> >> >>`,
    ]);
    bodies.push(streamOf("", contents[at] ?? new Uint8Array()));
    for (const picture of pictures) {
      const entries =
        `/Type /XObject /Subtype /Image /Width ${picture.pixelWidth} /Height ${picture.pixelHeight} ` +
        "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode ";
      bodies.push(streamOf(entries, picture.jpeg));
    }
  }
  objects.push(["<< /Type /Catalog /Pages 2 0 R >>"]);
  objects.push([
    `<< /Type /Pages /Count ${pages.length} /Kids [${pageNumbers.map((number) => `${number} 0 R`).join(" ")}] >>`,
  ]);
  for (const name of fontNames) {
    objects.push([`<< /Type /Font /Subtype /Type1 /BaseFont /${fonts[name]} /Encoding /WinAnsiEncoding >>`]);
  }
  for (const [font, { characters }] of embedded) objects.push(...embed(font, characters, objects.length + 1));
  objects.push(...bodies);
  return assemble(objects);
}

function streamOf(entries: string, bytes: Uint8Array): Part[] {
  return [`<< ${entries}/Length ${bytes.length} >>\nstream\n`, bytes, "\nendstream"];
}

type UseFont = (font: TrueTypeFont, characters: string) => string;

function toContent(marks: readonly Mark[], width: number, height: number, useFont: UseFont): Uint8Array {
  let pictures = 0;
  const commands = marks.map((mark): Part => {
    if (mark.kind === "line") {
      const [[x1, y1], [x2, y2]] = [mark.from, mark.to];
      return `${mark.thickness ?? 0.7} w ${x1} ${height - y1} m ${x2} ${height - y2} l S\n`;
    }
    if (mark.kind === "box") {
      const rectangle = `${mark.left} ${height - mark.top - mark.height} ${mark.width} ${mark.height} re`;
      return mark.grey === undefined ? `0.7 w ${rectangle} S\n` : `${mark.grey} g ${rectangle} f 0 g\n`;
    }
    if (mark.kind === "picture") {
      const place = mark.place ?? { left: 0, top: 0, width, height };
      const matrix = `${place.width} 0 0 ${place.height} ${place.left} ${height - place.top - place.height}`;
      return `q ${matrix} cm /picture${pictures++} Do Q\n`;
    }
    const shift = mark.align === "start" ? 0 : widthOf(mark) * (mark.align === "end" ? 1 : 0.5);
    const place = `${(mark.x - shift).toFixed(2)} ${(height - mark.y).toFixed(2)} Td`;
    const font = embeddedFontOf(mark.font, mark.text);
    const shown = font === null ? toLiteral(mark.text) : `<${font.toGlyphs(mark.text)}>`;
    const name = font === null ? mark.font : useFont(font, mark.text);
    const [before, after] = mark.grey === undefined ? ["", ""] : [`${mark.grey} g `, " 0 g"];
    return Buffer.concat([
      Buffer.from(`${before}BT /${name} ${mark.size} Tf ${place} `),
      typeof shown === "string" ? Buffer.from(shown) : shown,
      Buffer.from(` Tj ET${after}\n`),
    ]);
  });
  return Buffer.concat(commands.map((command) => (typeof command === "string" ? Buffer.from(command) : command)));
}

function toLiteral(content: string): Uint8Array {
  const bytes = toWindowsLatin(content) ?? new Uint8Array();
  const escaped = [...bytes].flatMap((byte) =>
    byte === 0x28 || byte === 0x29 || byte === 0x5c ? [0x5c, byte] : [byte],
  );
  return Uint8Array.from([0x28, ...escaped, 0x29]);
}

/** Null: a standard font has all characters. */
function embeddedFontOf(font: FontName, content: string): TrueTypeFont | null {
  return toWindowsLatin(content) === null ? findFont(font, content) : null;
}

const objectsPerFont = 5;

/** The font, its descendant, descriptor and file, and the table from glyphs to characters. */
function embed(font: TrueTypeFont, characters: ReadonlySet<string>, first: number): Part[][] {
  const glyphs = [...characters]
    .map((character) => [font.glyphOf(character), character] as const)
    .sort(([a], [b]) => a - b);
  const widths = glyphs.map(([glyph, character]) => `${glyph} [${Math.round(font.widthOf(character) * 1000)}]`);
  const name = `/QQQQQQ+${font.name}`;
  const hex = (value: number) => value.toString(16).padStart(4, "0");
  const utf16 = (character: string) => [...Array(character.length).keys()].map((at) => hex(character.charCodeAt(at)));
  const mappings = glyphs.map(([glyph, character]) => `<${hex(glyph)}> <${utf16(character).join("")}>`);
  const blocks: string[] = [];
  for (let at = 0; at < mappings.length; at += 100) {
    const some = mappings.slice(at, at + 100);
    blocks.push(`${some.length} beginbfchar\n${some.join("\n")}\nendbfchar`);
  }
  const unicode = Buffer.from(
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n" +
      "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def /CMapName /Adobe-Identity-UCS def /CMapType 2 def\n" +
      `1 begincodespacerange <0000> <ffff> endcodespacerange\n${blocks.join("\n")}\nendcmap end end`,
  );
  const [left, bottom, right, top] = font.bounds;
  return [
    [
      `<< /Type /Font /Subtype /Type0 /BaseFont ${name} /Encoding /Identity-H /DescendantFonts [${first + 1} 0 R] /ToUnicode ${first + 4} 0 R >>`,
    ],
    [
      `<< /Type /Font /Subtype /CIDFontType2 /BaseFont ${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> ` +
        `/FontDescriptor ${first + 2} 0 R /DW 1000 /W [${widths.join(" ")}] /CIDToGIDMap /Identity >>`,
    ],
    [
      `<< /Type /FontDescriptor /FontName ${name} /Flags 4 /FontBBox [${left} ${bottom} ${right} ${top}] /ItalicAngle 0 ` +
        `/Ascent ${top} /Descent ${bottom} /CapHeight 700 /StemV 80 /FontFile2 ${first + 3} 0 R >>`,
    ],
    streamOf(`/Filter /FlateDecode /Length1 ${font.bytes.length} `, compressed(font)),
    streamOf("", unicode),
  ];
}

const compressedFonts = new WeakMap<TrueTypeFont, Uint8Array>();

function compressed(font: TrueTypeFont): Uint8Array {
  const bytes = compressedFonts.get(font) ?? deflateSync(font.bytes);
  compressedFonts.set(font, bytes);
  return bytes;
}

function assemble(objects: readonly (readonly Part[])[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const write = (part: Part) => {
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    parts.push(bytes);
    length += bytes.length;
  };
  write("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
  const offsets = objects.map((object, index) => {
    const offset = length;
    write(`${index + 1} 0 obj\n`);
    for (const part of object) write(part);
    write("\nendobj\n");
    return offset;
  });
  const start = length;
  write(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`);
  for (const offset of offsets) write(`${String(offset).padStart(10, "0")} 00000 n \n`);
  write(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(parts);
}
