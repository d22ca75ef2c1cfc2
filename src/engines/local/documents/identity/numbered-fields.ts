// The numbered fields of driving licences: those of the European Union (1., 2., 3., 4a. …) and of North America (1, 2, 3, 4a …).

import type { Row } from "../rows.ts";
import type { LabelledField } from "./field-labels.ts";
import { type LabelledText, splitCell } from "./visible-zone.ts";

const fieldsByNumber: Readonly<Record<string, LabelledField>> = {
  "1": "last_name",
  "2": "given_names",
  "3": "birth_date_place",
  "4a": "issuance_date",
  "4b": "expire_date",
  "4c": "other",
  "4d": "person_id",
  "5": "document_id",
  "8": "address",
};
const numberPattern = /(?<=^|\s)(1|2|3|4\s?[abcd]|5|7|8|9[a]?|1[0-9])[.):]?\s+(?=\S)/gi;
const maxRows = 200;
// A page with fewer of the numbers at the start of cells is something else, such as a list.
const fewest = 4;

export function findNumberedTexts(rows: readonly Row[]): LabelledText[] {
  const limited = rows.slice(0, maxRows);
  const found = limited.flatMap((row, index) =>
    row.cells.flatMap((cell, column) => {
      const next = row.cells[column + 1]?.text ?? "";
      return splitNumbers(cell.text.slice(0, maxRows)).map(({ number, text }, position, all) => {
        const isAlone = text === "" && position === all.length - 1;
        return {
          number,
          text: isAlone ? next : text,
          more: number === "8" ? linesBelow(limited, index, cell.left) : [],
        };
      });
    }),
  );
  const first = new Map<string, (typeof found)[number]>();
  for (const one of found) if (!first.has(one.number)) first.set(one.number, one);
  const known = ["1", "2", "3", "4a", "4b", "4c", "5"].filter((number) => first.has(number));
  if (known.length < fewest || !first.has("4b")) return [];
  return [...first.values()].flatMap(({ number, text, more }) => {
    const field = Object.hasOwn(fieldsByNumber, number) ? fieldsByNumber[number] : undefined;
    // A label after the number tells more: "4d DLN".
    const isLabelled = splitCell(text)[0]?.field !== null;
    return field === undefined || isLabelled ? [] : [{ field, label: number, texts: [text], more }];
  });
}

function splitNumbers(text: string): { number: string; text: string }[] {
  const marks = [...`${text} `.matchAll(numberPattern)];
  const alone = /^(1|2|3|4\s?[abcd]|5|8)[.):]?$/i.exec(text)?.[1];
  if (alone !== undefined) return [{ number: toNumber(alone), text: "" }];
  // Numbers inside of values are no marks: the marks rise, and the first one starts the cell.
  if (marks[0]?.index !== 0) return [];
  let last = "";
  const rising = marks.filter(([mark, number = ""]) => {
    const isMark = last === "" || (/[.)]/.test(mark) && compare(toNumber(number), last) > 0) || /[a-d]/i.test(number);
    if (isMark) last = toNumber(number);
    return isMark;
  });
  return rising.map((mark, index) => ({
    number: toNumber(mark[1] ?? ""),
    text: text.slice(mark.index + mark[0].length, rising[index + 1]?.index ?? text.length).trim(),
  }));
}

function toNumber(text: string): string {
  return text.replace(/\s/g, "").toLowerCase();
}

function compare(first: string, second: string): number {
  return Number.parseInt(first, 10) - Number.parseInt(second, 10) || (first > second ? 1 : -1);
}

/** The lines of an address below its first line, down to the next number. */
function linesBelow(rows: readonly Row[], from: number, left: number): string[] {
  const lines: string[] = [];
  for (const row of rows.slice(from + 1, from + 3)) {
    const cell = row.cells.find((other) => Math.abs(other.left - left) < 4 * row.height);
    if (cell === undefined || splitNumbers(cell.text).length > 0 || cell.text.includes("<")) break;
    lines.push(cell.text);
  }
  return lines;
}
