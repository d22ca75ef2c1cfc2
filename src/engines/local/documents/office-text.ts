// Reads the text of .docx, .odt and .pptx, which are zip files of XML. No package is used, because the file may be a zip bomb: every part is
// unpacked with a limit, and the sizes in the directory are not trusted.

import { inflateRawSync } from "node:zlib";
import { lookUp } from "../../../lib/look-up.ts";
import { refuseInput } from "../../../providers/task.ts";

const maxUnpackedBytes = 50_000_000;

interface Entry {
  readonly name: string;
  readonly offset: number;
  readonly packedSize: number;
  readonly method: number;
  readonly flags: number;
}

/** The XML elements of a format. */
interface Tags {
  /** The element that contains text; null: all elements do. */
  readonly text: string | null;
  readonly line: readonly string[];
  readonly lineBreak: readonly string[];
  readonly tab: readonly string[];
  readonly cell: string;
  readonly row: string;
}

/** Each format has patterns of its parts with text, in the order of reading. The first format of which a part exists is used. */
const formats: readonly { readonly parts: readonly RegExp[]; readonly tags: Tags }[] = [
  {
    parts: [/^word\/header\d*\.xml$/, /^word\/document\.xml$/, /^word\/(?:footnotes|footer\d*)\.xml$/],
    tags: { text: "w:t", line: ["w:p"], lineBreak: ["w:br", "w:cr"], tab: ["w:tab"], cell: "w:tc", row: "w:tr" },
  },
  {
    parts: [/^ppt\/slides\/slide\d+\.xml$/],
    tags: { text: "a:t", line: ["a:p"], lineBreak: ["a:br"], tab: [], cell: "a:tc", row: "a:tr" },
  },
  {
    parts: [/^content\.xml$/],
    tags: {
      text: null,
      line: ["text:p", "text:h"],
      lineBreak: ["text:line-break"],
      tab: ["text:tab", "text:s"],
      cell: "table:table-cell",
      row: "table:table-row",
    },
  },
];

export function readOfficeText(bytes: Uint8Array): string[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Of two parts with the same name, the last one counts.
  const entries = new Map(readDirectory(file).map((entry) => [entry.name, entry]));
  let budget = maxUnpackedBytes;
  for (const { parts, tags } of formats) {
    const found = parts.flatMap((part) => [...entries.values()].filter(({ name }) => part.test(name)).sort(byNumber));
    if (found.length === 0) continue;
    return found.flatMap((entry) => {
      const unpacked = unpack(file, entry, budget);
      budget -= unpacked.length;
      return toLines(unpacked.toString("utf8"), tags);
    });
  }
  return refuseInput("file", "The file is neither a Word, an OpenDocument nor a PowerPoint document.");
}

function byNumber(first: Entry, second: Entry): number {
  const numberOf = ({ name }: Entry) => Number(/\d+/.exec(name)?.[0] ?? 0);
  return numberOf(first) - numberOf(second);
}

const maxEntries = 10_000;
const directorySignature = 0x02014b50;

function readDirectory(file: Buffer): Entry[] {
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

const endSignature = 0x06054b50;

function findEnd(file: Buffer): number {
  // It is the last record of the file. A comment of at most 65,535 bytes may follow.
  for (let at = file.length - 22; at >= Math.max(0, file.length - 65_557); at--) {
    if (file.readUInt32LE(at) === endSignature) return at;
  }
  refuseDamaged();
}

const stored = 0;
const deflated = 8;
const isEncrypted = 1;

function unpack(file: Buffer, entry: Entry, maxOutputLength: number): Buffer {
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

/** The lines of the text. The cells of a table row form one line, separated by tabs. */
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
    if (name === tags.cell && !isEmpty) cellDepth += isEnd ? -1 : 1;
    if (name === tags.cell && isEnd) line += "\t";
    if (name === tags.row && isEnd) endLine();
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
  /** The text up to the next tag. */
  readonly text: string;
}

/** Linear time. A regular expression for tags takes hours for a megabyte of `<`, or of letters without `>`. */
function* readTags(xml: string): Iterable<Tag> {
  let end = -1;
  let next: number;
  for (let start = xml.indexOf("<"); start >= 0; start = next) {
    next = xml.indexOf("<", start + 1);
    if (end < start) end = xml.indexOf(">", start + 1);
    if (end < 0) return;
    // Another tag starts before this one is closed, so this is not a tag.
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
