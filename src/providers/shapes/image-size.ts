// How large an image is, from its first bytes: for vendors that tell boxes in pixels.

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Null for what is no PNG, JPEG, GIF or WebP, or is cut. */
export function readImageSize(bytes: Uint8Array): ImageSize | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint32(0) === 0x89504e47) return { width: view.getUint32(16), height: view.getUint32(20) };
    if (view.getUint16(0) === 0xffd8) return readJpegSize(view);
    if (view.getUint32(0) === 0x47494638) return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (view.getUint32(0) === 0x52494646 && view.getUint32(8) === 0x57454250) return readWebpSize(view);
    return null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Segment by segment, until the one that begins a frame. */
function readJpegSize(view: DataView): ImageSize | null {
  for (let at = 2; ; ) {
    const marker = view.getUint16(at);
    if (marker < 0xff01) return null;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // Any number of fill bytes may precede a marker.
    at += marker === 0xffff ? 1 : 2 + view.getUint16(at + 2);
  }
}

function readWebpSize(view: DataView): ImageSize | null {
  switch (view.getUint32(12)) {
    case 0x56503820:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 0x56503858:
      return { width: readUint24(view, 24) + 1, height: readUint24(view, 27) + 1 };
    default:
      return null;
  }
}

function readUint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
