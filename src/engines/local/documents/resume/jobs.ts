// Jobs and studies of a curriculum vitae: which part of an entry is the title, the company or school, and the place.

import { type Entry, isPlaceOnly, splitAtCommas, splitStrongly } from "./entries.ts";
import { isBullet, stripBullet } from "./lines.ts";
import { toPlace } from "./places.ts";
import { isCompany, isDegree, isRole, isSchool } from "./vocabulary.ts";

interface Parts {
  readonly title: string | null;
  readonly organisation: string | null;
  readonly places: readonly string[];
}

const jobTypes =
  /(?<!\p{L})(?:full[- ]time|part[- ]time|freelance|contract|internship|vollzeit|teilzeit|temps plein|temps partiel|cdi|cdd|stage|alternance|media jornada|jornada completa|tempo pieno|tempo parziale|fulltime|parttime)(?!\p{L})/iu;

export function toJobs(entries: readonly Entry[]) {
  const named = entries.map(({ heads }) =>
    heads.map((head) =>
      head.replace(/\s*\(([^()]*)\)\s*/g, (found, inner: string) => (jobTypes.test(inner) ? " " : found)),
    ),
  );
  const usual = findUsualPosition(named, isRole, isCompany);
  return entries.map((entry, index) => toJob(entry, assign(named[index] ?? [], isRole, isCompany, usual)));
}

function toJob({ period, heads, body }: Entry, { title, organisation, places }: Parts) {
  return {
    title,
    company: organisation,
    start_date: period?.start ?? null,
    end_date: period?.end ?? null,
    location: toPlace(places),
    description: describe(body),
    type: jobTypes.exec(heads.join(" "))?.[0] ?? null,
    industry: null,
  };
}

export function toStudies(entries: readonly Entry[]) {
  const named = entries.map(({ heads }) =>
    heads.map((head) => head.replace(/[,;(\s]*\bGPA\b\s*:?\s*[\d.,/ ]+\)?/i, "")),
  );
  const usual = findUsualPosition(named, isDegree, isSchool);
  return entries.map((entry, index) => toStudy(entry, assign(named[index] ?? [], isDegree, isSchool, usual)));
}

function toStudy({ period, heads, body }: Entry, { title, organisation, places }: Parts) {
  const all = [...heads, ...body].join(" ");
  return {
    title,
    start_date: period?.start ?? null,
    end_date: period?.end ?? null,
    location: toPlace(places),
    establishment: organisation,
    description: describe(body),
    gpa: /\bgpa\s*:?\s*(\d(?:[.,]\d+)?)/i.exec(all)?.[1] ?? null,
    accreditation: null,
  };
}

type Test = (text: string) => boolean;

function splitHeads(heads: readonly string[]): string[] {
  const strong = heads.flatMap(splitStrongly);
  return strong.length === 1 ? splitAtCommas(strong[0] ?? "") : strong;
}

/** By the number of parts: at which of them the title stands in most entries of a section whose words are known. */
function findUsualPosition(
  entries: readonly (readonly string[])[],
  isTitle: Test,
  isOrganisation: Test,
): Map<number, number> {
  const votes = new Map<number, number[]>();
  for (const parts of entries.map(splitHeads)) {
    const clear = parts.flatMap((part, index) => (isTitle(part) && !isOrganisation(part) ? [index] : []));
    if (clear.length === 1) votes.set(parts.length, [...(votes.get(parts.length) ?? []), clear[0] ?? 0]);
  }
  const usual = new Map<number, number>();
  for (const [count, positions] of votes) {
    const [first = 0] = positions;
    if (positions.every((position) => position === first)) usual.set(count, first);
  }
  return usual;
}

/** Words decide first, then the position in the other entries; otherwise the title precedes the organisation. */
function assign(
  heads: readonly string[],
  isTitle: Test,
  isOrganisation: Test,
  usual: ReadonlyMap<number, number>,
): Parts {
  const strong = heads.flatMap(splitStrongly);
  const parts = splitHeads(heads);
  const whole = (part: string) => (strong.length === 1 ? [part] : splitAtCommas(part));
  const titleAt = chooseTitle(parts, isTitle, isOrganisation, usual.get(parts.length));
  const titlePieces = parts[titleAt] === undefined ? [] : whole(parts[titleAt] ?? "");
  const others = parts.filter((_, index) => index !== titleAt);
  const organisationAt = others.findIndex((part) => isOrganisation(part));
  const fallback = others.findIndex((part) => !isPlaceOnly(part));
  const at = organisationAt >= 0 ? organisationAt : fallback;
  // "Engineer, Acme Ltd" above "Leeds": the company stands beside the title.
  const beside = titlePieces.slice(1).find((piece) => isOrganisation(piece));
  if (organisationAt < 0 && beside !== undefined)
    return {
      title: titlePieces[0] ?? null,
      organisation: beside,
      places: [...titlePieces.slice(titlePieces.indexOf(beside) + 1), ...others],
    };
  const organisationPieces = others[at] === undefined ? [] : whole(others[at] ?? "");
  const named = nameOf(organisationPieces, isOrganisation);
  const rest = others.filter((_, index) => index !== at);
  return {
    title: titlePieces[0] ?? null,
    organisation: named.name,
    places: [...named.places, ...rest.filter((part) => !isTitle(part))].filter((part) => !/^\d+$/.test(part)),
  };
}

function chooseTitle(parts: readonly string[], isTitle: Test, isOrganisation: Test, usual: number | undefined): number {
  const clear = parts.findIndex((part) => isTitle(part) && !isOrganisation(part));
  if (clear >= 0) return clear;
  if (usual !== undefined) return usual;
  const any = parts.findIndex((part) => isTitle(part));
  if (any >= 0 && parts.length > 1) return any;
  const plain = parts.findIndex((part) => !isOrganisation(part) && !isPlaceOnly(part));
  // A single organisation has no title.
  return parts.length === 1 && parts.some((part) => isOrganisation(part)) ? -1 : plain;
}

/** The piece that names the organisation, and the places after it; a place in brackets, too. */
function nameOf(pieces: readonly string[], isOrganisation: Test) {
  const at = Math.max(0, pieces.findIndex(isOrganisation));
  const [, name = pieces[at] ?? null, bracketed] = /^(.{2,}?)\s*\(([\p{L}\s.,'-]+)\)$/u.exec(pieces[at] ?? "") ?? [];
  const places = [...(bracketed === undefined ? [] : [bracketed]), ...pieces.slice(at + 1)];
  return { name, places };
}

/** Lines of one bullet are joined. */
function describe(body: readonly string[]): string | null {
  const joined = body
    .map((line) => (isBullet(line) ? stripBullet(line) : line))
    .join(" ")
    .replaceAll("\t", " ")
    .trim();
  return joined === "" ? null : joined;
}
