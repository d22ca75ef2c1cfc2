// Barcodes and QR codes in a picture, by zxing compiled to WebAssembly.

import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";
import type { Picture } from "./picture.ts";

export interface Barcode {
  readonly value: string;
  readonly type: string;
}

interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export const barcodePackage = "zxing-wasm";

const maxCodes = 20;

export async function loadBarcodeReader(): Promise<(picture: Picture) => Promise<Barcode[]>> {
  const { prepareZXingModule, readBarcodes } =
    await importPackage<typeof import("zxing-wasm/reader")>("zxing-wasm/reader");
  // Without the binary, the package would download it.
  const { bytes } = await readModelFile(barcodePackage, "dist/reader/zxing_reader.wasm");
  prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(bytes).buffer } });
  return async (picture) => {
    // The package also accepts pixels, but as a type of browsers that the compiler does not know here.
    const codes = await readBarcodes(toReadable(picture) as Uint8Array, {
      tryHarder: true,
      maxNumberOfSymbols: maxCodes,
    });
    return codes.filter((code) => code.isValid).map(({ text, format }) => ({ value: text, type: format }));
  };
}

/** The package decodes files such as PNG and JPEG, but not the greymaps of PDF pages. */
function toReadable({ bytes, width, height }: Picture): Uint8Array | Pixels {
  if (bytes[0] !== 0x50 || bytes[1] !== 0x35) return bytes;
  const grey = bytes.subarray(bytes.length - width * height);
  const colours = new Uint32Array(width * height);
  for (let index = 0; index < colours.length; index++) colours[index] = ((grey[index] ?? 255) * 0x010101) | 0xff000000;
  return { data: new Uint8ClampedArray(colours.buffer), width, height };
}
