// Finds English names of people, places and organisations by the word lists and rules of compromise and a few rules of our own.

import { importPackage } from "../resolve-package.ts";
import { type Span, selectSpans } from "./sentences.ts";
import { splitWindows } from "./windows.ts";

export const namesPackage = "compromise";

export type NameKind = "PERSON" | "LOCATION" | "ORGANIZATION";

export interface Name extends Span {
  readonly kind: NameKind;
}

/** The parts of the package that we call. */
type Compromise = (text: string) => Record<"people" | "places" | "organizations", () => View>;
type View = { json(options: { readonly offset: true; readonly terms: false }): Found[] };

interface Found {
  readonly text: string;
  readonly offset?: { readonly start: number; readonly length: number };
}

// The length is limited, because otherwise every capital letter of a long run would be read to the end of the run.
const word = String.raw`\p{Lu}[\p{L}\p{M}\d&.’'-]{0,40}`;
const space = String.raw`[ \u00a0]`;

/** Our own rules, before the word lists: of two equally long names the first wins. */
const rules: readonly (readonly [NameKind, RegExp])[] = [
  // A name that ends with a type of company or institution: "Harbour & Sons Ltd", "Bosch GmbH"
  [
    "ORGANIZATION",
    new RegExp(
      String.raw`(?:${word}${space}(?:&${space})?){1,4}(?:Inc|Ltd|Limited|LLC|LLP|PLC|plc|GmbH|AG|KG|SE|S\.A\.|SA|SAS|SARL|S\.p\.A\.|B\.V\.|N\.V\.|Corp|Corporation|Company|Group|Holdings|Foundation|Institute|University|College|Hospital|Airlines|Motors|Bank|Agency|Association|Ministry|Parliament)\b\.?`,
      "gu",
    ),
  ],
  [
    "ORGANIZATION",
    new RegExp(
      String.raw`\b(?:University|Bank|Ministry|Department|Institute|College|Museum|Church|Council|Bureau|Services)${space}of${space}(?:the${space})?${word}(?:${space}${word}){0,2}`,
      "gu",
    ),
  ],
  [
    "PERSON",
    new RegExp(
      String.raw`\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Dame|Lord|Lady|Judge|Captain|Sergeant|President|Senator|Chancellor|Herr|Frau|Monsieur|Madame|Señor|Señora)\.?${space}${word}(?:${space}${word}){0,2}`,
      "gu",
    ),
  ],
];

/** Words that compromise takes for names at the start of a sentence or a line. */
const notNames = new Set(
  "i you he she it we they mum dad mom monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december english french german spanish hello hi dear regards thanks best kind sincerely phone email address name internet god christmas easter".split(
    " ",
  ),
);
/** Names of regions that are not countries, or that are also common as a given name or a word. */
const notCountries = new Set("Unknown Region,Jersey,Guinea,Georgia,Eurozone,Pseudo-Accents,Pseudo-Bidi".split(","));

export async function loadNames(): Promise<(text: string) => readonly Name[]> {
  const { default: nlp } = await importPackage<{ default: Compromise }>(namesPackage);
  const countries = countryPattern();

  function findInWindow({ text, start }: Span): Name[] {
    const view = nlp(text);
    const matchAll = (kind: NameKind, rule: RegExp) =>
      [...text.matchAll(rule)].map((match) => trimName(match[0], match.index, kind));
    const fromList = (kind: NameKind, list: View) =>
      list.json({ offset: true, terms: false }).flatMap((found) => splitName(text, found, kind));
    const names = [
      ...rules.flatMap(([kind, rule]) => matchAll(kind, rule)),
      ...fromList("PERSON", view.people()),
      ...fromList("ORGANIZATION", view.organizations()),
      ...matchAll("LOCATION", countries),
      ...fromList("LOCATION", view.places()),
    ];
    const longestFirst = (a: Name, b: Name) => b.text.length - a.text.length;
    const selected = selectSpans(names.filter(isPlausible), longestFirst);
    return selected.map((name) => ({ ...name, start: name.start + start }));
  }

  return (text) => splitWindows(text).flatMap(findInWindow);
}

/** Splits enumerations: "Lisbon, Portugal" is two places, "Ann Lee and Bob Ray" two people. */
function splitName(text: string, { offset }: Found, kind: NameKind): Name[] {
  if (offset === undefined) return [];
  const whole = text.slice(offset.start, offset.start + offset.length);
  const parts = whole.matchAll(/(?:(?!,|;|\n| and | or )[\s\S])+/g);
  return [...parts].map((part) => trimName(part[0], offset.start + part.index, kind));
}

/** Removes surrounding punctuation, an article or preposition before the name, and a possessive ending. */
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

/** Matches the English names of all countries. */
function countryPattern(): RegExp {
  const display = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const names = alphabet
    .flatMap((first) => alphabet.map((second) => display.of(first + second) ?? ""))
    .filter((name) => !notCountries.has(name) && /^[\p{L} .'’-]+$/u.test(name))
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replaceAll(".", "\\."));
  return new RegExp(String.raw`(?<![\p{L}\d])(?:${names.join("|")})(?![\p{L}\d])`, "gu");
}
