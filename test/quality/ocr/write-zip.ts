// A small writer of zips, for office files: entries deflated, nothing else.

import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly content: string | Uint8Array;
}

export function writeZip(entries: readonly ZipEntry[]): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), shared, tail, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}

/** A Word document of paragraphs and one table. */
export function writeDocx(paragraphs: readonly string[], table: readonly (readonly string[])[] = []): Uint8Array {
  const run = (content: string) => `<w:r><w:t xml:space="preserve">${escapeXml(content)}</w:t></w:r>`;
  const body = paragraphs.map((content) => `<w:p>${run(content)}</w:p>`).join("");
  const rows = table.map(
    (cells) => `<w:tr>${cells.map((cell) => `<w:tc><w:p>${run(cell)}</w:p></w:tc>`).join("")}</w:tr>`,
  );
  const grid = rows.length === 0 ? "" : `<w:tbl>${rows.join("")}</w:tbl>`;
  const namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  return writeZip([
    { name: "[Content_Types].xml", content: contentTypes },
    { name: "_rels/.rels", content: relations },
    {
      name: "word/document.xml",
      content: `<w:document xmlns:w="${namespace}"><w:body>${body}${grid}</w:body></w:document>`,
    },
  ]);
}

const documentType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const contentTypes =
  '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Override PartName="/word/document.xml" ContentType="${documentType}.main+xml"/></Types>`;
const relations =
  '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
  '<Relationship Id="r1" Target="word/document.xml" ' +
  'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>';

function escapeXml(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
