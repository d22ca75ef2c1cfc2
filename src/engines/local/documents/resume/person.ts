// The person of a curriculum vitae: name, contact details and personal data.

import { foldCase } from "../fold-case.ts";
import { findPrintedDate } from "../identity/dates.ts";
import { findLabelledTexts } from "../identity/visible-zone.ts";
import { findEmails } from "../values.ts";
import { isBullet, type ResumeLine } from "./lines.ts";
import { findName, toName } from "./names.ts";
import { findFaxNumbers, findPhoneNumbers } from "./phones.ts";
import { findAddress, toLocation } from "./places.ts";

const maxCharacters = 400;
const webPattern =
  /(?<![@\w.-])(?:(?:https?:\/\/|www\.)[^\s,;)|]{3,200}|(?:[\w-]{1,63}\.){1,4}(?:com|org|net|io|dev|me|co|uk|fr|de|es|it|nl|eu|pl|pt|se|dk|no|fi|ch|at|be|cz|ru|br|info|app|ai|tech|design|example)(?:\/[^\s,;)|]{0,200})?)(?![\w@.-])/gi;
const maritalLabel =
  /(?:marital status|familienstand|situation (?:familiale|de famille)|état civil|estado civil|stato civile|burgerlijke staat|stan cywilny|civilstånd|civilstand|sivilstatus|siviilisääty|rodinný stav)\s*[:\t]\s*([\p{L} ]{3,30})/iu;
const availabilityLabel =
  /(?:availability|available(?: from)?|verfügbar(?: ab)?|disponibilité|disponible|disponibilidad|disponibilità|disponibilidade|beschikbaar(?:heid)?|dostępność)\s*[:\t]\s*([^\n\t|]{2,60})/iu;

/** `near`: the lines before the first heading and those of contact details, where a number without a label is a telephone number. */
export function readPerson(near: readonly ResumeLine[], all: readonly ResumeLine[], isSpanish: boolean) {
  const text = all.map((line) => line.text.slice(0, maxCharacters)).join("\n");
  const nearText = near.map((line) => line.text.slice(0, maxCharacters)).join("\n");
  const mails = findEmails(text);
  const labelled = findLabelledTexts(near.map((line) => line.row));
  const firstOf = (field: string, read: (value: string) => string | null) => {
    for (const one of labelled.filter((candidate) => candidate.field === field))
      for (const candidate of one.texts) {
        const value = read(candidate);
        if (value !== null) return value;
      }
    return null;
  };
  const asWords = (value: string) => (/^\p{L}[\p{L}\s.,'’/()-]{1,50}$/u.test(value) ? value : null);
  const cells = near
    .flatMap((line) => (isBullet(line.text) ? [] : line.cells))
    .flatMap((cell) => cell.split(/\s[|•·–—-]\s/));
  const name = firstOf("full_name", asWords) ?? findName(near, all, mails) ?? firstOf("name", asWords);
  const address = labelled.find(({ field }) => field === "address");
  const addressText = address === undefined ? null : joinAddress([...address.texts.slice(0, 1), ...address.more]);
  const today = new Date();
  return {
    name: toName(name, isSpanish),
    address:
      addressText === null
        ? findAddress(cells.map((cell) => cell.trim()).filter((cell) => cell !== name))
        : toLocation(addressText),
    date_of_birth:
      firstOf("birth_date", (value) => findPrintedDate(value, "birth", "day first", today)?.value ?? null) ??
      firstOf("birth_date_place", (value) => findPrintedDate(value, "birth", "day first", today)?.value ?? null),
    place_of_birth:
      firstOf("birth_place", asWords) ?? firstOf("birth_date_place", (value) => readBirthPlace(value, today)),
    phones: findPhoneNumbers(text, nearText),
    mails,
    urls: findUrls(text),
    fax: findFaxNumbers(text),
    gender: firstOf("gender", asWords),
    nationality: firstOf("nationality", asWords),
    martial_status: maritalLabel.exec(text)?.[1]?.trim() ?? null,
    current_salary: null,
    availability: availabilityLabel.exec(text)?.[1]?.trim() ?? null,
  };
}

function readBirthPlace(text: string, today: Date): string | null {
  const date = findPrintedDate(text, "birth", "day first", today);
  const place = date?.after.replace(/^(?:in|à|a|en|w)\s+|^[,–-]\s*/iu, "") ?? "";
  return /^\p{L}[\p{L}\s.'’-]+$/u.test(place) ? place : null;
}

/** An address of several lines ends with the one that has the postal code, or the country after it. */
function joinAddress(lines: readonly string[]): string | null {
  const used = [];
  for (const line of lines) {
    if (/@|https?:|www\.|^\+?[\d\s()/.-]{8,}$/.test(line)) break;
    used.push(line);
    if (/\d{4,5}|\d{2}-\d{3}|[A-Z]\d\s?\d[A-Z]{2}/.test(line)) break;
  }
  return used.length === 0 ? null : used.join(", ");
}

function findUrls(text: string): string[] {
  const found = [...text.matchAll(webPattern)].map(([url]) => trimUrl(url));
  // "Node.js" and "B.Sc" have no such ending, but names of files may.
  return [...new Set(found.filter((url) => url.includes(".") && !/\.(?:js|net)$/i.test(foldCase(url))))];
}

function trimUrl(url: string): string {
  let end = url.length;
  while (end > 0 && /[./:]/.test(url.charAt(end - 1))) end--;
  return url.slice(0, end);
}
