// The name of the person: a line of two to five words near the top, usually the tallest one and similar to the e-mail address.

import { foldCase } from "../fold-case.ts";
import { findSection, isDocumentTitle } from "./headings.ts";
import { isBullet, type ResumeLine } from "./lines.ts";
import { isDegree, isRole, isSchool } from "./vocabulary.ts";

const word = "\\p{Lu}[\\p{L}\\p{M}'’.-]*";
const particle =
  "(?:van|von|vom|zu|zum|zur|de|der|den|del|della|dello|di|da|do|dos|das|du|des|d'|la|le|el|al|bin|ibn|ben|ter|ten|af|av|y|e|i|und|st\\.)";
// Capitals matter, so the pattern must not ignore the case.
const namePattern = new RegExp(`^(?:${word})(?:\\s+(?:${particle}|${word})){1,5}$`, "u");
const degreePattern = /(?:,\s*(?:ph\.?\s?d|m\.?b\.?a|m\.?d|cpa|jr|sr|m\.?sc|b\.?sc|rn|esq|pmp|llm|dphil)\.?){1,4}$/i;
const prefixes =
  "dr|dr\\.-ing|prof|professor|mr|mrs|ms|miss|mme|mlle|m|herr|frau|sr|sra|srta|dott|dott\\.ssa|ing|mgr|mgr inż|inż|dipl\\.-ing|dipl\\.-kfm|sir|drs|ir|mag";
const prefixPattern = new RegExp(`^((?:(?:${prefixes})\\.?\\s+){1,3})(?=\\p{L})`, "iu");
const particles = new Set(
  "van von vom zu zum zur de der den del della dello di da do dos das du des la le el al bin ibn ben ter ten af av".split(
    " ",
  ),
);
/** Words that name jobs but also are frequent surnames. */
const surnames = new Set(
  "koch cook chef leiter meister fahrer pfleger schreiner tischler backer gartner kellner lehrer head lead master driver clerk guard pilot page baker carpenter farmer smith taylor mason miller fischer schneider muller weber bishop king judge architekt buyer coach fellow partner owner principal chief rm stage agent capo caixa".split(
    " ",
  ),
);
const maxNameCharacters = 60;
const maxLines = 60;

export function findName(
  near: readonly ResumeLine[],
  all: readonly ResumeLine[],
  mails: readonly string[],
): string | null {
  const locals = mails.map((mail) => foldCase(mail.split("@")[0] ?? ""));
  const median = medianHeight(all);
  const candidates = listCandidates(near.slice(0, maxLines), median);
  // A heading may precede the name, such as "Contact" in a column to the left.
  const wider =
    candidates.length > 0
      ? candidates
      : listCandidates(all.filter(({ pageIndex }) => pageIndex === 0).slice(0, maxLines), median);
  const tallest = wider.reduce((height, candidate) => Math.max(height, candidate.height), 0);
  let best: { name: string; score: number } | null = null;
  for (const [index, { name, height }] of wider.entries()) {
    const words = foldCase(name)
      .split(/[\s-]+/)
      .filter((one) => one.length >= 3);
    const isInMail = words.some((one) => locals.some((local) => local.includes(one)));
    const isTallest = height >= 0.95 * tallest;
    const isTall = isTallest && height > 1.2 * median;
    const score = (isInMail ? 4 : 0) + (isTall ? 3 : 0) + (index === 0 ? 1 : 0) - (looksLikeTitle(name) ? 4 : 0);
    if (score > (best?.score ?? -1)) best = { name, score };
  }
  if (best === null) return null;
  // Among lines that are no name by their size or the e-mail address, only those before the first heading count.
  return candidates.length > 0 || best.score >= 3 ? best.name : null;
}

interface Candidate {
  readonly name: string;
  readonly height: number;
}

function listCandidates(lines: readonly ResumeLine[], median: number): Candidate[] {
  return lines.flatMap((line, index) => {
    if (isBullet(line.text)) return [];
    const next = lines[index + 1];
    const height = line.row.height;
    const joined =
      next !== undefined &&
      isSingleWord(line.text) &&
      isSingleWord(next.text) &&
      (Math.abs(next.row.height - height) < 0.3 * height || Math.min(next.row.height, height) > 1.5 * median)
        ? [{ name: `${line.text} ${next.text}`, height: height * 1.001 }]
        : [];
    // Some names are printed with spaces between the letters.
    const isSpaced = line.cells.every((cell) => /^\p{L}(?: \p{L})+$/u.test(cell));
    const cells = isSpaced ? [line.cells.map((cell) => cell.replaceAll(" ", "")).join(" ")] : line.cells;
    const own = cells.flatMap((cell) => cell.split(/\s[|•·–—-]\s/)).map((text) => ({ name: text.trim(), height }));
    return [...joined, ...own].filter(({ name }) => isName(name));
  });
}

function isSingleWord(text: string): boolean {
  return /^\p{Lu}[\p{L}'’-]+$/u.test(text) && findSection(text) === null && !isDocumentTitle(text) && !isRole(text);
}

function isName(text: string): boolean {
  if (text.length > maxNameCharacters || !namePattern.test(withoutPrefix(text).rest.replace(degreePattern, "")))
    return false;
  const isLabel = findSection(text) !== null || isDocumentTitle(text);
  return !isLabel && !isSchool(text) && !/\bcurriculum\b|\blebenslauf\b|\bresume\b/i.test(foldCase(text));
}

/** A job and not a person. */
function looksLikeTitle(text: string): boolean {
  const rest = text
    .split(/\s+/)
    .filter((one) => !surnames.has(foldCase(one)))
    .join(" ");
  return isRole(rest) || isDegree(rest.replace(/,.*$/, ""));
}

function medianHeight(lines: readonly ResumeLine[]): number {
  const heights = lines.map(({ row }) => row.height).toSorted((first, second) => first - second);
  return heights[Math.floor(heights.length / 2)] ?? 0;
}

function withoutPrefix(text: string): { prefix: string | null; rest: string } {
  const [, prefix] = prefixPattern.exec(text) ?? [];
  return prefix === undefined
    ? { prefix: null, rest: text }
    : { prefix: prefix.trim(), rest: text.slice(prefix.length) };
}

/** Second parts of Spanish given names. Other names of three words have two surnames. */
const secondGivenNames = new Set(
  "jose maria luis carlos antonio manuel angel jesus isabel carmen pilar teresa javier miguel alberto fernando eduardo ignacio pablo andres enrique rosa elena cristina dolores victoria belen mercedes luisa jesus francisco rafael alejandro".split(
    " ",
  ),
);

/** A surname in capitals beside given names in small letters is recognised in any position; otherwise it is the last word with its particles. */
export function toName(raw: string | null, isSpanish = false) {
  if (raw === null) return {};
  const { prefix, rest } = withoutPrefix(raw);
  const [plain = "", ...suffixes] = rest.split(/,\s*/);
  const words = plain.split(/\s+/);
  const isCapital = (one: string) => one.length > 1 && one === one.toUpperCase() && /\p{L}{2}/u.test(one);
  const capitals = words.filter(isCapital);
  const isMixed =
    capitals.length > 0 &&
    capitals.length < words.length &&
    words.some((one) => /\p{Ll}{2}/u.test(one) && !particles.has(one));
  const particleAt = words.findIndex((one, index) => index > 0 && particles.has(one.toLowerCase()));
  const hasTwoSurnames =
    isSpanish && particleAt < 0 && words.length === 3 && !secondGivenNames.has(foldCase(words[1] ?? ""));
  const lastAt =
    particleAt > 0 && particleAt < words.length - 1
      ? particleAt
      : Math.max(1, words.length - (hasTwoSurnames || (isSpanish && words.length > 3) ? 2 : 1));
  const last = isMixed ? capitals : words.slice(lastAt);
  const [first = null, ...middle] = isMixed ? words.filter((one) => !isCapital(one)) : words.slice(0, lastAt);
  return {
    raw_name: raw,
    first_name: first,
    last_name: last.join(" ") || null,
    middle: middle.join(" ") || null,
    prefix,
    sufix: suffixes.join(", ") || null,
  };
}
