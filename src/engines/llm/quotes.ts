// Where in a text a model's quotation stands. Models count badly and quote well: offsets are found here, never believed.

export interface Span {
  /** As JavaScript counts. */
  readonly start: number;
  readonly end: number;
}

const wordCharacter = /[\p{L}\p{N}_]/u;
/** Scripts that put no space between words: there a name may touch what is not part of it. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Every place, whole words where there are such. Quotations with other spacing, quotation marks or case are found too. */
export function findAll(text: string, quote: string): readonly Span[] {
  const wanted = quote.trim();
  if (wanted === "") return [];
  const exact = allExact(text, wanted);
  const found = exact.length > 0 ? exact : allLoose(text, wanted);
  const whole = found.filter((span) => isWholeWord(text, span));
  return whole.length > 0 ? whole : found;
}

/** The first place at or after `from`, else the first of all. */
export function findFrom(text: string, quote: string, from: number): Span | null {
  const found = findAll(text, quote);
  return found.find(({ start }) => start >= from) ?? found[0] ?? null;
}

export function occursIn(text: string, quote: string): boolean {
  return findAll(text, quote).length > 0;
}

/** Offsets and lengths in characters (code points): an emoji is one, whatever a language's own strings count. */
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

function allExact(text: string, quote: string): Span[] {
  const found: Span[] = [];
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + quote.length))
    found.push({ start: at, end: at + quote.length });
  return found;
}

function allLoose(text: string, quote: string): Span[] {
  const source = quote
    .split(/\s+/)
    .map((piece) => Array.from(piece, toPattern).join(""))
    .join("\\s+");
  const pattern = new RegExp(source, "giu");
  return Array.from(text.matchAll(pattern), ({ index, 0: match }) => ({ start: index, end: index + match.length }));
}

function toPattern(character: string): string {
  if ("'’‘".includes(character)) return "['’‘]";
  return '"“”„'.includes(character) ? '["“”„]' : character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
}

function isWholeWord(text: string, { start, end }: Span): boolean {
  return !joins(text, start) && !joins(text, end);
}

/** Whether the characters on both sides of this place belong to one word. */
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
