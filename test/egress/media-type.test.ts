// The media type of a file from its first bytes. The signatures are those of the formats' specifications; the bytes after them are invented.

import { expect, test } from "bun:test";
import { detectMediaType } from "../../src/egress/media-type.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");
const bitmap = (headerSize: number) => latin1(`BM${"\0".repeat(12)}${String.fromCharCode(headerSize)}\0\0\0\0\0`);
const isoMedia = (...brands: readonly string[]) => {
  const [main = "", ...others] = brands;
  const bytes = latin1(`....ftyp${main}\0\0\u0002\0${others.join("")}`);
  bytes.writeUInt32BE(bytes.length, 0);
  return bytes;
};

const image = ["image"];
const audio = ["audio"];
const film = ["video", "audio"];

const files: readonly (readonly [mediaType: string, kinds: readonly string[], bytes: Buffer])[] = [
  ["image/png", image, latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")],
  ["image/jpeg", image, latin1("\xff\xd8\xff\xe0\0\x10JFIF")],
  ["image/gif", image, latin1("GIF87a\x01\0\x01\0")],
  ["image/gif", image, latin1("GIF89a")],
  ["image/webp", image, latin1("RIFF\x24\0\0\0WEBPVP8 ")],
  ["image/avif", image, isoMedia("avif", "mif1")],
  ["image/avif", image, isoMedia("avis")],
  ["image/avif", image, isoMedia("mif1", "miaf", "avif")],
  ["image/heic", image, isoMedia("heic")],
  ["image/heic", image, isoMedia("mif1", "heic")],
  ["image/heif", image, isoMedia("mif1", "miaf")],
  ["image/tiff", image, latin1("II*\0\x08\0\0\0")],
  ["image/tiff", image, latin1("MM\0*\0\0\0\x08")],
  ...[12, 40, 52, 56, 64, 108, 124].map((size) => ["image/bmp", image, bitmap(size)] as const),
  ["application/pdf", ["document"], latin1("%PDF-1.7\n")],
  ["application/pdf", ["document"], latin1("\xef\xbb\xbf \n%PDF-2.0")],
  ["audio/wav", audio, latin1("RIFF\x24\0\0\0WAVEfmt ")],
  ["audio/flac", audio, latin1("fLaC\0\0\0\x22")],
  ["audio/ogg", audio, latin1(`OggS\0\x02${"\0".repeat(22)}OpusHead`)],
  ["video/ogg", film, latin1(`OggS\0\x02${"\0".repeat(22)}\x80theora`)],
  ["audio/aiff", audio, latin1("FORM\0\0\n\0AIFFCOMM")],
  ["audio/aiff", audio, latin1("FORM\0\0\n\0AIFC")],
  ["audio/mpeg", audio, latin1("ID3\x04\0\0")],
  ["audio/mpeg", audio, latin1("\xff\xfb\x90\x40")],
  ["audio/mpeg", audio, latin1("\xff\xe3\x18\xc4")],
  ["audio/aac", audio, latin1("\xff\xf1\x50\x80")],
  ["audio/aac", audio, latin1("\xff\xf9\x50\x80")],
  ["audio/mp4", audio, isoMedia("M4A ", "isom")],
  ["audio/mp4", audio, isoMedia("M4B ")],
  ["video/quicktime", film, isoMedia("qt  ")],
  ["video/3gpp", film, isoMedia("3gp4")],
  ["video/mp4", film, isoMedia("isom", "M4A ")],
  ["video/mp4", film, isoMedia("mp42")],
  ["video/webm", film, latin1("\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm")],
  ["video/x-matroska", film, latin1("\x1a\x45\xdf\xa3\xa3\x42\x82\x88matroska")],
  ["video/x-msvideo", ["video"], latin1("RIFF\x24\0\0\0AVI LIST")],
  ["text/plain", ["text"], Buffer.from("Grüße\t\r\n\f\x1b[0m 😀")],
  // A text may begin like a file of another format.
  ["text/plain", ["text"], latin1("BMW and others build cars")],
  ["text/plain", ["text"], latin1("RIFFs of songs")],
  ["text/plain", ["text"], latin1("GIF88a, which is no version")],
];

test.each(files)("%s is recognised as usable for %p", (mediaType, kinds, bytes) => {
  expect(detectMediaType(bytes)).toMatchObject({ mediaType, kinds });
});

test.each([
  ["nothing", latin1("")],
  ["zeros", latin1("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")],
  ["a control character", latin1("text with \x07 bell")],
  ["a vertical tab", latin1("a\x0bb")],
  ["invalid UTF-8", latin1("Gr\xfc\xdfe")],
  ["a bitmap with an unknown header", bitmap(13)],
  ["a bitmap that ends in its header", bitmap(40).subarray(0, 17)],
  ["an MPEG frame of a reserved version", latin1("\xff\xeb\x90\x40")],
  ["an MPEG frame of an invalid bit rate", latin1("\xff\xfb\xf0\x40")],
  ["an MPEG frame of a reserved sampling rate", latin1("\xff\xfb\x9c\x40")],
  ["an MPEG frame of a reserved layer", latin1("\xff\xe1\x90\x40")],
  ["too few bits of synchronization", latin1("\xff\xdb\x90\x40")],
  ["a brand that ends too early", isoMedia("isom").subarray(0, 11)],
  ["a RIFF file of another form", latin1("RIFF\x24\0\0\0CDXA")],
])("a file that is %s has no known type", (_title, bytes) => {
  expect(detectMediaType(bytes)).toBeNull();
});

test("only the list of brands is searched for a brand", () => {
  // The list ends before `avif`, which belongs to the next part of the file.
  const short = Buffer.concat([isoMedia("isom"), latin1("avif")]);
  expect(detectMediaType(short)?.mediaType).toBe("video/mp4");
});

test("a list of brands that is too long is searched up to its 256th byte", () => {
  const withOthers = (count: number) => isoMedia("isom", ...Array.from({ length: count }, () => "miaf"), "avif");
  expect(detectMediaType(withOthers(59))?.mediaType).toBe("image/avif");
  expect(detectMediaType(withOthers(60))?.mediaType).toBe("video/mp4");
});
