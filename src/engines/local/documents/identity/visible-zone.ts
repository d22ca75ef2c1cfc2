// Finds the labelled values of the visible zone: after the label, in the next cell, or below. Labels may be printed in several languages.

import { foldCase } from "../fold-case.ts";
import type { Cell, Row } from "../rows.ts";
import { fieldLabels, type LabelledField } from "./field-labels.ts";

export interface LabelledText {
  readonly field: LabelledField;
  /** The texts in which the value may stand, the most likely first. */
  readonly texts: readonly string[];
  /** The lines below the first text, in the same column. */
  readonly more: readonly string[];
  /** The label as printed. */
  readonly label: string;
}

interface Phrase {
  readonly words: readonly string[];
  readonly field: LabelledField;
}

interface Segment {
  readonly field: LabelledField | null;
  readonly label: string;
  readonly text: string;
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const maxRows = 400;

const wordPattern = /[\p{L}\p{N}°º№]+(?:'\p{L}+)*/gu;
const phrases = new Map<string, Phrase[]>();
for (const [field, languages] of Object.entries(fieldLabels) as [LabelledField, Readonly<Record<string, string>>][]) {
  for (const phrase of Object.values(languages).flatMap((list) => list.split("|"))) {
    const words = tokenise(foldCase(phrase)).map(({ text }) => text);
    const [first = ""] = words;
    phrases.set(first, [...(phrases.get(first) ?? []), { words, field }]);
  }
}
for (const [first, list] of phrases)
  phrases.set(
    first,
    list.toSorted((one, other) => other.words.length - one.words.length),
  );

export function findLabelledTexts(rows: readonly Row[]): LabelledText[] {
  const split = rows
    .slice(0, maxRows)
    .map((row) => row.cells.map((cell) => ({ cell, segments: splitCell(cell.text) })));
  const isLabel = (segments: readonly Segment[]) => segments[0] !== undefined && segments[0].field !== null;
  return split.flatMap((cells, index) =>
    cells.flatMap(({ cell, segments }, column) =>
      segments.flatMap((segment, position) => {
        if (segment.field === null) return [];
        const isLast = position === segments.length - 1;
        const next = cells[column + 1];
        const beside = isLast && next !== undefined && !isLabel(next.segments) ? [firstText(next.segments)] : [];
        const below = isLast ? readBelow(split, rows, index, cell) : [];
        const inline = segment.text === "" ? [] : [segment.text];
        const texts = inline.length > 0 ? inline : [...beside, ...below.slice(0, 1)];
        const more = inline.length > 0 || beside.length > 0 ? below : below.slice(1);
        return [{ field: segment.field, label: segment.label, texts, more }];
      }),
    ),
  );
}

function firstText(segments: readonly Segment[]): string {
  return segments[0]?.text ?? "";
}

/** The lines below a cell in the same column, down to the next label. */
function readBelow(
  split: readonly (readonly { readonly cell: Cell; readonly segments: readonly Segment[] }[])[],
  rows: readonly Row[],
  from: number,
  cell: Cell,
): string[] {
  const lines: string[] = [];
  let previous = rows[from];
  for (let index = from + 1; index < split.length && lines.length < 3; index++) {
    const row = rows[index];
    if (row === undefined || previous === undefined) break;
    if (row.top - previous.bottom > 2.2 * Math.max(previous.height, row.height)) break;
    const under = split[index]?.filter((other) => other.cell.left < cell.right && cell.left < other.cell.right) ?? [];
    const nearest = under.toSorted(
      (first, second) => Math.abs(first.cell.left - cell.left) - Math.abs(second.cell.left - cell.left),
    )[0];
    if (nearest === undefined) continue;
    if (nearest.segments[0]?.field !== null) break;
    lines.push(firstText(nearest.segments));
    previous = row;
  }
  return lines;
}

const maxCellCharacters = 200;

/** The labels in a cell, each with the text up to the next one. Text before the first label has no field. */
export function splitCell(cellText: string): Segment[] {
  const text = cellText.slice(0, maxCellCharacters);
  const folded = foldCase(text);
  const tokens = tokenise(folded);
  const segments: { field: LabelledField | null; label: string; start: number }[] = [];
  const ends: number[] = [];
  let index = 0;
  let valueStart = 0;
  while (index < tokens.length) {
    const token = tokens[index];
    const phrase = token === undefined ? undefined : matchPhrase(tokens, index);
    if (
      token === undefined ||
      phrase === undefined ||
      !mayStartLabel(
        text,
        token.start,
        valueStart,
        segments.length,
        phrase,
        tokens[index + phrase.words.length - 1]?.end ?? 0,
      )
    ) {
      index++;
      continue;
    }
    const group = readGroup(text, tokens, index, phrase);
    ends.push(token.start);
    segments.push({ field: group.field, label: text.slice(token.start, group.end), start: group.end });
    valueStart = group.end;
    index = group.next;
  }
  if (segments.length === 0) return [{ field: null, label: "", text: text.trim() }];
  const lead = text.slice(0, ends[0]);
  const head = (/\/\s*$/.test(lead) ? "" : lead).replace(/[\s([]*\d{0,2}[a-d]?(?:,\s?\d)?[.)\]]?\s*$/u, "").trim();
  const labelled = segments.map(({ field, label, start }, position) => ({
    field,
    label,
    text: cleanValue(text.slice(start, ends[position + 1] ?? text.length)),
  }));
  return head === "" ? labelled : [{ field: null, label: "", text: head }, ...labelled];
}

/** A label stands at the start of a cell, or after a value if it has several words or a colon. */
function mayStartLabel(
  text: string,
  start: number,
  valueStart: number,
  segmentCount: number,
  phrase: Phrase,
  end: number,
): boolean {
  const before = text.slice(valueStart, start);
  if (/^[\s([]*(?:\d{1,2}[a-d]?(?:,\s?\d)?[.)\]]?\s*)?$/u.test(before))
    return segmentCount === 0 || before.trim() !== "";
  // A translation in an unknown language precedes the label: "Sloinne / Surname".
  if (segmentCount === 0 && /^[^\d:]{2,60}\/\s*$/u.test(before)) return true;
  const hasColon = /^\s{0,2}:/.test(text.slice(end));
  if (hasColon) return /[\s,;/|)]$/.test(before);
  return phrase.words.length > 1 && phrase.words.join("").length > 7 && /\s$/.test(before);
}

/** What stands between the label in one language and in the next: "Nom / Surname", "Name (1)". */
const betweenLabels = /^[\s/|,.:;()[\]*·•–-]*(?:\(?\d{1,2}[a-d]?[.)]?[\s)]*)?$/u;

/** The label with its translations, and the offset at which the value starts. */
function readGroup(text: string, tokens: readonly Token[], from: number, first: Phrase) {
  let field = first.field;
  let next = from + first.words.length;
  let end = tokens[next - 1]?.end ?? text.length;
  while (next < tokens.length) {
    const token = tokens[next];
    if (token === undefined || !betweenLabels.test(text.slice(end, token.start))) break;
    // "Name: Nom" would be a value, but a colon also stands after each of several labels.
    const phrase = matchPhrase(tokens, next);
    if (phrase === undefined) break;
    const isJoined = /[/|,(·•–-]/.test(text.slice(end, token.start));
    if (!isJoined && phrase.field !== first.field && first.field !== "name") break;
    if (!isJoined && text.slice(end, token.start).includes(":")) break;
    if (field === "other" || (field === "name" && phrase.field !== "other")) field = phrase.field;
    next += phrase.words.length;
    end = tokens[next - 1]?.end ?? text.length;
  }
  // A translation in an unknown language follows a slash. The value then stands after a colon or in another cell.
  const rest = text.slice(end);
  const unknown = /^\s*\/\s*[^:\d]*/u.exec(rest)?.[0] ?? "";
  if (unknown !== "" && (rest.charAt(unknown.length) === ":" || unknown.length === rest.length)) {
    end += unknown.length;
    while (next < tokens.length && (tokens[next]?.start ?? 0) < end) next++;
  }
  return { field, next, end };
}

/** Without the number of the field, "(1)", and the signs between a label and its value. */
function cleanValue(text: string): string {
  return text
    .replace(/^[\s)]*\(\d{1,2}\)/, "")
    .replace(/^[\s:.#=)\]–|-]+/, "")
    .trim();
}

function matchPhrase(tokens: readonly Token[], from: number): Phrase | undefined {
  const candidates = phrases.get(tokens[from]?.text ?? "");
  return candidates?.find(({ words }) => words.every((word, index) => tokens[from + index]?.text === word));
}

function tokenise(text: string): Token[] {
  return [...text.matchAll(wordPattern)].map(({ 0: word, index }) => ({
    text: word,
    start: index,
    end: index + word.length,
  }));
}
