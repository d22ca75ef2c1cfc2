// OCR with tesseract, compiled to WebAssembly. Its core is called directly, because the wrapper would start another thread and download missing
// languages.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { refuseInput } from "../../../providers/task.ts";
import { checkBytes, findChecksum, readModelFile } from "../checksums.ts";
import { round } from "../numbers.ts";
import { findPackage } from "../resolve-package.ts";
import { cleanPicture } from "./clean-picture.ts";
import { type Line, type Page, type Turned, toBox, toLine, type Word } from "./page.ts";
import type { Picture } from "./picture.ts";
import type { Reading, RecogniseOptions, Recogniser } from "./recogniser.ts";

interface Core {
  readonly FS: {
    writeFile(path: string, bytes: Uint8Array): void;
    readFile(path: string): Uint8Array;
    unlink(path: string): void;
  };
  readonly TessBaseAPI: new () => TesseractApi;
}

interface TesseractApi {
  Init(path: null, languages: string, mode: number): number;
  SetVariable(name: string, value: string): void;
  /** Reads `/input` and rotates it. Returns 1 if it cannot be decoded. */
  SetImageFile(exifOrientation: number, radians: number): number;
  FindLines(): void;
  GetGradient(): number;
  /** Writes the picture to `/image.png`. */
  WriteImage(kind: number): void;
  Recognize(monitor: null): number;
  GetTSVText(page: number): string;
  MeanTextConf(): number;
  Clear(): void;
  End(): void;
}

const neuralNetOnly = 1;
const automaticLayout = "3";
const singleBlock = "6";
const inColour = 0;
// A third of a degree. Rotating by less does not improve the recognition.
const minSlantRadians = 0.005;
// Sauvola's method, which compares each pixel with its surroundings, reads photographs with a dark corner. Otsu's, one threshold for the page, reads
// noise and faded print. It takes up to ten times as long on photographs.
const thresholds = { local: "2", global: "0" } as const;
// Clean pages have more, and are read once.
const clearConfidence = 0.92;
// A rotated page also yields words, but few of them with high confidence.
const doubtfulConfidence = 0.68;
// The text of receipts, cards and forms is shorter. They take half a second each.
const fewCharacters = 800;
const doubtfulSign = 0.3;
const quarterTurns = [90, 180, 270] as const;
/** The EXIF orientations of pictures that must be rotated clockwise by these angles. */
const orientations: Readonly<Record<Turned["degrees"], number>> = { 0: 1, 90: 6, 180: 3, 270: 8 };

/** Whether the package `@tesseract.js-data/<language>` is installed. */
export function isLanguageInstalled(language: string): boolean {
  return findLanguageFile(language) !== null;
}

export async function loadTesseract(): Promise<Recogniser> {
  const core = await loadCore();
  const api = new core.TessBaseAPI();
  const written = new Set<string>();
  let initialised = "";

  const useLanguages = (languages: readonly string[]) => {
    const names = languages.join("+");
    if (names === initialised) return;
    for (const language of languages) {
      if (written.has(language)) continue;
      const file = findLanguageFile(language);
      if (file === null) throw new Error(`The language ${language} is not installed.`);
      const packed = readFileSync(file);
      const key = `@tesseract.js-data/${language}/${languageFile(language)}`;
      if (findChecksum(key) !== undefined) checkBytes(key, packed);
      core.FS.writeFile(`./${language}.traineddata`, gunzipSync(packed));
      written.add(language);
    }
    if (initialised !== "") api.End();
    if (api.Init(null, names, neuralNetOnly) !== 0) throw new Error(`tesseract refused its language data: ${names}`);
    initialised = names;
  };

  return {
    recognise(picture, languages, options = {}) {
      useLanguages(languages);
      api.SetVariable("tessedit_char_whitelist", options.characters ?? "");
      api.SetVariable("thresholding_method", thresholds[options.threshold ?? "local"]);
      core.FS.writeFile("/input", picture.bytes);
      try {
        return recogniseInput(api, picture, options);
      } finally {
        api.Clear();
        core.FS.unlink("/input");
      }
    },
    toPng(picture) {
      // It accepts pictures only with a language.
      if (initialised === "") useLanguages(["eng"]);
      core.FS.writeFile("/input", picture.bytes);
      try {
        if (api.SetImageFile(orientations[0], 0) === 1) refuseDamaged();
        api.WriteImage(inColour);
        return core.FS.readFile("/image.png");
      } finally {
        api.Clear();
        core.FS.unlink("/input");
      }
    },
  };
}

/**
 * Tries the other threshold if the first reading is not clear, and all four orientations if it is doubtful. A page with little text is read again
 * as one block, because the layout analysis leaves out the prices of receipts.
 */
export async function recogniseUpright(
  recogniser: Recogniser,
  original: Picture,
  languages: readonly string[],
): Promise<Page> {
  const picture = await cleanPicture(original);
  const read = (options: RecogniseOptions) => ({ options, reading: recogniser.recognise(picture, languages, options) });
  let best = read({});
  if (best.reading.confidence < clearConfidence) best = better(best, read({ threshold: "global" }), 1);
  if (best.reading.confidence < doubtfulConfidence)
    for (const degrees of quarterTurns) best = better(best, read({ ...best.options, degrees }), 1.2);
  if (countCharacters(best.reading.page) <= fewCharacters)
    best = better(best, read({ ...best.options, isSingleBlock: true }), 1.03);
  return best.reading.page;
}

/** The second has to be better by this factor. */
function better<Read extends { readonly reading: Reading }>(first: Read, second: Read, factor: number): Read {
  return weigh(second.reading) > weigh(first.reading) * factor ? second : first;
}

/** Scores the amount and the confidence of the text. Whole words count more than fragments, and single letters are often noise. */
function weigh({ page }: Reading): number {
  const words = page.lines.flatMap((line) => line.words);
  const scores = words.map(({ text, confidence }) =>
    text.length < 2 ? 0 : text.length ** 1.3 * (confidence ?? 1) ** 2,
  );
  return scores.reduce((total, score) => total + score, 0);
}

function countCharacters(page: Page): number {
  return page.lines.reduce((total, line) => total + line.text.length, 0);
}

function recogniseInput(api: TesseractApi, picture: Picture, options: RecogniseOptions): Reading {
  const mode = options.isSingleBlock ? singleBlock : automaticLayout;
  const { degrees = 0 } = options;
  const orientation = orientations[degrees];
  // Only the automatic layout analysis finds the slant.
  api.SetVariable("tessedit_pageseg_mode", automaticLayout);
  if (api.SetImageFile(orientation, 0) === 1) refuseDamaged();
  api.FindLines();
  const slant = api.GetGradient();
  const radians = Math.abs(slant) >= minSlantRadians ? slant : 0;
  api.SetVariable("tessedit_pageseg_mode", mode);
  if (radians !== 0 || mode !== automaticLayout) api.SetImageFile(orientation, radians);
  api.Recognize(null);
  const liesOnSide = degrees === 90 || degrees === 270;
  const size = { width: picture.width, height: picture.height };
  const shown = liesOnSide ? { width: size.height, height: size.width } : size;
  const turned = radians === 0 && degrees === 0 ? null : { degrees, radians };
  const lines = readTable(api.GetTSVText(0), shown);
  return { page: { ...shown, source: "scan", turned, lines }, confidence: api.MeanTextConf() / 100 };
}

function refuseDamaged(): never {
  return refuseInput("file", "The picture is damaged, or of a format that cannot be read.");
}

/** The columns are level, page, block, paragraph, line, word, left, top, width, height, confidence, text. Level 5 is a word. */
function readTable(table: string, shown: { width: number; height: number }): Line[] {
  const words = table.split("\n").flatMap((row) => {
    const [level, , block, paragraph, line, , left, top, width, height, percent, text = ""] = row.split("\t");
    const confidence = Number(percent) / 100;
    if (level !== "5" || text.trim() === "" || !(confidence >= 0) || isDirt(text, confidence)) return [];
    const [x, y, w, h] = [Number(left), Number(top), Number(width), Number(height)];
    const box = toBox(x / shown.width, y / shown.height, (x + w) / shown.width, (y + h) / shown.height);
    const word: Word = { text: text.trim(), box, confidence: round(Math.min(1, confidence)) };
    return [{ word, line: `${block} ${paragraph} ${line}` }];
  });
  return [...Map.groupBy(words, ({ line }) => line).values()].map((line) => toLine(line.map(({ word }) => word)));
}

/** Specks and hatching are recognised as signs. Words are kept, whatever their confidence, which the caller can judge. */
function isDirt(text: string, confidence: number): boolean {
  return confidence < doubtfulSign && !/[\p{L}\p{N}]/u.test(text);
}

/** The fastest build that the processor supports. */
async function loadCore(): Promise<Core> {
  let failure: unknown;
  for (const build of ["relaxedsimd-lstm", "simd-lstm", "lstm"]) {
    try {
      const { default: createCore } = await import(`tesseract.js-core/tesseract-core-${build}.js`);
      const { bytes } = await readModelFile("tesseract.js-core", `tesseract-core-${build}.wasm`);
      return await createCore({ wasmBinary: bytes, TesseractProgress: ignore, print: ignore, printErr: ignore });
    } catch (error) {
      failure = error;
    }
  }
  throw new Error("tesseract could not be started.", { cause: failure });
}

function ignore(): void {}

function findLanguageFile(language: string): string | null {
  const folder = findPackage(`@tesseract.js-data/${language}`);
  if (folder === null) return null;
  const file = join(folder, languageFile(language));
  return existsSync(file) ? file : null;
}

/** The path in the package of the language. */
function languageFile(language: string): string {
  return `4.0.0_best_int/${language}.traineddata.gz`;
}
