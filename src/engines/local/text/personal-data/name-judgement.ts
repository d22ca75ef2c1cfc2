// Decides whether capitalised words are the name of a person, by the words themselves and by the text around them.

import type { PersonalDatum } from "./datum.ts";
import {
  addressee,
  afterwards,
  announcement,
  article,
  farewell,
  givenAnnouncement,
  inlineFarewell,
  phrase,
  placeWord,
  relative,
  role,
  roleWithoutColon,
  title,
} from "./name-announcements.ts";
import {
  innerName,
  isBoundary,
  isCertainlyGiven,
  isEastAsian,
  isFamily,
  isGiven,
  isIntroduction,
  isKorean,
  isOrdinary,
  trimParticles,
  type Word,
  withoutNoun,
} from "./name-parts.ts";
import * as words from "./name-words.ts";
import { isRoleWord } from "./role-words.ts";

export interface Context {
  readonly text: string;
  /** Where other personal data start and end. */
  readonly starts: ReadonlySet<number>;
  readonly ends: ReadonlySet<number>;
  /** Words of the e-mail addresses. */
  readonly mailWords: ReadonlySet<string>;
}

/** A name among the capitalised words, or none. */
export function judge(whole: string, offset: number, context: Context, places: ReadonlySet<string>): PersonalDatum[] {
  const { text } = context;
  const run = Array.from(whole.matchAll(/[^ \u00a0]+/gu), (match): Word => {
    const word = match[0].replace(/['’]s$/u, "");
    return {
      text: word,
      folded: words.fold(word.replace(/\.$/, "")),
      start: offset + match.index,
      end: offset + match.index + word.length,
    };
  });
  const all = withoutNoun(run);
  // Leading words that introduce the name, such as a title at the start of a sentence, are not part of it.
  let first = 0;
  while (first < all.length && isIntroduction(all[first], all[first + 1], context.text)) first++;
  let last = first;
  while (last < all.length && !isBoundary(all[last], all[first])) last++;
  const name = trimParticles(all.slice(first, last));
  const [head] = name;
  if (head === undefined) {
    // A boundary word such as "Konto" in the middle: what follows it may be a name.
    const rest = all.slice(last + 1);
    return rest.length > 0 && last < all.length
      ? judge(text.slice(rest[0]?.start, all.at(-1)?.end), rest[0]?.start ?? 0, context, places)
      : [];
  }
  const tail = last < all.length - 1 ? judgeRest(all.slice(last + 1), context, places) : [];
  const confidence = confidenceOf(name, all, context, places);
  if (confidence === null) {
    const inner = innerName(name);
    return inner === null ? tail : [toDatum(inner, text, 0.8), ...tail];
  }
  return [toDatum(confidence.name, text, confidence.confidence), ...tail];
}

function judgeRest(rest: readonly Word[], context: Context, places: ReadonlySet<string>): PersonalDatum[] {
  const [head, end] = [rest[0], rest.at(-1)];
  if (head === undefined || end === undefined) return [];
  return judge(context.text.slice(head.start, end.end), head.start, context, places);
}

function toDatum(name: readonly Word[], text: string, confidence: number): PersonalDatum {
  const [start, end] = [name[0]?.start ?? 0, name.at(-1)?.end ?? 0];
  return { text: text.slice(start, end), start, kind: "NAME", confidence };
}

function confidenceOf(
  name: readonly Word[],
  all: readonly Word[],
  context: Context,
  places: ReadonlySet<string>,
): { name: readonly Word[]; confidence: number } | null {
  const { text } = context;
  const [head, end] = [name[0], name.at(-1)];
  if (head === undefined || end === undefined) return null;
  const before = text.slice(Math.max(0, head.start - 60), head.start);
  const after = text.slice(end.end, end.end + 40);
  const folded = name.map((word) => word.folded);
  const nextWord = all.find(({ start }) => start > end.start);
  const isThing =
    folded.some((word) => words.thingWords.has(word)) ||
    (nextWord !== undefined && words.thingWords.has(nextWord.folded)) ||
    words.brands.has(folded.slice(0, 2).join(" ")) ||
    words.brands.has(folded.slice(0, 3).join(" ")) ||
    /^\s(?:&|und|and|et|y|e|i)\s(?:Sons|Söhne|Fils|Hijos|Figli|Co|Partner|Associates|Cie|Filhos)/u.test(after) ||
    /^\s(?:GmbH|AG|KG|Inc|Ltd|LLC|SA|SAS|S\.A|BV|B\.V|AB|A\/S|Oy|plc|station|bushes|street|model)/u.test(after);
  if (/[\p{L}.][ \u00a0]$/u.test(before) && title.test(before.slice(-30)) && !isThing)
    return { name: name.slice(0, 4), confidence: 0.93 };
  // Most text before a name has no colon: the long patterns are tried only where one is.
  const hasColon = /[:=]\s{0,3}["'«„“]?$/.test(before);
  if (hasColon && announcement.test(before)) return { name: name.slice(0, 5), confidence: 0.93 };
  if (isKorean(name) || isKorean(name.toReversed())) return { name, confidence: 0.85 };
  const hasRole = hasColon && role.test(before);
  if (hasRole && isEastAsian(name)) return { name, confidence: 0.9 };
  if (isThing || placeWord.test(before)) return null;
  const isPlace = folded.every((word) => places.has(word)) || (name.length === 1 && places.has(head.folded));
  if (isPlace && !isCertainlyGiven(head)) return null;
  const hasGiven = name.some(isGiven);
  const hasCapitals = name.some(({ text: word }) => /^\p{Lu}{2,}$/u.test(word));
  const hasTwo = name.filter(({ text: word }) => word.length > 1).length > 1;
  if (hasRole && (hasTwo || hasGiven)) return { name: name.slice(0, 5), confidence: 0.9 };
  if (farewell.test(before) && (hasTwo || hasGiven || /^\s*(?:\n|$)/.test(after)))
    return { name: name.slice(0, 4), confidence: 0.88 };
  const isLine = /(?:^|\n)[ \t]*$/.test(before) && /^[ \t]*(?:\r?\n|$)/.test(after);
  if (
    /[\p{L}.,/]\s{1,3}$/u.test(before) &&
    phrase.test(before.slice(-30)) &&
    ((isGiven(head) && !isOrdinary(head) && !places.has(head.folded)) ||
      (hasTwo && !name.some(({ folded: word }) => places.has(word))))
  )
    return { name: name.slice(0, 5), confidence: 0.88 };
  const isPlainWord = !isOrdinary(head) && !hasCapitals && !addressee.test(head.text);
  if (isPlainWord && !places.has(head.folded) && givenAnnouncement.test(before.slice(-30)))
    return { name: name.slice(0, 4), confidence: 0.78 };
  if (isPlainWord && /^[.!]?\s*(?:\n|$)/.test(after) && inlineFarewell.test(before))
    return { name: name.slice(0, 4), confidence: 0.8 };
  // MOREAU Chantal
  if (
    name.length === 2 &&
    /^\p{Lu}{3,}$/u.test(head.text) &&
    isCertainlyGiven(end) &&
    !isOrdinary(head) &&
    /\p{Ll}/u.test(end.text)
  )
    return { name, confidence: 0.78 };
  if (/(?<!\p{L})c\/o\s$/iu.test(before) && isFamily(head)) return { name, confidence: 0.85 };
  const hasPlace = name.some(({ folded: word }) => places.has(word));
  if (!hasPlace && !isOrdinary(head) && !hasCapitals && relative.test(before.slice(-40)))
    return { name: name.slice(0, 4), confidence: 0.8 };
  if (hasTwo && !hasCapitals && !hasPlace && followsRole(before)) {
    // "Nurse Practitioner Programme": after a capitalised role, something else must support the name.
    const mayBeTitle = /\p{Lu}[\p{L}\p{M}-]*\s$/u.test(before);
    const hasParticle = name.some(({ text: word }) => /^\p{Ll}/u.test(word));
    const isSupported = hasGiven || hasParticle || isFamily(end) || isInPersonalSentence(head.start, end.end, context);
    if (!mayBeTitle || isSupported) return { name: name.slice(0, 5), confidence: 0.8 };
  }
  if (hasTwo && afterwards.test(after)) return { name, confidence: 0.85 };
  if (
    folded.some(
      (word) =>
        word.length > 2 && (context.mailWords.has(word) || word.split("-").some((part) => context.mailWords.has(part))),
    )
  )
    return { name, confidence: 0.9 };
  if (
    hasTwo &&
    !hasCapitals &&
    isBesidePersonal(before, head.start, end.end, context) &&
    !name.some(({ folded: word }) => places.has(word))
  )
    return { name, confidence: 0.82 };
  if (isCertainlyGiven(head)) {
    if (hasTwo) return article.test(before) ? null : { name: name.slice(0, 5), confidence: 0.85 };
    if (article.test(before)) return null;
    // A word in capitals is more often an abbreviation.
    return /^\p{Lu}{2,}$/u.test(head.text) ? null : { name, confidence: 0.72 };
  }
  if (hasTwo && isGiven(head) && !words.riskyNames.has(head.folded) && !isOrdinary(head) && !hasCapitals)
    return article.test(before) || places.has(end.folded) ? null : { name: name.slice(0, 5), confidence: 0.8 };
  if (hasTwo && isGiven(head) && name.slice(1).some(isFamily))
    return article.test(before) ? null : { name, confidence: 0.8 };
  const isSurelyFamily = words.familyNames.has(end.folded) && !words.ambiguousNames.has(end.folded);
  const isOddHead = isOrdinary(head) || places.has(head.folded) || words.ambiguousNames.has(head.folded);
  if (name.length < 4 && hasTwo && !hasCapitals && !isOddHead && !places.has(end.folded) && !article.test(before)) {
    if (isSurelyFamily || (end.text.length > 5 && words.certainFamilyEnding.test(end.folded)))
      return { name, confidence: 0.75 };
  }
  // J. R. Whitfield
  if (/^(?:\p{Lu}\.){2}|^\p{Lu}\. \p{Lu}\./u.test(text.slice(head.start, end.end)) && /\p{Ll}{2}/u.test(end.text))
    return { name, confidence: 0.78 };
  if (isEastAsian(name) || (isLine && hasTwo && hasGiven)) return { name, confidence: 0.8 };
  // In a list or a form, any word before a given name is the family name: "Kovács István, …"
  const isEntry = /(?:^|[\n,;:(|])[ \t]*$/.test(before) && /^[ \t]*(?:[\n,;)|]|$)/.test(after);
  if (name.length === 2 && isEntry && isCertainlyGiven(end) && !places.has(head.folded))
    return { name, confidence: 0.78 };
  // A family name before a given name: "Zurbriggen Reto", "Петров Иван"
  if (name.length >= 2 && name.slice(1).some(isCertainlyGiven) && isFamily(head)) return { name, confidence: 0.8 };
  const isUnknown = name.every((word) => word.text.length > 2 && !isOrdinary(word) && !places.has(word.folded));
  if (
    hasTwo &&
    name.length < 4 &&
    isUnknown &&
    !hasCapitals &&
    !article.test(before) &&
    isInPersonalSentence(head.start, end.end, context)
  )
    return { name, confidence: 0.7 };
  if (/(?:ович|евич|ич|овна|евна|івна|ична)$/u.test(end.folded) && hasTwo) return { name, confidence: 0.88 };
  return null;
}

function followsRole(before: string): boolean {
  const word = /(?<![\p{L}\p{M}])[\p{L}\p{M}-]{2,30}(?=[ \u00a0]$)/u.exec(before)?.[0];
  return (word !== undefined && isRoleWord(word)) || roleWithoutColon.test(before.slice(-30));
}

function isBesidePersonal(before: string, start: number, end: number, { text, starts, ends }: Context): boolean {
  const gapBefore = /[\s,;:—–()|/-]{1,4}$/u.exec(before)?.[0].length ?? 0;
  if (gapBefore > 0 && ends.has(start - gapBefore)) return true;
  // Up to a label of a few words: ", phone +27 …", ", hetu 171147-264F"
  for (let at = end; at < Math.min(text.length, end + 30); at++) {
    if (starts.has(at)) return at > end;
    // A full stop after a label is not the end of the sentence: ", tel. +27 …"
    if (at > end && (/[\n!?]/.test(text.charAt(at)) || /^\.\s+\p{Lu}/u.test(text.slice(at, at + 4)))) return false;
  }
  return false;
}

/** Whether the sentence states personal data, which then are those of the person. */
function isInPersonalSentence(start: number, end: number, { text, starts }: Context): boolean {
  const before = text.slice(Math.max(0, start - sentenceReach), start);
  const after = text.slice(end, end + sentenceReach);
  const from = start - (/(?:(?![.!?]\s+\p{Lu})[^\n])*$/u.exec(before)?.[0].length ?? 0);
  const to = end + (/^(?:(?![.!?]\s+\p{Lu})[^\n])*/u.exec(after)?.[0].length ?? 0);
  for (let at = from; at < to; at++) if (starts.has(at)) return true;
  return false;
}

const sentenceReach = 120;
