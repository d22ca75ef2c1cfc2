// The shades of grey of a picture.

import { readPixels } from "../vision/pixels.ts";
import { maxPixels, type Picture } from "./picture.ts";

/** One byte per pixel, row by row. */
export interface GreyPixels {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

const greyMapSignature = "P5";
const tiffSignatures = ["II", "MM"];

/** Null: the runtime cannot decode the picture. */
export async function readGrey({ width, height, bytes }: Picture): Promise<GreyPixels | null> {
  const signature = Buffer.from(bytes.subarray(0, 2)).toString("latin1");
  // The pixels are the end of a portable greymap.
  if (signature === greyMapSignature) return { width, height, pixels: bytes.subarray(bytes.length - width * height) };
  if (tiffSignatures.includes(signature)) return null;
  const { data, ...size } = await readPixels({ name: "", mediaType: "image/png", bytes }, "file", maxPixels);
  const pixels = new Uint8Array(size.width * size.height);
  for (let index = 0; index < pixels.length; index++) {
    const at = index * 4;
    const alpha = (data[at + 3] ?? 255) / 255;
    const shade = 0.299 * (data[at] ?? 255) + 0.587 * (data[at + 1] ?? 255) + 0.114 * (data[at + 2] ?? 255);
    pixels[index] = shade * alpha + 255 * (1 - alpha);
  }
  return { width: size.width, height: size.height, pixels };
}
