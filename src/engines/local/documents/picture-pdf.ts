// Writes a PDF whose pages are pictures and nothing else: no text, no metadata, no attachments.

export interface PicturePage {
  readonly jpeg: Uint8Array;
  readonly pixelWidth: number;
  readonly pixelHeight: number;
  /** In points. */
  readonly width: number;
  readonly height: number;
}

const objectsPerPage = 3;
const firstPageObject = 3;

export function writePicturePdf(pages: readonly PicturePage[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const offsets: number[] = [];
  let length = 0;
  const write = (part: string | Uint8Array) => {
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    parts.push(bytes);
    length += bytes.length;
  };
  const writeObject = (...content: readonly (string | Uint8Array)[]) => {
    offsets.push(length);
    write(`${offsets.length} 0 obj\n`);
    for (const part of content) write(part);
    write("\nendobj\n");
  };
  write("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
  const kids = pages.map((_, index) => `${firstPageObject + index * objectsPerPage} 0 R`);
  writeObject("<< /Type /Catalog /Pages 2 0 R >>");
  writeObject(`<< /Type /Pages /Count ${pages.length} /Kids [${kids.join(" ")}] >>`);
  for (const { jpeg, pixelWidth, pixelHeight, width, height } of pages) {
    const [content, picture] = [offsets.length + 2, offsets.length + 3];
    const resources = `/Resources << /XObject << /Picture ${picture} 0 R >> >>`;
    writeObject(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${toNumber(width)} ${toNumber(height)}] /Contents ${content} 0 R ${resources} >>`,
    );
    const drawing = `q ${toNumber(width)} 0 0 ${toNumber(height)} 0 0 cm /Picture Do Q`;
    writeObject(`<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`);
    const size = `/Width ${pixelWidth} /Height ${pixelHeight} /ColorSpace /DeviceRGB /BitsPerComponent 8`;
    writeObject(
      `<< /Type /XObject /Subtype /Image ${size} /Filter /DCTDecode /Length ${jpeg.length} >>\nstream\n`,
      jpeg,
      "\nendstream",
    );
  }
  const start = length;
  write(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n`);
  for (const offset of offsets) write(`${String(offset).padStart(10, "0")} 00000 n \n`);
  write(`trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(parts);
}

/** PDF has no exponents. */
function toNumber(value: number): string {
  return value.toFixed(3);
}
