// An invented career, before any layout.

import { fillDate } from "../dates.ts";
import type { LabelledDocument, Value } from "../labelled-document.ts";
import { createRandom, type Random } from "../random.ts";
import type { Sheet } from "../sheet.ts";

export interface CvLocale<Labels> {
  readonly language: string;
  readonly months: readonly string[];
  /** With MM, MMM, MMMM, YYYY. */
  readonly month: string;
  /** With DD, MM, YYYY. */
  readonly day: string;
  readonly present: string;
  readonly labels: Labels;
  readonly people: readonly Person[];
  readonly jobs: readonly (readonly [title: string, company: string, city: string])[];
  readonly duties: readonly string[];
  readonly degrees: readonly (readonly [title: string, school: string])[];
  readonly skills: readonly string[];
  /** As the CV writes them, with ISO 639-1. */
  readonly languages: readonly (readonly [name: string, level: string, code: string])[];
  readonly interests: readonly string[];
  readonly summaries: readonly string[];
}

type PersonMember = "first" | "last" | "street" | "place" | "zip" | "city" | "phone" | "mail" | "url" | "birth";

/** `place`: postal code and city, as the country writes them. `birth`: an ISO date. */
export type Person = Readonly<Record<PersonMember, string>>;

export interface Span {
  /** `YYYY-MM`. */
  readonly start: string;
  /** Null: until today. */
  readonly end: string | null;
}

export interface Job extends Span {
  readonly title: string;
  readonly company: string;
  readonly city: string;
  readonly duties: readonly string[];
}

export interface Study extends Span {
  readonly title: string;
  readonly school: string;
}

export interface Resume<Labels> {
  readonly locale: CvLocale<Labels>;
  readonly random: Random;
  readonly person: Person;
  readonly summary: string;
  readonly jobs: readonly Job[];
  readonly studies: readonly Study[];
  readonly skills: readonly string[];
  readonly languages: readonly (readonly [name: string, level: string, code: string])[];
  readonly interests: readonly string[];
}

export interface ResumeOptions {
  readonly jobs?: number;
  readonly skills?: number;
  readonly hasEnded?: boolean;
}

export function inventResume<Labels>(
  locale: CvLocale<Labels>,
  seed: string,
  options: ResumeOptions = {},
): Resume<Labels> {
  const { jobs: jobCount = 3, skills: skillCount = 6, hasEnded = false } = options;
  const random = createRandom(`${locale.language} ${seed}`);
  const two = (value: number) => String(value).padStart(2, "0");
  let year = 2026;
  let month = random.between(1, 8);
  const jobs = random.some(locale.jobs, jobCount).map(([title, company, city], index): Job => {
    const end = index === 0 && !hasEnded ? null : `${year}-${two(month)}`;
    year -= random.between(2, 5);
    month = random.between(1, 12);
    const start = `${year}-${two(month)}`;
    const before = new Date(Date.UTC(year, month - 2, 1));
    [year, month] = [before.getUTCFullYear(), before.getUTCMonth() + 1];
    return { title, company, city, start, end, duties: random.some(locale.duties, random.between(1, 2)) };
  });
  const studies = random.some(locale.degrees, 2).map(([title, school]): Study => {
    const end = `${year}-${two(random.pick([6, 7, 9]))}`;
    year -= random.between(2, 4);
    return { title, school, start: `${year}-09`, end };
  });
  return {
    locale,
    random,
    person: random.pick(locale.people),
    summary: random.pick(locale.summaries),
    jobs,
    studies,
    skills: random.some(locale.skills, skillCount),
    languages: random.some(locale.languages, 3),
    interests: random.some(locale.interests, 2),
  };
}

export function formatMonth<Labels>(date: string, { month, months }: CvLocale<Labels>): string {
  return fillDate(month, date, months);
}

export function formatDay<Labels>(date: string, { day, months }: CvLocale<Labels>): string {
  return fillDate(day, date, months);
}

export function formatSpan<Labels>(span: Span, locale: CvLocale<Labels>, dash = " – "): string {
  const end = span.end === null ? locale.present : formatMonth(span.end, locale);
  return `${formatMonth(span.start, locale)}${dash}${end}`;
}

export function formatYears<Labels>({ start, end }: Span, { present }: CvLocale<Labels>, dash = " – "): string {
  return `${start.slice(0, 4)}${dash}${end === null ? present : end.slice(0, 4)}`;
}

export type CvField =
  | "name"
  | "mail"
  | "phone"
  | "url"
  | "city"
  | "zip"
  | "birth"
  | "jobs"
  | "studies"
  | "skills"
  | "languages"
  | "interests";

export interface Shown {
  readonly sheet: Sheet;
  readonly fields: readonly CvField[];
  /** Whether the layout states months. Years alone stand for January. */
  readonly jobDates: "months" | "years";
  readonly studyDates: "months" | "years";
  readonly also?: Readonly<Record<string, Value>>;
}

export type CvLayout<Labels> = (resume: Resume<Labels>) => Shown;

/** How many entries there are, and the members of each by path. */
function listEntries<Entry>(
  path: string,
  entries: readonly Entry[],
  membersOf: (entry: Entry) => Record<string, Value>,
) {
  const members = entries.flatMap((entry, index) =>
    Object.entries(membersOf(entry)).map(([name, value]) => [`${path}.${index}.${name}`, value] as const),
  );
  return { [`count:${path}`]: entries.length, ...Object.fromEntries(members) };
}

type Cases<Labels> = readonly (readonly [locale: CvLocale<Labels>, options?: ResumeOptions])[];

/** One CV for each case. The seeds of their random numbers are `seed` with 1, 2 and so on. */
export function toCvs<Labels>(name: string, layout: CvLayout<Labels>, seed: string, cases: Cases<Labels>) {
  return cases.map(([locale, options], index) =>
    toCv(name, layout, inventResume(locale, `${seed} ${index + 1}`, options)),
  );
}

export function toCv<Labels>(layoutName: string, layout: CvLayout<Labels>, resume: Resume<Labels>): LabelledDocument {
  const { sheet, fields, jobDates, studyDates, also = {} } = layout(resume);
  const { person, jobs, studies } = resume;
  const day = (date: string | null, kind: "months" | "years") =>
    date === null ? null : kind === "months" ? `${date}-01` : `${date.slice(0, 4)}-01-01`;
  const lists: Readonly<Record<CvField, () => Record<string, Value>>> = {
    name: () => ({
      "personal_infos.name.first_name": person.first,
      "personal_infos.name.last_name": person.last,
    }),
    mail: () => ({ "personal_infos.mails.0": person.mail }),
    phone: () => ({ "personal_infos.phones.0": person.phone, "count:personal_infos.phones": 1 }),
    url: () => ({ "any:personal_infos.urls": `${person.url}||https://${person.url}` }),
    city: () => ({ "personal_infos.address.city": person.city }),
    zip: () => ({ "personal_infos.address.postal_code": person.zip }),
    birth: () => ({ "personal_infos.date_of_birth": person.birth }),
    jobs: () =>
      listEntries("work_experience.entries", jobs, (job) => ({
        title: job.title,
        company: job.company,
        start_date: day(job.start, jobDates),
        end_date: day(job.end, jobDates),
      })),
    studies: () =>
      listEntries("education.entries", studies, (study) => ({
        title: study.title,
        establishment: study.school,
        end_date: day(study.end, studyDates),
      })),
    skills: () => ({
      "count:skills": resume.skills.length,
      ...Object.fromEntries(resume.skills.map((skill, index) => [`any:skills.*.name#${index}`, skill])),
    }),
    languages: () => ({
      "count:languages": resume.languages.length,
      ...Object.fromEntries(resume.languages.map(([, , code], index) => [`any:languages.*.code#${index}`, code])),
    }),
    interests: () => ({ "count:interests": resume.interests.length }),
  };
  const expected = Object.assign({}, ...fields.map((field) => lists[field]()), also);
  return {
    name: `${layoutName}-${resume.locale.language}-${person.last.replace(/[^\p{L}]/gu, "")}`,
    language: resume.locale.language,
    layout: layoutName,
    pages: sheet.pages,
    expected,
  };
}
