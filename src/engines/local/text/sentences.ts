// Splits a text into sentences and words, in any language, and selects among overlapping spans.

export interface Span {
  readonly text: string;
  /** In UTF-16 units. */
  readonly start: number;
}

// Intl.Segmenter ends a sentence after these abbreviations.
const abbreviation =
  /(?:^|[\s("'])(?:Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Gen|Col|Lt|Sgt|Rev|Hon|vs|etc|approx|No|Inc|Ltd|Co|Corp|Dept|Fig|e\.g|i\.e|cf|p|pp|\p{Lu})\.\s*$/u;

export function splitSentences(text: string): Span[] {
  const sentences: Span[] = [];
  let start = 0;
  let open = "";
  for (const { segment } of new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)) {
    open += segment;
    if (abbreviation.test(segment) && open.length < 1_000) continue;
    close();
  }
  close();
  return sentences;

  function close(): void {
    const trimmed = open.trim();
    if (trimmed !== "") sentences.push({ text: trimmed, start: start + open.indexOf(trimmed) });
    start += open.length;
    open = "";
  }
}

/** Drops every span that overlaps a better one. The others are returned in the order of the text. */
export function selectSpans<Found extends Span>(
  found: readonly Found[],
  compare: (a: Found, b: Found) => number,
): Found[] {
  const taken = new Set<number>();
  const selected = found.toSorted(compare).filter(({ text, start }) => {
    const offsets = Array.from({ length: text.length }, (_, index) => start + index);
    if (offsets.some((offset) => taken.has(offset))) return false;
    for (const offset of offsets) taken.add(offset);
    return true;
  });
  return selected.sort((a, b) => a.start - b.start);
}

/** Words only, without spaces and punctuation. */
export function splitWords(text: string, language: string): Span[] {
  const words: Span[] = [];
  for (const { segment, index, isWordLike } of segmenterOf(language).segment(text)) {
    if (isWordLike === true) words.push({ text: segment, start: index });
  }
  return words;
}

function segmenterOf(language: string): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: "word" });
  } catch {
    return new Intl.Segmenter("en", { granularity: "word" });
  }
}
