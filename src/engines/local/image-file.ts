// Reads picture files: the size in the header is checked before anything is decoded, and the orientation of cameras is applied.

import { refuseInput } from "../../providers/task.ts";

export interface ReadImageOptions {
  /** The member of the input that holds the file. */
  readonly member: string;
  /** The formats that the engine accepts, for the message about others. */
  readonly formats: string;
  /** The size to scale to. */
  fit(width: number, height: number): readonly [width: number, height: number];
  /** 0 to 9. */
  readonly compressionLevel: number;
}

export interface ImageFile {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly format: string;
}

// The pictures of a 50-megapixel camera, with a margin. Decoding takes 256 MB for a moment.
export const maxInputPixels = 64_000_000;
const maxSide = 20_000;

/** The picture as PNG. Of an animation, it is the first frame. */
export async function readImage(bytes: Uint8Array, options: ReadImageOptions): Promise<ImageFile> {
  try {
    const image = new Bun.Image(bytes, { maxPixels: maxInputPixels });
    const { width, height, format } = await image.metadata();
    checkSize(width, height, options.member);
    const [newWidth, newHeight] = options.fit(width, height);
    if (newWidth !== width || newHeight !== height) image.resize(newWidth, newHeight);
    const png = await image.png({ compressionLevel: options.compressionLevel }).bytes();
    return { png, width: image.width, height: image.height, format };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const message = describeError(code, options.formats);
    if (message === null) throw error;
    return refuseInput(options.member, message);
  }
}

export function checkSize(width: number, height: number, member: string): void {
  if (Math.max(width, height) <= maxSide && width * height <= maxInputPixels) return;
  const limits = `at most ${maxInputPixels / 1e6} megapixels and ${maxSide} a side can be read`;
  refuseInput(member, `The picture measures ${width} × ${height}; ${limits}.`);
}

/** Null: the error is not caused by the file. */
function describeError(code: string, formats: string): string | null {
  if (code === "ERR_IMAGE_FORMAT_UNSUPPORTED")
    return `Pictures of this format cannot be decoded on this machine. Send ${formats}.`;
  if (code === "ERR_IMAGE_TOO_MANY_PIXELS") return `The picture has more than ${maxInputPixels / 1e6} megapixels.`;
  return code.startsWith("ERR_IMAGE_") ? "The picture is damaged, or not a picture." : null;
}
