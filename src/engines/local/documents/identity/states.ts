// Countries as identity documents print them: codes, names in many languages, adjectives, and titles such as "Bundesrepublik Deutschland".

import { lookUp } from "../../../../lib/look-up.ts";
import { type Country, findCountry } from "../countries.ts";
import { foldCase } from "../fold-case.ts";
import { nameLanguages } from "../name-languages.ts";
import type { Row } from "../rows.ts";

/** Nationalities as adjectives or nouns, without accents, and titles of states. */
const words: Readonly<Record<string, string>> = {
  ARG: "argentina|argentino|argentine|argentinian",
  AUS: "australian",
  AUT: "osterreich|austrian|autrichien|autrichienne|republik osterreich",
  BEL: "belgian|belge|belg|belgisch|belgier|koninkrijk belgie|royaume de belgique|konigreich belgien",
  BGR: "bulgarian|balgariya",
  BRA: "brasileira|brasileiro|brazilian|republica federativa do brasil|brasil",
  CAN: "canadian|canadien|canadienne|canadienne/canadian",
  CHE: "swiss|schweizer|schweiz|suisse|svizzera|confoederatio helvetica|schweizerische eidgenossenschaft|confederation suisse",
  CHN: "chinese",
  CZE: "czech|ceska republika|ceske|cesko",
  DEU: "german|deutsch|deutsche|deutscher|allemande|allemand|bundesrepublik deutschland|federal republic of germany|republique federale d'allemagne|d",
  DNK: "danish|dansk|danmark|kongeriget danmark",
  ESP: "spanish|espanola|espanol|reino de espana|espagnole",
  EST: "estonian|eesti|eesti vabariik",
  FIN: "finnish|suomi|finland|suomi finland|finsk",
  FRA: "french|francaise|francais|republique francaise|french republic",
  GBR: "british|british citizen|british/britannique|united kingdom of great britain and northern ireland|uk|united kingdom|great britain",
  GRC: "greek|hellenic|hellenic republic|ellinika",
  HRV: "croatian|hrvatsko|hrvatska|republika hrvatska",
  HUN: "hungarian|magyar|magyarorszag",
  IND: "indian|republic of india|indian/bharatiya",
  IRL: "irish|eire|ireland|eireannach|eireannach/irish",
  ITA: "italian|italiana|italiano|repubblica italiana",
  JPN: "japanese|japan",
  KOR: "korean|republic of korea",
  LTU: "lithuanian|lietuvos respublika|lietuvos",
  LUX: "luxembourgish|luxembourgeoise|luxembourgeois|grand-duche de luxembourg",
  LVA: "latvian|latvijas republika|latvijas",
  MEX: "mexican|mexicana|mexicano|estados unidos mexicanos",
  NLD: "dutch|nederlandse|nederlands|koninkrijk der nederlanden|kingdom of the netherlands|royaume des pays-bas",
  NOR: "norwegian|norsk|norge|noreg|kongeriket norge",
  NZL: "new zealander|new zealand",
  POL: "polish|polskie|polska|rzeczpospolita polska|republic of poland",
  PRT: "portuguese|portuguesa|portugues|republica portuguesa|portugal",
  ROU: "romanian|romana|roman|romania",
  RUS: "russian|russian federation|rossiiskaya federatsiya|российская федерация",
  SVK: "slovak|slovenska republika|slovenske|slovensko",
  SVN: "slovenian|slovensko/slovene|republika slovenija|slovenija",
  SWE: "swedish|svensk|sverige|svenskt",
  TUR: "turkish|turkiye cumhuriyeti|t c|tc",
  UKR: "ukrainian|ukraina|украіна",
  USA: "american|united states|united states of america|u s a|usa|united states citizen",
};

const americanStates =
  "alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming|district of columbia";
const americanTitle = new RegExp(`\\b(?:${americanStates})\\b`, "i");
const americanLabels = /\b(?:dln|dob|iss|exp|hgt|wgt|end|rest)\b/gi;

const byWord = new Map<string, Country>();
for (const [alpha3, list] of Object.entries(words)) {
  const country = findCountry(alpha3);
  if (country !== null) for (const word of list.split("|")) byWord.set(word, country);
}
const alpha3Codes = [...new Set(Object.keys(words))];
for (const language of nameLanguages) {
  const names = new Intl.DisplayNames([language], { type: "region" });
  for (const alpha3 of alpha3Codes) {
    const country = findCountry(alpha3);
    const name = country === null ? undefined : names.of(country.alpha2);
    if (country !== null && name !== undefined && !byWord.has(foldCase(name))) byWord.set(foldCase(name), country);
  }
}

/** The country of a code, a name or an adjective. */
export function findState(text: string): Country | null {
  const parts = [text, ...text.split(/\s*\/\s*|\s{2,}/)];
  for (const part of parts) {
    const clean = part.replace(/[.,:]+$/, "").trim();
    const country =
      (/^[A-Z]{2,}$|\s|[a-z]/.test(clean) ? findCountry(clean) : null) ??
      byWord.get(foldCase(clean).replace(/\./g, " ").trim());
    if (country !== undefined && country !== null) return country;
  }
  return null;
}

/** The country whose name or title stands alone in a cell, and whether the document is a licence of a state of the United States. */
export function findIssuer(rows: readonly Row[]): Country | null {
  const cells = rows.slice(0, 60).flatMap((row) => [row.text, ...row.cells.map((cell) => cell.text)]);
  for (const cell of cells.filter((text) => text.length <= 80)) {
    const country = cell.length > 2 ? findTitle(cell) : null;
    if (country !== null) return country;
  }
  return isAmerican(rows) ? findCountry("USA") : null;
}

/** Three-letter codes and adjectives are values of other fields. */
function findTitle(text: string): Country | null {
  const parts = text.split(/\s*[/|]\s*|\s{2,}|\s[–-]\s/);
  for (const part of parts) {
    const folded = foldCase(part)
      .replace(/\s+(?:identity card|id card|citizen card|passport|kimlik karti|driving licen[cs]e)$/, "")
      .replace(
        /^(?:the )?(?:republic of|kingdom of|state of|republika|republica de|republica|republique|repubblica)\s+/,
        "",
      );
    for (const name of [foldCase(part), folded]) {
      const country = name.length > 3 || name === "usa" ? (byTitle(name) ?? findCountry(name)) : null;
      if (country !== null) return country;
    }
  }
  return null;
}

function byTitle(name: string): Country | null {
  const country = byWord.get(name);
  return country !== undefined && !isAdjective(name, country) ? country : null;
}

function isAdjective(name: string, { alpha3 }: Country): boolean {
  const [first = ""] = (lookUp(words, alpha3) ?? "").split("|");
  return (
    name === first || (/(?:isch|aise|ais|ana|ano|ola|ol|esa|es|er|ish|ian|citizen)$/.test(name) && !/\s/.test(name))
  );
}

/** Driving licences of the United States name the state and use the labels of the AAMVA. */
export function isAmerican(rows: readonly Row[]): boolean {
  const text = rows
    .slice(0, 60)
    .map((row) => row.text)
    .join("\n");
  const labels = new Set(text.toLowerCase().match(americanLabels) ?? []);
  if (/\b(?:USA|United States of America)\b/.test(text)) return true;
  return (
    labels.size >= 3 ||
    (americanTitle.test(text) && /driver['’]?s?\s+licen[cs]e|identification card|id card/i.test(text))
  );
}
