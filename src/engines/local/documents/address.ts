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
/** Also "11122 Stockholm", "114 55 Stockholm", "00-950 Warszawa", "1000-001 Lisboa", "1017 AB Amsterdam", "20121 Milano (MI)". */
const continental =
  /^(?:[A-Z]{1,2}[-\s])?(?<zipCode>\d{2}-\d{3}|\d{4}-\d{3}|\d{3}\s\d{2}|\d{4,5}(?:\s?[A-Z]{2}(?=\s))?)\s+(?<city>['’]?\p{L}[\p{L}.'’-]*(?:[\s/][\p{L}.'’-]+){0,5}?(?:\s\d{1,2})?)(?:\s+(?:Cedex(?:\s\d+)?|\((?<province>[A-Z]{2})\)|-\s?[A-Z]{2}))?$/iu;
const japanese =
  /^〒?\s?(?<zipCode>\d{3}-\d{4})\s*(?<province>\p{Script=Han}{2,3}?[都道府県])?(?<city>\p{Script=Han}{1,6}?[市区])?/u;
const irish = /^(?<city>.*?),?\s+(?<zipCode>[A-Z]\d[\dW]\s?[A-Z\d]{4})$/;
/** "Mumbai 400001", "Pune - 411 001", "Bengaluru, Karnataka 560001", "São Paulo - SP 01310-100". */
const cityFirst =
  /^(?<city>\p{L}[\p{L}\s.'’]{1,40}?)(?:\s*[,-]\s*(?<province>\p{L}[\p{L}\s]{1,30}?))?\s*[,-]?\s+(?:PIN:?\s*|CEP:?\s*)?(?<zipCode>\d{5}-\d{3}|\d{3}\s?\d{3}|\d{6})$/u;
/** The most specific first: four digits may also be a house number. */
const cityForms = [[american, canadian, australian], [british, irish], [japanese], [cityFirst], [continental]];
const numberFirst = /^(\d+[A-Za-z]?(?:-\d+)?),?\s+(\p{L}.*)$/u;
const numberLast = /^(\p{L}.*?)\s+(\d+\s?[A-Za-z]?)$/u;

export function readAddress(lines: readonly string[]): Address | null {
  if (lines.length === 0) return null;
  const parts = lines.flatMap((line) => splitLine(line));
  const country = parts.map((part) => findCountry(part)).findLast((found) => found !== null) ?? null;
  const place = findCity(parts);
  const street =
    parts
      .filter((part) => place === null || !part.includes(place.zipCode))
      .map(readStreet)
      .find((found) => found !== null) ?? null;
  return {
    formatted: lines.join(", "),
    street: street?.name ?? null,
    houseNumber: street?.number ?? null,
    zipCode: place?.zipCode ?? null,
    city: place?.city ?? null,
    province: place?.province ?? null,
    country,
  };
}

/** Splits at commas, except before a state: "Portland, OR 97201". */
function splitLine(line: string): string[] {
  if (american.test(line) || canadian.test(line) || cityFirst.test(line)) {
    const parts = line.split(/,\s*/);
    return parts.length <= 2 ? [line] : [...parts.slice(0, -2), parts.slice(-2).join(", ")];
  }
  const parts = joinHouseNumbers(line.split(/,\s*/));
  const [province = "", city = ""] = parts.toReversed();
  // "12 MG Road, Bengaluru, Karnataka 560001"
  const hasProvince =
    parts.length > 2 && /^\p{L}[\p{L}\s]{1,30}[\s-]+\d{3}\s?\d{3}$/u.test(province) && !/\d/.test(city);
  return hasProvince ? [...parts.slice(0, -2), `${city}, ${province}`] : parts;
}

/** "Rua das Flores, 100" */
function joinHouseNumbers(parts: readonly string[]): string[] {
  const joined: string[] = [];
  for (const part of parts) {
    const previous = joined.at(-1);
    if (previous !== undefined && /^\d{1,5}\s?[A-Za-z]?$/.test(part) && /^\p{L}\D*$/u.test(previous))
      joined[joined.length - 1] = `${previous} ${part}`;
    else joined.push(part);
  }
  return joined;
}

/** "2200 Harbor Blvd" begins with a house number and not with a postal code. */
const streetWord =
  /(?<!\p{L})(?:Street|St|Road|Rd|Avenue|Ave|Blvd|Boulevard|Lane|Drive|Way|Court|Square|Row|Walk|Close|Quay|Suite|Terrace|Parade|Highway|Hwy|(?:Dr|Ln|Ct)(?=\.?$))(?!\p{L})/iu;

function findCity(parts: readonly string[]): { city: string | null; province: string | null; zipCode: string } | null {
  for (const forms of cityForms) {
    const matches = parts.map((part) =>
      forms
        .map((form) => form.exec(part))
        .find((match) => match !== null && !(forms[0] === continental && streetWord.test(part))),
    );
    // The last match counts, because the city follows the street.
    const { city, province, zipCode } = matches.findLast((match) => match !== undefined)?.groups ?? {};
    if (zipCode !== undefined) return { city: city || null, province: province ?? null, zipCode };
  }
  return null;
}

function readStreet(text: string): { name: string; number: string } | null {
  const first = numberFirst.exec(text);
  if (first !== null) return { number: first[1] ?? "", name: first[2] ?? "" };
  const last = numberLast.exec(text);
  return last === null
    ? null
    : { number: last[2] ?? "", name: (last[1] ?? "").replace(/\s+(?:No|Nr|nº|n°)[.:]*$/i, "") };
}
