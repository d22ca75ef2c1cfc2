// Splits a printed address into its parts.

import { type Country, findCountry } from "./countries.ts";

export interface Address {
  readonly formatted: string;
  readonly street: string | null;
  readonly houseNumber: string | null;
  readonly zipCode: string | null;
  readonly city: string | null;
  readonly province: string | null;
  readonly country: Country | null;
}

const american = /^(?<city>.*?),?\s+(?<province>[A-Z]{2})\s+(?<zipCode>\d{5}(?:-\d{4})?)$/;
const canadian = /^(?<city>.*?),?\s+(?<province>[A-Z]{2})\s+(?<zipCode>[A-Z]\d[A-Z]\s?\d[A-Z]\d)$/;
const australian = /^(?<city>.*?),?\s+(?<province>NSW|VIC|QLD|WA|SA|TAS|ACT|NT)\s+(?<zipCode>\d{4})$/;
const british = /^(?<city>.*?),?\s*\b(?<zipCode>[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2})$/;
/** A code without a city must contain its space, because "K123456" is more likely a customer number. */
const irish = /^(?<city>.*?),?(?:\s+|^(?=\S{3}\s))(?<zipCode>[A-Z]\d[\dW]\s?[A-Z\d]{4})$/;
const japanese =
  /^〒?\s?(?<zipCode>\d{3}-\d{4})\s*(?<province>\p{Script=Han}{2,3}?[都道府県])?(?<city>\p{Script=Han}{1,6}?[市区])?/u;
/** "Mumbai 400001", "Pune - 411 001", "Bengaluru, Karnataka 560001", "São Paulo - SP 01310-100". */
const cityFirst =
  /^(?<city>\p{L}[\p{L}\s.'’]{1,40}?)(?:\s*[,-]\s*(?<province>\p{L}[\p{L}\s]{1,30}?))?\s*[,-]?\s+(?:PIN:?\s*|CEP:?\s*)?(?<zipCode>\d{5}-\d{3}|\d{3}\s?\d{3}|\d{6})$/u;
/** "St" after a number begins the name of a city: "9000 St. Gallen". */
const streetWord = String.raw`(?<!\p{L})(?:Street|(?<!\d\s)St|Road|Rd|Avenue|Ave|Blvd|Boulevard|Lane|Drive|Way|Court|Square|Row|Walk|Close|Quay|Suite|Terrace|Parade|Highway|Hwy|(?:Dr|Ln|Ct)(?=\.?$))(?!\p{L})`;
/** "D-10115 Berlin", "114 55 Stockholm", "00-950 Warszawa", "1000-001 Lisboa", "1017 AB Amsterdam", "20121 Milano (MI)". */
const continental = new RegExp(
  [
    // "2200 Harbor Blvd" begins with a house number and not with a postal code.
    `^(?!.*${streetWord})`,
    String.raw`(?:[A-Z]{1,2}[-\s]|C\.?P\.?\s|CEP:?\s)?`,
    // Only Dutch codes end with letters, which are capitals. The "La" in "2300 La Chaux-de-Fonds" belongs to the city.
    String.raw`(?<zipCode>\d{2}-\d{3}|\d{4,5}-\d{3}|\d{3}\s\d{2}|\d{6}|\d{4}\s?(?-i:[A-Z]{2})(?=\s)|\d{4,5})`,
    String.raw`\s+(?<city>['’]?\p{L}[\p{L}.'’-]*(?:[\s/][\p{L}.'’-]+){0,5}?(?:\s\d{1,2})?)`,
    String.raw`(?:\s+(?:Cedex(?:\s\d+)?|\((?<province>\p{L}[\p{L}\s]{1,20})\)|-\s?[A-Z]{2}))?$`,
  ].join(""),
  "iu",
);
const provinceForms = [american, canadian, australian];
/** The most specific first: four digits may also be a house number. */
const localityForms = [...provinceForms, british, irish, japanese, cityFirst, continental];
const numberFirst = /^(\d+[A-Za-z]?(?:-\d+)?),?\s+(\p{L}.*)$/u;
const numberLast = /^(\p{L}.*?)\s+(\d+\s?[A-Za-z]?)$/u;

export function readAddress(lines: readonly string[]): Address | null {
  if (lines.length === 0) return null;
  const parts = lines.flatMap(splitLine);
  const country = parts.map(findCountry).findLast((found) => found !== null) ?? null;
  const locality = findLocality(parts);
  const street =
    parts
      .filter((part) => locality === null || !part.includes(locality.zipCode))
      .map(readStreet)
      .find((found) => found !== null) ?? null;
  return {
    formatted: lines.join(", "),
    street: street?.name ?? null,
    houseNumber: street?.number ?? null,
    zipCode: locality?.zipCode ?? null,
    city: locality?.city ?? null,
    province: locality?.province ?? null,
    country,
  };
}

/** Splits at commas, except beside a house number ("12, rue Cler" or "Rua das Flores, 100") and before a province ("Portland, OR 97201"). */
function splitLine(line: string): string[] {
  const parts: string[] = [];
  for (const part of line.split(/(?<!^\d{1,3}[A-Za-z]?),\s*/)) {
    const previous = parts.pop();
    if (previous === undefined) parts.push(part);
    else if (/^\d{1,5}\s?[A-Za-z]?$/.test(part) && /^\p{L}\D*$/u.test(previous)) parts.push(`${previous} ${part}`);
    else if (areOneLocality(previous, part)) parts.push(`${previous}, ${part}`);
    else parts.push(previous, part);
  }
  return parts;
}

/** "Portland" and "OR 97201", "Sydney" and "NSW 2000", or "Bengaluru" and "Karnataka 560001". */
function areOneLocality(previous: string, part: string): boolean {
  const joined = `${previous}, ${part}`;
  return cityFirst.test(joined) || provinceForms.some((form) => form.test(joined) && !form.test(part));
}

function findLocality(
  parts: readonly string[],
): { city: string | null; province: string | null; zipCode: string } | null {
  for (const form of localityForms) {
    // The last match counts, because the city follows the street.
    const index = parts.findLastIndex((part) => form.test(part));
    const { city, province = null, zipCode } = form.exec(parts[index] ?? "")?.groups ?? {};
    if (zipCode === undefined) continue;
    // A British or Irish postal code may have a line of its own.
    const above = parts[index - 1] ?? "";
    if (city === "" && /^\p{L}\D*$/u.test(above)) return { city: above, province, zipCode };
    // "West Jordan, UT 84084" ends with a province, so Jordan is not a country.
    return { city: (province === null ? removeRegion(city) : city) || null, province, zipCode };
  }
  return null;
}

/**
 * Removes a province or a country after a city: "20121 Milano MI", "75011 Paris France". A country after a preposition is a part of the
 * city's name: "Ciudad de México".
 */
function removeRegion(city: string | undefined): string | undefined {
  const words = city?.split(/\s+/) ?? [];
  if (words.length > 1 && /^\p{Lu}{2}$/u.test(words.at(-1) ?? "")) return words.slice(0, -1).join(" ");
  // Two words first, because the last word of "The Netherlands" is a country, too.
  for (const count of [2, 1])
    if (/^\p{Lu}\p{L}{2}/u.test(words.at(-count - 1) ?? "") && findCountry(words.slice(-count).join(" ")) !== null)
      return words
        .slice(0, -count)
        .join(" ")
        .replace(/[,\s-]+$/, "");
  return city;
}

function readStreet(text: string): { name: string; number: string } | null {
  const first = numberFirst.exec(text);
  if (first !== null) return { number: first[1] ?? "", name: first[2] ?? "" };
  const last = numberLast.exec(text);
  return last === null
    ? null
    : { number: last[2] ?? "", name: (last[1] ?? "").replace(/\s+(?:No|Nr|nº|n°)[.:]*$/i, "") };
}
