// ocr/identity_parser: the machine-readable lines of passports and identity cards, with their check digits, and beside them what
// stands by a label. Whether a paper is genuine is not looked at.

import { fillMembers } from "../fill-members.ts";
import { round } from "../numbers.ts";
import { importPackage } from "../resolve-package.ts";
import { type Country, findCountry } from "./countries.ts";
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
/** Lines of a zone and their length: passports, older cards and visas, cards. */
const forms = [
  { count: 2, length: 44 },
  { count: 2, length: 36 },
  { count: 3, length: 30 },
] as const;
const maxPages = 4;
// Read from a label, nothing confirms it.
const labelConfidence = 0.5;
const nothing: Value = { value: null, confidence: null };

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

/** Of all ways to put the lines of several readings together, the one with the most right check digits. */
function findZone(mrz: Mrz, texts: readonly string[]): Zone | null {
  const readings = texts.map((text) =>
    text
      .split("\n")
      .map(cleanLine)
      .filter((line) => line.length >= 24),
  );
  let best: Zone | null = null;
  for (const { count, length } of forms) {
    for (const lines of combine(readings, count)) {
      const zone = tryZone(mrz, lines, length);
      if (zone !== null && (best === null || zone.validShare > best.validShare)) best = zone;
    }
  }
  // Half of the fields are valid in any text that has the right length.
  return best !== null && best.validShare > 0.6 ? best : null;
}

/** Lines that follow one another, each taken from any of the readings: what one misreads the other may have right. */
function combine(readings: readonly (readonly string[])[], count: number): string[][] {
  const last = readings.map((lines) => lines.slice(-count));
  const choices = Array.from({ length: count }, (_, index) =>
    last.flatMap((lines) => (lines.length === count ? [lines[index] ?? ""] : [])),
  );
  const adjacent = readings.flatMap((lines) => lines.map((_, start) => lines.slice(start, start + count)));
  return [...cross(choices), ...adjacent].filter((lines) => lines.length === count);
}

function tryZone(mrz: Mrz, lines: readonly string[], length: number): Zone | null {
  const variants = lines.map((line, index) => fitLine(line, length, isNameLine(index, lines.length)));
  let best: Zone | null = null;
  for (const fitted of cross(variants)) {
    if (fitted.every((line) => !line.includes("<"))) continue;
    const zone = parseZone(mrz, fitted);
    if (zone !== null && (best === null || zone.validShare > best.validShare)) best = zone;
  }
  return best;
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

/** Every way to take one of each. */
function cross(choices: readonly (readonly string[])[]): string[][] {
  return choices.reduce<string[][]>(
    (heads, options) => heads.flatMap((head) => options.map((option) => [...head, option])),
    [[]],
  );
}

function isNameLine(index: number, count: number): boolean {
  return count === 2 ? index === 0 : index === 2;
}

function cleanLine(line: string): string {
  return line
    .toUpperCase()
    .replace(/[«‹]/g, "<")
    .replace(/\s+/g, "")
    .replace(/[^A-Z0-9<]/g, "");
}

/** What the line may have been, in the length that it should have. Fill is misread as K, L, C, S or E, doubled or lost. */
function fitLine(line: string, length: number, isNames: boolean): string[] {
  const filled = line
    .replace(/<[<KLCSEZX]{3,}$/, (tail) => "<".repeat(tail.length))
    .replace(/<{2}[<KLCSE]{2,}<{2}/g, (run) => "<".repeat(run.length));
  // After the names there is nothing but fill, so neither its number nor its misreadings matter.
  if (isNames)
    return line.length < length - 8 || line.length > length + 16 ? [] : [filled.padEnd(length, "<").slice(0, length)];
  const surplus = filled.length - length;
  if (Math.abs(surplus) > 6) return [];
  // Of the other lines the last character is a check digit: what is lost is fill before it.
  if (surplus <= 0) return [filled.slice(0, -1) + "<".repeat(-surplus) + filled.slice(-1)];
  const shorter = filled.replace(new RegExp(`<{${surplus}}(?=[A-Z0-9]{1,2}$)`), "").slice(0, length);
  // One character was read as two, such as 8 as B8: the check digits tell which.
  const doubled =
    surplus === 1 ? Array.from(filled, (_, index) => filled.slice(0, index) + filled.slice(index + 1)) : [];
  return [shorter, ...doubled];
}

function toPaper(zone: Zone | null, rows: readonly Row[], today: Date) {
  const seen = readLabels(rows);
  if (zone === null && seen.documentId.value === null && seen.lastName.value === null) return null;
  const fields = zone?.result.fields ?? {};
  const isValid = (name: string) => zone?.result.details.find((detail) => detail.field === name)?.valid === true;
  const isChecked = (name: string) => isValid(name) && isValid(`${name}CheckDigit`);
  const fromZone = (name: keyof typeof fields, surely = isValid(name)): Value => {
    const value = fields[name];
    return value == null || value === "" ? nothing : { value, confidence: surely ? 0.95 : labelConfidence };
  };
  const birthDate = toDate(fields.birthDate, isChecked("birthDate"), (year) => year <= today.getFullYear() % 100);
  const expireDate = toDate(fields.expirationDate, isChecked("expirationDate"), () => true);
  const state = findCountry(fields.issuingState ?? "");
  const nationality = findCountry(fields.nationality ?? "");
  const born = or(birthDate, seen.birthDate);
  return {
    last_name: or(fromZone("lastName"), seen.lastName),
    given_names: toGivenNames(fromZone("firstName"), seen.givenNames),
    birth_place: seen.birthPlace,
    birth_date: born,
    issuance_date: seen.issued,
    expire_date: or(expireDate, seen.expires),
    document_id: or(fromZone("documentNumber", isChecked("documentNumber")), seen.documentId),
    issuing_state: state === null ? fromZone("issuingState") : { value: state.name, confidence: 0.95 },
    address: seen.address,
    age: { value: toAge(born.value, today), confidence: born.confidence },
    country: toCountry(state),
    document_type: toDocumentType(fields.documentCode ?? null, rows),
    gender: or(toGender(fields.sex ?? null), seen.gender),
    image_id: [],
    image_signature: [],
    mrz: zone === null ? nothing : { value: zone.lines.join("\n"), confidence: round(zone.validShare) },
    nationality:
      nationality === null
        ? or(fromZone("nationality"), seen.nationality)
        : { value: nationality.name, confidence: 0.95 },
  };
}

function or(first: Value, second: Value): Value {
  return first.value === null ? second : first;
}

/** YYMMDD, whose century the form leaves open. */
function toDate(
  digits: string | null | undefined,
  isChecked: boolean,
  isThisCentury: (year: number) => boolean,
): Value {
  if (!/^\d{6}$/.test(digits ?? "")) return nothing;
  const [year = "", month = "", day = ""] = (digits ?? "").match(/../g) ?? [];
  const value = findDate(`${isThisCentury(Number(year)) ? 20 : 19}${year}-${month}-${day}`);
  return value === null ? nothing : { value, confidence: isChecked ? 0.99 : labelConfidence };
}

function toAge(birthDate: string | null, today: Date): string | null {
  if (birthDate === null) return null;
  const born = new Date(birthDate);
  const hadBirthday = today.toISOString().slice(5, 10) >= birthDate.slice(5);
  const years = today.getFullYear() - born.getFullYear() - (hadBirthday ? 0 : 1);
  return years >= 0 && years < 130 ? String(years) : null;
}

function toGivenNames(fromZone: Value, seen: Value): Value[] {
  const { value, confidence } = or(fromZone, seen);
  return value === null ? [] : value.split(/\s+/).map((name) => ({ value: name, confidence }));
}

function toCountry(country: Country | null) {
  return country === null ? null : { ...country, confidence: 0.95 };
}

function toGender(sex: string | null): Value {
  if (sex === "male") return { value: "M", confidence: 0.95 };
  return sex === "female" ? { value: "F", confidence: 0.95 } : nothing;
}

function toDocumentType(code: string | null, rows: readonly Row[]): Value {
  if (code !== null) {
    if (code.startsWith("P")) return { value: "passport", confidence: 0.95 };
    if (code.startsWith("V")) return { value: "visa", confidence: 0.95 };
    if (/^[IAC]/.test(code)) return { value: "identity card", confidence: 0.95 };
  }
  const text = rows.map((row) => row.text).join(" ");
  const named = [
    [/\bpassport\b|\bpasseport\b|\breisepass\b/i, "passport"],
    [/\bdriv(?:er|ing)['’]?s?\s+licen[cs]e\b|\bpermis de conduire\b|\bführerschein\b/i, "driving licence"],
    [/\bresidence permit\b|\btitre de séjour\b/i, "residence permit"],
    [/\bidentity card\b|\bcarte nationale\b|\bpersonalausweis\b|\bID card\b/i, "identity card"],
  ] as const;
  const type = named.find(([pattern]) => pattern.test(text))?.[1];
  return type === undefined ? nothing : { value: type, confidence: labelConfidence };
}

function readLabels(rows: readonly Row[]) {
  const find = (label: RegExp, read: (text: string) => string | null): Value => {
    const found = findLabelled(rows, label, read);
    return found === null ? nothing : { value: found.value, confidence: labelConfidence };
  };
  const words = (text: string) => (/^[\p{L}\s'’.-]{2,60}$/u.test(text) ? text : null);
  // Passports set dates with spaces: 15 02 2021.
  const date = (text: string) => findDate(text.replace(/^(\d{2}) (\d{2}) (\d{4})$/, "$1.$2.$3"));
  // Passports name each field in several languages: "Surname / Nom".
  const also = "(?:\\s*\\/\\s*[\\p{L}'’. ]+)*";
  const label = (names: string) => new RegExp(`^(?:\\d{1,2}[.)]?\\s*)?(?:${names})${also}\\s*[:.]?\\s*`, "iu");
  return {
    lastName: find(label("surname|last name|family name|nom|name"), words),
    givenNames: find(label("given names?|first names?|forenames?|prénoms?|vornamen?"), words),
    birthDate: find(label("date of birth|birth date|dob|born|date de naissance|geburtsdatum"), date),
    birthPlace: find(label("place of birth|birth ?place|lieu de naissance|geburtsort"), (text) =>
      /\p{L}{2}/u.test(text) ? text : null,
    ),
    issued: find(label("date of issue|issue date|issued(?: on)?|date de délivrance|ausstellungsdatum"), date),
    expires: find(
      label("date of expiry|expiry date|expiration date|expires|valid until|date d['’]expiration|gültig bis"),
      date,
    ),
    documentId: find(
      label("(?:passport|document|card|id|licen[cs]e) (?:no\\.?|number)"),
      (text) => /^[A-Z0-9][A-Z0-9 -]{4,14}$/.exec(text)?.[0] ?? null,
    ),
    nationality: find(label("nationality|nationalité|staatsangehörigkeit"), words),
    gender: find(label("sex|gender|sexe|geschlecht"), (text) => /^(?:M|F|X)\b/.exec(text)?.[0] ?? null),
    address: find(label("address|adresse|anschrift|residence"), (text) => (text.length >= 5 ? text : null)),
  };
}
