// Detects the media type of a file from its bytes; the server's header and the file name are not trusted.

export type MediaKind = "image" | "audio" | "video" | "document" | "text";

export interface DetectedMedia {
  readonly mediaType: string;
  /** The kinds that the file may be used as: a video container may hold audio only. */
  readonly kinds: readonly MediaKind[];
}

interface Signature {
  readonly mediaType: string;
  readonly kinds: readonly MediaKind[];
  readonly matches: (bytes: Buffer) => boolean;
}

const image: readonly MediaKind[] = ["image"];
const audio: readonly MediaKind[] = ["audio"];
const video: readonly MediaKind[] = ["video"];
const film: readonly MediaKind[] = ["video", "audio"];

const signatures: readonly Signature[] = [
  { mediaType: "image/png", kinds: image, matches: startsWith("\x89PNG\r\n\x1a\n") },
  { mediaType: "image/jpeg", kinds: image, matches: startsWith("\xff\xd8\xff") },
  { mediaType: "image/gif", kinds: image, matches: (bytes) => /^GIF8[79]a/.test(textAt(bytes, 0, 6)) },
  { mediaType: "image/webp", kinds: image, matches: isRiff("WEBP") },
  { mediaType: "image/avif", kinds: image, matches: hasBrand(/^avi[fs]$/) },
  { mediaType: "image/heic", kinds: image, matches: hasBrand(/^(?:hei[cxms]|hev[cx])$/) },
  { mediaType: "image/heif", kinds: image, matches: hasBrand(/^(?:mif1|msf1)$/) },
  { mediaType: "image/tiff", kinds: image, matches: (bytes) => /^(?:II\*\0|MM\0\*)/.test(textAt(bytes, 0, 4)) },
  { mediaType: "image/bmp", kinds: image, matches: isBitmap },
  { mediaType: "application/pdf", kinds: ["document"], matches: (bytes) => isPdf.test(textAt(bytes, 0, 64)) },
  { mediaType: "audio/wav", kinds: audio, matches: isRiff("WAVE") },
  { mediaType: "audio/flac", kinds: audio, matches: startsWith("fLaC") },
  {
    mediaType: "video/ogg",
    kinds: film,
    matches: (bytes) => isOgg(bytes) && textAt(bytes, 0, 128).includes("\x80theora"),
  },
  { mediaType: "audio/ogg", kinds: audio, matches: isOgg },
  { mediaType: "audio/aiff", kinds: audio, matches: (bytes) => /^FORM....AIF[FC]/s.test(textAt(bytes, 0, 12)) },
  { mediaType: "audio/mpeg", kinds: audio, matches: (bytes) => startsWith("ID3")(bytes) || isMpegFrame(bytes) },
  { mediaType: "audio/aac", kinds: audio, matches: (bytes) => bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xf6) === 0xf0 },
  { mediaType: "audio/mp4", kinds: audio, matches: hasMainBrand(/^M4[AB] $/) },
  { mediaType: "video/quicktime", kinds: film, matches: hasMainBrand(/^qt {2}$/) },
  { mediaType: "video/3gpp", kinds: film, matches: hasMainBrand(/^3g/) },
  { mediaType: "video/mp4", kinds: film, matches: hasMainBrand(/./) },
  { mediaType: "video/webm", kinds: film, matches: (bytes) => isEbml(bytes) && textAt(bytes, 0, 64).includes("webm") },
  { mediaType: "video/x-matroska", kinds: film, matches: isEbml },
  { mediaType: "video/x-msvideo", kinds: video, matches: isRiff("AVI ") },
  { mediaType: "text/plain", kinds: ["text"], matches: isText },
];

/** Null when the format is unknown. */
export function detectMediaType(bytes: Buffer): DetectedMedia | null {
  return signatures.find(({ matches }) => matches(bytes)) ?? null;
}

function textAt(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("latin1", start, end);
}

function startsWith(signature: string): (bytes: Buffer) => boolean {
  return (bytes) => textAt(bytes, 0, signature.length) === signature;
}

function isRiff(form: string): (bytes: Buffer) => boolean {
  return (bytes) => textAt(bytes, 0, 4) === "RIFF" && textAt(bytes, 8, 12) === form;
}

const longestBrandList = 256;

/** The brands of a file of the ISO base media family, its main one first; the four bytes behind that are a version. */
function readBrands(bytes: Buffer): readonly string[] {
  if (bytes.length < 12 || textAt(bytes, 4, 8) !== "ftyp") return [];
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, longestBrandList);
  const brands = [textAt(bytes, 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(textAt(bytes, at, at + 4));
  return brands;
}

function hasMainBrand(pattern: RegExp): (bytes: Buffer) => boolean {
  return (bytes) =>
    readBrands(bytes)
      .slice(0, 1)
      .some((brand) => pattern.test(brand));
}

/** Images often name a general brand first, so the whole list is searched for the specific one. */
function hasBrand(pattern: RegExp): (bytes: Buffer) => boolean {
  return (bytes) => readBrands(bytes).some((brand) => pattern.test(brand));
}

const bitmapHeaderSizes: ReadonlySet<number> = new Set([12, 40, 52, 56, 64, 108, 124]);

/** Two letters are not enough: a text may begin with them. */
function isBitmap(bytes: Buffer): boolean {
  return bytes.length >= 18 && textAt(bytes, 0, 2) === "BM" && bitmapHeaderSizes.has(bytes.readUInt32LE(14));
}

const isPdf = /^(?:\xef\xbb\xbf)?\s*%PDF-\d/;

function isOgg(bytes: Buffer): boolean {
  return textAt(bytes, 0, 4) === "OggS";
}

function isEbml(bytes: Buffer): boolean {
  return textAt(bytes, 0, 4) === "\x1a\x45\xdf\xa3";
}

/** Eleven bits of ones, then a version, layer, bit rate and sample rate that exist. Layer 0 is AAC's. */
function isMpegFrame(bytes: Buffer): boolean {
  const [first = 0, second = 0, third = 0] = bytes;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return false;
  const hasVersion = (second & 0x18) !== 0x08;
  const hasLayer = (second & 0x06) !== 0;
  return hasVersion && hasLayer && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c;
}

// Allowed in text: tab, line feed, form feed, carriage return and escape.
const controls = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

function isText(bytes: Buffer): boolean {
  if (bytes.length === 0) return false;
  try {
    return !controls.test(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return false;
  }
}
