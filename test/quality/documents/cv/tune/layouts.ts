// Layouts of CVs in the tune split: rules may be tuned on them.

import { Sheet } from "../../sheet.ts";
import { type CvField, type CvLayout, formatDay, formatSpan, formatYears, type Resume } from "../resume.ts";
import type { CvLabels } from "./locales.ts";

type TuneResume = Resume<CvLabels>;

const bold = { font: "bold" } as const;
const usual: readonly CvField[] = ["name", "mail", "phone", "jobs", "studies", "skills", "languages"];

/** One column; the period stands at the right edge of the first line of an entry. */
export const oneColumn: CvLayout<CvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet();
  sheet.text(55, 62, `${person.first} ${person.last}`, { ...bold, size: 22 });
  sheet.text(55, 80, `${person.place} | ${person.phone} | ${person.mail}`).text(55, 94, person.url);
  let y = 126;
  const heading = (title: string) => {
    sheet.text(55, y, title.toUpperCase(), { ...bold, size: 11 }).rule(55, y + 4, 540, 0.5);
    y += 20;
  };
  heading(labels.profile);
  y = sheet.paragraph(55, y, 480, resume.summary) + 14;
  heading(labels.work);
  for (const job of jobs) {
    sheet.text(55, y, `${job.title}, ${job.company}`, bold).right(540, y, formatSpan(job, locale));
    y += 14;
    for (const duty of job.duties) {
      sheet.text(65, y, `• ${duty}`);
      y += 13;
    }
    y += 6;
  }
  y += 8;
  heading(labels.education);
  for (const study of studies) {
    sheet.text(55, y, `${study.title}, ${study.school}`).right(540, y, formatYears(study, locale));
    y += 16;
  }
  y += 12;
  heading(labels.skills);
  y = sheet.paragraph(55, y, 480, resume.skills.join(", ")) + 14;
  heading(labels.languages);
  y = sheet.paragraph(55, y, 480, resume.languages.map(([name, level]) => `${name} (${level})`).join(", ")) + 14;
  heading(labels.interests);
  sheet.text(55, y, resume.interests.join(", "));
  return { sheet, fields: [...usual, "url", "city", "interests"], jobDates: "months", studyDates: "years" };
};

/** A grey column on the left with contact, skills and languages; the career on the right. */
export const leftColumn: CvLayout<CvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ size: 9.5 });
  sheet.box(0, 0, 190, 842, 0.92);
  sheet.box(60, 36, 70, 80, 0.75);
  let left = 146;
  const side = (title: string, lines: readonly string[]) => {
    sheet.text(28, left, title, { ...bold, size: 11 });
    left = sheet.stack(28, left + 17, lines, { step: 14, size: 9 }) + 14;
  };
  side(labels.contact, [person.street, person.place, person.phone, person.mail, person.url]);
  side(labels.skills, resume.skills);
  side(
    labels.languages,
    resume.languages.map(([name, level]) => `${name} – ${level}`),
  );
  side(labels.interests, resume.interests);
  sheet.text(215, 70, person.first, { size: 26 }).text(215, 98, person.last, { ...bold, size: 26 });
  let y = 138;
  const heading = (title: string) => {
    sheet.text(215, y, title, { ...bold, size: 13 });
    y += 20;
  };
  heading(labels.profile);
  y = sheet.paragraph(215, y, 340, resume.summary) + 14;
  heading(labels.work);
  for (const job of jobs) {
    sheet.text(215, y, job.title, { ...bold, size: 10.5 });
    sheet.text(215, y + 13, `${job.company} | ${formatSpan(job, locale)}`, { grey: 0.3 });
    y += 28;
    for (const duty of job.duties) {
      sheet.text(222, y, `- ${duty}`);
      y += 13;
    }
    y += 8;
  }
  y += 6;
  heading(labels.education);
  for (const study of studies) {
    sheet.text(215, y, study.title, { ...bold, size: 10.5 });
    sheet.text(215, y + 13, `${study.school} | ${formatYears(study, locale)}`, { grey: 0.3 });
    y += 34;
  }
  return { sheet, fields: [...usual, "url", "city", "zip", "interests"], jobDates: "months", studyDates: "years" };
};

/** The career on the left, a narrow column on the right behind a line; the name in a band over both. */
export const rightColumn: CvLayout<CvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ font: "serif", size: 10.5 });
  sheet.box(0, 0, 595, 92, 0.25);
  sheet.text(45, 50, `${person.first} ${person.last}`.toUpperCase(), { font: "bold", size: 24, grey: 1 });
  sheet.text(45, 74, jobs[0]?.title ?? "", { size: 13, grey: 1 });
  sheet.bar(395, 110, 810, 0.6);
  let y = 128;
  const heading = (title: string) => {
    sheet.text(45, y, title.toUpperCase(), { font: "bold", size: 11 });
    y += 18;
  };
  heading(labels.work);
  for (const job of jobs) {
    sheet.text(45, y, formatSpan(job, locale, " - "), { size: 9 });
    sheet.text(45, y + 14, job.title, { font: "bold" }).text(45, y + 28, `${job.company}, ${job.city}`);
    y += 42;
    y = sheet.paragraph(45, y, 330, job.duties.join(". ")) + 10;
  }
  y += 8;
  heading(labels.education);
  for (const study of studies) {
    sheet.text(45, y, formatSpan(study, locale, " - "), { size: 9 });
    sheet.text(45, y + 14, study.title, { font: "bold" }).text(45, y + 28, study.school);
    y += 50;
  }
  let right = 128;
  const side = (title: string, lines: readonly string[]) => {
    sheet.text(412, right, title.toUpperCase(), { font: "bold", size: 10 });
    right = sheet.stack(412, right + 16, lines, { step: 14, size: 9 }) + 16;
  };
  side(labels.contact, [person.mail, person.phone, person.place]);
  side(labels.birth, [formatDay(person.birth, locale)]);
  side(
    labels.skills,
    resume.skills.map((skill) => `• ${skill}`),
  );
  side(
    labels.languages,
    resume.languages.map(([name, level]) => `${name}: ${level}`),
  );
  return {
    sheet,
    fields: [...usual, "birth", "city"],
    jobDates: "months",
    studyDates: "months",
    also: { "personal_infos.current_profession": jobs[0]?.title ?? null },
  };
};

/** Periods in the left column, what happened then in the right one; personal data as a table of labels and values. */
export const table: CvLayout<CvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet();
  sheet.text(60, 66, labels.cv, { ...bold, size: 20 });
  let y = 100;
  const row = (label: string, ...lines: string[]) => {
    sheet.text(60, y, label);
    y = sheet.stack(200, y, lines, { step: 14 }) + 4;
  };
  const heading = (title: string) => {
    y += 10;
    sheet.text(60, y, title, { ...bold, size: 12 });
    y += 20;
  };
  row("Name", `${person.first} ${person.last}`);
  row(labels.address, `${person.street}, ${person.place}`);
  row(labels.phone, person.phone);
  row(labels.mail, person.mail);
  row(labels.birth, formatDay(person.birth, locale));
  heading(labels.work);
  for (const job of jobs)
    row(formatSpan(job, locale), job.title, `${job.company}, ${job.city}`, ...job.duties.map((duty) => `– ${duty}`));
  heading(labels.education);
  for (const study of studies) row(formatSpan(study, locale), study.title, study.school);
  heading(labels.skills);
  row("", resume.skills.join(", "));
  heading(labels.languages);
  for (const [name, level] of resume.languages) row(name, level);
  return { sheet, fields: [...usual, "birth", "city", "zip"], jobDates: "months", studyDates: "months" };
};

/** Name and contact in the middle of the page; the employer before the position; skills in two columns of bullets. */
export const centred: CvLayout<CvLabels> = (resume: TuneResume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ font: "serif", size: 11 });
  sheet.centre(297, 60, `${person.first} ${person.last}`, { size: 24 });
  sheet
    .centre(297, 80, `${person.street} · ${person.place}`)
    .centre(297, 95, `${person.phone} · ${person.mail} · ${person.url}`);
  let y = 130;
  const heading = (title: string) => {
    sheet.centre(297, y, title, { font: "bold", size: 12 }).rule(60, y + 5, 535, 0.4);
    y += 24;
  };
  heading(labels.work);
  for (const job of jobs) {
    sheet.text(60, y, job.company, { font: "bold" }).right(535, y, job.city);
    sheet.text(60, y + 14, job.title).right(535, y + 14, formatSpan(job, locale, " – "));
    y += 30;
    for (const duty of job.duties) {
      sheet.text(74, y, `• ${duty}`);
      y += 14;
    }
    y += 6;
  }
  heading(labels.education);
  for (const study of studies) {
    sheet.text(60, y, study.school, { font: "bold" });
    sheet.text(60, y + 14, study.title).right(535, y + 14, formatYears(study, locale));
    y += 36;
  }
  heading(labels.skills);
  for (const [index, skill] of resume.skills.entries()) {
    sheet.text(index % 2 === 0 ? 60 : 310, y, `• ${skill}`);
    if (index % 2 === 1 || index === resume.skills.length - 1) y += 15;
  }
  y += 10;
  heading(labels.languages);
  sheet.centre(297, y, resume.languages.map(([name, level]) => `${name} (${level})`).join("  |  "));
  return { sheet, fields: [...usual, "url", "city", "zip"], jobDates: "months", studyDates: "years" };
};
