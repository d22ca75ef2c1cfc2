// An address that was printed as a few lines, taken apart as far as its form tells.

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

interface Place {
  readonly city: string | null;
  readonly province: string | null;
  readonly zipCode: string;
}

const american = /^(.*?),?\s+([A-Z]{2})\s+(\d{5}(?:-\d{4})?)$/;
const british = /^(.*?),?\s*\b([A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2})$/;
const canadian = /^(.*?),?\s+([A-Z]{2})\s+([A-Z]\d[A-Z]\s?\d[A-Z]\d)$/;
const australian = /^(.*?),?\s+(NSW|VIC|QLD|WA|SA|TAS|ACT|NT)\s+(\d{4})$/;
const continental = /^(?:[A-Z]{1,2}-)?(\d{4,5}(?:\s?[A-Z]{2})?)\s+(\p{L}[\p{L}\s.'-]+)$/u;
const numberFirst = /^(\d+[A-Za-z]?(?:-\d+)?),?\s+(\p{L}.*)$/u;
const numberLast = /^(\p{L}.*?)\s+(\d+\s?[A-Za-z]?)$/u;

export function readAddress(lines: readonly string[]): Address | null {
  if (lines.length === 0) return null;
  const parts = lines.flatMap((line) => splitLine(line));
  const country = parts.map((part) => findCountry(part)).findLast((found) => found !== null) ?? null;
  const place = findPlace(parts);
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

/** At commas, unless the comma is the one before a state: "Portland, OR 97201". */
function splitLine(line: string): string[] {
  if (american.test(line) || canadian.test(line)) {
    const parts = line.split(/,\s*/);
    return parts.length <= 2 ? [line] : [...parts.slice(0, -2), parts.slice(-2).join(", ")];
  }
  return line.split(/,\s*/);
}

/** The surest form first: four figures may also be a house number. */
const forms: readonly ((text: string) => Place | null)[] = [
  (text) => {
    const stated = american.exec(text) ?? canadian.exec(text) ?? australian.exec(text);
    return stated === null ? null : { city: stated[1] || null, province: stated[2] ?? null, zipCode: stated[3] ?? "" };
  },
  (text) => {
    const posted = british.exec(text);
    return posted === null ? null : { city: posted[1] || null, province: null, zipCode: posted[2] ?? "" };
  },
  (text) => {
    const coded = continental.exec(text);
    return coded === null ? null : { city: coded[2] ?? null, province: null, zipCode: coded[1] ?? "" };
  },
];

function findPlace(parts: readonly string[]): Place | null {
  for (const read of forms) {
    // From the end: the place follows the street.
    const found = parts.map(read).findLast((place) => place !== null);
    if (found) return found;
  }
  return null;
}

function readStreet(text: string): { name: string; number: string } | null {
  const first = numberFirst.exec(text);
  if (first !== null) return { number: first[1] ?? "", name: first[2] ?? "" };
  const last = numberLast.exec(text);
  return last === null ? null : { number: last[2] ?? "", name: last[1] ?? "" };
}
