// Parses printed values: amounts, dates, account and company numbers, contacts. Values that are not found are null.

import { lookUp } from "../../../lib/look-up.ts";
import { trimEndOf } from "../text/characters.ts";
import { isIban } from "../text/check-digits.ts";

const currencySign = "(?:US\\$|C\\$|CA\\$|A\\$|AU\\$|NZ\\$|HK\\$|S\\$|R\\$|[$€£¥₹]|[A-Z]{3}|kr\\.?|zł|CHF|Kč|Ft)";
const figures = "\\d{1,3}(?:[ ,.'’\\u00a0]\\d{3}){1,4}(?:[.,]\\d{1,2})?|\\d+(?:[.,]\\d{1,2})?";
const amountPattern = new RegExp(
  `^(-|–|\\()?\\s*(?:${currencySign})?\\s*(-|–)?\\s*(${figures})\\s*(?:${currencySign})?\\s*\\)?\\s*[A-Z*]?$`,
);
const amountInText = new RegExp(
  `(?<![\\w.,/-])[-–(]?\\s?(?:${currencySign})?\\s?-?(?:${figures})(?:\\s?${currencySign})?\\)?(?![\\w%/.,-]*\\d)(?!\\s?%)`,
  "g",
);

/** The value of a text that consists of an amount only. */
export function readAmount(text: string): number | null {
  const [, opening, minus, number] = amountPattern.exec(text.trim()) ?? [];
  const value = number === undefined ? null : toNumber(number);
  if (value === null) return null;
  return opening !== undefined || minus !== undefined ? -value : value;
}

export function readLastAmount(text: string): number | null {
  const amounts = [...text.matchAll(amountInText)].map(([match]) => readAmount(match));
  return amounts.filter((amount) => amount !== null).at(-1) ?? null;
}

/** The last separator of 1,234.56 or 1.234,56 is the decimal one; a single separator before three digits groups thousands. */
function toNumber(text: string): number | null {
  const bare = text.replace(/[ '’\u00a0]/g, "");
  const lastSeparator = Math.max(bare.lastIndexOf("."), bare.lastIndexOf(","));
  const decimals = lastSeparator < 0 ? 0 : bare.length - lastSeparator - 1;
  const isGrouped = decimals === 3 || lastSeparator < 0;
  const whole = isGrouped ? bare.replace(/[.,]/g, "") : bare.slice(0, lastSeparator).replace(/[.,]/g, "");
  const value = Number(isGrouped ? whole : `${whole}.${bare.slice(lastSeparator + 1)}`);
  return Number.isFinite(value) ? value : null;
}

/** Currency signs. A dollar sign alone means US dollars. */
const currencySigns: Readonly<Record<string, string>> = {
  $: "USD",
  US$: "USD",
  C$: "CAD",
  CA$: "CAD",
  A$: "AUD",
  AU$: "AUD",
  NZ$: "NZD",
  HK$: "HKD",
  S$: "SGD",
  R$: "BRL",
  "€": "EUR",
  "£": "GBP",
  "¥": "JPY",
  "₹": "INR",
  zł: "PLN",
  Kč: "CZK",
  Ft: "HUF",
};
const currencyCodes = new Set(
  (
    "USD EUR GBP CHF CAD AUD NZD JPY CNY INR SEK NOK DKK PLN CZK HUF RON BGN BRL MXN ZAR SGD HKD KRW TRY ILS AED SAR THB " +
    "MYR IDR PHP VND CLP COP ARS PEN UAH NGN KES EGP MAD"
  ).split(" "),
);

/** The most frequent currency. Codes count more than signs, because many countries use $. */
export function findCurrency(text: string): { sign: string; code: string } | null {
  const votes = new Map<string, number>();
  const vote = (code: string, weight: number) => votes.set(code, (votes.get(code) ?? 0) + weight);
  for (const [code] of text.matchAll(/\b[A-Z]{3}\b/g)) if (currencyCodes.has(code)) vote(code, 3);
  for (const [sign] of text.matchAll(/(?:US|CA|AU|NZ|HK|C|A|S|R)?[$]|[€£¥₹]|zł|Kč/g)) {
    const code = lookUp(currencySigns, sign);
    if (code !== undefined) vote(code, 1);
  }
  const [best] = [...votes].toSorted(([, first], [, second]) => second - first);
  if (best === undefined) return null;
  const sign = Object.entries(currencySigns).find(([, code]) => code === best[0])?.[0] ?? best[0];
  return { sign, code: best[0] };
}

const months: readonly (readonly string[])[] = [
  ["jan", "janv", "janvier", "january", "januar", "enero", "gennaio", "januari"],
  ["feb", "févr", "fevr", "février", "fevrier", "february", "februar", "febrero", "febbraio", "februari"],
  ["mar", "mars", "march", "märz", "marz", "mrz", "marzo", "maart"],
  ["apr", "avr", "avril", "april", "abril", "abr", "aprile"],
  ["may", "mai", "mayo", "maggio", "mei"],
  ["jun", "juin", "june", "juni", "junio", "giugno"],
  ["jul", "juil", "juillet", "july", "juli", "julio", "luglio"],
  ["aug", "août", "aout", "august", "agosto", "ago", "augustus"],
  ["sep", "sept", "septembre", "september", "septiembre", "settembre"],
  ["oct", "octobre", "october", "oktober", "okt", "octubre", "ottobre"],
  ["nov", "novembre", "november", "noviembre"],
  ["dec", "déc", "décembre", "decembre", "december", "dezember", "dez", "diciembre", "dic", "dicembre"],
];
const monthNumbers = new Map(months.flatMap((names, index) => names.map((name) => [name, index + 1] as const)));
const monthName = "[\\p{L}]{3,10}\\.?";
const numericDate = /(?<!\d)(\d{1,4})\s?[./-]\s?(\d{1,2})\s?[./-]\s?(\d{2,4})(?!\d)/;
const dayFirst = new RegExp(
  `(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|er|\\.)?[\\s-]+(?:de\\s+)?(${monthName})[\\s,-]+(?:de\\s+)?(\\d{4}|\\d{2})(?!\\d)`,
  "iu",
);
const monthFirst = new RegExp(`(${monthName})\\s*(\\d{1,2})(?:st|nd|rd|th)?,?\\s+(\\d{4})(?!\\d)`, "iu");

/** The first date in the text, as YYYY-MM-DD. `monthComesFirst` decides how 03/04/2026 is read. */
export function findDate(text: string, monthComesFirst = false): string | null {
  const numeric = numericDate.exec(text);
  if (numeric !== null) {
    const [first, second, third] = [Number(numeric[1]), Number(numeric[2]), Number(numeric[3])];
    if ((numeric[1] ?? "").length === 4) return toIsoDate(first, second, third);
    const isMonthFirst = second > 12 || (monthComesFirst && first <= 12);
    return isMonthFirst ? toIsoDate(third, first, second) : toIsoDate(third, second, first);
  }
  const [, day, month, year] = dayFirst.exec(text) ?? [];
  if (toMonth(month) !== null) return toIsoDate(Number(year), toMonth(month), Number(day));
  const [, otherMonth, otherDay, otherYear] = monthFirst.exec(text) ?? [];
  return toIsoDate(Number(otherYear), toMonth(otherMonth), Number(otherDay));
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

/** Only numbers after a label or with a plus sign, because documents contain many other numbers. */
export function findPhones(text: string): string[] {
  const faxes = findFaxes(text);
  const labelled = findNumbersAfter(text, "(?:tel|phone|ph|mobile|mob|cell|call|téléphone|telefon|tél)");
  const international = findDistinct(text, /(?<![\w])(\+\d[\d\s().-]{7,17}\d)/g);
  return [...new Set([...labelled, ...international])].filter((phone) => !faxes.includes(phone));
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
