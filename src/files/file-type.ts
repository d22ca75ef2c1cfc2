// Detects the type of a file from its first bytes: images, audio and video through egress/media-type.ts, here the containers and
// texts of documents.

import { detectMediaType } from "../egress/media-type.ts";

/** Number of bytes that the detection uses. */
export const headBytes = 65_536;

const unknownType = "application/octet-stream";
const plainText = "text/plain";

/** `head`: the first `headBytes` bytes, or all of a shorter file. */
export function detectFileType(head: Buffer, isWhole: boolean): string {
  const found = detectMediaType(isWhole ? head : withoutHalfCharacter(head))?.mediaType ?? null;
  if (found === plainText) return detectText(head.toString("utf8"));
  return found ?? detectContainer(head) ?? unknownType;
}

/** A truncated text may end inside a character, which would make it look like binary data. */
function withoutHalfCharacter(head: Buffer): Buffer {
  for (let back = 1; back <= 3; back += 1) {
    const byte = head[head.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return byte >= 0xc0 ? head.subarray(0, -back) : head;
  }
  return head;
}

const texts: readonly (readonly [pattern: RegExp, mediaType: string])[] = [
  [/^\{\\rtf1?/, "application/rtf"],
  [/^(?:<!--[\s\S]{0,1000}?-->\s*)?<(?:!doctype html|html)[\s>]/i, "text/html"],
  [/^(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!doctype svg[^>]{0,200}>\s*)?<svg[\s>]/i, "image/svg+xml"],
  [/^<\?xml[\s?]/, "application/xml"],
];

function detectText(text: string): string {
  const start = text.replace(/^\ufeff?\s*/, "").slice(0, 2_000);
  const found = texts.find(([pattern]) => pattern.test(start));
  if (found !== undefined) return found[1];
  return isJson(text) ? "application/json" : plainText;
}

/** Only for complete texts: the beginning alone does not show that the JSON is valid. */
function isJson(text: string): boolean {
  if (!/^\ufeff?\s*[[{]/.test(text) || text.length >= headBytes) return false;
  try {
    JSON.parse(text.replace(/^\ufeff/, ""));
    return true;
  } catch {
    return false;
  }
}

const office = "application/vnd.openxmlformats-officedocument.";

/** Names of entries that identify a zip archive; names are not compressed. */
const zipEntries: readonly (readonly [entry: string, mediaType: string])[] = [
  ["word/", `${office}wordprocessingml.document`],
  ["xl/", `${office}spreadsheetml.sheet`],
  ["ppt/", `${office}presentationml.presentation`],
];

/** Names of streams in Microsoft's older container format (OLE); its directory is UTF-16. */
const oleStreams: readonly (readonly [stream: string, mediaType: string])[] = [
  ["WordDocument", "application/msword"],
  ["Workbook", "application/vnd.ms-excel"],
  ["PowerPoint Document", "application/vnd.ms-powerpoint"],
];

function detectContainer(head: Buffer): string | null {
  const start = head.toString("latin1", 0, 8);
  if (start.startsWith("PK\x03\x04")) return detectZip(head);
  if (start.startsWith("PK\x05\x06")) return "application/zip";
  if (start.startsWith("\x1f\x8b")) return "application/gzip";
  if (start === "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    return oleStreams.find(([stream]) => head.includes(stream, 0, "utf16le"))?.[1] ?? "application/x-cfb";
  return null;
}

function detectZip(head: Buffer): string {
  // OpenDocument and EPUB: the first entry is named `mimetype` and holds the type, uncompressed.
  const [, stated] = /^mimetype(application\/[\w.+-]{1,100}?)(?=PK|$)/.exec(head.toString("latin1", 30, 200)) ?? [];
  if (stated !== undefined) return stated;
  if (!head.includes("[Content_Types].xml")) return "application/zip";
  return zipEntries.find(([entry]) => hasZipEntry(head, entry))?.[1] ?? "application/zip";
}

const zipEntryMark = Buffer.from("PK\x03\x04", "latin1");
const zipNameAt = 30;

function hasZipEntry(head: Buffer, prefix: string): boolean {
  for (let at = head.indexOf(zipEntryMark); at !== -1; at = head.indexOf(zipEntryMark, at + 4)) {
    if (head.toString("latin1", at + zipNameAt, at + zipNameAt + prefix.length) === prefix) return true;
  }
  return false;
}
