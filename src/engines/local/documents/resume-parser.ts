// ocr/resume_parser: reads a curriculum vitae by rules: sections by their headings, jobs and studies by their dates. It knows English headings
// and common French, German and Spanish ones. In an unusual layout, values are missing or in the wrong member.

import { fillMembers } from "../fill-members.ts";
import { trimEndOf } from "../text/characters.ts";
import { readAddress } from "./address.ts";
import { findCountry } from "./countries.ts";
import { createDocumentEngine } from "./document-engine.ts";
import type { Page } from "./page.ts";
import { toRows } from "./rows.ts";
import { findDate, findEmails, findFaxes, findPhones, findWebsites, monthNames, toMonth } from "./values.ts";

interface Period {
  readonly start: string | null;
  readonly end: string | null;
  /** As written in the line. */
  readonly text: string;
}

interface Entry {
  readonly period: Period;
  /** The lines above and beside the dates. */
  readonly heads: readonly string[];
  readonly body: readonly string[];
}

const task = "ocr/resume_parser";
const headings = {
  summary:
    /^(?:(?:professional|executive|career|personal)\s+)?(?:summary|profile|about(?:\s+me)?|profil|résumé|perfil)$/i,
  objective: /^(?:career\s+)?objectives?$/i,
  work: /^(?:(?:work|professional|employment|relevant|career)\s+)?(?:experience|history|employment)(?:\s+history)?$|^expériences?(?:\s+professionnelles?)?$|^berufserfahrung$|^experiencia(?:\s+laboral)?$/i,
  education:
    /^(?:education(?:al\s+background)?(?:\s+(?:and|&)\s+training)?|academic\s+(?:background|qualifications)|qualifications|formation|ausbildung|studium|educación|formación)$/i,
  skills:
    /^(?:(?:technical|key|core|professional|it|other)\s+)?(?:skills|competenc(?:i?es)|technologies|expertise)(?:\s+(?:and|&)\s+\w+)?$|^compétences$|^kenntnisse$|^habilidades$/i,
  languages: /^(?:languages?(?:\s+skills)?|langues|sprachen|sprachkenntnisse|idiomas)$/i,
  certifications:
    /^(?:certificat(?:ions?|es)|licen[cs]es?(?:\s+(?:and|&)\s+certifications)?|certifications\s+(?:and|&)\s+licen[cs]es|zertifikate)$/i,
  courses: /^(?:courses|training|coursework|professional\s+development)$/i,
  publications: /^(?:publications|papers|veröffentlichungen)$/i,
  interests:
    /^(?:(?:personal\s+)?interests|hobbies(?:\s+(?:and|&)\s+interests)?|interests\s+(?:and|&)\s+hobbies|loisirs|centres\s+d['’]intérêt|hobbys)$/i,
  other:
    /^(?:references|awards|honou?rs|projects|volunteer(?:ing)?(?:\s+(?:work|experience))?|achievements|contact|personal\s+(?:details|information)|additional\s+information)$/i,
};
type SectionName = keyof typeof headings;

/** A month or a year. */
const point = `(?:(?:\\d{1,2}[./]\\d{4})|(?:(?<!\\p{L})(?:${monthNames.join("|")})\\.?,?\\s+\\d{4})|(?:(?:19|20)\\d{2}))`;
const periodPattern = new RegExp(
  `(${point})\\s*(?:-|–|—|to|until|bis|à|al?)\\s*(${point}|present|now|current(?:ly)?|today|ongoing|heute|aujourd['’]hui|actualidad)`,
  "iu",
);
const singlePattern = new RegExp(`(?<![\\d./])(${point})(?![\\d./])`, "iu");
const companyWords =
  /\b(?:inc|ltd|llc|gmbh|ag|plc|corp|co|company|university|college|school|institute|hospital|bank|group|studio|labs?|agency|solutions|systems|technologies|consulting|services|council|museum|s\.?a\.?s?)\b\.?/i;
const roleWords =
  /\b(?:engineer|developer|manager|director|analyst|consultant|designer|assistant|officer|lead|head|intern|teacher|nurse|architect|scientist|administrator|coordinator|specialist|technician|accountant|associate|representative|supervisor|researcher|editor|writer|chef|driver|clerk|executive|founder|president|professor|lecturer|trainee|tutor|producer|planner|buyer|advisor|curator)\b/i;
const degreeWords =
  /\b(?:b\.?\s?a|b\.?\s?sc|b\.?\s?eng|m\.?\s?a|m\.?\s?sc|m\.?\s?eng|m\.?b\.?a|ph\.?\s?d|bachelor|master|doctor|diploma|degree|licence|baccalauréat|a-levels|certificate|abitur|associate)\b/i;
const levelWords =
  /\b(?:native|mother tongue|fluent|bilingual|advanced|intermediate|basic|beginner|conversational|proficient|professional(?:\s+\w+)?|[abc][12])\b/gi;
const languageNames = new Intl.DisplayNames(["en"], { type: "language" });
const languageCodes = new Map(
  "en fr de es it pt nl pl ru uk cs sk hu ro bg el tr ar he fa hi ur bn ta te zh ja ko vi th id ms sv no da fi is et lv lt sl hr sr sq ca eu gl ga cy sw af tl"
    .split(" ")
    .map((code) => [(languageNames.of(code) ?? code).toLowerCase(), code]),
);

export const resumeParser = createDocumentEngine({
  task,
  isPricedByFile: true,
  load: async () => (pages) => fillMembers(task, { extracted_data: readResume(pages) }),
});

function readResume(pages: readonly Page[]) {
  const rows = pages.flatMap(toRows);
  const lines = rows.map((row) => row.cells.map((cell) => cell.text).join("\t"));
  const { top, sections } = splitSections(lines);
  const of = (name: SectionName) => sections.filter((section) => section.name === name).flatMap(({ lines }) => lines);
  const jobs = readEntries(of("work")).map(toJob);
  const studies = readEntries(of("education")).map(toStudy);
  return {
    personal_infos: {
      ...readPerson(top, lines.join("\n")),
      self_summary: join(of("summary")),
      objective: join(of("objective")),
      current_profession: jobs[0]?.title ?? null,
    },
    education: { total_years_education: sumYears(studies), entries: studies },
    work_experience: { total_years_experience: sumYears(jobs)?.toString() ?? null, entries: jobs },
    languages: readLanguages(of("languages")),
    skills: toNames(of("skills")),
    certifications: of("certifications").map(toListed),
    courses: of("courses").map(toListed),
    publications: of("publications").map(toListed),
    interests: toNames(of("interests")),
  };
}

/** The lines before the first heading, and those of each section. */
function splitSections(lines: readonly string[]) {
  const top: string[] = [];
  const sections: { name: SectionName; lines: string[] }[] = [];
  for (const line of lines) {
    const name = findHeading(trimEndOf(line, /[:_\s]/));
    // Heading and content in one line: "Languages: English, French".
    const [, label = "", rest = ""] = /^([\p{L}\s&]{4,30}):\s+(.+)$/u.exec(line) ?? [];
    const inlineName = findHeading(label);
    if (name !== undefined) sections.push({ name, lines: [] });
    else if (inlineName !== undefined) sections.push({ name: inlineName, lines: [rest] });
    else (sections.at(-1)?.lines ?? top).push(line);
  }
  return { top, sections };
}

function findHeading(text: string): SectionName | undefined {
  const names = Object.keys(headings) as SectionName[];
  return names.find((name) => headings[name].test(text.trim()));
}

function readPerson(top: readonly string[], text: string) {
  const cells = top.flatMap((line) => line.split(/\t|\s[|•·]\s/)).map((cell) => cell.trim());
  const isContact = (cell: string) => /@|\d{4,}|www\.|https?:|linkedin|github/i.test(cell);
  const rawName = cells.find(
    (cell) => !isContact(cell) && /^\p{Lu}[\p{L}'’.-]+(?:\s+[\p{L}'’.-]+){1,4}$/u.test(cell) && !roleWords.test(cell),
  );
  const labelled = (label: RegExp) => label.exec(text)?.[1]?.trim() ?? null;
  const birth = labelled(/(?:date of birth|born(?: on)?|birth date|geburtsdatum|né(?:e)? le)\s*:?\s*([^\n\t|]+)/i);
  const textWithoutYears = text.replace(/\b(?:19|20)\d{2}\s*[-–]\s*(?:19|20)\d{2}\b/g, "");
  // Above the first heading, a number with so many digits is a telephone number even without a label.
  const unlabelledPhones = cells.filter((cell) => /^(?:\+?[\d(][\d\s().-]{7,17}\d)$/.test(cell));
  const profiles = text.match(/\b(?:linkedin|github)\.com\/[\w/-]+/gi) ?? [];
  return {
    name: toName(rawName ?? null),
    address: findAddress(cells.filter((cell) => cell !== rawName)),
    date_of_birth: birth === null ? null : findDate(birth),
    place_of_birth: labelled(/(?:place of birth|lieu de naissance|geburtsort)\s*:?\s*([^\n\t|]+)/i),
    phones: [...new Set([...findPhones(textWithoutYears), ...unlabelledPhones])],
    mails: findEmails(text),
    urls: [...new Set([...findWebsites(text), ...profiles])],
    fax: findFaxes(text),
    gender: labelled(/\b(?:gender|sex)\s*:\s*(\p{L}+)/iu),
    nationality: labelled(/\bnationality\s*:\s*(\p{L}+)/iu),
    martial_status: labelled(/\bmarital status\s*:\s*(\p{L}+)/iu),
    current_salary: null,
    availability: labelled(/\bavailab(?:ility|le)\s*:\s*([^\n\t|]+)/i),
  };
}

/** A cell with a complete address, otherwise one with a city and a country. */
function findAddress(cells: readonly string[]) {
  const line = cells.find((cell) => !/@|https?:|www\./.test(cell) && looksLikeAddress(cell));
  if (line !== undefined) return toLocation(line.replace(/^address\s*:\s*/i, ""));
  const city = cells.find((cell) => /^\p{Lu}[\p{L} .'-]+,\s*\p{Lu}[\p{L} .]+$/u.test(cell) && !roleWords.test(cell));
  return city === undefined ? null : toLocation(city, true);
}

function looksLikeAddress(cell: string): boolean {
  const address = readAddress([cell]);
  return address !== null && (address.zipCode !== null || (address.street !== null && /,/.test(cell)));
}

function toLocation(text: string, startsWithCity = false) {
  const address = readAddress([text]);
  if (address === null) return null;
  return {
    formatted_location: address.formatted,
    raw_input_location: address.formatted,
    postal_code: address.zipCode,
    region: address.province,
    country: address.country?.name ?? null,
    country_code: address.country?.alpha2 ?? null,
    street: address.street,
    street_number: address.houseNumber,
    city: address.city ?? ((startsWithCity && text.split(",")[0]) || null),
  };
}

function toName(raw: string | null) {
  if (raw === null) return {};
  const [, prefix, rest = ""] = /^((?:Dr|Mr|Mrs|Ms|Prof)\.?)?\s*(.*)$/.exec(raw) ?? [];
  const [first = null, ...others] = rest.split(/\s+/);
  const last = others.pop() ?? null;
  return {
    raw_name: raw,
    first_name: first,
    last_name: last,
    middle: others.join(" ") || null,
    prefix: prefix || null,
  };
}

/** Each line with a period starts an entry. */
function readEntries(lines: readonly string[]): Entry[] {
  const entries: { period: Period; heads: string[]; body: string[] }[] = [];
  let before: string[] = [];
  for (const line of lines) {
    const current = entries.at(-1);
    const period = isBullet(line) ? null : findPeriod(line);
    if (period !== null) {
      const rest = trimEndOf(line.replace(period.text, " "), /[\s|•·,()–-]/);
      const head = rest.replace(/^[\s|•·,()–-]+/, "").trim();
      // A title that is printed above the dates was taken for the last line of the entry before.
      const isTitle = roleWords.test(head) || degreeWords.test(head);
      const title = isTitle ? null : takeTitle(current?.body ?? before);
      entries.push({ period, heads: [title ?? "", head].filter((text) => text !== ""), body: [] });
      before = [];
    } else if (current === undefined) before.push(line);
    else if (current.body.length === 0 && current.heads.length < 2 && !isBullet(line) && line.length < 80)
      current.heads.push(line.trim());
    else current.body.push(line.trim());
  }
  return entries;
}

function takeTitle(lines: string[]): string | null {
  const last = lines.at(-1);
  if (last === undefined || isBullet(last) || last.length > 70 || /[.;]$/.test(last)) return null;
  lines.pop();
  return last;
}

function isBullet(line: string): boolean {
  return /^\s*[•·*»▪◦-]\s?/.test(line) || /^\s*o\s+\p{Lu}/u.test(line);
}

function findPeriod(line: string): Period | null {
  const range = periodPattern.exec(line);
  if (range !== null) return { start: toMonthDate(range[1]), end: toMonthDate(range[2]), text: range[0] };
  const single = singlePattern.exec(line);
  if (single === null || toMonthDate(single[1]) === null) return null;
  return { start: null, end: toMonthDate(single[1]), text: single[0] };
}

/** The first day of the month or year. */
function toMonthDate(text: string | undefined): string | null {
  const year = /(?:19|20)\d{2}/.exec(text ?? "")?.[0];
  if (year === undefined) return null;
  const numeric = /^(\d{1,2})[./]/.exec(text ?? "")?.[1];
  const named = toMonth(/^\p{L}+/u.exec(text ?? "")?.[0]);
  const month = numeric === undefined ? (named ?? 1) : Number(numeric);
  return month >= 1 && month <= 12 ? `${year}-${String(month).padStart(2, "0")}-01` : null;
}

/** The title, the company or school, and the place are separated by various characters. */
function splitHeads(heads: readonly string[]): string[] {
  return heads
    .flatMap((head) => head.split(/\t|\s[|–—-]\s|\s@\s|\s+at\s+(?=\p{Lu})|,\s+/u))
    .map((part) => trimEndOf(part.trim().replace(/^[,|]+/, ""), /[,|]/))
    .filter((part) => part !== "");
}

function toJob({ period, heads, body }: Entry) {
  const parts = splitHeads(heads);
  const title = parts.find((part) => roleWords.test(part)) ?? parts[0] ?? null;
  const others = parts.filter((part) => part !== title);
  const name = others.find((part) => companyWords.test(part)) ?? others[0] ?? null;
  const place = others.filter((part) => part !== name);
  return {
    title,
    company: name,
    start_date: period.start,
    end_date: period.end,
    location: toPlace(place),
    description: join(body.map(stripBullet)),
    type: /\b(?:full|part)[- ]time\b|\bfreelance\b|\bcontract\b|\binternship\b/i.exec(heads.join(" "))?.[0] ?? null,
    industry: null,
  };
}

function toStudy({ period, heads, body }: Entry) {
  const parts = splitHeads(heads);
  const title = parts.find((part) => degreeWords.test(part)) ?? null;
  const others = parts.filter((part) => part !== title && !/\bgpa\b/i.test(part));
  const school = others.find((part) => companyWords.test(part)) ?? others[0] ?? null;
  const place = others.filter(
    (part) => part !== school && (findCountry(part) !== null || others.indexOf(part) > others.indexOf(school ?? "")),
  );
  const all = [...heads, ...body].join(" ");
  return {
    title: title ?? parts.find((part) => part !== school) ?? null,
    start_date: period.start,
    end_date: period.end,
    location: toPlace(place),
    establishment: school,
    description: join(body.map(stripBullet)),
    gpa: /\bgpa\s*:?\s*(\d(?:[.,]\d+)?)/i.exec(all)?.[1] ?? null,
    accreditation: null,
  };
}

function toPlace(parts: readonly string[]) {
  return parts.length === 0 ? null : toLocation(parts.join(", "), true);
}

function stripBullet(line: string): string {
  return line.replace(/^\s*[•·*»▪◦-]\s*/, "").trim();
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

function readLanguages(lines: readonly string[]) {
  const parts = lines
    .flatMap((line) => line.split(/[,;\t|•·]|\s[–-]\s|\(|\)/))
    .map((part) => stripBullet(part).replace(levelWords, "").replace(/[:()]/g, "").trim());
  return parts.flatMap((part) => {
    const code = languageCodes.get(part.toLowerCase().split(" ")[0] ?? "");
    return code === undefined ? [] : [{ name: part.split(" ")[0] ?? part, code }];
  });
}

function toNames(lines: readonly string[]) {
  const parts = lines.flatMap((line) =>
    stripBullet(line)
      .replace(/^[\p{L} &]{3,30}:\s*/u, "")
      .split(/[,;\t|•·]/),
  );
  const names = parts
    .map((part) => trimEndOf(part, /[.\s]/).trim())
    .filter((name) => name.length >= 2 && name.length <= 60);
  return [...new Set(names)].map((name) => ({ name, type: null }));
}

function toListed(line: string) {
  return { name: stripBullet(line).replaceAll("\t", " "), type: null };
}

function join(lines: readonly string[]): string | null {
  const joined = lines.join(" ").replaceAll("\t", " ").trim();
  return joined === "" ? null : joined;
}
