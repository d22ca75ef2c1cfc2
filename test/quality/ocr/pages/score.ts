// How close recognised text is to what is printed.

export interface TextScore {
  /** Share of the printed words that were read, in any order. */
  readonly recall: number;
  /** Levenshtein distance over the number of printed characters. */
  readonly errorRate: number;
}

export function scoreText(read: string, truth: string): TextScore {
  const [actual, expected] = [normalise(read), normalise(truth)];
  return { recall: wordRecall(actual, expected), errorRate: distance(actual, expected) / Math.max(1, expected.length) };
}

/** Spelling variants of the same sign do not count: quotes, dashes, the width of spaces. Chinese and Japanese have no spaces. */
export function normalise(content: string): string {
  return content
    .normalize("NFKC")
    .replace(/[‘’‚´`]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/[‐‑‒–—−]/g, "-")
    .replace(/[•·●]/g, "·")
    .replace(/。/g, ".")
    .replace(/、/g, ",")
    .replace(/\s+/g, " ")
    .replace(/ ?([\u3000-\u30ff\u4e00-\u9fff]) ?/g, "$1")
    .trim();
}

function wordRecall(actual: string, expected: string): number {
  const left = new Map<string, number>();
  for (const word of wordsOf(actual)) left.set(word, (left.get(word) ?? 0) + 1);
  const wanted = wordsOf(expected);
  const found = wanted.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  });
  return wanted.length === 0 ? 1 : found.length / wanted.length;
}

/** A Chinese or Japanese character counts as a word. */
function wordsOf(content: string): string[] {
  return content.match(/[\u3040-\u30ff\u4e00-\u9fff]|[^\s\u3040-\u30ff\u4e00-\u9fff]+/g) ?? [];
}

export function distance(actual: string, expected: string): number {
  const wanted = [...expected];
  let previous = Uint32Array.from({ length: wanted.length + 1 }, (_, index) => index);
  let current = new Uint32Array(wanted.length + 1);
  for (const [row, character] of [...actual].entries()) {
    current[0] = row + 1;
    for (let column = 1; column <= wanted.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (wanted[column - 1] === character ? 0 : 1);
      current[column] = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
    }
    [previous, current] = [current, previous];
  }
  return previous[wanted.length] ?? 0;
}

export interface FoundCell {
  readonly text: string | null;
  readonly row_index: number | null;
  readonly col_index: number | null;
}

/** The number of cells whose text is at its row and column in the table that has most of them. */
export function countCells(tables: readonly (readonly FoundCell[])[], cells: readonly (readonly string[])[]): number {
  const key = (content: string) => normalise(content).replace(/ /g, "").toLowerCase();
  const counts = tables.map((table) => {
    const at = new Map(table.map(({ text, row_index, col_index }) => [`${row_index},${col_index}`, key(text ?? "")]));
    // A title that was taken for the first row moves all others.
    const shifts = [0, 1, 2].map(
      (shift) => cells.flatMap((row, r) => row.filter((cell, c) => at.get(`${r + shift},${c}`) === key(cell))).length,
    );
    return Math.max(...shifts);
  });
  return Math.max(0, ...counts);
}
