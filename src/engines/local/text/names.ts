// Names of people, places and organisations in English, by the word lists and rules of compromise and a few rules of our own.

import { importPackage } from "../resolve-package.ts";
import type { Span } from "./sentences.ts";
import { splitWindows } from "./windows.ts";

export const namesPackage = "compromise";

export type NameKind = "PERSON" | "LOCATION" | "ORGANIZATION";

export interface Name extends Span {
  readonly kind: NameKind;
}

export type FindNames = (text: string) => readonly Name[];

/** The parts of the package that we call. */
type Compromise = (text: string) => Record<"people" | "places" | "organizations", () => View>;

interface View {
  json(options: { readonly offset: true; readonly terms: false }): Found[];
}

interface Found {
  readonly text: string;
  readonly offset?: { readonly start: number; readonly length: number };
}

// With a longest length: without one, the rules read every run to its end from each of its capitals.
const word = String.raw`\p{Lu}[\p{L}\p{M}\d&.’'-]{0,40}`;
const space = String.raw`[ \u00a0]`;

const organizationRules: readonly RegExp[] = [
  // A name that ends in what a company is: "Harbour & Sons Ltd", "Bosch GmbH"
  new RegExp(
    String.raw`(?:${word}${space}(?:&${space})?){1,4}(?:Inc|Ltd|Limited|LLC|LLP|PLC|plc|GmbH|AG|KG|SE|S\.A\.|SA|SAS|SARL|S\.p\.A\.|B\.V\.|N\.V\.|Corp|Corporation|Company|Group|Holdings|Foundation|Institute|University|College|Hospital|Airlines|Motors|Bank|Agency|Association|Ministry|Parliament)\b\.?`,
    "gu",
  ),
  new RegExp(
    String.raw`\b(?:University|Bank|Ministry|Department|Institute|College|Museum|Church|Council|Bureau|Services)${space}of${space}(?:the${space})?${word}(?:${space}${word}){0,2}`,
    "gu",
  ),
];

const personRules: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Dame|Lord|Lady|Judge|Captain|Sergeant|President|Senator|Chancellor|Herr|Frau|Monsieur|Madame|Señor|Señora)\.?${space}${word}(?:${space}${word}){0,2}`,
    "gu",
  ),
];

// The lists of compromise take these for names at the head of a sentence or a line.
const notNames = new Set(
  "i you he she it we they mum dad mom monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december english french german spanish hello hi dear regards thanks best kind sincerely phone email address name internet god christmas easter".split(
    " ",
  ),
);

export async function loadNames(): Promise<FindNames> {
  const { default: nlp } = await importPackage<{ default: Compromise }>(namesPackage);
  const countries = countryNames();

  function findInWindow(piece: string, base: number): Name[] {
    const view = nlp(piece);
    const options = { offset: true, terms: false } as const;
    const names: Name[] = [];
    for (const rule of organizationRules) names.push(...matchAll(piece, rule, "ORGANIZATION"));
    for (const rule of personRules) names.push(...matchAll(piece, rule, "PERSON"));
    names.push(
      ...view
        .people()
        .json(options)
        .flatMap((found) => toNames(piece, found, "PERSON")),
    );
    names.push(
      ...view
        .organizations()
        .json(options)
        .flatMap((found) => toNames(piece, found, "ORGANIZATION")),
    );
    names.push(...matchAll(piece, countries, "LOCATION"));
    names.push(
      ...view
        .places()
        .json(options)
        .flatMap((found) => toNames(piece, found, "LOCATION")),
    );
    return names.filter(isPlausible).map((name) => ({ ...name, start: name.start + base }));
  }

  return (text) => splitWindows(text).flatMap((window) => withoutOverlaps(findInWindow(window.text, window.start)));
}

/** One for each part: "Lisbon, Portugal" is two places, "Ann Lee and Bob Ray" two people. */
function toNames(piece: string, found: Found, kind: NameKind): Name[] {
  if (found.offset === undefined) return [];
  const { start, length } = found.offset;
  const whole = piece.slice(start, start + length);
  const names: Name[] = [];
  for (const match of whole.matchAll(/(?:(?!,|;|\n| and | or )[\s\S])+/g))
    names.push(trimName(match[0], start + match.index, kind));
  return names;
}

function matchAll(piece: string, rule: RegExp, kind: NameKind): Name[] {
  return [...piece.matchAll(rule)].map((match) => trimName(match[0], match.index, kind));
}

/** Without the punctuation around it, the article before and the possessive behind. */
function trimName(raw: string, start: number, kind: NameKind): Name {
  const before = /^(?:[^\p{L}\d]*(?:the|in|at|from|near|to|of|a)\b(?=\s))?[^\p{L}\d]*/iu.exec(raw)?.[0].length ?? 0;
  const text = raw
    .slice(before)
    .replace(/['’]s?$/u, "")
    .replace(/(?<!\b(?:Inc|Ltd|Corp|Co|Jr|Sr|S\.A|B\.V|N\.V|S\.p\.A|\p{Lu}))[^\p{L}\d)]+$/u, "")
    .replace(/['’]s$/u, "");
  return { text, start: start + before, kind };
}

function isPlausible({ text }: Name): boolean {
  return text.length > 1 && /^\p{Lu}/u.test(text) && !notNames.has(text.toLowerCase()) && !/[@/\\<>{}]/.test(text);
}

/** The longest wins; of equals the one that was found first, for the rules stand in the order of trust. */
function withoutOverlaps(names: readonly Name[]): Name[] {
  const kept: Name[] = [];
  const byLength = names.map((name, order) => ({ name, order }));
  byLength.sort((a, b) => b.name.text.length - a.name.text.length || a.order - b.order);
  const taken = new Set<number>();
  for (const { name } of byLength) {
    const places = Array.from({ length: name.text.length }, (_, index) => name.start + index);
    if (places.some((place) => taken.has(place))) continue;
    for (const place of places) taken.add(place);
    kept.push(name);
  }
  return kept.sort((a, b) => a.start - b.start);
}

/** Every country that has a code, as the runtime's own language data call it. */
function countryNames(): RegExp {
  const display = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const names = alphabet.flatMap((first) => alphabet.map((second) => display.of(first + second)));
  // Codes that are no country, and one that is a common given name.
  const unwanted = new Set([
    "Unknown Region",
    "Jersey",
    "Guinea",
    "Georgia",
    "Eurozone",
    "Pseudo-Accents",
    "Pseudo-Bidi",
  ]);
  const known = names.filter(
    (name): name is string => name !== undefined && !unwanted.has(name) && /^[\p{L} .'’-]+$/u.test(name),
  );
  known.sort((a, b) => b.length - a.length);
  return new RegExp(
    String.raw`(?<![\p{L}\d])(?:${known.map((name) => name.replaceAll(".", "\\.")).join("|")})(?![\p{L}\d])`,
    "gu",
  );
}
