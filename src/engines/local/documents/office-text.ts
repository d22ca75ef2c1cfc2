// The text of files that are a zip of XML: .docx, .odt, .pptx. Read here rather than by a package because what a stranger sends may
// be a bomb: every part is unpacked with a limit, whatever the directory claims about its size.

import { inflateRawSync } from "node:zlib";
import { lookUp } from "../../../lib/look-up.ts";
import { refuseInput } from "../../../providers/task.ts";

const maxUnpackedBytes = 50_000_000;
const maxEntries = 10_000;
const endSignature = 0x06054b50;
const directorySignature = 0x02014b50;
const stored = 0;
const deflated = 8;
const isEncrypted = 1;

interface Entry {
  readonly name: string;
  readonly offset: number;
  readonly packedSize: number;
  readonly method: number;
  readonly flags: number;
}

interface Format {
  /** Which parts hold text, in this order. */
  parts(names: readonly string[]): string[];
  toLines(xml: string): string[];
}

const formats: readonly Format[] = [
  {
    parts: (names) => [
      ...names.filter((name) => /^word\/header\d*\.xml$/.test(name)),
      ...names.filter((name) => name === "word/document.xml"),
      ...names.filter((name) => /^word\/(footnotes|footer\d*)\.xml$/.test(name)),
    ],
    toLines: (xml) =>
      toLines(xml, {
        text: "w:t",
        line: ["w:p"],
        lineBreak: ["w:br", "w:cr"],
        tab: ["w:tab"],
        cell: ["w:tc"],
        row: ["w:tr"],
      }),
  },
  {
    parts: (names) => names.filter((name) => /^ppt\/slides\/slide\d+\.xml$/.test(name)).toSorted(bySlideNumber),
    toLines: (xml) =>
      toLines(xml, { text: "a:t", line: ["a:p"], lineBreak: ["a:br"], tab: [], cell: ["a:tc"], row: ["a:tr"] }),
  },
  {
    parts: (names) => (names.includes("word/document.xml") ? [] : names.filter((name) => name === "content.xml")),
    toLines: (xml) =>
      toLines(xml, {
        text: null,
        line: ["text:p", "text:h"],
        lineBreak: ["text:line-break"],
        tab: ["text:tab", "text:s"],
        cell: ["table:table-cell"],
        row: ["table:table-row"],
      }),
  },
];

export function readOfficeText(bytes: Uint8Array): string[] {
  const entries = readDirectory(bytes);
  const names = entries.map((entry) => entry.name);
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  let budget = maxUnpackedBytes;
  for (const format of formats) {
    const parts = format.parts(names);
    if (parts.length === 0) continue;
    return [...new Set(parts)].flatMap((part) => {
      const entry = byName.get(part);
      if (entry === undefined) return [];
      const unpacked = unpack(bytes, entry, budget);
      budget -= unpacked.length;
      return format.toLines(unpacked.toString("utf8"));
    });
  }
  refuseInput("file", "The file is neither a Word, an OpenDocument nor a PowerPoint document.");
}

function bySlideNumber(first: string, second: string): number {
  return Number(/\d+/.exec(first)?.[0]) - Number(/\d+/.exec(second)?.[0]);
}

function readDirectory(bytes: Uint8Array): Entry[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const end = findEnd(file);
    const count = file.readUInt16LE(end + 10);
    if (count > maxEntries) refuseInput("file", "The document has too many parts.");
    const entries: Entry[] = [];
    let at = file.readUInt32LE(end + 16);
    for (let index = 0; index < count; index++) {
      if (file.readUInt32LE(at) !== directorySignature) refuseDamaged();
      const nameLength = file.readUInt16LE(at + 28);
      entries.push({
        name: file.toString("utf8", at + 46, at + 46 + nameLength),
        flags: file.readUInt16LE(at + 8),
        method: file.readUInt16LE(at + 10),
        packedSize: file.readUInt32LE(at + 20),
        offset: file.readUInt32LE(at + 42),
      });
      at += 46 + nameLength + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
    }
    return entries;
  } catch (error) {
    if (error instanceof RangeError) refuseDamaged();
    throw error;
  }
}

function findEnd(file: Buffer): number {
  // The last record of a zip, before a comment of at most 65,535 bytes.
  for (let at = file.length - 22; at >= Math.max(0, file.length - 65_557); at--) {
    if (file.readUInt32LE(at) === endSignature) return at;
  }
  refuseDamaged();
}

function unpack(bytes: Uint8Array, entry: Entry, maxOutputLength: number): Buffer {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if ((entry.flags & isEncrypted) !== 0) refuseInput("file", "The document is encrypted. Send it without a password.");
  try {
    const start = entry.offset + 30 + file.readUInt16LE(entry.offset + 26) + file.readUInt16LE(entry.offset + 28);
    const packed = file.subarray(start, start + entry.packedSize);
    if (entry.method === stored) return packed;
    if (entry.method !== deflated) refuseDamaged();
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, maxOutputLength) });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") {
      refuseInput("file", `The document unpacks to more than ${maxUnpackedBytes / 1e6} MB.`);
    }
    if (error instanceof Error && error.name === "ValidationError") throw error;
    refuseDamaged();
  }
}

function refuseDamaged(): never {
  refuseInput("file", "The document is damaged, or not of the type that its name says.");
}

interface Tags {
  /** The element that alone holds text; null: any. */
  readonly text: string | null;
  readonly line: readonly string[];
  readonly lineBreak: readonly string[];
  readonly tab: readonly string[];
  readonly cell: readonly string[];
  readonly row: readonly string[];
}

/** One pass over the tags; the cells of a table's row stand in one line, with tabs between them. */
function toLines(xml: string, tags: Tags): string[] {
  const lines: string[] = [];
  let line = "";
  let isText = tags.text === null;
  let cellDepth = 0;
  const endLine = () => {
    if (line.trim() !== "") lines.push(line.trim());
    line = "";
  };
  for (const { isEnd, isEmpty, name, text } of readTags(xml)) {
    if (name === tags.text) isText = !isEnd && !isEmpty;
    if (tags.cell.includes(name) && !isEmpty) cellDepth += isEnd ? -1 : 1;
    if (tags.cell.includes(name) && isEnd) line += "\t";
    if (tags.row.includes(name) && isEnd) endLine();
    if (tags.tab.includes(name) && !isEnd) line += name === "text:s" ? " " : "\t";
    const endsLine = tags.lineBreak.includes(name) || (tags.line.includes(name) && isEnd);
    if (endsLine && cellDepth > 0) line += " ";
    else if (endsLine) endLine();
    if (isText && text !== "") line += decodeEntities(text);
  }
  endLine();
  return lines;
}

interface Tag {
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  readonly name: string;
  /** Up to the next tag. */
  readonly text: string;
}

/** In one pass that looks at no character twice: a pattern for tags takes hours for a megabyte of `<` or of letters without `>`. */
function* readTags(xml: string): Iterable<Tag> {
  let end = -1;
  let next: number;
  for (let start = xml.indexOf("<"); start >= 0; start = next) {
    next = xml.indexOf("<", start + 1);
    if (end < start) end = xml.indexOf(">", start + 1);
    if (end < 0) return;
    // A tag holds no other: this one is not closed.
    if (next >= 0 && next < end) continue;
    const [, slash, name] = /^(\/?)([\w:.-]{1,100})(?![\w:.-])/.exec(xml.slice(start + 1, end)) ?? [];
    if (name === undefined) continue;
    const text = xml.slice(end + 1, next < 0 ? undefined : next);
    yield { isEnd: slash === "/", isEmpty: xml[end - 1] === "/", name, text };
  }
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

export function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|\w{2,8});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return lookUp(entities, name.toLowerCase()) ?? whole;
    const code = name[1]?.toLowerCase() === "x" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}
