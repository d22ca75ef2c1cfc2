// Reads how large an image is from its first bytes.

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Null for anything but a PNG, JPEG, GIF or WebP with a size above zero, and when its header is truncated. */
export function readImageSize(bytes: Uint8Array): ImageSize | null {
  try {
    const size = readSize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return size !== null && size.width > 0 && size.height > 0 ? size : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readSize(bytes: Buffer): ImageSize | null {
  if (bytes.readUInt32BE(0) === 0x89504e47) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (bytes.readUInt16BE(0) === 0xffd8) return readJpegSize(bytes);
  if (bytes.toString("latin1", 0, 3) === "GIF") return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  return bytes.toString("latin1", 8, 12) === "WEBP" ? readWebpSize(bytes) : null;
}

/** The frame header, which may follow any number of other segments, contains the size. */
function readJpegSize(bytes: Buffer): ImageSize | null {
  for (let at = 2; ; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker < 0xff01) return null;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // Segments may be preceded by any number of 0xff bytes.
    at += marker === 0xffff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
}

function readWebpSize(bytes: Buffer): ImageSize | null {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}
