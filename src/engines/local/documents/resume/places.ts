// Addresses of persons and places of jobs, as the contract wants them.

import { readAddress } from "../address.ts";
import { findState } from "../identity/states.ts";

/** The place of a job: "Leeds, United Kingdom". */
export function toPlace(parts: readonly string[]) {
  return parts.length === 0 ? null : toLocation(parts.join(", "), true);
}

export function toLocation(text: string, startsWithCity = false) {
  const address = readAddress([text]);
  if (address === null) return null;
  const pieces = text.split(/,\s*/);
  // Names of countries are printed in the language of the document.
  const country = address.country ?? findState(pieces.length > 1 ? (pieces.at(-1) ?? "") : "");
  return {
    formatted_location: address.formatted,
    raw_input_location: address.formatted,
    postal_code: address.zipCode,
    region: address.province,
    country: country?.name ?? null,
    country_code: country?.alpha2 ?? null,
    street: address.street,
    street_number: address.houseNumber,
    city: address.city ?? ((startsWithCity && pieces[0]) || null),
  };
}

/** The address among the lines of contact details: in one line, in consecutive lines, or only a city and a country. */
export function findAddress(lines: readonly string[]) {
  const cells = lines.filter((line) => !/@|https?:|www\.|:\s*\+?\d{5,}/.test(line) && line.length <= 160);
  for (const [index, cell] of cells.entries()) {
    const address = readAddress([cell]);
    if (address?.zipCode == null) continue;
    if (address.street !== null) return toLocation(withCountry(cell, cells[index + 1]));
    const previous = cells[index - 1] ?? "";
    const hasStreet = readAddress([previous])?.street != null && !isNumber(previous);
    return toLocation(withCountry(hasStreet ? `${previous}, ${cell}` : cell, cells[index + 1]));
  }
  const street = cells.find((cell) => cell.includes(",") && readAddress([cell])?.street != null && !isNumber(cell));
  if (street !== undefined) return toLocation(street);
  const city = cells.find((cell) => /^\p{Lu}[\p{L} .'’-]+,\s*\p{Lu}[\p{L} .'’-]+$/u.test(cell) && isPlace(cell));
  return city === undefined ? null : toLocation(city, true);
}

function withCountry(text: string, next: string | undefined): string {
  return next !== undefined && next.length > 2 && findState(next) !== null ? `${text}, ${next}` : text;
}

/** A name followed by a degree has the same form as a city with a country: "Ann Lee, Ph.D.". */
function isPlace(text: string): boolean {
  const last = text.split(/,\s*/).at(-1) ?? "";
  return findState(last) !== null || /^[A-Z]{2}$/.test(last);
}

function isNumber(text: string): boolean {
  return /^[\d\s()+./-]+$/.test(text);
}
