// Selects tesseract's languages for a BCP-47 tag.

import { once } from "../../../lib/once.ts";
import { refuseInput } from "../../../providers/task.ts";
import { listGroupFolders } from "../resolve-package.ts";
import { readsLanguage } from "./pp-ocr/languages.ts";
import { isLanguageInstalled } from "./tesseract.ts";

/** The languages of the data packages, except Chinese, which has two scripts. */
const names =
  "afr ara aze bel bul ben bos cat ces cym dan deu ell eng epo spa est eus fas fin fra gle glg heb hin hrv hun ind isl ita jpn kat kaz kor lit lav mkd msa mlt nor nld pol por ron rus slk slv sqi srp swe swa tam tel tha tgl tur ukr urd vie".split(
    " ",
  );
/** `de` → `deu`. The runtime knows the two-letter code of each language. */
const namesByTag = new Map(names.map((name) => [new Intl.Locale(name).language, name]));
/** Both forms of written Norwegian. */
for (const tag of ["nb", "nn"]) namesByTag.set(tag, "nor");
// Each additional language makes the recognition slower and slightly worse.
const maxAtOnce = 3;

/** Tesseract's name of the language, whether it is installed or not. Refuses languages for which there is no data. */
export function toTesseractLanguage(tag: string): string {
  const [primary = "", ...parts] = tag.toLowerCase().split(/[-_]/);
  if (primary === "zh") return parts.some((part) => ["tw", "hk", "mo", "hant"].includes(part)) ? "chi_tra" : "chi_sim";
  const isValid = /^[a-z]{2,3}$/.test(primary);
  const name = isValid ? namesByTag.get(new Intl.Locale(primary).language) : undefined;
  return name ?? refuseInput("language", `No text can be recognised in the language "${tag}" here.`);
}

// A language is installed while the gateway does not run, and looking for all of them takes milliseconds.
const findInstalled = once(() => {
  const known = ["eng", ...names.filter((name) => name !== "eng"), "chi_sim", "chi_tra"];
  return known.filter(isLanguageInstalled);
});

/** The languages for a picture: the one of the caller, otherwise those that are installed. */
export function chooseLanguages(tag: string | null): string[] {
  const installed = findInstalled();
  if (tag === null) return installed.slice(0, maxAtOnce);
  const name = toTesseractLanguage(tag);
  if (installed.includes(name)) return [name];
  const groups = [...(readsLanguage(tag) ? ["ocr"] : []), `ocr-${name}`];
  const commands = groups.filter((group) => listGroupFolders().includes(group)).map((group) => `engines add ${group}`);
  const remedy =
    commands.length === 0
      ? `The package @tesseract.js-data/${name} is not installed.`
      : `\`npx switchyard-gateway ${commands.join("` or `npx switchyard-gateway ")}\` installs it.`;
  const known = `Installed: ${installed.join(", ")}.`;
  return refuseInput("language", `Pictures in the language "${tag}" cannot be read here. ${remedy} ${known}`);
}
