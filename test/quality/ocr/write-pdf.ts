// A small writer of PDFs, so that every sample is made from text that stands in this repository: standard fonts, lines, pictures.

export interface PdfPage {
  /** In points; A4 unless told. */
  readonly width?: number;
  readonly height?: number;
  readonly marks: readonly Mark[];
}

export type Mark = TextMark | LineMark | PictureMark;

export interface TextMark {
  readonly kind: "text";
  readonly text: string;
  /** From the left and from the top, to the text's baseline. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly font: FontName;
  /** `end`: x is where the text ends. */
  readonly align: "start" | "end";
}

export interface LineMark {
  readonly kind: "line";
  readonly from: readonly [number, number];
  readonly to: readonly [number, number];
}

export interface PictureMark {
  readonly kind: "picture";
  readonly jpeg: Uint8Array;
  readonly pixelWidth: number;
  readonly pixelHeight: number;
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

export function text(
  x: number,
  y: number,
  content: string,
  style: Partial<Omit<TextMark, "kind" | "text">> = {},
): TextMark {
  return { kind: "text", text: content, x, y, size: 10, font: "sans", align: "start", ...style };
}

export function line(from: readonly [number, number], to: readonly [number, number]): LineMark {
  return { kind: "line", from, to };
}

export function writePdf(pages: readonly PdfPage[]): Uint8Array {
  const objects: (string | Uint8Array)[][] = [];
  const add = (...parts: (string | Uint8Array)[]) => objects.push(parts);
  const firstFont = 3;
  const firstPage = firstFont + fontNames.length;
  const pageNumbers: number[] = [];
  const bodies: (string | Uint8Array)[][] = [];
  let next = firstPage;
  for (const page of pages) {
    const { width, height } = { ...a4, ...page };
    const pictures = page.marks.filter((mark) => mark.kind === "picture");
    const pageNumber = next;
    const contentNumber = next + 1;
    const pictureNumbers = pictures.map((_, index) => next + 2 + index);
    next += 2 + pictures.length;
    pageNumbers.push(pageNumber);
    const fontList = fontNames.map((name, index) => `/${name} ${firstFont + index} 0 R`).join(" ");
    const pictureList = pictureNumbers.map((number, index) => `/picture${index} ${number} 0 R`).join(" ");
    bodies.push([
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${contentNumber} 0 R ` +
        `/Resources << /Font << ${fontList} >> /XObject << ${pictureList} >> >> >>`,
    ]);
    const content = toContent(page.marks, width, height);
    bodies.push([`<< /Length ${content.length} >>\nstream\n`, content, "\nendstream"]);
    for (const picture of pictures) {
      bodies.push([
        `<< /Type /XObject /Subtype /Image /Width ${picture.pixelWidth} /Height ${picture.pixelHeight} ` +
          `/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${picture.jpeg.length} >>\nstream\n`,
        picture.jpeg,
        "\nendstream",
      ]);
    }
  }
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${pageNumbers.map((number) => `${number} 0 R`).join(" ")}] >>`);
  for (const name of fontNames) {
    add(`<< /Type /Font /Subtype /Type1 /BaseFont /${fonts[name]} /Encoding /WinAnsiEncoding >>`);
  }
  for (const body of bodies) add(...body);
  return assemble(objects);
}

function toContent(marks: readonly Mark[], width: number, height: number): Uint8Array {
  let pictures = 0;
  const commands = marks.map((mark) => {
    if (mark.kind === "line") {
      const [[x1, y1], [x2, y2]] = [mark.from, mark.to];
      return `0.7 w ${x1} ${height - y1} m ${x2} ${height - y2} l S`;
    }
    if (mark.kind === "picture") return `q ${width} 0 0 ${height} 0 0 cm /picture${pictures++} Do Q`;
    const x = mark.align === "end" ? mark.x - widthOf(mark) : mark.x;
    const escaped = mark.text.replace(/[\\()]/g, "\\$&");
    return `BT /${mark.font} ${mark.size} Tf ${x.toFixed(2)} ${(height - mark.y).toFixed(2)} Td (${escaped}) Tj ET`;
  });
  return toWindowsLatin(commands.join("\n"));
}

/** Close enough to align numbers: the widths of Helvetica's figures and signs, an average for the rest. */
function widthOf({ text: content, size, font }: TextMark): number {
  if (font === "mono") return content.length * 0.6 * size;
  const narrow = new Set([..." .,:;|!/ijlI'"]);
  let width = 0;
  for (const character of content) width += narrow.has(character) ? 0.278 : /[A-Z%]/.test(character) ? 0.7 : 0.556;
  return width * size;
}

function toWindowsLatin(content: string): Uint8Array {
  const special: Readonly<Record<string, number>> = { "€": 0x80, "–": 0x96, "—": 0x97, "’": 0x92, "•": 0x95 };
  return Uint8Array.from([...content], (character) => special[character] ?? Math.min(character.charCodeAt(0), 255));
}

function assemble(objects: readonly (readonly (string | Uint8Array)[])[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const write = (part: string | Uint8Array) => {
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
