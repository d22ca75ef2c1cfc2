// The words of a possible name: which are given names, family names, ordinary words, and words that introduce or end a name.

import { phrase, placeWord, roleWithoutColon, title } from "./name-announcements.ts";
import * as words from "./name-words.ts";
import { isRoleWord } from "./role-words.ts";

export interface Word {
  readonly text: string;
  readonly folded: string;
  readonly start: number;
  readonly end: number;
}

export function isIntroduction(word: Word | undefined, next: Word | undefined, text: string): boolean {
  if (word === undefined) return false;
  // "mevrouw Van den Broeck"
  if (capitalParticle.test(word.text) && title.test(text.slice(Math.max(0, word.start - 30), word.start))) return false;
  if (next !== undefined && isKorean([word, next])) return false;
  // A month or another ordinary word may be a given name if a name follows: "Julio Iglesias".
  if (isGiven(word) && (!isOrdinary(word) || (next !== undefined && !isOrdinary(next)))) return false;
  return (
    isOrdinary(word) ||
    title.test(`${text.slice(word.start, word.end)} `) ||
    isNumberWord(word) ||
    (next !== undefined && (isRole(word) || phrase.test(`${word.text} `))) ||
    (/^\p{Lu}{2,}$/u.test(word.text) && word.text.length < 5 && !words.firstFamilyNames.has(word.folded))
  );
}

const capitalParticle =
  /^(?:Al|El|De|Da|Do|Di|Du|D|La|Le|Lo|Ap|Ibn|Bin|Ben|Van|Von|Der|Den|Dos|Das|Del|Della|Los|Las|St|Mac|Abu|Umm|Bint|Abd|Ní|Nic|Ó|Te|Ter|Ten)$/u;

/** A word that cannot be part of a name. Initials can. */
export function isBoundary(word: Word | undefined, head: Word | undefined): boolean {
  if (word === undefined) return true;
  if (/^\p{Lu}\.?$/u.test(word.text) || /^\p{Ll}/u.test(word.text)) return false;
  if (capitalParticle.test(word.text)) return false;
  if (isNumberWord(word)) return true;
  if (word === head) return isOrdinary(word) && !isGiven(word) && !words.firstFamilyNames.has(word.folded);
  if (
    head !== undefined &&
    words.firstFamilyNames.has(head.folded) &&
    words.syllable.test(word.folded) &&
    word.folded.length < 4
  )
    return false;
  return isOrdinary(word) && !words.givenNames.has(word.folded) && !words.familyNames.has(word.folded);
}

/** "AHV-Nummer", "CPR-nr": an abbreviation and what it is. */
function isNumberWord({ text }: Word): boolean {
  return /^\p{Lu}{2,6}-\p{L}{2,}/u.test(text) && /\p{Ll}/u.test(text);
}

function isRole(word: Word): boolean {
  if (words.familyNames.has(word.folded)) return false;
  return isRoleWord(word.text) || roleWithoutColon.test(`${word.text} `);
}

export function trimParticles(name: readonly Word[]): readonly Word[] {
  let end = name.length;
  while (end > 0 && /^\p{Ll}(?!['’]\p{Lu})/u.test(name[end - 1]?.text ?? "")) end--;
  return name.slice(0, end);
}

export function isGiven({ folded }: Word): boolean {
  if (words.givenNames.has(folded)) return true;
  if (folded.includes("-")) return folded.split("-").every((part) => words.givenNames.has(part));
  if (!/^\p{Script=Cyrillic}{4,}$/u.test(folded)) return false;
  // Case endings: "Андрію", "Ольги", "Иваном"
  const stems = [folded.slice(0, -1), folded.slice(0, -2)];
  return stems.some((stem) =>
    ["", "а", "я", "й", "ь", "о", "ій", "ий"].some((ending) => words.givenNames.has(stem + ending)),
  );
}

/** An accent makes another word: the Vietnamese "Văn" is not the Dutch "van". */
export function isOrdinary({ text, folded }: Word): boolean {
  return (
    words.notNames.has(folded) &&
    (!/^[\x20-\x7e]*$/.test(folded) || text.toLowerCase() === folded || words.notNames.has(text.toLowerCase()))
  );
}

export function isCertainlyGiven(word: Word): boolean {
  return isGiven(word) && !words.ambiguousNames.has(word.folded) && !isOrdinary(word);
}

export function isFamily({ folded, text }: Word): boolean {
  return (
    words.familyNames.has(folded) ||
    (text.length > 4 && words.familyEnding.test(folded)) ||
    /^(?:Mac|Mc|O['’]|Fitz|Al-|El-|Ben-|Ní$|Nic$)\p{Lu}?/u.test(text)
  );
}

/** "Der Anruf von Fatma Yıldız": a noun before "of" and a given name is not part of the name. */
export function withoutNoun(run: readonly Word[]): readonly Word[] {
  const at = run.findIndex((word, index) => {
    const [noun, given, family] = [run[index - 1], run[index + 1], run[index + 2]];
    if (noun === undefined || given === undefined || family === undefined) return false;
    if (!/^(?:von|de|di|do|da|van|av|af)$/u.test(word.text) || noun.text.length < 3) return false;
    if (isGiven(noun) || isFamily(noun)) return false;
    // In German, no other name has two words after "von".
    return (
      isCertainlyGiven(given) || (word.text === "von" && /^\p{Lu}/u.test(given.text) && /\p{Ll}/u.test(family.text))
    );
  });
  return at < 0 ? run : run.slice(at + 1);
}

/** The part from the first certain given name on, if more follows: "Kund Sven Svensson". */
export function innerName(name: readonly Word[]): readonly Word[] | null {
  const at = name.findIndex((word, index) => index > 0 && isCertainlyGiven(word));
  if (at < 1 || placeWord.test(`${name[at - 1]?.text} `)) return null;
  const inner = name.slice(at);
  if (inner.some(({ folded }) => words.thingWords.has(folded))) return null;
  return inner;
}

/** "Park Seo-yeon" */
export function isKorean([family, given, ...rest]: readonly Word[]): boolean {
  if (family === undefined || given === undefined || rest.length > 0 || !words.firstFamilyNames.has(family.folded))
    return false;
  return (
    /^\p{Lu}\p{Ll}+-\p{Ll}+$/u.test(given.text) && given.folded.split("-").every((part) => words.syllable.test(part))
  );
}

export function isEastAsian(name: readonly Word[]): boolean {
  const [head, ...rest] = name;
  if (head === undefined || rest.length === 0 || rest.length > 3 || !words.firstFamilyNames.has(head.folded))
    return false;
  if (!rest.every(({ folded }) => words.syllable.test(folded) && folded.length < 10)) return false;
  // Two syllables, or the accents of Vietnamese: one syllable is too often a word.
  return (
    rest.length > 1 ||
    /\p{M}/u.test(
      name
        .map(({ text }) => text)
        .join("")
        .normalize("NFD"),
    ) ||
    (rest[0]?.folded.length ?? 0) > 4 ||
    (words.commonChineseNames.has(head.folded) && rest.every((word) => !isOrdinary(word)))
  );
}
