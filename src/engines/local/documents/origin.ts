// Where a document comes from: the seller's country and the language, by marks that each point to one country.

import { lookUp } from "../../../lib/look-up.ts";
import { findCountry } from "./countries.ts";
import type { DateOrder, PrintedDate } from "./values.ts";

export interface Origin {
  /** The two-letter code of the seller's country; null: nothing decides. */
  readonly country: string | null;
  /** Of the labels, ISO 639-1; null: they are of several languages or of none. */
  readonly language: string | null;
}

/** Marks of a country, by how much they prove. */
const marks: readonly (readonly [RegExp, string, number])[] = [
  [
    /\bEIN\b|\bFEIN\b|\bsales tax\b|\b(?:routing|ABA)\s?(?:no|number|#)|\bACH\b|,\s?[A-Z]{2}\s\d{5}(?:-\d{4})?\b/,
    "US",
    4,
  ],
  [
    /\bTax\s?\((?:A[LKZR]|C[AOT]|DE|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY])\b/,
    "US",
    4,
  ],
  [
    /\b(?:A[LKZR]|C[AOT]|DC|DE|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY])\s+\d{5}(?:-\d{4})?\b/,
    "US",
    3,
  ],
  [/\bsales tax\b/i, "US", 2],
  [/\bHST\b|\bQST\b|\bTVQ\b|\bTPS\b|\bGST\/HST\b|\bPST\b/, "CA", 4],
  [/\b[ABCEGHJ-NPRSTVXY]\d[A-Z]\s?\d[A-Z]\d\b/, "CA", 3],
  [/\bABN\b|\bBSB\b|\b(?:NSW|VIC|QLD|TAS|ACT)\s+\d{4}\b/, "AU", 4],
  [/\bNZBN\b/, "NZ", 4],
  [/\bGSTIN\b|\bCGST\b|\bSGST\b|\bIGST\b|\bIFSC\b/, "IN", 4],
  [/\bUEN\b/, "SG", 3],
  [/\bSIRET\b|\bSIREN\b|\bRCS\b/, "FR", 4],
  [/\bHR[AB]\s?\d|\bAmtsgericht\b|\bUSt-?Id/i, "DE", 3],
  [/\bCHE-?\d{3}/, "CH", 4],
  [/\bMWST\b.{0,12}CHE|\bCHF\b/, "CH", 2],
  [/\bKvK\b/i, "NL", 4],
  [/\bNIP\b|\bREGON\b/, "PL", 4],
  [/\bCVR\b/, "DK", 4],
  [/\bBankgiro\b|\bPlusgiro\b|\bF-skatt\b|\bmomsreg/i, "SE", 4],
  [/\bMVA\b|\bForetaksregisteret\b|\bBankAxept\b/i, "NO", 4],
  [/\bY-tunnus\b/i, "FI", 4],
  [/\bIČO?\b|\bDIČ\b/, "CZ", 4],
  [/\bVKN\b|\bVergi Dairesi\b|\bKDV\b/i, "TR", 4],
  [/\bCNPJ\b|\bCPF\b|\bCEP\b|\bICMS\b/, "BR", 4],
  [/\bNIPC\b/, "PT", 3],
  [/\bRFC\b|\bCFDI\b/, "MX", 4],
  [/\bCUIT\b/, "AR", 4],
  [/\bP\.?\s?IVA\b|\bPartita IVA\b|\bCodice Fiscale\b/i, "IT", 4],
  [/\bC\.?I\.?F\.?\s?:?\s?[A-Z]\d|\bIRPF\b/, "ES", 3],
  [/\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b|\bSort code\b/i, "GB", 3],
  [/[ぁ-んァ-ヶ]|〒\d/, "JP", 4],
  [/增值税|发票|纳税人识别号|[这们发为应]/, "CN", 4],
  [/統一編號|統一發票/, "TW", 4],
];
const vatPrefix =
  /\b(AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK)[A-Z\d]?\d[\dA-Z]{6,11}\b/;
const callingCodes: Readonly<Record<string, string>> = {
  "31": "NL",
  "32": "BE",
  "33": "FR",
  "34": "ES",
  "351": "PT",
  "353": "IE",
  "354": "IS",
  "358": "FI",
  "36": "HU",
  "39": "IT",
  "40": "RO",
  "41": "CH",
  "420": "CZ",
  "43": "AT",
  "44": "GB",
  "45": "DK",
  "46": "SE",
  "47": "NO",
  "48": "PL",
  "49": "DE",
  "52": "MX",
  "54": "AR",
  "55": "BR",
  "56": "CL",
  "57": "CO",
  "61": "AU",
  "64": "NZ",
  "65": "SG",
  "81": "JP",
  "82": "KR",
  "852": "HK",
  "86": "CN",
  "886": "TW",
  "90": "TR",
  "91": "IN",
};
const domains: Readonly<Record<string, string>> = { uk: "GB" };
const countryOfLanguage: Readonly<Record<string, string>> = {
  pl: "PL",
  sv: "SE",
  da: "DK",
  no: "NO",
  fi: "FI",
  cs: "CZ",
  tr: "TR",
  hu: "HU",
  ja: "JP",
};

export interface OriginEvidence {
  /** The text without the lines of the customer. */
  readonly text: string;
  /** The country in the seller's address. */
  readonly printedCountry: string | null;
  /** The seller's VAT number and the IBAN. */
  readonly numbers: readonly (string | null)[];
  /** The language of each label that belongs to one. */
  readonly languages: readonly string[];
}

export function findOrigin({ text, printedCountry, numbers, languages }: OriginEvidence): Origin {
  const language = mostFrequent(languages);
  if (printedCountry !== null) return { country: printedCountry, language };
  const scores = new Map<string, number>();
  const vote = (country: string, weight: number) => scores.set(country, (scores.get(country) ?? 0) + weight);
  for (const [pattern, country, weight] of marks) if (pattern.test(text)) vote(country, weight);
  for (const number of numbers) {
    const prefix = /^[A-Z]{2}/.exec(number ?? "")?.[0];
    if (prefix !== undefined) vote(prefix === "EL" ? "GR" : prefix, 4);
  }
  const vat = vatPrefix.exec(text)?.[1];
  if (vat !== undefined) vote(vat, 2);
  for (const [, digits = ""] of text.slice(0, 20_000).matchAll(/(?<![\w+])(?:\+|\b00)(\d{2,3})/g)) {
    const country = lookUp(callingCodes, digits) ?? lookUp(callingCodes, digits.slice(0, 2));
    if (country !== undefined) vote(country, 2);
  }
  for (const [, domain = ""] of text.slice(0, 20_000).matchAll(/[\w-]\.([a-z]{2})(?![\w.@-])/g)) {
    const country = lookUp(domains, domain) ?? domain.toUpperCase();
    if (isCountry(country)) vote(country, 2);
  }
  const ofLanguage = lookUp(countryOfLanguage, language ?? "");
  if (ofLanguage !== undefined) vote(ofLanguage, 2);
  const [first, second] = [...scores].toSorted(([, one], [, other]) => other - one);
  const isDecided = first !== undefined && first[1] >= 2 && first[1] > (second?.[1] ?? 0);
  return { country: isDecided ? first[0] : null, language };
}

const knownDomains = new Set(
  "at be ch cz de dk es fi fr hu it nl no pl pt ro se au nz jp cn in br mx ca gb us sg hk tw tr ie"
    .toUpperCase()
    .split(" "),
);
function isCountry(code: string): boolean {
  return knownDomains.has(code);
}

const monthFirstCountries = new Set(["US", "PH"]);
const yearFirstCountries = new Set(["JP", "CN", "TW", "KR"]);
/** Both orders are common. */
const mixedCountries = new Set(["CA"]);
const currencyOrder: Readonly<Record<string, DateOrder>> = {
  USD: "month",
  EUR: "day",
  GBP: "day",
  AUD: "day",
  NZD: "day",
  INR: "day",
  CHF: "day",
  SGD: "day",
  ZAR: "day",
  BRL: "day",
  MXN: "day",
  PLN: "day",
  SEK: "day",
  NOK: "day",
  DKK: "day",
  CZK: "day",
  TRY: "day",
  JPY: "year",
  CNY: "year",
};

/** How the document writes dates: as its other dates show, otherwise as in its country, language or currency. */
export function findDateOrder(
  dates: readonly PrintedDate[],
  origin: Origin,
  currency: string | null,
): DateOrder | null {
  const shown = new Set(
    dates.flatMap(({ day, month, year }): DateOrder[] => {
      if (day !== null && month === null && year === null) return ["day"];
      return month !== null && day === null && year === null ? ["month"] : [];
    }),
  );
  if (shown.size > 0) return shown.size === 1 ? ([...shown][0] ?? null) : null;
  const { country, language } = origin;
  if (country !== null) {
    if (mixedCountries.has(country)) return null;
    if (monthFirstCountries.has(country)) return "month";
    return yearFirstCountries.has(country) ? "year" : "day";
  }
  if (language !== null && language !== "en") return ["ja", "zh"].includes(language) ? "year" : "day";
  return lookUp(currencyOrder, currency ?? "") ?? null;
}

/** The two-letter code of a country by its name in an address. */
export function toCountryCode(name: string | null): string | null {
  return name === null ? null : (findCountry(name)?.alpha2 ?? null);
}

/** Null unless it is more frequent than every other value. */
function mostFrequent(values: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first, second] = [...counts].toSorted(([, one], [, other]) => other - one);
  return first === undefined || first[1] === second?.[1] ? null : first[0];
}
