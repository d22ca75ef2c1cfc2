// Finds the quotations of a model in the text. Models quote well and count badly, so their offsets are never used.

import { firstFrom } from "../../lib/first-from.ts";

export interface Span {
  /** In UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

export interface Quotes {
  /** Every occurrence; only whole words if there are any. Spacing, quotation marks and case may differ. */
  findAll(quote: string): readonly Span[];
  /** The first occurrence at or after `from`, otherwise the first one. */
  findFrom(quote: string, from: number): Span | null;
}

const wordCharacter = /[\p{L}\p{N}_]/u;
/** Scripts without spaces between words, where a name may be next to other letters. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** A model may list thousands of quotations, so the text is folded once and each different quotation is searched once. */
export function createQuotes(text: string): Quotes {
  const known = new Map<string, readonly Span[]>();
  let folded: Folded | null = null;

  function findAll(quote: string): readonly Span[] {
    const wanted = quote.trim();
    const before = known.get(wanted);
    if (before !== undefined) return before;
    const found = search(wanted);
    known.set(wanted, found);
    return found;
  }

  function search(wanted: string): readonly Span[] {
    if (wanted === "") return [];
    const exact = allIn(text, wanted);
    if (exact.length > 0) return wholeWords(exact);
    folded ??= fold(text);
    const { starts } = folded;
    const loose = allIn(folded.text, fold(wanted).text);
    // A quotation does not end with white space, so it ends where the next folded character starts.
    return wholeWords(loose.map(({ start, end }) => ({ start: starts[start] ?? 0, end: starts[end] ?? 0 })));
  }

  function wholeWords(found: readonly Span[]): readonly Span[] {
    const whole = found.filter((span) => isWholeWord(text, span));
    return whole.length > 0 ? whole : found;
  }

  return {
    findAll,
    findFrom(quote, from) {
      const found = findAll(quote);
      return found[firstFrom(found, from, ({ start }) => start)] ?? found[0] ?? null;
    },
  };
}

interface Folded {
  readonly text: string;
  /** The start of each UTF-16 unit of the folded text in the original, then the end of the original. */
  readonly starts: Uint32Array;
}

/** Converts to lower case, one space for consecutive white space, and one form of each quotation mark. */
function fold(text: string): Folded {
  const pieces: string[] = [];
  // No character becomes longer.
  const starts = new Uint32Array(text.length + 1);
  let length = 0;
  let at = 0;
  let isInSpace = false;
  for (const character of text) {
    const isSpace = /\s/.test(character);
    if (!(isSpace && isInSpace)) {
      const plain = isSpace ? " " : foldCharacter(character);
      for (let unit = 0; unit < plain.length; unit++) starts[length + unit] = at;
      length += plain.length;
      pieces.push(plain);
    }
    isInSpace = isSpace;
    at += character.length;
  }
  starts[length] = at;
  return { text: pieces.join(""), starts: starts.subarray(0, length + 1) };
}

function foldCharacter(character: string): string {
  if ("’‘".includes(character)) return "'";
  if ("“”„".includes(character)) return '"';
  const lower = character.toLowerCase();
  return lower.length === character.length ? lower : character;
}

/** Converts to offsets and lengths in code points. */
export function createOffsets(text: string): (span: Span) => { offset: number; length: number } {
  if (!/[\ud800-\udfff]/.test(text)) return ({ start, end }) => ({ offset: start, length: end - start });
  const charactersBefore = new Uint32Array(text.length + 1);
  for (let at = 0; at < text.length; at++)
    charactersBefore[at + 1] = (charactersBefore[at] ?? 0) + (isTrail(text.charCodeAt(at)) ? 0 : 1);
  return ({ start, end }) => {
    const offset = charactersBefore[start] ?? 0;
    return { offset, length: (charactersBefore[end] ?? 0) - offset };
  };
}

function isTrail(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function allIn(text: string, quote: string): Span[] {
  const found: Span[] = [];
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + quote.length))
    found.push({ start: at, end: at + quote.length });
  return found;
}

function isWholeWord(text: string, { start, end }: Span): boolean {
  return !joins(text, start) && !joins(text, end);
}

/** Whether the characters before and after this index belong to one word. */
function joins(text: string, at: number): boolean {
  const before = characterBefore(text, at);
  const after = at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : "";
  return isWordCharacter(before) && isWordCharacter(after);
}

function isWordCharacter(character: string): boolean {
  return wordCharacter.test(character) && !unspaced.test(character);
}

function characterBefore(text: string, at: number): string {
  if (at === 0) return "";
  return isTrail(text.charCodeAt(at - 1)) ? text.slice(Math.max(0, at - 2), at) : text.charAt(at - 1);
}
