// Reads the values of the visible zone from the texts beside their labels.

import { foldCase } from "../fold-case.ts";
import type { Row } from "../rows.ts";
import { type DateKind, type DateOrder, findDateOrder, findExpiryDate, findPrintedDate } from "./dates.ts";
import type { LabelledField } from "./field-labels.ts";
import { findNumberedTexts } from "./numbered-fields.ts";
import { findLabelledTexts, type LabelledText } from "./visible-zone.ts";

/** What is printed; null: not found, not readable or ambiguous. */
export interface VisibleValues {
  readonly last_name: string | null;
  readonly given_names: string | null;
  readonly birth_date: string | null;
  readonly birth_place: string | null;
  readonly issuance_date: string | null;
  readonly expire_date: string | null;
  readonly document_id: string | null;
  readonly nationality: string | null;
  readonly gender: string | null;
  readonly address: string | null;
  readonly issuing_state: string | null;
  readonly isNumbered: boolean;
  /** By value: the text in which it is printed. */
  readonly sources: ReadonlyMap<string, string>;
}

type Read = (labelled: LabelledText) => string | null;

export function readVisibleValues(rows: readonly Row[], today: Date, isAmerican: boolean): VisibleValues {
  const labelled = findLabelledTexts(rows);
  const numbered = findNumberedTexts(rows);
  const all = [...labelled, ...numbered];
  const text = rows.map((row) => row.text).join("\n");
  const order = chooseOrder(text, labelled, isAmerican);
  const sources = new Map<string, string>();
  const first = (fields: readonly LabelledField[], read: Read): string | null => {
    for (const field of fields)
      for (const one of all.filter((candidate) => candidate.field === field)) {
        const value = read(one);
        if (value === null) continue;
        // Names and numbers are printed as they are returned, dates in other forms.
        sources.set(value, one.texts.some((text) => text.includes(value)) ? value : (one.texts[0] ?? ""));
        return value;
      }
    return null;
  };
  const readDate = (kind: DateKind) => (one: LabelledText) =>
    firstOf(one.texts, (candidate) => findPrintedDate(candidate, kind, order, today)?.value ?? null);
  const names = readNames(first);
  return {
    ...names,
    birth_date: first(["birth_date", "birth_date_place"], readDate("birth")),
    birth_place: first(["birth_place", "birth_date_place", "birth_date"], (one) => readPlace(one, order, today)),
    issuance_date: first(["issuance_date"], readDate("issue")),
    expire_date: first(["expire_date"], (one) => firstOf(one.texts, (text) => findExpiryDate(text, order, today))),
    document_id: first(["document_id", "person_id"], readDocumentId),
    nationality: first(["nationality"], (one) => firstOf(one.texts, readWords)),
    gender: first(["gender"], (one) => firstOf(one.texts, (candidate) => readGender(candidate, one.label, text))),
    address: first(["address"], readAddressLines),
    issuing_state: first(["issuing_state"], (one) => firstOf(one.texts, readWords)),
    isNumbered: numbered.length > 0,
    sources,
  };
}

function firstOf(texts: readonly string[], read: (text: string) => string | null): string | null {
  for (const text of texts) {
    const value = read(text);
    if (value !== null) return value;
  }
  return null;
}

/** Only documents of the United States put the month first. Labels that are English alone do not tell the country. */
function chooseOrder(text: string, labelled: readonly LabelledText[], isAmerican: boolean): DateOrder {
  const order = findDateOrder(text);
  if (order !== "unknown") return order;
  if (isAmerican) return "month first";
  const isForeign = labelled.some(
    ({ field, label }) => field !== "other" && /[^\x00-\x7f/()]/.test(label.toLowerCase().replace(/[°º’]/g, "")),
  );
  const isTranslated = labelled.some(({ label }) => label.includes("/"));
  const isEuropean = /(?:^|\s)4[ab]\.?\s/im.test(text) && /(?:^|\s)5\.\s/m.test(text);
  return isForeign || isTranslated || isEuropean || !hasEnglishLabels(labelled) ? "day first" : "unknown";
}

const englishDates = /^(?:date of|birth ?date|dob|expir|exp\b|issue|iss\b|valid)/;

function hasEnglishLabels(labelled: readonly LabelledText[]): boolean {
  return labelled.some(({ label }) => englishDates.test(foldCase(label)));
}

function readNames(first: (fields: readonly LabelledField[], read: Read) => string | null) {
  const read = (one: LabelledText) => firstOf(one.texts, readName);
  const last = first(["last_name"], read);
  // Only given names are separated by commas.
  const given = first(["given_names"], (one) => firstOf(one.texts, (text) => readName(text.replace(/,\s*/g, " "))));
  const name = first(["name"], read);
  // The surname stands alone in its line, with a comma at its end.
  const whole = first(
    ["full_name", "full_name_surname_first", "name", "last_name"],
    ({ texts: [text = ""], more: [next = ""] }) =>
      text.endsWith(",") && readName(next) !== null ? `${text} ${next}` : null,
  );
  if (whole !== null) return splitName(whole);
  if (last !== null && given !== null) return { last_name: last, given_names: given };
  // "Name" is the surname beside the given names, and the given names beside the surname.
  if (name !== null && last !== null) return { last_name: last, given_names: name };
  if (name !== null && given !== null) return { last_name: name, given_names: given };
  if (last !== null || given !== null) return { last_name: last, given_names: given };
  const readWhole = (one: LabelledText) => firstOf(one.texts, readFullName);
  const surnameFirst = first(["full_name_surname_first"], readWhole);
  if (surnameFirst !== null) return splitName(surnameFirst, "surname first");
  return splitName(first(["full_name", "name"], readWhole));
}

/** "Surname, Given names" and names of two words can be split. In longer names the surname may have several words. */
function splitName(
  name: string | null,
  order: "surname first" | "surname last" = "surname last",
): { last_name: string | null; given_names: string | null } {
  const [before = "", after, ...others] = (name ?? "").split(/\s*,\s*/);
  if (after !== undefined && others.length === 0) return { last_name: readName(before), given_names: readName(after) };
  const [first = "", second, ...more] = before.split(/\s+/);
  if (second === undefined || more.length > 0) return { last_name: null, given_names: null };
  return order === "surname first"
    ? { last_name: first, given_names: second }
    : { last_name: second, given_names: first };
}

function readName(text: string): string | null {
  const [name = ""] = text.split(/\s+(?:geb\.?|née?|born|épouse|ép\.|usage)\s+/i);
  const clean = name.replace(/\s+/g, " ").trim();
  return /^\p{L}[\p{L}\p{M}\s'’.-]{0,59}$/u.test(clean) ? clean : null;
}

function readFullName(text: string): string | null {
  return /^\p{L}[\p{L}\p{M}\s'’.,-]{2,79}$/u.test(text) ? text : null;
}

function readWords(text: string): string | null {
  return /^\p{L}[\p{L}\p{M}\s'’.()/-]{1,59}$/u.test(text) ? text.trim() : null;
}

/** The place of birth, or what follows the date of birth in the same text. */
function readPlace({ field, texts, more }: LabelledText, order: DateOrder, today: Date): string | null {
  for (const text of texts) {
    const date = findPrintedDate(text, "birth", order, today);
    if (date === null) {
      if (field === "birth_place" && /\p{L}{2}/u.test(text)) return text;
      continue;
    }
    const rest = (date.after === "" ? date.before : date.after).replace(
      /^(?:à|a|in|en|at|w)?\s*[:,–-]?\s+(?=\p{L})|^(?:à|à\s*:)\s*/iu,
      "",
    );
    if (/^\p{L}[\p{L}\p{M}\s'’.,()/-]+$/u.test(rest)) return rest.replace(/^[,:]\s*/, "");
    const [below = ""] = more;
    if (field === "birth_date_place" && rest === "" && /^\p{L}[\p{L}\p{M}\s'’.,()-]+$/u.test(below)) return below;
  }
  return null;
}

function readDocumentId({ texts }: LabelledText): string | null {
  return firstOf(texts, (text) => {
    const [found = ""] = /^[A-Z0-9][A-Z0-9 ./-]{3,22}(?=$|\s{2}|\s\p{L}{4})/u.exec(text) ?? [];
    // "Seria KX nr 123456"
    const value = found.trim().replace(/\s(?:NR|NO|N)\.?\s/, " ");
    const digits = value.match(/\d/g)?.length ?? 0;
    const isDate = /^\d{1,4}[./ -]\d{1,2}[./ -]\d{1,4}$/.test(value);
    return digits >= 3 && !isDate ? value : null;
  });
}

const genders: Readonly<Record<string, string>> = {
  "m|male|mann|masculin|masculino|maschio|maschile|mannlich|man|homme|hombre|varon|v m|m m|mezczyzna|mand|muz|erkek|e m|муж|мужской|м|h|h m|m h|herr|mies":
    "M",
  "f|female|feminin|femenino|feminino|femminile|femmina|weiblich|w|frau|woman|femme|mujer|vrouw|v f|f f|k f|k|kobieta|kvinna|kvinde|kvinne|zena|kadin|жен|женский|ж|nainen|n f|w f|d f|z f|f w|f k|f v":
    "F",
  "x|divers|unspecified|non binary|x x|d x|d": "X",
};
const genderWords = new Map(
  Object.entries(genders).flatMap(([words, gender]) => words.split("|").map((word) => [word, gender] as const)),
);

/** V stands for varón in Spanish documents and for vrouw in Dutch ones; M for mujer in Latin America and for masculino in Spain. */
function readGender(text: string, label: string, page: string): string | null {
  const words = foldCase(text)
    .split(/[\s/,.-]+/)
    .filter((word) => word !== "");
  const [first = ""] = words;
  if (first === "v") {
    if (/sexo/i.test(label)) return "M";
    return /geslacht/i.test(label) ? "F" : null;
  }
  const isSpanish = /\b(?:apellidos|nacimiento|nombres?|domicilio)\b/i.test(page) && !/\bsex\b/i.test(label);
  if (first === "m" && words.length === 1 && isSpanish && !/españa/i.test(page)) return null;
  return genderWords.get(words.slice(0, 2).join(" ")) ?? genderWords.get(first) ?? null;
}

const postalCode = /(?<![\d.])\d{4,6}(?![\d.])|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b|\d{2}-\d{3}/;

/** Further lines belong to the address until one contains a postal code. */
function readAddressLines({ texts, more }: LabelledText): string | null {
  const [first = ""] = texts;
  if (first.length < 4 || first.includes("<")) return null;
  const lines = [first];
  for (const line of more) {
    if (line === "" || line.includes("<") || postalCode.test(lines.at(-1) ?? "")) break;
    lines.push(line);
  }
  return lines.join(", ").slice(0, 200);
}
