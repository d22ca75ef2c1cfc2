// Layouts of CVs in the test split. Do not tune rules on them.

import { Sheet, type Style } from "../../sheet.ts";
import { type CvField, type CvLayout, formatDay, formatMonth, formatSpan, formatYears } from "../resume.ts";
import type { TestCvLabels } from "./locales.ts";

const bold = { font: "bold" } as const;
const usual: readonly CvField[] = ["name", "mail", "phone", "jobs", "studies", "skills", "languages"];

/** Two columns: a dark one on the left with white letters, where the education stands, too. */
export const darkLeft: CvLayout<TestCvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ size: 9.5 });
  sheet.box(0, 0, 205, 842, 0.18);
  const white: Style = { grey: 1 };
  sheet
    .text(22, 58, person.first, { ...white, font: "bold", size: 20 })
    .text(22, 82, person.last, { ...white, font: "bold", size: 20 });
  let left = 120;
  const side = (title: string, lines: readonly string[]) => {
    sheet.text(22, left, title.toUpperCase(), { ...white, font: "bold", size: 9.5 }).rule(22, left + 4, 180, 0.4);
    left = sheet.stack(22, left + 18, lines, { ...white, size: 8.5, step: 13 }) + 14;
  };
  side(labels.reach, [person.phone, person.mail, person.url, person.place]);
  side(
    labels.studies,
    studies.flatMap((study) => [study.title, study.school, formatYears(study, locale), ""]),
  );
  side(
    labels.tongues,
    resume.languages.map(([name, level]) => `${name} (${level})`),
  );
  side(labels.leisure, resume.interests);
  let y = 60;
  const heading = (title: string) => {
    sheet.text(228, y, title.toUpperCase(), { ...bold, size: 11 });
    y += 18;
  };
  heading(labels.about);
  y = sheet.paragraph(228, y, 330, resume.summary) + 16;
  heading(labels.career);
  for (const job of jobs) {
    sheet.text(228, y, job.company, bold).right(562, y, formatSpan(job, locale, " – "), { size: 8.5 });
    sheet.text(228, y + 13, job.title);
    y += 28;
    for (const duty of job.duties) y = sheet.paragraph(236, y, 320, `• ${duty}`);
    y += 9;
  }
  y += 6;
  heading(labels.abilities);
  for (const skill of resume.skills) {
    sheet.text(228, y, skill).box(420, y - 7, 120, 6, 0.85);
    y += 15;
  }
  return { sheet, fields: [...usual, "url", "city", "interests"], jobDates: "months", studyDates: "years" };
};

/** Two equal columns under a header: the career on the left, everything else on the right. */
export const halves: CvLayout<TestCvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ font: "serif", size: 10 });
  sheet.text(42, 58, `${person.first} ${person.last}`, { size: 26 });
  sheet.text(42, 78, `${person.mail}    ${person.phone}    ${person.city}`, { size: 9.5 }).rule(42, 88, 553, 1);
  let y = 114;
  sheet.text(42, y, labels.career, { font: "bold", size: 12 });
  y += 20;
  for (const job of jobs) {
    sheet.text(42, y, job.title, { font: "bold" });
    sheet.text(42, y + 13, job.company).text(42, y + 26, formatSpan(job, locale, " - "), { size: 8.5, grey: 0.3 });
    y += 40;
    for (const duty of job.duties) y = sheet.paragraph(42, y, 235, `– ${duty}`);
    y += 10;
  }
  let right = 114;
  const section = (title: string, lines: readonly string[]) => {
    sheet.text(312, right, title, { font: "bold", size: 12 });
    right = sheet.stack(312, right + 20, lines, { step: 14 }) + 14;
  };
  sheet.text(312, right, labels.studies, { font: "bold", size: 12 });
  right += 20;
  for (const study of studies) {
    sheet.text(312, right, study.title, { font: "bold" }).text(312, right + 13, study.school);
    sheet.text(312, right + 26, formatSpan(study, locale, " - "), { size: 8.5, grey: 0.3 });
    right += 48;
  }
  section(
    labels.abilities,
    resume.skills.map((skill) => `– ${skill}`),
  );
  section(
    labels.tongues,
    resume.languages.map(([name, level]) => `${name}, ${level}`),
  );
  section(labels.leisure, resume.interests);
  return { sheet, fields: [...usual, "city", "interests"], jobDates: "months", studyDates: "months" };
};

/** One column; the period in parentheses behind the position, then the employer on the next line. */
export const parentheses: CvLayout<TestCvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ size: 10 });
  sheet.right(545, 56, `${person.first} ${person.last}`, { ...bold, size: 18 });
  for (const [index, content] of [person.street, person.place, person.phone, person.mail].entries())
    sheet.right(545, 72 + index * 13, content);
  let y = 148;
  const heading = (title: string) => {
    sheet.text(50, y, title, { ...bold, size: 13, grey: 0.25 });
    y += 20;
  };
  heading(labels.career);
  for (const job of jobs) {
    sheet
      .text(50, y, `${job.title} (${formatSpan(job, locale)})`, bold)
      .text(50, y + 14, `${job.company}, ${job.city}`);
    y += 28;
    y = sheet.paragraph(50, y, 480, `${job.duties.join("; ")}.`) + 10;
  }
  heading(labels.studies);
  for (const study of studies) {
    sheet.text(50, y, `${study.title} (${formatYears(study, locale, "-")})`, bold).text(50, y + 14, study.school);
    y += 36;
  }
  heading(labels.abilities);
  y = sheet.paragraph(50, y, 480, resume.skills.join(" · ")) + 12;
  heading(labels.tongues);
  sheet.paragraph(50, y, 480, resume.languages.map(([name, level]) => `${name}: ${level}`).join("; "));
  return { sheet, fields: [...usual, "city", "zip"], jobDates: "months", studyDates: "years" };
};

/** A ruled table of positions and one of studies. */
export const ruledTable: CvLayout<TestCvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ size: 9.5 });
  sheet.text(45, 60, `${person.first} ${person.last}`, { ...bold, size: 20 });
  sheet
    .text(45, 80, `${labels.born}: ${formatDay(person.birth, locale)}`)
    .text(45, 94, `${person.street}, ${person.place}`)
    .text(45, 108, `${person.phone}, ${person.mail}`);
  const columns = [{ x: 50 }, { x: 222, width: 145 }, { x: 377, width: 170 }];
  let y = 140;
  const draw = (title: string, head: readonly string[], rows: readonly (readonly string[])[]) => {
    sheet.text(45, y, title, { ...bold, size: 12 });
    y += 10;
    const ys = [y];
    sheet.row(columns, y + 13, head, { ...bold, size: 8.5 });
    y += 18;
    ys.push(y);
    for (const cells of rows) {
      y = sheet.row(columns, y + 13, cells) - 7;
      ys.push(y);
    }
    sheet.grid([45, 217, 372, 550], ys);
    y += 30;
  };
  draw(
    labels.career,
    labels.columns,
    jobs.map((job) => [formatSpan(job, locale), job.title, job.company]),
  );
  draw(
    labels.studies,
    [labels.columns[0], labels.studies, ""],
    studies.map((study) => [formatSpan(study, locale), study.title, study.school]),
  );
  sheet.text(45, y, labels.abilities, { ...bold, size: 12 });
  y = sheet.paragraph(45, y + 17, 500, resume.skills.join(", ")) + 16;
  sheet.text(45, y, labels.tongues, { ...bold, size: 12 });
  sheet.stack(
    45,
    y + 17,
    resume.languages.map(([name, level]) => `${name} – ${level}`),
    { step: 14 },
  );
  return { sheet, fields: [...usual, "birth", "city", "zip"], jobDates: "months", studyDates: "months" };
};

/** Headings at the left margin, text to the right of them; from and to on two lines under the heading. */
export const marginHeadings: CvLayout<TestCvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ font: "serif", size: 10.5 });
  sheet.text(190, 60, `${person.first} ${person.last}`, { font: "bold", size: 21 });
  let y = 92;
  const head = (title: string) => sheet.right(170, y, title, { font: "bold", size: 10, grey: 0.3 });
  const part = (title: string, lines: readonly string[]) => {
    head(title);
    y = sheet.stack(190, y, lines, { step: 15 }) + 12;
  };
  part(labels.reach, [person.place, person.phone, person.mail, person.url]);
  part(labels.about, [resume.summary]);
  head(labels.career);
  for (const job of jobs) {
    sheet.text(190, y, `${job.title} – ${job.company}`, { font: "bold" });
    sheet.text(190, y + 14, formatSpan(job, locale), { size: 9 });
    y = sheet.stack(190, y + 28, job.duties, { step: 14 }) + 8;
  }
  y += 8;
  head(labels.studies);
  for (const study of studies) {
    sheet.text(190, y, `${study.title} – ${study.school}`, { font: "bold" });
    sheet.text(190, y + 14, formatSpan(study, locale), { size: 9 });
    y += 36;
  }
  part(labels.abilities, [resume.skills.slice(0, 3).join(", "), resume.skills.slice(3).join(", ")]);
  part(
    labels.tongues,
    resume.languages.map(([name, level]) => `${name} (${level})`),
  );
  return { sheet, fields: [...usual, "url", "city"], jobDates: "months", studyDates: "months" };
};

/** Two columns: a wide one, and a narrow grey one on the right; contact in three parts below the name; bullets with the start only. */
export const greyRight: CvLayout<TestCvLabels> = (resume) => {
  const { locale, person, jobs, studies } = resume;
  const { labels } = locale;
  const sheet = new Sheet({ size: 9.5 });
  sheet.box(400, 0, 195, 842, 0.9);
  sheet.text(40, 64, `${person.first} ${person.last}`, { ...bold, size: 22 });
  sheet.text(40, 84, jobs[0]?.title ?? "", { size: 12, grey: 0.35 });
  let y = 122;
  const heading = (title: string) => {
    sheet.box(40, y - 9, 4, 11, 0.2).text(50, y, title, { ...bold, size: 12 });
    y += 20;
  };
  heading(labels.career);
  for (const job of jobs) {
    const period = job.end === null ? `${formatMonth(job.start, locale)} – ${locale.present}` : formatSpan(job, locale);
    sheet
      .text(40, y, `${job.title} | ${job.company}`, bold)
      .text(40, y + 13, `${period} | ${job.city}`, { grey: 0.35 });
    y += 28;
    for (const duty of job.duties) y = sheet.paragraph(48, y, 330, `• ${duty}`);
    y += 9;
  }
  heading(labels.studies);
  for (const study of studies) {
    sheet
      .text(40, y, study.title, bold)
      .text(40, y + 13, `${study.school} | ${formatYears(study, locale)}`, { grey: 0.35 });
    y += 34;
  }
  let right = 64;
  const side = (title: string, lines: readonly string[]) => {
    sheet.text(415, right, title, { ...bold, size: 10.5 });
    right = sheet.stack(415, right + 16, lines, { size: 8.5, step: 13.5 }) + 15;
  };
  side(labels.reach, [person.mail, person.phone, person.street, person.place]);
  side(labels.born, [formatDay(person.birth, locale)]);
  side(labels.abilities, resume.skills);
  side(
    labels.tongues,
    resume.languages.map(([name, level]) => `${name} | ${level}`),
  );
  side(labels.leisure, resume.interests);
  return {
    sheet,
    fields: [...usual, "birth", "city", "zip", "interests"],
    jobDates: "months",
    studyDates: "years",
    also: { "personal_infos.current_profession": jobs[0]?.title ?? null },
  };
};
