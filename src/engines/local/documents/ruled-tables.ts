// Tables with drawn rules. The rules that meet form a grid, and a missing rule between two of its cells makes them one.

import type { Page, Word } from "./page.ts";
import { toRows } from "./rows.ts";
import type { Rule, Rules } from "./rules.ts";
import { hasHeader, type Table, type TableCell, type TableRow } from "./table.ts";
import { toGridRow } from "./table-columns.ts";
import { joinLines, splitRows } from "./table-rows.ts";

export interface RuledTables {
  readonly tables: readonly { readonly table: Table; readonly top: number }[];
  /** The words in these tables. */
  readonly words: ReadonlySet<Word>;
}

export interface Grid {
  /** The positions of the rules, relative to the page. */
  readonly xs: readonly number[];
  readonly ys: readonly number[];
  readonly rules: Rules;
}

/** A cell of the grid, or several without a rule between them. */
interface Area {
  readonly row: number;
  readonly column: number;
  readonly rowSpan: number;
  readonly span: number;
  readonly words: Word[];
}

// Relative to the page.
const touching = 0.006;
const sameRule = 0.005;
const minOverhang = 0.02;
const maxRules = 400;
const maxColumns = 60;
// A grid with fewer rows than that may have rules around its head and its body only.
const fewRows = 3;

export function findRuledTables(page: Page, rules: Rules): RuledTables {
  const words = new Set<Word>();
  const tables = findGrids(rules).flatMap((grid) => {
    const inside = wordsIn(grid, page, words);
    const rows = toTableRows(grid, inside, page);
    const filled = rows.filter((cells) => cells.some((cell) => cell !== null)).length;
    if (filled < 2) return [];
    for (const word of inside) words.add(word);
    const table: Table = { columns: grid.xs.length - 1, rows, hasHeader: hasHeader(rows) };
    return [{ table, top: grid.ys[0] ?? 0 }];
  });
  return { tables, words };
}

/** Rules that touch each other, directly or through others, belong to one grid. */
export function findGrids({ horizontal, vertical }: Rules): Grid[] {
  const across = longest(horizontal);
  const down = longest(vertical);
  const groups = createGroups(across.length + down.length);
  for (const [h, one] of across.entries())
    for (const [v, other] of down.entries()) if (meet(one, other)) groups.join(h, across.length + v);
  return groups.list().flatMap((members) => {
    const horizontal = members.flatMap((index) => across[index] ?? []);
    const vertical = members.flatMap((index) => down[index - across.length] ?? []);
    const own: Rules = { horizontal, vertical: dropStrokes(vertical, horizontal) };
    const xs = addEnds(toPositions(own.vertical), own.horizontal);
    const ys = addEnds(toPositions(own.horizontal), own.vertical);
    const isGrid = xs.length >= 3 && ys.length >= 3 && xs.length <= maxColumns + 1;
    return isGrid ? [{ xs, ys, rules: own }] : [];
  });
}

function longest(rules: readonly Rule[]): Rule[] {
  return rules.toSorted((one, other) => other.to - other.from - (one.to - one.from)).slice(0, maxRules);
}

function meet(across: Rule, down: Rule): boolean {
  const isWithin = (at: number, { from, to }: Rule) => at >= from - touching && at <= to + touching;
  return isWithin(down.at, across) && isWithin(across.at, down);
}

/**
 * Without the strokes of letters. On a low picture they are long enough for rules, and those of two rows form one that crosses a rule. A rule, or another
 * piece of it, begins or ends at a rule or at an end of the grid.
 */
function dropStrokes(down: readonly Rule[], across: readonly Rule[]): Rule[] {
  const start = down.reduce((least, { from }) => Math.min(least, from), 1);
  const end = down.reduce((most, { to }) => Math.max(most, to), 0);
  const ends = [start, end, ...across.map(({ at }) => at)];
  const anchored = down.filter(({ from, to }) =>
    ends.some((at) => Math.abs(at - from) <= touching || Math.abs(at - to) <= touching),
  );
  return down.filter((rule) => anchored.some(({ at }) => Math.abs(at - rule.at) <= sameRule));
}

function createGroups(count: number) {
  const parents = Array.from({ length: count }, (_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parents[root] !== root) root = parents[root] ?? root;
    for (let at = index; at !== root; ) [at, parents[at]] = [parents[at] ?? root, root];
    return root;
  };
  return {
    join(one: number, other: number) {
      parents[rootOf(one)] = rootOf(other);
    },
    isJoined: (one: number, other: number) => rootOf(one) === rootOf(other),
    list: () => [...Map.groupBy(parents.keys(), rootOf).values()],
  };
}

function toPositions(rules: readonly Rule[]): number[] {
  const positions: number[] = [];
  for (const { at } of rules.toSorted((one, other) => one.at - other.at)) {
    const last = positions.at(-1);
    if (last === undefined || at - last > sameRule) positions.push(at);
  }
  return positions;
}

/** A table may be open at the sides: there, the rules in the other direction end without meeting one. */
function addEnds(positions: readonly number[], crossing: readonly Rule[]): number[] {
  const start = crossing.reduce((least, rule) => Math.min(least, rule.from), 1);
  const end = crossing.reduce((most, rule) => Math.max(most, rule.to), 0);
  const [first = 1, last = 0] = [positions[0], positions.at(-1)];
  return [...(start < first - minOverhang ? [start] : []), ...positions, ...(end > last + minOverhang ? [end] : [])];
}

/** The words inside the grid that no other table has. */
function wordsIn({ xs, ys }: Grid, page: Page, taken: ReadonlySet<Word>): Word[] {
  const isInside = (at: number, positions: readonly number[]) =>
    at > (positions[0] ?? 1) && at < (positions.at(-1) ?? 0);
  const words = page.lines.flatMap((line) => line.words);
  return words.filter((word) => !taken.has(word) && isInside(centreOf(word).x, xs) && isInside(centreOf(word).y, ys));
}

function centreOf({ box }: Word): { x: number; y: number } {
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}

function toTableRows(grid: Grid, words: readonly Word[], page: Page): TableRow[] {
  const columns = grid.xs.length - 1;
  const areas = toAreas(grid);
  for (const word of words) {
    const { x, y } = centreOf(word);
    const [row, column] = [indexOf(grid.ys, y), indexOf(grid.xs, x)];
    areas[row * columns + column]?.words.push(word);
  }
  return Array.from({ length: grid.ys.length - 1 }, (_, row) => {
    const own = areas.slice(row * columns, (row + 1) * columns);
    if (grid.ys.length - 1 <= fewRows) {
      const several = splitBody(
        grid,
        own.flatMap((area) => (area.row === row ? area.words : [])),
        page,
      );
      if (several !== null) return several;
    }
    return [own.map((area, column) => (area.row === row && area.column === column ? toCell(area, page) : null))];
  }).flat();
}

/** The area of each cell of the grid. */
function toAreas({ xs, ys, rules }: Grid): Area[] {
  const [columns, rows] = [xs.length - 1, ys.length - 1];
  const groups = createGroups(columns * rows);
  const isSeparated = (at: number, between: number, candidates: readonly Rule[]) =>
    candidates.some(
      (rule) => Math.abs(rule.at - at) <= sameRule && rule.from - touching <= between && rule.to + touching >= between,
    );
  const middle = (positions: readonly number[], index: number) =>
    ((positions[index] ?? 0) + (positions[index + 1] ?? 0)) / 2;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const cell = row * columns + column;
      if (column + 1 < columns && !isSeparated(xs[column + 1] ?? 0, middle(ys, row), rules.vertical))
        groups.join(cell, cell + 1);
      if (row + 1 < rows && !isSeparated(ys[row + 1] ?? 0, middle(xs, column), rules.horizontal))
        groups.join(cell, cell + columns);
    }
  }
  const areas: Area[] = [];
  for (const cells of groups.list()) {
    const rowsOf = cells.map((cell) => Math.floor(cell / columns));
    const columnsOf = cells.map((cell) => cell % columns);
    const [row, column] = [Math.min(...rowsOf), Math.min(...columnsOf)];
    const area = { row, column, rowSpan: Math.max(...rowsOf) - row + 1, span: Math.max(...columnsOf) - column + 1 };
    const shared: Area = { ...area, words: [] };
    for (const cell of cells) areas[cell] = shared;
  }
  return areas;
}

function indexOf(positions: readonly number[], at: number): number {
  let index = 0;
  while (index + 2 < positions.length && at > (positions[index + 1] ?? 1)) index++;
  return index;
}

/** The rows of a body without rules between its rows; null: it is one row. */
function splitBody(grid: Grid, words: readonly Word[], page: Page): TableRow[] | null {
  const columns = grid.xs.slice(1).map((right, index) => ({
    left: (grid.xs[index] ?? 0) * page.width,
    right: right * page.width,
  }));
  const lines = toLines(words, page).map((row) => toGridRow(row, columns, page.width));
  const rows = splitRows(lines, []).map(joinLines);
  const full = rows.filter((cells) => cells.filter((cell) => cell !== null).length >= 2).length;
  return full < 2 || full < rows.length / 2 ? null : rows;
}

function toLines(words: readonly Word[], page: Page) {
  return toRows({
    ...page,
    lines: [{ text: "", words, box: { left: 0, top: 0, width: 0, height: 0 }, confidence: null }],
  });
}

function toCell({ words, span, rowSpan }: Area, page: Page): TableCell | null {
  if (words.length === 0) return null;
  const ordered = toLines(words, page).flatMap((row) => row.cells.flatMap((cell) => cell.words));
  return {
    text: ordered.map((word) => word.text).join(" "),
    words: ordered,
    left: words.reduce((least, { box }) => Math.min(least, box.left), 1) * page.width,
    right: words.reduce((most, { box }) => Math.max(most, box.left + box.width), 0) * page.width,
    span,
    rowSpan,
  };
}
