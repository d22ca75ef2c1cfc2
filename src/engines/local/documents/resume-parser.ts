// ocr/resume_parser: reads a curriculum vitae by rules: columns by the positions of words, sections by their headings, jobs and studies by their
// dates. In an unusual layout, values are missing.

import { fillMembers } from "../fill-members.ts";
import { trimEndOf } from "../text/characters.ts";
import type { AddDetails } from "./document-engine.ts";
import { createLocator, locateValues } from "./locator.ts";
import type { Page } from "./page.ts";
import { readEntries } from "./resume/entries.ts";
import type { SectionName } from "./resume/headings.ts";
import { toJobs, toStudies } from "./resume/jobs.ts";
import { findLanguages } from "./resume/languages.ts";
import { isBullet, readSections, stripBullet } from "./resume/lines.ts";
import { readPerson } from "./resume/person.ts";

/** Spanish names have two surnames. */
const spanishHeading = /^\s*(?:experiencia|formación|idiomas|habilidades|aptitudes|estudios|educación)(?!\p{L})/iu;

export function parseResume(pages: readonly Page[], addDetails: AddDetails) {
  const extracted = readResume(pages);
  addDetails({ documents: [{ fields: locateValues(extracted, createLocator(pages)) }] });
  return fillMembers("ocr/resume_parser", { extracted_data: extracted });
}

function readResume(pages: readonly Page[]) {
  const { top, sections } = readSections(pages);
  const of = (name: SectionName) => sections.filter((section) => section.name === name).flatMap(({ lines }) => lines);
  const textsOf = (name: SectionName) => of(name).map((line) => line.text);
  const jobs = toJobs(readEntries(of("work")));
  const studies = toStudies(readEntries(of("education")));
  const isSpanish = pages.some((page) => page.lines.some((line) => spanishHeading.test(line.text.slice(0, 60))));
  const all = [...top, ...sections.flatMap(({ lines }) => lines)];
  return {
    personal_infos: {
      ...readPerson([...top, ...of("contact")], all, isSpanish),
      self_summary: join(textsOf("summary")),
      objective: join(textsOf("objective")),
      current_profession: jobs[0]?.title ?? null,
    },
    education: { total_years_education: sumYears(studies), entries: studies },
    work_experience: { total_years_experience: sumYears(jobs)?.toString() ?? null, entries: jobs },
    languages: findLanguages(textsOf("languages")),
    skills: toNames(textsOf("skills")),
    certifications: textsOf("certifications").map(toListed),
    courses: textsOf("courses").map(toListed),
    publications: textsOf("publications").map(toListed),
    interests: toNames(textsOf("interests")),
  };
}

function sumYears(entries: readonly { start_date: string | null; end_date: string | null }[]): number | null {
  const spans = entries.flatMap(({ start_date: start, end_date: end }) =>
    start === null ? [] : [[Date.parse(start), end === null ? Date.now() : Date.parse(end)] as const],
  );
  if (spans.length === 0) return null;
  let total = 0;
  let reached = 0;
  // Periods that overlap count once.
  for (const [start, end] of spans.toSorted(([first], [second]) => first - second)) {
    total += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return Math.round(total / (365.25 * 24 * 3600 * 1000));
}

/** Lists are separated by commas, bullets or lines. A line that starts with a small letter continues the one before. */
function toNames(lines: readonly string[]) {
  const joined: string[] = [];
  for (const line of lines) {
    const last = joined.length - 1;
    const isContinued = last >= 0 && !isBullet(line) && /^\p{Ll}/u.test(line) && /[,;]/.test(joined[last] ?? "");
    if (isContinued) joined[last] = `${joined[last]} ${line}`;
    else joined.push(line);
  }
  const parts = joined.flatMap((line) =>
    stripBullet(line)
      .replace(/^[\p{L} &/-]{3,40}:\s*/u, "")
      .split(/[,;\t|•·●▪]|\s\/\s/),
  );
  const names = parts
    .map((part) => trimEndOf(stripBullet(part), /[.\s]/).trim())
    .filter((name) => name.length >= 1 && name.length <= 60 && /[\p{L}\d]/u.test(name));
  return [...new Set(names)].map((name) => ({ name, type: null }));
}

function toListed(line: string) {
  return { name: stripBullet(line).replaceAll("\t", " "), type: null };
}

function join(lines: readonly string[]): string | null {
  const joined = lines.join(" ").replaceAll("\t", " ").trim();
  return joined === "" ? null : joined;
}
