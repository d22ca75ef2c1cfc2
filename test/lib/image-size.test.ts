// The readers of image headers: each format, and bytes that hold no size.

import { describe, expect, test } from "bun:test";
import { readImageSize } from "../../src/lib/image-size.ts";

const size = { width: 320, height: 120 };
const riff = Buffer.from("RIFF0000WEBP");
const chunk = (name: string, hex: string) => Buffer.concat([riff, Buffer.from(name), Buffer.from(hex, "hex")]);

describe("the size of an image is read from", () => {
  test.each([
    ["a PNG", Buffer.from("89504e470d0a1a0a0000000d494844520000014000000078", "hex")],
    ["a GIF", Buffer.from("47494638396140017800000000", "hex")],
    ["a JPEG", Buffer.from("ffd8ffe000044a46ffc00011080078014003012200021101031101", "hex")],
    ["a progressive JPEG after a Huffman table", Buffer.from("ffd8ffc4000400ffffc20011080078014003", "hex")],
    ["a JPEG with the last kind of frame", Buffer.from("ffd8ffcf0011080078014003", "hex")],
    ["a JPEG with fill bytes between segments", Buffer.from("ffd8ffffffe000044a46ffffc00011080078014003", "hex")],
    ["a WebP with an extended header", chunk("VP8X", "0a000000000000003f0100770000")],
    ["a lossless WebP", chunk("VP8L", "000000002f3fc11d00")],
    ["a lossy WebP", chunk("VP8 ", "0000000000000000000040017800")],
  ])("%s", (_, bytes) => {
    expect(readImageSize(bytes)).toEqual(size);
  });
});

test("bytes without a size give null", () => {
  for (const hex of ["", "9999", "89504e47", "ffd8ffe000044a46", "ffd8ffe0", "52494646", "ffd80000"])
    expect(readImageSize(Buffer.from(hex, "hex"))).toBeNull();
  for (const [width, height] of [
    [0, 0],
    [0, 1],
    [1, 0],
  ] as const) {
    const emptyPng = Buffer.alloc(24);
    emptyPng.writeUInt32BE(0x89504e47, 0);
    emptyPng.writeUInt32BE(width, 16);
    emptyPng.writeUInt32BE(height, 20);
    expect(readImageSize(emptyPng)).toBeNull();
  }
});
