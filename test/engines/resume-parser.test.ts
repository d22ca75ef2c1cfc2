// ocr/resume_parser: columns, headings in many languages, jobs, studies and contact details. All persons and companies are invented.

import { describe, expect, test } from "bun:test";
import { resumeParser } from "../../src/engines/local/documents/parsers.ts";
import { type Mark, text, writePdf } from "../quality/ocr/write-pdf.ts";

interface Resume {
  readonly personal_infos: {
    readonly name: Readonly<Record<string, string | null>>;
    readonly phones: readonly string[];
    readonly urls: readonly string[];
    readonly address: Readonly<Record<string, string | null>> | null;
  } & Readonly<Record<string, unknown>>;
  readonly work_experience: { readonly entries: readonly Readonly<Record<string, unknown>>[] };
  readonly education: { readonly entries: readonly Readonly<Record<string, unknown>>[] };
  readonly skills: readonly { readonly name: string }[];
  readonly languages: readonly { readonly name: string; readonly code: string }[];
}

async function readFile(bytes: Uint8Array, mediaType: string): Promise<Resume> {
  const run = await resumeParser.load();
  const files = { file: { name: "cv", mediaType, bytes } };
  const { output } = await run({ model: null, input: {}, files, onProgress: () => {} });
  return output["extracted_data"] as unknown as Resume;
}

function read(lines: readonly string[]): Promise<Resume> {
  return readFile(Buffer.from(lines.join("\n")), "text/plain");
}

const named = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);

const stack = (x: number, y: number, lines: readonly string[], size = 9): Mark[] =>
  lines.map((line, index) => text(x, y + index * 15, line, { size }));

describe("columns", () => {
  const side = [
    "CONTACT",
    "7 Quay Street",
    "Bristol BS1 4QA",
    "0117 496 0155",
    "mara.lindgren@post.example",
    "SKILLS",
    "Figma",
    "HTML and CSS",
    "User research",
    "LANGUAGES",
    "English – native",
    "Swedish – fluent",
  ];
  const main = [
    "PROFILE",
    "Designer of forms that people finish, with ten years in public services and health.",
    "EXPERIENCE",
    "Lead Designer",
    "Harbour Digital Ltd | Mar 2021 – Present",
    "- Redesigned the application for parking permits of a whole city",
    "Product Designer",
    "Tidewater Studio | Sep 2016 – Feb 2021",
    "- Drew and tested prototypes",
    "EDUCATION",
    "BA Graphic Design",
    "University of the West | 2012 – 2015",
  ];
  const expected = {
    personal_infos: {
      name: { first_name: "Mara", last_name: "Lindgren" },
      mails: ["mara.lindgren@post.example"],
      phones: ["0117 496 0155"],
      address: { postal_code: "BS1 4QA", city: "Bristol" },
    },
    work_experience: {
      entries: [
        { title: "Lead Designer", company: "Harbour Digital Ltd", start_date: "2021-03-01", end_date: null },
        { title: "Product Designer", company: "Tidewater Studio", start_date: "2016-09-01", end_date: "2021-02-01" },
      ],
    },
    education: { entries: [{ title: "BA Graphic Design", establishment: "University of the West" }] },
    skills: [{ name: "Figma" }, { name: "HTML and CSS" }, { name: "User research" }],
    languages: [{ code: "en" }, { code: "sv" }],
  };

  test.each([
    ["on the left", 30, 200],
    ["on the right", 420, 30],
  ])("a narrow column %s, with the name above both", async (_, sideX, mainX) => {
    const marks = [text(30, 50, "Mara Lindgren", { size: 22 }), ...stack(sideX, 90, side), ...stack(mainX, 92, main)];
    expect(await readFile(writePdf([{ marks }]), "application/pdf")).toMatchObject(expected);
  });

  test("lines of both columns that do not stand on the same height", async () => {
    const marks = [text(200, 50, "Mara Lindgren", { size: 22 }), ...stack(30, 60, side), ...stack(200, 97, main)];
    expect(await readFile(writePdf([{ marks }]), "application/pdf")).toMatchObject(expected);
  });

  test("a column continues on the next page", async () => {
    const first = [
      text(30, 50, "Mara Lindgren", { size: 22 }),
      ...stack(30, 90, side),
      ...stack(200, 92, main.slice(0, 6)),
    ];
    const second = [...stack(30, 60, ["INTERESTS", "Rowing"]), ...stack(200, 60, main.slice(6))];
    expect(await readFile(writePdf([{ marks: first }, { marks: second }]), "application/pdf")).toMatchObject(expected);
  });

  test("in plain text", async () => {
    const rows = Array.from(
      { length: Math.max(side.length, main.length) },
      (_, index) => `${(side[index] ?? "").padEnd(34)}${main[index] ?? ""}`,
    );
    expect(await read(["Mara Lindgren", "", ...rows])).toMatchObject(expected);
  });

  test("dates beside their entries are no column", async () => {
    const resume = await read([
      "Jonah Castell",
      "Experience",
      "2019 - 2023    Museum of Tides, Cork",
      "               Curator",
      "2015 - 2019    Harbour Gallery, Kinsale",
      "               Gallery assistant",
    ]);
    expect(resume.work_experience.entries).toMatchObject([
      { title: "Curator", company: "Museum of Tides", start_date: "2019-01-01", end_date: "2023-01-01" },
      { title: "Gallery assistant", company: "Harbour Gallery" },
    ]);
  });
});

describe("headings", () => {
  test.each([
    ["en", "Work experience", "Education", "Skills", "Languages", "present"],
    ["de", "Beruflicher Werdegang", "Ausbildung", "Kenntnisse", "Sprachkenntnisse", "heute"],
    ["fr", "Expériences professionnelles", "Formation", "Compétences", "Langues", "aujourd’hui"],
    ["es", "Experiencia laboral", "Formación académica", "Habilidades", "Idiomas", "actualidad"],
    ["it", "Esperienze lavorative", "Istruzione e formazione", "Competenze", "Lingue", "oggi"],
    ["pt", "Experiência profissional", "Habilitações literárias", "Competências", "Idiomas", "atualmente"],
    ["nl", "Werkervaring", "Opleidingen", "Vaardigheden", "Talenkennis", "heden"],
    ["pl", "Doświadczenie zawodowe", "Wykształcenie", "Umiejętności", "Języki obce", "obecnie"],
    ["sv", "Arbetslivserfarenhet", "Utbildning", "Kompetenser", "Språkkunskaper", "nu"],
    ["da", "Erhvervserfaring", "Uddannelse", "Kompetencer", "Sprog", "i dag"],
    ["cs", "Pracovní zkušenosti", "Vzdělání", "Dovednosti", "Jazykové znalosti", "současnost"],
    ["ru", "Опыт работы", "Образование", "Навыки", "Языки", "настоящее время"],
  ])("in the language %s", async (_language, work, education, skills, languages, present) => {
    const resume = await read([
      "Curriculum vitae",
      "Ines Kovar",
      "ines.kovar@post.example",
      work.toUpperCase(),
      `Consultant, Lumen GmbH        05/2020 – ${present}`,
      "Assistant, Opal Group         2016 – 2020",
      education.toUpperCase(),
      "Master of Science, Universität Mitte     2014 – 2016",
      `${skills}:`,
      "Excel, SQL",
      languages,
      "English, Deutsch (B2), français",
    ]);
    expect(resume).toMatchObject({
      personal_infos: { name: { raw_name: "Ines Kovar" } },
      work_experience: {
        entries: [
          { title: "Consultant", company: "Lumen GmbH", start_date: "2020-05-01", end_date: null },
          { title: "Assistant", company: "Opal Group", end_date: "2020-01-01" },
        ],
      },
      education: { entries: [{ title: "Master of Science", establishment: "Universität Mitte" }] },
      skills: [{ name: "Excel" }, { name: "SQL" }],
      languages: [{ code: "en" }, { code: "de" }, { code: "fr" }],
    });
  });

  test("with spaces between the letters, and with decoration", async () => {
    const resume = await read(["Ada Brook", "S K I L L S", "Welding", "— Languages —", "English"]);
    expect(named(resume.skills)).toEqual(["Welding"]);
    expect(resume.languages).toEqual([{ name: "English", code: "en" }]);
  });

  test("none of them is a name", async () => {
    const resume = await read([
      "Curriculum Vitae",
      "Personal Details",
      "Professional Summary",
      "Ten years in sales.",
      "Work Experience",
    ]);
    expect(resume.personal_infos.name["raw_name"]).toBeNull();
    const beside = await read(["Berlin            Professional Summary", "Ten years in sales."]);
    expect(beside.personal_infos.name["raw_name"]).toBeNull();
  });

  test("a label inside of a job does not start a section", async () => {
    const resume = await read([
      "Ada Brook",
      "Experience",
      "Developer, Lumen GmbH   2019 – 2021",
      "Technologies: Java, Spring",
      "Developer, Opal AG      2015 – 2019",
    ]);
    expect(resume.work_experience.entries.length).toBe(2);
    expect(resume.skills).toEqual([]);
  });
});

describe("jobs", () => {
  const job = {
    title: "Project Manager",
    company: "Brightwater Ltd",
    start_date: "2018-03-01",
    end_date: "2020-11-01",
  };

  test.each([
    [
      "everything in one line",
      ["Project Manager, Brightwater Ltd, Leeds   03/2018 – 11/2020", "• Ran twelve projects"],
    ],
    [
      "the title above the company",
      ["Project Manager", "Brightwater Ltd, Leeds   Mar 2018 – Nov 2020", "• Ran twelve projects"],
    ],
    [
      "the company above the title",
      [
        "Brightwater Ltd          Leeds",
        "Project Manager          March 2018 - November 2020",
        "• Ran twelve projects",
      ],
    ],
    ["the dates first", ["Mar 2018 – Nov 2020", "Project Manager", "Brightwater Ltd, Leeds", "• Ran twelve projects"]],
    ["the dates last", ["Project Manager", "Brightwater Ltd, Leeds", "2018-03 to 2020-11", "• Ran twelve projects"]],
    ["separated by lines", ["Project Manager | Brightwater Ltd | Leeds | 03.2018 - 11.2020", "• Ran twelve projects"]],
    ["the dates in brackets", ["Project Manager at Brightwater Ltd (Mar 2018 – Nov 2020)", "• Ran twelve projects"]],
  ])("%s", async (_, lines) => {
    const second = lines.map((line) =>
      line.replaceAll("2018", "2014").replaceAll("2020", "2017").replace("Manager", "Assistant"),
    );
    const { work_experience } = await read([
      "Ada Brook",
      "EXPERIENCE",
      ...lines,
      ...second,
      "EDUCATION",
      "BA History, University of Leeds  2010",
    ]);
    expect(work_experience.entries).toMatchObject([
      { ...job, description: "Ran twelve projects" },
      { ...job, title: "Project Assistant", start_date: "2014-03-01", end_date: "2017-11-01" },
    ]);
  });

  test("a company with an abbreviation at its end, below a line with the dates and the place", async () => {
    const { work_experience } = await read([
      "Ada Brook",
      "EXPERIENCE",
      "01/2019 – CURRENT – Milano, Italy",
      "WEB DEVELOPER – NAVIGLI S.R.L.",
    ]);
    expect(work_experience.entries).toMatchObject([
      {
        title: "WEB DEVELOPER",
        company: "NAVIGLI S.R.L.",
        location: { city: "Milano", country: "Italy" },
        end_date: null,
      },
    ]);
  });

  test("a title that is not known stands where the others stand", async () => {
    const { work_experience } = await read([
      "Ada Brook",
      "EXPERIENCE",
      "Lumen GmbH            Leeds",
      "Engineer              2018 – 2021",
      "Casa Nuova            Lecce",
      "Zymurgist             2015 – 2018",
    ]);
    expect(work_experience.entries[1]).toMatchObject({ title: "Zymurgist", company: "Casa Nuova" });
  });

  test.each([
    ["seit 2019", "2019-01-01", null],
    ["since May 2019", "2019-05-01", null],
    ["Sept. 2019 – Dec. 2020", "2019-09-01", "2020-12-01"],
    ["Sep – Dec 2019", "2019-09-01", "2019-12-01"],
    ["2015–17", "2015-01-01", "2017-01-01"],
    ["01.02.2015 - 30.04.2016", "2015-02-01", "2016-04-01"],
    ["mars 2019 à août 2020", "2019-03-01", "2020-08-01"],
    ["gennaio 2019 – oggi", "2019-01-01", null],
    ["październik 2019 – obecnie", "2019-10-01", null],
    ["Jan '19 - Mar '21", "2019-01-01", "2021-03-01"],
  ])("the period %s", async (period, start, end) => {
    const { work_experience } = await read(["Ada Brook", "EXPERIENCE", `Engineer, Lumen GmbH    ${period}`]);
    expect(work_experience.entries).toMatchObject([
      { title: "Engineer", company: "Lumen GmbH", start_date: start, end_date: end },
    ]);
  });

  test("a year inside of a description starts no entry", async () => {
    const { work_experience } = await read([
      "Ada Brook",
      "EXPERIENCE",
      "Engineer, Lumen GmbH    2018 – 2021",
      "In 2019 the team moved the whole production to a new building.",
      "Engineer, Opal AG       2014 – 2018",
    ]);
    expect(work_experience.entries.length).toBe(2);
  });
});

describe("the person", () => {
  test("a period is no telephone number", async () => {
    const { personal_infos } = await read([
      "Ada Brook",
      "2015 - 2019",
      "01.02.1990",
      "2019–2023 Engineer",
      "EXPERIENCE",
      "2001 - 2009  Clerk, Opal AG",
    ]);
    expect(personal_infos.phones).toEqual([]);
  });

  test.each([
    ["+49 30 4960 1234"],
    ["(503) 555-0142"],
    ["0171 4960123"],
    ["06 39 60 44 11"],
    ["+1-416-555-0199"],
  ])("the telephone number %s", async (phone) => {
    expect(
      (await read(["Ada Brook", `${phone}  |  ada@brook.example`, "SKILLS", "Welding"])).personal_infos.phones,
    ).toEqual([phone]);
  });

  test.each([
    ["Ludwig van der Berg", "Ludwig", "van der Berg", null],
    ["Dr. Ana Souza Lima", "Ana", "Lima", "Dr."],
    ["Marie DUPONT", "Marie", "DUPONT", null],
    ["Anna Koch", "Anna", "Koch", null],
    ["MILICA JOVIĆ", "MILICA", "JOVIĆ", null],
    ["Tomás Herrera Ruiz", "Tomás", "Ruiz", null],
  ])("the name %s", async (name, first, last, prefix) => {
    const { personal_infos } = await read([name, "Software Engineer", "SKILLS", "Welding"]);
    expect(personal_infos.name).toMatchObject({ raw_name: name, first_name: first, last_name: last, prefix });
  });

  test("of two possible names, the one in the e-mail address before its @", async () => {
    const { personal_infos } = await read([
      "Nordwind Verlag",
      "Tilda Brandt",
      "t.brandt@nordwind.example",
      "EXPERIENCE",
      "Editor, Lantern Press, Mar 2019 – Present",
    ]);
    expect(personal_infos.name).toMatchObject({ first_name: "Tilda", last_name: "Brandt" });
  });

  test("two surnames in a Spanish CV, and a name with spaces between the letters", async () => {
    const spanish = await read(["Tomás Herrera Ruiz", "IDIOMAS", "Inglés"]);
    expect(spanish.personal_infos.name).toMatchObject({ first_name: "Tomás", last_name: "Herrera Ruiz" });
    const long = await read(["María Isabel Ortega Prieto", "IDIOMAS", "Inglés"]);
    expect(long.personal_infos.name).toMatchObject({ first_name: "María", last_name: "Ortega Prieto" });
    const spaced = await read(["A N N A   K O V A C S", "SKILLS", "Welding"]);
    expect(spaced.personal_infos.name["raw_name"]).toBe("ANNA KOVACS");
  });

  test("personal data with labels, beside them", async () => {
    const { personal_infos } = await read([
      "Lebenslauf",
      "Persönliche Daten",
      "Name               Jana Roth",
      "Anschrift          Lindenweg 4, 50667 Köln",
      "Geburtsdatum       12.03.1991",
      "Geburtsort         Siegen",
      "Staatsangehörigkeit   deutsch",
      "Familienstand:     ledig",
      "Telefon            0221 4960 118",
      "Berufserfahrung",
      "2019 – heute       Köchin, Hotel Domblick, Köln",
    ]);
    expect(personal_infos).toMatchObject({
      name: { first_name: "Jana", last_name: "Roth" },
      address: { street: "Lindenweg", street_number: "4", postal_code: "50667", city: "Köln" },
      date_of_birth: "1991-03-12",
      place_of_birth: "Siegen",
      nationality: "deutsch",
      martial_status: "ledig",
      phones: ["0221 4960 118"],
    });
  });

  test("links, without the domain of the e-mail address", async () => {
    const { personal_infos } = await read([
      "Ada Brook",
      "ada@brook.example",
      "linkedin.com/in/ada-brook | github.com/adabrook",
      "SKILLS",
      "Node.js",
    ]);
    expect(personal_infos.urls).toEqual(["linkedin.com/in/ada-brook", "github.com/adabrook"]);
  });
});
