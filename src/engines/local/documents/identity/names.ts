// Names in the machine-readable zone, and their comparison with names that are printed with accents.

import { lookUp } from "../../../../lib/look-up.ts";
import type { Zone } from "./zone.ts";

export interface ZoneNames {
  readonly last: string | null;
  readonly given: string | null;
}

export function readZoneNames({ fields }: Pick<Zone, "fields">): ZoneNames {
  if (fields.lastName !== undefined) return { last: toWords(fields.lastName), given: toWords(fields.givenNames ?? "") };
  const names = fields.names ?? "";
  const at = names.indexOf("<<");
  if (at < 0) return { last: toWords(names), given: null };
  return { last: toWords(names.slice(0, at)), given: toWords(names.slice(at)) };
}

function toWords(text: string): string | null {
  return text.replace(/<+/g, " ").trim() || null;
}

/** The transcriptions that ICAO 9303 recommends, where they have more than one letter. */
const transcriptions: Readonly<Record<string, string>> = {
  Ä: "AE",
  Å: "AA",
  Æ: "AE",
  Ö: "OE",
  Ø: "OE",
  Œ: "OE",
  Ü: "UE",
  ß: "SS",
  ẞ: "SS",
  Þ: "TH",
  Ð: "D",
  Đ: "D",
  Ł: "L",
  Ñ: "NXX",
};

/** The zone has no accents, and may contain only the first letters of a long name. */
export function isSameName(inZone: string | null, printed: string): boolean {
  return isCutName(inZone, printed) || listSpellings(printed).includes(toLetters(inZone));
}

export function isCutName(inZone: string | null, printed: string): boolean {
  const zone = toLetters(inZone);
  return zone.length >= 20 && listSpellings(printed).some((name) => name !== zone && name.startsWith(zone));
}

/** The spellings that the zone may have for a printed name. */
function listSpellings(printed: string): string[] {
  const upper = printed.toUpperCase().normalize("NFC");
  const expanded = [...upper].map((letter) => lookUp(transcriptions, letter) ?? letter).join("");
  return [expanded, upper].map((name) => toLetters(name.normalize("NFD")));
}

function toLetters(name: string | null): string {
  return (name ?? "").replace(/[^A-Z]/g, "");
}
