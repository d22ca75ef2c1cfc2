// video/text_detection_async: the lines of text that OCR reads in the frames of a video.

import { type SeenText, toVideoTexts } from "../../../providers/shapes/video.ts";
import { readDocument, readerPackages } from "../documents/document-reader.ts";
import { asSent } from "../documents/page.ts";
import { type Pixels, writePixels } from "../vision/pixels.ts";
import { createVideoEngine } from "./sampled-video.ts";

// Recognition takes seconds per frame. Text that is on the screen for less than the distance between two frames may be missed.
const maxFrames = 180;
/** Each pixel differs from the frame before by less than this, on average, of 255: the text is still the same. */
const sameDifference = 2;
const limits = { pages: 1, scannedPages: 1, advice: "" };
/** In noise, single characters are recognised everywhere. */
const minCharacters = 2;
const minConfidence = 0.5;

export const textDetection = createVideoEngine({
  task: "video/text_detection_async",
  packages: readerPackages,
  maxFrames,
  width: 1_280,
  async load() {
    return ({ input }) => {
      let last: { readonly pixels: Pixels; readonly lines: readonly Omit<SeenText, "time">[] } | null = null;
      return async ({ pixels, time }): Promise<SeenText[]> => {
        if (last === null || differenceOf(last.pixels, pixels) > sameDifference)
          last = { pixels, lines: await readLines(pixels, input.language ?? null) };
        return last.lines.map((line) => ({ ...line, time }));
      };
    };
  },
  toOutput: toVideoTexts,
});

async function readLines(pixels: Pixels, language: string | null): Promise<Omit<SeenText, "time">[]> {
  const { bytes, mediaType } = await writePixels(pixels, "png");
  const file = { name: "frame.png", mediaType, bytes };
  const pages = await readDocument(file, { language, limits, onProgress() {} });
  return pages
    .flatMap((page) => asSent(page).lines)
    .flatMap(({ text, box, confidence }) => {
      const score = confidence ?? 0;
      return text.length < minCharacters || score < minConfidence ? [] : [{ text, confidence: score, box }];
    });
}

function differenceOf(a: Pixels, b: Pixels): number {
  if (a.data.length !== b.data.length) return 255;
  let sum = 0;
  for (let at = 0; at < a.data.length; at++) sum += Math.abs((a.data[at] as number) - (b.data[at] as number));
  return sum / (a.data.length * 0.75);
}
