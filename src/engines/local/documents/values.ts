// Parses printed values: dates, account and company numbers, contacts. Values that are not found are null.

import { lookUp } from "../../../lib/look-up.ts";
import { trimEndOf } from "../text/characters.ts";
import { isIban } from "../text/check-digits.ts";

/** The names of the months in each language, including the cases that dates use. */
const monthLists: readonly string[] = [
  "january february march april may june july august september october november december",
  "januar februar märz april mai juni juli august september oktober november dezember",
  "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
  "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
  "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
  "januari februari maart april mei juni juli augustus september oktober november december",
  "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
  "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
  "januari februari mars april maj juni juli augusti september oktober november december",
  "januar februar marts april maj juni juli august september oktober november december",
  "januar februar mars april mai juni juli august september oktober november desember",
  "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
  "ledna února března dubna května června července srpna září října listopadu prosince",
  "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
  "január február március április május június július augusztus szeptember október november december",
  "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
];
/** Abbreviations, by month. */
const abbreviations =
  "jan,janv,ene,gen,sty,oca,led feb,févr,fevr,fev,fév,lut,şub mar,mrz,mrt,märz,marz apr,avr,abr,kwi,nis may,mai,mag,maj,mei jun,juin,giu,cze,haz " +
  "jul,juil,lug,lip,tem aug,août,aout,ago,sie,ağu sep,sept,set,wrz,eyl oct,okt,ott,out,paź,paz,eki nov,lis,kas dec,déc,dez,dic,gru,ara,des";
const monthNumbers = new Map<string, number>();
for (const list of monthLists) {
  for (const [index, name] of list.split(" ").entries()) {
    // OCR often loses accents.
    for (const form of [name, withoutAccents(name)]) if (!monthNumbers.has(form)) monthNumbers.set(form, index + 1);
  }
}
for (const [index, names] of abbreviations.split(" ").entries()) {
  for (const name of names.split(",")) if (!monthNumbers.has(name)) monthNumbers.set(name, index + 1);
}

/** Which part comes first where a date leaves it open. */
export type DateOrder = "day" | "month" | "year";

/** A date with every reading that its figures permit, as YYYY-MM-DD. */
export interface PrintedDate {
  readonly day: string | null;
  readonly month: string | null;
  readonly year: string | null;
  /** It has a month's name or a year of four figures. */
  readonly isCertainlyDate: boolean;
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
}

const monthName = "\\p{L}{3,12}\\.?";
const numericDate =
  /(?<![\d/]|\d[.,-])(\d{4}|\d{1,2})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{1,2})(?!\d|[/-]\d|[.,]\d)/g;
const eastAsianDate = /(?:(\d{4})|(令和|平成|昭和)\s?(\d{1,2}|元))\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]/g;
const eras: Readonly<Record<string, number>> = { 令和: 2018, 平成: 1988, 昭和: 1925 };
const dayFirst = new RegExp(
  `(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|er|º|\\.)?[\\s/-]{0,3}(?:de\\s|of\\s)?(${monthName})[\\s,/-]{0,3}(?:de\\s|del\\s)?['’]?(\\d{4}|\\d{2})(?!\\d)`,
  "giu",
);
const monthFirst = new RegExp(
  `(?<!\\p{L})(${monthName})\\s?(\\d{1,2})(?:st|nd|rd|th)?,?\\s{1,3}(\\d{4})(?!\\d)`,
  "giu",
);
const yearFirst = new RegExp(`(?<!\\d)(\\d{4})[.\\s-]{1,2}(${monthName})[\\s-](\\d{1,2})(?!\\d)`, "giu");

/** All dates of a text, in their order. */
export function findDates(text: string): PrintedDate[] {
  const found: PrintedDate[] = [];
  const add = ({ 0: { length }, index }: RegExpExecArray, dates: Partial<PrintedDate>) => {
    const date = { day: null, month: null, year: null, isCertainlyDate: true, ...dates };
    if (date.day === null && date.month === null && date.year === null) return;
    found.push({ ...date, start: index, end: index + length });
  };
  const addCertain = (match: RegExpExecArray, date: string | null) =>
    add(match, { day: date, month: date, year: date });
  for (const match of text.matchAll(numericDate)) add(match, readNumeric(match));
  for (const match of text.matchAll(eastAsianDate)) {
    const [, year, era = "", eraYear, month, day] = match;
    const full = Number(year ?? (lookUp(eras, era) ?? 0) + (eraYear === "元" ? 1 : Number(eraYear)));
    addCertain(match, toIsoDate(full, Number(month), Number(day)));
  }
  for (const match of text.matchAll(dayFirst))
    addCertain(match, toIsoDate(Number(match[3]), toMonth(match[2]), Number(match[1])));
  for (const match of text.matchAll(monthFirst))
    addCertain(match, toIsoDate(Number(match[3]), toMonth(match[1]), Number(match[2])));
  for (const match of text.matchAll(yearFirst))
    addCertain(match, toIsoDate(Number(match[1]), toMonth(match[2]), Number(match[3])));
  return found.toSorted((first, second) => first.start - second.start);
}

function readNumeric([, first = "", separator, second = "", third = ""]: RegExpExecArray): Partial<PrintedDate> {
  if (first.length === 4) {
    const date = third.length === 4 ? null : toIsoDate(Number(first), Number(second), Number(third));
    return { day: date, month: date, year: date };
  }
  const day = toIsoDate(Number(third), Number(second), Number(first));
  // Countries that write the month first do not write dots.
  const month = separator === "." ? day : toIsoDate(Number(third), Number(first), Number(second));
  const year = third.length === 4 ? null : toIsoDate(Number(first), Number(second), Number(third));
  return { day, month, year, isCertainlyDate: third.length === 4 };
}

/** Null: the date has several readings and the order is not known. */
export function resolveDate({ day, month, year }: PrintedDate, order: DateOrder | null): string | null {
  if (order === "year" && year !== null) return year;
  const readings = new Set([day, month].filter((reading) => reading !== null));
  if (readings.size === 1) return [...readings][0] ?? null;
  if (readings.size === 0) return year;
  return order === "day" ? day : order === "month" ? month : null;
}

export function toMonth(name: string | undefined): number | null {
  return monthNumbers.get((name ?? "").toLowerCase().replace(".", "")) ?? null;
}

function toIsoDate(year: number, month: number | null, day: number): string | null {
  if (month === null) return null;
  const full = year < 100 ? 2000 + year : year;
  const date = new Date(Date.UTC(full, month - 1, day));
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && full >= 1900 && full <= 2100;
  return isReal ? date.toISOString().slice(0, 10) : null;
}

function withoutAccents(text: string): string {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "");
}

/** With or without spaces, if the check digits are correct. */
export function findIban(text: string): string | null {
  for (const [match] of text.matchAll(/\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}/g)) {
    const compact = match.replaceAll(" ", "");
    // The match may include text that follows the number.
    for (let length = Math.min(34, compact.length); length >= 15; length--) {
      const candidate = compact.slice(0, length);
      if (isIban(candidate)) return candidate;
    }
  }
  return null;
}

/** The forms of value-added-tax numbers in Europe. */
const vatPattern =
  /\b(ATU\d{8}|BE[01]\d{9}|BG\d{9,10}|CHE-?\d{3}\.?\d{3}\.?\d{3}|CY\d{8}[A-Z]|CZ\d{8,10}|DE\d{9}|DK\d{8}|EE\d{9}|EL\d{9}|ES[A-Z0-9]\d{7}[A-Z0-9]|FI\d{8}|FR[A-Z0-9]{2}\d{9}|GB\d{9}(?:\d{3})?|HR\d{11}|HU\d{8}|IE\d[A-Z0-9+*]\d{5}[A-Z]{1,2}|IT\d{11}|LT(?:\d{9}|\d{12})|LU\d{8}|LV\d{11}|MT\d{8}|NL\d{9}B\d{2}|PL\d{10}|PT\d{9}|RO\d{2,10}|SE\d{12}|SI\d{8}|SK\d{10})\b/g;

export function findVatNumbers(text: string): string[] {
  const compact = text
    .replace(/\b([A-Z]{2}U?)\s(?=[\dA-Z]{2,3}[\s.]?\d)/g, "$1")
    .replace(/(?<=\b[A-Z]{2}U?[\dA-Z]{2,11})[ .](?=\d{2,4})/g, "");
  return findDistinct(compact, vatPattern);
}

export function findEmails(text: string): string[] {
  return findDistinct(text, /([\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})/g);
}

const webPattern =
  /((?<![@\w.])(?:https?:\/\/|www\.)[^\s,;)]+|(?<![@\w./-])(?:[\w-]{1,63}\.){1,8}(?:com|org|net|io|dev|co\.uk|fr|de|es|it|nl|eu)(?:\/[^\s,;)]*)?(?![\w@.]))/gi;

export function findWebsites(text: string): string[] {
  return [...new Set(findDistinct(text, webPattern).map((match) => trimEndOf(match, /[./]/)))];
}

/** Only numbers after a label, with a plus sign, or alone in a part of a letterhead, because documents contain many other numbers. */
export function findPhones(text: string): string[] {
  const faxes = findFaxes(text);
  const labelled = findNumbersAfter(
    text,
    "(?:tel|phone|ph|mobile|mob|cell|call|téléphone|telefon|tél|puh|tlf|tfn|fono?|gsm|móvil|cel)",
  );
  const international = findDistinct(text, /(?<![\w])(\+\d[\d\s().-]{7,17}\d)/g);
  const shortLabelled = findDistinct(
    text,
    /(?:^|[\n|·•–,;]\s?|\s{2})(?:T|P|M|Tf)[.:]?\s{1,2}(\+?[\d(][\d\s().\-/]{6,18}\d)/g,
  );
  const alone = text
    .split(/\n| {2}|\s[–—·•|∙]\s|[•|]/)
    .map((part) => part.trim())
    .filter((part) => aloneForms.some((form) => form.test(part)) && !isDateLike(part));
  return [...new Set([...labelled, ...shortLabelled, ...international, ...alone])].filter(
    (phone) => !faxes.includes(phone),
  );
}

/** With an area code that begins with a zero or stands in parentheses, and the American form. */
const aloneForms = [
  /^\(?0\d{1,5}\)?[\s/-][\d\s()./-]{4,14}\d$/,
  /^\(\d{2,4}\)\s?[\d\s-]{5,10}\d$/,
  /^\d{3}[-.]\d{3}[-.]\d{4}$/,
];

function isDateLike(text: string): boolean {
  return findDates(text).length > 0 || text.replace(/\D/g, "").length < 8;
}

export function findFaxes(text: string): string[] {
  return findNumbersAfter(text, "(?:tele)?fax");
}

function findNumbersAfter(text: string, label: string): string[] {
  const pattern = `\\b${label}[a-zé.]*\\s*(?:no\\.?)?[:.\\s]*(\\+?[\\d(][\\d\\s().\\-/]{6,18}\\d)`;
  return findDistinct(text, new RegExp(pattern, "gi"));
}

/** The first group of each match, without repetitions. */
function findDistinct(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, found = ""]) => found.trim()))];
}
