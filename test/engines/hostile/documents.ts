// Small files that unpack to much, point at themselves, or claim to be huge. All are invented.

import { deflateRawSync, deflateSync } from "node:zlib";

export interface HostileFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** What the reader of documents makes of it. */
  readonly outcome: "answered" | "refused";
}

const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** A zip that lists the same content under each of the names. */
export function toZip(names: readonly string[], content: string): Uint8Array {
  const packed = deflateRawSync(content);
  const [name = ""] = names;
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(name.length, 26);
  const directory = names.map((one) => {
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(one.length, 28);
    return Buffer.concat([entry, Buffer.from(one)]);
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(head.length + name.length + packed.length, 16);
  return Buffer.concat([head, Buffer.from(name), packed, ...directory, end]);
}

function packed(content: string): Uint8Array {
  return toZip(["word/document.xml"], content);
}

/** Pages that are their own children, and a drawing that draws itself. */
function toPdf(kids: string, count: number, content: string): Uint8Array {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Count ${count}/Kids[${kids}]>>`,
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</XObject<</A 5 0 R>>>>>>",
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    "<</Type/XObject/Subtype/Form/BBox[0 0 200 200]/Resources<</XObject<</A 5 0 R>>>>/Length 9>>stream\n/A Do /A Do\nendstream",
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj${object}endobj\n`).join("");
  return Buffer.from(`%PDF-1.4\n${body}trailer<</Root 1 0 R/Size 6>>\n%%EOF`, "latin1");
}

/** A picture of zeros that claims so many pixels each way. */
function toPng(side: number): Uint8Array {
  const chunk = (type: string, content: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(type), content]);
    const framed = Buffer.alloc(named.length + 8);
    framed.writeUInt32BE(content.length, 0);
    framed.set(named, 4);
    framed.writeUInt32BE(Bun.hash.crc32(named), named.length + 4);
    return framed;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pixels = deflateSync(Buffer.alloc(1_000_000));
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

export const hostileFiles: readonly HostileFile[] = [
  { name: "one tag of 40 MB.docx", mediaType: docx, bytes: packed(`<${"a".repeat(40_000_000)}`), outcome: "answered" },
  { name: "60 MB.docx", mediaType: docx, bytes: packed(" ".repeat(60_000_000)), outcome: "refused" },
  { name: "deep.docx", mediaType: docx, bytes: packed("<w:tc>".repeat(1_000_000)), outcome: "answered" },
  {
    name: "table.docx",
    mediaType: docx,
    bytes: packed(`<w:tr>${"<w:tc><w:p><w:t>1</w:t></w:p></w:tc>".repeat(20_000)}</w:tr>`),
    outcome: "answered",
  },
  { name: "tags.html", mediaType: "text/html", bytes: Buffer.from("<".repeat(4_000_000)), outcome: "answered" },
  { name: "scripts.html", mediaType: "text/html", bytes: Buffer.from("<script>".repeat(500_000)), outcome: "answered" },
  {
    name: "pages in themselves.pdf",
    mediaType: "application/pdf",
    bytes: toPdf("2 0 R 2 0 R", 1_000_000, ""),
    outcome: "refused",
  },
  {
    name: "a drawing of itself.pdf",
    mediaType: "application/pdf",
    bytes: toPdf("3 0 R", 1, "/A Do"),
    outcome: "answered",
  },
  { name: "60,000 pixels wide.png", mediaType: "image/png", bytes: toPng(60_000), outcome: "refused" },
];
