// Finds the names of people of many cultures. Capitalised words are a name if enough speaks for it: a title or an announcing word before them,
// a known given name, the form of a family name, personal data beside them, or an e-mail address with the same words.

import { splitWindows } from "../windows.ts";
import type { PersonalDatum, PersonalKind } from "./datum.ts";
import { type Context, judge } from "./name-judgement.ts";
import * as words from "./name-words.ts";
import { findInLowerCase, findReversed, findWithoutCapitals } from "./names-by-form.ts";
import { listPlaces } from "./places.ts";

const letters = String.raw`[\p{L}\p{M}]`;
// Lengths are limited, because otherwise every capital letter of a long run would be read to the end of the run.
const nameWord = String.raw`(?:[dl]['’])?\p{Lu}${letters}{0,30}(?:['’ʼ-]${letters}{1,30}){0,3}`;
const particle =
  "(?:van|von|den|der|zu|zur|zum|van der|van den|van de|von der|de|de la|de las|de los|de l'|del|della|di|da|do|dos|das|du|des|la|le|el|al|bin|binti|ibn|ben|bint|bt|af|av|ter|ten|te|y|e|i|wa|ole|arap|'t|in 't|d'|st\\.|ní|nic|mac|ap|ó|os)";
const run = new RegExp(
  String.raw`(?<![\p{L}\p{N}_@/.-])(?:\p{Lu}\.(?:-?\p{Lu}\.){0,3}|${nameWord})(?:[ \u00a0](?:${particle}[ \u00a0]){0,2}(?:\p{Lu}\.(?:-?\p{Lu}\.)?|${nameWord})){0,6}(?![\p{L}\p{N}@_])`,
  "gu",
);

/** Data beside which capitalised words are the name of their person. */
const personal: ReadonlySet<PersonalKind> = new Set<PersonalKind>([
  "NATIONAL_ID",
  "SOCIAL_SECURITY",
  "RESIDENT_NUMBER",
  "HEALTH_NUMBER",
  "PASSPORT",
  "DRIVER_LICENSE",
  "BIRTH_DATE",
  "EMAIL",
  "PHONE",
  "VOTER_NUMBER",
]);

export function createPeopleFinder(): (text: string, others: readonly PersonalDatum[]) => PersonalDatum[] {
  const places = listPlaces();
  return (text, others) => {
    const near = others.filter(({ kind }) => personal.has(kind));
    const mails = others.filter(({ kind }) => kind === "EMAIL");
    const context: Context = {
      text,
      starts: new Set(near.map(({ start }) => start)),
      ends: new Set(near.map(({ start, text: datum }) => start + datum.length)),
      mailWords: new Set(
        mails.flatMap((mail) =>
          words
            .fold(mail.text.split("@", 1)[0] ?? "")
            .split(/[^\p{L}]+/u)
            .filter((word) => word.length > 2),
        ),
      ),
    };
    const found = splitWindows(text).flatMap((window) =>
      Array.from(window.text.matchAll(run)).flatMap((match) =>
        judge(match[0], window.start + match.index, context, places),
      ),
    );
    return [
      ...found,
      ...findListed(text, found, places),
      ...findWithoutCapitals(text),
      ...findInLowerCase(text),
      ...findReversed(text),
    ];
  };
}

/** In a list of names, words of which nothing else is known are a name, too: "Ann Lee, Braylon Cutshaw and Bob Ray". */
function findListed(text: string, found: readonly PersonalDatum[], places: ReadonlySet<string>): PersonalDatum[] {
  const known = found.filter((datum) => /[ \u00a0]/u.test(datum.text));
  const [starts, ends] = [
    new Set(known.map(({ start }) => start)),
    new Set(known.map(({ start, text: name }) => start + name.length)),
  ];
  return Array.from(text.matchAll(listed)).flatMap((match): PersonalDatum[] => {
    const end = match.index + match[0].length;
    if (starts.has(match.index)) return [];
    const gapBefore = listGapBefore.exec(text.slice(Math.max(0, match.index - 6), match.index))?.[0].length ?? 0;
    const gapAfter = listGapAfter.exec(text.slice(end, end + 6))?.[0].length ?? 0;
    if (!(gapBefore > 0 && ends.has(match.index - gapBefore)) && !(gapAfter > 0 && starts.has(end + gapAfter)))
      return [];
    const parts = match[0].split(" ").map(words.fold);
    const isOther = parts.some(
      (part) => germanNoun.test(part) || words.notNames.has(part) || words.thingWords.has(part) || places.has(part),
    );
    return isOther ? [] : [{ text: match[0], start: match.index, kind: "NAME", confidence: 0.7 }];
  });
}

/** All German nouns are capitalised. These endings are those of no family name. */
const germanNoun = /(?:ung|heit|keit|schaft|zweck|nummer|datum|betrag|adresse|anschrift|kennzeichen|ausweis)$/u;
const listed =
  /(?<![\p{L}\p{N}'’-])\p{Lu}\p{Ll}[\p{L}\p{M}'’-]{1,30} \p{Lu}[\p{Ll}'’][\p{L}\p{M}'’-]{1,30}(?![\p{L}\p{N}]| \p{Lu})/gu;
const listGapBefore = /(?:[,;|] ?|\n|[,;]? (?:and|und|et|y|e|i|en|och|og|ja|a|&) )$/u;
const listGapAfter = /^(?:[,;|] ?|\n|[,;]? (?:and|und|et|y|e|i|en|och|og|ja|a|&) )/u;
