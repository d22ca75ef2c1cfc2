// TIFF files.

interface GreyPage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Grey pages without compression, one after the other. */
export function toTiff(pages: readonly GreyPage[]): Uint8Array {
  const parts: Buffer[] = [Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0])];
  let length = 8;
  let pointer: { buffer: Buffer; at: number } = { buffer: parts[0] as Buffer, at: 4 };
  for (const { width, height, pixels } of pages) {
    const pixelOffset = length;
    parts.push(Buffer.from(pixels));
    length += pixels.length;
    const entries = [
      [256, width],
      [257, height],
      [258, 8],
      [259, 1],
      [262, 1],
      [273, pixelOffset],
      [277, 1],
      [278, height],
      [279, pixels.length],
    ] as const;
    const directory = Buffer.alloc(2 + entries.length * 12 + 4);
    directory.writeUInt16LE(entries.length);
    for (const [index, [tag, value]] of entries.entries()) {
      directory.writeUInt16LE(tag, 2 + index * 12);
      directory.writeUInt16LE(4, 4 + index * 12);
      directory.writeUInt32LE(1, 6 + index * 12);
      directory.writeUInt32LE(value, 10 + index * 12);
    }
    pointer.buffer.writeUInt32LE(length, pointer.at);
    pointer = { buffer: directory, at: directory.length - 4 };
    parts.push(directory);
    length += directory.length;
  }
  return Buffer.concat(parts);
}
