// Which of tesseract's languages a caller means by a BCP-47 tag, and which are installed here.

import { lookUp } from "../../../lib/look-up.ts";
import { refuseInput } from "../../../providers/task.ts";
import { isLanguageInstalled } from "./recogniser.ts";

/** By the tag's first part; those that the data packages have. */
const names: Readonly<Record<string, string>> = {
  af: "afr",
  ar: "ara",
  az: "aze",
  be: "bel",
  bg: "bul",
  bn: "ben",
  bs: "bos",
  ca: "cat",
  cs: "ces",
  cy: "cym",
  da: "dan",
  de: "deu",
  el: "ell",
  en: "eng",
  eo: "epo",
  es: "spa",
  et: "est",
  eu: "eus",
  fa: "fas",
  fi: "fin",
  fr: "fra",
  ga: "gle",
  gl: "glg",
  he: "heb",
  hi: "hin",
  hr: "hrv",
  hu: "hun",
  id: "ind",
  is: "isl",
  it: "ita",
  ja: "jpn",
  ka: "kat",
  kk: "kaz",
  ko: "kor",
  lt: "lit",
  lv: "lav",
  mk: "mkd",
  ms: "msa",
  mt: "mlt",
  nb: "nor",
  nl: "nld",
  nn: "nor",
  no: "nor",
  pl: "pol",
  pt: "por",
  ro: "ron",
  ru: "rus",
  sk: "slk",
  sl: "slv",
  sq: "sqi",
  sr: "srp",
  sv: "swe",
  sw: "swa",
  ta: "tam",
  te: "tel",
  th: "tha",
  tl: "tgl",
  tr: "tur",
  uk: "ukr",
  ur: "urd",
  vi: "vie",
};
// Each language more makes reading slower and a little worse.
const maxAtOnce = 3;

/** Tesseract's name, installed or not. Throws for what is no language that it has. */
export function toTesseractLanguage(tag: string): string {
  const parts = tag.toLowerCase().split(/[-_]/);
  const [first = ""] = parts;
  if (first === "zh") return parts.some((part) => ["tw", "hk", "mo", "hant"].includes(part)) ? "chi_tra" : "chi_sim";
  const name = lookUp(names, first) ?? Object.values(names).find((known) => known === first);
  if (name === undefined) return refuseInput("language", `No text can be recognised in the language "${tag}" here.`);
  return name;
}

/** For a picture: the language that was asked for, or all that are installed when none was. */
export function chooseLanguages(tag: string | null): string[] {
  if (tag === null) return installedLanguages();
  const name = toTesseractLanguage(tag);
  if (!isLanguageInstalled(name)) {
    const installed = installedLanguages().join(", ");
    return refuseInput(
      "language",
      `Pictures in the language "${tag}" cannot be read here: the package @tesseract.js-data/${name} is not installed. ` +
        `Installed: ${installed}.`,
    );
  }
  return [name];
}

function installedLanguages(): string[] {
  const known = [...new Set(["eng", ...Object.values(names), "chi_sim", "chi_tra"])];
  return known.filter(isLanguageInstalled).slice(0, maxAtOnce);
}
