// The currency of a document: by the code or sign beside its amounts, and where a sign has several meanings by the country and the language.

import { lookUp } from "../../../lib/look-up.ts";

const codes =
  "USD EUR GBP CHF CAD AUD NZD JPY CNY INR SEK NOK DKK ISK PLN CZK HUF RON BGN RSD BRL MXN ZAR SGD HKD TWD KRW TRY ILS AED SAR QAR KWD BHD " +
  "OMR JOD THB MYR IDR PHP VND CLP COP ARS PEN UYU UAH RUB KZT GEL NGN KES GHS TZS UGX EGP MAD TND PKR LKR BDT NPR";
const currencyCodes: ReadonlySet<string> = new Set(codes.split(" "));

/** The currencies that a sign can mean. */
const signs: Readonly<Record<string, string>> = {
  "€": "EUR",
  "£": "GBP",
  $: "USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP UYU",
  US$: "USD",
  C$: "CAD",
  CA$: "CAD",
  CAN$: "CAD",
  A$: "AUD",
  AU$: "AUD",
  NZ$: "NZD",
  HK$: "HKD",
  NT$: "TWD",
  S$: "SGD",
  MX$: "MXN",
  R$: "BRL",
  "¥": "JPY CNY",
  "￥": "JPY CNY",
  円: "JPY",
  元: "CNY TWD HKD",
  人民币: "CNY",
  RMB: "CNY",
  "₹": "INR",
  "Rs.": "INR PKR LKR NPR",
  Rs: "INR PKR LKR NPR",
  "kr.": "SEK NOK DKK ISK",
  kr: "SEK NOK DKK ISK",
  Kr: "SEK NOK DKK ISK",
  zł: "PLN",
  zl: "PLN",
  Kč: "CZK",
  Ft: "HUF",
  lei: "RON",
  "лв.": "BGN",
  лв: "BGN",
  "₺": "TRY",
  TL: "TRY",
  "₽": "RUB",
  "₴": "UAH",
  "₩": "KRW",
  원: "KRW",
  "₪": "ILS",
  "₫": "VND",
  "฿": "THB",
  "₱": "PHP",
  "₦": "NGN",
  RM: "MYR",
  Rp: "IDR",
  "S/": "PEN",
  "Fr.": "CHF",
  "SFr.": "CHF",
  sFr: "CHF",
  // Also the letter of an article, so only the country decides.
  R: "ZAR ?",
};

/** Longest first, so that "US$" is not read as "$". */
function toPattern(marks: readonly string[]): string {
  const sorted = marks.toSorted((first, second) => second.length - first.length);
  return `(?:${sorted.map((mark) => mark.replace(/[$./]/g, "\\$&")).join("|")})`;
}

export const currencyMarkPattern = toPattern([...Object.keys(signs), ...currencyCodes]);
/** After an amount, R is a tax class and not the rand. */
const onlyBefore = ["R", "S/", "RM", "Rp", "Rs", "Rs."];
export const currencyEndPattern = toPattern(
  [...Object.keys(signs), ...currencyCodes].filter((mark) => !onlyBefore.includes(mark)),
);

const currencyOfCountry: Readonly<Record<string, string>> = {
  US: "USD",
  CA: "CAD",
  AU: "AUD",
  NZ: "NZD",
  SG: "SGD",
  HK: "HKD",
  TW: "TWD",
  MX: "MXN",
  AR: "ARS",
  CL: "CLP",
  CO: "COP",
  UY: "UYU",
  JP: "JPY",
  CN: "CNY",
  IN: "INR",
  PK: "PKR",
  LK: "LKR",
  NP: "NPR",
  SE: "SEK",
  NO: "NOK",
  DK: "DKK",
  IS: "ISK",
  ZA: "ZAR",
  GB: "GBP",
  CH: "CHF",
  PL: "PLN",
  CZ: "CZK",
  HU: "HUF",
  TR: "TRY",
  BR: "BRL",
  ...Object.fromEntries(
    "AT BE CY DE EE ES FI FR GR IE IT LT LU LV MT NL PT SI SK".split(" ").map((country) => [country, "EUR"]),
  ),
};
const currencyOfLanguage: Readonly<Record<string, string>> = { sv: "SEK", da: "DKK", no: "NOK", ja: "JPY", zh: "CNY" };

export interface CurrencyEvidence {
  /** The signs and codes beside the total and the amount due. */
  readonly totalMarks: readonly string[];
  /** Those beside all amounts. */
  readonly marks: readonly string[];
  readonly text: string;
  /** The two-letter code of the seller's country. */
  readonly country: string | null;
  readonly language: string | null;
}

export interface Currency {
  /** As printed; null: none is printed. */
  readonly mark: string | null;
  /** Null: the sign has several meanings and nothing decides, or the document contradicts itself. */
  readonly code: string | null;
}

const declaration = new RegExp(
  `(?:currency|w[äa]hrung|devise|moneda|valuta|moeda|waluta|valuutta|m[ěe]na|para birimi|通貨|币种|(?:amounts?|prices?|values?|betr[äa]ge|montants?|importes?)\\b[^.\\n]{0,20}?\\b(?:in|en))[\\s:]{1,4}(${[...currencyCodes].join("|")})\\b`,
  "giu",
);
/** A code in parentheses, as in "Amount (EUR)", or as a word of a total's label. */
const labelled = new RegExp(`[([]\\s?(${[...currencyCodes].join("|")})\\s?[)\\]]`, "g");

/** Codes that are not also words or abbreviations. */
const commonCode = /\b(EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|JPY|CNY|INR|BRL|AUD)\b/g;

export function findCurrency(evidence: CurrencyEvidence): Currency | null {
  const totalCodes = onlyCodes(evidence.totalMarks);
  const declared = new Set([...evidence.text.matchAll(declaration)].map(([, code = ""]) => code.toUpperCase()));
  const printed = new Set([...onlyCodes(evidence.marks), ...matchesOf(evidence.text, labelled)]);
  const totalSigns = [...new Set(evidence.totalMarks.filter((mark) => !currencyCodes.has(mark)))];
  const allSigns = [...new Set(evidence.marks.filter((mark) => !currencyCodes.has(mark)))];

  if (totalCodes.size === 1) return withSign([...totalCodes][0] ?? "", totalSigns);
  if (declared.size === 1) {
    const [code = ""] = declared;
    const contradicts = totalSigns.some((sign) => !meaningsOf(sign).includes(code)) || totalCodes.size > 1;
    return { mark: totalSigns[0] ?? code, code: contradicts ? null : code };
  }
  if (totalCodes.size > 1) return null;
  const relevantSigns = totalSigns.length > 0 ? totalSigns : allSigns;
  if (relevantSigns.length === 0) {
    const code = mostFrequent(evidence.marks.filter((mark) => currencyCodes.has(mark))) ?? only(printed);
    if (code !== null) return { mark: code, code };
    // Receipts often print no currency at all: it is that of the country.
    const mentioned = new Set(matchesOf(evidence.text, commonCode));
    if (mentioned.size === 1) return { mark: null, code: [...mentioned][0] ?? null };
    const local = printed.size > 0 ? undefined : lookUp(currencyOfCountry, evidence.country ?? "");
    return local === undefined ? null : { mark: null, code: local };
  }
  const [sign = ""] = relevantSigns;
  const common = meaningsOf(sign).filter((code) => relevantSigns.every((one) => meaningsOf(one).includes(code)));
  return { mark: sign, code: decide(common, printed, evidence) };
}

/** Which of the meanings of a sign applies. */
function decide(meanings: readonly string[], printed: ReadonlySet<string>, evidence: CurrencyEvidence): string | null {
  if (meanings.length <= 1) return meanings[0] ?? null;
  const named = meanings.filter((code) => printed.has(code));
  if (named.length > 0) return named.length === 1 ? (named[0] ?? null) : null;
  const byCountry = lookUp(currencyOfCountry, evidence.country ?? "");
  if (byCountry !== undefined && meanings.includes(byCountry)) return byCountry;
  const mentioned = meanings.filter((code) => code !== "?" && new RegExp(`\\b${code}\\b`).test(evidence.text));
  if (mentioned.length === 1) return mentioned[0] ?? null;
  // A country that is known and uses another currency decides nothing, and neither does its language.
  const byLanguage = evidence.country === null ? lookUp(currencyOfLanguage, evidence.language ?? "") : undefined;
  return byLanguage !== undefined && meanings.includes(byLanguage) ? byLanguage : null;
}

function withSign(code: string, printedSigns: readonly string[]): Currency {
  return { mark: printedSigns.find((sign) => meaningsOf(sign).includes(code)) ?? code, code };
}

function meaningsOf(mark: string): string[] {
  return currencyCodes.has(mark) ? [mark] : (lookUp(signs, mark)?.split(" ") ?? []);
}

function onlyCodes(marks: readonly string[]): Set<string> {
  return new Set(marks.filter((mark) => currencyCodes.has(mark)));
}

function matchesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}

function only(values: ReadonlySet<string>): string | null {
  return values.size === 1 ? ([...values][0] ?? null) : null;
}

/** Null unless it occurs at least three times as often as any other. */
function mostFrequent(values: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first, second] = [...counts].toSorted(([, one], [, other]) => other - one);
  return first === undefined || (second !== undefined && first[1] < 3 * second[1]) ? null : first[0];
}
