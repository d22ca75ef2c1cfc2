// Parses printed values: amounts, dates, account and company numbers. Each function returns null for other text.

import { lookUp } from "../../../lib/look-up.ts";
import { trimEndOf } from "../text/characters.ts";

export interface Amount {
  readonly value: number;
  /** The sign or code beside it, as printed. */
  readonly currency: string | null;
}

const currencySign = "(?:US\\$|C\\$|CA\\$|A\\$|AU\\$|NZ\\$|HK\\$|S\\$|R\\$|[$€£¥₹]|[A-Z]{3}|kr\\.?|zł|CHF|Kč|Ft)";
const figures = "\\d{1,3}(?:[ ,.'’\\u00a0]\\d{3}){1,4}(?:[.,]\\d{1,2})?|\\d+(?:[.,]\\d{1,2})?";
const amountPattern = new RegExp(
  `^(-|–|\\()?\\s*(${currencySign})?\\s*(-|–)?\\s*(${figures})\\s*(${currencySign})?\\s*\\)?\\s*[A-Z*]?$`,
);
const amountInText = new RegExp(
  `(?<![\\w.,/-])[-–(]?\\s?(?:${currencySign})?\\s?-?(?:${figures})(?:\\s?${currencySign})?\\)?(?![\\w%/.,-]*\\d)(?!\\s?%)`,
  "g",
);

/** A text that consists of an amount only. */
export function readAmount(text: string): Amount | null {
  const match = amountPattern.exec(text.trim());
  if (match === null) return null;
  const [, opening, before, minus, number = "", after] = match;
  const value = toNumber(number);
  if (value === null) return null;
  const isNegative = opening !== undefined || minus !== undefined;
  return { value: isNegative ? -value : value, currency: before ?? after ?? null };
}

/** The last amount of a line with other text. */
export function readLastAmount(text: string): Amount | null {
  const found = [...text.matchAll(amountInText)]
    .map(([match]) => readAmount(match))
    .filter((amount) => amount !== null);
  return found.at(-1) ?? null;
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

/** Both the signs and the codes that a document may print; a bare dollar is taken for the American one. */
const currencyCodes: Readonly<Record<string, string>> = {
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
const knownCodes = new Set(
  (
    "USD EUR GBP CHF CAD AUD NZD JPY CNY INR SEK NOK DKK PLN CZK HUF RON BGN BRL MXN ZAR SGD HKD KRW TRY ILS AED SAR THB " +
    "MYR IDR PHP VND CLP COP ARS PEN UAH NGN KES EGP MAD"
  ).split(" "),
);

/** The most frequent currency; codes count more than signs, since $ is many countries'. */
export function findCurrency(text: string): { sign: string; code: string } | null {
  const votes = new Map<string, number>();
  const vote = (code: string, weight: number) => votes.set(code, (votes.get(code) ?? 0) + weight);
  for (const [code] of text.matchAll(/\b[A-Z]{3}\b/g)) if (knownCodes.has(code)) vote(code, 3);
  for (const [sign] of text.matchAll(/(?:US|CA|AU|NZ|HK|C|A|S|R)?[$]|[€£¥₹]|zł|Kč/g)) {
    const code = lookUp(currencyCodes, sign);
    if (code !== undefined) vote(code, 1);
  }
  const [best] = [...votes].toSorted(([, first], [, second]) => second - first);
  if (best === undefined) return null;
  const sign = Object.entries(currencyCodes).find(([, code]) => code === best[0])?.[0] ?? best[0];
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
/** Longest first, as a pattern wants them. */
export const monthNames: readonly string[] = [...monthNumbers.keys()].toSorted(
  (first, second) => second.length - first.length,
);
const monthName = "[\\p{L}]{3,10}\\.?";
const numericDate = /(?<!\d)(\d{1,4})\s?[./-]\s?(\d{1,2})\s?[./-]\s?(\d{2,4})(?!\d)/;
const dayFirst = new RegExp(
  `(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|er|\\.)?[\\s-]+(?:de\\s+)?(${monthName})[\\s,-]+(?:de\\s+)?(\\d{4}|\\d{2})(?!\\d)`,
  "iu",
);
const monthFirst = new RegExp(`(${monthName})\\s*(\\d{1,2})(?:st|nd|rd|th)?,?\\s+(\\d{4})(?!\\d)`, "iu");

/** The first date in the text, as YYYY-MM-DD. `monthComesFirst` settles 03/04/2026. */
export function findDate(text: string, monthComesFirst = false): string | null {
  const numeric = numericDate.exec(text);
  if (numeric !== null) {
    const [first, second, third] = [Number(numeric[1]), Number(numeric[2]), Number(numeric[3])];
    if ((numeric[1] ?? "").length === 4) return toIsoDate(first, second, third);
    const isMonthFirst = second > 12 || (monthComesFirst && first <= 12);
    return isMonthFirst ? toIsoDate(third, first, second) : toIsoDate(third, second, first);
  }
  const named = dayFirst.exec(text);
  const namedMonth = toMonth(named?.[2]);
  if (named !== null && namedMonth !== null) return toIsoDate(Number(named[3]), namedMonth, Number(named[1]));
  const american = monthFirst.exec(text);
  const americanMonth = toMonth(american?.[1]);
  if (american !== null && americanMonth !== null)
    return toIsoDate(Number(american[3]), americanMonth, Number(american[2]));
  return null;
}

export function toMonth(name: string | undefined): number | null {
  return monthNumbers.get((name ?? "").toLowerCase().replace(".", "")) ?? null;
}

function toIsoDate(year: number, month: number, day: number): string | null {
  const full = year < 100 ? 2000 + year : year;
  const date = new Date(Date.UTC(full, month - 1, day));
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && full >= 1900 && full <= 2100;
  return isReal ? date.toISOString().slice(0, 10) : null;
}

/** Found with or without spaces, and only if its check digits are right. */
export function findIban(text: string): string | null {
  for (const [match] of text.matchAll(/\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}/g)) {
    const compact = match.replaceAll(" ", "");
    // What follows on the line may have been taken along.
    for (let length = Math.min(34, compact.length); length >= 15; length--) {
      const candidate = compact.slice(0, length);
      if (isIban(candidate)) return candidate;
    }
  }
  return null;
}

function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) return false;
  let remainder = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const figure = Number.parseInt(character, 36);
    remainder = (remainder * (figure > 9 ? 100 : 10) + figure) % 97;
  }
  return remainder === 1;
}

/** Value-added-tax numbers of Europe, by their country's form. */
const vatPattern =
  /\b(ATU\d{8}|BE[01]\d{9}|BG\d{9,10}|CHE-?\d{3}\.?\d{3}\.?\d{3}|CY\d{8}[A-Z]|CZ\d{8,10}|DE\d{9}|DK\d{8}|EE\d{9}|EL\d{9}|ES[A-Z0-9]\d{7}[A-Z0-9]|FI\d{8}|FR[A-Z0-9]{2}\d{9}|GB\d{9}(?:\d{3})?|HR\d{11}|HU\d{8}|IE\d[A-Z0-9+*]\d{5}[A-Z]{1,2}|IT\d{11}|LT(?:\d{9}|\d{12})|LU\d{8}|LV\d{11}|MT\d{8}|NL\d{9}B\d{2}|PL\d{10}|PT\d{9}|RO\d{2,10}|SE\d{12}|SI\d{8}|SK\d{10})\b/g;

export function findVatNumbers(text: string): string[] {
  const tight = text
    .replace(/\b([A-Z]{2}U?)\s(?=[\dA-Z]{2,3}[\s.]?\d)/g, "$1")
    .replace(/(?<=\b[A-Z]{2}U?[\dA-Z]{2,11})[ .](?=\d{2,4})/g, "");
  return [...new Set([...tight.matchAll(vatPattern)].map(([match]) => match))];
}

export function findEmails(text: string): string[] {
  return [
    ...new Set(
      [...text.matchAll(/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g)].map(([match]) => match.replace(/\.$/, "")),
    ),
  ];
}

export function findWebsites(text: string): string[] {
  const found = text.matchAll(
    /(?<![@\w.])(?:https?:\/\/|www\.)[^\s,;)]+|(?<![@\w./-])(?:[\w-]{1,63}\.){1,8}(?:com|org|net|io|dev|co\.uk|fr|de|es|it|nl|eu)(?:\/[^\s,;)]*)?(?![\w@.])/gi,
  );
  return [...new Set([...found].map(([match]) => trimEndOf(match, /[./]/)))];
}

const phoneLabel = "(?:tel|phone|ph|mobile|mob|cell|call|téléphone|telefon|tél)";

/** Only what stands after a label or a plus: documents are full of other numbers. */
export function findPhones(text: string): string[] {
  const international = [...text.matchAll(/(?<![\w])\+\d[\d\s().-]{7,17}\d/g)].map(([number]) => number.trim());
  const faxes = findFaxes(text);
  const phones = [...findNumbersAfter(text, phoneLabel), ...international];
  return [...new Set(phones)].filter((phone) => !faxes.includes(phone));
}

export function findFaxes(text: string): string[] {
  return findNumbersAfter(text, "(?:tele)?fax");
}

function findNumbersAfter(text: string, label: string): string[] {
  const pattern = new RegExp(`\\b${label}[a-zé.]*\\s*(?:no\\.?)?[:.\\s]*(\\+?[\\d(][\\d\\s().\\-/]{6,18}\\d)`, "gi");
  return [...new Set([...text.matchAll(pattern)].map(([, number = ""]) => number.trim()))];
}
