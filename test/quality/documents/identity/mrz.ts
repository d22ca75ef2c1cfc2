// Machine-readable zones by ICAO 9303: cards (TD1, TD2), passports (TD3) and visas (MRV-A, MRV-B).

import { readTable } from "../../read-table.ts";
import type { LabelledDocument, Value } from "../labelled-document.ts";
import type { Sheet } from "../sheet.ts";

export type ZoneFormat = "TD1" | "TD2" | "TD3" | "MRV-A" | "MRV-B";

export interface Holder {
  readonly lastName: string;
  readonly givenNames: string;
  /** ISO date. */
  readonly birth: string;
  readonly sex: "F" | "M" | "X";
  /** Of three letters, or `D` for Germany. */
  readonly nationality: string;
  readonly birthPlace?: string;
}

export interface Papers {
  readonly format: ZoneFormat;
  /** `P`, `ID`, `I`, `AC`, `V` … */
  readonly code: string;
  readonly issuer: string;
  readonly number: string;
  readonly issued: string;
  readonly expires: string;
  /** Optional data: a personal number and the like. */
  readonly optional?: string;
}

/** `facts` are the date of birth, the sex and the nationality. */
export function makeHolder(lastName: string, givenNames: string, facts: string, birthPlace?: string): Holder {
  const [birth = "", sex = "", nationality = ""] = facts.split(" ");
  const named = { lastName, givenNames, birth, sex: sex as Holder["sex"], nationality };
  return birthPlace === undefined ? named : { ...named, birthPlace };
}

/** `facts` are the members of the papers in their order. */
export function makePapers(facts: string, optional?: string): Papers {
  const [format = "", code = "", issuer = "", number = "", issued = "", expires = ""] = facts.split(" ");
  const stated = { format: format as ZoneFormat, code, issuer, number, issued, expires };
  return optional === undefined ? stated : { ...stated, optional };
}

export type Fact = readonly [label: string, value: string];

/** A fact on each line, with a bar between its label and its value. */
export function readFacts(text: string): Fact[] {
  return readTable(text).map(([label = "", value = ""]) => [label, value]);
}

const sizes: Readonly<Record<ZoneFormat, number>> = { TD1: 30, TD2: 36, TD3: 44, "MRV-A": 44, "MRV-B": 36 };

/** The check digit: weights 7, 3, 1; letters count from ten, fill counts nothing. */
export function checkDigit(field: string): string {
  const weights = [7, 3, 1];
  const sum = [...field].reduce((total, character, index) => {
    const value = character === "<" ? 0 : Number.parseInt(character, 36);
    return total + value * (weights[index % 3] ?? 0);
  }, 0);
  return String(sum % 10);
}

export const checked = (field: string) => field + checkDigit(field);
const fill = (content: string, length: number) => content.padEnd(length, "<").slice(0, length);
const short = (date: string) => date.replaceAll("-", "").slice(2);

function writeZone(holder: Holder, papers: Papers): string[] {
  const { format, code, issuer, number, expires, optional = "" } = papers;
  const width = sizes[format];
  const names = `${toZoneLetters(holder.lastName)}<<${toZoneLetters(holder.givenNames)}`;
  const start = `${fill(code, 2)}${fill(issuer, 3)}`;
  const sex = holder.sex === "X" ? "<" : holder.sex;
  const nationality = fill(holder.nationality, 3);
  const birth = checked(short(holder.birth));
  const expiry = checked(short(expires));
  if (format === "TD1") {
    // A longer number goes on in the optional data, after a fill in place of the check digit.
    const isLong = number.length > 9;
    const numberField = isLong ? `${number.slice(0, 9)}<` : checked(fill(number, 9));
    const rest = isLong ? `${number.slice(9)}${checkDigit(number)}<` : optional;
    const upper = `${start}${numberField}${fill(rest, 15)}`;
    const lower = `${birth}${sex}${expiry}${nationality}${fill("", 11)}`;
    const overall = checkDigit(`${upper.slice(5)}${lower.slice(0, 7)}${lower.slice(8, 15)}${lower.slice(18)}`);
    return [upper, `${lower}${overall}`, fill(names, width)];
  }
  const first = `${start}${fill(names, width - 5)}`;
  const body = `${checked(fill(number, 9))}${nationality}${birth}${sex}${expiry}`;
  if (format === "TD3") {
    const personal = optional === "" ? `${fill("", 14)}<` : checked(fill(optional, 14));
    const overall = checkDigit(`${body.slice(0, 10)}${body.slice(13, 20)}${body.slice(21, 28)}${personal}`);
    return [first, `${body}${personal}${overall}`];
  }
  if (format === "TD2") {
    const rest = fill(optional, 7);
    const overall = checkDigit(`${body.slice(0, 10)}${body.slice(13, 20)}${body.slice(21, 28)}${rest}`);
    return [first, `${body}${rest}${overall}`];
  }
  return [first, fill(`${body}${optional}`, width)];
}

const letters: Readonly<Record<string, string>> = {
  Ä: "AE",
  Ö: "OE",
  Ü: "UE",
  ß: "SS",
  Æ: "AE",
  Ø: "OE",
  Å: "AA",
  Ł: "L",
  Ñ: "N",
};

export function toZoneLetters(name: string): string {
  return [...name.toUpperCase().replaceAll("ẞ", "SS")]
    .map((letter) => letters[letter] ?? letter.normalize("NFD").replace(/\p{M}/gu, ""))
    .join("")
    .replace(/[' ’.]+(?=-)|['’.]/g, "")
    .replace(/[ -]+/g, "<");
}

/** Draws the zone in fixed-width letters, with the pitch that the format has. */
function drawZone(sheet: Sheet, zone: readonly string[], { left, y, width }: ZonePlace): void {
  const size = width / ((zone[0]?.length ?? 1) * 0.6);
  for (const [index, row] of zone.entries()) sheet.text(left, y + index * size * 1.55, row, { font: "mono", size });
}

const countryNames: Readonly<Record<string, readonly [alpha3: string, ...names: string[]]>> = {
  ARG: ["ARG", "Argentina"],
  AUS: ["AUS", "Australia"],
  AUT: ["AUT", "Austria", "Österreich"],
  BEL: ["BEL", "Belgium", "Belgique"],
  BRA: ["BRA", "Brazil", "Brasil"],
  CAN: ["CAN", "Canada"],
  CHE: ["CHE", "Switzerland"],
  CZE: ["CZE", "Czechia", "Czech Republic"],
  D: ["DEU", "Germany", "D", "Deutsch"],
  DNK: ["DNK", "Denmark"],
  ESP: ["ESP", "Spain", "España"],
  EST: ["EST", "Estonia"],
  FIN: ["FIN", "Finland"],
  FRA: ["FRA", "France", "Française"],
  GBR: ["GBR", "United Kingdom", "British citizen"],
  IND: ["IND", "India", "Indian"],
  IRL: ["IRL", "Ireland", "Irish"],
  ITA: ["ITA", "Italy", "Italiana"],
  JPN: ["JPN", "Japan"],
  KEN: ["KEN", "Kenya"],
  KOR: ["KOR", "South Korea", "Korea, Republic of", "Republic of Korea"],
  MEX: ["MEX", "Mexico"],
  NGA: ["NGA", "Nigeria"],
  NLD: ["NLD", "Netherlands", "Nederlandse", "The Netherlands"],
  NOR: ["NOR", "Norway"],
  POL: ["POL", "Poland", "Polskie"],
  PRT: ["PRT", "Portugal"],
  SWE: ["SWE", "Sweden"],
  TUR: ["TUR", "Turkey", "Türkiye"],
  USA: ["USA", "United States", "United States of America"],
};

/** All spellings of a country that are right, separated by `||`. */
export function countryOf(code: string): string {
  return (countryNames[code] ?? [code]).join("||");
}

const zoneFields = [
  "last_name",
  "given_names",
  "birth_date",
  "expire_date",
  "document_id",
  "gender",
  "nationality",
  "mrz",
];

interface ZoneDocument {
  readonly name: string;
  readonly language: string;
  readonly layout: string;
  readonly holder: Holder;
  readonly papers: Papers;
}

/** Where the zone begins, and how wide it is. */
interface ZonePlace {
  readonly left: number;
  readonly y: number;
  readonly width: number;
}

/** Draws the zone on the sheet. `expected` is what a perfect reader says about the document. */
export function toZoneDocument(
  { name, language, layout, holder, papers }: ZoneDocument,
  sheet: Sheet,
  at: ZonePlace,
  /** Fields that only the printed part shows. */
  visible: Readonly<Record<string, Value>>,
): LabelledDocument {
  const zone = writeZone(holder, papers);
  drawZone(sheet, zone, at);
  const inZone = (content: string) => toZoneLetters(content).replaceAll("<", " ");
  return {
    name: `mrz-${papers.format}-${name}`,
    language,
    layout,
    pages: sheet.pages,
    expected: {
      last_name: `${holder.lastName}||${inZone(holder.lastName)}`,
      given_names: `${holder.givenNames}||${inZone(holder.givenNames)}`,
      birth_date: holder.birth,
      expire_date: papers.expires,
      document_id: papers.number,
      gender: { F: "F||Female", M: "M||Male", X: "X||<||Unspecified||Nonspecified" }[holder.sex],
      nationality: countryOf(holder.nationality),
      issuing_state: countryOf(papers.issuer),
      mrz: zone.join("\n"),
      ...visible,
    },
    core: zoneFields,
  };
}
