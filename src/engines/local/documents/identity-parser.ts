// ocr/identity_parser: reads the machine-readable zone of passports and identity cards with its check digits, and labelled fields. It does not
// check whether a document is genuine.

import { fillMembers } from "../fill-members.ts";
import { mapValues } from "../map-values.ts";
import { round } from "../numbers.ts";
import { importPackage } from "../resolve-package.ts";
import { findCountry } from "./countries.ts";
import { createDocumentEngine } from "./document-engine.ts";
import { drawPages, getRecogniser } from "./document-reader.ts";
import { findLabelled } from "./labels.ts";
import { type Page, toText } from "./page.ts";
import type { Picture } from "./picture.ts";
import { type Row, toRows } from "./rows.ts";
import { findDate } from "./values.ts";

type Mrz = typeof import("mrz");
type ParseResult = ReturnType<Mrz["parse"]>;

interface Value {
  readonly value: string | null;
  readonly confidence: number | null;
}

interface Zone {
  readonly lines: readonly string[];
  readonly result: ParseResult;
  readonly validShare: number;
}

const task = "ocr/identity_parser";
const zoneCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<";
/** The lines of a zone and their length: passports, older cards and visas, cards. */
const zoneForms = [
  { count: 2, length: 44 },
  { count: 2, length: 36 },
  { count: 3, length: 30 },
];
const maxPages = 4;
const zoneConfidence = 0.95;
// Nothing confirms a value that was read from a label, or from a zone with a wrong check digit.
const labelConfidence = 0.5;
const nothing: Value = { value: null, confidence: null };

const readWords = (text: string) => (/^[\p{L}\s'’.-]{2,60}$/u.test(text) ? text : null);
// Passports print dates with spaces: 15 02 2021.
const readDate = (text: string) => findDate(text.replace(/^(\d{2}) (\d{2}) (\d{4})$/, "$1.$2.$3"));

/** The labels of each field, and how its value is read. */
const fields = mapValues(
  {
    last_name: ["surname|last name|family name|nom|name", readWords],
    given_names: ["given names?|first names?|forenames?|prénoms?|vornamen?", readWords],
    birth_date: ["date of birth|birth date|dob|born|date de naissance|geburtsdatum", readDate],
    birth_place: [
      "place of birth|birth ?place|lieu de naissance|geburtsort",
      (text) => (/\p{L}{2}/u.test(text) ? text : null),
    ],
    issuance_date: ["date of issue|issue date|issued(?: on)?|date de délivrance|ausstellungsdatum", readDate],
    expire_date: [
      "date of expiry|expiry date|expiration date|expires|valid until|date d['’]expiration|gültig bis",
      readDate,
    ],
    document_id: [
      "(?:passport|document|card|id|licen[cs]e) (?:no\\.?|number)",
      (text) => /^[A-Z0-9][A-Z0-9 -]{4,14}$/.exec(text)?.[0] ?? null,
    ],
    nationality: ["nationality|nationalité|staatsangehörigkeit", readWords],
    gender: ["sex|gender|sexe|geschlecht", (text) => /^(?:M|F|X)\b/.exec(text)?.[0] ?? null],
    address: ["address|adresse|anschrift|residence", (text) => (text.length >= 5 ? text : null)],
  },
  ([labels, read]: readonly [string, (text: string) => string | null]) => ({ label: toLabel(labels), read }),
);
const documentTypes = [
  [/\bpassport\b|\bpasseport\b|\breisepass\b/i, "passport"],
  [/\bdriv(?:er|ing)['’]?s?\s+licen[cs]e\b|\bpermis de conduire\b|\bführerschein\b/i, "driving licence"],
  [/\bresidence permit\b|\btitre de séjour\b/i, "residence permit"],
  [/\bidentity card\b|\bcarte nationale\b|\bpersonalausweis\b|\bID card\b/i, "identity card"],
] as const;
/** By the document code in the zone. */
const zoneTypes = [
  [/^P/, "passport"],
  [/^V/, "visa"],
  [/^[IAC]/, "identity card"],
] as const;

export const identityParser = createDocumentEngine({
  task,
  packages: ["mrz"],
  async load() {
    const mrz = await importPackage<Mrz>("mrz");
    return async (pages, { files }) => {
      const hasScans = pages.some((page) => page.source === "scan");
      const pictures = hasScans ? await drawPages(files["file"], maxPages) : [];
      const today = new Date();
      const papers = [];
      for (const [index, page] of pages.slice(0, maxPages).entries()) {
        const picture = page.source === "scan" ? pictures[index] : undefined;
        const texts = picture === undefined ? [toText(page)] : [toText(page), await readZoneText(picture, page)];
        const paper = toPaper(findZone(mrz, texts), toRows(page), today);
        if (paper !== null) papers.push(paper);
      }
      return fillMembers(task, { extracted_data: papers });
    };
  },
});

/** Reads the page again with only the characters of the machine-readable zone allowed. */
async function readZoneText(picture: Picture, page: Page): Promise<string> {
  const recogniser = await getRecogniser();
  const degrees = page.turned?.degrees ?? 0;
  const options = { characters: zoneCharacters, isSingleBlock: true, minConfidence: 0, degrees };
  return toText(recogniser.recognise(picture, ["eng"], options).page);
}

/** Tries all combinations of the lines of several readings, and returns the one with the most valid check digits. */
function findZone(mrz: Mrz, texts: readonly string[]): Zone | null {
  const readings = texts.map((text) =>
    text
      .split("\n")
      .map(cleanLine)
      .filter((line) => line.length >= 24),
  );
  const zones = zoneForms.flatMap(({ count, length }) =>
    combineLines(readings, count).flatMap((lines) => parseVariants(mrz, lines, length)),
  );
  const best = zones.reduce<Zone | null>(
    (one, other) => (other.validShare > (one?.validShare ?? -1) ? other : one),
    null,
  );
  // Half of the fields are valid in any text of the right length.
  return best !== null && best.validShare > 0.6 ? best : null;
}

/** Consecutive lines, each taken from any of the readings, because a line may be misread in only one of them. */
function combineLines(readings: readonly (readonly string[])[], count: number): string[][] {
  const last = readings.map((lines) => lines.slice(-count));
  const choices = Array.from({ length: count }, (_, index) =>
    last.flatMap((lines) => (lines.length === count ? [lines[index] ?? ""] : [])),
  );
  const adjacent = readings.flatMap((lines) => lines.map((_, start) => lines.slice(start, start + count)));
  return [...cross(choices), ...adjacent].filter((lines) => lines.length === count);
}

/** The zones of all ways to fit the lines to the length. */
function parseVariants(mrz: Mrz, lines: readonly string[], length: number): Zone[] {
  const nameLine = lines.length === 2 ? 0 : 2;
  const variants = lines.map((line, index) => fitLine(line, length, index === nameLine));
  return cross(variants)
    .filter((fitted) => fitted.some((line) => line.includes("<")))
    .flatMap((fitted) => parseZone(mrz, fitted) ?? []);
}

function parseZone(mrz: Mrz, lines: readonly string[]): Zone | null {
  try {
    const result = mrz.parse(lines, { autocorrect: true });
    const checked = result.details.filter((detail) =>
      /CheckDigit|Date|State|nationality|sex|documentCode/i.test(detail.field ?? ""),
    );
    const valid = checked.filter((detail) => detail.valid).length;
    return { lines, result, validShare: checked.length === 0 ? 0 : valid / checked.length };
  } catch {
    return null;
  }
}

/** All ways to choose one of each. */
function cross(choices: readonly (readonly string[])[]): string[][] {
  return choices.reduce<string[][]>(
    (heads, options) => heads.flatMap((head) => options.map((option) => [...head, option])),
    [[]],
  );
}

function cleanLine(line: string): string {
  return line
    .toUpperCase()
    .replace(/[«‹]/g, "<")
    .replace(/\s+/g, "")
    .replace(/[^A-Z0-9<]/g, "");
}

/** Possible originals of a line, with the required length. Fill characters are misread as K, L, C, S or E, doubled or lost. */
function fitLine(line: string, length: number, isNames: boolean): string[] {
  const filled = line
    .replace(/<[<KLCSEZX]{3,}$/, (tail) => "<".repeat(tail.length))
    .replace(/<{2}[<KLCSE]{2,}<{2}/g, (run) => "<".repeat(run.length));
  // Only fill follows the names, so the number of fill characters does not matter.
  if (isNames)
    return line.length < length - 8 || line.length > length + 16 ? [] : [filled.padEnd(length, "<").slice(0, length)];
  const surplus = filled.length - length;
  if (Math.abs(surplus) > 6) return [];
  // The last character of the other lines is a check digit, so missing fill belongs before it.
  if (surplus <= 0) return [filled.slice(0, -1) + "<".repeat(-surplus) + filled.slice(-1)];
  const shorter = filled.replace(new RegExp(`<{${surplus}}(?=[A-Z0-9]{1,2}$)`), "").slice(0, length);
  // A character may have been read as two, such as 8 as B8. The check digits decide which one is dropped.
  const doubled =
    surplus === 1 ? Array.from(filled, (_, index) => filled.slice(0, index) + filled.slice(index + 1)) : [];
  return [shorter, ...doubled];
}

function toPaper(zone: Zone | null, rows: readonly Row[], today: Date) {
  const labelled = mapValues(fields, ({ label, read }) => toValue(findLabelled(rows, label, read), labelConfidence));
  if (zone === null && labelled.document_id.value === null && labelled.last_name.value === null) return null;
  const inZone = zone?.result.fields ?? {};
  const isValid = (name: string) => zone?.result.details.find((detail) => detail.field === name)?.valid === true;
  const isChecked = (name: string) => isValid(name) && isValid(`${name}CheckDigit`);
  const fromZone = (name: keyof typeof inZone, isCertain = isValid(name)) =>
    toValue(inZone[name] || null, isCertain ? zoneConfidence : labelConfidence);
  const dateFromZone = (name: "birthDate" | "expirationDate", isThisCentury: (year: number) => boolean) =>
    toValue(toIsoDate(inZone[name], isThisCentury), isChecked(name) ? 0.99 : labelConfidence);
  const birthDate = or(
    dateFromZone("birthDate", (year) => year <= today.getFullYear() % 100),
    labelled.birth_date,
  );
  const givenNames = or(fromZone("firstName"), labelled.given_names);
  const issuer = findCountry(inZone.issuingState ?? "");
  const nationality = findCountry(inZone.nationality ?? "");
  return {
    last_name: or(fromZone("lastName"), labelled.last_name),
    given_names: givenNames.value?.split(/\s+/).map((name) => toValue(name, givenNames.confidence)) ?? [],
    birth_place: labelled.birth_place,
    birth_date: birthDate,
    issuance_date: labelled.issuance_date,
    expire_date: or(
      dateFromZone("expirationDate", () => true),
      labelled.expire_date,
    ),
    document_id: or(fromZone("documentNumber", isChecked("documentNumber")), labelled.document_id),
    issuing_state: or(toValue(issuer?.name ?? null, zoneConfidence), fromZone("issuingState")),
    address: labelled.address,
    age: { value: toAge(birthDate.value, today), confidence: birthDate.confidence },
    country: issuer === null ? null : { ...issuer, confidence: zoneConfidence },
    document_type: findDocumentType(inZone.documentCode ?? "", rows),
    gender: or(toValue(toGender(inZone.sex), zoneConfidence), labelled.gender),
    image_id: [],
    image_signature: [],
    mrz: zone === null ? nothing : { value: zone.lines.join("\n"), confidence: round(zone.validShare) },
    nationality: or(
      toValue(nationality?.name ?? null, zoneConfidence),
      or(fromZone("nationality"), labelled.nationality),
    ),
  };
}

function toValue(value: string | null, confidence: number | null): Value {
  return value === null ? nothing : { value, confidence };
}

function or(first: Value, second: Value): Value {
  return first.value === null ? second : first;
}

/** Converts YYMMDD, which does not contain the century. */
function toIsoDate(digits: string | null | undefined, isThisCentury: (year: number) => boolean): string | null {
  const [, year = "", month, day] = /^(\d\d)(\d\d)(\d\d)$/.exec(digits ?? "") ?? [];
  return findDate(`${isThisCentury(Number(year)) ? 20 : 19}${year}-${month}-${day}`);
}

function toAge(birthDate: string | null, today: Date): string | null {
  if (birthDate === null) return null;
  const hadBirthday = today.toISOString().slice(5, 10) >= birthDate.slice(5);
  const years = today.getFullYear() - new Date(birthDate).getFullYear() - (hadBirthday ? 0 : 1);
  return years >= 0 && years < 130 ? String(years) : null;
}

function toGender(sex: string | null | undefined): string | null {
  if (sex === "male") return "M";
  return sex === "female" ? "F" : null;
}

function findDocumentType(code: string, rows: readonly Row[]): Value {
  const coded = zoneTypes.find(([pattern]) => pattern.test(code))?.[1] ?? null;
  const text = rows.map((row) => row.text).join(" ");
  const named = documentTypes.find(([pattern]) => pattern.test(text))?.[1] ?? null;
  return or(toValue(coded, zoneConfidence), toValue(named, labelConfidence));
}

/** Passports print labels in several languages, and some number them: "1. Surname / Nom". */
function toLabel(names: string): RegExp {
  return new RegExp(`^(?:\\d{1,2}[.)]?\\s*)?(?:${names})(?:\\s*\\/\\s*[\\p{L}'’. ]+)*\\s*[:.]?\\s*`, "iu");
}
