// The type of an uploaded file from its first bytes: containers and texts of documents. The signatures are those of the formats'
// specifications; the content is invented.

import { expect, test } from "bun:test";
import { detectFileType, headBytes } from "../../src/files/file-type.ts";

const office = "application/vnd.openxmlformats-officedocument.";
const zipEntry = (name: string, content = "") => `PK\x03\x04${"\0".repeat(26)}${name}${content}`;
const contentTypes = zipEntry("[Content_Types].xml", "<Types>");
const oleStart = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const ole = (stream: string) => oleStart + Buffer.from(stream, "utf16le").toString("latin1");

test.each([
  ["application/zip", zipEntry("readme.txt", "text")],
  ["application/zip", zipEntry("word/document.xml")],
  ["application/zip", contentTypes + zipEntry("other/word/document.xml")],
  ["application/zip", "PK\x05\x06\0\0"],
  ["application/gzip", "\x1f\x8b\x08\0"],
  [`${office}wordprocessingml.document`, contentTypes + zipEntry("_rels/.rels") + zipEntry("word/document.xml")],
  [`${office}spreadsheetml.sheet`, contentTypes + zipEntry("xl/workbook.xml")],
  [`${office}presentationml.presentation`, contentTypes + zipEntry("ppt/presentation.xml")],
  ["application/epub+zip", zipEntry("mimetype", "application/epub+zip") + zipEntry("META-INF/")],
  ["application/vnd.oasis.opendocument.text", zipEntry("mimetype", "application/vnd.oasis.opendocument.text")],
  ["application/msword", ole("WordDocument")],
  ["application/vnd.ms-excel", ole("Workbook")],
  ["application/vnd.ms-powerpoint", ole("PowerPoint Document")],
  ["application/x-cfb", ole("Something")],
  ["application/rtf", "{\\rtf1\\ansi hello}"],
  ["text/html", "\n <!DOCTYPE html><title>x</title>"],
  ["text/html", "<!-- a comment --> <html lang='en'>"],
  ["image/svg+xml", '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ["application/xml", '<?xml version="1.0"?><feed/>'],
  ["application/json", ' {"a": [1]}'],
  ["application/json", "[1]"],
  ["text/plain", '{"a": 1'],
  ["text/plain", "1"],
  ["text/plain", "just text"],
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["application/octet-stream", "\0\x01\x02"],
  ["application/octet-stream", oleStart.slice(0, 7)],
])("%s is recognised", (mediaType, content) => {
  expect(detectFileType(Buffer.from(content, "latin1"), true)).toBe(mediaType);
});

test("a byte-order mark does not hide what a text is", () => {
  expect(detectFileType(Buffer.from('\ufeff{"a":1}'), true)).toBe("application/json");
  expect(detectFileType(Buffer.from("\ufeff<html>"), true)).toBe("text/html");
});

test("a long text may be cut inside a character of any length", () => {
  for (const character of ["é", "€", "😀"]) {
    const bytes = Buffer.from(character);
    for (let length = 1; length <= bytes.length; length += 1) {
      const head = Buffer.concat([Buffer.from("text "), bytes.subarray(0, length)]);
      expect([character, length, detectFileType(head, false)]).toEqual([character, length, "text/plain"]);
    }
    // A whole file that ends so is damaged.
    const damaged = Buffer.concat([Buffer.from("text "), bytes.subarray(0, -1)]);
    expect(detectFileType(damaged, true)).toBe("application/octet-stream");
  }
  expect(detectFileType(Buffer.from("plain text"), false)).toBe("text/plain");
  // Only the cut-off character is left out: binary data before it is noticed.
  expect(detectFileType(Buffer.from("\0text é").subarray(0, -1), false)).toBe("application/octet-stream");
  expect(detectFileType(Buffer.from("text \x80\x80\x80\x80", "latin1"), false)).toBe("application/octet-stream");
});

test("JSON is recognised only in a whole file", () => {
  const list = (length: number) => Buffer.from(`[${" ".repeat(length - 2)}]`);
  expect(detectFileType(list(headBytes - 1), true)).toBe("application/json");
  expect(detectFileType(list(headBytes), false)).toBe("text/plain");
});
