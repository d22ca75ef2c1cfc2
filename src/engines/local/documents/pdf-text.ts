// The embedded text of a PDF page, with the position of every word.

import { refuseInput } from "../../../providers/task.ts";
import { type Line, type Page, type Turned, toLine, turnPage, type Word } from "./page.ts";
import { type Edges, type PdfPage, readFloats, toPageBox } from "./pdfium.ts";

export interface PdfText {
  readonly page: Page;
  /** Lines at other angles than the quarters, such as a watermark across the page. The page does not contain them. */
  readonly slanted: readonly Line[];
  readonly characters: number;
  /** Characters of fonts that do not say which letters they are. */
  readonly unreadable: number;
}

interface PlacedWord extends Word {
  /** Clockwise as shown, in quarters of a turn; null: between the quarters. */
  readonly quarter: number | null;
}

interface OpenWord {
  readonly text: string;
  readonly edges: Edges;
  readonly quarter: number | null;
}

export function readPdfText(page: PdfPage): PdfText {
  const { pdfium, handle, width, height } = page;
  const textPage = pdfium._FPDFText_LoadPage(handle);
  const empty: Page = { width, height, source: "text", turned: null, lines: [] };
  if (textPage === 0) return { page: empty, slanted: [], characters: 0, unreadable: 0 };
  try {
    const { lines, characters, unreadable } = readLines(page, textPage);
    const isSlanted = (line: readonly PlacedWord[]) => line.every((word) => word.quarter === null);
    const upright: Page = { ...empty, lines: lines.filter((line) => !isSlanted(line)).map(toLine) };
    const turned = findTurn(lines.flat());
    return { page: turnPage(upright, turned), slanted: lines.filter(isSlanted).map(toLine), characters, unreadable };
  } finally {
    pdfium._FPDFText_ClosePage(textPage);
  }
}

/** The rotation that makes most of the text upright. */
function findTurn(words: readonly PlacedWord[]): Turned | null {
  const letters = [0, 0, 0, 0];
  for (const { quarter, text } of words) if (quarter !== null) letters[quarter] = (letters[quarter] ?? 0) + text.length;
  const most = letters.indexOf(Math.max(...letters));
  const turns = [null, 270, 180, 90] as const;
  const degrees = turns[most] ?? null;
  return degrees === null ? null : { degrees, radians: 0 };
}

const maxCharactersPerPage = 200_000;

/** The words of each line. pdfium inserts spaces and line breaks according to the layout. */
function readLines(page: PdfPage, textPage: number) {
  const { pdfium } = page;
  const count = pdfium._FPDFText_CountChars(textPage);
  if (count > maxCharactersPerPage)
    refuseInput("file", `A page of the PDF has ${count} characters; at most ${maxCharactersPerPage} can be read.`);
  const rotation = pdfium._FPDFPage_GetRotation(page.handle);
  const lines: PlacedWord[][] = [];
  let line: PlacedWord[] = [];
  let word: OpenWord | null = null;
  let characters = 0;
  let unreadable = 0;

  const endWord = () => {
    if (word !== null)
      line.push({ text: word.text, box: toPageBox(page, word.edges), confidence: null, quarter: word.quarter });
    word = null;
  };
  const endLine = () => {
    endWord();
    if (line.length > 0) lines.push(line);
    line = [];
  };
  for (let index = 0; index < count; index++) {
    const code = pdfium._FPDFText_GetUnicode(textPage, index);
    if (code === 10 || code === 13) {
      endLine();
      continue;
    }
    const character = toCharacter(code);
    if (character.trim() === "") {
      endWord();
      continue;
    }
    characters++;
    if (character === "\ufffd" || pdfium._FPDFText_HasUnicodeMapError(textPage, index) === 1) unreadable++;
    const edges = readCharacterEdges(page, textPage, index);
    if (word === null) {
      const quarter = toQuarter(pdfium._FPDFText_GetCharAngle(textPage, index), rotation);
      if (line.length > 0 && line[0]?.quarter !== quarter) endLine();
      word = { text: character, edges, quarter };
    } else word = extend(word, character, edges);
  }
  endLine();
  return { lines, characters, unreadable };
}

// In quarters of a turn: about four degrees.
const maxSlant = 0.05;

/** The angle is clockwise, in radians, before the rotation of the page. */
function toQuarter(radians: number, rotation: number): number | null {
  const quarters = radians / (Math.PI / 2);
  const nearest = Math.round(quarters);
  return Math.abs(quarters - nearest) > maxSlant ? null : (nearest + rotation) % 4;
}

function toCharacter(code: number): string {
  // pdfium uses these codes for a hyphen at the end of a line.
  if (code === 2 || code === 0xfffe) return "-";
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
  return code < 32 ? " " : String.fromCodePoint(code);
}

function readCharacterEdges(page: PdfPage, textPage: number, index: number): Edges {
  page.pdfium._FPDFText_GetLooseCharBox(textPage, index, page.scratch);
  const [left = 0, top = 0, right = 0, bottom = 0] = readFloats(page, 4);
  return [left, top, right, bottom];
}

function extend({ text, edges, quarter }: OpenWord, character: string, added: Edges): OpenWord {
  return { text: text + character, edges: union(edges, added), quarter };
}

function union([l1, t1, r1, b1]: Edges, [l2, t2, r2, b2]: Edges): Edges {
  return [Math.min(l1, l2), Math.max(t1, t2), Math.max(r1, r2), Math.min(b1, b2)];
}
