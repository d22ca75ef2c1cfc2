// Splits a text where something was found in it.

export interface Span {
  /** In UTF-16 units, as JavaScript counts. */
  readonly start: number;
  readonly end: number;
  readonly category: string;
  readonly detail?: string | undefined;
}

export interface Segment {
  readonly start: number;
  readonly text: string;
  readonly span: Span | null;
}

/** Of spans that overlap, the one that begins first is kept, and of two that begin together the longer one. */
export function toSegments(text: string, spans: readonly Span[]): Segment[] {
  const sorted = spans
    .filter(({ start, end }) => start >= 0 && start < end && end <= text.length)
    .toSorted((one, other) => one.start - other.start || other.end - one.end);
  const segments: Segment[] = [];
  let at = 0;
  for (const span of sorted) {
    if (span.start < at) continue;
    if (span.start > at) segments.push({ start: at, text: text.slice(at, span.start), span: null });
    segments.push({ start: span.start, text: text.slice(span.start, span.end), span });
    at = span.end;
  }
  if (at < text.length) segments.push({ start: at, text: text.slice(at), span: null });
  return segments;
}

/** The gateway counts characters, of which some are two units of UTF-16. */
export function createOffsets(text: string): (characters: number) => number {
  const starts: number[] = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  return (characters) => starts[characters] ?? text.length;
}

const wordCharacter = /[\p{L}\p{N}_]/u;

/** Every occurrence as a whole word, or without such, every occurrence; case is ignored when there is no exact one. */
export function findAll(text: string, wanted: string): { readonly start: number; readonly end: number }[] {
  if (wanted === "") return [];
  const exact = occurrences(text, wanted);
  const found = exact.length > 0 ? exact : occurrences(text.toLowerCase(), wanted.toLowerCase());
  const whole = found.filter(
    ({ start, end }) => !wordCharacter.test(text[start - 1] ?? " ") && !wordCharacter.test(text[end] ?? " "),
  );
  return whole.length > 0 ? whole : found;
}

function occurrences(text: string, wanted: string) {
  const found: { start: number; end: number }[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    found.push({ start: at, end: at + wanted.length });
  return found;
}
