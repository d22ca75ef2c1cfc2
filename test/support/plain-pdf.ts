// Writes PDFs from content streams, for tests that need more than text and lines: rotated pages, pictures at any place, forms, huge pages.

export interface PlainPage {
  /** Operators of a content stream. Fonts are /sans and /mono, pictures /picture0 and so on. */
  readonly content: string;
  readonly rotate?: 0 | 90 | 180 | 270;
  readonly size?: readonly [width: number, height: number];
  readonly pictures?: readonly Jpeg[];
  /** Dictionaries of annotations. `appearance` is the content stream of the annotation, in a box of the size of its rectangle. */
  readonly annotations?: readonly { readonly rectangle: readonly number[]; readonly appearance: string }[];
}

export interface Jpeg {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** An operator that writes a text. The position is from the bottom left; `turn` is counterclockwise, in degrees. */
export function write(x: number, y: number, text: string, { size = 11, turn = 0, mode = 0 } = {}): string {
  const [cosine, sine] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
  const matrix = [cosine, sine, -sine, cosine, x, y].map((value) => value.toFixed(4)).join(" ");
  return `BT ${mode} Tr /sans ${size} Tf ${matrix} Tm (${text.replace(/[\\()]/g, "\\$&")}) Tj ET\n`;
}

/** An operator that draws a picture. */
export function place(index: number, x: number, y: number, width: number, height: number): string {
  return `q ${width} 0 0 ${height} ${x} ${y} cm /picture${index} Do Q\n`;
}

export function writePlainPdf(pages: readonly PlainPage[]): Uint8Array {
  const objects: (string | Uint8Array)[][] = [[], [], []];
  const add = (...parts: (string | Uint8Array)[]) => objects.push(parts);
  const numbers = pages.map((page) => {
    const pictures = (page.pictures ?? []).map(({ bytes, width, height }) =>
      add(
        `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 ` +
          `/Filter /DCTDecode /Length ${bytes.length} >>\nstream\n`,
        bytes,
        "\nendstream",
      ),
    );
    const annotations = (page.annotations ?? []).map(({ rectangle, appearance }) => {
      const [left = 0, bottom = 0, right = 0, top = 0] = rectangle;
      const form = add(
        `<< /Type /XObject /Subtype /Form /BBox [0 0 ${right - left} ${top - bottom}] /Resources << /Font << /sans 3 0 R >> >> ` +
          `/Length ${appearance.length} >>\nstream\n${appearance}\nendstream`,
      );
      return add(`<< /Type /Annot /Subtype /Widget /F 4 /Rect [${rectangle.join(" ")}] /AP << /N ${form} 0 R >> >>`);
    });
    const content = add(`<< /Length ${page.content.length} >>\nstream\n${page.content}\nendstream`);
    const [width, height] = page.size ?? [595, 842];
    const list = (names: readonly number[]) => names.map((number) => `${number} 0 R`).join(" ");
    const named = pictures.map((number, index) => `/picture${index} ${number} 0 R`).join(" ");
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${page.rotate ?? 0} /Contents ${content} 0 R ` +
        `/Annots [${list(annotations)}] /Resources << /Font << /sans 3 0 R >> /XObject << ${named} >> >> >>`,
    );
  });
  objects[0] = ["<< /Type /Catalog /Pages 2 0 R >>"];
  objects[1] = [
    `<< /Type /Pages /Count ${pages.length} /Kids [${numbers.map((number) => `${number} 0 R`).join(" ")}] >>`,
  ];
  objects[2] = ["<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"];
  const body = objects.map((parts, index) =>
    Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      ...parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)),
      Buffer.from("\nendobj\n"),
    ]),
  );
  // pdfium rebuilds the table of objects if there is none.
  const trailer = Buffer.from(`trailer << /Size ${objects.length + 1} /Root 1 0 R >>\n%%EOF\n`);
  return Buffer.concat([Buffer.from("%PDF-1.4\n"), ...body, trailer]);
}
