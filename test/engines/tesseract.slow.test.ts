// Pictures that tesseract reads only if they are prepared, and words that it doubts. The pictures are made here.

import { beforeAll, expect, test } from "bun:test";
import { type Page, toText } from "../../src/engines/local/documents/page.ts";
import { loadPdfReader } from "../../src/engines/local/documents/pdf.ts";
import { toGreyMap } from "../../src/engines/local/documents/picture.ts";
import type { Recogniser } from "../../src/engines/local/documents/recogniser.ts";
import { loadTesseract, recogniseUpright } from "../../src/engines/local/documents/tesseract.ts";
import { type GreyPicture, photograph, toGreyPicture } from "../quality/ocr/rasters.ts";
import { write, writePlainPdf } from "../support/plain-pdf.ts";

const sentences = ["The ferry leaves at seven", "and comes back before noon.", "Nobody waits for the last boat."];
let tesseract: Recogniser;
let plain: GreyPicture;

beforeAll(async () => {
  tesseract = await loadTesseract();
  const content = sentences.map((text, index) => write(20, 90 - index * 24, text, { size: 14 })).join("");
  using pdf = (await loadPdfReader()).open(writePlainPdf([{ size: [260, 120], content }]));
  plain = toGreyPicture(pdf.draw(0));
});

function read({ width, height, pixels }: GreyPicture): Promise<Page> {
  return recogniseUpright(tesseract, { width, height, bytes: toGreyMap(width, height, pixels) }, ["eng"]);
}

function shade(change: (value: number) => number): GreyPicture {
  return { ...plain, pixels: plain.pixels.map(change) };
}

test.each([
  ["faded print", (value: number) => 150 + (value * 55) / 255],
  ["pale print on grey paper", (value: number) => 190 + (value * 40) / 255],
  ["light print on a dark ground", (value: number) => 255 - value],
] as const)("%s is read", async (_name, change) => {
  expect(toText(await read(shade(change)))).toBe(sentences.join("\n"));
});

test("words that are hardly readable are kept, with a low confidence", async () => {
  const blurred = photograph(plain, { degrees: 0, blur: 5, noise: 40, shade: 0.2 });
  const words = (await read(blurred)).lines.flatMap((line) => line.words);
  expect(words.length).toBeGreaterThan(8);
  expect(Math.min(...words.map((word) => word.confidence ?? 1))).toBeLessThan(0.3);
});
