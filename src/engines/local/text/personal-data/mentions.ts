// Further mentions of personal data that were found in a text: the same value elsewhere, with other separators, or the family name of a person.

import type { PersonalDatum } from "./datum.ts";
import { ambiguousNames, fold, notNames, thingWords } from "./name-words.ts";

/** A tree of characters, so that the time depends on the text and not on the number of values. */
interface Node {
  readonly next: Map<string, Node>;
  datum?: PersonalDatum;
}

/** Longer values are searched for no further. */
const maxCharacters = 64;
/** Such as ") " between the groups of a telephone number. */
const maxSeparators = 2;
const mentionConfidence = 0.65;
/** Values such as an age of 34 occur in a text for other reasons. */
const unique = /[\p{L}\p{N}](?:[^\p{L}\p{N}]*[\p{L}\p{N}]){4}/u;

export function findMentions(text: string, found: readonly PersonalDatum[]): PersonalDatum[] {
  const root: Node = { next: new Map() };
  for (const datum of found) {
    if (datum.kind === "NAME") addName(root, datum);
    else if (
      datum.kind !== "AGE" &&
      datum.kind !== "CARD_EXPIRY" &&
      datum.kind !== "POSTCODE" &&
      unique.test(datum.text)
    )
      add(root, datum.text, datum);
  }
  if (root.next.size === 0) return [];
  return Array.from(text.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu)).flatMap((match) => walk(text, match.index, root));
}

/** A name as a whole, and its last word if it is no ordinary word. */
function addName(root: Node, datum: PersonalDatum): void {
  add(root, datum.text, datum);
  const words = datum.text.split(/[ \u00a0]/u);
  const family = words.at(-1) ?? "";
  const folded = fold(family);
  if (words.length < 2 || folded.length < 4 || !/^\p{Lu}/u.test(family)) return;
  if (ambiguousNames.has(folded) || notNames.has(folded) || thingWords.has(folded)) return;
  add(root, family, datum);
}

function add(root: Node, value: string, datum: PersonalDatum): void {
  const characters = [...value].filter(isSignificant);
  if (characters.length > maxCharacters) return;
  let node = root;
  for (const character of characters) {
    let next = node.next.get(character);
    if (next === undefined) {
      next = { next: new Map() };
      node.next.set(character, next);
    }
    node = next;
  }
  node.datum ??= datum;
}

/** The longest value that the text has there. Between its characters there may be a few separators. */
function walk(text: string, start: number, root: Node): PersonalDatum[] {
  let node: Node | undefined = root;
  let best: PersonalDatum | undefined;
  let separators = 0;
  for (let at = start; at < text.length && separators <= maxSeparators; ) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    at += character.length;
    separators = isSignificant(character) ? 0 : separators + 1;
    if (separators > 0) continue;
    node = node.next.get(character);
    if (node === undefined) break;
    if (node.datum !== undefined && !/[\p{L}\p{N}]/u.test(text.charAt(at)))
      best = { ...node.datum, text: text.slice(start, at), start, confidence: mentionConfidence };
  }
  if (best === undefined) return [];
  // A telephone number may begin with a sign.
  const sign = best.kind === "PHONE" && text.charAt(start - 1) === "+" ? "+" : "";
  return [{ ...best, text: sign + best.text, start: start - sign.length }];
}

function isSignificant(character: string): boolean {
  return /[\p{L}\p{M}\p{N}@]/u.test(character);
}
