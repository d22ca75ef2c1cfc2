// The contract of the engines that recognise text in pictures.

import type { Page, Turned } from "./page.ts";
import type { Picture } from "./picture.ts";

export interface Recogniser {
  /** The languages have tesseract's names and must be installed. */
  recognise(picture: Picture, languages: readonly string[], options?: RecogniseOptions): Reading;
  /** The picture as a PNG: it decodes formats that the runtime does not. */
  toPng(picture: Picture): Uint8Array;
}

export interface Reading {
  readonly page: Page;
  /** 0 to 1. */
  readonly confidence: number;
}

export interface RecogniseOptions {
  /** Only these characters are recognised: `"0123456789"`. */
  readonly characters?: string;
  /** The picture is read as one block of lines without columns. */
  readonly isSingleBlock?: boolean;
  /** How a pixel is judged to be ink: by its surroundings, or by one limit for the whole picture. Default: `local`. */
  readonly threshold?: "local" | "global";
  /** The picture is first rotated clockwise by this angle. */
  readonly degrees?: Turned["degrees"];
}
