// What a file is, told from its first bytes. Beyond pictures, sound and films, which the egress room knows, the containers and
// texts that documents come in.

import { detectMediaType } from "../egress/media-type.ts";

/** As many bytes as are looked at. */
export const headBytes = 65_536;

const unknownType = "application/octet-stream";
const plainText = "text/plain";

/** `head`: the first bytes, at least `headBytes` of them where there are so many. */
export function detectFileType(head: Buffer, isWhole: boolean): string {
  const found = detectMediaType(isWhole ? head : withoutHalfCharacter(head))?.mediaType ?? null;
  if (found === plainText) return detectText(head.toString("utf8"));
  return found ?? detectContainer(head) ?? unknownType;
}

/** A text that is cut may end in the middle of a character, which would make it seem no text at all. */
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

/** Only where all of it was seen: a beginning proves nothing. */
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

/** Names of entries that tell what a zip archive is; they stand uncompressed in it. */
const zipEntries: readonly (readonly [entry: string, mediaType: string])[] = [
  ["word/", `${office}wordprocessingml.document`],
  ["xl/", `${office}spreadsheetml.sheet`],
  ["ppt/", `${office}presentationml.presentation`],
];

/** Names of streams in Microsoft's older container, in the encoding that its directory has. */
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
  // OpenDocument and EPUB: the first entry is called `mimetype` and holds it, uncompressed.
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
