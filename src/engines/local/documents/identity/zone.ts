// Finds the machine-readable zone in lines of text, restores lost and surplus fill characters, and verifies the check digits.

import { computeCheckDigit, fillLetters, repair, toDigits, toLetters } from "./zone-characters.ts";
import { type Span, type ZoneField, type ZoneFormat, zoneFormats } from "./zone-formats.ts";

export interface Zone {
  readonly format: ZoneFormat;
  readonly lines: readonly string[];
  /** Without fill characters at the end. */
  readonly fields: Readonly<Partial<Record<ZoneField, string>>>;
  /** The lines before fill and characters were replaced. */
  readonly asRead: readonly string[];
  /** By field, and `composite`: whether the check digit is right. */
  readonly checks: Readonly<Record<string, boolean>>;
  /** Characters were replaced by others with which they are confused. */
  readonly isRepaired: boolean;
  readonly score: number;
}

type Rated = Omit<Zone, "isRepaired" | "asRead">;
type IsState = (code: string) => boolean;

// Enough for several documents on a page. More lines of this kind are no identity document.
const maxLines = 80;
const shortest = 5;
const longest = 64;
// So many fill characters may be lost or surplus in a line.
const mostLost = 18;
const mostSurplus = 12;
const pointsPerCheck = 10;

/** The best machine-readable zone among the readings of a page, or null if no reading contains a zone. */
export function findZone(readings: readonly (readonly string[])[], isState: IsState): Zone | null {
  const cleaned = readings.map((lines) => lines.flatMap(toZoneLines).slice(-maxLines));
  const printed = toPrintedText(readings[0] ?? []);
  let best: Zone | null = null;
  for (const format of zoneFormats) {
    const fit = rememberFits(format, isState);
    for (const lines of combine(cleaned, format.lineCount)) {
      if (!mayBeZone(lines, format)) continue;
      const choices = lines.map((line, index) => fit(line, index));
      for (const fitted of cross(choices).map((chosen) => complete(chosen, format, isState))) {
        const zone = evaluate(fitted, format, isState);
        const score = zone.score - 0.2 * distance(lines, format) + countPrinted(zone.fields, printed);
        if (!isAcceptable(zone, lines, isState) || score <= (best?.score ?? 0)) continue;
        const isRepaired = fitted.some((line, index) => withoutFill(line) !== withoutFill(lines[index] ?? ""));
        best = { ...zone, score, isRepaired, asRead: lines };
      }
    }
  }
  return best;
}

/** The letters and digits of the visible zone. */
function toPrintedText(lines: readonly string[]): string {
  const visible = lines.filter((line) => !line.includes("<")).slice(0, 200);
  return visible
    .map((line) =>
      line
        .slice(0, 200)
        .toUpperCase()
        .replace(/[^A-Z0-9]/g, ""),
    )
    .join(" ");
}

/** Of two readings with the same check digits, the one whose values are also printed is right. */
function countPrinted({ documentNumber = "", names = "" }: Zone["fields"], printed: string): number {
  const words = [documentNumber, ...names.split("<")].filter((word) => word.length >= 3);
  return words.length === 0 ? 0 : words.filter((word) => printed.includes(word)).length / words.length;
}

/** A line of a zone is written in capitals without spaces. Lines that were joined are split. */
export function toZoneLines(text: string): string[] {
  if (text.length > 200) return [];
  const small = text.match(/\p{Ll}/gu)?.length ?? 0;
  if (small > 0.4 * text.length) return [];
  const line = text
    .toUpperCase()
    .replace(/[«《≪]/g, "<<")
    .replace(/[‹〈⟨＜]/g, "<")
    .replace(/[^A-Z0-9<]/g, "");
  for (const { length, lineCount } of zoneFormats) {
    if (line.length === length * lineCount && line.includes("<"))
      return Array.from({ length: lineCount }, (_, index) => line.slice(index * length, (index + 1) * length));
  }
  return line.length >= shortest && line.length <= longest ? [line] : [];
}

/** Consecutive lines, and the last lines with each taken from any reading, because a line may be misread in only one of them. */
function combine(readings: readonly (readonly string[])[], count: number): string[][] {
  const adjacent = readings.flatMap((lines) => lines.map((_, start) => lines.slice(start, start + count)));
  const last = readings.map((lines) => lines.slice(-count)).filter((lines) => lines.length === count);
  const mixed =
    last.length > 1 ? cross(Array.from({ length: count }, (_, index) => last.map((lines) => lines[index] ?? ""))) : [];
  return [...adjacent, ...mixed].filter((lines) => lines.length === count);
}

/** A quick test, so that ordinary lines cost nothing. */
function mayBeZone(lines: readonly string[], { code, lineCount, spans }: ZoneFormat): boolean {
  if (!lines.some((line) => line.includes("<")) || !code.test(lines[0] ?? "")) return false;
  const dated = lines[spans.birthDate?.line ?? 0] ?? "";
  if (!/[0-9OQDILZSB]{6}/.test(dated)) return false;
  return lineCount !== 3 || !/\d{4}/.test(lines[2] ?? "");
}

function distance(lines: readonly string[], { length, openLine }: ZoneFormat): number {
  return lines.reduce((sum, line, index) => sum + (index === openLine ? 0 : Math.abs(line.length - length)), 0);
}

/** The three best ways to fit a line, computed once per line. */
function rememberFits(format: ZoneFormat, isState: IsState) {
  const known = new Map<string, readonly string[]>();
  return (line: string, index: number): readonly string[] => {
    const key = `${index} ${line}`;
    const found = known.get(key) ?? fitLine(line, index, format, isState);
    known.set(key, found);
    return found;
  };
}

function fitLine(line: string, index: number, format: ZoneFormat, isState: IsState): string[] {
  const isOpen = index === format.openLine;
  const variants = new Set(
    listVariants(line, index, format).flatMap((variant) => (isOpen ? [variant] : [restoreFill(variant), variant])),
  );
  const rated = Array.from(variants, (variant) => {
    const normal = normalise(variant, index, format, isState);
    return { normal, points: rateLine(normal, index, format, isState) };
  });
  const best = rated.toSorted((first, second) => second.points - first.points).slice(0, 3);
  return [...new Set(best.map(({ normal }) => normal))];
}

/** All lines of the right length that differ from the line by fill characters only. */
function listVariants(line: string, index: number, { length, openLine, spans }: ZoneFormat): string[] {
  if (index === openLine) {
    const heads = spans.names?.line === index && spans.names.start > 0 ? headVariants(line) : [line];
    return heads.map((head) =>
      cutNames(head, spans.names?.start ?? 0)
        .padEnd(length, "<")
        .slice(0, length),
    );
  }
  const surplus = line.length - length;
  if (surplus === 0) return [line];
  if (surplus < -mostLost || surplus > mostSurplus) return [];
  const runs = [...line.matchAll(/<+/g)].map((run) => ({ start: run.index, length: run[0].length }));
  if (surplus < 0) {
    const insert = (text: string, position: number, count: number) =>
      text.slice(0, position) + "<".repeat(count) + text.slice(position);
    // The most likely places first: of two lines that fit equally well, the first is taken.
    const places = [...runs.map(({ start }) => start), line.length - 1, line.length, ...line.split("").keys()];
    const single = places.map((position) => insert(line, position, -surplus));
    // Fill may be lost at two places: after a short number and before the last check digit.
    const double = runs.flatMap(({ start }) =>
      Array.from({ length: -surplus - 1 }, (_, count) => insert(line, start, count + 1)).flatMap((partly, count) =>
        [line.length, line.length - 1].map((position) => insert(partly, position + count + 1, -surplus - count - 1)),
      ),
    );
    return [...single, ...double];
  }
  const remove = (text: string, start: number, count: number) => text.slice(0, start) + text.slice(start + count);
  const shorter = runs.filter((run) => run.length >= surplus).map(({ start }) => remove(line, start, surplus));
  // One character may have been read as two, such as 8 as B8.
  const doubled = surplus === 1 ? Array.from(line, (_, position) => remove(line, position, 1)) : [];
  return [...shorter, ...doubled];
}

/** The start of the line of names, with the fill after the document code and after a short country code restored: P<D<<. */
function headVariants(line: string): string[] {
  const codes = [line, `${line.charAt(0)}<${line.slice(1)}`, line.replace(/^([A-Z])<<+/, "$1<")];
  const states = codes.flatMap((head) => [head, head.replace(/^(..[A-Z])<*(?=[A-Z])/, "$1<<")]);
  return [...new Set([...states, ...states.map((head) => head.replace(/^(..[A-Z]<<)<+/, "$1"))])];
}

const onlyFill = new RegExp(`^[${fillLetters}I1<]+$`);

/** The line without the fill after the names. Letters between fill characters after the given names are fill that was misread. */
function cutNames(line: string, start: number): string {
  const separator = line.indexOf("<<", start + 1);
  if (separator < 0) return trimFill(line).replace(/([KLCEX])\1{4,}$/, "");
  let given = separator;
  while (line.charAt(given) === "<") given++;
  // There are no given names.
  if (given - separator > 2 && onlyFill.test(line.slice(given))) return line.slice(0, separator);
  const end = line.indexOf("<<", given);
  if (end < 0) return line.replace(/([KLCEX])\1{4,}$/, "");
  const tail = withoutFill(line.slice(end));
  if (tail === "") return line.slice(0, end);
  return onlyFill.test(tail) ? line.slice(0, end).replace(/<[KLCEXSI]$/, "") : line;
}

/** Fill that was read as letters between other fill characters, or between them and the last check digits. */
function restoreFill(line: string): string {
  const toFill = (run: string) => "<".repeat(run.length);
  return line
    .replace(new RegExp(`<[<${fillLetters}]*<`, "g"), toFill)
    .replace(new RegExp(`<[${fillLetters}]+(?=\\d{0,2}$)`), toFill);
}

const digitFields: readonly ZoneField[] = ["birthDate", "expiryDate"];
const letterFields: readonly ZoneField[] = ["names", "lastName", "givenNames"];
const stateFields: readonly ZoneField[] = ["issuingState", "nationality"];

/** Replaces characters that cannot stand where they are, and repairs numbers if their check digit then is right. */
function normalise(line: string, index: number, format: ZoneFormat, isState: IsState): string {
  const { spans, checked, composite } = format;
  let result = line;
  const change = (span: Span | undefined, convert: (text: string) => string) => {
    if (span?.line !== index) return;
    result = result.slice(0, span.start) + convert(result.slice(span.start, span.end)) + result.slice(span.end);
  };
  for (const field of digitFields) change(spans[field], toDigits);
  for (const field of letterFields) change(spans[field], toLetters);
  for (const field of stateFields) change(spans[field], (text) => toState(text, isState));
  for (const field of checked) change(toDigitSpan(spans[field]), toDigits);
  change(composite?.digit, toDigits);
  for (const field of checked.filter((one) => !digitFields.includes(one))) {
    const span = spans[field];
    const digit = span?.line === index ? result.charAt(span.end) : "";
    if (!/\d/.test(digit)) continue;
    change(span, (text) => (computeCheckDigit(text) === digit ? text : (repair(text, digit) ?? text)));
  }
  return result;
}

/** The code of Germany is D<<, and its fill may be read as letters. */
function toState(text: string, isState: IsState): string {
  const hasFill = text.includes("<") || /^.([A-Z])\1$/.test(text);
  const filled = hasFill ? text.replace(new RegExp(`[${fillLetters}<]+$`), (tail) => "<".repeat(tail.length)) : text;
  const options = [text, toLetters(text), filled];
  return options.find((option) => isState(trimFill(option))) ?? text;
}

function toDigitSpan(span: Span | undefined): Span | undefined {
  return span === undefined ? undefined : { line: span.line, start: span.end, end: span.end + 1 };
}

/** How well a line fits, without the other lines. */
function rateLine(line: string, index: number, format: ZoneFormat, isState: IsState): number {
  const { spans, checked } = format;
  const lines = Array.from({ length: format.lineCount }, (_, other) => (other === index ? line : ""));
  let points = 0;
  for (const field of checked)
    if (spans[field]?.line === index && isChecked(lines, field, format)) points += pointsPerCheck;
  for (const field of stateFields)
    if (spans[field]?.line === index && isState(trimFill(cut(lines, spans[field])))) points += 4;
  if (spans.sex?.line === index && /^[MFX<]$/.test(cut(lines, spans.sex))) points += 1;
  if (spans.names?.line === index && /^[A-Z]+(?:<[A-Z]+)*<<[A-Z]/.test(cut(lines, spans.names))) points += 2;
  return points;
}

/** Corrects a country code by the other one, and a last check digit that is no digit, if all others are right. */
function complete(lines: readonly string[], format: ZoneFormat, isState: IsState): string[] {
  const { spans, checked, composite } = format;
  const result = [...lines];
  const write = (span: Span | undefined, text: string) => {
    if (span === undefined) return;
    const line = result[span.line] ?? "";
    result[span.line] = line.slice(0, span.start) + text + line.slice(span.end);
  };
  const issuer = cut(result, spans.issuingState);
  const nationality = cut(result, spans.nationality);
  const differing = Array.from(issuer).filter((letter, index) => letter !== nationality.charAt(index)).length;
  if (nationality !== "" && differing === 1) {
    if (!isState(trimFill(nationality))) write(spans.nationality, issuer);
    else if (!isState(trimFill(issuer))) write(spans.issuingState, nationality);
  }
  if (
    composite !== null &&
    !/\d/.test(cut(result, composite.digit)) &&
    checked.every((field) => isChecked(result, field, format))
  )
    write(composite.digit, computeCheckDigit(composite.over.map((span) => cut(result, span)).join("")));
  return result;
}

function evaluate(lines: readonly string[], format: ZoneFormat, isState: IsState): Rated {
  const { spans, checked, composite } = format;
  const checks: Record<string, boolean> = {};
  for (const field of checked) checks[field] = isChecked(lines, field, format);
  if (composite !== null) {
    const covered = composite.over.map((span) => cut(lines, span)).join("");
    checks["composite"] = computeCheckDigit(covered) === cut(lines, composite.digit);
  }
  const fields = Object.fromEntries(
    Object.entries(spans).map(([field, span]) => [field, trimFill(cut(lines, span))]),
  ) as Partial<Record<ZoneField, string>>;
  const long = readLongNumber(lines, format);
  const points = lines.reduce((sum, line, index) => sum + rateLine(line, index, format, isState), 0);
  return {
    format,
    lines,
    fields: long === null ? fields : { ...fields, documentNumber: long.number },
    checks,
    score: points + (checks["composite"] === true ? pointsPerCheck : 0),
  };
}

function isChecked(lines: readonly string[], field: ZoneField, format: ZoneFormat): boolean {
  const span = format.spans[field];
  if (span === undefined) return false;
  const text = cut(lines, span);
  const digit = cut(lines, toDigitSpan(span));
  if (field === "documentNumber" && digit === "<") {
    const long = readLongNumber(lines, format);
    // Belgium counts the fill character between the two parts; others do not.
    return long?.covered.some((text) => computeCheckDigit(text) === long.digit) === true;
  }
  if (digitFields.includes(field) && !isDate(text)) return false;
  // An empty personal number may have no check digit.
  if (field === "personalNumber" && /^<+$/.test(text)) return digit === "<" || digit === "0";
  return /[A-Z0-9]/.test(text) && computeCheckDigit(text) === digit;
}

/** Numbers of more than nine characters continue in the optional data, and the check digit follows there. */
function readLongNumber(lines: readonly string[], { spans }: ZoneFormat) {
  const { documentNumber, optional } = spans;
  if (documentNumber === undefined || optional === undefined || cut(lines, toDigitSpan(documentNumber)) !== "<")
    return null;
  const start = cut(lines, documentNumber);
  const [rest = ""] = /^[A-Z0-9]+/.exec(cut(lines, optional)) ?? [];
  if (start.includes("<") || rest.length < 2) return null;
  const number = start + rest.slice(0, -1);
  return { number, covered: [`${start}<${rest.slice(0, -1)}`, number], digit: rest.slice(-1) };
}

/** YYMMDD. The month and the day may be unknown. */
function isDate(text: string): boolean {
  const [, month = "", day = ""] = /^\d\d(\d\d|<<)(\d\d|<<)$/.exec(text) ?? [];
  return month !== "" && !(Number(month) > 12) && !(Number(day) > 31);
}

/** Two check digits that are right by chance are rare, but a zone whose check digits are wrong must have the exact form. */
function isAcceptable(zone: Rated, asRead: readonly string[], isState: IsState): boolean {
  const { checks, fields, format, lines } = zone;
  const right = format.checked.filter((field) => field !== "personalNumber" && checks[field] === true).length;
  if (!format.code.test(lines[0] ?? "")) return false;
  const isKnown = stateFields.every((field) => format.spans[field] === undefined || isState(fields[field] ?? ""));
  if (right >= 2) return isKnown || right === format.checked.length || checks["composite"] === true;
  const isExact = asRead.every((line) => line.length === format.length);
  return isExact && isKnown && isDate(cut(lines, format.spans.birthDate)) && /[A-Z]<<[A-Z]/.test(lines.join("\n"));
}

function cut(lines: readonly string[], span: Span | undefined): string {
  return span === undefined ? "" : (lines[span.line] ?? "").slice(span.start, span.end);
}

function withoutFill(text: string): string {
  return text.replaceAll("<", "");
}

function trimFill(text: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === "<") end--;
  return text.slice(0, end);
}

/** All ways to choose one of each. */
function cross(choices: readonly (readonly string[])[]): string[][] {
  return choices.reduce<string[][]>(
    (heads, options) => heads.flatMap((head) => options.map((option) => [...head, option])),
    [[]],
  );
}
